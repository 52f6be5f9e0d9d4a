//! Whether what was done to the target at a moment came while it still worked on the request that it
//! is about. On a busy machine we see an effect late, hang up later, and the work may be over by then:
//! such a round shows nothing, and says so.

use super::view::{View, began, time};
use crate::hook::HookName;
use crate::scenario::{Amount, Case, Fault, Moment, Quantity, Rounds, Step, TimeSpan, When};
use crate::transcript::{CutFacts, Exchange, ReadingKind};
use std::time::Duration;

/// By what share of the time that a request takes a cut or a hook may come late.
const SHARE: f64 = 0.15;
/// That time at least, and at most.
const LATE: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(50)];
/// The share of its usual time after which a request whose answer cannot be seen may be through.
const NEARLY: f64 = 0.9;
/// How long before the answer to a request the target's clock must have moved at the latest: an answer
/// takes time to get here, and the record may be complete before it.
const BEFORE_ANSWER: Duration = Duration::from_millis(100);

/// Why something came too late to show anything, if it did.
pub(super) fn too_late(view: &View<'_>) -> Option<String> {
    view.round
        .exchanges
        .iter()
        .find_map(|exchange| cut_too_late(view, exchange))
        .or_else(|| killed_too_late(view))
        .or_else(|| moved_too_late(view).map(|(_, why)| why))
}

/// Why a hang-up came too late: the answer was there, or would have been, or its moment was missed.
fn cut_too_late(view: &View<'_>, exchange: &Exchange) -> Option<String> {
    let fault = exchange.fault.as_ref().filter(|fault| fault.fired)?;
    let CutFacts {
        due,
        at,
        answer_there,
    } = fault.cut?;
    let step = &exchange.step;
    let ran = at.saturating_sub(began(exchange));
    let usual = usual(view, exchange);
    let longer = exchange.variants.first().map_or(String::new(), |variant| {
        format!(": a variant `{variant}` that takes longer would show it")
    });
    match answer_there {
        Some(true) => {
            return Some(format!(
                "the answer to `{step}` was there before we hung up{longer}"
            ));
        }
        Some(false) => {}
        None => match usual {
            Some(usual) if ran < usual.mul_f64(NEARLY) => {}
            Some(usual) => {
                return Some(format!(
                    "we hung up on `{step}` after {}, and it is usually answered after {}{longer}",
                    time(ran),
                    time(usual)
                ));
            }
            None => {
                return Some(format!(
                    "we hung up on `{step}` after {}, and how long it takes was not measured",
                    time(ran)
                ));
            }
        },
    }
    let moment = view
        .case
        .step(step)
        .and_then(Step::request)
        .and_then(|request| match &request.fault {
            Some(Fault::HangUp { at, .. }) => Some(at.when),
            _ => None,
        });
    let late = at.saturating_sub(due) + seen_late(view, exchange, moment);
    missed(usual, late).then(|| {
        format!(
            "we hung up on `{step}` up to {} later than was meant",
            time(late)
        )
    })
}

/// Why the server was killed too late: its moment was missed. That the request had been answered is
/// seen by its answer.
fn killed_too_late(view: &View<'_>) -> Option<String> {
    let kills = view
        .round
        .hooks
        .iter()
        .filter(|hook| hook.name == HookName::Kill);
    let moments = view.case.leaves().filter_map(|step| match step {
        Step::Hook {
            run: HookName::Kill,
            at: Some(moment),
            ..
        } => Some(moment),
        _ => None,
    });
    kills
        .filter_map(|hook| Some((hook.at, hook.due?)))
        .zip(moments)
        .find_map(|((at, due), moment)| {
            let (_, exchange) = view.standing(moment.of.as_deref()?).last().copied()?;
            let late = at.saturating_sub(due) + seen_late(view, exchange, Some(moment.when));
            missed(usual(view, exchange), late).then(|| {
                format!(
                    "the server was killed up to {} later than was meant",
                    time(late)
                )
            })
        })
}

