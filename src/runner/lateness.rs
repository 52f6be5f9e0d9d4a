//! By how much this machine wakes up late: what a pause of a client cannot be told apart from, and what
//! a target that is late may be late by.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// How long one sleep is meant to be.
const SLEEP: Duration = Duration::from_millis(5);

/// Measures until it is asked or dropped.
#[derive(Debug)]
pub struct Lateness {
    late: Arc<Mutex<Vec<Duration>>>,
    task: JoinHandle<()>,
}

impl Drop for Lateness {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Lateness {
    /// Begins to measure.
    pub fn measure() -> Lateness {
        let late = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&late);
        let task = tokio::spawn(async move {
            loop {
                let before = Instant::now();
                tokio::time::sleep(SLEEP).await;
                let over = before.elapsed().saturating_sub(SLEEP);
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(over);
            }
        });
        Lateness { late, task }
    }

    /// What nine of ten sleeps were no later than.
    pub fn usual(&self) -> Duration {
        let mut late = self
            .late
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        late.sort_unstable();
        late.get(late.len() * 9 / 10).copied().unwrap_or_default()
    }
}
