//! `same-response`: a replay is the first answer again, in the parts that the contract promises.
//!
//! Where nothing is promised only the resource counts; differences in the rest are reported.

use super::ruling::Ruling;
use super::tells_apart::media_type;
use super::view::{View, began, given_in_front, got, same_key, succeeded, who};
use crate::contract::{BodyRelation, Kind, same_body};
use crate::outcome::{Meaning, Outcome};
use crate::promise::{Level, Strength};
use crate::transcript::{Exchange, Response};

/// Headers of a stored answer that mean something to a client.
const HEADERS: [&str; 6] = [
    "location",
    "content-location",
    "etag",
    "link",
    "content-language",
    "cache-control",
];

/// How much of the first answer a replay must give.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nothing is promised.
    Unspecified,
    /// The stored answer, so strongly.
    Stored(Level),
    /// The resource as it is now, or a reference to it.
    Identity,
}

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String], r#as: &str) -> Ruling {
    let mode = mode(view);
    let mut rulings = Vec::new();
    let mut nothing = None;
    for step in of {
        let standing = view.standing(step);
        if standing.is_empty() {
            nothing.get_or_insert_with(|| format!("`{step}` was never sent"));
        }
        for (index, exchange) in standing {
            let first = if r#as == "earliest" {
                earliest(view, exchange)
            } else {
                view.standing(r#as).last().copied()
            };
            let Some((first_index, first)) = first else {
                nothing.get_or_insert_with(|| match r#as {
                    "earliest" => format!("{} has no earlier success", who(exchange)),
                    step => format!("`{step}` was never sent"),
                });
                continue;
            };
            let refers = first
                .response
                .as_ref()
                .is_some_and(|response| !response.success)
                && first.outcome.is_within(Meaning::Replayed.into());
            if refers {
                let says = format!("void: {} was a refusal that names the resource", who(first));
                rulings.push(Ruling::void(says).seen_in([first_index, index]));
                continue;
            }
            let (Some(one), true) = (&first.response, succeeded(first)) else {
                nothing.get_or_insert_with(|| {
                    format!("{} {}: no success to compare with", who(first), got(first))
                });
                continue;
            };
            match comparable(view, exchange) {
                Ok(other) => rulings
                    .push(compare(view, mode, exchange, one, other).seen_in([first_index, index])),
                Err(why) => {
                    nothing.get_or_insert(why);
                }
            }
        }
    }
    Ruling::gravest(rulings).unwrap_or_else(|| {
        Ruling::nothing(nothing.unwrap_or_else(|| "nothing was sent".to_owned()))
    })
}

fn mode(view: &View<'_>) -> Mode {
    let promised = &view.contract.replay;
    let Some(behaviours) = promised.value.as_ref().filter(|_| promised.is_declared()) else {
        return Mode::Unspecified;
    };
    let stored = behaviours
        .iter()
        .all(|behaviour| matches!(behaviour.kind, Kind::ReplayStored | Kind::WaitThenReplay));
    match (stored, promised.strength) {
        (false, _) => Mode::Identity,
        (true, Strength::Must) => Mode::Stored(Level::Must),
        (true, Strength::Should) => Mode::Stored(Level::Should),
        (true, Strength::May | Strength::Unspecified) => Mode::Unspecified,
    }
}

/// The first success of a key.
fn earliest<'a>(view: &View<'a>, this: &Exchange) -> Option<(usize, &'a Exchange)> {
    view.round
        .exchanges
        .iter()
        .enumerate()
        .filter(|(_, other)| other.step != this.step && same_key(other, this) && succeeded(other))
        .min_by_key(|(_, other)| began(other))
}

/// The response of a copy that can be compared, or why it is left out.
fn comparable<'a>(view: &View<'_>, exchange: &'a Exchange) -> Result<&'a Response, String> {
    let Some(response) = &exchange.response else {
        return Err(format!("{} {}", who(exchange), got(exchange)));
    };
    if exchange.outcome.is_within(Outcome::FOR_NOW) {
        return Err(format!("{} was {}", who(exchange), exchange.outcome));
    }
    if let Some(why) = given_in_front(exchange) {
        return Err(why);
    }
    if view.outlived(exchange) {
        return Err(format!(
            "{} was sent after the key's retention had run out",
            who(exchange)
        ));
    }
    Ok(response)
}