/// When the target's clock was moved too close to the answer of a request that was to be running, or
/// after it, and why that shows nothing.
pub(super) fn moved_too_late(view: &View<'_>) -> Option<(Duration, String)> {
    let steps = view.case.leaves().filter_map(|step| match step {
        Step::Elapse {
            at: Some(moment), ..
        } => moment.of.as_deref(),
        _ => None,
    });
    let moves = view
        .round
        .hooks
        .iter()
        .filter(|hook| hook.name == HookName::AdvanceClock && hook.due.is_some());
    moves.zip(steps).find_map(|(hook, step)| {
        let over = hook.over.unwrap_or(hook.at);
        let (_, exchange) = view.standing(step).last().copied()?;
        let answered = exchange.times.first_byte.unwrap_or(exchange.times.ended);
        let wanted = usual(view, exchange).map_or(BEFORE_ANSWER, |usual| BEFORE_ANSWER.max(usual / 2));
        let before = answered.saturating_sub(over);
        (before < wanted).then(|| {
            let why = format!(
                "`{step}` was answered {} after the target's time had moved, and may have been complete before it",
                time(before)
            );
            (hook.at, why)
        })
    })
}

/// By how much later than it came an effect was seen at most.
fn seen_late(view: &View<'_>, exchange: &Exchange, moment: Option<When>) -> Duration {
    if moment != Some(When::Effect) {
        return Duration::ZERO;
    }
    let polls = view.round.readings.iter().filter(|reading| {
        reading.kind == ReadingKind::Poll
            && reading.marker == exchange.marker
            && reading.operation == exchange.operation
    });
    let (mut none, mut some) = (began(exchange), None);
    for reading in polls {
        match reading.shows.as_ref().ok().and_then(|shown| shown.count()) {
            Some(count) if count > 0.0 => some = some.or(Some(reading.at)),
            Some(_) => none = none.max(reading.at),
            None => {}
        }
    }
    some.map_or(Duration::ZERO, |some| some.saturating_sub(none))
}

fn missed(usual: Option<Duration>, late: Duration) -> bool {
    let allowed = usual.map_or(LATE[0], |usual| {
        usual.mul_f64(SHARE).clamp(LATE[0], LATE[1])
    });
    late > allowed
}

/// How long such a request usually takes.
fn usual(view: &View<'_>, exchange: &Exchange) -> Option<Duration> {
    let whole = TimeSpan(Amount::Share {
        share: 1.0,
        of: Quantity::Latency,
    });
    view.span_for(whole, exchange).or_else(|| view.span(whole))
}

/// Which of the places over which a case spreads its rounds a round has, by its number; without such a
/// spread each round has its own, by where it stands.
pub(super) fn place(case: &Case, plan: &Rounds, number: u32, index: usize) -> usize {
    let spreads = |moment: &Option<Moment>| {
        moment
            .as_ref()
            .is_some_and(|moment| moment.spread.is_some())
    };
    let is_spread = case.leaves().any(|step| match step {
        Step::Burst { .. } => false,
        Step::Hook { at, .. } | Step::Elapse { at, .. } => spreads(at),
        step => step.request().is_some_and(|request| {
            spreads(&request.at)
                || matches!(&request.fault, Some(Fault::HangUp { at, .. }) if at.spread.is_some())
        }),
    });
    match is_spread {
        true => (number.saturating_sub(1) % plan.count.max(1)) as usize,
        false => index,
    }
}

#[cfg(test)]
mod tests {
    use crate::hook::HookName;
    use crate::judge::sample::{
        contract, judged, judged_with, millis, paid, reading, round, scenario, sent, transcript,
    };
    use crate::judge::so_far;
    use crate::scenario::{OperationRole, PrincipalRole, Scenario};
    use crate::transcript::{
        Exchange, Latency, LatencyOf, Reading, ReadingKind, Round, Transcript,
    };
    use crate::verdict::Verdict;
    use std::time::Duration;

    /// A request that usually takes 400 ms and is hung up on when its effect is seen.
    fn lost(rounds: &str, spread: &str) -> Scenario {
        scenario(&format!(
            "rounds: {rounds}\nsteps:\n  - send: {{ as: gone, key: fresh, variant: lingers, fault: {{ hang-up: {{ when: effect{spread} }} }} }}\n  - retry: {{ as: again, like: gone }}\nexpect:\n  item-5:\n    - effects: {{ at-most: 1 }}\n"
        ))
    }

    fn lasting(variant: &str, took: u64, rounds: Vec<Round>) -> Transcript {
        Transcript {
            further_latencies: vec![LatencyOf {
                operation: OperationRole::Subject,
                principal: PrincipalRole::Owner,
                variants: vec![variant.to_owned()],
                latency: Latency {
                    p50: millis(took),
                    p99: millis(took),
                },
            }],
            ..transcript(rounds)
        }
    }

