//! The baseline: a fresh key works, its effect is seen, another fresh key makes another effect, and
//! how long all that takes. What stands on a broken baseline shows nothing.

use super::exchange;
use super::probe::{self, Counted, Subject};
use super::round::{CaseContext, RoundRun, locked};
use super::spec::Spec;
use super::world::{BaselineKey, Cast, World};
use crate::scenario::{Case, Key, Marker, PrincipalRole, Request, Scenario};
use crate::target::operation::{Lifetime, Operation, Probe};
use crate::target::placeholder::Placeholder;
use crate::transcript::{Ending, Exchange, Latency, Shown};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the baseline found.
#[derive(Clone, Debug, Default)]
pub(super) struct Baseline {
    /// Why nothing can be shown.
    pub(super) broken: Option<String>,
    /// Times to answer.
    pub(super) latency: Option<Latency>,
    /// Probes that counted an effect.
    pub(super) live: Vec<String>,
    /// An equal payload under a new key makes no new effect: the data prevents it, or the target
    /// guesses. Either way the key's own part is harder to see.
    pub(super) natural: bool,
    /// The effect was there well before the answer: the work goes on after the write.
    pub(super) writes_early: bool,
    /// What happened on the way, for whoever holds the target file against it.
    pub(super) seen: Seen,
}

/// What happened while a baseline was measured, as far as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The first request, concretely.
    pub(super) spec: Option<Spec>,
    /// The first request.
    pub(super) first: Option<Exchange>,
    /// The same payload under another key.
    pub(super) second: Option<Exchange>,
    /// The declared change under a key of its own.
    pub(super) change: Option<Exchange>,
    /// Another payload under a key of its own, where there is no change or it was refused.
    pub(super) third: Option<Exchange>,
    /// What each probe showed, as far as they were read.
    pub(super) probes: Vec<ProbeSeen>,
}

/// What one probe showed of the first request.
#[derive(Clone, Debug)]
pub(super) struct ProbeSeen {
    /// Before anything was sent; `None` where it can only be asked afterwards.
    pub(super) before: Option<Result<Shown, String>>,
    /// What was shown last.
    pub(super) after: Option<Result<Shown, String>>,
    /// From the answer until the effect was seen; `None` if it never was.
    pub(super) lag: Option<Duration>,
    /// How long it was looked for.
    pub(super) watched: Duration,
    /// Effects that were there before anything was sent with the marker.
    pub(super) foreign: Option<f64>,
}

impl Baseline {
    /// The effects that were made, at most.
    pub(super) fn effects(&self) -> usize {
        let seen = &self.seen;
        [&seen.first, &seen.second, &seen.change, &seen.third]
            .into_iter()
            .flatten()
            .filter(|exchange| {
                exchange
                    .response
                    .as_ref()
                    .is_none_or(|response| response.success)
            })
            .count()
    }
}

/// Whether the target works on several requests at once: four take hardly longer than one.
pub(super) async fn works_side_by_side(world: &World, operation: &str, alone: Duration) -> bool {
    let key = BaselineKey {
        operation: operation.to_owned(),
        principal: PrincipalRole::Owner,
        variants: Vec::new(),
    };
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, Cast::alone(operation), &scenario, &case);
    let sends = (1..=4).map(|number| {
        let run = RoundRun::new(&context, number);
        let key = &key;
        async move {
            let measuring = Measuring { run: &run, key };
            let request = measuring.request("first", "main");
            let spec = run.specs(&request, 1)?.remove(0);
            exchange::one(&run, &request, &spec, 0, 0, None).await?;
            measuring.exchange("first").map(|exchange| took(&exchange))
        }
    });
    let took = futures::future::join_all(sends).await;
    let slowest = took
        .into_iter()
        .map(|took| took.unwrap_or(Duration::MAX))
        .max();
    slowest.is_some_and(|slowest| slowest < alone.mul_f64(1.8) + Duration::from_millis(20))
}

/// The baseline of an operation, a principal and variants: measured once.
pub(super) async fn baseline(world: &World, key: BaselineKey) -> Baseline {
    let cell = {
        let mut baselines = world.baselines.lock().await;
        Arc::clone(baselines.entry(key.clone()).or_default())
    };
    cell.get_or_init(|| measure(world, &key)).await.clone()
}

