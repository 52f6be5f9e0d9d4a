//! One round as the checks see it: its exchanges with the outcomes of the contract that judges.

use super::in_front::was_turned_away;
use super::ruling::{Ruled, Ruling};
use super::{backends, in_time, reclassify::Reclassified, rule};
use crate::contract::{Contract, RetentionClock, gateway};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{
    Amount, Case, Condition, Expectation, PrincipalRole, Quantity, Release, Step, TimeSpan,
};
use crate::transcript::{Exchange, ProbeFacts, Response, Round, Transcript};
use std::collections::BTreeSet;
use std::time::Duration;

/// How many times by which our own short sleeps end late a request may be held up: it passes through
/// several hands, here and at the target, and each of them has to wake up.
const HELD_UP: u32 = 20;
/// How long a request may be held up on the quietest machine.
const LEAST_HELD_UP: Duration = Duration::from_millis(20);

/// One round, and all that a check may look at.
pub(super) struct View<'a> {
    /// The contract that judges.
    pub(super) contract: &'a Contract,
    /// The steps.
    pub(super) case: &'a Case,
    /// What is known beside the rounds.
    pub(super) transcript: &'a Transcript,
    /// The round, its outcomes decided by this contract.
    pub(super) round: &'a Round,
    /// How many of the round's exchanges are its own; what other places did to its keys stands after
    /// those.
    pub(super) own: usize,
    /// For each exchange, the number of the round that it was recorded in, and its place there.
    pub(super) origins: &'a [(u32, usize)],
    /// Retries that would have stopped elsewhere under this contract.
    pub(super) restopped: &'a BTreeSet<String>,
    /// The scenario moves the target's time on purpose, so a retention may run out.
    elapses: bool,
}

