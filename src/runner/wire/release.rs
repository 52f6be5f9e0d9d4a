//! Letting held requests go, from a plain thread and with nothing in between.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::runner::wire::flight::Shared;

/// Lets one held request go. Cheap to clone, and callable from any thread.
#[derive(Clone, Debug)]
pub struct Releaser {
    pub(super) shared: Arc<Shared>,
}

impl Releaser {
    /// Sends the held bytes straight to the socket. Later calls do nothing.
    pub fn release(&self) {
        if let Some(release) = self.shared.send_held() {
            self.shared.tell_released(release);
        }
    }
}

/// When a joint release began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseSpread {
    /// Just before the first request was let go.
    pub first: Instant,
    /// Just after the last one was.
    pub last: Instant,
}

/// Lets all of them go, one after the other in a plain loop. Blocks; meant for a thread that does
/// nothing else.
pub fn release_together(flights: &[Releaser]) -> ReleaseSpread {
    let first = Instant::now();
    let releases: Vec<_> = flights
        .iter()
        .map(|flight| flight.shared.send_held())
        .collect();
    let last = Instant::now();
    // Waking the tasks takes longer than sending a byte, and would spread the sends.
    for (flight, release) in flights.iter().zip(releases) {
        if let Some(release) = release {
            flight.shared.tell_released(release);
        }
    }
    ReleaseSpread { first, last }
}

/// How long before its time a release stops sleeping and spins: sleeps overshoot by less.
const SPIN: Duration = Duration::from_millis(1);

/// Lets each go at its own time and returns the times at which it really did, in the order of the
/// schedule as given. Blocks, and spins just before each release.
pub fn release_at(schedule: Vec<(Instant, Releaser)>) -> Vec<Instant> {
    let mut order: Vec<usize> = (0..schedule.len()).collect();
    order.sort_by_key(|&index| schedule[index].0);
    let mut released: Vec<Instant> = schedule.iter().map(|(due, _)| *due).collect();
    for index in order {
        let (due, flight) = &schedule[index];
        let left = due.saturating_duration_since(Instant::now());
        if left > SPIN {
            std::thread::sleep(left - SPIN);
        }
        while Instant::now() < *due {
            std::hint::spin_loop();
        }
        released[index] = Instant::now();
        flight.release();
    }
    released
}