async fn measure(world: &World, key: &BaselineKey) -> Baseline {
    let cast = Cast::alone(&key.operation);
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, cast, &scenario, &case);
    let run = RoundRun::new(&context, 1);
    let measuring = Measuring { run: &run, key };
    let mut baseline = Baseline::default();
    if let Err(why) = measuring.all(&mut baseline).await {
        baseline.broken = Some(why);
    }
    baseline
}

/// Requests whose outcome is known beforehand.
pub(super) struct Measuring<'a> {
    pub(super) run: &'a RoundRun<'a>,
    pub(super) key: &'a BaselineKey,
}

impl Measuring<'_> {
    pub(super) fn request(&self, name: &str, marker: &str) -> Request {
        Request {
            name: name.to_owned(),
            like: None,
            operation: None,
            variants: self.key.variants.clone(),
            forms: None,
            key: Some(Key::Fresh),
            principal: Some(self.key.principal),
            marker: Some(Marker::Named(marker.to_owned())),
            given_other: None,
            new_connection: false,
            to_each: false,
            at: None,
            fault: None,
        }
    }

    async fn all(&self, baseline: &mut Baseline) -> Result<(), String> {
        let world = self.run.world();
        let operation = world.operation(&self.key.operation)?;
        let first = self.request("first", "main");
        let spec = self.run.specs(&first, 1)?.remove(0);
        let counted = Counted {
            spec: spec.clone(),
            body: None,
        };
        baseline.seen.spec = Some(spec.clone());
        for probe in &operation.effects {
            let mut seen = ProbeSeen {
                before: None,
                after: None,
                lag: None,
                watched: Duration::ZERO,
                foreign: None,
            };
            let nothing = self.nothing_before(probe, &counted, &mut seen).await;
            baseline.seen.probes.push(seen);
            nothing?;
        }
        let sent = self.send(&first, &spec, operation).await;
        baseline.seen.first = self.exchange("first").ok();
        let (answered, seen_early) = sent?;
        baseline.writes_early = seen_early;
        let mut took = vec![took(&answered)];
        let own = locked(&self.run.counted)
            .first()
            .cloned()
            .unwrap_or(counted);
        for (probe, seen) in operation.effects.iter().zip(&mut baseline.seen.probes) {
            self.effect_seen(probe, &own, &answered, seen).await?;
            baseline.live.push(probe.name.clone());
        }
        if self.key.variants.is_empty() {
            self.further_keys(operation, &answered, baseline, &mut took)
                .await?;
        }
        took.sort();
        let slowest = took.last().copied().unwrap_or_default();
        baseline.latency = Some(Latency {
            p50: took[took.len() / 2],
            p99: slowest,
        });
        Ok(())
    }

    /// The same payload under another key, then another payload under a third.
    async fn further_keys(
        &self,
        operation: &Operation,
        answered: &Exchange,
        baseline: &mut Baseline,
        took: &mut Vec<Duration>,
    ) -> Result<(), String> {
        // The same payload again: a new key alone must make a new operation.
        let second = Request {
            like: Some(crate::scenario::Like {
                of: "first".to_owned(),
                which: None,
            }),
            ..self.request("second", "main")
        };
        let spec = self.run.specs(&second, 1)?.remove(0);
        exchange::one(self.run, &second, &spec, 0, 0, None).await?;
        let again = self.exchange("second")?;
        baseline.seen.second = Some(again.clone());
        let identity = |exchange: &Exchange| {
            exchange
                .response
                .as_ref()
                .and_then(|response| response.identity.clone())
        };
        let succeeded = again
            .response
            .as_ref()
            .is_some_and(|response| response.success);
        baseline.natural =
            !succeeded || (identity(&again).is_some() && identity(&again) == identity(answered));
        if succeeded {
            took.push(self::took(&again));
        }
        // Another payload under another key: if even this does not work, nothing will. The
        // declared change serves for it, if the target takes it.
        let change = Request {
            variants: vec!["change".to_owned()],
            ..self.request("change", "third")
        };
        if self.key.principal == PrincipalRole::Owner && operation.variation("change").is_ok() {
            let spec = self.run.specs(&change, 1)?.remove(0);
            self.nothing_foreign(operation, &spec, baseline).await?;
            let sent = exchange::one(self.run, &change, &spec, 0, 0, None).await;
            let changed = sent.and_then(|_| self.exchange("change")).ok();
            baseline.seen.change.clone_from(&changed);
            if let Some(changed) = changed.filter(|changed| {
                changed
                    .response
                    .as_ref()
                    .is_some_and(|response| response.success)
            }) {
                took.push(self::took(&changed));
                return Ok(());
            }
        }
        let third = self.request("third", "fourth");
        let spec = self.run.specs(&third, 1)?.remove(0);
        self.nothing_foreign(operation, &spec, baseline).await?;
        let sent = self.send(&third, &spec, operation).await;
        baseline.seen.third = self.exchange("third").ok();
        let (third, _) = sent?;
        took.push(self::took(&third));
        Ok(())
    }

    /// By now there are effects that a filter must leave out.
    async fn nothing_foreign(
        &self,
        operation: &Operation,
        spec: &Spec,
        baseline: &mut Baseline,
    ) -> Result<(), String> {
        let counted = Counted {
            spec: spec.clone(),
            body: None,
        };
        for (probe, seen) in operation.effects.iter().zip(&mut baseline.seen.probes) {
            let mut again = seen.clone();
            let nothing = self.nothing_before(probe, &counted, &mut again).await;
            seen.foreign = again.foreign;
            nothing?;
        }
        Ok(())
    }

    pub(super) fn exchange(&self, step: &str) -> Result<Exchange, String> {
        locked(&self.run.record)
            .last_of(step)
            .cloned()
            .ok_or_else(|| format!("`{step}` was not sent"))
    }

    /// Sends a request that must succeed, and says whether its effect was there well before its answer.
    async fn send(
        &self,
        request: &Request,
        spec: &Spec,
        operation: &Operation,
    ) -> Result<(Exchange, bool), String> {
        let counted = Counted {
            spec: spec.clone(),
            body: None,
        };
        let began = Instant::now();
        let awaits = !self.key.variants.is_empty() && !operation.effects.is_empty();
        let watch = async {
            if !awaits {
                return None;
            }
            let probe = operation
                .effects
                .iter()
                .find(|probe| !mentions_request(probe))?;
            let subject = Subject::of(spec);
            loop {
                let shows = probe::read(
                    self.run.world(),
                    &self.run.context.cast,
                    probe,
                    &subject,
                    &[&counted],
                )
                .await;
                if shows
                    .as_ref()
                    .is_ok_and(|shown| shown.count().is_some_and(|count| count >= 1.0))
                {
                    return Some(began.elapsed());
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let sending = exchange::one(self.run, request, spec, 0, 0, None);
        tokio::pin!(watch);
        tokio::pin!(sending);
        let mut seen = None;
        let sent = tokio::select! {
            sent = &mut sending => sent,
            early = &mut watch => {
                seen = early;
                sending.await
            }
        };
        sent?;
        let exchange = self.exchange(&request.name)?;
        let succeeded = exchange
            .response
            .as_ref()
            .is_some_and(|response| response.success);
        if !succeeded {
            return Err(self.unsuccessful(&exchange));
        }
        let early = seen.is_some_and(|seen| seen < began.elapsed() / 2);
        Ok((exchange, early))
    }

    fn unsuccessful(&self, exchange: &Exchange) -> String {
        let who = match self.key.principal {
            PrincipalRole::Owner => String::new(),
            other => format!(" from {}", other.name()),
        };
        let what = match self.key.variants.as_slice() {
            [] => String::new(),
            variants => format!(" ({})", variants.join(", ")),
        };
        let how = match (&exchange.response, &exchange.ending) {
            (Some(response), _) => {
                let body: String = response.body.chars().take(160).collect();
                format!("was answered {} {body}", response.status)
            }
            (None, Ending::TimedOut) => "got no answer in time".to_owned(),
            (None, ending) => format!("got no answer: {}", ending.says()),
        };
        format!(
            "{}: a first request with a fresh key{who}{what} {how}",
            self.key.operation
        )
    }

    /// A filter that the target ignores would count everybody's effects.
    async fn nothing_before(
        &self,
        probe: &Probe,
        counted: &Counted,
        seen: &mut ProbeSeen,
    ) -> Result<(), String> {
        let world = self.run.world();
        if mentions_request(probe) {
            return Ok(());
        }
        let subject = Subject::of(&counted.spec);
        let shows = probe::read(world, &self.run.context.cast, probe, &subject, &[counted]).await;
        seen.before = Some(shows.clone());
        let shows =
            shows.map_err(|why| format!("{}: the probe cannot be read: {why}", probe.name))?;
        match shows.count() {
            Some(count) if count > 0.0 && probe.sharing(&world.target) != Lifetime::Run => {
                seen.foreign = Some(count);
                Err(format!(
                    "{}: {count} before anything was sent: the target ignores the probe's filter",
                    probe.name
                ))
            }
            _ => Ok(()),
        }
    }

    async fn effect_seen(
        &self,
        probe: &Probe,
        counted: &Counted,
        answered: &Exchange,
        seen: &mut ProbeSeen,
    ) -> Result<(), String> {
        let world = self.run.world();
        let subject = Subject::of(&counted.spec);
        let settle = probe.settle.unwrap_or(world.target.settle);
        // Once per operation it is worth knowing how late the effect comes, if it does.
        let patience = if self.key.variants.is_empty() && self.key.principal == PrincipalRole::Owner
        {
            (settle * 4).clamp(Duration::from_secs(2), Duration::from_secs(30))
        } else {
            settle
        };
        // What is not filtered counts from what was there before.
        let before = match &seen.before {
            Some(Ok(shown)) => shown.count().unwrap_or_default(),
            _ => 0.0,
        };
        let began = Instant::now();
        loop {
            let shows =
                probe::read(world, &self.run.context.cast, probe, &subject, &[counted]).await;
            let there = match &shows {
                Ok(Shown::State(_)) => true,
                Ok(shown) => shown.count().is_some_and(|count| count >= before + 1.0),
                Err(_) => false,
            };
            let took = began.elapsed();
            seen.after = Some(shows);
            seen.watched = took;
            if there {
                seen.lag = Some(took);
                break;
            }
            if took > patience || world.is_stopped() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if seen
            .lag
            .is_some_and(|lag| lag <= settle + Duration::from_millis(100))
        {
            return Ok(());
        }
        let answer = answered
            .response
            .as_ref()
            .map_or_else(String::new, |response| {
                let identity = response
                    .identity
                    .as_deref()
                    .map(|id| format!(" with id {id}"))
                    .unwrap_or_default();
                format!("{}{identity}", response.status)
            });
        let name = &probe.name;
        Err(match (&seen.after, seen.lag) {
            (_, Some(lag)) => format!("{name}: {}", too_late(lag, settle)),
            (Some(Err(why)), _) => format!("{name}: the probe cannot be read: {why}"),
            _ => format!(
                "{name}: no effect is seen after {}, though the response was {answer}",
                humantime::format_duration(patience)
            ),
        })
    }
}

/// That an effect came after the time that the file gives it, and what to write instead.
pub(super) fn too_late(lag: Duration, settle: Duration) -> String {
    format!(
        "seen after {:.1} s, settle is {}: set settle: {}s",
        lag.as_secs_f64(),
        humantime::format_duration(settle),
        (lag.as_secs_f64() * 2.5).ceil()
    )
}

fn took(exchange: &Exchange) -> Duration {
    exchange
        .times
        .ended
        .saturating_sub(exchange.times.sent.unwrap_or(exchange.times.ended))
}

/// Whether a probe can only be asked once the request's body is known.
fn mentions_request(probe: &Probe) -> bool {
    let mut found = false;
    if let crate::target::operation::ProbeSource::Request(request) = &probe.source {
        request.each_placeholder(&mut |placeholder| {
            found |= matches!(placeholder, Placeholder::Request(_))
        });
    }
    found
}
