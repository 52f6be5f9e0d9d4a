//! A target that refuses requests for their rate, or for its load, is left alone before it gets more.

use super::Runner;
use super::round::{CaseContext, Played, Ran};
use super::spare::{has_no_room, was_turned_off};
use super::world::World;
use crate::outcome::Meaning;
use crate::plan::PlannedCase;
use crate::scenario::{Case, Release, Step};
use crate::transcript::{Exchange, PauseFacts, Response, Round, Transcript};
use std::time::Duration;

/// The longest that one pause lasts, whatever the target asks for.
pub(super) const LONGEST: Duration = Duration::from_secs(10);
/// How long it lasts where the target asks for none.
const UNASKED: Duration = Duration::from_millis(500);
/// Once the pauses of a case have come to so much it makes no rounds beyond the planned ones.
const IN_ALL: Duration = Duration::from_secs(30);

/// No round begins for as long as the target asked in this one, if it refused a part of its bursts.
/// Several places begin their rounds at agreed times, and far from one another: they do not wait.
pub(super) fn back_off(world: &World, case: &Case, before: &[Ran], played: &mut Played) {
    if let Played::Through(ran) = played
        && world.vantage.is_none()
        && let Some(mut pause) = pause_after(case, &ran.round)
    {
        let waited = pauses(before).map(|pause| pause.waited).sum::<Duration>();
        pause.enough = waited + pause.waited >= IN_ALL;
        world.leave_alone(pause.waited);
        ran.round.pause = Some(pause);
    }
}

/// Whether the rounds of a case have waited for as long as a case may.
pub(super) fn has_waited_enough(rounds: &[Ran]) -> bool {
    pauses(rounds).any(|pause| pause.enough)
}

fn pauses(rounds: &[Ran]) -> impl Iterator<Item = &PauseFacts> {
    rounds.iter().filter_map(|ran| ran.round.pause.as_ref())
}

/// How long to leave the target alone after a round; `None` where it took all copies of the bursts.
/// A burst that is there to be refused does not count.
fn pause_after(case: &Case, round: &Round) -> Option<PauseFacts> {
    let copies = || {
        round.exchanges.iter().filter(|exchange| {
            matches!(
                case.step(&exchange.step),
                Some(Step::Burst { release, .. }) if *release != Release::Loose
            )
        })
    };
    // A server that was ended closes connections too.
    let closed = copies().filter(|copy| round.hooks.is_empty() && was_turned_off(copy));
    let refused = || copies().filter(|copy| copy.was_refused());
    let (refusals, closed) = (refused().count() as u32, closed.count() as u32);
    let asked = refused().filter_map(asked_pause).max();
    (refusals + closed > 0).then(|| PauseFacts {
        refused: refusals,
        closed,
        asked,
        waited: asked.unwrap_or(UNASKED).min(LONGEST),
        enough: false,
    })
}

fn asked_pause(exchange: &Exchange) -> Option<Duration> {
    exchange.response.as_ref().and_then(Response::asked_pause)
}

impl Runner {
    /// A round that could show nothing since single requests were turned away is run again: for their
    /// rate, with fewer of them at a time; or for the connections that were open, without those that
    /// have nothing to do.
    pub(super) async fn once_more<'a>(
        &self,
        planned: &PlannedCase,
        context: &'a CaseContext<'a>,
        so_far: &Transcript,
        mut played: Played,
    ) -> Played {
        for _ in 0..TURNED_AWAY {
            let Played::Through(ran) = &played else {
                break;
            };
            let case = &planned.scenario.cases[planned.case];
            let (refused, crowded) = (
                were_turned_away(case, &ran.round),
                found_no_room(case, &ran.round),
            );
            if self.world.is_stopped()
                || !(refused || crowded)
                || self.so_far(planned, so_far, [&ran.round]).harmed
            {
                break;
            }
            if refused {
                self.world.slow_down();
                let asked = ran.round.exchanges.iter().filter_map(asked_pause).max();
                tokio::time::sleep(self.world.rest(asked)).await;
            } else {
                self.world.spare.give_up();
            }
            played = context.round(ran.round.number).await;
        }
        played
    }
}

/// How often a round is run again in which single requests were turned away.
const TURNED_AWAY: u32 = 3;

/// Whether requests that were no part of a burst were turned away for their rate, in a case that is not
/// about that.
fn were_turned_away(case: &Case, round: &Round) -> bool {
    let provokes = case.leaves().any(|step| {
        matches!(
            step,
            Step::Burst {
                release: Release::Loose,
                ..
            }
        )
    });
    !provokes
        && round.exchanges.iter().any(|exchange| {
            exchange.outcome.is_within(Meaning::RateLimited.into())
                && !is_burst(case, &exchange.step)
        })
}

