//! Connections that are open and have nothing to do.

use super::round::locked;
use super::wire::{Connection, Endpoint};
use crate::transcript::{Ending, Exchange};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Servers close idle connections after some seconds; one that is about to be closed would lose a
/// request that nobody meant to lose.
const FRESH: Duration = Duration::from_millis(1500);

/// The most that are kept.
const MOST: usize = 200;

/// What is kept open for later, unless the target bears only so many connections.
pub(super) struct Spare {
    idle: Mutex<Vec<(Endpoint, Connection, Instant)>>,
    keeps: AtomicBool,
}

impl Spare {
    /// With nothing in it.
    pub(super) fn new() -> Spare {
        Spare {
            idle: Mutex::new(Vec::new()),
            keeps: AtomicBool::new(true),
        }
    }

    /// One to the endpoint, if there is one that is surely open.
    pub(super) fn take(&self, endpoint: &Endpoint) -> Option<Connection> {
        let mut idle = locked(&self.idle);
        idle.retain(|(_, connection, since)| since.elapsed() < FRESH && connection.is_open());
        let at = idle.iter().position(|(own, ..)| own == endpoint)?;
        Some(idle.swap_remove(at).1)
    }

    /// Keeps one.
    pub(super) fn keep(&self, endpoint: &Endpoint, connection: Connection) {
        let mut idle = locked(&self.idle);
        idle.retain(|(.., since)| since.elapsed() < FRESH);
        if self.keeps.load(Ordering::Relaxed) && idle.len() < MOST {
            idle.push((endpoint.clone(), connection, Instant::now()));
        }
    }

    /// Closes all, and keeps none from now on: the target turned a connection away, and those that have
    /// nothing to do may have taken the room.
    pub(super) fn give_up(&self) {
        self.keeps.store(false, Ordering::Relaxed);
        self.clear();
    }

    /// Closes all.
    pub(super) fn clear(&self) {
        locked(&self.idle).clear();
    }
}

/// Whether a request found no room: the target took no connection for it, or closed it before a byte of
/// an answer, and we had no part in that.
pub(super) fn has_no_room(exchange: &Exchange) -> bool {
    exchange.times.first_byte.is_none() && was_turned_off(exchange)
}

/// Whether the target took no connection for a request, or closed it, and we had no part in that.
pub(super) fn was_turned_off(exchange: &Exchange) -> bool {
    exchange.fault.is_none()
        && matches!(
            exchange.ending,
            Ending::Refused(_) | Ending::ClosedByTarget(_)
        )
}
