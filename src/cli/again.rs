//! The command line that runs everything again, without its selection: reports add the one case
//! that a finding is about.

use super::args::{ClientArgs, DemoArgs, EffortArgs, Filling, RunArgs, Standard};
use crate::grade::ClientInfo;
use crate::report::quoted;
use std::path::PathBuf;
use std::time::Duration;

/// The command of a run.
pub(super) fn run(args: &RunArgs, target: &std::path::Path) -> String {
    let mut words = vec!["idemspec run".to_owned()];
    words.push(quoted(&target.display().to_string()));
    standard(&mut words, &args.standard);
    filling(&mut words, &args.access.filling);
    for host in &args.access.allow_host {
        option(&mut words, "--allow-host", Some(host));
    }
    effort(&mut words, args.selection.effort);
    if args.common_start().is_some() {
        time(&mut words, "--pace", args.pace);
        words.push(PLACES.to_owned());
    }
    words.join(" ")
}

/// How each of several places is told to make the run again: together, and so at a new instant.
const PLACES: &str = r#"--start-at "${START:?an instant to come, the same in all places}" --record "$(uname -n).record.json""#;

/// The command of an audit of a client, and the client's own.
pub(super) fn client(args: &ClientArgs) -> ClientInfo {
    let mut words = vec!["idemspec client".to_owned()];
    option(&mut words, "--habit", args.habit.map(|habit| habit.name()));
    path(&mut words, "--target", args.target.as_ref());
    option(&mut words, "--upstream", args.upstream.as_deref());
    standard(&mut words, &args.standard);
    filling(&mut words, &args.filling);
    let command: Vec<String> = args.command.iter().map(|word| quoted(word)).collect();
    ClientInfo {
        again: words.join(" "),
        command: command.join(" "),
    }
}

/// The command of a run against the demo API.
pub(super) fn demo(args: &DemoArgs) -> String {
    let mut words = vec!["idemspec demo".to_owned()];
    for flaw in &args.flaw {
        option(&mut words, "--flaw", Some(flaw.name()));
    }
    option(
        &mut words,
        "--variant",
        args.variant.map(|variant| variant.name),
    );
    option(&mut words, "--contract", args.contract.as_deref());
    effort(&mut words, args.selection.effort);
    words.join(" ")
}

fn standard(words: &mut Vec<String>, standard: &Standard) {
    option(words, "--contract", standard.contract.as_deref());
    path(words, "--scenarios", standard.scenarios.as_ref());
}

fn effort(words: &mut Vec<String>, effort: EffortArgs) {
    time(words, "--race-bound", effort.race_bound);
    if effort.keep_going {
        words.push("--keep-going".to_owned());
    }
}

fn filling(words: &mut Vec<String>, filling: &Filling) {
    for (name, value) in &filling.set {
        option(words, "--set", Some(&format!("{name}={value}")));
    }
    path(words, "--secrets", filling.secrets.as_ref());
    if filling.live {
        words.push("--live".to_owned());
    }
}

fn time(words: &mut Vec<String>, name: &str, value: Option<Duration>) {
    let value = value.map(|time| humantime::format_duration(time).to_string());
    option(words, name, value.as_deref());
}

fn path(words: &mut Vec<String>, name: &str, value: Option<&PathBuf>) {
    let value = value.map(|path| path.display().to_string());
    option(words, name, value.as_deref());
}

fn option(words: &mut Vec<String>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        words.push(format!("{name} {}", quoted(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Args, Command};
    use clap::Parser as _;

    #[test]
    fn every_flaw_of_a_demo_is_planted_again() {
        let words = [
            "idemspec",
            "demo",
            "--flaw",
            "drops-location",
            "--flaw",
            "never-expires",
        ];
        let Ok(Command::Demo(args)) = Args::try_parse_from(words).map(|args| args.command) else {
            panic!("it is not taken for a demo");
        };
        assert_eq!(super::demo(&args), words.join(" "));
    }
}
