//! The demo's one source of time: wall time plus an offset that the admin listener can advance.
//! Retention and `created_at` read it; waits for work are real and go through it too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, on the demo's clock.
pub type Timestamp = i64;

/// The furthest that the clock may be advanced in all: a hundred years, in seconds.
const FURTHEST: u64 = 100 * 366 * 24 * 60 * 60;

/// A clock that only moves forward.
#[derive(Debug, Default)]
pub struct Clock {
    advanced: AtomicU64,
}

impl Clock {
    /// The time on this clock.
    pub fn now(&self) -> Timestamp {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let wall = i64::try_from(wall.as_millis()).unwrap_or(i64::MAX);
        let ahead = i64::try_from(self.advanced()).unwrap_or(i64::MAX);
        wall.saturating_add(ahead.saturating_mul(1000))
    }

    /// By how many seconds the clock has been advanced in all.
    pub fn advanced(&self) -> u64 {
        self.advanced.load(Ordering::SeqCst)
    }

    /// Advances the clock and returns the seconds in all, or `None` when that would be more than
    /// a hundred years ahead.
    pub fn advance(&self, seconds: u64) -> Option<u64> {
        let further = |total: u64| {
            total
                .checked_add(seconds)
                .filter(|total| *total <= FURTHEST)
        };
        self.advanced
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, further)
            .ok()
            .map(|before| before + seconds)
    }

    /// Waits for real. Waits below a millisecond spin, because a timer would make them longer.
    pub async fn sleep(&self, duration: Duration) {
        if duration >= Duration::from_millis(1) {
            tokio::time::sleep(duration).await;
            return;
        }
        let start = Instant::now();
        while start.elapsed() < duration {
            std::hint::spin_loop();
        }
    }
}

/// Writes a time of this clock as RFC 3339 with milliseconds, in UTC.
pub fn rfc3339(timestamp: Timestamp) -> String {
    let since = Duration::from_millis(u64::try_from(timestamp).unwrap_or_default());
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advancing_moves_the_time_and_adds_up() {
        let clock = Clock::default();
        let before = clock.now();
        assert_eq!(clock.advance(60), Some(60));
        assert_eq!(clock.advance(40), Some(100));
        assert!(clock.now() >= before + 100_000);
    }

    #[test]
    fn a_clock_cannot_be_advanced_beyond_a_hundred_years() {
        let clock = Clock::default();
        assert_eq!(clock.advance(u64::MAX), None);
        assert_eq!(clock.advanced(), 0);
    }

    #[test]
    fn times_are_written_as_rfc_3339() {
        assert_eq!(rfc3339(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
    }
}
