//! A round that several places ran at the same time with the same keys, as one of them saw it and with
//! all that the others did to the same keys.
//!
//! The steps of the others have names of their own here, so that nothing is expected of them that was
//! written for the one whose round it is; effects, resources and meanings are those of all.

use crate::contract::SKEW_OF_PLACES;
use crate::transcript::{Exchange, Reading, ReadingKind, Round, Shown, Transcript};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A round and what others did to its keys.
pub(super) struct Whole<'a> {
    /// The round; what others did stands after its own exchanges.
    pub(super) round: Cow<'a, Round>,
    /// How many of its exchanges are its own.
    pub(super) own: usize,
    /// For each exchange, the number of the round that it was recorded in, and its place there.
    pub(super) origins: Vec<(u32, usize)>,
}

/// All rounds, each with what the others did to its keys.
pub(super) fn whole(transcript: &Transcript) -> Vec<Whole<'_>> {
    transcript
        .rounds
        .iter()
        .map(|round| match &round.vantage {
            None => Whole::alone(Cow::Borrowed(round)),
            Some(_) => together(transcript, round),
        })
        .collect()
}

/// How a run from several places went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meetings {
    /// Places.
    pub places: usize,
    /// Rounds, each counted once.
    pub rounds: usize,
    /// Rounds in which requests of two places ran at the same time with one key.
    pub met: usize,
}

/// How the rounds of several places met; all zero where there was one place only.
pub fn meetings<'a>(transcripts: impl IntoIterator<Item = &'a Transcript>) -> Meetings {
    let mut places: BTreeSet<&str> = BTreeSet::new();
    let mut rounds: BTreeMap<&str, bool> = BTreeMap::new();
    for transcript in transcripts {
        for round in &transcript.rounds {
            let Some(vantage) = &round.vantage else {
                continue;
            };
            places.insert(&vantage.place);
            let met = partners(transcript, round).into_iter().any(|partner| {
                partner.exchanges.iter().any(|other| {
                    let other = shifted(other, round, partner, Duration::ZERO);
                    round.exchanges.iter().any(|mine| meet(mine, &other))
                })
            });
            *rounds.entry(&vantage.same).or_default() |= met;
        }
    }
    Meetings {
        places: places.len(),
        rounds: rounds.len(),
        met: rounds.values().filter(|met| **met).count(),
    }
}

/// Whether two rounds are the same one, seen from two places.
pub(super) fn is_same(one: &Round, other: &Round) -> bool {
    match (&one.vantage, &other.vantage) {
        (Some(one), Some(other)) => one.same == other.same,
        _ => std::ptr::eq(one, other),
    }
}

impl<'a> Whole<'a> {
    fn alone(round: Cow<'a, Round>) -> Whole<'a> {
        let own = round.exchanges.len();
        Whole {
            own,
            origins: (0..own).map(|place| (round.number, place)).collect(),
            round,
        }
    }
}

/// The same round in other places.
fn partners<'a>(transcript: &'a Transcript, round: &Round) -> Vec<&'a Round> {
    let mut places: BTreeSet<&str> = BTreeSet::new();
    places.extend(round.vantage.iter().map(|own| own.place.as_str()));
    let same = transcript
        .rounds
        .iter()
        .filter(|other| is_same(other, round));
    same.filter(|other| {
        let place = other.vantage.as_ref().map(|own| own.place.as_str());
        place.is_some_and(|place| places.insert(place))
    })
    .collect()
}

fn together<'a>(transcript: &'a Transcript, own: &'a Round) -> Whole<'a> {
    let partners = partners(transcript, own);
    let mut whole = Whole::alone(Cow::Owned(own.clone()));
    let round = whole.round.to_mut();
    let mut met = false;
    for partner in &partners {
        let place = transcript.place_of(partner).unwrap_or_default();
        for (index, exchange) in partner.exchanges.iter().enumerate() {
            let at = shifted(exchange, own, partner, Duration::ZERO);
            met |= own.exchanges.iter().any(|mine| meet(mine, &at));
            // Clocks differ: it may have been in the way of ours for longer than it seems.
            let mut exchange = shifted(exchange, own, partner, SKEW_OF_PLACES);
            exchange.step = format!("{} in place {place}", exchange.step);
            round.exchanges.push(exchange);
            whole.origins.push((partner.number, index));
        }
    }
    round.readings.extend(joined(own, &partners));
    if partners.is_empty() {
        round.broken.push(
            "it is one of several places that made the same run, and what the others saw is not here: `report --merge` joins it"
                .to_owned(),
        );
    } else if !met {
        round
            .broken
            .push("no request of this place met one of another place with the same key".to_owned());
    }
    whole
}

/// An exchange of another place on our clock; `more` is by how much later it may have ended.
fn shifted(exchange: &Exchange, own: &Round, other: &Round, more: Duration) -> Exchange {
    let mut exchange = exchange.clone();
    let start = |round: &Round| round.vantage.as_ref().map_or(Duration::ZERO, |at| at.start);
    let ours = |time: Duration| (time + start(own)).saturating_sub(start(other));
    let times = &mut exchange.times;
    for begin in [&mut times.released, &mut times.sent] {
        *begin = begin.map(ours);
    }
    for end in [&mut times.first_byte, &mut times.last_byte] {
        *end = end.map(|time| ours(time) + more);
    }
    times.ended = ours(times.ended) + more;
    exchange
}

/// Whether two exchanges of one key ran at the same time.
fn meet(one: &Exchange, other: &Exchange) -> bool {
    let (Some(one_sent), Some(other_sent)) = (one.times.sent, other.times.sent) else {
        return false;
    };
    one.key.value == other.key.value && one_sent < other.times.ended && other_sent < one.times.ended
}

/// What all places have read together: an effect that two of them list is one effect, and one that
/// only one of them lists is one as well.
fn joined(own: &Round, partners: &[&Round]) -> Vec<Reading> {
    let late = |round: &'_ &Round| {
        let readings = round.readings.iter().cloned();
        readings
            .filter(|reading| reading.kind == ReadingKind::Late)
            .collect::<Vec<_>>()
    };
    let mut all: Vec<Reading> = Vec::new();
    for reading in partners.iter().flat_map(late).chain(late(&own)) {
        let same = all.iter_mut().find(|known| {
            known.probe == reading.probe
                && known.operation == reading.operation
                && known.principal == reading.principal
                && known.marker == reading.marker
        });
        match same {
            None => all.push(reading),
            Some(known) => add(known, reading),
        }
    }
    all
}

fn add(known: &mut Reading, more: Reading) {
    match (&mut known.shows, more.shows) {
        (Ok(Shown::Ids(ids)), Ok(Shown::Ids(more))) => {
            for id in more {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        (Ok(Shown::Count(count)), Ok(Shown::Count(more))) => *count = count.max(more),
        (known @ Err(_), more @ Ok(_)) => *known = more,
        _ => {}
    }
}

#[cfg(test)]
mod tests;
