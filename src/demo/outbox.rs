//! The outbox: events that are written in the transaction of what they announce, and delivered by
//! the relay afterwards. Whoever wants them subscribes with a URL.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::call::Call;
use super::clock::{Timestamp, rfc3339};
use super::operation::Command;

/// The tables of events and of the one subscription.
pub const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS subscription (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        url TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS outbox (
        number INTEGER PRIMARY KEY,
        event TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL,
        created TEXT NOT NULL,
        data TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        due INTEGER NOT NULL DEFAULT 0,
        delivered INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX IF NOT EXISTS outbox_by_due ON outbox (delivered, due);
";

/// An event that is to be delivered now.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its place in the outbox.
    pub number: i64,
    /// Its id, the same in every attempt.
    pub id: String,
    /// What it is about, such as `payment.created`.
    pub kind: String,
    /// When it happened, RFC 3339.
    pub created: String,
    /// The thing as it was made.
    pub data: Value,
    /// How often it was tried, this attempt included.
    pub attempts: u32,
}

impl Event {
    /// The body of a delivery under this id.
    pub fn body(&self, id: &str) -> Value {
        json!({"id": id, "type": self.kind, "created_at": self.created, "data": self.data})
    }
}

/// Announces what a call has made, if anybody wants to know.
pub fn announce(
    connection: &Connection,
    call: &Call,
    document: &Map<String, Value>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let kind = match &call.command {
        Command::Pay(_) => "payment.created",
        Command::Refund(_) => "refund.created",
        Command::Change(_) => "payment.changed",
        // Each payment of a batch is announced by itself.
        Command::Batch(_) | Command::Rehearse(_) | Command::Refuse(_) => return Ok(()),
    };
    connection
        .prepare_cached(
            "INSERT INTO outbox (event, type, created, data)
             SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM subscription)",
        )?
        .execute(params![
            format!("evt_{}", Uuid::new_v4().simple()),
            kind,
            rfc3339(now),
            Value::Object(document.clone()).to_string(),
        ])?;
    Ok(())
}

/// Sends every event to this URL from now on.
pub fn subscribe(connection: &Connection, url: &str) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT OR REPLACE INTO subscription (one, url) VALUES (1, ?1)",
        [url],
    )?;
    Ok(())
}

/// Where events are delivered, if anybody has subscribed.
pub fn subscriber(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT url FROM subscription")?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Takes the events that are due at `now` (milliseconds), at most so many. Nobody else is given
/// them before `until`.
pub fn take(
    connection: &Connection,
    now: Timestamp,
    until: Timestamp,
    most: u32,
) -> rusqlite::Result<Vec<Event>> {
    let mut taking = connection.prepare_cached(
        "UPDATE outbox SET due = ?2, attempts = attempts + 1
         WHERE number IN (SELECT number FROM outbox WHERE delivered = 0 AND due <= ?1
                          ORDER BY number LIMIT ?3)
         RETURNING number, event, type, created, data, attempts",
    )?;
    let rows = taking.query_map(params![now, until, most], |row| {
        Ok(Event {
            number: row.get(0)?,
            id: row.get(1)?,
            kind: row.get(2)?,
            created: row.get(3)?,
            data: serde_json::from_str(&row.get::<_, String>(4)?).unwrap_or_default(),
            attempts: row.get(5)?,
        })
    })?;
    rows.collect()
}

/// The event was taken by its receiver.
pub fn delivered(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE outbox SET delivered = 1 WHERE number = ?1")?
        .execute([number])?;
    Ok(())
}

/// The event was not taken, and is due again later.
pub fn postpone(connection: &Connection, number: i64, due: Timestamp) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE outbox SET due = ?2 WHERE number = ?1")?
        .execute(params![number, due])?;
    Ok(())
}
