//! The plain statements of the documents: for how long a key is kept, whose keys are one space, and which
//! errors may be retried. Each is held against what was observed; where no step shows it, against the
//! contract, which other scenarios hold the target to.

use super::{false_of, true_of, undocumented};
use crate::contract::PrincipalScope;
use crate::judge::effects;
use crate::judge::keeps::{age, is_alone_on_its_path};
use crate::judge::ruling::Ruling;
use crate::judge::view::{View, began, got, who};
use crate::outcome::{Meaning, Outcome};
use crate::promise::Level;
use crate::scenario::{Bound, Marker, OperationRole, PrincipalRole};
use crate::transcript::{DocumentFacts, Exchange};
use std::time::Duration;

/// The share of a stated time after which a replay shows something of it.
const MOST: f64 = 0.8;

/// For how long a key is kept: observed by a repeat, or as the contract has it.
pub(super) fn retention(view: &View<'_>, facts: &DocumentFacts, of: Option<&str>) -> Ruling {
    let ruling = match of {
        None => retention_of_contract(view, facts),
        Some(step) => match view.standing(step).last() {
            None => view.never_sent(step),
            Some((at, exchange)) => kept(view, facts, exchange).seen_in([*at]),
        },
    };
    ruling.about("retention")
}

fn kept(view: &View<'_>, facts: &DocumentFacts, exchange: &Exchange) -> Ruling {
    let Some(age) = age(view, exchange) else {
        return Ruling::nothing("the key was of no success before");
    };
    let outcome = exchange.outcome;
    let old = in_words(Duration::from_secs(age.as_secs().max(1)));
    let replayed = outcome.is_within(Meaning::Replayed.into());
    if !replayed && (outcome.may_be(Meaning::Replayed) || is_passing(outcome)) {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
    }
    let Some(stated) = facts.retention else {
        return match replayed {
            true => undocumented(format!(
                "at the age of {old} the key was known, and the documents do not say for how long"
            )),
            false => undocumented(format!(
                "at the age of {old} the key was forgotten, and the documents do not say when"
            )),
        };
    };
    let said = in_words(stated);
    match (age <= stated, replayed) {
        (true, true) if age < stated.mul_f64(MOST) => Ruling::void(format!(
            "void: {} was sent at the age of {old}, long before the {said} that are stated",
            who(exchange)
        )),
        (true, true) => true_of(format!("{said}, and at the age of {old} the key was known")),
        (true, false) => false_of(format!(
            "{said} are stated, and at the age of {old} the key was forgotten"
        )),
        (false, false) => true_of(format!(
            "{said}, and at the age of {old} the key was forgotten"
        )),
        // A longer memory harms nobody who relies on the statement.
        (false, true) => false_of(format!(
            "{said} are stated, and at the age of {old} the key was still known"
        ))
        .at_level(Level::Should),
    }
}

/// Whether an answer says only that it is not the time to tell.
fn is_passing(outcome: Outcome) -> bool {
    let passing = [
        Meaning::InFlight,
        Meaning::RateLimited,
        Meaning::ServerError,
    ];
    outcome.is_within(Outcome::of(&passing))
}

fn retention_of_contract(view: &View<'_>, facts: &DocumentFacts) -> Ruling {
    let held_to = view.contract.retention;
    match (facts.retention, held_to) {
        (None, None) => Ruling::nothing("neither the documents nor the contract state a retention"),
        (None, Some(_)) => undocumented("the documents do not state for how long a key is kept"),
        (Some(stated), None) => Ruling::nothing(format!(
            "the documents state {}, and the contract that is tried states none",
            in_words(stated)
        )),
        (Some(stated), Some(held_to)) => {
            let within = stated >= held_to.min && held_to.max.is_none_or(|max| stated <= max);
            match within {
                true => Ruling::held(format!(
                    "the documents state {}, and so does the contract that is tried",
                    in_words(stated)
                )),
                false => false_of(format!(
                    "the documents state {}, and the contract that is tried states {}",
                    in_words(stated),
                    in_words(held_to.min)
                )),
            }
        }
    }
}

/// Whose keys are one space: observed by another principal's use of a key, or as the contract has it.
pub(super) fn scope(view: &View<'_>, facts: &DocumentFacts, of: Option<&str>) -> Ruling {
    let ruling = match of {
        None => scope_of_contract(view, facts),
        Some(step) => match view.standing(step).last() {
            None => view.never_sent(step),
            Some((at, exchange)) => whose(view, facts, exchange).seen_in([*at]),
        },
    };
    ruling.about("scope")
}

fn whose(view: &View<'_>, facts: &DocumentFacts, exchange: &Exchange) -> Ruling {
    let outcome = exchange.outcome;
    let shared = Outcome::of(&[Meaning::Foreign, Meaning::Replayed]);
    let own = if outcome.is_within(Meaning::Executed.into()) {
        if is_alone_on_its_path(view, exchange) {
            let why = "the other principal's request has another path, and so perhaps another key";
            return Ruling::void(format!("void: {why}"));
        }
        true
    } else if outcome.is_within(shared.union(Outcome::REFUSAL)) && !is_passing(outcome) {
        false
    } else {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
    };
    let caller = exchange.principal.name();
    let seen = match own {
        true => format!("a key that `{caller}` used as well was its own"),
        false => format!("a key that `{caller}` used as well was taken already"),
    };
    let Some(stated) = facts.scope.as_deref() else {
        return undocumented(format!(
            "{seen}, and the documents do not state whose keys are one space"
        ));
    };
    let apart = match (stated, exchange.principal) {
        ("global", _) => false,
        ("credential" | "api-key" | "client", _) => true,
        ("user", role) => role != PrincipalRole::OtherSession,
        (_, role) => !matches!(
            role,
            PrincipalRole::SameTenant | PrincipalRole::OtherSession
        ),
    };
    match own == apart {
        true => true_of(format!("`{stated}`: {seen}")),
        false => false_of(format!("`{stated}` is stated, and {seen}")),
    }
}

