//! Where a time stands on the line: stretches in which a request is under way are drawn to scale,
//! and waits between them are shortened, so that a race of a millisecond and the reading a second
//! later both can be seen.

use std::time::Duration;

/// The line runs from here to [`END`], in percent of the width.
const START: f64 = 0.5;
const END: f64 = 99.0;
/// The most that one wait takes, as a share of all the time in which something was under way.
const ONE_WAIT: f64 = 0.07;
/// The most that all waits take together.
const ALL_WAITS: f64 = 0.45;

/// Places of times, in percent of the width.
#[derive(Debug)]
pub(super) struct Scale {
    knots: Vec<(Duration, f64)>,
    /// Waits that were shortened: where, and how long they were.
    pub(super) breaks: Vec<(f64, Duration)>,
}

impl Scale {
    /// A line that holds all these times. `busy` are the stretches in which a request was under way.
    pub(super) fn new(busy: &[(Duration, Duration)], moments: &[Duration]) -> Scale {
        let busy = united(busy);
        let mut times: Vec<Duration> = busy
            .iter()
            .flat_map(|(from, to)| [*from, *to])
            .chain(moments.iter().copied())
            .collect();
        times.sort_unstable();
        times.dedup();
        let steps: Vec<(Duration, Duration, bool)> = times
            .windows(2)
            .map(|pair| (pair[0], pair[1], is_within(&busy, pair[0], pair[1])))
            .collect();
        let under_way: f64 = busy
            .iter()
            .map(|(from, to)| (*to - *from).as_secs_f64())
            .sum();
        let waits = steps.iter().filter(|(_, _, busy)| !busy).count().max(1);
        let most = match under_way {
            0.0 => f64::INFINITY,
            all => all * ONE_WAIT.min(ALL_WAITS / waits as f64),
        };
        let width = |(from, to, busy): &(Duration, Duration, bool)| {
            let long = (*to - *from).as_secs_f64();
            if *busy { long } else { long.min(most) }
        };
        let whole: f64 = steps.iter().map(width).sum();
        let share = if whole > 0.0 {
            (END - START) / whole
        } else {
            0.0
        };
        let mut scale = Scale {
            knots: times
                .first()
                .map(|first| (*first, START))
                .into_iter()
                .collect(),
            breaks: Vec::new(),
        };
        let mut at = START;
        for step in &steps {
            let wide = width(step) * share;
            let (from, to, busy) = step;
            if !busy && (*to - *from).as_secs_f64() > most * 1.5 {
                scale.breaks.push((at + wide / 2.0, *to - *from));
            }
            at += wide;
            scale.knots.push((*to, at));
        }
        scale
    }

    /// The place of a time; times outside the line stand at its ends.
    pub(super) fn x(&self, time: Duration) -> f64 {
        let after = self.knots.partition_point(|(at, _)| *at < time);
        match (
            after.checked_sub(1).map(|before| self.knots[before]),
            self.knots.get(after),
        ) {
            (Some((from, left)), Some((to, right))) => {
                let whole = (*to - from).as_secs_f64();
                left + (right - left) * (time - from).as_secs_f64() / whole
            }
            (None, Some((_, x))) => *x,
            (Some((_, x)), None) => x,
            (None, None) => START,
        }
    }

    /// Times to write under the line, at least `apart` percent from each other.
    pub(super) fn labels(&self, apart: f64) -> Vec<(f64, Duration)> {
        let mut labels: Vec<(f64, Duration)> = Vec::new();
        for (time, x) in &self.knots {
            if labels.last().is_none_or(|(last, _)| x - last >= apart) && *x <= 100.0 - apart / 2.0
            {
                labels.push((*x, *time));
            }
        }
        labels
    }
}

/// The stretches, those that touch as one, in order.
fn united(stretches: &[(Duration, Duration)]) -> Vec<(Duration, Duration)> {
    let mut sorted = stretches.to_vec();
    sorted.sort_unstable();
    let mut united: Vec<(Duration, Duration)> = Vec::new();
    for (from, to) in sorted {
        match united.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => united.push((from, to.max(from))),
        }
    }
    united
}

fn is_within(united: &[(Duration, Duration)], from: Duration, to: Duration) -> bool {
    let after = united.partition_point(|(start, _)| *start <= from);
    after > 0 && united[after - 1].1 >= to
}

#[cfg(test)]
mod tests {
    use super::{END, START, Scale};
    use std::time::Duration;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_race_of_milliseconds_is_wide_beside_a_wait_of_seconds() {
        let busy = [(millis(10), millis(30)), (millis(20), millis(50))];
        let scale = Scale::new(&busy, &[millis(60), millis(5_000)]);
        assert_eq!(scale.x(millis(10)), START);
        assert!(scale.x(millis(50)) > 75.0, "{scale:?}");
        assert!((scale.x(millis(5_000)) - END).abs() < 0.01, "{scale:?}");
        let waits: Vec<Duration> = scale.breaks.iter().map(|(_, wait)| *wait).collect();
        assert_eq!(waits, [millis(10), millis(4_940)]);
    }

    #[test]
    fn what_is_under_way_is_drawn_to_scale() {
        let scale = Scale::new(&[(millis(0), millis(100)), (millis(0), millis(1_000))], &[]);
        let middle = scale.x(millis(500));
        assert!((middle - (START + END) / 2.0).abs() < 0.01, "{middle}");
    }

    #[test]
    fn nothing_and_one_moment_have_a_place() {
        assert_eq!(Scale::new(&[], &[]).x(millis(3)), START);
        assert_eq!(Scale::new(&[], &[millis(3)]).x(millis(3)), START);
        assert_eq!(
            Scale::new(&[(millis(3), millis(3))], &[]).x(millis(9)),
            START
        );
    }
}
