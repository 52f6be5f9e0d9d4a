//! A scenario in words.

use super::catches;
use super::check::expectation;
use super::step::steps;
use crate::checklist::ItemId;
use crate::cli::failure::Failure;
use crate::demo::Flaw;
use crate::report::severity;
use crate::scenario::{Case, Need, Runs, Scenario};
use std::fmt::Write;

/// The whole scenario with one case, or with all.
///
/// # Errors
/// When it has no case of this name.
pub(super) fn in_words(scenario: &Scenario, case: Option<&str>) -> Result<String, Failure> {
    let cases: Vec<&Case> = scenario
        .cases
        .iter()
        .filter(|own| case.is_none() || own.name.as_deref() == case)
        .collect();
    if cases.is_empty() {
        return Err(no_such_case(scenario));
    }
    let mut text = format!(
        "{}, severity {}\n\n{}\n",
        scenario.id,
        severity(scenario.severity),
        scenario.title
    );
    if let Some(about) = &scenario.about {
        let _ = writeln!(text, "\n{}", about.trim());
    }
    list(
        "May look like a fault and is none",
        &scenario.harmless,
        &mut text,
    );
    circumstances(scenario, &mut text);
    cases_in_words(&cases, &mut text);
    if !scenario.assume.is_empty() {
        text.push_str("\nIt shows something only if:\n");
        for own in &scenario.assume {
            let _ = writeln!(text, "  - {}.", expectation(own));
        }
    }
    expectations(scenario, &mut text);
    let caught: Vec<String> = Flaw::ALL
        .iter()
        .filter(|flaw| catches(scenario, **flaw))
        .map(|flaw| format!("{}: {}", flaw.name(), flaw.says()))
        .collect();
    list("Flaws of the demo API that it catches", &caught, &mut text);
    let sources: Vec<String> = scenario
        .sources
        .iter()
        .map(|source| located(source))
        .collect();
    list("Sources", &sources, &mut text);
    Ok(text)
}

fn list(title: &str, entries: &[String], text: &mut String) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}:");
    for entry in entries {
        let _ = writeln!(text, "  - {entry}");
    }
}

/// `owner/repository#1` is an issue or a pull request on GitHub; all else is as it is.
fn located(source: &str) -> String {
    match source.split_once('#') {
        Some((repository, number))
            if number.chars().all(|c| c.is_ascii_digit())
                && repository.matches('/').count() == 1 =>
        {
            format!("https://github.com/{repository}/issues/{number}")
        }
        _ => source.to_owned(),
    }
}

/// The steps of the first case, and what the others do in another way.
fn cases_in_words(cases: &[&Case], text: &mut String) {
    let Some((first, others)) = cases.split_first() else {
        return;
    };
    match &first.name {
        Some(name) => {
            let _ = writeln!(text, "\nSteps of the case {name}:");
        }
        None => text.push_str("\nSteps:\n"),
    }
    let usual = steps(&first.steps);
    for step in &usual {
        let _ = writeln!(text, "  {step}");
    }
    if !others.is_empty() {
        text.push_str("\nWhat the other cases do in another way:\n");
    }
    for case in others {
        let _ = writeln!(text, "  {}", case.name.as_deref().unwrap_or("unnamed"));
        for step in steps(&case.steps) {
            if !usual.contains(&step) {
                let _ = writeln!(text, "    {step}");
            }
        }
    }
}

fn no_such_case(scenario: &Scenario) -> Failure {
    let names: Vec<&str> = scenario
        .cases
        .iter()
        .filter_map(|case| case.name.as_deref())
        .collect();
    Failure::Usage(if names.is_empty() {
        format!("{} has no cases", scenario.id)
    } else {
        format!("the cases of {} are {}", scenario.id, names.join(", "))
    })
}

fn circumstances(scenario: &Scenario, text: &mut String) {
    text.push('\n');
    if !scenario.needs.is_empty() {
        let needs: Vec<&str> = scenario.needs.iter().map(|own| need(*own)).collect();
        let _ = writeln!(text, "Needs: {}.", needs.join(", "));
    }
    let rounds = scenario.rounds;
    let _ = write!(text, "Rounds: {}", rounds.count);
    if rounds.up_to > rounds.count {
        let _ = write!(
            text,
            ", up to {} while too few have shown something",
            rounds.up_to
        );
    }
    let _ = writeln!(text, "; at least {} must show something.", rounds.valid);
    if scenario.runs == Runs::AtEnd {
        text.push_str("It runs once, after all others.\n");
    }
    if scenario.alone {
        text.push_str("Nothing else runs meanwhile.\n");
    }
}

fn expectations(scenario: &Scenario, text: &mut String) {
    let mut last: Option<ItemId> = None;
    for (item, own) in &scenario.expect {
        if last != Some(*item) {
            let _ = writeln!(text, "\nFor {item} ({}):", item.item().short);
            last = Some(*item);
        }
        let _ = writeln!(text, "  - {}.", expectation(own));
    }
}

fn need(need: Need) -> &'static str {
    match need {
        Need::Key => "an operation with an idempotency key",
        Need::Body => "a request with a body",
        Need::Json => "a JSON body",
        Need::HeaderKey => "a key that travels in a header",
        Need::Given => "a resource that must exist first",
        Need::Precondition => "a way to bind a request to a version",
        Need::IdempotentMethod => "a method that is idempotent by itself",
        Need::State => "a probe of a state",
        Need::Bound => "a probe with a bound",
        Need::Prepare => "something that is asked for before the request",
        Need::Lookup => "a declared look-up",
        Need::Signals => "counts that the API keeps of what befalls its keys",
        Need::Documents => "documents that can be held against the API",
        Need::Consumer => "an operation that receives events",
        Need::Posted => "events that their receiver answers itself",
        Need::Signature => "requests that are signed",
        Need::SignedId => "a signature that covers the id of an event",
        Need::Outage => "an outage of a receiver that the API says it survives",
        Need::OrderedEvents => "events of which the API says that they come in order",
        Need::StableBody => "events of which the API says that they keep their body",
        Need::StableSignature => "events of which the API says that they keep their signature",
        Need::Sink => "events that our receiver gets",
        Need::Replicas => "two base URLs of one API",
        Need::Retention => "a declared retention",
        Need::RetentionFromCompletion => "a declared retention that begins with completion",
        Need::RetentionEnd => "a declared retention with a maximum",
        Need::FirstSent => "a contract with first-sent dates",
    }
}