fn compare(
    view: &View<'_>,
    mode: Mode,
    exchange: &Exchange,
    first: &Response,
    later: &Response,
) -> Ruling {
    let name = who(exchange);
    if !later.success {
        if exchange.outcome.is_within(Meaning::ServerError.into()) {
            return Ruling::broken(format!(
                "{name} got {} where the first answer was {}",
                later.status, first.status
            ));
        }
        let says = format!("{} instead of the first answer", later.status);
        return match mode {
            Mode::Stored(level) => Ruling::broken(format!("{name} got {says}")).at_level(level),
            Mode::Identity if exchange.outcome.is_within(Meaning::Replayed.into()) => Ruling::held(
                format!("{name} got {}, which names the first result", later.status),
            ),
            Mode::Identity | Mode::Unspecified => {
                Ruling::observed(format!("observed, nothing is promised: {name} got {says}"))
            }
        }
        .with_observed(vec![says]);
    }
    match (&first.identity, &later.identity) {
        (Some(one), Some(other)) if one != other => {
            return Ruling::broken(format!(
                "{name} was given {other} where the first answer names {one}"
            ))
            .at_level(Level::Must);
        }
        (Some(one), None) if mode != Mode::Identity || later.body_length == 0 => {
            return Ruling::broken(format!(
                "{name} got {} that names no resource, where the first answer names {one}",
                later.status
            ));
        }
        _ => {}
    }
    let differences = differences(view, first, later);
    let known = first.identity.is_some() && later.identity.is_some();
    let same = differences.is_empty() && same_body(view.contract, first, later);
    let observed: Vec<String> = differences.iter().map(|(_, says)| says.clone()).collect();
    let broken: Option<&String> = match mode {
        Mode::Stored(_) => differences.first().map(|(_, says)| says),
        Mode::Identity => None,
        Mode::Unspecified => differences
            .iter()
            .find(|(part, _)| !known && matches!(part, Part::Body | Part::MediaType))
            .map(|(_, says)| says),
    };
    let ruling = match (broken, mode) {
        (Some(_), Mode::Stored(level)) => Ruling::broken(format!(
            "{name} differs from the first answer: {}",
            observed.join(", ")
        ))
        .at_level(level),
        (Some(says), _) => Ruling::broken(format!("{name} differs from the first answer: {says}")),
        (None, Mode::Identity) if !known && !same => {
            Ruling::nothing("the responses name no resource that could be compared")
        }
        (None, _) if observed.is_empty() => {
            Ruling::held(format!("{name} is the first answer again"))
        }
        (None, _) => Ruling::held(format!(
            "{name} names the first one's resource ({})",
            observed.join(", ")
        )),
    };
    ruling.with_observed(observed)
}

/// A part of a response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Status,
    MediaType,
    Body,
    Header,
}

fn differences(view: &View<'_>, first: &Response, later: &Response) -> Vec<(Part, String)> {
    let mut found = Vec::new();
    let ways = || view.contract.replay.value.iter().flatten();
    let as_declared = ways()
        .flat_map(|way| &way.status)
        .any(|pattern| pattern.fits(later.status, Some(first.status)));
    let loosely = ways().any(|way| {
        matches!(
            way.body,
            Some(BodyRelation::SameResource | BodyRelation::Any)
        )
    });
    if first.status != later.status && !as_declared {
        found.push((
            Part::Status,
            format!("{} after {}", later.status, first.status),
        ));
    }
    if media_type(first) != media_type(later) {
        found.push((
            Part::MediaType,
            difference("media type", media_type(later).is_none()),
        ));
    }
    if !loosely && !same_body(view.contract, first, later) {
        found.push((Part::Body, "another body".to_owned()));
    }
    for name in HEADERS {
        if first.volatile_headers.contains(name) {
            continue;
        }
        if !first.header(name).eq(later.header(name)) {
            let gone = later.header(name).next().is_none();
            found.push((Part::Header, difference(name, gone)));
        }
    }
    found
}

/// What differs, in words.
fn difference(what: &str, gone: bool) -> String {
    if gone {
        format!("no {what}")
    } else {
        format!("another {what}")
    }
}

#[cfg(test)]
mod tests;
