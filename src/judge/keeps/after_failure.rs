//! What a retry does after a failure, by the failure's class.

use super::{Look, who};
use crate::contract::{AfterFailure, FailureClass};
use crate::judge::view::{View, began};
use crate::outcome::{Meaning, Outcome};
use crate::transcript::{Delivery, Exchange, Response};

/// The earliest exchange with the key, whoever sent it.
fn first<'a>(view: &View<'a>, this: &Exchange) -> Option<&'a Exchange> {
    view.round
        .exchanges
        .iter()
        .filter(|other| {
            other.key.value == this.key.value
                && other.operation == this.operation
                && (this.key.value.is_some() || other.marker == this.marker)
                && (other.step.as_str(), other.copy) != (this.step.as_str(), this.copy)
                && other.delivery != Delivery::NotSent
        })
        .min_by_key(|other| began(other))
}

/// The class of the failure that came before; `None` if nothing failed.
pub(super) fn class(view: &View<'_>, this: &Exchange) -> Option<FailureClass> {
    let first = first(view, this)?;
    let Some(response) = &first.response else {
        return Some(FailureClass::ConnectionDropped);
    };
    let contract = view.contract;
    let marked = !response.success
        && contract
            .transient
            .value
            .as_ref()
            .is_some_and(|signal| signal.is_on(response));
    if marked && contract.after(FailureClass::TransientMarked).is_declared() {
        return Some(FailureClass::TransientMarked);
    }
    let outcome = first.outcome;
    let is = |meaning: Meaning| outcome.is_within(meaning.into());
    if is(Meaning::Invalid) {
        Some(FailureClass::PreExecutionValidation)
    } else if is(Meaning::Unauthorized) {
        Some(FailureClass::Auth)
    } else if is(Meaning::Declined) {
        Some(FailureClass::BusinessDeclined)
    } else if is(Meaning::ServerError) {
        Some(FailureClass::Server5xx)
    } else if is(Meaning::RateLimited) {
        Some(FailureClass::RateLimited)
    } else if is(Meaning::Refused) {
        Some(FailureClass::Executed4xx)
    } else {
        None
    }
}

/// What became of the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The operation ran.
    Executed,
    /// A success, whether of this request or of the first.
    Success,
    /// The first request's result.
    FirstResult,
    /// The first failure was given again, from memory.
    Stored,
    /// The same failure, from memory or made anew.
    SameFailure,
    /// The key cannot be used.
    Blocked,
}

pub(super) fn look(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let Some(first) = first(view, exchange) else {
        return Look::Nothing(format!("nothing was sent before {}", who(exchange)));
    };
    let Some(class) = class(view, exchange) else {
        return Look::Nothing(format!("`{}` did not fail", first.step));
    };
    let outcome = exchange.outcome;
    let is = |meaning: Meaning| outcome.is_within(meaning.into());
    let status = response.status;
    let same_intent = first.request.intent == exchange.request.intent;
    let same_status = first
        .response
        .as_ref()
        .is_some_and(|first| first.status == status);
    let (fate, says) = if is(Meaning::Executed) {
        (Fate::Executed, "not consumed: executed".to_owned())
    } else if is(Meaning::Replayed) {
        (Fate::FirstResult, "the first one's result".to_owned())
    } else if outcome.is_within(Outcome::SUCCESS) {
        (Fate::Success, format!("{status}: {outcome}"))
    } else if is(Meaning::ReplayedFailure) {
        (Fate::Stored, format!("stored: {status}"))
    } else if is(Meaning::InFlight) {
        (Fate::Blocked, format!("blocked: {status}"))
    } else if is(Meaning::Mismatch) {
        (
            Fate::Stored,
            format!("stored: the key belongs to the refused request ({status})"),
        )
    } else if same_intent && same_status {
        let marked = is_marked(view, response);
        if heals(exchange) || is_over(first, exchange) || marked == Some(true) {
            (Fate::Stored, format!("stored: {status}"))
        } else if marked == Some(false) {
            (Fate::Executed, format!("failed anew with {status}"))
        } else {
            (
                Fate::SameFailure,
                format!("{status} again: stored or run again"),
            )
        }
    } else if is(Meaning::RateLimited) {
        return Look::Nothing(format!("{} was refused for its rate", who(exchange)));
    } else if is(Meaning::ServerError) && is_still_broken(class, first, exchange) {
        return Look::Nothing(format!("{} failed by itself ({status})", who(exchange)));
    } else {
        (Fate::Blocked, format!("refused with {status}"))
    };
    let kept = view
        .contract
        .after(class)
        .value
        .and_then(|declared| keeps(declared, fate));
    Look::Seen(says, kept)
}

/// Whether another failure of the server than the first need not have to do with the key: what broke may
/// still be broken.
fn is_still_broken(class: FailureClass, first: &Exchange, exchange: &Exchange) -> bool {
    class == FailureClass::Server5xx && !heals(exchange) && !is_over(first, exchange)
}

/// Whether the target was to fail once only, so that the same failure can only come from memory.
fn heals(exchange: &Exchange) -> bool {
    exchange
        .variants
        .iter()
        .any(|variant| variant == "fails-once" || variant == "fails-after-once")
}

/// Whether what made the first request fail is no part of this one, so that the same failure can only
/// come from memory.
fn is_over(first: &Exchange, exchange: &Exchange) -> bool {
    first.variants.iter().any(|variant| {
        let fails = variant == "invalid" || variant == "declined" || variant.starts_with("fails");
        fails && !exchange.variants.contains(variant)
    })
}

/// Whether this failure bears the mark of what comes from memory; `None` where none would.
fn is_marked(view: &View<'_>, response: &Response) -> Option<bool> {
    let declared = &view.contract.replay_marker;
    let marker = declared.value.as_ref()?;
    let tells = declared.is_declared() && marker.marks_failures();
    tells.then(|| marker.is_on(response, None, None))
}

/// Whether a fate is the declared one; `None` where it may be.
fn keeps(declared: AfterFailure, fate: Fate) -> Option<bool> {
    match (declared, fate) {
        (AfterFailure::StoredOrReexecuted, Fate::Blocked) => Some(false),
        (AfterFailure::StoredOrReexecuted, _) => Some(true),
        (AfterFailure::ConsumedBlocked, Fate::Blocked) => Some(true),
        (AfterFailure::ConsumedBlocked, Fate::SameFailure) => None,
        (AfterFailure::ConsumedBlocked, _) => Some(false),
        (AfterFailure::Stored, Fate::Stored) => Some(true),
        (AfterFailure::Stored, Fate::SameFailure | Fate::FirstResult) => None,
        (AfterFailure::Stored, _) => Some(false),
        (_, Fate::Stored | Fate::Blocked) => Some(false),
        (_, Fate::SameFailure) => None,
        (AfterFailure::Resumed, _) => Some(true),
        (AfterFailure::NotConsumed | AfterFailure::Reexecuted, Fate::Executed | Fate::Success) => {
            Some(true)
        }
        // The first one may have been carried out after all.
        (AfterFailure::NotConsumed | AfterFailure::Reexecuted, Fate::FirstResult) => None,
    }
}
