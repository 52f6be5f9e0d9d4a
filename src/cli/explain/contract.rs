//! Contracts and promises in words.

use super::list;
use crate::cli::failure::Failure;
use crate::contract::{Contract, PROFILES, Profile, Read, Term, resolve};
use crate::promise::{Promise, Strength};
use crate::scenario::{Check, Scenario};
use std::fmt::Write;

/// The contract, promise by promise.
///
/// # Errors
/// A built-in file that does not parse; a test keeps this from happening.
pub(super) fn in_words(profile: &Profile) -> Result<String, Failure> {
    let contract = read(profile)?;
    let mut text = format!("{}, a contract\n\n{}\n", profile.name, contract.title);
    if let Some(status) = &contract.status {
        let _ = writeln!(text, "Mind: {status}");
    }
    let terms = contract.terms();
    let (said, unsaid): (Vec<&Term>, Vec<&Term>) =
        terms.iter().partition(|term| term.says.is_some());
    let (judged, beside): (Vec<&Term>, Vec<&Term>) = said.into_iter().partition(|term| term.judged);
    section("What targets are held to:", &judged, &mut text);
    section("What is good to know beside:", &beside, &mut text);
    times(&contract, &mut text);
    if !unsaid.is_empty() {
        let names: Vec<&str> = unsaid.iter().map(|term| term.name).collect();
        let _ = writeln!(
            text,
            "\nUnspecified; it is observed and reported, and never fails:\n  {}",
            names.join(", ")
        );
    }
    requirements(&contract, &mut text);
    sources(&contract, &mut text);
    Ok(text)
}

fn section(title: &str, terms: &[&Term], text: &mut String) {
    if terms.is_empty() {
        return;
    }
    let width = terms.iter().map(|term| term.name.len()).max().unwrap_or(0);
    let _ = writeln!(text, "\n{title}");
    for term in terms {
        let says = term.says.as_deref().unwrap_or_default();
        let strength = strength(term.strength);
        let _ = write!(text, "  {:width$}  {strength:6}  {says}", term.name);
        match &term.source {
            Some(source) => {
                let _ = writeln!(text, "  [{source}]");
            }
            None => text.push('\n'),
        }
    }
}

fn strength(strength: Strength) -> &'static str {
    match strength {
        Strength::Unspecified => "",
        Strength::May => "may",
        Strength::Should => "should",
        Strength::Must => "must",
    }
}

fn times(contract: &Contract, text: &mut String) {
    if let Some(time) = contract.lock_timeout {
        let _ = writeln!(
            text,
            "\nA claim runs out after {}.",
            humantime::format_duration(time)
        );
    }
}

fn requirements(contract: &Contract, text: &mut String) {
    if contract.requirements.is_empty() {
        return;
    }
    text.push_str("\nRequirements that can be tested from outside, and what tests them:\n");
    for (id, requirement) in &contract.requirements {
        let _ = writeln!(text, "  {id} ({}): {}", requirement.level, requirement.says);
        for test in &requirement.tested_by {
            let _ = writeln!(text, "      {test}");
        }
    }
}

fn sources(contract: &Contract, text: &mut String) {
    if contract.sources.is_empty() {
        return;
    }
    text.push_str("\nSources:\n");
    for (name, reference) in &contract.sources {
        let _ = write!(text, "  {name}: {}", reference.doc);
        let how = reference.read.and_then(|read| match read {
            Read::InFull => None,
            Read::Copy => Some("read in a copy"),
            Read::Beginning => Some("only its beginning was read"),
            Read::SecondHand => Some("known from others"),
        });
        let when = reference
            .retrieved
            .as_ref()
            .map(|date| format!("on {date}"));
        let notes: Vec<String> = how.map(str::to_owned).into_iter().chain(when).collect();
        if notes.is_empty() {
            text.push('\n');
        } else {
            let _ = writeln!(text, " ({})", notes.join(", "));
        }
    }
}

