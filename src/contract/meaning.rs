//! What a response says: a decision table over the contract, the situation and the response.
//!
//! Used by the runner, which must know when a retry may stop, and by the judge. It never looks at
//! effects: what a response says and what happened are two things, and both are kept.

use super::behaviour::{Behaviour, Kind};
use super::{Contract, OperationScope, PrincipalScope, Promised, ReplayMarker};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::PrincipalRole;
use crate::transcript::{Delivery, Exchange, Response, Round};
use std::time::Duration;

/// How a request relates to the first one with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is the first one.
    First,
    /// The very same.
    Same,
    /// The same, written differently.
    Reworded,
    /// Another request.
    Changed,
    /// The key was used before, by another principal only.
    OtherPrincipal,
    /// The key was used before, on another operation only.
    OtherOperation,
}

/// What became of the earlier requests with the key, in its own scope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Earlier {
    /// There were none, or none that arrived.
    Nothing,
    /// One of them was still running.
    InFlight,
    /// One was delivered and got no response.
    Lost,
    /// The last one ended so.
    Ended(Outcome),
}

/// All that plan and times say about a request, before its response is looked at.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// How it relates to the first one with its key.
    pub relation: Relation,
    /// What became of the earlier ones.
    pub earlier: Earlier,
    /// The first success with this key in its scope, else the first response; never this one.
    pub first: Option<&'a Response>,
    /// That response was a success.
    pub first_succeeded: bool,
    /// How long before this request was sent the first success had ended.
    pub since_first: Option<Duration>,
    /// The target's time has moved since the first one.
    pub aged: Option<Duration>,
    /// The identity in this response was first seen in another scope.
    pub foreign: Option<Foreign>,
    /// What its identity says beside those of earlier successes with the key.
    pub identity: Identity,
}

/// What the identity in a success says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// An earlier success with the key named the same resource.
    Known,
    /// Earlier successes with the key named other resources.
    New,
    /// There is no identity, or no earlier success to hold it against.
    Untold,
}

/// Where an identity was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Under another principal, operation or key: it is certain.
    Certain,
    /// Ids that are small numbers may be equal by chance in two scopes.
    PerhapsByChance,
}

/// The meaning of the response of an exchange; `index` points into the round.
///
/// Earlier exchanges of the round must have their outcomes.
pub fn meaning(contract: &Contract, round: &Round, index: usize) -> Outcome {
    let exchange = &round.exchanges[index];
    match &exchange.response {
        None => Outcome::NONE,
        Some(response) => decide(
            contract,
            &situation(contract, round, index),
            exchange,
            response,
        ),
    }
}

