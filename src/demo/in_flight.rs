//! The keys that this process is working on: a courtesy in front of the store, so that a
//! duplicate is answered at once. The store, not this table, decides that a key runs once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::call::Slot;

/// The table of keys in flight. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    claims: HashMap<Slot, Entry>,
    last: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    fingerprint: String,
    since: Instant,
    /// Closed when the entry goes, which wakes whoever waits for that.
    freed: watch::Sender<()>,
}

impl InFlight {
    /// Claims a slot until the claim is dropped, or returns the fingerprint of the request that
    /// has it.
    pub fn claim(&self, slot: &Slot, fingerprint: &str) -> Result<Claim, String> {
        let mut table = self.table();
        if let Some(entry) = table.claims.get(slot) {
            return Err(entry.fingerprint.clone());
        }
        Ok(self.enter(&mut table, slot, fingerprint))
    }

    /// The fingerprint of the request that has a slot.
    pub fn holder(&self, slot: &Slot) -> Option<String> {
        let table = self.table();
        table
            .claims
            .get(slot)
            .map(|entry| entry.fingerprint.clone())
    }

    /// Claims a slot whether or not another request has it.
    pub fn overwrite(&self, slot: &Slot, fingerprint: &str) -> Claim {
        self.enter(&mut self.table(), slot, fingerprint)
    }

    /// Claims a slot that is free, or that another request has had for longer than a lease. The
    /// error is the fingerprint of the one that has it.
    pub fn claim_after(
        &self,
        lease: Duration,
        slot: &Slot,
        fingerprint: &str,
    ) -> Result<Claim, String> {
        let mut table = self.table();
        match table.claims.get(slot) {
            Some(entry) if entry.since.elapsed() < lease => Err(entry.fingerprint.clone()),
            _ => Ok(self.enter(&mut table, slot, fingerprint)),
        }
    }

    /// Waits until the request that has a slot now is done with it.
    pub async fn freed(&self, slot: &Slot) {
        let freed = self
            .table()
            .claims
            .get(slot)
            .map(|entry| entry.freed.subscribe());
        if let Some(mut freed) = freed {
            // Nothing is ever sent: an error says that the entry is gone.
            while freed.changed().await.is_ok() {}
        }
    }

    /// How many keys are in flight.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.table().claims.len()
    }

    /// Loses every claim, as a crash would.
    #[cfg(test)]
    pub fn forget(&self) {
        self.table().claims.clear();
    }

    fn enter(&self, table: &mut Table, slot: &Slot, fingerprint: &str) -> Claim {
        table.last += 1;
        let entry = Entry {
            number: table.last,
            fingerprint: fingerprint.to_owned(),
            since: Instant::now(),
            freed: watch::Sender::new(()),
        };
        table.claims.insert(slot.clone(), entry);
        Claim {
            table: self.clone(),
            slot: slot.clone(),
            number: table.last,
            frees_any: false,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A claim on a slot. Dropping it frees the slot, on every way out: answers, panics, cancelling.
#[derive(Debug)]
pub struct Claim {
    table: InFlight,
    slot: Slot,
    number: u64,
    frees_any: bool,
}

impl Claim {
    /// Frees the slot in the end whoever has it by then, as only flaws do.
    pub fn frees_any(&mut self) {
        self.frees_any = true;
    }

    /// Waits, if another request has taken the slot over, until that one is done with it.
    pub async fn outlasts_successor(&self) {
        if !self.is_ours(&self.table.table()) {
            self.table.freed(&self.slot).await;
        }
    }

    /// Leaves the slot claimed for ever, as only flaws do.
    pub fn leave(self) {
        std::mem::forget(self);
    }

    fn is_ours(&self, table: &Table) -> bool {
        table
            .claims
            .get(&self.slot)
            .is_some_and(|entry| entry.number == self.number)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut table = self.table.table();
        // A claim that was overwritten is no longer ours to free.
        if self.frees_any || self.is_ours(&table) {
            table.claims.remove(&self.slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot {
            tenant: "tenant-a".to_owned(),
            operation: "POST /payments".to_owned(),
            key: "k".to_owned(),
        }
    }

    #[test]
    fn a_slot_is_claimed_by_one_request_and_freed_when_its_claim_is_dropped() {
        let table = InFlight::default();
        let claim = table.claim(&slot(), "first").expect("a free slot");
        assert_eq!(
            table.claim(&slot(), "second").err().as_deref(),
            Some("first")
        );
        drop(claim);
        assert_eq!(table.holder(&slot()), None);
    }

    #[test]
    fn a_panic_frees_the_slot() {
        let table = InFlight::default();
        let shared = table.clone();
        let panicked = std::thread::spawn(move || {
            let _claim = shared.claim(&slot(), "first").expect("a free slot");
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert!(table.claim(&slot(), "second").is_ok());
    }

    #[test]
    fn an_overwritten_claim_does_not_free_the_slot_of_its_successor() {
        let table = InFlight::default();
        let first = table.claim(&slot(), "first").expect("a free slot");
        let _second = table.overwrite(&slot(), "second");
        drop(first);
        assert_eq!(table.holder(&slot()).as_deref(), Some("second"));
    }

    #[test]
    fn a_claim_is_taken_over_only_after_its_lease() {
        let table = InFlight::default();
        let _first = table.claim(&slot(), "first").expect("a free slot");
        let hour = Duration::from_secs(3600);
        assert_eq!(
            table.claim_after(hour, &slot(), "second").err().as_deref(),
            Some("first")
        );
        let _second = table
            .claim_after(Duration::ZERO, &slot(), "second")
            .expect("the lease is over");
        assert_eq!(table.holder(&slot()).as_deref(), Some("second"));
    }

    #[test]
    fn a_claim_that_frees_any_takes_its_successor_with_it() {
        let table = InFlight::default();
        let mut first = table.claim(&slot(), "first").expect("a free slot");
        first.frees_any();
        let _second = table.overwrite(&slot(), "second");
        drop(first);
        assert_eq!(table.holder(&slot()), None);
    }
}
