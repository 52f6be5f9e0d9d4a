//! What a process takes over from one that died. A correct one takes over the store and nothing
//! else: its claims died with it.

use rusqlite::params;

use super::call::{Call, Slot};
use super::flaw::Flaw;
use super::flaws::Flaws;
use super::in_flight::Claim;
use super::keyed::Keyed;
use super::store::{Store, StoreError};

/// For `keeps-claim-on-crash`: the claims that outlive the process.
const CLAIMS: &str = "
    CREATE TABLE IF NOT EXISTS claims (
        tenant TEXT NOT NULL,
        operation TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        PRIMARY KEY (tenant, operation, key)
    );
";

/// Takes a store over. `forgets-keys-on-restart` behaves as if it had kept the records in memory.
pub async fn take_over(store: &Store, flaws: Flaws) -> Result<(), StoreError> {
    let changes = [
        (Flaw::ForgetsKeysOnRestart, "DELETE FROM keys"),
        (Flaw::KeepsClaimOnCrash, CLAIMS),
    ];
    for (flaw, change) in changes {
        if flaws.has(flaw) {
            store
                .change(|connection| connection.execute_batch(change))
                .await?;
        }
    }
    Ok(())
}

impl Keyed {
    /// Claims the keys that a process before this one was working on, which only
    /// `keeps-claim-on-crash` does; nothing frees them.
    pub(super) async fn claim_what_is_left(&self) -> Result<(), StoreError> {
        if !self.flaws.has(Flaw::KeepsClaimOnCrash) {
            return Ok(());
        }
        let left = self.store.read(|connection| {
            let mut query =
                connection.prepare("SELECT tenant, operation, key, fingerprint FROM claims")?;
            let rows = query.query_map([], |row| {
                let slot = Slot {
                    tenant: row.get(0)?,
                    operation: row.get(1)?,
                    key: row.get(2)?,
                };
                Ok((slot, row.get::<_, String>(3)?))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        });
        for (slot, fingerprint) in left.await? {
            // A slot that is claimed already stays claimed.
            let _ = self.in_flight.claim(&slot, &fingerprint).map(Claim::leave);
        }
        Ok(())
    }

    /// Writes down that a call is being worked on.
    pub(super) async fn note_claim(&self, call: &Call, slot: &Slot) -> Result<(), StoreError> {
        let (slot, fingerprint) = (slot.clone(), call.fingerprint.clone());
        self.store
            .change(move |connection| {
                connection.execute(
                    "INSERT OR IGNORE INTO claims VALUES (?1, ?2, ?3, ?4)",
                    params![slot.tenant, slot.operation, slot.key, fingerprint],
                )
            })
            .await
            .map(|_| ())
    }

    /// Strikes that out again.
    pub(super) async fn strike_claim(&self, slot: &Slot) -> Result<(), StoreError> {
        let slot = slot.clone();
        self.store
            .change(move |connection| {
                connection.execute(
                    "DELETE FROM claims WHERE tenant = ?1 AND operation = ?2 AND key = ?3",
                    params![slot.tenant, slot.operation, slot.key],
                )
            })
            .await
            .map(|_| ())
    }
}