/// The situation of an exchange; `index` points into the round.
pub fn situation<'a>(contract: &Contract, round: &'a Round, index: usize) -> Situation<'a> {
    let this = &round.exchanges[index];
    let sent = this.times.sent.unwrap_or(this.times.ended);
    let began = |other: &Exchange| other.times.sent.unwrap_or(other.times.ended);
    // A response is over with its last byte: what is released by it comes afterwards.
    let over = |other: &Exchange| other.times.last_byte.unwrap_or(other.times.ended);
    let same_key = |other: &&'a Exchange| shares_key(other, this);
    let others = || {
        round
            .exchanges
            .iter()
            .enumerate()
            .filter(move |(other, exchange)| {
                *other != index && exchange.delivery != Delivery::NotSent
            })
            .map(|(_, exchange)| exchange)
            .filter(same_key)
    };
    let own = || others().filter(|other| same_scope(other, this));
    let own_earlier =
        || own().filter(|other| (began(other), other.times.ended) < (sent, this.times.ended));

    let original = own_earlier().min_by_key(|other| began(other));
    let relation = match original {
        Some(original) if original.request.intent != this.request.intent => Relation::Changed,
        Some(original) if this.request.reworded != original.request.reworded => Relation::Reworded,
        Some(_) => Relation::Same,
        None => {
            let foreign = others().filter(|other| began(other) < sent);
            let mut relation = Relation::First;
            for other in foreign {
                if principal_space(other.principal) != principal_space(this.principal) {
                    relation = Relation::OtherPrincipal;
                } else if other.operation != this.operation {
                    relation = Relation::OtherOperation;
                }
            }
            relation
        }
    };

    let success = |other: &&Exchange| {
        other
            .response
            .as_ref()
            .is_some_and(|response| response.success)
            && !other.outcome.is_within(Meaning::InFlight.into())
    };
    let first_success = own_earlier()
        .filter(success)
        .min_by_key(|other| began(other));
    let first_response = own_earlier()
        .filter(|other| other.response.is_some())
        .min_by_key(|other| began(other));
    let first = first_success.or(first_response);

    let ended_success = own_earlier()
        .filter(success)
        .any(|other| over(other) <= sent);
    let overlapping = own().any(|other| began(other) < over(this) && sent < over(other));
    let lost = own_earlier().any(|other| other.response.is_none());
    let last = own_earlier()
        .filter(|other| other.response.is_some())
        .max_by_key(|other| other.times.ended);
    let earlier = if ended_success {
        Earlier::Ended(Outcome::SUCCESS)
    } else if overlapping {
        Earlier::InFlight
    } else if lost {
        Earlier::Lost
    } else {
        last.map_or(Earlier::Nothing, |last| Earlier::Ended(last.outcome))
    };

    let since_first = own_earlier()
        .filter(success)
        .filter_map(|other| sent.checked_sub(over(other)))
        .max();
    let aged = original.and_then(|original| {
        let moved: Duration = round
            .hooks
            .iter()
            .filter(|hook| hook.at >= began(original) && hook.at <= sent)
            .filter_map(|hook| hook.moved)
            .sum();
        (moved > Duration::ZERO).then_some(moved)
    });
    let known: Vec<&String> = own_earlier()
        .flat_map(|other| [&other.response, &other.late])
        .filter_map(|response| response.as_ref().filter(|response| response.success))
        .filter_map(|response| response.identity.as_ref())
        .collect();
    let identity = match this
        .response
        .as_ref()
        .and_then(|response| response.identity.as_ref())
    {
        Some(identity) if known.contains(&identity) => Identity::Known,
        Some(_) if !known.is_empty() => Identity::New,
        _ => Identity::Untold,
    };
    Situation {
        relation,
        earlier,
        first: first.and_then(|exchange| exchange.response.as_ref()),
        first_succeeded: first_success.is_some(),
        since_first,
        aged,
        foreign: foreign_identity(contract, round, this),
        identity,
    }
}

/// Whether two exchanges carry one key; keyless ones share a pseudo-key per marker.
fn shares_key(one: &Exchange, other: &Exchange) -> bool {
    match (&one.key.value, &other.key.value) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.marker == other.marker,
        _ => false,
    }
}

/// Whether two exchanges use the same operation in the same name.
fn same_scope(one: &Exchange, other: &Exchange) -> bool {
    one.operation == other.operation
        && principal_space(one.principal) == principal_space(other.principal)
}

/// A second session of the owner is the owner.
fn principal_space(role: PrincipalRole) -> PrincipalRole {
    match role {
        PrincipalRole::OtherSession => PrincipalRole::Owner,
        role => role,
    }
}

