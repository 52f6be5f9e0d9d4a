//! `nothing-foreign`: no string that only one response has occurs in somebody else's.
//!
//! Strings are compared by their digests, which the runner took from the whole unmasked response.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::scenario::SeekIn;
use crate::transcript::{Exchange, Token};
use std::collections::BTreeSet;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String], from: &str, seek: SeekIn) -> Ruling {
    let source = view.standing(from);
    if source.is_empty() {
        return view.never_sent(from);
    }
    if let Some((_, unanswered)) = source
        .iter()
        .find(|(_, exchange)| exchange.response.is_none())
    {
        return Ruling::nothing(format!("{} {}", who(unanswered), got(unanswered)));
    }
    let telling: Vec<&Token> = source
        .iter()
        .filter_map(|(_, exchange)| exchange.response.as_ref())
        .flat_map(|response| &response.tokens)
        .filter(|token| seek == SeekIn::Everything || token.secret)
        .collect();
    if telling.is_empty() {
        return match seek {
            SeekIn::Secrets => {
                Ruling::void(format!("void: `{from}` was given no cookie or challenge"))
            }
            SeekIn::Everything => Ruling::nothing(format!(
                "the response of `{from}` has nothing that could give it away"
            )),
        };
    }
    let mut rulings = Vec::new();
    for step in of {
        let standing = view.standing(step);
        if standing.is_empty() {
            rulings.push(view.never_sent(step));
        }
        for (index, exchange) in standing {
            rulings.push(one(view, index, exchange, from, &telling).seen_in([index]));
        }
    }
    Ruling::gravest(rulings).unwrap_or_else(|| view.never_sent(from))
}

fn one(view: &View<'_>, index: usize, this: &Exchange, from: &str, telling: &[&Token]) -> Ruling {
    let Some(response) = &this.response else {
        return Ruling::nothing(format!("{} {}", who(this), got(this)));
    };
    let known = known(view, index, this, from);
    let found: BTreeSet<&str> = response
        .tokens
        .iter()
        .map(|token| token.digest.as_str())
        .collect();
    let hits: Vec<&&Token> = telling
        .iter()
        .filter(|token| found.contains(token.digest.as_str()))
        .filter(|token| !known.contains(token.digest.as_str()))
        .filter(|token| !occurs_in_request(this, &token.shown))
        .collect();
    if hits.is_empty() {
        return Ruling::held(format!("{} was given nothing of `{from}`", who(this)));
    }
    if view.lets_in(this) {
        return Ruling::nothing(format!(
            "the target asks {} for no rights, so that it gives nothing away",
            this.principal.name()
        ));
    }
    match hits.iter().find(|token| !by_chance(token)) {
        Some(token) => Ruling::broken(format!(
            "{} {}: {} belongs to `{from}` (in {})",
            who(this),
            got(this),
            token.shown,
            token.place
        ))
        .weighing(hits.len() as u64),
        None => Ruling::nothing(format!(
            "{} was given {} like `{from}`, but so short an identity may be equal by chance",
            who(this),
            hits[0].shown
        )),
    }
}

/// What this principal was given before anyway.
fn known<'a>(view: &View<'a>, index: usize, this: &Exchange, from: &str) -> BTreeSet<&'a str> {
    view.round
        .exchanges
        .iter()
        .enumerate()
        .filter(|(other, exchange)| {
            *other != index
                && exchange.step != from
                && exchange.step != this.step
                && exchange.principal == this.principal
                && exchange.times.ended <= this.times.ended
        })
        .filter_map(|(_, exchange)| exchange.response.as_ref())
        .flat_map(|response| &response.tokens)
        .map(|token| token.digest.as_str())
        .collect()
}

fn occurs_in_request(exchange: &Exchange, text: &str) -> bool {
    let request = &exchange.request;
    request.url.contains(text)
        || request
            .body
            .as_ref()
            .is_some_and(|body| body.contains(text))
        || request
            .headers
            .iter()
            .any(|(_, value)| value.contains(text))
}

/// Two tenants may both have a payment number 17.
fn by_chance(token: &Token) -> bool {
    token.identity
        && (token.shown.chars().count() < 8 || token.shown.chars().all(|c| c.is_ascii_digit()))
}
