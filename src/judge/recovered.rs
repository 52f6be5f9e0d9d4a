//! `recovered`: a retry came to its end, and how long its key was blocked.

use super::ruling::Ruling;
use super::view::{View, began, got, time};
use crate::outcome::Meaning;
use std::time::Duration;

/// How long a key may be blocked where no lock timeout is declared.
const PATIENCE: Duration = Duration::from_secs(65);

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, within: Option<Duration>) -> Ruling {
    let attempts = view.all(of);
    let (Some((_, first)), Some((last_index, last))) = (attempts.first(), attempts.last()) else {
        return view.never_sent(of);
    };
    let Some(facts) = view.round.retries.iter().find(|facts| facts.step == of) else {
        return Ruling::nothing(format!("it is not known how the retry `{of}` went"));
    };
    let limit = within.or(view.contract.lock_timeout).unwrap_or(PATIENCE);
    let blocked = began(last).saturating_sub(began(first));
    let millis = u64::try_from(blocked.as_millis()).unwrap_or(u64::MAX);
    let seen = [*last_index];
    if !facts.ended {
        if last.outcome.is_within(Meaning::RateLimited.into()) {
            return Ruling::nothing(format!(
                "`{of}` was still refused for its rate after {}",
                time(facts.took)
            ));
        }
        let says = match &last.response {
            None => format!("`{of}` {} after {}", got(last), time(facts.took)),
            Some(_) if last.outcome.is_within(Meaning::InFlight.into()) => {
                format!("still in flight after {}: stuck", time(facts.took))
            }
            Some(response) => format!(
                "still {} ({}) after {}",
                last.outcome,
                response.status,
                time(facts.took)
            ),
        };
        return Ruling::broken(says).weighing(millis).seen_in(seen);
    }
    // The key may have been free at any time after the last attempt that met it blocked.
    let surely_blocked = attempts
        .len()
        .checked_sub(2)
        .map_or(Duration::ZERO, |index| {
            began(attempts[index].1).saturating_sub(began(first))
        });
    let says = if attempts.len() == 1 {
        format!("at once: {}", last.outcome)
    } else {
        format!("blocked for {}, then {}", time(blocked), last.outcome)
    };
    let ruling = if surely_blocked > limit {
        Ruling::broken(format!("{says}; {} are allowed", time(limit)))
    } else {
        Ruling::held(says.clone())
    };
    ruling
        .with_observed(vec![says])
        .weighing(millis)
        .seen_in(seen)
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, contract, expecting, judged, paid, round, sent, verdict};
    use crate::verdict::Verdict;

    const CLAIM: &str = "recovered: { of: again }";

    #[test]
    fn the_time_that_the_key_was_blocked_is_reported() {
        let waited = round([
            answered("first", 500).at(0, 5),
            answered("again", 409).at(10, 15),
            answered("again", 409).at(30_010, 30_015),
            paid("again", "pay_1").at(31_010, 31_015),
        ])
        .retried("again", true, 31_005);
        let (verdict, reason) = verdict(CLAIM, waited);
        assert_eq!(verdict, Verdict::Pass);
        assert!(
            reason.starts_with("blocked for 31 s, then executed"),
            "{reason}"
        );
    }

    #[test]
    fn a_key_that_stays_blocked_is_stuck() {
        let stuck = round([
            answered("first", 500).at(0, 5),
            answered("again", 409).at(10, 15),
            answered("again", 409).at(65_000, 65_005),
        ])
        .retried("again", false, 65_000);
        let (verdict, reason) = verdict(CLAIM, stuck);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(reason, "still in flight after 65 s: stuck");
    }

    #[test]
    fn a_declared_lock_timeout_is_the_limit_less_the_pause_between_attempts() {
        let contract = contract("extends: generic\nlock-timeout: 5s");
        let after = |last: u64, before: u64| {
            let round = round([
                answered("again", 409).at(0, 5),
                answered("again", 409).at(before, before + 5),
                paid("again", "pay_1").at(last, last + 5),
            ])
            .retried("again", true, last + 5);
            judged(&expecting(CLAIM), &contract, vec![round]).verdict
        };
        assert_eq!(after(5_500, 4_500), Verdict::Pass);
        assert_eq!(after(7_000, 6_000), Verdict::Fail);
    }

    #[test]
    fn no_answer_to_the_end_breaks_it_and_no_facts_show_nothing() {
        let lost = round([sent("again")]).retried("again", false, 65_000);
        assert_eq!(verdict(CLAIM, lost).0, Verdict::Fail);
        let unknown = round([paid("again", "pay_1")]);
        assert_eq!(verdict(CLAIM, unknown).0, Verdict::Inconclusive);
        let limited = round([answered("again", 429)]).retried("again", false, 65_000);
        assert_eq!(verdict(CLAIM, limited).0, Verdict::Inconclusive);
    }
}