    fn gone() -> Exchange {
        sent("gone").variant("lingers")
    }

    /// One round: hung up on `gone`, while polls showed no effect until the one time and one from the
    /// other on.
    fn hung_up(gone: Exchange, none: u64, some: u64) -> Round {
        round([gone, paid("again", "pay_1").at(1_000, 1_005)])
            .read(reading(ReadingKind::Poll, &[]).taken(none))
            .read(reading(ReadingKind::Poll, &["pay_1"]).taken(some))
            .late(&["pay_1"])
    }

    fn verdict(gone: Exchange, none: u64, some: u64) -> (Verdict, String) {
        let transcript = lasting("lingers", 400, vec![hung_up(gone, none, some)]);
        let judged = judged_with(&lost("1", ""), &contract(""), &transcript);
        (judged.verdict, judged.reason)
    }

    #[test]
    fn a_hang_up_counts_while_no_answer_is_there() {
        let cut = |answer| gone().at(0, 30).hung_up(25, answer);
        assert_eq!(verdict(cut(Some(false)), 10, 25).0, Verdict::Pass);
        let (there, why) = verdict(cut(Some(true)), 10, 25);
        assert_eq!(there, Verdict::Inconclusive);
        assert_eq!(
            why,
            "the answer to `gone` was there before we hung up: a variant `lingers` that takes longer would show it"
        );
    }

    #[test]
    fn where_the_answer_cannot_be_seen_its_usual_time_decides() {
        let cut = |at: u64| gone().at(0, at).hung_up(at, None);
        assert_eq!(verdict(cut(359), 350, 359).0, Verdict::Pass);
        let (late, why) = verdict(cut(360), 350, 360);
        assert_eq!(late, Verdict::Inconclusive);
        assert!(
            why.contains("after 360 ms, and it is usually answered after 400 ms"),
            "{why}"
        );
        let mut unknown = lasting("lingers", 400, vec![hung_up(cut(10), 5, 10)]);
        unknown.further_latencies.clear();
        unknown.latency = None;
        let judged = judged_with(&lost("1", ""), &contract(""), &unknown);
        assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
    }

    #[test]
    fn a_hang_up_that_missed_its_moment_shows_nothing() {
        // 50 ms is what a request of 400 ms may be late by.
        for (none, some, due, at, wanted) in [
            (10, 20, 20, 60, Verdict::Pass),
            (10, 20, 20, 61, Verdict::Inconclusive),
            (10, 60, 60, 60, Verdict::Pass),
            (9, 60, 60, 60, Verdict::Inconclusive),
        ] {
            let gone = gone().at(0, at).hung_up(due, Some(false));
            let (verdict, why) = verdict(gone, none, some);
            assert_eq!(verdict, wanted, "{none} {some} {due} {at}: {why}");
        }
    }

    #[test]
    fn a_second_effect_fails_however_late_the_hang_up_came() {
        let gone = gone().at(0, 500).hung_up(20, Some(true));
        let mut round = hung_up(gone, 10, 20);
        round
            .readings
            .push(reading(ReadingKind::Late, &["pay_1", "pay_2"]));
        let transcript = lasting("lingers", 400, vec![round]);
        let judged = judged_with(&lost("1", ""), &contract(""), &transcript);
        assert_eq!(judged.verdict, Verdict::Fail);
    }

    #[test]
    fn rounds_at_one_place_of_a_spread_count_once() {
        let scenario = lost(
            "{ count: 5, valid: 3, up-to: 15 }",
            ", spread: [0ms, 200ms]",
        );
        let good = |number: u32| {
            let gone = gone().at(0, 30).hung_up(25, Some(false));
            hung_up(gone, 10, 25).numbered(number)
        };
        for (numbers, wanted) in [
            (vec![1, 6, 11], Verdict::Inconclusive),
            (vec![1, 2, 7], Verdict::Inconclusive),
            (vec![1, 2, 8], Verdict::Pass),
        ] {
            let rounds: Vec<Round> = numbers.iter().copied().map(good).collect();
            let transcript = lasting("lingers", 400, rounds);
            let judged = judged_with(&scenario, &contract(""), &transcript);
            assert_eq!(judged.verdict, wanted, "{numbers:?}: {}", judged.reason);
            let shown = so_far(&scenario, &scenario.cases[0], &contract(""), &transcript).shown;
            assert_eq!(shown == 3, wanted == Verdict::Pass, "{numbers:?}: {shown}");
        }
    }