/// Whether a request that was no part of a burst found no room, while nothing was ended on purpose.
fn found_no_room(case: &Case, round: &Round) -> bool {
    let mut alone = round.exchanges.iter();
    round.hooks.is_empty()
        && alone.any(|exchange| has_no_room(exchange) && !is_burst(case, &exchange.step))
}

fn is_burst(case: &Case, step: &str) -> bool {
    matches!(case.step(step), Some(Step::Burst { .. }))
}

#[cfg(test)]
mod tests {
    use super::{Duration, LONGEST, UNASKED, pause_after};
    use crate::outcome::Meaning;
    use crate::scenario::{Case, parse};
    use crate::transcript::{Ending, Exchange, Round};
    use crate::yaml::Source;
    use std::sync::Arc;

    fn case(release: &str) -> Case {
        let text = format!(
            "title: A test\nsteps:\n  - send: {{ as: first, key: fresh }}\n  - burst: {{ as: burst, like: first, copies: 5{release} }}\nexpect:\n  item-5:\n    - effects: {{ at-most: 1 }}\n"
        );
        let source = Source {
            name: "test.yaml".to_owned(),
            text,
        };
        let scenario = parse("own/test", Arc::new(source), false);
        scenario.expect("a sound scenario").cases.remove(0)
    }

    fn answered(step: &str, status: u16, retry_after: Option<&str>, meant: Meaning) -> Exchange {
        let headers: Vec<(&str, &str)> = retry_after
            .map(|value| ("Retry-After", value))
            .into_iter()
            .collect();
        let recorded = serde_json::json!({
            "step": step, "copy": 0, "attempt": 0, "operation": "subject", "principal": "owner",
            "marker": "m", "marker_name": "main", "key": { "value": "k", "malformed": false },
            "variants": [], "forms": [],
            "request": { "method": "POST", "url": "http://h/", "headers": [], "intent": "i", "reworded": false },
            "micros": { "sent": 0, "ended": 5 }, "ending": "answered", "delivery": "response-seen",
            "fault": null, "late": null, "outcome": [],
            "response": {
                "status": status, "headers": headers, "body": "", "body_length": 0, "body_digest": "",
                "json": null, "stable_json": null, "volatile_headers": [], "success": status < 300, "tokens": []
            }
        });
        let exchange: Exchange = serde_json::from_value(recorded).expect("a recorded exchange");
        Exchange {
            outcome: meant.into(),
            ..exchange
        }
    }

    fn round(exchanges: Vec<Exchange>) -> Round {
        Round {
            exchanges,
            ..Round::default()
        }
    }

    #[test]
    fn a_round_waits_for_as_long_as_it_was_asked_and_no_longer_than_is_sensible() {
        let waited = |retry_after: Option<&str>| {
            let limited = answered("burst", 429, retry_after, Meaning::RateLimited);
            let pause = pause_after(&case(""), &round(vec![limited])).expect("it was refused");
            assert_eq!((pause.refused, pause.closed), (1, 0));
            (pause.asked, pause.waited)
        };
        let two = Duration::from_secs(2);
        assert_eq!(waited(Some("2")), (Some(two), two));
        assert_eq!(
            waited(Some("3600")),
            (Some(Duration::from_secs(3600)), LONGEST)
        );
        assert_eq!(waited(None), (None, UNASKED));
        assert_eq!(waited(Some("soon")), (None, UNASKED));
    }

    #[test]
    fn an_overloaded_target_is_left_alone_and_a_broken_one_is_not() {
        let pause = |exchange| pause_after(&case(""), &round(vec![exchange]));
        let overloaded = answered("burst", 503, Some("1"), Meaning::ServerError);
        assert_eq!(
            pause(overloaded).map(|own| own.waited),
            Some(Duration::from_secs(1))
        );
        assert_eq!(
            pause(answered("burst", 503, None, Meaning::ServerError)),
            None
        );
        assert_eq!(
            pause(answered("burst", 500, Some("1"), Meaning::ServerError)),
            None
        );
        // A contract may answer so what is still in progress.
        assert_eq!(
            pause(answered("burst", 429, Some("1"), Meaning::InFlight)),
            None
        );
        assert_eq!(pause(answered("burst", 201, None, Meaning::Executed)), None);
        let mut closed = answered("burst", 201, None, Meaning::Executed);
        closed.ending = Ending::ClosedByTarget("it closed".to_owned());
        assert_eq!(
            pause(closed).map(|own| (own.refused, own.closed)),
            Some((0, 1))
        );
    }

    #[test]
    fn what_is_no_burst_or_is_there_to_be_refused_asks_for_no_pause() {
        let limited = |step| round(vec![answered(step, 429, Some("1"), Meaning::RateLimited)]);
        assert_eq!(pause_after(&case(""), &limited("first")), None);
        assert_eq!(
            pause_after(&case(", release: loose"), &limited("burst")),
            None
        );
        assert!(pause_after(&case(""), &limited("burst")).is_some());
    }
}
