//! `one-resource`: all successes of one key name one resource.

use super::ruling::Ruling;
use super::view::{View, same_key, succeeded};
use crate::transcript::Exchange;
use std::collections::BTreeSet;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String]) -> Ruling {
    let mut meant: Vec<(usize, &Exchange)> = of.iter().flat_map(|step| view.all(step)).collect();
    if let Some(step) = of.iter().find(|step| view.all(step).is_empty())
        && meant.is_empty()
    {
        return view.never_sent(step);
    }
    if of.iter().any(|step| view.is_recheck(step)) {
        let earlier: Vec<(usize, &Exchange)> = view
            .round
            .exchanges
            .iter()
            .enumerate()
            .filter(|(_, exchange)| !of.contains(&exchange.step))
            .filter(|(_, exchange)| meant.iter().any(|(_, own)| same_key(own, exchange)))
            .collect();
        meant.extend(earlier);
    }
    let mut keys: Vec<Vec<(usize, &Exchange)>> = Vec::new();
    for (index, exchange) in meant.iter().copied() {
        match keys.iter_mut().find(|key| same_key(key[0].1, exchange)) {
            Some(key) => key.push((index, exchange)),
            None => keys.push(vec![(index, exchange)]),
        }
    }
    let mut shown = 0;
    for key in &keys {
        let named: Vec<(usize, &str)> = key
            .iter()
            .filter(|(_, exchange)| !view.outlived(exchange))
            .filter_map(|(index, exchange)| Some((*index, identity(exchange)?)))
            .collect();
        let distinct: BTreeSet<&str> = named.iter().map(|(_, identity)| *identity).collect();
        if distinct.len() > 1 {
            let mut ids: Vec<&str> = Vec::new();
            let mut seen = Vec::new();
            for (index, identity) in &named {
                if !ids.contains(identity) {
                    ids.push(identity);
                    seen.push(*index);
                }
            }
            return Ruling::broken(format!(
                "the responses of one key name {} resources: {}",
                ids.len(),
                ids.join(", ")
            ))
            .seen_in(seen)
            .weighing(ids.len() as u64);
        }
        if named.len() >= 2 {
            shown += 1;
        }
    }
    if shown > 0 {
        let says = if keys.len() == 1 {
            "every success names the same resource".to_owned()
        } else {
            format!(
                "{shown} of {} keys were shown to name one resource each",
                keys.len()
            )
        };
        return Ruling::held(says).seen_in(meant.iter().map(|(index, _)| *index));
    }
    let successes = meant
        .iter()
        .filter(|(_, exchange)| succeeded(exchange))
        .count();
    if successes == 0
        && meant
            .iter()
            .all(|(_, exchange)| exchange.response.is_some())
    {
        return Ruling::void("void: none of the responses was a success");
    }
    Ruling::nothing(match successes {
        0 | 1 => "two successes are needed to compare what they name".to_owned(),
        _ => "the responses name no resource that could be compared".to_owned(),
    })
}

/// What a success names; a late answer counts too.
fn identity(exchange: &Exchange) -> Option<&str> {
    let late = exchange.late.as_ref().filter(|late| late.success);
    exchange
        .response
        .as_ref()
        .filter(|_| succeeded(exchange))
        .or(late)?
        .identity
        .as_deref()
}
