//! Letting held requests go, from a plain thread and with nothing in between.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::runner::wire::batch::Batch;
use crate::runner::wire::flight::Shared;
use crate::runner::wire::line::{Release, Taken};

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

/// Lets all of them go, with one system call where the system has one for it, otherwise one after the
/// other in a plain loop. Blocks; meant for a thread that does nothing else.
///
/// Within one call nobody sees when which send was done: they are taken to be evenly spread over it.
pub fn release_together(flights: &[Releaser]) -> ReleaseSpread {
    // One alone needs no room in the kernel, which takes time to make and to give back.
    let mut batch = match flights.len() {
        0 | 1 => None,
        several => Batch::with_room_for(several),
    };
    let began = Instant::now();
    let flights: Vec<&Shared> = flights
        .iter()
        .map(|flight| &*flight.shared)
        .filter(|shared| shared.begin_release(began))
        .collect();
    let (spread, releases) = match &mut batch {
        Some(batch) => in_one_call(batch, &flights),
        None => one_by_one(&flights),
    };
    // Waking the tasks takes longer than sending a byte, and would spread the sends.
    for (flight, release) in flights.iter().zip(releases) {
        flight.tell_released(release);
    }
    spread
}

fn one_by_one(flights: &[&Shared]) -> (ReleaseSpread, Vec<Release>) {
    let first = Instant::now();
    let releases = flights.iter().map(|flight| flight.send_line()).collect();
    let last = Instant::now();
    (ReleaseSpread { first, last }, releases)
}

fn in_one_call(batch: &mut Batch, flights: &[&Shared]) -> (ReleaseSpread, Vec<Release>) {
    // Of flights on one line, the first takes what all of them hold.
    let mut taken: Vec<Option<Taken>> = flights.iter().map(|one| one.line.take_held()).collect();
    let sends: Vec<(RawFd, &[u8])> = taken
        .iter()
        .flatten()
        .map(|taken| (taken.socket.as_raw_fd(), &*taken.bytes))
        .collect();
    let first = Instant::now();
    let sent = batch.send(&sends);
    let last = Instant::now();
    let count = u32::try_from(sent.len()).unwrap_or(u32::MAX).max(1);
    let mut places = (1..=count).zip(sent);
    let mut releases: Vec<Option<Release>> = flights
        .iter()
        .zip(&mut taken)
        .map(|(flight, taken)| {
            let taken = taken.take()?;
            let (place, sent) = places.next()?;
            let at = first + (last - first) * place / count;
            Some(flight.line.settle(taken, sent, at))
        })
        .collect();
    for (flight, release) in flights.iter().zip(&mut releases) {
        release.get_or_insert_with(|| flight.send_line());
    }
    let releases = releases.into_iter().flatten().collect();
    (ReleaseSpread { first, last }, releases)
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
