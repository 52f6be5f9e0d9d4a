//! The command line that runs everything again, without its selection: reports add the one case
//! that a finding is about.

use super::args::{ClientArgs, DemoArgs, Filling, RunArgs};
use crate::grade::ClientInfo;
use crate::report::quoted;
use std::path::PathBuf;

/// The command of a run.
pub(super) fn run(args: &RunArgs, target: &std::path::Path) -> String {
    let mut words = vec!["idemspec run".to_owned()];
    words.push(quoted(&target.display().to_string()));
    option(&mut words, "--contract", args.contract.as_deref());
    filling(&mut words, &args.filling);
    for host in &args.allow_host {
        option(&mut words, "--allow-host", Some(host));
    }
    path(&mut words, "--scenarios", args.scenarios.as_ref());
    words.join(" ")
}

/// The command of an audit of a client, and the client's own.
pub(super) fn client(args: &ClientArgs) -> ClientInfo {
    let mut words = vec!["idemspec client".to_owned()];
    option(&mut words, "--habit", args.habit.map(|habit| habit.name()));
    path(&mut words, "--target", args.target.as_ref());
    option(&mut words, "--upstream", args.upstream.as_deref());
    option(&mut words, "--contract", args.contract.as_deref());
    filling(&mut words, &args.filling);
    path(&mut words, "--scenarios", args.scenarios.as_ref());
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
    words.join(" ")
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
