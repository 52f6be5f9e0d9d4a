//! How hard bursts looked: the smallest gap between a check and the write that follows it which they
//! would have shown.
//!
//! The model. A target that looks a key up and takes it a time `w` later carries out two copies if it
//! looks for the second within `w` of the first. How far apart it looks cannot be seen from outside; it is
//! no closer than the copies were let go, and no closer than the target gets on with them, which shows
//! in how far apart it answered them. Take the larger of the two as the
//! mean `g` of an exponential distribution, one for each burst: a burst then shows the window with
//! probability `1 - exp(-w/g)`, and all of them together with 95 % where `w` is `ln 20` over the sum of
//! the `1/g`. The benches hold this against windows of known length.
//!
//! Copies that the target refused for their rate never looked, and are left out. Of several addresses
//! each is a place where copies can meet, and any two are another one: copies that meet on one address
//! show nothing of what a second one does not know yet. What is said of all places is the largest of
//! their windows.

mod burst;

use crate::scenario::{Case, Release, Step};
use crate::transcript::{BurstFacts, Ending, Exchange, Round, Technique};
use burst::{Burst, median};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// -ln(1 - 0.95).
const CERTAINTY: f64 = 2.995_732_273_553_991;

/// How hard the bursts of a case looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// The smallest window between check and claim that they would have shown with 95 %, in
    /// microseconds; of several addresses, on those where copies met (`met_on`) and between any two that
    /// are not `apart`.
    pub window_micros: u64,
    /// Bursts whose copies were in flight together.
    pub bursts: u32,
    /// The most requests of one burst that were in flight at once.
    pub in_flight: u32,
    /// How the copies were let go, in the order of the rounds, each named once.
    pub techniques: Vec<Technique>,
    /// Addresses that the copies went to.
    pub addresses: u32,
    /// Addresses on which copies met one another.
    pub met_on: u32,
    /// Pairs of addresses of which no two copies were in flight together: nothing is said of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<[String; 2]>,
    /// Copies that were refused for their rate or for the load of the target.
    pub refused: u32,
}

impl Reach {
    /// The window.
    pub fn window(&self) -> Duration {
        Duration::from_micros(self.window_micros)
    }

    /// In words, to stand after what was seen.
    pub fn says(&self) -> String {
        let techniques: Vec<&str> = self.techniques.iter().map(|one| one.says()).collect();
        let mut parts = vec![format!(
            "{} bursts (let go as {}; up to {} in flight at once) would have shown a race window of {:?} or more with 95 %{}",
            self.bursts,
            techniques.join(" and "),
            self.in_flight,
            self.window(),
            self.places()
        )];
        parts.extend(self.apart.iter().map(|[one, other]| {
            format!("no copies on {one} and {other} were in flight at once, and nothing is said of these two")
        }));
        if self.refused > 0 {
            parts.push(format!(
                "{} copies were refused for their rate and do not count",
                self.refused
            ));
        }
        parts.join("; ")
    }

    /// Where copies met, in words; nothing where there is one address.
    fn places(&self) -> String {
        let all = self.addresses;
        if all <= 1 {
            return String::new();
        }
        let between = match self.apart.len() {
            0 => "between any two of them",
            _ => "between those whose copies met",
        };
        match self.met_on {
            0 => format!(", of {all} addresses {between}"),
            on if on == all => format!(", on each of {all} addresses and {between}"),
            on => format!(", on {on} of {all} addresses and {between}"),
        }
    }
}

