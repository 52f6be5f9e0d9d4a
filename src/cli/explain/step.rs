//! Steps in words: one sentence each.

use super::request::{moment, request};
use crate::scenario::{LookedUp, Receiving, Release, Step, Until, Wait};

/// One line for each step, with its number; those of a `together` are lines of their own.
pub(super) fn steps(steps: &[Step]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        lines.push(format!("{}. {}", index + 1, sentence(step)));
        if let Step::Together(inner) = step {
            lines.extend(inner.iter().map(|step| format!("   - {}", sentence(step))));
        }
    }
    lines
}

fn sentence(step: &Step) -> String {
    match step {
        Step::Send {
            request: own,
            times,
        } => {
            let times = match times {
                0 | 1 => String::new(),
                more => format!(", {more} times one after another"),
            };
            format!("Send `{}`: {}{times}.", own.name, request(own))
        }
        Step::Burst {
            request: own,
            copies,
            release,
            stop_at,
        } => {
            let copies: Vec<String> = copies.iter().map(u32::to_string).collect();
            let rotate = if copies.len() > 1 {
                ", by turns of the rounds"
            } else {
                ""
            };
            let how = match release {
                _ if own.at.as_ref().is_some_and(|at| at.spread.is_some()) => "",
                Release::Together => ", released together",
                Release::Loose => ", as fast as the limits allow",
            };
            let stop = stop_at
                .map(|outcome| format!(", until one is answered with {outcome}"))
                .unwrap_or_default();
            format!(
                "Send {} copies of `{}`{how}{rotate}: {}{stop}.",
                copies.join(" or "),
                own.name,
                request(own)
            )
        }
        Step::Retry {
            request: own,
            until,
            every,
            patience,
        } => {
            let until = match until {
                Until::Final => "until the answer is final",
                Until::NotInFlight => "until it is neither in flight nor rate-limited",
            };
            format!(
                "Retry `{}` {until}, every {}, for {} at most: {}.",
                own.name,
                humantime::format_duration(*every),
                humantime::format_duration(*patience),
                request(own)
            )
        }
        Step::Together(_) => "At once:".to_owned(),
        Step::Wait(Wait::Settled) => {
            "Wait until nothing runs and the effects have stopped changing.".to_owned()
        }
        Step::Wait(Wait::OwnRetries) => {
            "Wait until the receiver has tried again by itself, where it does so.".to_owned()
        }
        Step::Wait(Wait::For(time)) => format!("Wait {time}."),
        Step::Wait(Wait::RetryAfter(step)) => {
            format!("Wait as long as the response to `{step}` asks for.")
        }
        Step::Wait(Wait::Arrivals { count, patience }) => format!(
            "Wait until {} of events arrived, for {} at most.",
            match count {
                1 => "one delivery".to_owned(),
                more => format!("{more} deliveries"),
            },
            humantime::format_duration(*patience)
        ),
        Step::Wait(Wait::Deliveries { count, patience }) => format!(
            "Wait until our receiver has taken {} of events, for {} at most.",
            match count {
                1 => "one delivery".to_owned(),
                more => format!("{more} deliveries"),
            },
            humantime::format_duration(*patience)
        ),
        Step::Elapse { time, at: None } => format!("Let {time} pass in the target."),
        Step::Elapse { time, at: Some(at) } => {
            format!("Let {time} pass in the target, {}.", moment(at, "it"))
        }
        Step::Read { name } => format!("Read all probes, as `{name}`."),
        Step::Signals { name } => {
            format!("Read the counts that the API keeps of itself, as `{name}`.")
        }
        Step::Prepare { name, principal } => format!(
            "Ask for what the operation needs beforehand, as `{name}`, as {}.",
            principal.name()
        ),
        Step::Hook { run, at, undo } => {
            let at = at
                .as_ref()
                .map(|at| format!(" {}", moment(at, "it")))
                .unwrap_or_default();
            let undo = undo
                .map(|undo| format!("; at the end `{}` undoes it", undo.name()))
                .unwrap_or_default();
            format!("Run the hook `{}`{at}{undo}.", run.name())
        }
        Step::Cleanup { of } => format!("Remove what `{of}` made."),
        Step::Lookup(lookup) => {
            let what = match &lookup.what {
                LookedUp::Step(step) => format!("the operation of `{step}`"),
                LookedUp::Key(_) => "an operation that never was".to_owned(),
            };
            let who = lookup
                .principal
                .map(|principal| format!(" as {}", principal.name()))
                .unwrap_or_default();
            format!(
                "Look up {what} by its {}{who}, as `{}`.",
                lookup.by.name(),
                lookup.name
            )
        }
        Step::Sink {
            name,
            answer,
            times,
            outage,
        } => {
            let how = match answer {
                Receiving::Ok => "takes",
                Receiving::Error => "answers 500 to",
                Receiving::HangUp => "hangs up on",
                Receiving::Stall => "leaves unanswered",
            };
            let which = match times {
                _ if *outage => {
                    "all deliveries, from the first one on and for the outage that the target survives,"
                        .to_owned()
                }
                1 => "the next delivery".to_owned(),
                more => format!("the next {more} deliveries"),
            };
            let name = name
                .as_ref()
                .map(|name| format!(", as `{name}`"))
                .unwrap_or_default();
            format!("Our receiver {how} {which} of an event{name}.")
        }
        Step::Recheck { name, at_most } => format!(
            "Send every key of the run that is still remembered once more, {at_most} at most, as `{name}`."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;
    use crate::scenario::{Step, TimeSpan, Wait};

    #[test]
    fn a_wait_says_how_long() {
        let wait = Step::Wait(Wait::For(TimeSpan::from_text("2s").expect("a time")));
        assert_eq!(sentence(&wait), "Wait 2s.");
    }
}
