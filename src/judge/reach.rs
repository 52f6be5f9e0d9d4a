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

use crate::scenario::{Case, Release, Step};
use crate::transcript::{BurstFacts, Round, Technique};
use serde::Serialize;
use std::time::Duration;

/// -ln(1 - 0.95).
const CERTAINTY: f64 = 2.995_732_273_553_991;

/// Bursts of fewer copies say too little about how fast the target gets on.
const TELLING: usize = 4;

/// How hard the bursts of a case looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// The smallest window between check and claim that they would have shown with 95 %, in
    /// microseconds.
    pub window_micros: u64,
    /// Bursts whose copies were in flight together.
    pub bursts: u32,
    /// The most requests of one burst that were in flight at once.
    pub in_flight: u32,
    /// How the copies were let go, in the order of the rounds, each named once.
    pub techniques: Vec<Technique>,
}

impl Reach {
    /// The window.
    pub fn window(&self) -> Duration {
        Duration::from_micros(self.window_micros)
    }

    /// In words, to stand after what was seen.
    pub fn says(&self) -> String {
        let techniques: Vec<&str> = self.techniques.iter().map(|one| one.says()).collect();
        format!(
            "{} bursts (let go as {}; up to {} in flight at once) would have shown a race window of {:?} or more with 95 %",
            self.bursts,
            techniques.join(" and "),
            self.in_flight,
            self.window()
        )
    }
}

/// What the bursts of these rounds could have shown; `None` where no burst tells how fast the target
/// gets on, or none was meant to come all at once.
pub fn reach(case: &Case, rounds: &[Round]) -> Option<Reach> {
    let bursts: Vec<(&BurstFacts, Option<f64>)> = rounds
        .iter()
        .flat_map(|round| round.bursts.iter().map(move |facts| (round, facts)))
        .filter(|(_, facts)| is_sharp(case, facts))
        .map(|(round, facts)| (facts, pace(round, facts)))
        .collect();
    // What a small burst cannot tell of the target, the larger ones do.
    let usual = median(bursts.iter().filter_map(|(_, pace)| *pace).collect())?;
    let sum: f64 = bursts
        .iter()
        .map(|(facts, pace)| {
            let between = facts.release_spread.as_secs_f64() / f64::from(facts.copies - 1);
            1.0 / between.max(pace.unwrap_or(usual)).max(1e-6)
        })
        .sum();
    let mut techniques = Vec::new();
    for (facts, _) in &bursts {
        if !techniques.contains(&facts.technique) {
            techniques.push(facts.technique);
        }
    }
    Some(Reach {
        window_micros: (CERTAINTY / sum * 1e6).ceil() as u64,
        bursts: u32::try_from(bursts.len()).unwrap_or(u32::MAX),
        in_flight: bursts
            .iter()
            .map(|(facts, _)| facts.in_flight)
            .max()
            .unwrap_or_default(),
        techniques,
    })
}

/// A burst that was to come all at once, and whose copies met.
fn is_sharp(case: &Case, facts: &BurstFacts) -> bool {
    let together = matches!(
        case.step(&facts.step),
        Some(Step::Burst { request, release: Release::Together, .. }) if request.at.is_none()
    );
    together && facts.copies >= 2 && facts.in_flight >= 2
}

/// How far apart, in seconds, the target answered the copies: the median, so that the one that was
/// carried out does not count.
fn pace(round: &Round, facts: &BurstFacts) -> Option<f64> {
    let mut answered: Vec<Duration> = round
        .of(&facts.step)
        .filter_map(|exchange| exchange.times.first_byte)
        .collect();
    if answered.len() < TELLING {
        return None;
    }
    answered.sort();
    median(
        answered
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .collect(),
    )
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::sample::{paid, round, scenario};

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
        let one = reach(&case(), &[burst_at_pace(4)]).unwrap();
        // ln 20 times 4 ms.
        assert_eq!(one.window_micros, 11_983);
        assert_eq!((one.bursts, one.in_flight), (1, 5));
        let four: Vec<Round> = (0..4).map(|_| burst_at_pace(4)).collect();
        assert_eq!(reach(&case(), &four).unwrap().window_micros, 2_996);
        let faster: Vec<Round> = (0..4).map(|_| burst_at_pace(2)).collect();
        assert_eq!(reach(&case(), &faster).unwrap().window_micros, 1_498);
    }

    #[test]
    fn a_wide_release_bounds_what_a_fast_target_could_show() {
        let mut wide = burst_at_pace(1);
        wide.bursts[0].release_spread = Duration::from_millis(40);
        // 40 ms over four gaps.
        assert_eq!(reach(&case(), &[wide]).unwrap().window_micros, 29_958);
    }

    #[test]
    fn bursts_that_did_not_meet_and_spread_ones_show_nothing() {
        let mut apart = burst_at_pace(1);
        apart.bursts[0].in_flight = 1;
        assert_eq!(reach(&case(), &[apart]), None);
        assert_eq!(reach(&Case::default(), &[burst_at_pace(1)]), None);
        assert_eq!(reach(&case(), &[]), None);
    }

    #[test]
    fn a_burst_of_two_counts_where_larger_ones_tell_the_pace_and_of_one_does_not() {
        let of = |copies: u32, in_flight: u32| {
            let mut small = burst_at_pace(4);
            small.exchanges.truncate(copies as usize);
            small.bursts[0].copies = copies;
            small.bursts[0].in_flight = in_flight;
            let reach = reach(&case(), &[burst_at_pace(4), small]).unwrap();
            (reach.bursts, reach.in_flight, reach.techniques.len())
        };
        assert_eq!(of(2, 2), (2, 5, 1));
        assert_eq!(of(2, 1), (1, 5, 1));
        assert_eq!(of(1, 2), (1, 5, 1));
        let mut four = burst_at_pace(4);
        four.exchanges.truncate(4);
        let reach = reach(&case(), &[four]).unwrap();
        assert_eq!(reach.window(), Duration::from_micros(11_983));
    }

    #[test]
    fn each_way_of_letting_go_is_named_once() {
        let mut other = burst_at_pace(4);
        other.bursts[0].technique = Technique::SinglePacket;
        let rounds = [burst_at_pace(4), other, burst_at_pace(4)];
        let reach = reach(&case(), &rounds).unwrap();
        assert_eq!(
            reach.techniques,
            [Technique::LastByte, Technique::SinglePacket]
        );
    }
}
