//! The answer to a duplicate while the first request still runs.

use super::{Look, kept, who};
use crate::contract::{Kind, Promised};
use crate::judge::view::{View, began, same_key, succeeded, time};
use crate::outcome::Meaning;
use crate::transcript::{Exchange, Response};
use std::time::Duration;

pub(super) fn look(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let not_shown = || {
        Look::Nothing(format!(
            "{} did not meet a request that was still running",
            who(exchange)
        ))
    };
    if exchange.outcome.is_within(Meaning::RateLimited.into()) {
        return Look::Nothing(format!("{} was refused for its rate", who(exchange)));
    }
    // Of several that run at once, the one that is answered first with a success is the first.
    let runner = view
        .round
        .exchanges
        .iter()
        .filter(|other| same_key(other, exchange) && succeeded(other))
        .min_by_key(|other| other.times.ended);
    let met = |other: &Exchange| {
        !std::ptr::eq(other, exchange)
            && began(other) <= exchange.times.ended
            && began(exchange) < other.times.ended
    };
    let Some(runner) = runner else {
        return if exchange.outcome.is_within(Meaning::InFlight.into()) {
            seen(view, exchange, response, words(exchange, response))
        } else {
            not_shown()
        };
    };
    if exchange.outcome.is_within(Meaning::InFlight.into()) {
        return seen(view, exchange, response, words(exchange, response));
    }
    if !met(runner) {
        return not_shown();
    }
    if succeeded(exchange) {
        let identity = |exchange: &Exchange| {
            exchange
                .response
                .as_ref()
                .and_then(|response| response.identity.clone())
        };
        return match (identity(exchange), identity(runner)) {
            (Some(own), Some(first)) if own != first => Look::Seen(
                "executed".to_owned(),
                allows(view, Kind::Reexecute).or(Some(false)),
            ),
            _ if exchange.outcome.may_be(Meaning::Replayed) => waited(view, exchange, runner),
            _ => not_shown(),
        };
    }
    let look = seen(view, exchange, response, words(exchange, response));
    // A refusal that names the first one's result came when that was there, and one that did not come
    // long before the first one's answer may have.
    let names_it = exchange.outcome.is_within(Meaning::Replayed.into());
    match look {
        Look::Seen(_, Some(false)) if names_it || !surely_met(exchange, runner) => not_shown(),
        look => look,
    }
}

/// Whether the first one surely still ran when this one was answered: it was not half through.
fn surely_met(exchange: &Exchange, runner: &Exchange) -> bool {
    let answered = |exchange: &Exchange| exchange.times.first_byte.unwrap_or(exchange.times.ended);
    let half = began(runner) + answered(runner).saturating_sub(began(runner)) / 2;
    answered(exchange) <= half
}

fn seen(view: &View<'_>, exchange: &Exchange, response: &Response, says: String) -> Look {
    Look::Seen(
        says,
        kept(view, &view.contract.in_progress, exchange, response),
    )
}

/// It was answered with the first one's result, not before that was there.
fn waited(view: &View<'_>, exchange: &Exchange, runner: &Exchange) -> Look {
    let took = exchange.times.ended.saturating_sub(began(exchange));
    let mut longest = None;
    for behaviour in view.contract.in_progress.value.iter().flatten() {
        if behaviour.kind != Kind::WaitThenReplay {
            continue;
        }
        let over = |limit: &Duration| took > *limit + view.may_be_late();
        match behaviour.max_wait.filter(over) {
            None => return Look::Seen("waited, then replayed".to_owned(), Some(true)),
            Some(limit) => longest = longest.max(Some(limit)),
        }
    }
    // One that was sent as the first one ended may have arrived after it, and on a busy machine one that
    // was sent earlier; and so may one whose siblings were told at once that the first one still ran.
    let ran = runner.times.ended.saturating_sub(began(runner));
    let both = runner.times.ended.saturating_sub(began(exchange));
    let told = |other: &Exchange| {
        same_key(other, exchange) && other.outcome.is_within(Meaning::InFlight.into())
    };
    let declared = view.contract.in_progress.value.is_some();
    let may_be_late = match declared {
        true => view.may_be_late().max(ran / 2),
        // What is only told need not be sure.
        false => ran / 2,
    };
    if longest.is_none() && (both < may_be_late || view.round.exchanges.iter().any(told)) {
        return Look::Nothing(format!(
            "{} may have arrived after the first request was done",
            who(exchange)
        ));
    }
    let says = match longest {
        None => "waited, then replayed".to_owned(),
        Some(limit) => format!(
            "waited for {}, longer than {}, then replayed",
            time(took),
            time(limit)
        ),
    };
    Look::Seen(says, Some(false))
}

fn words(exchange: &Exchange, response: &Response) -> String {
    let status = response.status;
    if exchange.outcome.is_within(Meaning::ServerError.into()) {
        return format!("failed with {status}");
    }
    if response.header("retry-after").next().is_some() {
        format!("{status} with Retry-After")
    } else {
        status.to_string()
    }
}

/// `Some(true)` if the contract declares this kind.
fn allows(view: &View<'_>, kind: Kind) -> Option<bool> {
    let Promised { value, .. } = &view.contract.in_progress;
    value
        .iter()
        .flatten()
        .any(|behaviour| behaviour.kind == kind)
        .then_some(true)
}
