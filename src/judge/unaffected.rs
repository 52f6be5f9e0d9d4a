//! `unaffected`: other requests took no longer than before, within a factor.

use super::ruling::Ruling;
use super::view::{View, got, time, took, who};
use std::time::Duration;

/// Times below this are as good as equal: a factor of noise is no finding.
const FLOOR: Duration = Duration::from_millis(10);

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, than: &str, factor: f64) -> Ruling {
    let mut slowest = [Duration::ZERO; 2];
    let mut place = None;
    for (times, step) in slowest.iter_mut().zip([than, of]) {
        let standing = view.standing(step);
        if standing.is_empty() {
            return view.never_sent(step);
        }
        let mut sorted = Vec::new();
        for (index, exchange) in standing {
            if exchange.response.is_none() {
                let says = format!("{} {}", who(exchange), got(exchange));
                return if step == of {
                    Ruling::broken(says).seen_in([index])
                } else {
                    Ruling::nothing(says)
                };
            }
            sorted.push((took(exchange), index));
        }
        sorted.sort();
        // The 99th percentile by the nearest rank.
        let rank = (sorted.len() * 99).div_ceil(100) - 1;
        (*times, place) = (sorted[rank].0, Some(sorted[rank].1));
    }
    let [before, during] = slowest;
    let says = format!(
        "`{of}` took {} where `{than}` took {} (99th percentiles)",
        time(during),
        time(before)
    );
    let allowed = before.max(FLOOR).mul_f64(factor);
    let ruling = if during > allowed + view.may_be_late() {
        Ruling::broken(format!("{says}: more than {factor} times as long"))
    } else if during > allowed {
        Ruling::nothing(format!(
            "{says}: more than {factor} times as long, but this machine is busy and may have held them up"
        ))
    } else {
        Ruling::held(says)
    };
    ruling
        .weighing(u64::try_from(during.as_millis()).unwrap_or(u64::MAX))
        .seen_in(place)
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{contract, judged, paid, round, scenario, sent, verdict};
    use crate::verdict::Verdict;

    const CLAIM: &str = "unaffected: { of: again, than: first, factor: 10 }";

    #[test]
    fn ten_times_as_long_breaks_it_and_noise_does_not() {
        let times = |before: u64, during: u64| {
            verdict(
                CLAIM,
                round([
                    paid("first", "pay_1").at(0, before),
                    paid("again", "pay_2").at(5_000, 5_000 + during),
                ]),
            )
            .0
        };
        assert_eq!(times(50, 400), Verdict::Pass);
        assert_eq!(times(50, 600), Verdict::Fail);
        assert_eq!(times(1, 60), Verdict::Pass);
    }

    #[test]
    fn a_busy_machine_may_hold_them_up() {
        let during = |time: u64| {
            let round = round([
                paid("first", "pay_1").at(0, 50),
                paid("again", "pay_2").at(5_000, 5_000 + time),
            ]);
            verdict(CLAIM, round.busy(10)).0
        };
        assert_eq!(during(500), Verdict::Pass);
        assert_eq!(during(700), Verdict::Inconclusive);
        assert_eq!(during(701), Verdict::Fail);
    }

    #[test]
    fn an_unanswered_bystander_breaks_it() {
        let lost = round([paid("first", "pay_1"), sent("again")]);
        assert_eq!(verdict(CLAIM, lost).0, Verdict::Fail);
        let unmeasured = round([sent("first"), paid("again", "pay_1")]);
        assert_eq!(verdict(CLAIM, unmeasured).0, Verdict::Inconclusive);
    }

    #[test]
    fn the_slowest_of_a_few_counts() {
        let claim = scenario(
            "steps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, key: fresh-each, times: 3 }\nexpect:\n  item-5:\n    - unaffected: { of: again, than: first, factor: 10 }\n",
        );
        let of = |slow: u64| {
            let first = paid("first", "pay_1").at(0, 50);
            let again = [50, slow, 50].into_iter().zip(0..);
            let again =
                again.map(|(took, copy)| paid("again", "pay_2").copy(copy).at(5_000, 5_000 + took));
            let round = round(std::iter::once(first).chain(again));
            judged(&claim, &contract(""), vec![round]).verdict
        };
        assert_eq!(of(400), Verdict::Pass);
        assert_eq!(of(600), Verdict::Fail);
    }
}
