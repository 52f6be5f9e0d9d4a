//! What answers say of whatever stands between us and the API: something that sends requests again,
//! something that turns them away, and instances that do not know the same.

use super::view::{began, number};
use crate::contract::{Contract, gateway};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{Case, Step};
use crate::transcript::{Delivery, Exchange, ReadingKind, Round, Transcript};
use std::collections::{BTreeMap, BTreeSet};

/// One case with what happened in it.
pub struct Seen<'a> {
    /// The operation.
    pub operation: &'a str,
    /// The case.
    pub case: &'a Case,
    /// Its contract.
    pub contract: &'a Contract,
    /// What happened.
    pub transcript: &'a Transcript,
}

/// What a reader must know of what stands in front of the operations.
pub fn in_front(cases: &[Seen<'_>]) -> Vec<String> {
    let mut by_operation: BTreeMap<&str, Vec<&Seen<'_>>> = BTreeMap::new();
    for case in cases {
        by_operation.entry(case.operation).or_default().push(case);
    }
    by_operation
        .into_iter()
        .flat_map(|(operation, cases)| {
            // What is asked again at the end was sent for the first time, and made, elsewhere.
            let afresh: Vec<&Seen<'_>> = cases
                .iter()
                .copied()
                .filter(|seen| !asks_again(seen.case))
                .collect();
            let resent = resent(&afresh);
            let turned_away = turned_away(&cases);
            let several = several_memories(&cases);
            let doubled = doubled(&afresh);
            resent
                .into_iter()
                .chain(doubled)
                .chain(wavering(&cases))
                .chain(turned_away)
                .chain(several)
                .map(move |says| format!("{operation}: {says}"))
        })
        .collect()
}

/// That first answers to fresh keys bear what only replays bear: then a request was carried out and sent
/// again by something on the way, and that second one was answered.
fn resent(cases: &[&Seen<'_>]) -> Option<String> {
    let mut firsts: Vec<&Exchange> = Vec::new();
    let mut replays: Vec<&Exchange> = Vec::new();
    for seen in cases {
        for round in &seen.transcript.rounds {
            for exchange in &round.exchanges {
                let Some(earliest) = earliest(round, exchange) else {
                    continue;
                };
                if std::ptr::eq(earliest, exchange) {
                    let alone = !is_burst(seen.case, &exchange.step) && is_alone(round, exchange);
                    firsts.extend(alone.then_some(exchange));
                } else if exchange.outcome.is_within(Meaning::Replayed.into())
                    && is_plain_repeat(round, exchange)
                {
                    replays.push(exchange);
                }
            }
        }
    }
    let marks: BTreeSet<String> = replays.iter().flat_map(|own| marks(own)).collect();
    marks.into_iter().find_map(|mark| {
        let marked = firsts.iter().filter(|own| marks_of(own, &mark)).count();
        let always = replays.iter().all(|own| marks_of(own, &mark));
        (marked > 0 && marked < firsts.len() && always).then(|| {
            format!(
                "{marked} of {} first answers to a fresh key bear `{mark}`, which says that the key had been used: something between us and the API sends requests again that were carried out; without a key each of them would be a second effect",
                firsts.len()
            )
        })
    })
}

/// The first exchange with the key of this one.
fn earliest<'a>(round: &'a Round, exchange: &Exchange) -> Option<&'a Exchange> {
    exchange.key.value.as_ref()?;
    round
        .exchanges
        .iter()
        .filter(|other| other.key.value == exchange.key.value)
        .min_by_key(|other| began(other))
}

/// Whether it succeeded, untouched by us, before anything else was sent with its key.
fn is_alone(round: &Round, exchange: &Exchange) -> bool {
    let succeeded = exchange
        .response
        .as_ref()
        .is_some_and(|response| response.success);
    succeeded
        && exchange.fault.is_none()
        && round.exchanges.iter().all(|other| {
            std::ptr::eq(other, exchange)
                || other.key.value != exchange.key.value
                || began(other) >= exchange.times.ended
        })
}

/// Headers by which an API says that an answer is a replay: `name: value`.
fn marks(exchange: &Exchange) -> Vec<String> {
    const TELLING: [&str; 5] = ["idempot", "replay", "repeat", "duplicate", "original"];
    let headers = exchange
        .response
        .iter()
        .flat_map(|response| &response.headers);
    headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_ascii_lowercase()))
        .filter(|(name, value)| {
            TELLING.iter().any(|part| name.contains(part))
                && matches!(value.as_str(), "true" | "1" | "yes" | "hit" | "replayed")
        })
        .map(|(name, value)| format!("{name}: {value}"))
        .collect()
}

fn marks_of(exchange: &Exchange, mark: &str) -> bool {
    marks(exchange).iter().any(|own| own == mark)
}

