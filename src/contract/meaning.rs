//! What a response says: a decision table over the contract, the situation and the response.
//!
//! Used by the runner, which must know when a retry may stop, and by the judge. It never looks at
//! effects: what a response says and what happened are two things, and both are kept.

mod situation;

pub use situation::{Earlier, Foreign, Identity, Relation, SKEW_OF_PLACES, Situation, situation};

use super::behaviour::{Behaviour, Kind};
use super::{
    AfterFailure, Contract, FailureClass, OperationScope, Precedence, PrincipalScope, Promised,
    gateway, same_body,
};
use crate::outcome::{Meaning, Outcome};
use crate::transcript::{Exchange, Response, Round};

/// The meaning of the response of an exchange; `index` points into the round.
///
/// Earlier exchanges of the round must have their outcomes.
pub fn meaning(contract: &Contract, round: &Round, index: usize) -> Outcome {
    let exchange = &round.exchanges[index];
    match &exchange.response {
        None => Outcome::NONE,
        Some(response) if exchange.lookup.is_some() => looked_up(response).into(),
        Some(response) => decide(
            contract,
            &situation(contract, round, index),
            exchange,
            response,
        ),
    }
}

/// What the answer to a look-up says; a key and a contract have no part in it.
fn looked_up(response: &Response) -> Meaning {
    match response.status {
        401 | 403 | 407 => Meaning::Unauthorized,
        404 | 410 => Meaning::NotFound,
        429 => Meaning::RateLimited,
        500.. => Meaning::ServerError,
        400..500 => Meaning::Refused,
        200..300 if response.identity.is_some() => Meaning::Found,
        // An empty list finds nothing.
        200..300 => Meaning::NotFound,
        _ => Meaning::Unknown,
    }
}

/// The decision table: the first row that fits wins.
fn decide(
    contract: &Contract,
    situation: &Situation<'_>,
    exchange: &Exchange,
    response: &Response,
) -> Outcome {
    let status = response.status;
    let first_status = situation.first.map(|first| first.status);
    if let Some(meaning) = specific(contract, situation, exchange, response) {
        return meaning.into();
    }
    if gateway(response).is_some() {
        return match status {
            429 | 503 => Meaning::RateLimited.into(),
            // What the API would have said, nobody knows.
            _ => Outcome::of(&[
                Meaning::Executed,
                Meaning::Replayed,
                Meaning::InFlight,
                Meaning::ServerError,
            ]),
        };
    }
    if matches!(status, 401 | 403 | 407) {
        return Meaning::Unauthorized.into();
    }
    let marked = is_marked(contract, situation, exchange, response);
    // The same failure as before, which may be the stored one where the contract says so.
    let is_same = |failure: Meaning| {
        situation.relation == Relation::Same
            && matches!(situation.earlier, Earlier::Ended(outcome) if outcome.may_be(failure) || outcome.may_be(Meaning::ReplayedFailure))
            && first_status == Some(status)
    };
    let is_stored = |class, failure: Meaning| {
        is_same(failure) && contract.after(class).value == Some(AfterFailure::Stored)
    };
    if status == 429 {
        return match marked || is_stored(FailureClass::RateLimited, Meaning::RateLimited) {
            true => Meaning::ReplayedFailure.into(),
            false => Meaning::RateLimited.into(),
        };
    }
    if status >= 500 {
        if marked || is_stored(FailureClass::Server5xx, Meaning::ServerError) {
            return Meaning::ReplayedFailure.into();
        }
        if names(&contract.in_progress, status)
            && matches!(situation.earlier, Earlier::InFlight | Earlier::Lost)
        {
            return Meaning::InFlight.into();
        }
        let says_nothing = contract.after(FailureClass::Server5xx).value.is_none();
        if says_nothing && is_same(Meaning::ServerError) {
            return Outcome::of(&[Meaning::ReplayedFailure, Meaning::ServerError]);
        }
        return Meaning::ServerError.into();
    }
    if response.success {
        return success(contract, situation, response, marked);
    }
    if (300..400).contains(&status) {
        let points_at_first = situation.first_succeeded
            && situation
                .first
                .and_then(|first| first.identity.as_ref())
                .is_some_and(|identity| {
                    response
                        .header("location")
                        .any(|location| location.rsplit(['/', '=']).next() == Some(identity))
                });
        let repeats = matches!(situation.relation, Relation::Same | Relation::Reworded)
            && situation.earlier != Earlier::Nothing;
        return if points_at_first || (repeats && is_conflict_ref(contract, response, true)) {
            Meaning::Replayed.into()
        } else if status == 303 && repeats && !situation.first_succeeded {
            // It may point at what a request made whose response was lost.
            Outcome::of(&[Meaning::Replayed, Meaning::Unknown])
        } else {
            Meaning::Unknown.into()
        };
    }
    if (400..500).contains(&status) || status == 102 {
        return refusal(contract, situation, exchange, response);
    }
    Meaning::Unknown.into()
}

