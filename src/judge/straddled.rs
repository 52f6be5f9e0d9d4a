//! `straddled`: copies of a spread burst were sent before and after a moment, near enough.

use super::ruling::Ruling;
use super::view::{View, began, time};
use crate::scenario::{Moment, When};
use crate::transcript::{Exchange, ReadingKind};
use std::time::Duration;

/// How many steps of the spread the nearest copy may be away.
const STEPS: u32 = 2;

/// What a busy machine may be late by, however fine the steps are: a twentieth of the time that the
/// request took, as it takes longer there, but no less and no more than this.
const JITTER: [Duration; 2] = [Duration::from_millis(3), Duration::from_millis(10)];

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, around: &Moment) -> Ruling {
    let name = around.of.as_deref().unwrap_or_default();
    let Some((_, reference)) = view.standing(name).last().copied() else {
        return view.never_sent(name);
    };
    let plus = match around.plus.map(|plus| view.span(plus)) {
        None => Duration::ZERO,
        Some(Some(plus)) => plus,
        Some(None) => return Ruling::nothing("the time after the moment is not known"),
    };
    let Some(moment) = moment(view, reference, around.when) else {
        return Ruling::nothing(format!("`{name}` never came to its {}", around.when));
    };
    let moment = moment + plus;
    let mut sent: Vec<(Duration, usize)> = view
        .all(of)
        .into_iter()
        .filter_map(|(index, copy)| Some((copy.times.sent?, index)))
        .collect();
    sent.sort();
    let (Some((from, _)), Some((to, _))) = (sent.first(), sent.last()) else {
        return view.never_sent(of);
    };
    let gaps = u32::try_from(sent.len().saturating_sub(1)).unwrap_or(u32::MAX);
    if gaps == 0 {
        return Ruling::nothing(format!("`{of}` has one copy, which lies on one side only"));
    }
    let took = reference.times.ended.saturating_sub(began(reference));
    let jitter = (took / 20).clamp(JITTER[0], JITTER[1]);
    let reach = ((*to - *from) / gaps * STEPS).max(jitter);
    let before = sent.iter().rfind(|(at, _)| *at <= moment);
    let after = sent.iter().find(|(at, _)| *at > moment);
    let (Some(before), Some(after)) = (before, after) else {
        return Ruling::broken(format!(
            "all of `{of}` was sent {} the {} of `{name}`",
            if after.is_none() { "before" } else { "after" },
            around.when
        ));
    };
    let far = (moment - before.0).max(after.0 - moment);
    if far > reach {
        return Ruling::broken(format!(
            "the nearest of `{of}` was {} away from the {} of `{name}`",
            time(far),
            around.when
        ));
    }
    Ruling::held(format!(
        "`{of}` was sent on both sides of the {} of `{name}`, within {}",
        around.when,
        time(far)
    ))
    .seen_in([before.1, after.1])
}