fn scope_of_contract(view: &View<'_>, facts: &DocumentFacts) -> Ruling {
    let stated = facts.scope.as_deref();
    let held_to = view.contract.principal_scope.value;
    match (stated, held_to) {
        (None, None) => Ruling::nothing("neither the documents nor the contract state a scope"),
        (None, Some(_)) => undocumented("the documents do not state whose keys are one space"),
        (Some(stated), None) => Ruling::nothing(format!(
            "the documents state `{stated}`, and the contract that is tried states none"
        )),
        (Some(stated), Some(held_to)) => {
            let words: &[&str] = match held_to {
                PrincipalScope::Tenant | PrincipalScope::CompanyAccount => &[
                    "tenant",
                    "account",
                    "company-account",
                    "organization",
                    "merchant",
                ],
                PrincipalScope::ApiKey => &["credential", "api-key", "client"],
                PrincipalScope::User => &["user"],
                PrincipalScope::Global => &["global"],
            };
            match words.contains(&stated) {
                true => Ruling::held(format!(
                    "the documents state `{stated}`, and so does the contract that is tried"
                )),
                false => false_of(format!(
                    "the documents state `{stated}`, and the contract that is tried states `{}`",
                    words[0]
                )),
            }
        }
    }
}

/// Whether an error that may be retried may be: the retry is taken, and makes no second effect.
pub(super) fn retryable(view: &View<'_>, facts: &DocumentFacts, of: Option<&str>) -> Ruling {
    let about = "which errors may be retried";
    let Some((at, retry)) = of.and_then(|step| view.standing(step).last().copied()) else {
        return view.never_sent(of.unwrap_or_default()).about(about);
    };
    let error = view
        .round
        .exchanges
        .iter()
        .filter(|other| is_earlier_try(other, retry))
        .filter_map(|other| Some((other, other.response.as_ref()?.status)))
        .filter(|(_, status)| *status >= 400)
        .max_by_key(|(other, _)| began(other));
    let Some((first, status)) = error else {
        return Ruling::void(format!("void: nothing failed before {}", who(retry))).about(about);
    };
    retried(view, facts, (first, status), retry)
        .about(format!("retry after {status}"))
        .seen_in([at])
}

/// Whether this is the same request, sent before under the same key.
fn is_earlier_try(other: &Exchange, retry: &Exchange) -> bool {
    other.key.value.is_some()
        && other.key.value == retry.key.value
        && other.operation == retry.operation
        && other.principal == retry.principal
        && other.step != retry.step
        && began(other) < began(retry)
}

fn retried(
    view: &View<'_>,
    facts: &DocumentFacts,
    (first, status): (&Exchange, u16),
    retry: &Exchange,
) -> Ruling {
    let Some(response) = &retry.response else {
        return Ruling::nothing(format!("{} {}", who(retry), got(retry)));
    };
    let class = format!("{}xx", status / 100);
    let stated = facts.retryable.as_ref().map(|all| {
        all.iter()
            .any(|own| *own == status.to_string() || *own == class)
    });
    let harmed = effects::rule(
        view,
        &effects::Claim {
            bound: Bound::AtMost(1),
            probe: None,
            operation: OperationRole::Subject,
            marker: &Marker::Of(retry.step.clone()),
            reading: None,
        },
    );
    let taken = retry.outcome.is_within(Outcome::SUCCESS);
    let again = response.status;
    match (stated, taken) {
        (Some(true), _) if harmed.is_broken() => false_of(format!(
            "{status} may be retried, and there is a second effect"
        )),
        (Some(true), true) => true_of(format!("{status} may be retried, and the retry was taken")),
        (Some(true), false) if stays_refused(first, retry) => false_of(format!(
            "{status} may be retried, and the retry got {again} although nothing failed any longer"
        )),
        (Some(false), true) => undocumented(format!(
            "after {status} the retry was taken, and the documents do not have it among the errors that may be retried"
        )),
        (None, true) => undocumented(format!(
            "after {status} the retry was taken, and the documents do not say which errors may be retried"
        )),
        (Some(false), false) => true_of(format!(
            "{status} is not among the errors that may be retried, and the retry got {again}"
        )),
        (Some(true) | None, false) => Ruling::void(format!(
            "void: the retry after {status} got {again} as well"
        )),
    }
}

/// Whether a retry was refused though what made the first request fail was over.
fn stays_refused(first: &Exchange, retry: &Exchange) -> bool {
    let heals = |variant: &String| variant == "fails-once" || variant == "fails-after-once";
    let passing = |variant: &String| variant == "rate-limited" || variant == "times-out";
    let blocked = retry.outcome.is_within(Outcome::of(&[
        Meaning::InFlight,
        Meaning::Mismatch,
        Meaning::ReplayedFailure,
    ]));
    blocked
        || retry.variants.iter().any(heals)
        || first
            .variants
            .iter()
            .any(|own| passing(own) && !retry.variants.contains(own))
        || first.variants.is_empty()
}

fn in_words(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}
