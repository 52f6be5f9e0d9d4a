//! What a probe shows of a first request: nothing before it, and its effect after it.

use super::baseline::Measuring;
use super::probe::{self, Counted, Subject};
use crate::scenario::PrincipalRole;
use crate::target::operation::{Lifetime, Probe};
use crate::target::placeholder::Placeholder;
use crate::transcript::{Exchange, Shown};
use std::time::{Duration, Instant};

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
    /// It shows the same for two requests that have nothing in common.
    pub(super) mixed: bool,
}

impl Measuring<'_> {
    /// A filter that the target ignores would count everybody's effects.
    pub(super) async fn nothing_before(
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

    /// A probe that needs the request's body cannot be read before the first one. If it ignores what
    /// it is asked for, it shows the same for two requests that have nothing in common.
    pub(super) async fn told_apart(
        &self,
        probe: &Probe,
        own: &Counted,
        another: &Counted,
        answered: &Exchange,
        seen: &mut ProbeSeen,
    ) -> Result<(), String> {
        if !mentions_request(probe) {
            return Ok(());
        }
        self.effect_seen(probe, another, answered, &mut seen.clone())
            .await?;
        let world = self.run.world();
        let cast = &self.run.context.cast;
        let read = |counted: &Counted| {
            let (subject, counted) = (Subject::of(&counted.spec), counted.clone());
            async move { probe::read(world, cast, probe, &subject, &[&counted]).await }
        };
        seen.mixed = match (read(own).await, read(another).await) {
            (Ok(Shown::Ids(own)), Ok(Shown::Ids(another))) => {
                another.iter().any(|id| own.contains(id))
            }
            (Ok(Shown::Count(own)), Ok(Shown::Count(another))) => another > 1.0 && own == another,
            _ => false,
        };
        if seen.mixed {
            return Err(format!(
                "{}: it shows the same for two requests: the target ignores the probe's filter, or nothing in the request is its own",
                probe.name
            ));
        }
        Ok(())
    }

    /// How late a second effect with the same marker is seen: where something in between keeps answers,
    /// the one that was asked for just before is given again.
    pub(super) async fn another_seen(
        &self,
        probe: &Probe,
        counted: &Counted,
        seen: &mut ProbeSeen,
    ) {
        let world = self.run.world();
        let count = |shown: &Shown| shown.count();
        let Some(before) = seen
            .after
            .as_ref()
            .and_then(|after| count(after.as_ref().ok()?))
        else {
            return;
        };
        let subject = Subject::of(&counted.spec);
        let settle = probe.settle.unwrap_or(world.target.settle);
        let began = Instant::now();
        while began.elapsed() <= settle && !world.is_stopped() {
            let asked = began.elapsed();
            let shows =
                probe::read(world, &self.run.context.cast, probe, &subject, &[counted]).await;
            if shows
                .ok()
                .and_then(|shown| count(&shown))
                .is_some_and(|now| now > before)
            {
                seen.lag = seen.lag.max(Some(asked));
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for the effect, and says how long it took or why it was not seen.
    pub(super) async fn effect_seen(
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
            // A reading that was asked for in time counts, however long its answer takes.
            let asked = began.elapsed();
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
                seen.lag = Some(asked);
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

/// Whether a probe can only be asked once the request's body is known.
pub(super) fn mentions_request(probe: &Probe) -> bool {
    let mut found = false;
    if let crate::target::operation::ProbeSource::Request(request) = &probe.source {
        request.each_placeholder(&mut |placeholder| {
            found |= matches!(placeholder, Placeholder::Request(_))
        });
    }
    found
}