/// Rows of contract matchers that say more than a status.
fn specific(
    contract: &Contract,
    situation: &Situation<'_>,
    exchange: &Exchange,
    response: &Response,
) -> Option<Meaning> {
    let fits = |promised: &Promised<Vec<Behaviour>>| {
        promised
            .value
            .iter()
            .flatten()
            .any(|behaviour| behaviour.is_specific() && behaviour.fits(response, None))
    };
    let key_missing = exchange.key.value.is_none();
    if key_missing && fits(&contract.missing) {
        return Some(Meaning::MissingKey);
    }
    if exchange.key.malformed && fits(&contract.malformed) {
        return Some(Meaning::MalformedKey);
    }
    if situation.aged.is_some() && fits(&contract.expired) {
        return Some(Meaning::Expired);
    }
    if situation.relation == Relation::Changed && fits(&contract.mismatch) {
        return Some(Meaning::Mismatch);
    }
    if matches!(situation.earlier, Earlier::InFlight | Earlier::Lost) && fits(&contract.in_progress)
    {
        return Some(Meaning::InFlight);
    }
    None
}

/// Rows 7 to 15: the target calls it a success.
fn success(
    contract: &Contract,
    situation: &Situation<'_>,
    response: &Response,
    marked: bool,
) -> Outcome {
    let either = Outcome::SUCCESS;
    match situation.foreign {
        Some(Foreign::Certain) => return Meaning::Foreign.into(),
        Some(Foreign::PerhapsByChance) => {
            return Outcome::of(&[Meaning::Foreign, Meaning::Executed]);
        }
        Some(Foreign::SharedByContract) => return Meaning::Replayed.into(),
        None => {}
    }
    if marked {
        return Meaning::Replayed.into();
    }
    let first_status = situation
        .first
        .filter(|_| situation.first_succeeded)
        .map(|first| first.status);
    let accepts = contract
        .in_progress
        .value
        .iter()
        .flatten()
        .any(|behaviour| behaviour.kind == Kind::Accepted);
    let in_flight = situation.earlier == Earlier::InFlight;
    if response.status == 202
        && ((accepts && in_flight) || first_status.is_some_and(|first| first != 202))
    {
        return Meaning::InFlight.into();
    }
    match situation.identity {
        Identity::Known => return Meaning::Replayed.into(),
        Identity::New => return Meaning::Executed.into(),
        Identity::Untold => {}
    }
    match situation.earlier {
        Earlier::Nothing => match situation.relation {
            Relation::OtherPrincipal | Relation::OtherOperation
                if response.identity.is_none() && situation.like_foreign =>
            {
                Outcome::of(&[Meaning::Foreign, Meaning::Executed])
            }
            _ => Meaning::Executed.into(),
        },
        Earlier::Ended(_) if !situation.may_be_done => Meaning::Executed.into(),
        _ => either,
    }
}

/// Rows 17 to 29: a refusal.
fn refusal(
    contract: &Contract,
    situation: &Situation<'_>,
    exchange: &Exchange,
    response: &Response,
) -> Outcome {
    let status = response.status;
    let usual_for_keys = matches!(status, 400 | 422 | 428);
    if exchange.key.value.is_none()
        && (usual_for_keys || names(&contract.missing, status))
        && !is_refused_variant(exchange)
    {
        return Meaning::MissingKey.into();
    }
    if exchange.key.malformed
        && (usual_for_keys || matches!(status, 413 | 431) || names(&contract.malformed, status))
        && !is_refused_variant(exchange)
    {
        return Meaning::MalformedKey.into();
    }
    if situation.aged.is_some() && (matches!(status, 410 | 412) || names(&contract.expired, status))
    {
        return Meaning::Expired.into();
    }
    if status == 412 {
        return Meaning::PreconditionFailed.into();
    }
    let relation = situation.relation;
    let ended_well =
        relation == Relation::Same && situation.earlier == Earlier::Ended(Outcome::SUCCESS);
    if (relation == Relation::Same
        && situation.first_succeeded
        && names_identity(response, situation.first))
        || (ended_well && is_conflict_ref(contract, response, false))
        || (matches!(relation, Relation::Same | Relation::Reworded)
            && situation.earlier != Earlier::Nothing
            && (situation.names_effect || is_conflict_ref(contract, response, true)))
    {
        return Meaning::Replayed.into();
    }
    if matches!(
        relation,
        Relation::OtherPrincipal | Relation::OtherOperation
    ) {
        let declared = match relation {
            Relation::OtherOperation => {
                contract.operation_scope.value == Some(OperationScope::GlobalKey)
            }
            _ => contract.principal_scope.value == Some(PrincipalScope::Global),
        };
        return if declared {
            Meaning::Mismatch.into()
        } else {
            Meaning::Refused.into()
        };
    }
    let ended = matches!(situation.earlier, Earlier::Ended(_));
    if relation == Relation::Same
        && ended
        && let Some(first) = situation.first
        && !first.success
        && first.status == status
        && same_body(contract, first, response)
        && !situation.first_outcome.is_empty()
    {
        return situation.first_outcome;
    }
    let means_in_progress = means(&contract.in_progress, response);
    let means_mismatch = means(&contract.mismatch, response);
    let may_mean_in_progress = means_in_progress || matches!(status, 102 | 409 | 423 | 425);
    let mismatch_declared = contract.mismatch.value.is_some();
    if relation == Relation::Changed {
        if means_in_progress && mismatch_declared && !means_mismatch {
            return Meaning::InFlight.into();
        }
        if ended {
            return Meaning::Mismatch.into();
        }
        let only_mismatch = means_mismatch && !means_in_progress;
        return match contract.precedence.value {
            _ if only_mismatch || !may_mean_in_progress => Meaning::Mismatch.into(),
            Some(Precedence::Mismatch) if means_mismatch => Meaning::Mismatch.into(),
            Some(Precedence::InProgress) if means_in_progress => Meaning::InFlight.into(),
            _ => Outcome::of(&[Meaning::InFlight, Meaning::Mismatch]),
        };
    }
    let just_ended = situation
        .since_first
        .is_some_and(|since| since <= contract.consistency_lag);
    // The copy of a burst that was sent first need not have arrived first.
    if relation == Relation::First && may_mean_in_progress && situation.crowded {
        return Meaning::InFlight.into();
    }
    if matches!(relation, Relation::Same | Relation::Reworded)
        && may_mean_in_progress
        && (matches!(situation.earlier, Earlier::InFlight | Earlier::Lost) || just_ended)
    {
        return Meaning::InFlight.into();
    }
    // Nothing can have been carried out, but the target may have taken the key.
    if relation == Relation::First && situation.cut_before && may_mean_in_progress {
        return Meaning::InFlight.into();
    }
    if relation == Relation::Reworded {
        return Meaning::Mismatch.into();
    }
    if has_variant(exchange, "invalid") {
        return Meaning::Invalid.into();
    }
    if has_variant(exchange, "declined") {
        return Meaning::Declined.into();
    }
    if relation == Relation::Same && may_mean_in_progress && !situation.first_succeeded {
        return Meaning::InFlight.into();
    }
    Meaning::Refused.into()
}

