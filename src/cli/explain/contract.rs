//! Contracts and promises in words.

use super::list;
use crate::cli::failure::Failure;
use crate::contract::{Behaviour, Contract, PROFILES, Profile, Promised, ReplayMarker, resolve};
use crate::promise::{Promise, Strength};
use crate::scenario::{Check, Scenario};
use serde::Serialize;
use std::fmt::Write;

/// The contract, promise by promise.
///
/// # Errors
/// A built-in file that does not parse; a test keeps this from happening.
pub(super) fn in_words(profile: &Profile) -> Result<String, Failure> {
    let contract = read(profile)?;
    let mut text = format!("{}, a contract\n\n{}\n", profile.name, contract.title);
    if let Some(source) = &contract.source {
        let _ = writeln!(text, "Source: {source}");
    }
    text.push('\n');
    for promise in Promise::ALL {
        let said = declared(&contract, promise);
        let strength = match contract.strength(promise) {
            Strength::Unspecified => "unspecified",
            Strength::May => "may",
            Strength::Should => "should",
            Strength::Must => "must",
        };
        match said {
            Some(said) => {
                let _ = writeln!(text, "  {:17}  {strength:11}  {said}", promise.name());
            }
            None => {
                let _ = writeln!(text, "  {:17}  {strength}", promise.name());
            }
        }
    }
    Ok(text)
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
    for profile in &PROFILES {
        let contract = read(profile)?;
        let said = declared(&contract, promise).unwrap_or_else(|| "unspecified".to_owned());
        let _ = writeln!(text, "  {:13}  {said}", profile.name);
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

/// What the contract declares; `None` where it says nothing.
fn declared(contract: &Contract, promise: Promise) -> Option<String> {
    match promise {
        Promise::Replay => behaviours(&contract.replay),
        Promise::InProgress => behaviours(&contract.in_progress),
        Promise::Mismatch => behaviours(&contract.mismatch),
        Promise::MissingKey => behaviours(&contract.missing),
        Promise::MalformedKey => behaviours(&contract.malformed),
        Promise::Expired => behaviours(&contract.expired),
        Promise::Deleted => behaviours(&contract.deleted),
        Promise::StoreUnavailable => behaviours(&contract.store_unavailable),
        Promise::ReplayMarker => match contract.replay_marker.value.as_ref()? {
            ReplayMarker::Header { name, value } => Some(format!("{name}: {value}")),
            ReplayMarker::None => Some("none".to_owned()),
        },
        Promise::Equality => contract.equality.value.map(word),
        Promise::KeyCase => contract.key.case_sensitive.value.map(|sensitive| {
            let says = if sensitive {
                "case-sensitive"
            } else {
                "not case-sensitive"
            };
            says.to_owned()
        }),
        Promise::OtherPrincipal => contract
            .principal_scope
            .value
            .map(|scope| format!("keys are told apart by {}", word(scope))),
        Promise::OtherOperation => contract.operation_scope.value.map(word),
        Promise::Retention => contract.retention.map(|retention| {
            let min = humantime::format_duration(retention.min);
            let clock = word(retention.clock);
            match retention.max {
                Some(max) if max != retention.min => {
                    let max = humantime::format_duration(max);
                    format!("{min} to {max}, from {clock}")
                }
                Some(_) => format!("{min}, from {clock}"),
                None => format!("at least {min}, from {clock}"),
            }
        }),
        Promise::FirstSent => None,
        Promise::AfterFailure => {
            let classes: Vec<String> = contract
                .after
                .iter()
                .filter_map(|(class, fate)| {
                    Some(format!("{}: {}", word(*class), word(fate.value?)))
                })
                .collect();
            (!classes.is_empty()).then(|| classes.join("; "))
        }
    }
}

fn behaviours(promised: &Promised<Vec<Behaviour>>) -> Option<String> {
    let all = promised.value.as_ref()?;
    let all: Vec<String> = all.iter().map(Behaviour::to_string).collect();
    Some(all.join(", or "))
}

/// The word that stands for a value in YAML.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("a fieldless variant is one word, not {other:?}"),
    }
}
