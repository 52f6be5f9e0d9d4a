//! All that plan and times say about a request, before its response is looked at.

use crate::contract::{Contract, PrincipalScope, same_body};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::PrincipalRole;
use crate::transcript::{Delivery, Exchange, Response, Round, Shown};
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
    /// What that response meant; empty if there was none.
    pub first_outcome: Outcome,
    /// An earlier request with the key was cut off before it had arrived in full.
    pub cut_before: bool,
    /// One of the earlier requests may have been carried out.
    pub may_be_done: bool,
    /// Others with the key were sent so close to it that any of them may have arrived first.
    pub crowded: bool,
    /// The response equals, without naming a resource, one to the key in another scope.
    pub like_foreign: bool,
    /// How long before this request was sent the first success had ended.
    pub since_first: Option<Duration>,
    /// The target's time has moved since the first one, or its date of first sending was put back.
    pub aged: Option<Duration>,
    /// The identity in this response was first seen in another scope.
    pub foreign: Option<Foreign>,
    /// What its identity says beside those of earlier successes with the key.
    pub identity: Identity,
    /// Its identity is that of an effect which was seen before it was sent.
    pub names_effect: bool,
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
    /// Under another principal, and the contract has one key space for all.
    SharedByContract,
}

/// The situation of an exchange; `index` points into the round.
pub fn situation<'a>(contract: &Contract, round: &'a Round, index: usize) -> Situation<'a> {
    let this = &round.exchanges[index];
    let sent = this.times.sent.unwrap_or(this.times.ended);
    let began = |other: &Exchange| other.times.sent.unwrap_or(other.times.ended);
    // Found once: a burst has a thousand of them.
    let with_key: Vec<&'a Exchange> = round
        .exchanges
        .iter()
        .enumerate()
        .filter(|(other, exchange)| *other != index && shares_key(exchange, this))
        .map(|(_, exchange)| exchange)
        .collect();
    let others = || {
        let all = with_key.iter().copied();
        all.filter(|other| other.delivery != Delivery::NotSent)
    };
    let own = || others().filter(|other| same_scope(other, this));
    let own_earlier =
        || own().filter(|other| (began(other), other.times.ended) < (sent, this.times.ended));

    let original = own_earlier().min_by_key(|other| began(other));
    // Of copies that were under way at once, none is the first one for certain.
    let beside = own().any(|other| {
        other.request.intent == this.request.intent
            && began(other) < over(this)
            && sent < over(other)
    });
    let relation = match original {
        Some(original) if original.request.intent != this.request.intent => Relation::Changed,
        Some(original) if this.request.reworded != original.request.reworded => Relation::Reworded,
        Some(_) => Relation::Same,
        None if beside => Relation::Same,
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

    let skew = match round.vantage {
        Some(_) => SKEW_OF_PLACES,
        None => SKEW,
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
    // What was sent when this one had its answer already cannot have been in its way.
    let answered = this.times.first_byte.unwrap_or(this.times.ended);
    let overlapping = own().any(|other| began(other) < answered && sent < over(other));
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

    let foreign_bodies = others()
        .filter(|other| !same_scope(other, this) && began(other) < sent)
        .filter(success)
        .filter_map(|other| other.response.as_ref());
    let like_foreign = this.response.as_ref().is_some_and(|response| {
        response.identity.is_none()
            && foreign_bodies
                .into_iter()
                .any(|other| same_body(contract, other, response))
    });
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
    let names_effect = this.response.as_ref().is_some_and(|response| {
        let seen = round.readings.iter().filter(|reading| {
            reading.marker == this.marker
                && reading.operation == this.operation
                && reading.at <= sent
        });
        seen.filter_map(|reading| reading.shows.as_ref().ok())
            .any(|shown| match shown {
                Shown::Ids(ids) => ids.iter().any(|id| response.identity.as_ref() == Some(id)),
                _ => false,
            })
    });
    Situation {
        names_effect,
        relation,
        earlier,
        first: first.and_then(|exchange| exchange.response.as_ref()),
        first_succeeded: first_success.is_some(),
        first_outcome: first.map_or(Outcome::NONE, |exchange| exchange.outcome),
        cut_before: with_key.iter().any(|other| {
            other.delivery == Delivery::NotSent
                && other.times.ended <= sent
                && same_scope(other, this)
        }),
        may_be_done: own_earlier().any(may_be_done),
        crowded: own().any(|other| {
            is_released_with(round, other, this)
                || (began(other) < over(this) + skew && sent < over(other))
        }),
        like_foreign,
        since_first,
        aged: aged.max(this.key.backdated),
        foreign: foreign_identity(contract, round, this),
        identity,
    }
}

/// When a request was over for the target: with the last byte of its response.
fn over(exchange: &Exchange) -> Duration {
    exchange.times.last_byte.unwrap_or(exchange.times.ended)
}

/// Whether two requests are copies of one burst. Whatever our clock says of them, which of them came
/// first only the target knows: on a machine with more to do, the time of a release may be noted when
/// its answer is there already.
fn is_released_with(round: &Round, other: &Exchange, this: &Exchange) -> bool {
    other.step == this.step && round.bursts.iter().any(|burst| burst.step == this.step)
}

/// Whether a request may have been carried out, by what it was answered.
fn may_be_done(exchange: &Exchange) -> bool {
    match &exchange.response {
        None => true,
        Some(response) => response.success || !exchange.outcome.is_within(Outcome::REFUSAL),
    }
}

/// By how much our own clock may be late in noting that a request was sent: the thread that hands
/// its last byte to the kernel can be set aside before it reads the time.
const SKEW: Duration = Duration::from_millis(20);

/// By how much the clocks of two places may differ.
pub const SKEW_OF_PLACES: Duration = Duration::from_millis(250);

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

/// Whether two operations gave one answer under one key. Each reads the identity from a place of its
/// own, so that the two need not be equal.
fn is_one_answer(other: &Exchange, this: &Exchange) -> bool {
    let digest = |exchange: &Exchange| {
        let response = exchange.response.as_ref()?;
        let told = response.identity.is_some() && !response.body_digest.is_empty();
        told.then(|| response.body_digest.clone())
    };
    other.operation != this.operation
        && shares_key(other, this)
        && digest(other).is_some_and(|own| Some(own) == digest(this))
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
                let named = response.identity.as_ref() == Some(identity);
                response.success && (named || is_one_answer(other, this))
            })
        })
        .min_by_key(|other| other.times.sent.unwrap_or(other.times.ended))?;
    let scope_differs = !same_scope(owner, this);
    if scope_differs {
        let shared_on_purpose = contract.principal_scope.value == Some(PrincipalScope::Global)
            && owner.operation == this.operation;
        if shared_on_purpose {
            return Some(Foreign::SharedByContract);
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
