//! `recovered`: a retry came to its end, and how long its key was blocked. After a crash it is told
//! what had become of the key: it was forgotten, leased, or is stuck.

use super::ruling::Ruling;
use super::view::{View, began, got, time};
use crate::hook::HookName;
use crate::outcome::Meaning;
use crate::transcript::{Exchange, Reading, ReadingKind};
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
        return Ruling::broken(says.clone())
            .with_observed(vec![says])
            .weighing(millis)
            .seen_in(seen);
    }
    // The key may have been free at any time after the last attempt that met it blocked.
    let surely_blocked = attempts
        .len()
        .checked_sub(2)
        .map_or(Duration::ZERO, |index| {
            began(attempts[index].1).saturating_sub(began(first))
        });
    let crashed = view
        .round
        .hooks
        .iter()
        .any(|hook| hook.name == HookName::Kill && hook.worked && hook.at <= began(first));
    let done = done(view, first, last);
    let mut says = match (attempts.len(), crashed) {
        (1, true) if done.executed => "forgotten: executed at once".to_owned(),
        (1, _) => format!("at once: {}", done.says),
        (_, true) => format!("leased: blocked for {}, then {}", time(blocked), done.says),
        _ => format!("blocked for {}, then {}", time(blocked), done.says),
    };
    if done.second {
        says.push_str(": a second effect");
    }
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

/// What the last attempt did, by its answer and by the effects before and after it.
struct Done {
    /// Executed or replayed, where the effects tell it; else what the answer may mean.
    says: String,
    executed: bool,
    /// It made an effect, and one had been there before.
    second: bool,
}

fn done(view: &View<'_>, first: &Exchange, last: &Exchange) -> Done {
    let mut grew = false;
    let mut second = false;
    let mut stayed = false;
    for probe in view.counting(last.operation) {
        let most = |fits: &dyn Fn(&Reading) -> bool| {
            view.round
                .readings
                .iter()
                .filter(|reading| {
                    reading.probe == probe.name
                        && reading.operation == last.operation
                        && reading.marker == last.marker
                        && reading.kind != ReadingKind::Before
                        && fits(reading)
                })
                .filter_map(|reading| reading.shows.as_ref().ok()?.count())
                .reduce(f64::max)
        };
        let before = most(&|reading| reading.at <= began(first));
        let after = most(&|reading| reading.at > began(first));
        if let (Some(before), Some(after)) = (before, after) {
            grew |= after > before;
            second |= after > before && before >= probe.per_execution;
            stayed |= after == before && before > 0.0;
        }
    }
    let may_be = |meaning: Meaning| last.outcome.may_be(meaning);
    let executed = last.outcome.is_within(Meaning::Executed.into())
        || (grew && may_be(Meaning::Executed) && may_be(Meaning::Replayed));
    let says = if executed {
        Meaning::Executed.name().to_owned()
    } else if stayed && !grew && may_be(Meaning::Replayed) {
        Meaning::Replayed.name().to_owned()
    } else {
        last.outcome.to_string()
    };
    Done {
        says,
        executed,
        second,
    }
}

