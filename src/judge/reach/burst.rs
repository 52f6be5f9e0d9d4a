//! One burst: how close together its copies were let go and answered, on one address or on two.

use crate::judge::backends::address;
use crate::judge::view::began;
use crate::transcript::{BurstFacts, Exchange, Technique, most_in_flight};
use std::collections::BTreeSet;
use std::time::Duration;

/// Bursts of fewer copies say too little about how fast the target gets on.
const TELLING: usize = 4;

/// A burst, with the copies that may have got as far as the key.
pub(super) struct Burst<'a> {
    facts: &'a BurstFacts,
    copies: Vec<(&'a str, &'a Exchange)>,
}

impl<'a> Burst<'a> {
    /// The burst of these facts and copies.
    pub(super) fn new(
        facts: &'a BurstFacts,
        copies: impl Iterator<Item = &'a Exchange>,
    ) -> Burst<'a> {
        Burst {
            facts,
            copies: copies.map(|copy| (address(&copy.request), copy)).collect(),
        }
    }

    /// How many copies.
    pub(super) fn copies(&self) -> usize {
        self.copies.len()
    }

    /// How they were let go.
    pub(super) fn technique(&self) -> Technique {
        self.facts.technique
    }

    /// Where they went.
    pub(super) fn addresses(&self) -> BTreeSet<&'a str> {
        self.copies.iter().map(|(address, _)| *address).collect()
    }

    /// The most that were in flight at once.
    pub(super) fn in_flight(&self) -> u32 {
        most_in_flight(self.copies.iter().map(|(_, copy)| *copy))
    }

    /// How far apart, in seconds, the copies were let go at a place; `None` where none met there.
    pub(super) fn let_go(&self, place: [&str; 2]) -> Option<f64> {
        let there = self.at(place);
        let meet = |one: &Exchange, other: &Exchange| {
            began(one) < other.times.ended && began(other) < one.times.ended
        };
        let met = there.iter().enumerate().any(|(index, (own, one))| {
            there[index + 1..]
                .iter()
                .any(|(other, two)| are_of([own, other], place) && meet(one, two))
        });
        if !met {
            return None;
        }
        let gaps = gaps(&there, place, |copy| Some(began(copy)));
        let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
        // What was held back of all was let go by one thread, whose own times are the truer ones.
        let between = self.facts.release_spread.as_secs_f64() / (self.copies.len() - 1) as f64;
        Some(match place {
            [one, other] if one == other && self.addresses().len() == 1 => between,
            _ => mean.max(between),
        })
    }

    /// How far apart, in seconds, the target answered the copies at a place: the median, so that the
    /// one that was carried out does not count. `None` where they are too few to tell.
    pub(super) fn pace(&self, place: [&str; 2]) -> Option<f64> {
        let mut there = self.at(place);
        there.retain(|(_, copy)| copy.times.first_byte.is_some());
        if there.len() < TELLING {
            return None;
        }
        median(gaps(&there, place, |copy| copy.times.first_byte))
    }

    /// The same as the mean, which few copies tell as well.
    pub(super) fn mean_pace(&self, place: [&str; 2]) -> Option<f64> {
        let gaps = gaps(&self.at(place), place, |copy| copy.times.first_byte);
        (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64)
    }

    /// The copies that went to a place.
    fn at(&self, place: [&str; 2]) -> Vec<(&'a str, &'a Exchange)> {
        let all = self.copies.iter().copied();
        all.filter(|(address, _)| place.contains(address)).collect()
    }
}

/// Whether two copies are those of a place: both on its address, or each on one of its two.
fn are_of(pair: [&str; 2], place: [&str; 2]) -> bool {
    pair == place || [pair[1], pair[0]] == place
}

/// The times, in seconds, between neighbours that meet at a place.
fn gaps(
    copies: &[(&str, &Exchange)],
    place: [&str; 2],
    time: impl Fn(&Exchange) -> Option<Duration>,
) -> Vec<f64> {
    let mut times: Vec<(Duration, &str)> = copies
        .iter()
        .filter_map(|(address, copy)| Some((time(copy)?, *address)))
        .collect();
    times.sort();
    times
        .windows(2)
        .filter(|pair| are_of([pair[0].1, pair[1].1], place))
        .map(|pair| (pair[1].0 - pair[0].0).as_secs_f64())
        .collect()
}

/// The one in the middle.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