    #[test]
    fn a_server_that_is_killed_late_shows_nothing() {
        let scenario = scenario(
            "steps:\n  - together:\n      - send: { as: cut, key: fresh }\n      - hook: { run: kill, at: { when: sent, of: cut } }\n  - retry: { as: again, like: cut }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n",
        );
        for (at, wanted) in [(20, Verdict::Pass), (21, Verdict::Inconclusive)] {
            let round = round([sent("cut").at(0, 30), paid("again", "pay_1")])
                .killed(at)
                .timed(0, 40)
                .late(&["pay_1"]);
            let judged = judged(&scenario, &contract(""), vec![round]);
            assert_eq!(judged.verdict, wanted, "{}", judged.reason);
        }
    }

    fn moving(check: &str) -> Scenario {
        scenario(&format!(
            "steps:\n  - together:\n      - send: {{ as: first, key: fresh, variant: slow }}\n      - elapse: {{ time: 20% retention, at: {{ when: sent, of: first, plus: 20% latency }} }}\n  - elapse: 90% retention\n  - send: {{ as: again, like: first }}\nexpect:\n  item-5:\n    - {check}\n"
        ))
    }

    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// A request, the clock moved by a fifth of the retention while it runs, and by nine tenths later;
    /// then the same again, which executes.
    fn moved(answered: u64, again: Exchange) -> Transcript {
        let first = paid("first", "pay_1").variant("slow").at(0, answered);
        let round = round([first, again.at(1_000, 1_005)])
            .moved(40, DAY / 5)
            .timed(40, 50)
            .moved(600, DAY / 10 * 9)
            .late(&["pay_1", "pay_2"]);
        lasting("slow", 200, vec![round])
    }

    #[test]
    fn a_clock_that_moved_as_the_answer_came_tells_nothing_of_the_retention() {
        let demo = contract("extends: demo\nretention: { min: 24h, max: 24h, clock: completion }");
        for check in [
            "effects: { at-most: 1 }",
            "outcome: { of: again, never: executed }",
            "keeps: { promise: retention, of: again }",
            "one-resource: { of: [first, again] }",
        ] {
            let scenario = moving(check);
            // What is answered 100 ms after the move was surely not complete before it.
            for (answered, wanted) in [(149, Verdict::Inconclusive), (150, Verdict::Fail)] {
                let transcript = moved(answered, paid("again", "pay_2"));
                let judged = judged_with(&scenario, &demo, &transcript);
                assert_eq!(
                    judged.verdict, wanted,
                    "{check} {answered}: {}",
                    judged.reason
                );
            }
        }
    }

    #[test]
    fn what_other_readings_show_makes_no_hang_up_late() {
        // Seen at once, by a reading of its own; the others seem to show that it came long before.
        let late = |change: fn(&mut Reading)| {
            let mut none = reading(ReadingKind::Poll, &[]).taken(195);
            change(&mut none);
            let round = round([
                gone().at(0, 200).hung_up(200, Some(false)),
                paid("again", "pay_1").at(1_000, 1_005),
            ])
            .read(none)
            .read(reading(ReadingKind::Poll, &["pay_1"]).taken(200))
            .late(&["pay_1"]);
            let transcript = lasting("lingers", 400, vec![round]);
            judged_with(&lost("1", ""), &contract(""), &transcript).verdict
        };
        assert_eq!(late(|_| {}), Verdict::Pass);
        assert_eq!(
            late(|none| none.kind = ReadingKind::Early),
            Verdict::Inconclusive
        );
        assert_eq!(
            late(|none| none.marker = "o".to_owned()),
            Verdict::Inconclusive
        );
        let other = |none: &mut Reading| none.operation = OperationRole::Other;
        assert_eq!(late(other), Verdict::Inconclusive);
    }

    #[test]
    fn what_was_seen_of_another_marker_makes_no_hang_up_late() {
        // The effect of another request was there from the start; this one's came just before.
        let with = |others: u64| {
            let mut seen = reading(ReadingKind::Poll, &["pay_other"]).taken(others);
            seen.marker = "o".to_owned();
            let round = round([
                gone().at(0, 200).hung_up(200, Some(false)),
                paid("again", "pay_1").at(1_000, 1_005),
            ])
            .read(seen)
            .read(reading(ReadingKind::Poll, &[]).taken(100))
            .read(reading(ReadingKind::Poll, &["pay_1"]).taken(200))
            .late(&["pay_1"]);
            let transcript = lasting("lingers", 400, vec![round]);
            judged_with(&lost("1", ""), &contract(""), &transcript).verdict
        };
        assert_eq!(with(1), Verdict::Inconclusive, "seen up to 100 ms late");
    }