#[cfg(test)]
mod tests {
    use crate::hook::HookName;
    use crate::judge::sample::{
        answered, contract, expecting, judged, millis, paid, reading, round, sent, verdict,
    };
    use crate::scenario::OperationRole;
    use crate::transcript::{Exchange, HookFacts, Reading, ReadingKind};
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
    fn after_a_crash_it_is_told_what_became_of_the_key() {
        let named = || ReadingKind::Named("after-start".to_owned());
        let forgotten = round([sent("first").at(0, 5), paid("again", "pay_2").at(200, 250)])
            .killed(4)
            .read(reading(named(), &["pay_1"]).taken(100))
            .late(&["pay_1", "pay_2"])
            .retried("again", true, 50);
        assert_eq!(
            verdict(CLAIM, forgotten),
            (
                Verdict::Pass,
                "forgotten: executed at once: a second effect".to_owned()
            )
        );
        let leased = |before: &[&str], late: &[&str]| {
            round([
                sent("first").at(0, 5),
                answered("again", 409).at(200, 205),
                answered("again", 409).at(31_100, 31_105),
                paid("again", "pay_2").at(32_100, 32_105),
            ])
            .killed(4)
            .read(reading(named(), before).taken(100))
            .late(late)
            .retried("again", true, 32_000)
        };
        let twice = verdict(CLAIM, leased(&["pay_1"], &["pay_1", "pay_2"]));
        assert_eq!(
            twice.1,
            "leased: blocked for 32 s, then executed: a second effect"
        );
        let once = verdict(CLAIM, leased(&[], &["pay_2"]));
        assert_eq!(once.1, "leased: blocked for 32 s, then executed");
        let kept = round([sent("first").at(0, 5), paid("again", "pay_1").at(200, 205)])
            .read(reading(named(), &["pay_1"]).taken(100))
            .late(&["pay_1"])
            .retried("again", true, 50);
        assert!(verdict(CLAIM, kept).1.starts_with("at once: "));
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

    #[test]
    fn what_the_last_attempt_did_is_told_by_the_effects_around_it() {
        let named = || ReadingKind::Named("before".to_owned());
        let says = |before: &[&str], late: &[&str], last: Exchange| {
            let again = answered("again", 409).at(200, 205);
            let round = round([sent("first").at(0, 5), again, last.at(300, 305)])
                .read(reading(named(), before).taken(100))
                .late(late)
                .retried("again", true, 100);
            verdict(CLAIM, round).1
        };
        let open = || answered("again", 204);
        let grown = says(&["a"], &["a", "b"], open());
        assert_eq!(grown, "blocked for 100 ms, then executed: a second effect");
        let first = says(&[], &["a"], open());
        assert_eq!(first, "blocked for 100 ms, then executed");
        let same = says(&["a"], &["a"], open());
        assert_eq!(same, "blocked for 100 ms, then replayed");
        let none = says(&[], &[], open());
        assert!(none.ends_with("executed or replayed"), "{none}");
        let refused = says(&["a"], &["a", "b"], answered("again", 422));
        assert!(!refused.contains("executed"), "{refused}");
    }

    #[test]
    fn readings_of_something_else_tell_nothing_of_it() {
        let says = |change: fn(&mut Reading)| {
            let mut before = reading(ReadingKind::Named("before".to_owned()), &["a"]).taken(100);
            change(&mut before);
            let again = answered("again", 409).at(200, 205);
            let last = answered("again", 204).at(300, 305);
            let round = round([sent("first").at(0, 5), again, last])
                .read(before)
                .late(&["a", "b"])
                .retried("again", true, 100);
            verdict(CLAIM, round).1
        };
        let known = "blocked for 100 ms, then executed: a second effect";
        let open = "blocked for 100 ms, then executed or replayed";
        assert_eq!(says(|_| {}), known);
        assert_eq!(says(|before| before.probe = "other".to_owned()), open);
        assert_eq!(says(|before| before.operation = OperationRole::Other), open);
        assert_eq!(says(|before| before.marker = "o".to_owned()), open);
        assert_eq!(says(|before| before.kind = ReadingKind::Before), open);
        assert_eq!(says(|before| before.shows = Err("none".to_owned())), open);
        assert_eq!(
            says(|before| before.at = millis(200)),
            known,
            "just in time"
        );
        assert_eq!(says(|before| before.at = millis(201)), open);
    }

    #[test]
    fn only_a_server_that_was_ended_before_has_crashed() {
        let says = |change: fn(&mut HookFacts)| {
            let mut round = round([sent("first").at(0, 5), paid("again", "pay_2").at(200, 250)])
                .killed(200)
                .read(reading(ReadingKind::Named("before".to_owned()), &[]).taken(100))
                .late(&["pay_2"])
                .retried("again", true, 50);
            change(&mut round.hooks[0]);
            verdict(CLAIM, round).1
        };
        assert_eq!(says(|_| {}), "forgotten: executed at once");
        assert_eq!(says(|hook| hook.at = millis(201)), "at once: executed");
        assert_eq!(says(|hook| hook.worked = false), "at once: executed");
        assert_eq!(
            says(|hook| hook.name = HookName::Start),
            "at once: executed"
        );
    }

    #[test]
    fn a_key_is_surely_blocked_until_the_last_attempt_that_met_it_so() {
        let judged = |blocked_at: u64| {
            let blocked = answered("again", 409).at(10 + blocked_at, 15 + blocked_at);
            let round = round([
                answered("first", 500).at(0, 5),
                answered("again", 409).at(10, 15),
                blocked,
                paid("again", "pay_1").at(90_000, 90_005),
            ]);
            verdict(
                "recovered: { of: again, within: 65s }",
                round.retried("again", true, 90_000),
            )
            .0
        };
        assert_eq!(judged(65_000), Verdict::Pass);
        assert_eq!(judged(65_001), Verdict::Fail);
        let other = round([paid("again", "pay_1").at(10, 15)]).retried("other", false, 5);
        assert_eq!(
            verdict(CLAIM, other).0,
            Verdict::Inconclusive,
            "of another retry"
        );
    }
}