/// What the bursts of these rounds could have shown; `None` where no burst tells how fast the target
/// gets on, or none was meant to come all at once.
pub fn reach<'a>(case: &Case, rounds: impl Iterator<Item = &'a Round>) -> Option<Reach> {
    let mut bursts = Vec::new();
    let mut refused = 0;
    for round in rounds {
        for facts in round.bursts.iter().filter(|own| is_sharp(case, own)) {
            let all = || round.of(&facts.step);
            let turned = all().filter(|copy| copy.was_refused()).count();
            refused += turned;
            let burst = Burst::new(facts, all().filter(|copy| has_reached(copy)));
            // Of one that was refused for the most part the rest came as it was let in.
            if burst.copies() >= turned {
                bursts.push(burst);
            }
        }
    }
    let addresses: BTreeSet<&str> = bursts.iter().flat_map(Burst::addresses).collect();
    let mut met = vec![false; bursts.len()];
    let mut window: Option<f64> = None;
    let mut apart = Vec::new();
    let mut met_on = 0;
    for one in &addresses {
        for other in addresses.range(*one..) {
            match window_at(&bursts, [one, other], &mut met) {
                Some(own) => {
                    window = Some(window.map_or(own, |all| all.max(own)));
                    met_on += usize::from(one == other);
                }
                None if one == other => {}
                None => apart.push([(*one).to_owned(), (*other).to_owned()]),
            }
        }
    }
    let met: Vec<&Burst<'_>> = bursts
        .iter()
        .zip(met)
        .filter_map(|(burst, met)| met.then_some(burst))
        .collect();
    let mut techniques = Vec::new();
    for burst in &met {
        if !techniques.contains(&burst.technique()) {
            techniques.push(burst.technique());
        }
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Some(Reach {
        window_micros: (window? * 1e6).ceil() as u64,
        bursts: count(met.len()),
        in_flight: met
            .iter()
            .map(|own| own.in_flight())
            .max()
            .unwrap_or_default(),
        techniques,
        addresses: count(addresses.len()),
        met_on: count(met_on),
        apart,
        refused: count(refused),
    })
}

/// The window, in seconds, that the bursts would have shown at a place; notes which of them met there.
fn window_at(bursts: &[Burst<'_>], place: [&str; 2], met: &mut [bool]) -> Option<f64> {
    let mut gaps = Vec::new();
    for (burst, met) in bursts.iter().zip(met) {
        if let Some(let_go) = burst.let_go(place) {
            gaps.push((let_go, burst.pace(place)));
            *met = true;
        }
    }
    if gaps.is_empty() {
        return None;
    }
    // What a small burst cannot tell of the target, the larger ones do.
    let telling: Vec<f64> = gaps.iter().filter_map(|(_, pace)| *pace).collect();
    let usual = match place[0] == place[1] && bursts.iter().all(|own| own.addresses().len() == 1) {
        true => median(telling)?,
        // Few copies of a burst come to one place: then the largest of their means stands for it.
        false => median(telling).or_else(|| {
            let means = bursts.iter().filter_map(|burst| burst.mean_pace(place));
            means.reduce(f64::max)
        })?,
    };
    let sum: f64 = gaps
        .iter()
        .map(|(let_go, pace)| 1.0 / let_go.max(pace.unwrap_or(usual)).max(1e-6))
        .sum();
    Some(CERTAINTY / sum)
}

/// A burst that was to come all at once, and whose copies met.
fn is_sharp(case: &Case, facts: &BurstFacts) -> bool {
    let together = matches!(
        case.step(&facts.step),
        Some(Step::Burst { request, release: Release::Together, .. }) if request.at.is_none()
    );
    together && facts.copies >= 2 && facts.in_flight >= 2
}

/// Whether a copy may have got as far as the key.
fn has_reached(copy: &Exchange) -> bool {
    let cut_off = matches!(copy.ending, Ending::ClosedByTarget(_) | Ending::Refused(_));
    !copy.was_refused() && !cut_off
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::sample::{answered, millis, paid, round, scenario};
    use crate::transcript::PauseFacts;

    fn case() -> Case {
        scenario("steps:\n  - burst: { as: burst, key: fresh, copies: 5 }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n")
            .cases
            .remove(0)
    }

    /// Five copies are answered with this many milliseconds between them.
    fn burst_at_pace(millis: u64) -> Round {
        round((0..5u64).map(|copy| paid("burst", "pay_1").at(0, 50 + copy * millis)))
            .burst("burst", 5, 5)
    }

    #[test]
    fn more_rounds_and_a_faster_target_see_smaller_windows() {
        let one = reach(&case(), [burst_at_pace(4)].iter()).unwrap();
        // ln 20 times 4 ms.
        assert_eq!(one.window_micros, 11_983);
        assert_eq!((one.bursts, one.in_flight), (1, 5));
        let four: Vec<Round> = (0..4).map(|_| burst_at_pace(4)).collect();
        assert_eq!(reach(&case(), four.iter()).unwrap().window_micros, 2_996);
        let faster: Vec<Round> = (0..4).map(|_| burst_at_pace(2)).collect();
        assert_eq!(reach(&case(), faster.iter()).unwrap().window_micros, 1_498);
    }

    #[test]
    fn a_wide_release_bounds_what_a_fast_target_could_show() {
        let mut wide = burst_at_pace(1);
        wide.bursts[0].release_spread = Duration::from_millis(40);
        // 40 ms over four gaps.
        assert_eq!(reach(&case(), [wide].iter()).unwrap().window_micros, 29_958);
    }

    #[test]
    fn bursts_that_did_not_meet_and_spread_ones_show_nothing() {
        let mut apart = burst_at_pace(1);
        apart.bursts[0].in_flight = 1;
        assert_eq!(reach(&case(), [apart].iter()), None);
        assert_eq!(reach(&Case::default(), [burst_at_pace(1)].iter()), None);
        assert_eq!(reach(&case(), [].iter()), None);
    }

    /// The burst, and so many more copies that were refused at once.
    fn partly_refused(refused: u64) -> Round {
        let taken = (0..5u64).map(|copy| paid("burst", "pay_1").at(0, 50 + copy * 4));
        let refused_ones = (0..refused).map(|_| answered("burst", 429).at(0, 1));
        let all = taken.chain(refused_ones).map(|mut copy| {
            if copy.response.as_ref().is_some_and(|own| own.status == 429) {
                copy.outcome = crate::outcome::Meaning::RateLimited.into();
            }
            copy
        });
        let mut round = round(all).burst("burst", 5 + refused as u32, 5 + refused as u32);
        round.pause = Some(PauseFacts {
            refused: refused as u32,
            closed: 0,
            asked: Some(Duration::from_secs(2)),
            waited: Duration::from_secs(2),
            enough: false,
        });
        round
    }

    #[test]
    fn copies_that_were_refused_neither_met_anybody_nor_tell_how_fast_the_target_is() {
        let without = reach(&case(), [burst_at_pace(4)].iter()).unwrap();
        let with = reach(&case(), [partly_refused(5)].iter()).unwrap();
        assert_eq!(with.window_micros, without.window_micros);
        assert_eq!((with.in_flight, with.bursts, with.refused), (5, 1, 5));
        assert!(
            with.says()
                .ends_with("; 5 copies were refused for their rate and do not count"),
            "{}",
            with.says()
        );
        // A burst that was refused for the most part does not count at all.
        assert_eq!(reach(&case(), [partly_refused(6)].iter()), None);
        let both = [burst_at_pace(4), partly_refused(6)];
        let both = reach(&case(), both.iter()).unwrap();
        assert_eq!(
            (both.window_micros, both.bursts, both.refused),
            (without.window_micros, 1, 6)
        );
    }

    /// Copies on these addresses, let go and answered at these milliseconds.
    fn on(copies: &[(&str, u64, u64)]) -> Round {
        let mut round = round(copies.iter().map(|(address, sent, answered)| {
            let mut copy = paid("burst", "pay_1").at(*sent, *answered);
            copy.request.url = format!("http://{address}/payments");
            copy
        }))
        .burst("burst", copies.len() as u32, copies.len() as u32);
        round.bursts[0].release_spread = millis(0);
        round
    }

    #[test]
    fn of_two_addresses_the_larger_window_is_said() {
        // On each they are answered 4 ms apart, and those on the other one 1 ms later.
        let near = (0..6u64).flat_map(|at| [("a", 0, 50 + 4 * at), ("b", 0, 51 + 4 * at)]);
        let near = on(&near.collect::<Vec<_>>());
        let near = reach(&case(), [near].iter()).unwrap();
        assert_eq!(
            (near.window_micros, near.addresses, near.met_on),
            (11_983, 2, 2)
        );
        assert!(near.apart.is_empty());
        assert!(
            near.says()
                .ends_with("with 95 %, on each of 2 addresses and between any two of them"),
            "{}",
            near.says()
        );
        // Let go as two packets, 10 ms apart: between the addresses no smaller window would show.
        let packets = (0..6u64).flat_map(|at| [("a", 0, 50 + at), ("b", 10, 50 + at)]);
        let packets = on(&packets.collect::<Vec<_>>());
        let packets = reach(&case(), [packets].iter()).unwrap();
        assert_eq!(packets.window_micros, 29_958);
    }

    #[test]
    fn few_copies_for_each_address_tell_less_and_are_not_claimed_to_tell_more() {
        // One copy for each of three: on no address two met.
        let each = [("a", 0, 50), ("b", 0, 51), ("c", 0, 53)];
        let seen = reach(&case(), [on(&each)].iter()).unwrap();
        assert_eq!((seen.addresses, seen.met_on), (3, 0));
        // Between `a` and `c` it is 3 ms.
        assert_eq!(seen.window_micros, 8_988);
        assert!(
            seen.says()
                .ends_with(", of 3 addresses between any two of them"),
            "{}",
            seen.says()
        );
        let twice = [("a", 0, 50), ("b", 0, 51), ("a", 0, 56)];
        let seen = reach(&case(), [on(&twice)].iter()).unwrap();
        assert_eq!((seen.met_on, seen.window_micros), (1, 17_975));
        assert!(
            seen.says()
                .ends_with(", on 1 of 2 addresses and between any two of them"),
            "{}",
            seen.says()
        );
    }

    #[test]
    fn of_addresses_whose_copies_never_met_nothing_is_said() {
        let first = (0..5u64).map(|at| ("a", 0, 50 + 4 * at));
        let second = (0..5u64).map(|at| ("b", 100, 150 + 4 * at));
        let one_after_another = on(&first.chain(second).collect::<Vec<_>>());
        let seen = reach(&case(), [one_after_another].iter()).unwrap();
        assert_eq!(seen.apart, [["http://a".to_owned(), "http://b".to_owned()]]);
        assert_eq!((seen.bursts, seen.in_flight), (1, 5));
        assert!(
            seen.says().ends_with(
                "and between those whose copies met; no copies on http://a and http://b were in flight at once, and nothing is said of these two"
            ),
            "{}",
            seen.says()
        );
    }

    #[test]
    fn a_burst_of_two_counts_where_larger_ones_tell_the_pace_and_of_one_does_not() {
        let of = |copies: u32, in_flight: u32| {
            let mut small = burst_at_pace(4);
            small.exchanges.truncate(copies as usize);
            small.bursts[0].copies = copies;
            small.bursts[0].in_flight = in_flight;
            let reach = reach(&case(), [burst_at_pace(4), small].iter()).unwrap();
            (reach.bursts, reach.in_flight, reach.techniques.len())
        };
        assert_eq!(of(2, 2), (2, 5, 1));
        assert_eq!(of(2, 1), (1, 5, 1));
        assert_eq!(of(1, 2), (1, 5, 1));
        let mut four = burst_at_pace(4);
        four.exchanges.truncate(4);
        let reach = reach(&case(), [four].iter()).unwrap();
        assert_eq!(reach.window(), Duration::from_micros(11_983));
    }

    #[test]
    fn each_way_of_letting_go_is_named_once() {
        let mut other = burst_at_pace(4);
        other.bursts[0].technique = Technique::SinglePacket;
        let rounds = [burst_at_pace(4), other, burst_at_pace(4)];
        let reach = reach(&case(), rounds.iter()).unwrap();
        assert_eq!(
            reach.techniques,
            [Technique::LastByte, Technique::SinglePacket]
        );
    }
}
