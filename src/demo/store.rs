//! The store: SQLite with one writer and a few readers. A write,
//! its effects and the record of its key are one transaction, and a key has one record.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};
use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};

use super::answer::Answer;
use super::call::{Call, Slot};
use super::carts;
use super::clock::Timestamp;
use super::coupons;
use super::ledger::{self, Effects};
use super::notices;
use super::outbox;

/// How many reads run at a time, each on a connection of its own.
const MOST_READERS: usize = 8;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS keys (
        tenant TEXT NOT NULL,
        operation TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        status INTEGER NOT NULL,
        content_type TEXT,
        location TEXT,
        body BLOB NOT NULL,
        completed INTEGER NOT NULL,
        PRIMARY KEY (tenant, operation, key)
    );
    CREATE INDEX IF NOT EXISTS keys_by_key ON keys (key);
    CREATE INDEX IF NOT EXISTS keys_by_fingerprint ON keys (tenant, operation, fingerprint);
";

const COLUMNS: &str =
    "operation, fingerprint, status, content_type, location, body, completed, tenant, key";

/// Why the store could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The folder for the temporary database could not be made.
    #[error("no folder for a temporary database: {0}")]
    Folder(#[from] std::io::Error),
    /// The work was cancelled or panicked.
    #[error("a piece of database work did not end: {0}")]
    Work(#[from] JoinError),
}

/// The record of a key.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Where it stands.
    pub slot: Slot,
    /// What the request meant.
    pub fingerprint: String,
    /// The answer to it.
    pub answer: Answer,
    /// When the request was completed.
    pub completed: Timestamp,
}

/// What becomes of the record of a key when a write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// The only record: if there is one, nothing is written. This is the correct one.
    Unique,
    /// The first record stays, and the write is done all the same.
    FirstStays,
    /// The record is replaced, and the write is done all the same.
    LastStays,
    /// No record.
    Nothing,
}

/// How the transaction of a write ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All of it stays.
    Commit,
    /// Nothing of it stays.
    RollBack,
}

/// The terms on which a call is written.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// What becomes of the record of the key.
    pub keeping: Keeping,
    /// How the transaction ends.
    pub finish: Finish,
    /// Which effects are made.
    pub effects: Effects,
    /// The time of the record.
    pub now: Timestamp,
    /// A record that was completed at this time or before is dropped on the way.
    pub expired: Timestamp,
    /// A longer answer is not kept, in bytes.
    pub longest: usize,
}

/// What came of a write.
#[derive(Clone, Debug)]
pub enum Written {
    /// It was executed.
    Executed(Answer),
    /// It found nothing to change, and left nothing.
    Refused(Answer),
    /// Another request with this key was first; nothing was written.
    Taken(Box<Stored>),
}

/// A handle to the store. Clones share it.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    reading: Semaphore,
    path: PathBuf,
    temporary: Option<TemporaryFolder>,
}

impl Store {
    /// Opens a database file, or a temporary one that is removed with the last handle.
    pub fn open(path: Option<PathBuf>) -> Result<Store, StoreError> {
        let (path, temporary) = match path {
            Some(path) => (path, None),
            None => {
                let folder = TemporaryFolder::new()?;
                (folder.0.join("demo.sqlite"), Some(folder))
            }
        };
        let writer = connect(&path, temporary.is_some())?;
        writer.execute_batch(ledger::SCHEMA)?;
        writer.execute_batch(coupons::SCHEMA)?;
        writer.execute_batch(carts::SCHEMA)?;
        writer.execute_batch(notices::SCHEMA)?;
        writer.execute_batch(SCHEMA)?;
        writer.execute_batch(outbox::SCHEMA)?;
        Ok(Store(Arc::new(Inner {
            writer: Mutex::new(writer),
            readers: Mutex::new(Vec::new()),
            reading: Semaphore::new(MOST_READERS),
            path,
            temporary,
        })))
    }

    /// The record of a slot that was completed after `since`.
    pub async fn find(&self, slot: Slot, since: Timestamp) -> Result<Option<Stored>, StoreError> {
        self.read(move |connection| record(connection, &slot, since))
            .await
    }

    /// The first record that was completed after `since` and fits `condition`, which is SQL over
    /// the parameters `?2`, `?3`, …
    pub async fn find_where(
        &self,
        condition: &'static str,
        values: Vec<String>,
        since: Timestamp,
    ) -> Result<Option<Stored>, StoreError> {
        self.read(move |connection| {
            let text = format!(
                "SELECT {COLUMNS} FROM keys WHERE completed > ?1 AND {condition} ORDER BY rowid"
            );
            let mut query = connection.prepare_cached(&text)?;
            query.raw_bind_parameter(1, since)?;
            for (at, value) in values.iter().enumerate() {
                query.raw_bind_parameter(at + 2, value)?;
            }
            query.raw_query().next()?.map(stored).transpose()
        })
        .await
    }