impl<'a> View<'a> {
    /// A view of a round.
    pub(super) fn new(
        contract: &'a Contract,
        case: &'a Case,
        transcript: &'a Transcript,
        round: &'a Reclassified,
    ) -> View<'a> {
        View {
            contract,
            case,
            transcript,
            round: &round.round,
            own: round.own,
            origins: &round.origins,
            restopped: &round.restopped,
            elapses: case
                .leaves()
                .any(|step| matches!(step, Step::Elapse { .. })),
        }
    }

    /// The exchanges that stand for a step, with their places: all copies, of a retry its last
    /// attempt.
    pub(super) fn standing(&self, step: &str) -> Vec<(usize, &'a Exchange)> {
        let all = self.all(step);
        match self.case.step(step) {
            Some(Step::Retry { .. }) => all.last().copied().into_iter().collect(),
            _ => all,
        }
    }

    /// All exchanges of a step, with their places.
    pub(super) fn all(&self, step: &str) -> Vec<(usize, &'a Exchange)> {
        self.round
            .exchanges
            .iter()
            .enumerate()
            .filter(|(_, exchange)| exchange.step == step)
            .collect()
    }

    /// Why an expectation is not about this round, if it is not.
    pub(super) fn unmet(&self, condition: &Condition) -> Option<String> {
        let standing = self.standing(&condition.of);
        let met = !standing.is_empty()
            && standing
                .iter()
                .all(|(_, exchange)| exchange.outcome.is_within(condition.is));
        (!met).then(|| format!("`{}` was not {}", condition.of, condition.is))
    }

    /// Whether a step is a burst, of which some copies may be lost.
    pub(super) fn is_burst(&self, step: &str) -> bool {
        matches!(self.case.step(step), Some(Step::Burst { .. }))
    }

    /// Whether a step is the recheck at the end of a run.
    pub(super) fn is_recheck(&self, step: &str) -> bool {
        matches!(self.case.step(step), Some(Step::Recheck { .. }))
    }

    /// The probes that count effects of an operation.
    pub(super) fn counting(
        &self,
        operation: crate::scenario::OperationRole,
    ) -> impl Iterator<Item = &'a ProbeFacts> {
        self.transcript
            .probes
            .iter()
            .filter(move |probe| probe.operation == operation && !probe.is_state)
    }

    /// A request that was sent when the key's retention was over already proves nothing about
    /// repeats; scenarios about expiry excepted, unless the clock moved so late that the retention may
    /// have begun before.
    pub(super) fn outlived(&self, exchange: &Exchange) -> bool {
        let Some(retention) = self.contract.retention else {
            return false;
        };
        if self.elapses {
            return retention.clock == RetentionClock::Completion
                && in_time::moved_too_late(self).is_some_and(|(at, _)| at <= began(exchange));
        }
        let first = self
            .round
            .exchanges
            .iter()
            .filter(|other| same_key(other, exchange) && other.response.is_some())
            .min_by_key(|other| began(other));
        first.is_some_and(|first| {
            let from = match retention.clock {
                RetentionClock::FirstRequest
                | RetentionClock::ClientFirstSent
                | RetentionClock::Unspecified => began(first),
                RetentionClock::Completion => first.times.ended,
            };
            began(exchange) > from + retention.min
        })
    }

    /// Whether the target lets this exchange's sender in, although the role says that it must
    /// not: an API that asks nobody for credentials gives nothing away.
    pub(super) fn lets_in(&self, exchange: &Exchange) -> bool {
        let unwanted = matches!(
            exchange.principal,
            PrincipalRole::Nobody
                | PrincipalRole::Wrong
                | PrincipalRole::Expired
                | PrincipalRole::Revoked
                | PrincipalRole::ReadOnly
        );
        let revoked = self
            .round
            .hooks
            .iter()
            .map(|hook| hook.at)
            .min()
            .unwrap_or_default();
        unwanted
            && self.round.exchanges.iter().any(|other| {
                other.principal == exchange.principal
                    && other.key.value != exchange.key.value
                    && began(other) >= revoked
                    && succeeded(other)
            })
    }

    /// A span in time; `None` where what it is a share of is unknown.
    pub(super) fn span(&self, span: TimeSpan) -> Option<Duration> {
        let (share, of) = match span.0 {
            Amount::Fixed(time) => return Some(time),
            Amount::Share { share, of } => (share, of),
        };
        let whole = match of {
            Quantity::Latency => self.transcript.latency?.p50,
            Quantity::LockTimeout => self.contract.lock_timeout?,
            Quantity::Retention => self.contract.retention?.min,
            Quantity::Settle => self.transcript.settle,
        };
        Some(whole.mul_f64(share))
    }

    /// The time that a share of latency is for one request: its own variants', where they were
    /// measured.
    pub(super) fn span_for(&self, span: TimeSpan, exchange: &Exchange) -> Option<Duration> {
        match span.0 {
            Amount::Share {
                share,
                of: Quantity::Latency,
            } if !exchange.variants.is_empty() => {
                let known = self.transcript.further_latencies.iter().find(|known| {
                    known.operation == exchange.operation && known.variants == exchange.variants
                });
                known.map(|known| known.latency.p50.mul_f64(share))
            }
            _ => self.span(span),
        }
    }

    /// How long a busy machine may have held up a request of this round, or its answer.
    pub(super) fn may_be_late(&self) -> Duration {
        let lateness = self.round.lateness.unwrap_or_default();
        (lateness * HELD_UP).max(LEAST_HELD_UP)
    }

    /// The gravest ruling on the standing requests of a step.
    pub(super) fn gravest_of(&self, of: &str, rule: impl Fn(&Exchange) -> Ruling) -> Ruling {
        let rulings = self
            .standing(of)
            .into_iter()
            .map(|(index, exchange)| rule(exchange).seen_in([index]));
        Ruling::gravest(rulings).unwrap_or_else(|| self.never_sent(of))
    }

    /// Why the round shows nothing about liveness, if it does not.
    pub(super) fn broken_assumption(&self, assume: &[Expectation]) -> Option<String> {
        if let Some(why) = self.round.broken.first() {
            return Some(why.clone());
        }
        if let Some(why) = in_time::too_late(self) {
            return Some(why);
        }
        if let Some(why) = self.no_overlap().or_else(|| backends::missing(self)) {
            return Some(why);
        }
        assume.iter().find_map(|expectation| {
            if expectation
                .unless
                .is_some_and(|promise| self.contract.allows(promise))
            {
                return None;
            }
            match rule(self, &expectation.check).ruled {
                Ruled::Held(_) | Ruled::Void(_) => None,
                Ruled::Broken(why) | Ruled::Nothing(why) | Ruled::Observed(why) => {
                    Some(format!("assumed, but not so: {why}"))
                }
            }
        })
    }

    /// A burst whose copies were answered one after another is no burst.
    fn no_overlap(&self) -> Option<String> {
        self.round.bursts.iter().find_map(|facts| {
            let is_flood = matches!(
                self.case.step(&facts.step),
                Some(Step::Burst {
                    release: Release::Loose,
                    ..
                })
            );
            if facts.copies >= 2 && !is_flood {
                let in_turn = self.transcript.in_turn.clone();
                let why = in_turn.or_else(|| self.mostly_turned_away(&facts.step));
                if why.is_some() {
                    return why;
                }
            }
            let together = match self.case.step(&facts.step) {
                Some(Step::Burst {
                    request, release, ..
                }) => {
                    *release == Release::Together
                        && request.at.as_ref().is_none_or(|at| at.spread.is_none())
                }
                _ => false,
            };
            (together && facts.copies >= 2 && facts.in_flight < 2).then(|| {
                format!(
                    "the burst `{}` did not overlap: its {} requests were answered one after another",
                    facts.step, facts.copies
                )
            })
        })
    }

    /// A burst of which most copies were turned away is none of its size.
    fn mostly_turned_away(&self, step: &str) -> Option<String> {
        let copies = self.round.of(step).count();
        let turned = self
            .round
            .of(step)
            .filter(|own| was_turned_away(own))
            .count();
        let reached = copies - turned;
        (turned > 0 && (reached < 2 || reached < turned)).then(|| {
            format!(
                "of the {copies} copies of `{step}` {turned} were turned away before they reached the API, so that it was tried with {reached} only"
            )
        })
    }

    /// The ruling for a step from which no exchange came.
    pub(super) fn never_sent(&self, step: &str) -> Ruling {
        Ruling::nothing(format!("`{step}` was never sent"))
    }
}

