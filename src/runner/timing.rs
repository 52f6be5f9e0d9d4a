//! Times and moments of a round: what a share of a latency is now, and when a moment comes.

use super::case::succeeding;
use super::pace::Pace;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use super::world::BaselineKey;
use crate::contract::Contract;
use crate::scenario::{Amount, Case, Moment, OperationRole, Quantity, Step, TimeSpan, When};
use crate::transcript::Transcript;
use std::time::{Duration, Instant};

impl RoundRun<'_> {
    /// The measured time to answer of such a request.
    pub(super) fn baseline_latency(&self, spec: &Spec) -> Option<Duration> {
        let operation = self.context.cast.name(spec.operation).ok()?.to_owned();
        let principal = spec.principal.stand_in();
        let baselines = self.world().baselines.try_lock().ok()?;
        let key = BaselineKey {
            operation,
            principal,
            variants: spec.variants.clone(),
        };
        // One that is to fail has none of its own: it takes as long as it would without failing.
        let working = BaselineKey {
            variants: succeeding(&spec.variants),
            ..key.clone()
        };
        let plain = BaselineKey {
            variants: Vec::new(),
            ..key.clone()
        };
        let known = [key, working, plain]
            .iter()
            .find_map(|key| baselines.get(key))?
            .get()?;
        known.latency.map(|latency| latency.p50)
    }

    /// A span as a time. Latency is that of the step named, as measured in this scenario's rounds,
    /// else at the baseline.
    pub(super) fn time(&self, span: TimeSpan, of: Option<&str>) -> Result<Duration, String> {
        let (share, quantity) = match span.0 {
            Amount::Fixed(time) => return Ok(time),
            Amount::Share { share, of } => (share, of),
        };
        let contract = self.context.contract(OperationRole::Subject);
        let whole = match quantity {
            Quantity::Settle => self.settle_time(),
            Quantity::Retention => match contract.retention {
                Some(retention) => {
                    if share >= 1.0 {
                        retention.max.unwrap_or(retention.min)
                    } else {
                        retention.min
                    }
                }
                None => return Err("the contract declares no retention".to_owned()),
            },
            Quantity::LockTimeout => contract
                .lock_timeout
                .ok_or("the contract declares no lock-timeout")?,
            Quantity::Latency => {
                let step = of.unwrap_or_default();
                let paces = locked(&self.context.measured);
                let measured = paces.get(step).map(Pace::latency);
                drop(paces);
                let spec = locked(&self.names).first_spec(step).cloned();
                measured
                    .or_else(|| self.baseline_latency(&spec?))
                    .ok_or_else(|| format!("the latency of `{step}` was not measured"))?
            }
        };
        Ok(whole.mul_f64(share))
    }

    /// When the last copy of a burst comes that is spread over a span: behind the end of a hindered request
    /// too.
    pub(super) fn far_end(&self, span: TimeSpan, of: &str) -> Result<Duration, String> {
        let pace = locked(&self.context.measured).get(of).copied();
        match (span.0, pace) {
            (
                Amount::Share {
                    share,
                    of: Quantity::Latency,
                },
                Some(pace),
            ) => Ok(pace.share(share)),
            _ => self.time(span, Some(of)),
        }
    }

    /// Where in its spread a round stands: evenly from first to last.
    pub(super) fn spread_point(
        &self,
        spread: &[TimeSpan; 2],
        of: &str,
    ) -> Result<Duration, String> {
        let from = self.time(spread[0], Some(of))?;
        let to = self.time(spread[1], Some(of))?;
        let rounds = self.context.scenario.rounds.count.max(2);
        let place = f64::from((self.number - 1) % rounds) / f64::from(rounds - 1);
        Ok(from + to.saturating_sub(from).mul_f64(place))
    }

    /// How long after the event a moment is.
    pub(super) fn offset(&self, moment: &Moment, itself: &str) -> Result<Duration, String> {
        let of = moment.of.as_deref().unwrap_or(itself);
        match (&moment.plus, &moment.spread) {
            (_, Some(spread)) => self.spread_point(spread, of),
            (Some(plus), None) => self.time(*plus, Some(of)),
            (None, None) => Ok(Duration::ZERO),
        }
    }

    /// Waits for a moment and says when it was. The error says that it never came.
    pub(super) async fn until(&self, moment: &Moment) -> Result<Instant, String> {
        let of = moment.of.as_deref().unwrap_or_default();
        let Some(came) = self.board.wait(of, moment.when).await else {
            return Err(never_came(moment));
        };
        let due = came + self.offset(moment, of)?;
        tokio::time::sleep_until(due.into()).await;
        Ok(due)
    }
}

/// Why a case does not apply whose steps wait for the declared lock timeout while a request runs that
/// is over long before, or move the target's clock while one runs that is over at once.
pub(super) fn too_quick(
    case: &Case,
    contract: &Contract,
    transcript: &Transcript,
) -> Option<String> {
    over_before_lease(case, contract, transcript).or_else(|| over_before_clock(case, transcript))
}

/// The shortest time that a request must take whose clock is moved while it runs: moving it takes time,
/// and what is answered soon afterwards may have been complete before.
const ROOM_FOR_CLOCK: Duration = Duration::from_millis(150);

