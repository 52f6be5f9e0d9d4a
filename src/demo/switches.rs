//! What a tester can switch about a running demo, and the rate limit that can be met on purpose.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::answer::{Answer, Problem};

/// Requests of the limited class that are taken in one `WINDOW`.
const MOST: usize = 3;

/// The time over which the limit counts. A refused request may come again after it.
const WINDOW: Duration = Duration::from_secs(1);

/// The switches of one demo.
#[derive(Debug, Default)]
pub struct Switches {
    /// The grant of the one caller whose grant can be taken away is gone.
    revoked: AtomicBool,
    /// The records of keys cannot be reached; everything else can.
    store_down: AtomicBool,
    /// When the last requests of the limited class were taken.
    taken: Mutex<VecDeque<Instant>>,
    /// How often what befell a key.
    counts: [AtomicU64; 5],
}

/// What befalls keys, and is counted.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A request was answered from memory.
    Replay,
    /// Another payload came under a used key.
    Mismatch,
    /// A request came whose key was being worked on.
    InProgress,
    /// A request came whose key had run out.
    Expired,
    /// A request was given up while it was worked on.
    TimedOut,
}

impl Switches {
    /// Counts so many of what befell a key.
    pub fn count(&self, event: Event, times: u64) {
        self.counts[event as usize].fetch_add(times, Ordering::Relaxed);
    }

    /// The counts in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        let lines = [
            ("replays", Event::Replay, "Requests answered from memory."),
            (
                "mismatches",
                Event::Mismatch,
                "Other payloads under a used key.",
            ),
            (
                "in_progress",
                Event::InProgress,
                "Requests whose key was being worked on.",
            ),
            ("expired", Event::Expired, "Requests whose key had run out."),
            (
                "timeouts",
                Event::TimedOut,
                "Requests given up while they were worked on.",
            ),
        ];
        lines
            .map(|(name, event, help)| {
                let count = self.counts[event as usize].load(Ordering::Relaxed);
                format!(
                    "# HELP demo_key_{name}_total {help}\n# TYPE demo_key_{name}_total counter\ndemo_key_{name}_total {count}\n"
                )
            })
            .concat()
    }

    /// Takes the grant away, or gives it back.
    pub fn revoke(&self, revoked: bool) {
        self.revoked.store(revoked, Ordering::SeqCst);
    }

    /// Whether the grant is gone.
    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::SeqCst)
    }

    /// Makes the records of keys unreachable, or reachable again.
    pub fn take_store_down(&self, down: bool) {
        self.store_down.store(down, Ordering::SeqCst);
    }

    /// Whether the records of keys cannot be reached.
    pub fn is_store_down(&self) -> bool {
        self.store_down.load(Ordering::SeqCst)
    }

    /// Takes a request of the limited class, or answers 429.
    pub fn take(&self, now: Instant) -> Result<(), Answer> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while taken
            .front()
            .is_some_and(|first| now.duration_since(*first) >= WINDOW)
        {
            taken.pop_front();
        }
        if taken.len() >= MOST {
            let detail = "Three requests of this class are taken in a second. Ask again in 1 s.";
            return Err(Answer {
                retry_after: Some(1),
                ..Answer::problem(Problem::RateLimited, detail)
            });
        }
        taken.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fourth_request_within_a_second_is_refused_and_taken_after_it() {
        let switches = Switches::default();
        let start = Instant::now();
        for _ in 0..MOST {
            assert!(switches.take(start).is_ok());
        }
        let refused = switches.take(start + Duration::from_millis(999));
        assert_eq!(refused.map_err(|answer| answer.retry_after), Err(Some(1)));
        assert!(switches.take(start + WINDOW).is_ok());
    }
}