fn moment(view: &View<'_>, reference: &Exchange, when: When) -> Option<Duration> {
    match when {
        When::Connected => None,
        When::Sent => reference.times.sent,
        When::FirstByte => reference.times.first_byte,
        When::LastByte => reference.times.last_byte,
        When::Ended => Some(reference.times.ended),
        When::Effect => view
            .round
            .readings
            .iter()
            .filter(|reading| {
                reading.kind == ReadingKind::Poll
                    && reading.marker == reference.marker
                    && reading.operation == reference.operation
                    && reading
                        .shows
                        .as_ref()
                        .is_ok_and(|shown| shown.count().is_some_and(|count| count > 0.0))
            })
            .map(|reading| reading.at)
            .min(),
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{contract, judged, paid, reading, round, scenario};
    use crate::scenario::OperationRole;
    use crate::transcript::{Reading, ReadingKind, Shown};
    use crate::verdict::Verdict;
    use serde_json::json;

    /// Copies sent at these times around a first request that ends at 100 ms.
    fn copies(times: &[u64]) -> Verdict {
        let scenario = scenario(
            "steps:\n  - together:\n      - send: { as: first, key: fresh }\n      - burst: { as: edge, like: first, copies: 5, at: { when: sent, of: first, spread: [40% latency, 160% latency] } }\nexpect:\n  item-5:\n    - straddled: { of: edge, around: { when: last-byte, of: first } }\n",
        );
        let first = paid("first", "pay_1").at(0, 100);
        let edge = times
            .iter()
            .zip(0..)
            .map(|(at, copy)| paid("edge", "pay_1").copy(copy).at(*at, at + 5));
        let round = round(std::iter::once(first).chain(edge));
        judged(&scenario, &contract(""), vec![round]).verdict
    }

    #[test]
    fn copies_on_both_sides_straddle_the_moment() {
        assert_eq!(copies(&[80, 90, 99, 110, 120]), Verdict::Pass);
    }

    #[test]
    fn copies_on_one_side_or_too_far_away_do_not() {
        assert_eq!(copies(&[50, 60, 70, 80, 90]), Verdict::Fail);
        assert_eq!(copies(&[110, 120, 130]), Verdict::Fail);
        assert_eq!(copies(&[70, 71, 72, 73, 130]), Verdict::Pass);
        assert_eq!(copies(&[10, 11, 12, 13, 14, 15, 16, 101]), Verdict::Fail);
        assert_eq!(copies(&[99]), Verdict::Inconclusive);
    }

    /// Twenty copies, all but the last at the one time, around a first request from 0 to its end.
    fn tight(end: u64, before: u64, after: u64) -> Verdict {
        let scenario = scenario(
            "steps:\n  - together:\n      - send: { as: first, key: fresh }\n      - burst: { as: edge, like: first, copies: 20, at: { when: sent, of: first, spread: [40% latency, 160% latency] } }\nexpect:\n  item-5:\n    - straddled: { of: edge, around: { when: last-byte, of: first } }\n",
        );
        let edge = (0..20).map(|copy| {
            let at = if copy < 19 { before } else { after };
            paid("edge", "pay_1").copy(copy).at(at, at + 5)
        });
        let first = paid("first", "pay_1").at(0, end);
        let round = round(std::iter::once(first).chain(edge));
        judged(&scenario, &contract(""), vec![round]).verdict
    }

    #[test]
    fn a_busy_machine_may_be_late_by_a_twentieth_of_what_the_request_took() {
        assert_eq!(tight(100, 95, 101), Verdict::Pass);
        assert_eq!(tight(100, 94, 101), Verdict::Fail);
        // By 3 ms at least and 10 ms at most.
        assert_eq!(tight(20, 17, 21), Verdict::Pass);
        assert_eq!(tight(20, 16, 21), Verdict::Fail);
        assert_eq!(tight(1_000, 990, 1_001), Verdict::Pass);
        assert_eq!(tight(1_000, 988, 1_001), Verdict::Fail);
    }

    #[test]
    fn a_copy_that_is_sent_at_the_moment_was_sent_before_what_follows_it() {
        assert_eq!(copies(&[100, 101]), Verdict::Pass);
        assert_eq!(copies(&[99, 100]), Verdict::Fail);
        // Twice the step between two copies is as far as the nearest may be.
        assert_eq!(copies(&[80, 90, 110]), Verdict::Pass);
        assert_eq!(copies(&[60, 69, 101]), Verdict::Pass);
        assert_eq!(copies(&[57, 58, 101]), Verdict::Pass);
        assert_eq!(copies(&[10, 20, 30, 40, 50, 101]), Verdict::Fail);
    }

    #[test]
    fn an_effect_is_that_of_the_request_that_is_meant() {
        let scenario = scenario(
            "steps:\n  - together:\n      - send: { as: first, key: fresh }\n      - burst: { as: edge, like: first, copies: 2, at: { when: effect, of: first, spread: [0ms, 2ms] } }\nexpect:\n  item-5:\n    - straddled: { of: edge, around: { when: effect, of: first } }\n",
        );
        let seen = |change: fn(&mut Reading)| {
            let mut poll = reading(ReadingKind::Poll, &["pay_1"]).taken(50);
            change(&mut poll);
            let round = round([
                paid("first", "pay_1").at(0, 100),
                paid("edge", "pay_1").at(49, 60),
                paid("edge", "pay_1").copy(1).at(51, 60),
            ])
            .read(poll);
            judged(&scenario, &contract(""), vec![round]).verdict
        };
        assert_eq!(seen(|_| {}), Verdict::Pass);
        assert_eq!(
            seen(|poll| poll.marker = "o".to_owned()),
            Verdict::Inconclusive
        );
        assert_eq!(
            seen(|poll| poll.operation = OperationRole::Other),
            Verdict::Inconclusive
        );
        assert_eq!(
            seen(|poll| poll.kind = ReadingKind::Early),
            Verdict::Inconclusive
        );
        assert_eq!(
            seen(|poll| poll.shows = Ok(Shown::Ids(Vec::new()))),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn the_first_poll_that_shows_the_effect_is_the_moment() {
        let scenario = |plus: &str| {
            scenario(&format!(
                "steps:\n  - together:\n      - send: {{ as: first, key: fresh }}\n      - burst: {{ as: edge, like: first, copies: 2, at: {{ when: effect, of: first, spread: [0ms, 2ms] }} }}\nexpect:\n  item-5:\n    - straddled: {{ of: edge, around: {{ when: effect, of: first{plus} }} }}\n"
            ))
        };
        let around = || {
            let poll = |at: u64, ids: &[&str]| reading(ReadingKind::Poll, ids).taken(at);
            round([
                paid("first", "pay_1").at(0, 100),
                paid("edge", "pay_1").at(49, 60),
                paid("edge", "pay_1").copy(1).at(51, 60),
            ])
            .read(poll(10, &[]).shows(Shown::State(json!({"stock": 3}))))
            .read(poll(50, &["pay_1"]))
            .read(poll(90, &["pay_1"]))
        };
        let judged = |plus: &str| judged(&scenario(plus), &contract(""), vec![around()]).verdict;
        assert_eq!(judged(""), Verdict::Pass);
        assert_eq!(judged(", plus: 20ms"), Verdict::Fail, "both came before it");
        assert_eq!(
            judged(", plus: 10% retention"),
            Verdict::Inconclusive,
            "nobody knows how long that is"
        );
    }
}