fn has_variant(exchange: &Exchange, name: &str) -> bool {
    exchange.variants.iter().any(|variant| variant == name)
}

fn is_refused_variant(exchange: &Exchange) -> bool {
    has_variant(exchange, "invalid") || has_variant(exchange, "declined")
}

/// Whether the contract names this very status for the promise.
fn names(promised: &Promised<Vec<Behaviour>>, status: u16) -> bool {
    promised
        .value
        .iter()
        .flatten()
        .any(|behaviour| behaviour.names_status(status))
}

/// The same, but for a way that is told by more than its status the response must bear that too.
fn means(promised: &Promised<Vec<Behaviour>>, response: &Response) -> bool {
    promised.value.iter().flatten().any(|behaviour| {
        behaviour.names_status(response.status)
            && (!behaviour.is_specific() || behaviour.fits(response, None))
    })
}

/// Whether the response bears what only a replay bears.
fn is_marked(
    contract: &Contract,
    situation: &Situation<'_>,
    exchange: &Exchange,
    response: &Response,
) -> bool {
    let first = situation.first.filter(|_| situation.first_succeeded);
    contract.replay_marker.value.as_ref().is_some_and(|marker| {
        marker.tells() && marker.is_on(response, first, exchange.key.value.as_deref())
    })
}

/// Whether the contract answers replays by such a refusal; `specific` is by more than its status.
fn is_conflict_ref(contract: &Contract, response: &Response, specific: bool) -> bool {
    contract
        .replay
        .value
        .iter()
        .flatten()
        .filter(|behaviour| behaviour.kind == Kind::ConflictRef)
        .any(|behaviour| (behaviour.is_specific() || !specific) && behaviour.fits(response, None))
}

/// Whether a refusal points at the first one's resource, in its body or a link.
fn names_identity(response: &Response, first: Option<&Response>) -> bool {
    let Some(identity) = first.and_then(|first| first.identity.as_ref()) else {
        return false;
    };
    let linked = ["link", "location", "content-location"]
        .into_iter()
        .any(|name| {
            response.header(name).any(|value| {
                value
                    .split(['/', '=', '>', '<', ';', '"', '?', '&'])
                    .any(|part| part == identity)
            })
        });
    linked
        || response
            .json
            .as_ref()
            .is_some_and(|json| has_leaf(json, identity))
}

fn has_leaf(json: &serde_json::Value, wanted: &str) -> bool {
    match json {
        serde_json::Value::String(text) => text == wanted,
        serde_json::Value::Number(number) => wanted.len() > 3 && number.to_string() == wanted,
        serde_json::Value::Array(list) => list.iter().any(|leaf| has_leaf(leaf, wanted)),
        serde_json::Value::Object(map) => map.values().any(|leaf| has_leaf(leaf, wanted)),
        serde_json::Value::Null | serde_json::Value::Bool(_) => false,
    }
}

#[cfg(test)]
pub(super) mod tests;
