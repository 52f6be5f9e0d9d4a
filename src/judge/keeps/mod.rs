//! `keeps`: what the contract declares for a promise, held against what was observed. Where
//! nothing is declared, what happened is reported and never fails.

mod after_failure;
mod declared;
mod first_sent;
mod in_progress;
mod lookup;
mod malformed_key;
mod marker;
mod retention;
mod scope;

pub use declared::declared;
pub(super) use retention::age;
pub(super) use scope::is_alone_on_its_path;

use super::ruling::Ruling;
use super::view::{View, began, given_in_front, got, same_key, succeeded, who};
use crate::contract::{Behaviour, BodyRelation, Contract, Equality, Kind, Promised, same_body};
use crate::outcome::{Meaning, Outcome};
use crate::promise::{Level, Promise, Strength};
use crate::transcript::{Exchange, Response};

/// What one exchange shows of a promise.
enum Look {
    /// A behaviour, and whether it is the declared one; `None` where that cannot be told.
    Seen(String, Option<bool>),
    /// Nothing was shown.
    Nothing(String),
    /// The promise is not about such a request.
    Void(String),
}

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, promise: Promise, of: &str) -> Ruling {
    let standing = view.standing(of);
    if standing.is_empty() {
        return view.never_sent(of);
    }
    let mut strength = view.contract.strength(promise);
    let mut declared = declared(view.contract, promise);
    if promise == Promise::AfterFailure
        && let Some(class) = standing
            .first()
            .and_then(|(_, exchange)| after_failure::class(view, exchange))
    {
        let promised = view.contract.after(class);
        strength = if promised.is_declared() {
            promised.strength
        } else {
            Strength::Unspecified
        };
        declared = declared::after(view.contract, class);
    }
    if promise == Promise::FirstSent
        && let Some(said) = standing
            .first()
            .and_then(|(_, exchange)| first_sent::promised(view.contract, exchange))
    {
        (strength, declared) = said;
    }
    let looks = standing
        .iter()
        .map(|&(index, exchange)| (index, look(view, promise, exchange)));

    let mut seen = Vec::new();
    let mut observed: Vec<String> = Vec::new();
    let (mut broken, mut open, mut nothing, mut void) = (None, None, None, None);
    for (index, look) in looks {
        match look {
            Look::Seen(says, kept) => {
                seen.push(index);
                match kept {
                    Some(true) => {}
                    Some(false) => {
                        broken.get_or_insert_with(|| (index, says.clone()));
                    }
                    None => {
                        open.get_or_insert_with(|| says.clone());
                    }
                }
                observed.push(says);
            }
            Look::Nothing(why) => {
                nothing.get_or_insert(why);
            }
            Look::Void(why) => {
                void.get_or_insert(why);
            }
        }
    }
    if observed.is_empty() {
        return match (nothing, void) {
            (Some(why), _) => Ruling::nothing(why),
            (None, Some(why)) => Ruling::void(why),
            (None, None) => Ruling::nothing(format!("`{of}` shows nothing of it")),
        };
    }
    let mut words: Vec<&str> = observed.iter().map(String::as_str).collect();
    words.dedup();
    let words = words.join("; ");
    let ruling = match (strength, broken, open) {
        (Strength::Unspecified, _, _) => {
            Ruling::observed(format!("observed, nothing is promised: {words}"))
        }
        (Strength::May, Some((_, says)), _) => Ruling::observed(format!(
            "observed, and another way is only allowed ({declared}): {says}"
        )),
        (_, Some((index, says)), _) => {
            let ruling = Ruling::broken(format!("declared: {declared}; observed: {says}"))
                .at_level(if strength == Strength::Must {
                    Level::Must
                } else {
                    Level::Should
                });
            return ruling.with_observed(observed).seen_in([index]);
        }
        (_, None, Some(says)) => Ruling::nothing(format!(
            "declared: {declared}; observed: {says}, which may or may not be that"
        )),
        (_, None, None) => Ruling::held(format!("declared: {declared}; observed: {words}")),
    };
    ruling.with_observed(observed).seen_in(seen)
}

