//! What an instance of the API knows by itself. A correct one knows nothing: all of them share one
//! store.

use std::time::Duration;

use super::flaw::Flaw;
use super::flaws::Matter;
use super::keyed::Keyed;
use super::store::{Keeping, Stored};

/// How far the copy of the store is behind that `looks-up-on-lagging-replica` asks.
const LAG: Duration = Duration::from_millis(300);

impl Keyed {
    /// Tells the keys of one memory from those of another: what is laid behind the operation of a
    /// slot. Without a flaw there is one memory.
    pub(super) fn memory_of(&self, port: Option<u16>) -> String {
        match (self.flaws.of(Matter::Memory), port) {
            (Some(Flaw::KeepsKeysPerInstance), _) => format!(" in {}", self.instance),
            // Ports are given out in steps, so their last bit alone would be the same for all.
            (Some(Flaw::KeepsKeysPerConnection), Some(port)) => {
                format!(" in {}", u32::from(port).wrapping_mul(2_654_435_769) >> 31)
            }
            _ => String::new(),
        }
    }

    /// What the copy of the store that this instance asks has of a record.
    pub(super) fn has_arrived(&self, stored: &Stored) -> bool {
        !self.asks_a_copy() || stored.completed + LAG.as_millis() as i64 <= self.clock.now()
    }

    /// What becomes of the record of a claimed key.
    pub(super) fn keeping(&self) -> Keeping {
        match self.asks_a_copy() {
            true => Keeping::FirstStays,
            false => Keeping::Unique,
        }
    }

    fn asks_a_copy(&self) -> bool {
        self.flaws.has(Flaw::LooksUpOnLaggingReplica) && self.instance > 0
    }
}