/// Whether the identity in this success was somebody else's first.
fn foreign_identity(contract: &Contract, round: &Round, this: &Exchange) -> Option<Foreign> {
    let identity = this
        .response
        .as_ref()
        .filter(|response| response.success)?
        .identity
        .as_ref()?;
    let owner = round
        .exchanges
        .iter()
        .filter(|other| {
            other.response.as_ref().is_some_and(|response| {
                response.success && response.identity.as_ref() == Some(identity)
            })
        })
        .min_by_key(|other| other.times.sent.unwrap_or(other.times.ended))?;
    let scope_differs = !same_scope(owner, this);
    if scope_differs {
        let shared_on_purpose = contract.principal_scope.value == Some(PrincipalScope::Global)
            && owner.operation == this.operation;
        if shared_on_purpose {
            return None;
        }
        let by_chance =
            identity.chars().count() < 8 || identity.chars().all(|c| c.is_ascii_digit());
        return Some(if by_chance {
            Foreign::PerhapsByChance
        } else {
            Foreign::Certain
        });
    }
    // Keyless requests, and a keyed one beside a keyless one, may name one natural resource.
    let both_keyed = owner.key.value.is_some() && this.key.value.is_some();
    (both_keyed && !shares_key(owner, this)).then_some(Foreign::Certain)
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
    if matches!(status, 401 | 403 | 407) {
        return Meaning::Unauthorized.into();
    }
    if status == 429 {
        return Meaning::RateLimited.into();
    }
    let marked = is_marked(&contract.replay_marker, response);
    if status >= 500 {
        let stored = situation.relation == Relation::Same
            && matches!(situation.earlier, Earlier::Ended(outcome) if outcome.may_be(Meaning::ServerError) || outcome.may_be(Meaning::ReplayedFailure))
            && first_status == Some(status)
            && contract
                .after
                .values()
                .any(|after| after.value == Some(super::AfterFailure::Stored));
        if marked || stored {
            return Meaning::ReplayedFailure.into();
        }
        if names(&contract.in_progress, status)
            && matches!(situation.earlier, Earlier::InFlight | Earlier::Lost)
        {
            return Meaning::InFlight.into();
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
        return if points_at_first {
            Meaning::Replayed.into()
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
    let same_as_first = || {
        situation
            .first
            .is_some_and(|first| same_body(first, response))
    };
    match situation.foreign {
        Some(Foreign::Certain) => return Meaning::Foreign.into(),
        Some(Foreign::PerhapsByChance) => {
            return Outcome::of(&[Meaning::Foreign, Meaning::Executed]);
        }
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
                if response.identity.is_none() && same_as_first() =>
            {
                Outcome::of(&[Meaning::Foreign, Meaning::Executed])
            }
            _ => Meaning::Executed.into(),
        },
        Earlier::Ended(outcome) if cannot_have_executed(outcome) => Meaning::Executed.into(),
        _ => either,
    }
}

/// Outcomes after which nothing has been carried out.
fn cannot_have_executed(outcome: Outcome) -> bool {
    outcome.is_within(Outcome::of(&[
        Meaning::Invalid,
        Meaning::Unauthorized,
        Meaning::MissingKey,
        Meaning::MalformedKey,
        Meaning::RateLimited,
        Meaning::Declined,
        Meaning::Refused,
    ]))
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
    if relation == Relation::Same
        && situation.first_succeeded
        && names_identity(response, situation.first)
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
    let ended = match situation.earlier {
        Earlier::Ended(outcome) => Some(outcome),
        _ => None,
    };
    if relation == Relation::Same
        && let (Some(earlier), Some(first)) = (ended, situation.first)
        && !first.success
        && first.status == status
        && same_body(first, response)
        && !earlier.is_empty()
    {
        return earlier;
    }
    let means_in_progress = names(&contract.in_progress, status);
    let means_mismatch = names(&contract.mismatch, status);
    let usual_in_progress = matches!(status, 102 | 409 | 423 | 425);
    let mismatch_declared = contract.mismatch.value.is_some();
    if relation == Relation::Changed {
        if means_in_progress && mismatch_declared && !means_mismatch {
            return Meaning::InFlight.into();
        }
        if ended.is_some() {
            return Meaning::Mismatch.into();
        }
        return if means_mismatch && !means_in_progress || !(usual_in_progress || means_in_progress)
        {
            Meaning::Mismatch.into()
        } else {
            Outcome::of(&[Meaning::InFlight, Meaning::Mismatch])
        };
    }
    let may_mean_in_progress = usual_in_progress || means_in_progress;
    let just_ended = situation
        .since_first
        .is_some_and(|since| since <= contract.consistency_lag);
    if matches!(relation, Relation::Same | Relation::Reworded)
        && may_mean_in_progress
        && (matches!(situation.earlier, Earlier::InFlight | Earlier::Lost) || just_ended)
    {
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

/// Whether the response bears the replay marker with the value of a replay.
fn is_marked(marker: &Promised<ReplayMarker>, response: &Response) -> bool {
    match &marker.value {
        Some(ReplayMarker::Header { name, value }) => response
            .header(name)
            .any(|own| own.trim().eq_ignore_ascii_case(value)),
        Some(ReplayMarker::None) | None => false,
    }
}

/// Whether two bodies are equal but for what the target calls volatile.
fn same_body(one: &Response, other: &Response) -> bool {
    match (&one.stable_json, &other.stable_json) {
        (Some(one), Some(other)) => one == other,
        _ => one.body_digest == other.body_digest,
    }
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
