//! Scenarios about clients and habits of the demo client, in words.

use crate::checklist::ItemId;
use crate::cli::failure::Failure;
use crate::cli::select;
use crate::demo_client::Habit;
use crate::report::severity;
use crate::scenario::client::{ClientCheck, ClientFault, ClientScenario, CommandRun, Then};
use std::fmt::Write;

/// The explanation of what is called so, if anything is.
pub(super) fn in_words(id: &str, case: Option<&str>) -> Result<Option<String>, Failure> {
    let scenarios = select::all_client(None)?;
    if let Some(scenario) = scenarios.iter().find(|scenario| scenario.id == id) {
        return scenario_in_words(scenario, case).map(Some);
    }
    Ok(Habit::from_name(id).map(habit_in_words))
}

/// The scenarios that bear on an item, one a line.
pub(super) fn that_bear_on(item: ItemId) -> Result<String, Failure> {
    let mut text = String::new();
    for scenario in select::all_client(None)? {
        if scenario.expect.iter().any(|(own, _)| *own == item) {
            let _ = writeln!(text, "  {}  {}", scenario.id, scenario.title);
        }
    }
    Ok(text)
}

fn scenario_in_words(scenario: &ClientScenario, case: Option<&str>) -> Result<String, Failure> {
    let mut text = format!(
        "{}: {}\nseverity {}, about a client\n",
        scenario.id,
        scenario.title,
        severity(scenario.severity)
    );
    if let Some(about) = &scenario.about {
        let _ = writeln!(text, "\n{}", about.trim());
    }
    let cases: Vec<_> = scenario
        .cases
        .iter()
        .filter(|own| case.is_none() || own.name.as_deref() == case)
        .collect();
    if cases.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has no case `{}`",
            scenario.id,
            case.unwrap_or_default()
        )));
    }
    for case in cases {
        match &case.name {
            Some(name) => {
                let _ = writeln!(text, "\nCase {name}:");
            }
            None => text.push_str("\nWhat is done:\n"),
        }
        for run in &case.runs {
            let _ = writeln!(text, "  {}", run_in_words(run));
        }
    }
    if scenario.rounds.count > 1 {
        let rounds = scenario.rounds;
        let _ = writeln!(
            text,
            "\nAll of it {} times, up to {} while too little is shown.",
            rounds.count, rounds.up_to
        );
    }
    text.push_str("\nExpected:\n");
    for (item, expectation) in &scenario.expect {
        let _ = writeln!(
            text,
            "  {item}  {} ({}: {})",
            check_in_words(&expectation.check),
            expectation.id,
            expectation.of.join(", ")
        );
    }
    for (heading, lines) in [
        ("No fault", &scenario.harmless),
        ("Sources", &scenario.sources),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{heading}:");
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    Ok(text)
}

fn run_in_words(run: &CommandRun) -> String {
    let mut text = match &run.resumes {
        Some(earlier) => format!("{}: the command takes up what {earlier} left", run.name),
        None => format!("{}: the command makes an operation", run.name),
    };
    if !run.faults.is_empty() {
        let faults: Vec<String> = run.faults.iter().map(ClientFault::to_string).collect();
        let _ = write!(text, "; attempts are {}", faults.join(", then "));
        text.push_str(match run.then {
            Then::Pass => ", then let through",
            Then::Repeat => ", for ever",
        });
    }
    if run.killed {
        text.push_str("; then the command is ended without notice");
    }
    text
}

/// What a check asks for.
fn check_in_words(check: &ClientCheck) -> String {
    match check {
        ClientCheck::KeySent => "the first attempt bears a key".to_owned(),
        ClientCheck::SameKey => "all attempts of an operation bear the same key".to_owned(),
        ClientCheck::NewKey => "two operations bear two keys".to_owned(),
        ClientCheck::KeyForm => {
            "the key fits the contract, cannot be guessed, and names no person".to_owned()
        }
        ClientCheck::SameBody => "the body of all attempts is the same, byte for byte".to_owned(),
        ClientCheck::NotBlind => {
            "without a key it is not sent again where it may have been carried out".to_owned()
        }
        ClientCheck::Retried => "it is sent again, if the contract asks for it".to_owned(),
        ClientCheck::NotRetried => "it is not sent again unchanged".to_owned(),
        ClientCheck::Attempts { at_most } => format!("at most {at_most} attempts"),
        ClientCheck::Pauses => "there is a pause between attempts".to_owned(),
        ClientCheck::Grows => "pauses grow, unless they vary".to_owned(),
        ClientCheck::Varies => "pauses vary".to_owned(),
        ClientCheck::Capped { at_most } => {
            format!(
                "no pause is longer than {}, or what the target file says (client: {{ longest-pause: … }})",
                humantime::format_duration(*at_most)
            )
        }
        ClientCheck::Waits { than } => {
            format!("it waits as long as it is asked to, and longer than in {than}")
        }
        ClientCheck::LooksUp => "after giving up it asks for the outcome".to_owned(),
        ClientCheck::KeySurvives { from } => format!("the key is that of {from}"),
    }
}

fn habit_in_words(habit: Habit) -> String {
    let what = match habit.kind() {
        "" => "no mistake".to_owned(),
        kind => format!("a mistake, {kind}"),
    };
    let mut text = format!(
        "{}, a habit of the demo client ({what})\n\n{}\n",
        habit.name(),
        habit.says()
    );
    if habit.is_mistake() {
        text.push_str("\nIt breaks:\n");
        for expectation in habit.breaks() {
            let _ = writeln!(text, "  {expectation}");
        }
    }
    let _ = writeln!(text, "\nTry it: idemspec client --habit {}", habit.name());
    text
}