/// That there are more effects than requests which were sent before they were counted.
fn doubled(cases: &[&Seen<'_>]) -> Option<String> {
    cases.iter().find_map(|seen| {
        let rounds = seen.transcript.rounds.iter();
        rounds
            .flat_map(|round| round.readings.iter().map(move |reading| (round, reading)))
            .find_map(|(round, reading)| {
                let probe = seen.transcript.probes.iter().find(|probe| {
                    probe.name == reading.probe
                        && probe.operation == reading.operation
                        && probe.bound.is_none()
                })?;
                let shared = round.readings.iter().any(|other| {
                    other.kind == ReadingKind::Before && other.probe == reading.probe
                });
                let count = reading.shows.as_ref().ok()?.count()? / probe.per_execution.max(1.0);
                let sent = round.exchanges.iter().filter(|exchange| {
                    exchange.marker == reading.marker
                        && exchange.operation == reading.operation
                        && exchange.lookup.is_none()
                        && exchange.delivery != Delivery::NotSent
                        && began(exchange) <= reading.at
                });
                let sent = sent.count();
                (!shared && sent > 0 && count > sent as f64).then(|| {
                    format!(
                        "{count} effects of {}, and no more than {sent} {} sent: one request makes two effects, or something between us and the API sends again",
                        reading.probe,
                        if sent == 1 { "request was" } else { "requests were" }
                    )
                })
            })
    })
}

/// That a count went down and up again: readings come from places that do not know the same.
fn wavering(cases: &[&Seen<'_>]) -> Option<String> {
    cases.iter().find_map(|seen| {
        seen.transcript.rounds.iter().find_map(|round| {
            let mut series: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
            for reading in &round.readings {
                if let Some(count) = reading.shows.as_ref().ok().and_then(|shown| shown.count()) {
                    let place = (
                        reading.probe.as_str(),
                        reading.marker.as_str(),
                        reading.principal.name(),
                    );
                    series.entry(place).or_default().push(count);
                }
            }
            series.into_iter().find_map(|((probe, ..), counts)| {
                let fell = counts.windows(2).position(|pair| pair[1] < pair[0])?;
                let rose = counts[fell + 1..].windows(2).any(|pair| pair[1] > pair[0]);
                rose.then(|| {
                    let counts: Vec<String> = counts.iter().map(f64::to_string).collect();
                    format!(
                        "the count of {probe} contradicts itself: it was {} one after another; what answers it does not always know the same",
                        counts.join(", ")
                    )
                })
            })
        })
    })
}

/// That copies of bursts were turned away before they reached the API.
fn turned_away(cases: &[&Seen<'_>]) -> Option<String> {
    let mut worst: Option<(usize, usize, &Exchange)> = None;
    for seen in cases {
        for round in &seen.transcript.rounds {
            for facts in &round.bursts {
                let turned: Vec<&Exchange> = round
                    .of(&facts.step)
                    .filter(|own| was_turned_away(own))
                    .collect();
                let copies = round.of(&facts.step).count();
                if let Some(first) = turned.first()
                    && worst.is_none_or(|(most, ..)| turned.len() > most)
                {
                    worst = Some((turned.len(), copies, first));
                }
            }
        }
    }
    let (turned, copies, example) = worst?;
    let response = example.response.as_ref()?;
    let by = match gateway(response) {
        Some(name) => format!("{} by {name}, not by the API", response.status),
        None => response.status.to_string(),
    };
    Some(format!(
        "a limiter refused a part of the bursts ({by}): of one with {copies} copies {turned}, so that {} reached the API; concurrency was tried with no more than that",
        copies - turned
    ))
}

/// Whether a request was refused for its rate or load.
pub(super) fn was_turned_away(exchange: &Exchange) -> bool {
    exchange.outcome.is_within(Meaning::RateLimited.into())
}

/// That of repeats of what was complete some were answered from memory and others carried out again.
fn several_memories(cases: &[&Seen<'_>]) -> Option<String> {
    let mut again = 0;
    let mut remembered = 0;
    let mut most = 0;
    for seen in cases {
        for round in &seen.transcript.rounds {
            // Time that passed, hooks and races have reasons of their own.
            if !round.hooks.is_empty() || is_race(seen.case, round) {
                continue;
            }
            let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            let mut own = (0, 0);
            for exchange in &round.exchanges {
                if let Some(response) = exchange.response.as_ref().filter(|own| own.success)
                    && let (Some(key), Some(identity)) = (&exchange.key.value, &response.identity)
                {
                    ids.entry(key).or_default().insert(identity);
                }
                if !is_plain_repeat(round, exchange) {
                    continue;
                }
                if exchange.outcome.is_within(Meaning::Executed.into()) {
                    own.0 += 1;
                } else if exchange.outcome.is_within(Meaning::Replayed.into()) {
                    own.1 += 1;
                }
            }
            if own.0 > 0 && own.1 > 0 {
                again += own.0;
                remembered += own.1;
                most = most.max(ids.values().map(BTreeSet::len).max().unwrap_or_default());
            }
        }
    }
    (again > 0).then(|| {
        format!(
            "instances disagree about a key: of {} repeats of one completed request, {remembered} were answered from memory and {again} carried out again, with up to {} resources for one key: several memories, each of which executes once; no race is needed for it",
            again + remembered,
            number(most)
        )
    })
}

/// Whether anything in a round was sent at once that had not been completed before.
fn is_race(case: &Case, round: &Round) -> bool {
    let mut copies = round.exchanges.iter();
    copies.any(|copy| is_burst(case, &copy.step) && !is_plain_repeat(round, copy))
}

/// Whether it repeats, unchanged, a request that had succeeded before it was sent.
fn is_plain_repeat(round: &Round, exchange: &Exchange) -> bool {
    round.exchanges.iter().any(|other| {
        other.key.value.is_some()
            && other.key.value == exchange.key.value
            && other.request.intent == exchange.request.intent
            && other.principal == exchange.principal
            && other.operation == exchange.operation
            && other.outcome.is_within(Outcome::SUCCESS)
            && other.times.ended <= began(exchange)
    }) && exchange.forms.is_empty()
}

/// Whether it asks the keys of other cases again.
fn asks_again(case: &Case) -> bool {
    case.leaves()
        .any(|step| matches!(step, Step::Recheck { .. }))
}

fn is_burst(case: &Case, step: &str) -> bool {
    matches!(case.step(step), Some(Step::Burst { .. }))
}

#[cfg(test)]
mod tests;