fn look(view: &View<'_>, promise: Promise, exchange: &Exchange) -> Look {
    if promise == Promise::MalformedKey && !exchange.key.malformed {
        return Look::Void("void: the contract does not call this key malformed".to_owned());
    }
    let Some(response) = &exchange.response else {
        return Look::Nothing(format!("{} {}", who(exchange), got(exchange)));
    };
    if let Some(why) = given_in_front(exchange) {
        return Look::Nothing(why);
    }
    let contract = view.contract;
    let behaves = |promised: &Promised<Vec<Behaviour>>| kept(view, promised, exchange, response);
    match promise {
        Promise::Replay => replay(view, exchange, response),
        Promise::ReplayMarker => marker::look(view, exchange, response),
        Promise::InProgress => in_progress::look(view, exchange, response),
        Promise::Mismatch => Look::Seen(
            match only(exchange.outcome) {
                Some(Meaning::Mismatch) => response.status.to_string(),
                Some(Meaning::InFlight) => {
                    format!("{}, as if it only had to wait", response.status)
                }
                Some(Meaning::Replayed) => "replayed silently".to_owned(),
                _ => says(exchange, response),
            },
            behaves(&contract.mismatch),
        ),
        Promise::Equality => equality(view, exchange, response),
        Promise::MissingKey => Look::Seen(says(exchange, response), behaves(&contract.missing)),
        Promise::MalformedKey => malformed_key::look(view, exchange, response),
        Promise::KeyCase => scope::key_case(view, exchange, response),
        Promise::OtherPrincipal => scope::other_principal(view, exchange, response),
        Promise::OtherOperation => scope::other_operation(view, exchange, response),
        Promise::Retention => retention::kept_for(view, exchange, response),
        Promise::Expired => retention::after(view, exchange, response),
        Promise::Deleted if is_for_now(exchange) => told_to_wait(exchange),
        Promise::Deleted => Look::Seen(
            match only(exchange.outcome) {
                Some(Meaning::Executed) => "made again".to_owned(),
                _ => says(exchange, response),
            },
            behaves(&contract.deleted),
        ),
        Promise::Lookup => lookup::look(view, exchange),
        Promise::FirstSent => first_sent::look(view, exchange, response),
        Promise::StoreUnavailable => Look::Seen(
            says(exchange, response),
            behaves(&contract.store_unavailable),
        ),
        Promise::AfterFailure => after_failure::look(view, exchange, response),
    }
}

/// The only possible meaning, if there is but one.
fn only(outcome: Outcome) -> Option<Meaning> {
    let mut meanings = outcome.meanings();
    match (meanings.next(), meanings.next()) {
        (Some(meaning), None) => Some(meaning),
        _ => None,
    }
}

/// What a response does, in words that do not depend on the promise.
fn says(exchange: &Exchange, response: &Response) -> String {
    match only(exchange.outcome) {
        Some(Meaning::Executed) => "executed".to_owned(),
        Some(Meaning::Replayed) if response.success => "replayed".to_owned(),
        Some(Meaning::Replayed) => format!("{} that names the first result", response.status),
        Some(Meaning::ReplayedFailure) => format!("the stored {}", response.status),
        Some(Meaning::Foreign) => "answered with another one's result".to_owned(),
        Some(Meaning::ServerError) => format!("failed with {}", response.status),
        Some(_) => format!("refused with {}", response.status),
        None if response.success => format!("{}: {}", response.status, exchange.outcome),
        None => format!("refused with {}", response.status),
    }
}

/// Whether an answer is one of the declared ones; `None` where that cannot be told.
fn kept(
    view: &View<'_>,
    promised: &Promised<Vec<Behaviour>>,
    exchange: &Exchange,
    response: &Response,
) -> Option<bool> {
    let first = first_success(view, exchange).and_then(|(_, first)| first.response.as_ref());
    let mut open = false;
    for behaviour in promised.value.iter().flatten() {
        if !behaviour.fits(response, first.map(|first| first.status))
            || !relates(view.contract, behaviour.body, response, first)
        {
            continue;
        }
        match does(behaviour, exchange, response) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => open = true,
        }
    }
    if open { None } else { Some(false) }
}