    #[test]
    fn only_a_kill_can_be_too_late_for_a_kill() {
        let scenario = scenario(
            "steps:\n  - together:\n      - send: { as: cut, key: fresh }\n      - hook: { run: kill, at: { when: sent, of: cut } }\n  - retry: { as: again, like: cut }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n",
        );
        // Another hook with a moment of its own ran before the server was killed in time.
        for (kill, wanted) in [(10, Verdict::Pass), (40, Verdict::Inconclusive)] {
            for (other, name) in [(0, HookName::Start), (60, HookName::AdvanceClock)] {
                let mut round = round([sent("cut").at(0, 30), paid("again", "pay_1")])
                    .killed(other)
                    .timed(0, other)
                    .killed(kill)
                    .timed(0, kill + 5)
                    .late(&["pay_1"]);
                round.hooks[0].name = name;
                let judged = judged(&scenario, &contract(""), vec![round]);
                assert_eq!(judged.verdict, wanted, "{other} {kill}: {}", judged.reason);
            }
        }
    }

    #[test]
    fn only_a_move_with_a_moment_can_be_too_late() {
        let demo = contract("extends: demo\nretention: { min: 24h, max: 24h, clock: completion }");
        let scenario = moving("effects: { at-most: 1 }");
        // The move in time stands behind one without a moment, and behind another hook with one.
        for (name, due) in [
            (HookName::AdvanceClock, None),
            (HookName::Start, Some(millis(140))),
        ] {
            for (answered, wanted) in [(240, Verdict::Fail), (120, Verdict::Inconclusive)] {
                let mut transcript = moved(answered, paid("again", "pay_2"));
                let mut other = transcript.rounds[0].hooks[0].clone();
                other.name = name;
                other.due = due;
                other.at = millis(230);
                other.over = Some(millis(235));
                transcript.rounds[0].hooks.insert(0, other);
                let judged = judged_with(&scenario, &demo, &transcript);
                assert_eq!(
                    judged.verdict, wanted,
                    "{name:?} {answered}: {}",
                    judged.reason
                );
            }
        }
    }

    #[test]
    fn an_answer_comes_half_its_usual_time_after_the_clock_moved() {
        let demo = contract("extends: demo\nretention: { min: 24h, max: 24h, clock: completion }");
        let scenario = moving("effects: { at-most: 1 }");
        let judged = |usual: u64, answered: u64| {
            let mut transcript = moved(answered, paid("again", "pay_2"));
            transcript.further_latencies[0].latency.p50 = millis(usual);
            judged_with(&scenario, &demo, &transcript).verdict
        };
        assert_eq!(judged(100, 150), Verdict::Fail, "100 ms at least");
        assert_eq!(judged(100, 149), Verdict::Inconclusive);
        assert_eq!(judged(400, 250), Verdict::Fail);
        assert_eq!(judged(400, 249), Verdict::Inconclusive);
    }

    #[test]
    fn a_retention_that_counts_from_the_request_is_not_moved_by_a_late_clock() {
        let from_request =
            contract("extends: demo\nretention: { min: 24h, max: 24h, clock: first-request }");
        let scenario = moving("effects: { at-most: 1 }");
        let transcript = moved(60, paid("again", "pay_2"));
        let judged = judged_with(&scenario, &from_request, &transcript);
        assert_eq!(judged.verdict, Verdict::Fail, "{}", judged.reason);
    }

    #[test]
    fn a_late_clock_excuses_only_what_came_after_it() {
        let demo = contract("extends: demo\nretention: { min: 24h, max: 24h, clock: completion }");
        let scenario = moving("effects: { at-most: 1 }");
        let mut transcript = moved(60, paid("again", "pay_2").at(0, 0));
        transcript.rounds[0].exchanges[1] = paid("again", "pay_2").at(30, 35);
        let judged = judged_with(&scenario, &demo, &transcript);
        assert_eq!(judged.verdict, Verdict::Fail, "{}", judged.reason);
    }
}