/// When an exchange began to count: when it was sent, else when it was over.
pub(super) fn began(exchange: &Exchange) -> Duration {
    exchange.times.sent.unwrap_or(exchange.times.ended)
}

/// How long it took from the last byte of the request to the end.
pub(super) fn took(exchange: &Exchange) -> Duration {
    exchange.times.ended.saturating_sub(began(exchange))
}

/// A success, and not merely the promise of one.
pub(super) fn succeeded(exchange: &Exchange) -> bool {
    exchange
        .response
        .as_ref()
        .is_some_and(|response| response.success)
        && !exchange.outcome.is_within(Meaning::InFlight.into())
        && exchange
            .outcome
            .is_disjoint(Outcome::of(&[Meaning::Mismatch]))
}

/// Whose key space a role uses: a second session of the owner is the owner.
pub(super) fn key_space(role: PrincipalRole) -> PrincipalRole {
    match role {
        PrincipalRole::OtherSession => PrincipalRole::Owner,
        role => role,
    }
}

/// Whether readings with one principal's credentials show what an exchange's principal may have
/// done: its own, or the owner's for those who have no eyes of their own.
pub(super) fn reads_for(reader: PrincipalRole, principal: PrincipalRole) -> bool {
    let blind = matches!(
        principal,
        PrincipalRole::Nobody
            | PrincipalRole::Wrong
            | PrincipalRole::Expired
            | PrincipalRole::ReadOnly
    );
    key_space(reader) == key_space(principal) || (blind && reader == PrincipalRole::Owner)
}

/// Whether two exchanges use one key in one scope; keyless ones share one per marker.
pub(super) fn same_key(one: &Exchange, other: &Exchange) -> bool {
    let key = match (&one.key.value, &other.key.value) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.marker == other.marker,
        _ => false,
    };
    key && one.operation == other.operation
        && key_space(one.principal) == key_space(other.principal)
}

/// `` `again` ``, or `` `intruder` (nobody) ``, or `` copy 3 of `burst` ``.
pub(super) fn who(exchange: &Exchange) -> String {
    let step = if exchange.copy > 0 {
        format!("copy {} of `{}`", exchange.copy + 1, exchange.step)
    } else {
        format!("`{}`", exchange.step)
    };
    match exchange.principal {
        PrincipalRole::Owner => step,
        role => format!("{step} ({})", role.name()),
    }
}

/// `got 201 and was given pay_1`, or how it ended without a response.
pub(super) fn got(exchange: &Exchange) -> String {
    match &exchange.response {
        None => format!("got no response ({})", exchange.ending.says()),
        Some(Response {
            status,
            identity: Some(identity),
            success: true,
            ..
        }) => format!("got {status} and was given {identity}"),
        Some(response) => format!("got {}", response.status),
    }
}

/// Why an answer says nothing of the API, if something in front gave it in the API's place.
pub(super) fn given_in_front(exchange: &Exchange) -> Option<String> {
    let response = exchange.response.as_ref()?;
    let name = gateway(response)?;
    Some(format!(
        "{} got {} from {name}, in the place of the API's answer",
        who(exchange),
        response.status
    ))
}

/// A small number as a word, as in "two payments".
pub(super) fn number(count: usize) -> String {
    const WORDS: [&str; 11] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    WORDS
        .get(count)
        .map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// A time for people: `31 s`, `1.5 s`, `40 ms`.
pub(super) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 10.0 {
        format!("{seconds:.0} s")
    } else if seconds >= 1.0 {
        format!("{:.1} s", (seconds * 10.0).round() / 10.0).replace(".0 s", " s")
    } else {
        format!("{:.0} ms", seconds * 1000.0)
    }
}

#[cfg(test)]
mod tests;
