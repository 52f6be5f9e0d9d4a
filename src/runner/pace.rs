//! How long a request of a scenario takes now, as its rounds measure it one after another.

use std::time::Duration;

/// The latency that the next round goes by.
///
/// A request that other requests hinder has two latencies: a long one where they come in time, and a
/// short one where they do not. Whoever goes by the last of them is too early and too late in turn, for
/// ever. So each latency that is measured moves the one to go by only by a share of the way, on a
/// logarithmic scale, and the more often it had to turn back, the smaller that share is (after Robbins
/// and Monro, "A stochastic approximation method", 1951).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    latency: Duration,
    /// How often it has turned back.
    turns: u32,
    /// Whether the last move that counts was to a longer one.
    longer: Option<bool>,
    /// The last ones that were measured.
    recent: [Duration; RECENT],
}

/// How many latencies are looked back at.
const RECENT: usize = 4;

/// The least that is moved at a time, so that a target that becomes slower is followed.
const LEAST_SHARE: f64 = 0.125;

/// From which ratio between two latencies on a move counts as one.
const A_MOVE: f64 = 2.0;

/// Nothing is measured as shorter.
const SHORTEST: Duration = Duration::from_micros(1);

impl Pace {
    /// By the first latency that was measured.
    pub(super) fn new(took: Duration) -> Pace {
        Pace {
            latency: took.max(SHORTEST),
            turns: 0,
            longer: None,
            recent: [took; RECENT],
        }
    }

    /// What to go by.
    pub(super) fn latency(&self) -> Duration {
        self.latency
    }

    /// A share of the latency. What is to come after the end comes after the end of a hindered request
    /// too, where there are two latencies.
    pub(super) fn share(&self, share: f64) -> Duration {
        let longest = self.recent.iter().copied().max().unwrap_or_default();
        let whole = match share > 1.0 && self.turns > 0 {
            true => self.latency.max(longest),
            false => self.latency,
        };
        whole.mul_f64(share)
    }

    /// Takes in one more.
    pub(super) fn took(&mut self, took: Duration) {
        self.recent.rotate_left(1);
        self.recent[RECENT - 1] = took;
        let before = self.latency.as_secs_f64();
        let ratio = took.max(SHORTEST).as_secs_f64() / before;
        if !(A_MOVE.recip()..=A_MOVE).contains(&ratio) {
            let longer = ratio > 1.0;
            self.turns = match self.longer {
                Some(last) if last != longer => self.turns.saturating_add(1),
                Some(_) => self.turns.saturating_sub(1),
                None => 0,
            };
            self.longer = Some(longer);
        }
        let share = (f64::from(self.turns) + 2.0).recip().max(LEAST_SHARE);
        self.latency = Duration::from_secs_f64(before * ratio.powf(share));
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use std::time::Duration;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_request_that_copies_in_time_hinder_is_met_at_its_end() {
        // Alone it takes 2 ms. A copy that comes before makes it slow, the more the earlier it comes.
        let alone = millis(2);
        let took = |came: Duration| match alone.checked_sub(came) {
            Some(left) => alone + left.mul_f64(20.0),
            None => alone,
        };
        let mut pace = Pace::new(millis(25));
        let mut met = 0;
        for _ in 0..40 {
            let [from, to] = [0.4, 1.6].map(|share| pace.share(share));
            let now = took(from);
            met += u32::from(from < now && now < to);
            pace.took(now);
        }
        assert!(met >= 3, "met in {met} of 40");
    }

    #[test]
    fn two_latencies_in_turn_are_met_between() {
        // Nothing in between: 27 ms if the first copy comes in time, else 3 ms.
        let mut pace = Pace::new(millis(3));
        let mut furthest: f64 = 1.0;
        for round in 0..40 {
            let from = pace.latency().mul_f64(0.4);
            pace.took(if from < millis(3) {
                millis(27)
            } else {
                millis(3)
            });
            if round >= 20 {
                let off = from.as_secs_f64() / millis(3).as_secs_f64();
                furthest = furthest.max(off.max(off.recip()));
            }
        }
        assert!(
            furthest < 1.5,
            "copies came {furthest} times too early or too late"
        );
    }

    #[test]
    fn what_comes_after_the_end_comes_after_the_longer_of_two_latencies() {
        // Never in between: copies that come in time make it much slower than they take themselves.
        let mut pace = Pace::new(millis(3));
        let mut met = 0;
        for _ in 0..20 {
            let [from, to] = [0.4, 1.6].map(|share| pace.share(share));
            let now = if from < millis(4) {
                millis(35)
            } else {
                millis(3)
            };
            met += u32::from(from < now && now < to);
            pace.took(now);
        }
        assert!(met >= 3, "met in {met} of 20");
        // Where there is one latency, a single one that is late changes little.
        let mut steady = Pace::new(millis(10));
        for took in [10, 11, 30, 10, 9] {
            steady.took(millis(took));
        }
        assert!(steady.share(1.6) < millis(30), "{steady:?}");
    }

    #[test]
    fn a_target_that_becomes_slower_is_followed() {
        let mut pace = Pace::new(millis(10));
        for _ in 0..10 {
            pace.took(millis(40));
        }
        assert!(pace.latency() > millis(38), "{pace:?}");
        pace.took(Duration::ZERO);
        assert!(pace.latency() > Duration::ZERO);
    }
}
