//! The baseline: a fresh key works, its effect is seen, another fresh key makes another effect, and
//! how long all that takes. What stands on a broken baseline shows nothing.

use super::exchange;
use super::probe::{self, Counted, Subject};
use super::round::{CaseContext, RoundRun, locked};
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
}

/// The baseline of an operation, a principal and variants: measured once.
pub(super) async fn baseline(world: &World, key: BaselineKey) -> Baseline {
    let cell = {
        let mut baselines = world.baselines.lock().await;
        Arc::clone(baselines.entry(key.clone()).or_default())
    };
    cell.get_or_init(|| measure(world, &key)).await.clone()
}

/// What is broken about a baseline that was measured; nothing is measured for it.
pub(super) async fn found_broken(world: &World, key: &BaselineKey) -> Option<String> {
    let baselines = world.baselines.lock().await;
    baselines.get(key)?.get()?.broken.clone()
}

async fn measure(world: &World, key: &BaselineKey) -> Baseline {
    let cast = Cast::alone(&key.operation);
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, cast, &scenario, &case);
    let run = RoundRun::new(&context, 1);
    let measuring = Measuring { run: &run, key };
    match measuring.all().await {
        Ok(baseline) => baseline,
        Err(why) => Baseline {
            broken: Some(why),
            ..Baseline::default()
        },
    }
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

    async fn all(&self) -> Result<Baseline, String> {
        let world = self.run.world();
        let operation = world.operation(&self.key.operation)?;
        let first = self.request("first", "main");
        let spec = self.run.specs(&first, 1)?.remove(0);
        let counted = Counted {
            spec: spec.clone(),
            body: None,
        };
        for probe in &operation.effects {
            self.nothing_before(probe, &counted).await?;
        }
        let (answered, seen_early) = self.send(&first, &spec, operation).await?;
        let mut baseline = Baseline {
            writes_early: seen_early,
            ..Baseline::default()
        };
        let mut took = vec![took(&answered)];
        let own = locked(&self.run.counted)
            .first()
            .cloned()
            .unwrap_or(counted);
        for probe in &operation.effects {
            self.effect_seen(probe, &own, &answered).await?;
            baseline.live.push(probe.name.clone());
        }
        if self.key.variants.is_empty() {
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
            baseline.natural = !succeeded
                || (identity(&again).is_some() && identity(&again) == identity(&answered));
            if succeeded {
                took.push(self::took(&again));
            }
            // Another payload under another key: if even this does not work, nothing will.
            let third = self.request("third", "third");
            let spec = self.run.specs(&third, 1)?.remove(0);
            let (third, _) = self.send(&third, &spec, operation).await?;
            took.push(self::took(&third));
            let another = locked(&self.run.counted).last().cloned();
            for probe in operation
                .effects
                .iter()
                .filter(|probe| mentions_request(probe))
            {
                if let Some(another) = &another {
                    self.told_apart(probe, &own, another, &third).await?;
                }
            }
        }
        took.sort();
        let slowest = took.last().copied().unwrap_or_default();
        baseline.latency = Some(Latency {
            p50: took[took.len() / 2],
            p99: slowest,
        });
        Ok(baseline)
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
        spec: &super::spec::Spec,
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
    async fn nothing_before(&self, probe: &Probe, counted: &Counted) -> Result<(), String> {
        let world = self.run.world();
        if probe.sharing(&world.target) == Lifetime::Run || mentions_request(probe) {
            return Ok(());
        }
        let subject = Subject::of(&counted.spec);
        let shows = probe::read(world, &self.run.context.cast, probe, &subject, &[counted])
            .await
            .map_err(|why| format!("{}: the probe cannot be read: {why}", probe.name))?;
        match shows.count() {
            Some(count) if count > 0.0 => Err(format!(
                "{}: {count} before anything was sent: the target ignores the probe's filter",
                probe.name
            )),
            _ => Ok(()),
        }
    }

    /// A probe that needs the request's body cannot be read before the first one. If it ignores what
    /// it is asked for, it shows the same for two requests that have nothing in common.
    async fn told_apart(
        &self,
        probe: &Probe,
        own: &Counted,
        another: &Counted,
        answered: &Exchange,
    ) -> Result<(), String> {
        self.effect_seen(probe, another, answered).await?;
        let world = self.run.world();
        let cast = &self.run.context.cast;
        let read = |counted: &Counted| {
            let (subject, counted) = (Subject::of(&counted.spec), counted.clone());
            async move { probe::read(world, cast, probe, &subject, &[&counted]).await }
        };
        let mixed = match (read(own).await, read(another).await) {
            (Ok(Shown::Ids(own)), Ok(Shown::Ids(another))) => {
                another.iter().any(|id| own.contains(id))
            }
            (Ok(Shown::Count(own)), Ok(Shown::Count(another))) => another > 1.0 && own == another,
            _ => false,
        };
        if mixed {
            Err(format!(
                "{}: it shows the same for two requests: the target ignores the probe's filter, or nothing in the request is its own",
                probe.name
            ))
        } else {
            Ok(())
        }
    }

    async fn effect_seen(
        &self,
        probe: &Probe,
        counted: &Counted,
        answered: &Exchange,
    ) -> Result<(), String> {
        let world = self.run.world();
        let subject = Subject::of(&counted.spec);
        let settle = probe.settle.unwrap_or(world.target.settle);
        let began = Instant::now();
        let mut last;
        loop {
            last = probe::read(world, &self.run.context.cast, probe, &subject, &[counted]).await;
            match &last {
                Ok(Shown::State(_)) => return Ok(()),
                Ok(shown) if shown.count().is_some_and(|count| count >= 1.0) => return Ok(()),
                _ => {}
            }
            if began.elapsed() > settle {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
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
        Err(match last {
            Ok(_) => format!(
                "{}: no effect is seen after {}, though the response was {answer}",
                probe.name,
                humantime::format_duration(settle)
            ),
            Err(why) => format!("{}: the probe cannot be read: {why}", probe.name),
        })
    }
}

/// From its last byte sent to its end.
pub(super) fn took(exchange: &Exchange) -> Duration {
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
