//! What is sent again, and what is not.

use super::operations::Operation;
use super::{Look, Said};
use crate::contract::{Contract, StatusPattern};
use crate::promise::{Level, Strength};
use crate::scenario::client::ClientFault;
use crate::transcript::client::RunEnd;
use std::time::Duration;

/// The methods that may be sent again whatever befell them (RFC 9110, section 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];

/// Whether a request without a key is left alone once it may have been carried out.
pub(super) fn not_blind(operation: &Operation<'_>) -> Said {
    let requests = operation.requests();
    let Some((_, request)) = requests.first() else {
        return Said::not_shown("no request was read");
    };
    if IDEMPOTENT.contains(&request.method.as_str()) {
        return Said::does_not_apply(format!("{} may be sent again anyway", request.method));
    }
    let risky = requests
        .iter()
        .position(|(attempt, request)| attempt.fault.may_be_processed() && request.key.is_none());
    match risky.filter(|at| at + 1 < requests.len()) {
        Some(at) => Said::broken(format!(
            "{} was sent without a key, may have been carried out ({}), and was sent again",
            requests[at].1.method, requests[at].0.fault
        )),
        None if requests.len() > 1 => Said::held(format!(
            "what is sent again bears a key ({})",
            operation.met()
        )),
        None if was_cold(operation) => {
            Said::does_not_apply("each request has a connection of its own")
        }
        None => Said::held(format!("it sent nothing again ({})", operation.met())),
    }
}

/// Whether a request that should have met its fault on a connection that was used before did not.
fn was_cold(operation: &Operation<'_>) -> bool {
    let after_others = operation.command.faults.first() == Some(&ClientFault::Pass);
    let faulted = operation
        .attempts
        .iter()
        .find(|(_, attempt)| attempt.fault != ClientFault::Pass);
    after_others && faulted.is_some_and(|(_, attempt)| !attempt.reused)
}

/// Whether it is sent again where the contract asks for it.
pub(super) fn retried(contract: &Contract, operation: &Operation<'_>) -> Said {
    let attempts = operation.attempts.len();
    let Some((_, first)) = operation.attempts.first() else {
        return Said::not_shown("no request was read");
    };
    if attempts > 1 {
        return Said::held(format!("it was sent again ({})", operation.met()));
    }
    if operation.run.end.is_unfinished() {
        return Said::not_shown("it had not come back when its time was over");
    }
    let promised = &contract.retry;
    let asked = promised.value.as_ref().zip(first.status);
    match asked.filter(|(rules, status)| holds(&rules.statuses, *status)) {
        Some((_, status)) => Said::broken(format!(
            "it gave up after {status}, after which {} asks for the same request again",
            contract.name
        ))
        .at(level(promised.strength)),
        None => Said::does_not_apply(format!(
            "it gave up, and {} does not ask for more",
            contract.name
        )),
    }
}

/// Whether it is left alone where asking again does not help.
pub(super) fn not_retried(contract: &Contract, operation: &Operation<'_>) -> Said {
    let requests = operation.requests();
    let Some(((first, request), again)) = requests.split_first() else {
        return Said::not_shown("no request was read");
    };
    let status = first.status.unwrap_or_default();
    let rules = contract.retry.value.as_ref();
    if rules.is_some_and(|rules| holds(&rules.statuses, status)) {
        return Said::does_not_apply(format!(
            "{} asks for it to be sent again after {status}",
            contract.name
        ));
    }
    if again.is_empty() {
        return match operation.run.end {
            RunEnd::TimedOut | RunEnd::Watched => {
                Said::not_shown("it had not ended when its time was over")
            }
            _ => Said::held(format!("it was not sent again after {status}")),
        };
    }
    let others = again
        .iter()
        .all(|(_, again)| again.credentials != request.credentials);
    if status == 401 && others {
        return Said::held("it was sent again with other credentials");
    }
    let said = Said::broken(format!(
        "it was sent {} more after {status}",
        times(again.len())
    ));
    match rules.is_some_and(|rules| holds(&rules.never, status)) {
        true => said.at(level(contract.retry.strength)),
        false => said,
    }
}