    /// Executes a call, in one transaction with the record of its key.
    pub async fn write(&self, call: Arc<Call>, terms: Terms) -> Result<Written, StoreError> {
        self.change(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = ledger::execute(&transaction, &call, terms.effects, terms.now)?;
            if answer.status == StatusCode::NOT_FOUND {
                return Ok(Written::Refused(answer));
            }
            let keeps = terms.keeping != Keeping::Nothing && answer.body.len() <= terms.longest;
            if let (Some(slot), true) = (&call.slot, keeps) {
                drop_expired(&transaction, slot, terms.expired)?;
                if terms.keeping == Keeping::LastStays {
                    drop_expired(&transaction, slot, Timestamp::MAX)?;
                }
                let row = Stored {
                    slot: slot.clone(),
                    fingerprint: call.fingerprint.clone(),
                    answer: answer.clone(),
                    completed: terms.now,
                };
                if !insert(&transaction, &row)? && terms.keeping == Keeping::Unique {
                    let Some(first) = record(&transaction, slot, terms.expired)? else {
                        return Err(rusqlite::Error::QueryReturnedNoRows);
                    };
                    return Ok(Written::Taken(Box::new(first)));
                }
            }
            // A transaction that is not committed is rolled back when it is dropped.
            if terms.finish == Finish::Commit {
                transaction.commit()?;
            }
            Ok(Written::Executed(answer))
        })
        .await
    }

    /// Keeps a record outside the transaction of a write, unless its slot has one that was
    /// completed after `expired`.
    pub async fn keep(&self, row: Stored, expired: Timestamp) -> Result<(), StoreError> {
        self.change(move |connection| {
            drop_expired(connection, &row.slot, expired)?;
            insert(connection, &row).map(|_| ())
        })
        .await
    }

    /// Drops the record of a slot.
    pub async fn forget(&self, slot: Slot) -> Result<(), StoreError> {
        self.change(move |connection| drop_expired(connection, &slot, Timestamp::MAX).map(|_| ()))
            .await
    }

    /// Forgets all records but the last so many.
    pub async fn evict(&self, most: u32) -> Result<(), StoreError> {
        self.change(move |connection| {
            let older = "DELETE FROM keys WHERE rowid NOT IN
                         (SELECT rowid FROM keys ORDER BY rowid DESC LIMIT ?1)";
            connection.execute(older, [most]).map(|_| ())
        })
        .await
    }

    /// The folder of the database file.
    #[cfg(test)]
    pub fn folder(&self) -> &Path {
        self.0.path.parent().expect("a file is in a folder")
    }

    /// Runs a piece of reading, beside others.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let _turn = self.0.reading.acquire().await;
        let inner = Arc::clone(&self.0);
        spawn_blocking(move || {
            let idle = lock(&inner.readers).pop();
            let connection = match idle {
                Some(connection) => connection,
                None => connect(&inner.path, inner.temporary.is_some())?,
            };
            let read = work(&connection)?;
            lock(&inner.readers).push(connection);
            Ok(read)
        })
        .await?
    }

    /// Runs a piece of writing, one at a time.
    pub async fn change<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let inner = Arc::clone(&self.0);
        spawn_blocking(move || Ok(work(&mut lock(&inner.writer))?)).await?
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(path: &Path, temporary: bool) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A temporary database need not survive the machine, a given one should.
    let synchronous = if temporary { "OFF" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(connection)
}

fn record(
    connection: &Connection,
    slot: &Slot,
    since: Timestamp,
) -> rusqlite::Result<Option<Stored>> {
    let text = format!(
        "SELECT {COLUMNS} FROM keys
         WHERE tenant = ?1 AND operation = ?2 AND key = ?3 AND completed > ?4"
    );
    connection
        .prepare_cached(&text)?
        .query_row(
            params![slot.tenant, slot.operation, slot.key, since],
            stored,
        )
        .optional()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let status: u16 = row.get(2)?;
    Ok(Stored {
        slot: Slot {
            tenant: row.get(7)?,
            operation: row.get(0)?,
            key: row.get(8)?,
        },
        fingerprint: row.get(1)?,
        answer: Answer {
            status: StatusCode::from_u16(status)
                .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(2, status.into()))?,
            content_type: row.get(3)?,
            location: row.get(4)?,
            retry_after: None,
            body: row.get::<_, Vec<u8>>(5)?.into(),
            replayed: false,
            headers: Vec::new(),
            streamed: false,
        },
        completed: row.get(6)?,
    })
}

/// Inserts a record; false when its slot has one, which stays.
fn insert(connection: &Connection, row: &Stored) -> rusqlite::Result<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO keys (tenant, operation, key, fingerprint, status, content_type,
             location, body, completed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            row.slot.tenant,
            row.slot.operation,
            row.slot.key,
            row.fingerprint,
            row.answer.status.as_u16(),
            row.answer.content_type,
            row.answer.location,
            &row.answer.body[..],
            row.completed,
        ]);
    match inserted {
        Ok(_) => Ok(true),
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.code == ErrorCode::ConstraintViolation =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn drop_expired(
    connection: &Connection,
    slot: &Slot,
    expired: Timestamp,
) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM keys WHERE tenant = ?1 AND operation = ?2 AND key = ?3 AND completed <= ?4",
        params![slot.tenant, slot.operation, slot.key, expired],
    )
}

/// A folder that is removed with everything in it when it is dropped.
#[derive(Debug)]
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new() -> std::io::Result<TemporaryFolder> {
        let name = format!("idemspec-demo-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(TemporaryFolder(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Nothing can be done about a folder that stays; it holds only made-up payments.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
