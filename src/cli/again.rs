//! The command line that runs everything again, without its selection: reports add the one case
//! that a finding is about.

use super::args::{DemoArgs, RunArgs};
use crate::report::quoted;

/// The command of a run.
pub(super) fn run(args: &RunArgs, target: &std::path::Path) -> String {
    let mut words = vec!["idemspec run".to_owned()];
    words.push(quoted(&target.display().to_string()));
    option(&mut words, "--contract", args.contract.as_deref());
    for (name, value) in &args.filling.set {
        option(&mut words, "--set", Some(&format!("{name}={value}")));
    }
    let path = |path: &std::path::PathBuf| path.display().to_string();
    option(
        &mut words,
        "--secrets",
        args.filling.secrets.as_ref().map(path).as_deref(),
    );
    for host in &args.allow_host {
        option(&mut words, "--allow-host", Some(host));
    }
    if args.filling.live {
        words.push("--live".to_owned());
    }
    option(
        &mut words,
        "--scenarios",
        args.scenarios.as_ref().map(path).as_deref(),
    );
    words.join(" ")
}

/// The command of a run against the demo API.
pub(super) fn demo(args: &DemoArgs) -> String {
    let mut words = vec!["idemspec demo".to_owned()];
    option(&mut words, "--flaw", args.flaw.map(|flaw| flaw.name()));
    option(
        &mut words,
        "--variant",
        args.variant.map(|variant| variant.name),
    );
    option(&mut words, "--contract", args.contract.as_deref());
    words.join(" ")
}

fn option(words: &mut Vec<String>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        words.push(format!("{name} {}", quoted(value)));
    }
}