fn over_before_clock(case: &Case, transcript: &Transcript) -> Option<String> {
    case.leaves().find_map(|step| {
        let Step::Elapse { at: Some(moment), .. } = step else {
            return None;
        };
        let of = moment.of.as_deref()?;
        let plain = transcript.latency.map(|latency| latency.p50);
        let took = usual(case, transcript, of).or(plain)?;
        (took < ROOM_FOR_CLOCK).then(|| {
            format!(
                "`{of}` takes {} ms, and the target's clock cannot surely move while it runs: a variant `slow` that takes {} ms would show it",
                took.as_millis(),
                ROOM_FOR_CLOCK.as_millis()
            )
        })
    })
}

/// How long the request of a step takes with all its variants.
fn usual(case: &Case, transcript: &Transcript, step: &str) -> Option<Duration> {
    let mut awaited = case.step(step)?.request()?;
    let mut variants = awaited.variants.clone();
    while let Some(like) = &awaited.like {
        awaited = case.step(&like.of)?.request()?;
        variants.extend(awaited.variants.iter().cloned());
    }
    transcript
        .further_latencies
        .iter()
        .filter(|known| known.operation == awaited.operation.unwrap_or_default())
        .filter(|known| known.variants == succeeding(&variants))
        .map(|known| known.latency.p50)
        .max()
}

fn over_before_lease(case: &Case, contract: &Contract, transcript: &Transcript) -> Option<String> {
    let lock_timeout = contract.lock_timeout?;
    case.leaves().filter_map(Step::request).find_map(|request| {
        let moment = request.at.as_ref()?;
        let spans = moment.plus.iter().chain(moment.spread.iter().flatten());
        let shares = spans.filter_map(|span| match span.0 {
            Amount::Share {
                share,
                of: Quantity::LockTimeout,
            } => Some(share),
            _ => None,
        });
        let earliest = lock_timeout.mul_f64(shares.min_by(f64::total_cmp)?);
        let took = usual(case, transcript, moment.of.as_deref()?)?;
        (took < earliest).then(|| {
            format!(
                "`{}` takes {} ms, and the declared lock-timeout is {}: nothing can come then while it runs",
                moment.of.as_deref().unwrap_or_default(),
                took.as_millis(),
                humantime::format_duration(lock_timeout)
            )
        })
    })
}

/// The reason of a moment that did not come.
pub(super) fn never_came(moment: &Moment) -> String {
    let of = moment.of.as_deref().unwrap_or("itself");
    match moment.when {
        When::Effect => format!(
            "the effect of `{of}` was not seen before it was over: a variant `lingers`, which answers some time after it has written, would show it"
        ),
        when => format!("the moment `{when}` of `{of}` never came"),
    }
}

#[cfg(test)]
mod tests {
    use super::too_quick;
    use crate::contract::named;
    use crate::scenario::{Case, OperationRole, PrincipalRole, library};
    use crate::transcript::{Latency, LatencyOf, Transcript};
    use std::time::Duration;

    fn cases(id: &str) -> Vec<Case> {
        let scenarios = library::scenarios().expect("the library is whole");
        let found = scenarios.into_iter().find(|scenario| scenario.id == id);
        found.expect("it is built in").cases
    }

    fn case(name: &str) -> Case {
        let found = cases("race/lease")
            .into_iter()
            .find(|case| case.name.as_deref() == Some(name));
        found.expect("it has this case")
    }

    fn measured(slow: Duration) -> Transcript {
        Transcript {
            further_latencies: vec![LatencyOf {
                operation: OperationRole::Subject,
                principal: PrincipalRole::Owner,
                variants: vec!["slow".to_owned()],
                latency: Latency {
                    p50: slow,
                    p99: slow,
                },
            }],
            ..Transcript::default()
        }
    }

    #[test]
    fn a_lock_timeout_longer_than_the_request_cannot_be_waited_for_while_it_runs() {
        // The demo declares 5 s, of which the duplicates come after 95 %.
        let demo = named("demo").expect("it is built in");
        let quick = measured(Duration::from_millis(4_700));
        let why = too_quick(&case("declared"), &demo, &quick).expect("it is over before");
        assert!(why.contains("lock-timeout is 5s"), "{why}");
        assert_eq!(too_quick(&case("measured"), &demo, &quick), None);
        let slow = measured(Duration::from_millis(4_800));
        assert_eq!(too_quick(&case("declared"), &demo, &slow), None);
        let generic = named("generic").expect("it is built in");
        assert_eq!(too_quick(&case("declared"), &generic, &quick), None);
    }

    #[test]
    fn the_clock_cannot_surely_move_while_a_quick_request_runs() {
        let demo = named("demo").expect("it is built in");
        let slow = &cases("expiry/slow")[0];
        let took = |millis| too_quick(slow, &demo, &measured(Duration::from_millis(millis)));
        let why = took(149).expect("it is over before");
        assert!(why.contains("`first` takes 149 ms"), "{why}");
        assert_eq!(took(150), None);
        let mut plain = measured(Duration::from_millis(400));
        plain.latency = Some(plain.further_latencies.remove(0).latency);
        assert_eq!(too_quick(slow, &demo, &plain), None);
        plain.latency = Some(Latency {
            p50: Duration::from_millis(30),
            p99: Duration::from_millis(400),
        });
        assert!(too_quick(slow, &demo, &plain).is_some());
        let kept = &cases("expiry/kept")[0];
        assert_eq!(too_quick(kept, &demo, &plain), None);
    }
}