/// Whether the attempts come to an end.
pub(super) fn bounded(operation: &Operation<'_>, at_most: u32, most: usize) -> Said {
    let attempts = operation.attempts.len();
    if operation.run.end == RunEnd::Endless {
        return Said::broken(format!("it did not stop within {most} attempts"));
    }
    if attempts > at_most as usize {
        let layers = layers(&operation.pauses());
        let layers = layers.map_or_else(String::new, |(outer, inner)| {
            format!(": {outer} times {inner}, as if two layers retry")
        });
        return Said::broken(format!(
            "{attempts} attempts for one operation, more than {at_most}{layers}"
        ));
    }
    match (attempts, operation.run.end.is_unfinished()) {
        (_, true) => Said::not_shown(format!(
            "{attempts} attempts, and it had not given up when its time was over"
        )),
        (1, false) => Said::does_not_apply(format!("it sent nothing again ({})", operation.met())),
        (attempts, false) => Said::held(format!("{attempts} attempts ({})", operation.met())),
    }
}

/// How often an inner layer of how many attempts seems to have been run: every n-th pause is longer
/// than all the others beside it.
fn layers(pauses: &[Duration]) -> Option<(usize, usize)> {
    let attempts = pauses.len() + 1;
    (2..=attempts / 2)
        .filter(|inner| attempts.is_multiple_of(*inner))
        .find(|inner| {
            let (outer, within): (Vec<_>, Vec<_>) = pauses
                .iter()
                .enumerate()
                .partition(|(index, _)| (index + 1).is_multiple_of(*inner));
            let shortest = outer.iter().map(|(_, pause)| **pause).min();
            let longest = within.iter().map(|(_, pause)| **pause).max();
            shortest > longest.map(|longest| longest * 2)
        })
        .map(|inner| (attempts / inner, inner))
}

/// Whether the outcome of an operation that was given up is looked up.
pub(super) fn looks_up(look: &Look<'_>) -> Said {
    if !look.transcript.facts.has_lookup {
        return Said::does_not_apply(
            "the target file does not say how an outcome is looked up (lookup)",
        );
    }
    let mut said = Vec::new();
    for operation in look.operations() {
        let Some((last, attempt)) = operation.attempts.last() else {
            continue;
        };
        if attempt.fault == ClientFault::Refuse {
            said.push(Said::does_not_apply(
                "connections were refused, so nothing could be looked up",
            ));
            continue;
        }
        if look.transcript.facts.watched {
            said.push(Said::not_shown(
                "without a command it cannot be told whose outcome is asked for",
            ));
            continue;
        }
        if !operation.run.end.is_given_up() {
            said.push(Said::not_shown("it was ended before it had given up"));
            continue;
        }
        let round = look
            .transcript
            .rounds
            .iter()
            .find(|round| round.number == operation.round);
        let asked = round.is_some_and(|round| {
            round
                .of(&operation.run.name)
                .any(|(place, attempt)| place > *last && attempt.looks_up)
        });
        said.push(match asked {
            true => Said::held("after giving up it asked what had become of the operation"),
            false => Said::broken(format!(
                "it gave up after {} and did not ask what had become of the operation",
                times(operation.attempts.len())
            ))
            .at(Level::Should)
            .seen_in(&operation),
        });
    }
    super::fold(said)
}

fn holds(patterns: &[StatusPattern], status: u16) -> bool {
    patterns.iter().any(|pattern| match pattern {
        StatusPattern::Exact(exact) => *exact == status,
        StatusPattern::Class(class) => status / 100 == *class,
        StatusPattern::SameAsFirst => false,
    })
}

/// How grave the break of a promise of this strength is.
pub(super) fn level(strength: Strength) -> Level {
    match strength {
        Strength::Must => Level::Must,
        Strength::Should => Level::Should,
        Strength::May | Strength::Unspecified => Level::Note,
    }
}

fn times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}
