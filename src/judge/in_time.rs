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

/// Which of the places over which a case spreads its rounds a round has; without such a spread each
/// round has its own.
pub(super) fn place(case: &Case, rounds: &Rounds, number: u32) -> u32 {
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
        true => number.saturating_sub(1) % rounds.count.max(1),
        false => number,
    }
}
