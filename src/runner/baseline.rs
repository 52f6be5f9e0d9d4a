//! The baseline: a fresh key works, its effect is seen, another fresh key makes another effect, and
//! how long all that takes. What stands on a broken baseline shows nothing.

use super::exchange;
use super::insist::Hidden;
use super::probe::{self, Counted, Subject};
use super::round::{CaseContext, RoundRun, locked};
use super::sighting::{ProbeSeen, mentions_request};
use super::spare::has_no_room;
use super::spec::Spec;
use super::world::{BaselineKey, Cast, World};
use crate::scenario::{Case, Check, Expectation, Key, Marker, PrincipalRole, Request, Scenario};
use crate::target::operation::Operation;
use crate::transcript::{Ending, Exchange, Latency};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From here on an effect is seen late.
const LATE: Duration = Duration::from_millis(700);

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
    /// The first answer hid what was done.
    pub(super) hidden: Option<Hidden>,
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

impl Baseline {
    /// Why a case shows nothing that stands on it. That what was carried out is never told is no reason
    /// where a case is about just that.
    pub(super) fn broken_for(&self, scenario: &Scenario) -> Option<String> {
        let is_never_told = self
            .hidden
            .as_ref()
            .is_some_and(|hidden| hidden.told_after.is_none());
        let asks =
            |(_, expectation): &(_, Expectation)| matches!(expectation.check, Check::Told { .. });
        let is_about_it = is_never_told && scenario.expect.iter().any(asks);
        self.broken.clone().filter(|_| !is_about_it)
    }

    /// What a reader must know of an operation that works.
    pub(super) fn told(&self, operation: &str) -> Vec<String> {
        let mut told = Vec::new();
        if let Some(Hidden {
            answered,
            told_after,
        }) = &self.hidden
        {
            let again = match told_after {
                Some(after) => format!(
                    "the same again {:.1} s later was told the result",
                    after.as_secs_f64()
                ),
                None => "the same again was never told the result".to_owned(),
            };
            told.push(format!(
                "{operation}: a first request with a fresh key was answered {answered}, although it was carried out; {again}"
            ));
        }
        let status = self
            .seen
            .first
            .as_ref()
            .and_then(|first| first.response.as_ref());
        let late = self.seen.probes.iter().filter_map(|seen| seen.lag).max();
        let late = late.filter(|lag| *lag >= LATE);
        if status.is_some_and(|response| response.status == 202) {
            told.push(format!(
                "{operation} is asynchronous: it answers 202, and its effect comes later{}; effects are counted when they have come",
                late.map_or_else(String::new, |late| format!(", {:.1} s after the answer", late.as_secs_f64()))
            ));
        } else if let Some(late) = late {
            told.push(format!(
                "{operation}: what counts its effects is behind: it shows an effect only {:.1} s after the answer; a count of 0 before that says nothing, and counts are taken after more than that",
                late.as_secs_f64()
            ));
        }
        told
    }

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

/// The baseline of an operation, a principal and variants: measured once.
///
/// Where the owner's plain request does not work, nothing else of the operation is tried: each
/// attempt could take as long as our patience lasts.
pub(super) async fn baseline(world: &World, key: BaselineKey) -> Baseline {
    let plain = BaselineKey {
        operation: key.operation.clone(),
        principal: PrincipalRole::Owner,
        variants: Vec::new(),
    };
    let basis = measured_once(world, &plain).await;
    if basis.broken.is_some() || key == plain {
        return basis;
    }
    measured_once(world, &key).await
}

async fn measured_once(world: &World, key: &BaselineKey) -> Baseline {
    let cell = {
        let mut baselines = world.baselines.lock().await;
        Arc::clone(baselines.entry(key.clone()).or_default())
    };
    // Whoever asks first measures, and should not have room for it all the time.
    cell.get_or_init(|| Box::pin(measure(world, key)))
        .await
        .clone()
}

/// What is broken about a baseline that was measured; nothing is measured for it.
pub(super) async fn found_broken(world: &World, key: &BaselineKey) -> Option<String> {
    let baselines = world.baselines.lock().await;
    baselines.get(key)?.get()?.broken.clone()
}

async fn measure(world: &World, key: &BaselineKey) -> Baseline {
    let (baseline, no_room) = measured(world, key).await;
    if !no_room {
        return baseline;
    }
    world.spare.give_up();
    measured(world, key).await.0
}

/// The baseline, and whether it failed since the target turned a connection away.
async fn measured(world: &World, key: &BaselineKey) -> (Baseline, bool) {
    let cast = Cast::alone(&key.operation);
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, cast, &scenario, &case);
    let run = RoundRun::new(&context, 1);
    let measuring = Measuring { run: &run, key };
    let mut baseline = Baseline::default();
    if let Err(why) = measuring.all(&mut baseline).await {
        baseline.broken = Some(why);
    }
    let no_room =
        baseline.broken.is_some() && locked(&run.record).exchanges.iter().any(has_no_room);
    (baseline, no_room)
}

/// Requests whose outcome is known beforehand.
pub(super) struct Measuring<'a> {
    pub(super) run: &'a RoundRun<'a>,
    pub(super) key: &'a BaselineKey,
}

