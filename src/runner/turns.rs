//! When the next request may be sent: under a declared rate, and where the target has turned some away.

use super::back_off::LONGEST;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::world::World;

impl World {
    /// Waits for its turn under `limits.rate`.
    pub(super) async fn turn(&self) {
        if let Some(rate) = self.target.limits.rate.filter(|rate| *rate > 0.0) {
            self.slot(Duration::from_secs_f64(1.0 / rate)).await;
        }
    }

    /// Waits until so much time has passed since the last slot.
    async fn slot(&self, gap: Duration) {
        let slot = {
            let mut next = self
                .next_slot
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let slot = (*next).max(Instant::now());
            *next = slot + gap;
            slot
        };
        tokio::time::sleep_until(slot.into()).await;
    }

    /// Waits for the turn of a single request, where some were turned away for their rate.
    pub(super) async fn turn_if_slow(&self) {
        if let Some(gap) = self.gap() {
            self.slot(gap).await;
        }
    }

    /// Requests were turned away for their rate: fewer are sent from now on.
    pub(super) fn slow_down(&self) {
        const FIRST: Duration = Duration::from_millis(200);
        const SLOWEST: Duration = Duration::from_millis(800);
        const AT_LEAST: Duration = Duration::from_secs(3);
        let mut gap = self.gap.lock().unwrap_or_else(PoisonError::into_inner);
        match *gap {
            None => *gap = Some((FIRST, Instant::now())),
            Some((own, since)) if since.elapsed() > AT_LEAST => {
                *gap = Some(((2 * own).min(SLOWEST), Instant::now()));
            }
            Some(_) => {}
        }
    }

    /// How long to send nothing when requests were turned away, and asked to come again so much later.
    pub(super) fn rest(&self, asked: Option<Duration>) -> Duration {
        let asked = asked.unwrap_or_default().min(LONGEST);
        asked.max(self.gap().unwrap_or_default() * 8)
    }

    /// No round begins for so long.
    pub(super) fn leave_alone(&self, pause: Duration) {
        let mut until = self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Some(Instant::now() + pause));
    }

    /// Waits until rounds may begin.
    pub(super) async fn quiet(&self) {
        const LOOK: Duration = Duration::from_millis(100);
        loop {
            let until = *self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
            let left = until.map_or(Duration::ZERO, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if left.is_zero() || self.is_stopped() {
                return;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }

    fn gap(&self) -> Option<Duration> {
        let gap = self.gap.lock().unwrap_or_else(PoisonError::into_inner);
        gap.map(|(gap, _)| gap)
    }
}