/// The promise, what each built-in contract says of it, and the scenarios that hold a target to it.
///
/// # Errors
/// A built-in file that does not parse; a test keeps this from happening.
pub(super) fn promise_in_words(
    promise: Promise,
    scenarios: &[Scenario],
) -> Result<String, Failure> {
    let mut text = format!(
        "{}, a promise\n\n{}\n\n",
        promise.name(),
        about_promise(promise)
    );
    let width = PROFILES.iter().map(|profile| profile.name.len()).max();
    let width = width.unwrap_or_default();
    let mut silent = Vec::new();
    for profile in &PROFILES {
        let contract = read(profile)?;
        match contract.says(promise) {
            Some(said) => {
                let _ = writeln!(text, "  {:width$}  {said}", profile.name);
            }
            None => silent.push(profile.name),
        }
    }
    if !silent.is_empty() {
        let _ = writeln!(text, "\nUnspecified in {}.", silent.join(", "));
    }
    let bearing: Vec<&Scenario> = scenarios
        .iter()
        .filter(|scenario| {
            scenario.expect.iter().any(|(_, expectation)| {
                matches!(expectation.check, Check::Keeps { promise: own, .. } if own == promise)
            })
        })
        .collect();
    if !bearing.is_empty() {
        text.push_str("\nScenarios that hold a target to it:\n");
        list(&bearing, &mut text);
    }
    Ok(text)
}

/// What a promise is about, in one sentence.
pub fn about_promise(promise: Promise) -> &'static str {
    match promise {
        Promise::Replay => "What a repeated request is answered with.",
        Promise::ReplayMarker => "How a replay can be told from a first answer.",
        Promise::InProgress => "The answer to a duplicate while the first request still runs.",
        Promise::Mismatch => "The answer to another payload under a used key.",
        Promise::Equality => {
            "Whether an equal payload that is written differently counts as equal."
        }
        Promise::MissingKey => "The answer to a request without a key.",
        Promise::MalformedKey => "The answer to a key that the contract calls malformed.",
        Promise::KeyCase => "Whether keys are case-sensitive.",
        Promise::OtherPrincipal => "What another principal's use of the key means.",
        Promise::OtherOperation => "What the key's use on another operation means.",
        Promise::Retention => "For how long a key is remembered.",
        Promise::Expired => "What a key does after its retention.",
        Promise::Deleted => "The answer to a replay after the resource was deleted.",
        Promise::Lookup => "Whether an operation can be found again without a retry.",
        Promise::FirstSent => "What the date of the first sending decides.",
        Promise::StoreUnavailable => "What happens when the key store is down.",
        Promise::AfterFailure => "What a retry does after each class of failure.",
    }
}

fn read(profile: &Profile) -> Result<Contract, Failure> {
    let node = profile.node();
    node.and_then(|node| resolve(Some(&node)))
        .map_err(|problem| Failure::BadFiles(vec![problem]))
}

#[cfg(test)]
mod tests {
    use super::{in_words, read};
    use crate::contract::PROFILES;
    use crate::scenario::library;

    #[test]
    fn an_explanation_says_what_is_promised_what_is_not_and_where_it_is_written() {
        let profile = |name: &str| PROFILES.iter().find(|profile| profile.name == name);
        let stripe = in_words(profile("stripe-v1").expect("it is built in")).expect("it parses");
        for line in [
            "Stripe API v1",
            "idempotent-replayed: true  [errors]",
            "at least 1 day",
            "header Idempotency-Key, at most 255 characters  [api]",
            "refused, with $.error.type = idempotency_error  [",
            "deleted,",
            "https://docs.stripe.com/api/idempotent_requests (read in a copy, on 2026-11-30)",
        ] {
            assert!(stripe.contains(line), "{line} is not in\n{stripe}");
        }
        let draft = in_words(profile("ietf-draft-07").expect("it is built in")).expect("it parses");
        assert!(draft.contains("Mind: An expired Internet-Draft"), "{draft}");
        assert!(draft.contains("IETF-2.7-b (should)"), "{draft}");
    }

    #[test]
    fn every_requirement_names_expectations_that_there_are() {
        let scenarios = library::scenarios().expect("the built-in scenarios");
        for profile in &PROFILES {
            let contract = read(profile).expect("it parses");
            for (id, requirement) in &contract.requirements {
                assert!(
                    !requirement.tested_by.is_empty(),
                    "{id} is tested by nothing"
                );
                for test in &requirement.tested_by {
                    let (path, wanted) =
                        test.split_once(' ').expect("a scenario and an expectation");
                    let scenario = scenarios.iter().find(|scenario| scenario.id == path);
                    let scenario = scenario.unwrap_or_else(|| panic!("{id}: no scenario {path}"));
                    let has = scenario.expect.iter().any(|(_, own)| own.id == wanted);
                    let ids: Vec<&str> = scenario
                        .expect
                        .iter()
                        .map(|(_, own)| own.id.as_str())
                        .collect();
                    assert!(has, "{id}: {path} has no {wanted}, but {ids:?}");
                }
            }
        }
    }
}