impl Measuring<'_> {
    pub(super) fn request(&self, name: &str, marker: &str) -> Request {
        let keyless = self.run.world().is_keyless(&self.key.operation);
        Request {
            variants: self.key.variants.clone(),
            key: Some(if keyless { Key::None } else { Key::Fresh }),
            principal: Some(self.key.principal),
            marker: Some(Marker::Named(marker.to_owned())),
            ..Request::plain(name)
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
                mixed: false,
            };
            let nothing = self.nothing_before(probe, &counted, &mut seen).await;
            baseline.seen.probes.push(seen);
            nothing?;
        }
        let sent = Box::pin(self.send(&first, &spec, operation, baseline)).await;
        baseline.seen.first = self.exchange("first").ok();
        let (answered, seen_early) = sent?;
        baseline.writes_early = seen_early;
        let mut took = vec![self.slowest("first")];
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
            let another = locked(&self.run.counted).last().cloned();
            if let Some(another) = another {
                for (probe, seen) in operation.effects.iter().zip(&mut baseline.seen.probes) {
                    self.told_apart(probe, &own, &another, &answered, seen)
                        .await?;
                }
            }
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
        if !self.run.world().is_keyless(&operation.name) {
            self.second_key(answered, baseline, took).await?;
            let own = locked(&self.run.counted).first().cloned();
            if let (Some(own), false) = (own, baseline.natural) {
                for (probe, seen) in operation.effects.iter().zip(&mut baseline.seen.probes) {
                    self.another_seen(probe, &own, seen).await;
                }
            }
        }
        self.another_payload(operation, baseline, took).await
    }

    /// The same payload again: a new key alone must make a new operation.
    async fn second_key(
        &self,
        answered: &Exchange,
        baseline: &mut Baseline,
        took: &mut Vec<Duration>,
    ) -> Result<(), String> {
        let second = Request {
            like: Some(crate::scenario::Like {
                of: "first".to_owned(),
                which: None,
            }),
            ..self.request("second", "main")
        };
        let spec = self.run.specs(&second, 1)?.remove(0);
        self.send_insisting(&second, &spec).await?;
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
            took.push(self.slowest("second"));
        }
        Ok(())
    }

    /// Another payload under another key: if even this does not work, nothing will. The declared
    /// change serves for it, if the target takes it.
    async fn another_payload(
        &self,
        operation: &Operation,
        baseline: &mut Baseline,
        took: &mut Vec<Duration>,
    ) -> Result<(), String> {
        let change = Request {
            variants: vec!["change".to_owned()],
            ..self.request("change", "third")
        };
        if self.key.principal == PrincipalRole::Owner && operation.variation("change").is_ok() {
            let spec = self.run.specs(&change, 1)?.remove(0);
            self.nothing_foreign(operation, &spec, baseline).await?;
            let sent = self.send_insisting(&change, &spec).await;
            let changed = sent.and_then(|_| self.exchange("change")).ok();
            baseline.seen.change.clone_from(&changed);
            let is_taken = |changed: Exchange| {
                let response = changed.response.as_ref();
                response.is_some_and(|response| response.success)
            };
            if changed.is_some_and(is_taken) {
                took.push(self.slowest("change"));
                return Ok(());
            }
        }
        let third = self.request("third", "fourth");
        let spec = self.run.specs(&third, 1)?.remove(0);
        self.nothing_foreign(operation, &spec, baseline).await?;
        let sent = Box::pin(self.send(&third, &spec, operation, baseline)).await;
        baseline.seen.third = self.exchange("third").ok();
        sent?;
        took.push(self.slowest("third"));
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

    /// How long a request takes by the slowest of its attempts: one that was given up shows it, and not
    /// the replay after it.
    fn slowest(&self, step: &str) -> Duration {
        locked(&self.run.record)
            .of(step)
            .filter(|attempt| attempt.ending != Ending::TimedOut)
            .map(took)
            .max()
            .unwrap_or_default()
    }

    /// Sends a request that must succeed, and says whether its effect was there well before its answer.
    async fn send(
        &self,
        request: &Request,
        spec: &Spec,
        operation: &Operation,
        baseline: &mut Baseline,
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
        let early = seen.is_some_and(|seen| seen < began.elapsed() / 2);
        let hidden = Box::pin(self.insist(request, spec)).await?;
        baseline.hidden = baseline.hidden.take().or(hidden);
        let exchange = self.exchange(&request.name)?;
        let succeeded = exchange
            .response
            .as_ref()
            .is_some_and(|response| response.success);
        if !succeeded {
            return Err(self.unsuccessful(&exchange));
        }
        Ok((exchange, early))
    }

    /// Sends a request, and again where its answer hides what was done.
    async fn send_insisting(&self, request: &Request, spec: &Spec) -> Result<(), String> {
        exchange::one(self.run, request, spec, 0, 0, None).await?;
        Box::pin(self.insist(request, spec)).await.map(|_| ())
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
}

/// From its last byte sent to its end.
pub(super) fn took(exchange: &Exchange) -> Duration {
    exchange
        .times
        .ended
        .saturating_sub(exchange.times.sent.unwrap_or(exchange.times.ended))
}
