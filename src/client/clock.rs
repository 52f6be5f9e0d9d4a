//! The time since an audit began.

use std::time::{Duration, Instant};

/// A monotonic clock that began with the audit.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// The time since the beginning.
    pub fn now(self) -> Duration {
        self.0.elapsed()
    }
}
