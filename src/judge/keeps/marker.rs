//! How a replay can be told from a first answer.

use super::{Look, first_success, who};
use crate::contract::ReplayMarker;
use crate::judge::view::View;
use crate::outcome::Meaning;
use crate::transcript::{Exchange, Response};

pub(super) fn look(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let Some(first) = first_success(view, exchange).and_then(|(_, first)| first.response.as_ref())
    else {
        return Look::Nothing(format!(
            "{} has no earlier success to be compared with",
            who(exchange)
        ));
    };
    let refers = !response.success && exchange.outcome.is_within(Meaning::Replayed.into());
    if refers && view.contract.replay_marker.value.is_none() {
        return Look::Seen("a refusal that names the resource".to_owned(), None);
    }
    let replayed = response.success && exchange.outcome.may_be(Meaning::Replayed);
    if !replayed && (!response.success || view.contract.replay_marker.value.is_some()) {
        return Look::Nothing(format!(
            "{} was {}, not a replay",
            who(exchange),
            exchange.outcome
        ));
    }
    if let Some(ReplayMarker::Status(status)) = view.contract.replay_marker.value
        && first.status == status
    {
        return Look::Void(format!(
            "void: the first answer had the status {status} too"
        ));
    }
    // Also where the repeat was carried out again, nothing tells it from a first answer.
    let found = find(first, response);
    let kept = view.contract.replay_marker.value.as_ref().map(|marker| {
        let key = exchange.key.value.as_deref();
        marker.is_on(response, Some(first), key) && marker.suits_first(first)
    });
    let found = match &view.contract.replay_marker.value {
        Some(marker) if kept == Some(true) && !matches!(marker, ReplayMarker::None) => {
            Some(marker.says())
        }
        _ => found,
    };
    Look::Seen(found.unwrap_or_else(|| "none".to_owned()), kept)
}

/// A header of the replay that the first answer has not, or has with the opposite value.
fn find(first: &Response, replay: &Response) -> Option<String> {
    let mut candidates: Vec<(bool, String)> = replay
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .filter(|(name, _)| !is_volatile(name) && !replay.volatile_headers.contains(name))
        .filter(|(name, value)| {
            let before: Vec<&str> = first.header(name).map(str::trim).collect();
            before.is_empty() || (is_flag(value) && before.iter().all(|old| old != value))
        })
        .map(|(name, value)| {
            let telling = ["idempot", "replay", "repeat", "original", "duplicate"]
                .iter()
                .any(|part| name.contains(part));
            (!telling, format!("{name}: {value}"))
        })
        .collect();
    candidates.sort();
    candidates.into_iter().next().map(|(_, header)| header)
}

/// Values that say yes or no.
fn is_flag(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(
        value.as_str(),
        "true" | "false" | "yes" | "no" | "1" | "0" | "hit" | "miss" | "?1" | "?0"
    )
}

/// Headers that differ from answer to answer by themselves.
fn is_volatile(name: &str) -> bool {
    const NAMES: [&str; 27] = [
        "date",
        "age",
        "server",
        "via",
        "x-request-id",
        "request-id",
        "x-correlation-id",
        "traceparent",
        "tracestate",
        "cf-ray",
        "x-runtime",
        "server-timing",
        "retry-after",
        "set-cookie",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "content-length",
        "content-encoding",
        "vary",
        "alt-svc",
        "nel",
        "report-to",
        "strict-transport-security",
        "etag",
        "last-modified",
        "x-response-time",
    ];
    NAMES.contains(&name)
        || ["ratelimit", "x-ratelimit", "x-rate-limit", "x-amzn-"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}