/// Whether a response does what a behaviour says, its looks apart.
fn does(behaviour: &Behaviour, exchange: &Exchange, response: &Response) -> Option<bool> {
    let outcome = exchange.outcome;
    let within = |set: Outcome| {
        if outcome.is_within(set) {
            Some(true)
        } else if outcome.is_disjoint(set) {
            Some(false)
        } else {
            None
        }
    };
    let replayed = Outcome::of(&[Meaning::Replayed, Meaning::ReplayedFailure]);
    match behaviour.kind {
        Kind::ReplayStored | Kind::ReplayCurrent | Kind::WaitThenReplay => {
            if response.success {
                within(replayed)
            } else {
                within(Meaning::ReplayedFailure.into())
            }
        }
        Kind::ConflictRef => {
            if response.success {
                Some(false)
            } else {
                within(replayed)
            }
        }
        Kind::Reject => Some(
            outcome.is_disjoint(Outcome::SUCCESS.union(Meaning::Foreign.into()))
                && (!response.success || behaviour.is_specific()),
        ),
        Kind::Reexecute | Kind::ExecuteNew => within(Meaning::Executed.into()),
        Kind::Accepted => Some(response.status == 202),
        Kind::Ignore => within(Meaning::Executed.into()),
    }
}

/// Whether a body relates to the first one's as declared; where there is no first, it does.
fn relates(
    contract: &Contract,
    wanted: Option<BodyRelation>,
    response: &Response,
    first: Option<&Response>,
) -> bool {
    let (Some(wanted), Some(first)) = (wanted, first) else {
        return true;
    };
    match wanted {
        BodyRelation::Identical => first.body_digest == response.body_digest,
        BodyRelation::JsonEqual => same_body(contract, first, response),
        BodyRelation::SameResource => {
            first.identity.is_none() || first.identity == response.identity
        }
        BodyRelation::Any => true,
    }
}

/// The earliest success with an exchange's key in its scope, other than itself.
fn first_success<'a>(view: &View<'a>, this: &Exchange) -> Option<(usize, &'a Exchange)> {
    view.round
        .exchanges
        .iter()
        .enumerate()
        .filter(|(_, other)| {
            same_key(other, this)
                && succeeded(other)
                && (began(other), other.times.ended) < (began(this), this.times.ended)
        })
        .min_by_key(|(_, other)| began(other))
}

/// Whether an answer only says to come again later.
fn is_for_now(exchange: &Exchange) -> bool {
    exchange.outcome.is_within(Outcome::FOR_NOW)
}

/// What such an answer shows of a promise about what comes then.
fn told_to_wait(exchange: &Exchange) -> Look {
    Look::Nothing(format!("{} was still {}", who(exchange), exchange.outcome))
}

fn replay(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    if is_for_now(exchange) {
        return told_to_wait(exchange);
    }
    if view.outlived(exchange) {
        return Look::Nothing(format!(
            "{} was sent after the key's retention had run out",
            who(exchange)
        ));
    }
    let first = first_success(view, exchange).and_then(|(_, first)| first.response.as_ref());
    let says = match first {
        Some(first) if response.success && exchange.outcome.may_be(Meaning::Replayed) => {
            let status = if first.status == response.status {
                response.status.to_string()
            } else {
                format!("{} after {}", response.status, first.status)
            };
            let body = if same_body(view.contract, first, response) {
                "same body"
            } else {
                "another body"
            };
            format!("{status}, {body}")
        }
        _ => says(exchange, response),
    };
    Look::Seen(says, kept(view, &view.contract.replay, exchange, response))
}

fn equality(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    if is_for_now(exchange) {
        return told_to_wait(exchange);
    }
    let kept = match view.contract.equality.value {
        None => None,
        Some(Equality::Bytes) if exchange.outcome.is_within(Meaning::Mismatch.into()) => Some(true),
        // Another payload by its bytes: whatever is declared for a mismatch.
        Some(Equality::Bytes) => match kept(view, &view.contract.mismatch, exchange, response) {
            Some(true) => Some(true),
            _ => Some(false),
        },
        Some(Equality::JsonCanonical | Equality::SelectedFields) => {
            if exchange.outcome.is_within(Meaning::Replayed.into()) {
                Some(true)
            } else if exchange.outcome.may_be(Meaning::Replayed) {
                None
            } else {
                Some(false)
            }
        }
    };
    Look::Seen(says(exchange, response), kept)
}

#[cfg(test)]
mod tests;
