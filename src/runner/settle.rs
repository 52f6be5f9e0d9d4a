//! Waiting until effects have stopped changing, and watching for the first one.

use super::pace::Pace;
use super::probe::{self, Counted, read_all, subjects};
use super::round::{RoundRun, locked};
use crate::scenario::{Moment, Step, When};
use crate::transcript::{Reading, ReadingKind};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many readings, one after another, show that a count goes down and up again.
const TO_AND_FRO: usize = 4;
/// How long effects may go on changing after they should be there.
const PATIENCE: Duration = Duration::from_secs(60);

impl RoundRun<'_> {
    /// Waits until the effects have stopped changing, and writes the last readings down. Counts that go
    /// to and fro never stop: of them, the last few are written down.
    pub(super) async fn settle(&self, kind: &ReadingKind) {
        const PAUSE: Duration = Duration::from_millis(50);
        let settle = self.settle_time();
        let began = Instant::now();
        let not_before = locked(&self.lost_at).map(|lost| lost + self.still_running());
        let counted = locked(&self.counted).clone();
        let mut last: Option<Vec<Option<f64>>> = None;
        let mut unsettled: VecDeque<Vec<Reading>> = VecDeque::new();
        let mut falls = 0;
        loop {
            let readings = read_all(self.world(), &self.context.cast, &counted, kind).await;
            let counts: Vec<Option<f64>> = readings
                .iter()
                .map(|reading| reading.shows.as_ref().ok().and_then(|shown| shown.count()))
                .collect();
            let seen = !counts.is_empty()
                && counts
                    .iter()
                    .all(|count| count.is_none_or(|count| count >= 1.0));
            let same = last.as_ref() == Some(&counts);
            let over = began.elapsed() >= settle;
            let early = not_before.is_none_or(|time| Instant::now() >= time);
            if (same && early && (seen || over)) || (over && early && counts.is_empty()) {
                locked(&self.record).readings.extend(readings);
                return;
            }
            if let Some(last) = &last
                && last.iter().zip(&counts).any(|(one, next)| next < one)
            {
                falls += 1;
            }
            unsettled.push_back(readings);
            if unsettled.len() > TO_AND_FRO {
                unsettled.pop_front();
            }
            let wavers = falls >= TO_AND_FRO / 2 && over && early;
            if wavers || began.elapsed() >= settle + PATIENCE || self.world().is_stopped() {
                let readings = &mut locked(&self.record).readings;
                readings.extend(unsettled.into_iter().flatten());
                return;
            }
            last = Some(counts);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// How long effects of the operations in use may take to show.
    pub(super) fn settle_time(&self) -> Duration {
        let target = &self.world().target;
        let counted = locked(&self.counted);
        subjects(&counted)
            .iter()
            .filter_map(|(subject, _)| {
                self.world()
                    .operation(self.context.cast.name(subject.operation).ok()?)
                    .ok()
            })
            .flat_map(|operation| {
                let events = operation.events.iter().filter_map(|events| events.settle);
                let probes = operation.effects.iter().filter_map(|probe| probe.settle);
                probes.chain(events)
            })
            .chain([target.settle])
            .max()
            .unwrap_or(target.settle)
    }

    /// How long a handler may go on after its client has left: three times the slowest measured.
    pub(super) fn still_running(&self) -> Duration {
        let slowest = locked(&self.context.measured)
            .values()
            .map(Pace::latency)
            .max()
            .unwrap_or_default();
        let counted = locked(&self.counted);
        let baseline = counted
            .iter()
            .filter_map(|one| self.baseline_latency(&one.spec))
            .max()
            .unwrap_or_default();
        self.world().target.settle.max(3 * slowest.max(baseline))
    }

    /// Whether anybody waits for the step's effect.
    pub(super) fn effect_is_awaited(&self, step: &str) -> bool {
        let awaited = |moment: &Moment, itself: Option<&str>| {
            moment.when == When::Effect && moment.of.as_deref().or(itself) == Some(step)
        };
        self.context.case.leaves().any(|leaf| match leaf {
            Step::Hook { at: Some(at), .. } => awaited(at, None),
            leaf => leaf.request().is_some_and(|request| {
                let starts = request.at.as_ref().is_some_and(|at| awaited(at, None));
                let cuts = match &request.fault {
                    Some(crate::scenario::Fault::HangUp { at, .. }) => {
                        awaited(at, Some(&request.name))
                    }
                    _ => false,
                };
                starts || cuts
            }),
        })
    }

    /// Polls the first probe until it counts the step's effect or the step is over. The first
    /// reading that shows it is written down, and the last one before, with the time when that was
    /// asked for: between the two the effect came.
    pub(super) async fn watch_effect(&self, step: &str, counted: &Counted) {
        let subject = probe::Subject::of(&counted.spec);
        let operation = self
            .context
            .cast
            .name(subject.operation)
            .and_then(|name| self.world().operation(name));
        let Some(first) = operation
            .ok()
            .and_then(|operation| operation.effects.first())
        else {
            return;
        };
        let over = self.board.wait(step, When::Ended);
        let reading = |at: Instant, shows| crate::transcript::Reading {
            kind: ReadingKind::Poll,
            probe: first.name.clone(),
            operation: subject.operation,
            principal: subject.principal,
            marker: subject.marker.clone(),
            marker_name: subject.marker_name.clone(),
            at: self.world().clock(at),
            shows,
        };
        let poll = async {
            let mut before = None;
            let mut pause = Duration::from_millis(2);
            loop {
                let asked = Instant::now();
                let shows = probe::read(
                    self.world(),
                    &self.context.cast,
                    first,
                    &subject,
                    &[counted],
                )
                .await;
                if shows
                    .as_ref()
                    .is_ok_and(|shown| shown.count().is_some_and(|count| count >= 1.0))
                {
                    let at = Instant::now();
                    self.board.came(step, When::Effect, at);
                    let readings = &mut locked(&self.record).readings;
                    readings.extend(before.take());
                    readings.push(reading(at, shows));
                    return;
                }
                if shows.is_ok() {
                    before = Some(reading(asked, shows));
                }
                tokio::time::sleep(pause).await;
                pause = Duration::from_millis(5);
            }
        };
        tokio::select! {
            () = poll => {}
            _ = over => {}
        }
    }
}
