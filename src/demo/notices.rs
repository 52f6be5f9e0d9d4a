//! Notices of transfers that a bank sends: the demo as a receiver of events. A notice that comes
//! again is known by its id, and handled once; an older one does not undo a newer one. What is signed
//! by nobody, by somebody else or long ago is refused (Standard Webhooks 1.0).

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::behaviour::Behaviour;
use super::caller::Caller;
use super::flaw::Flaw;
use super::flaws::{Flaws, Matter};
use super::keyed::Keyed;
use super::routes::{filter, malformed, object};
use super::signature;
use super::store::StoreError;

/// The tables of the notices that were taken, of what they made, and of the accounts as they are.
pub const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS notices (
        event TEXT PRIMARY KEY,
        seen INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS credits (
        id TEXT PRIMARY KEY,
        event TEXT,
        account TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS credits_by_account ON credits (account);
    CREATE TABLE IF NOT EXISTS accounts (
        name TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        status TEXT NOT NULL
    );
";

/// How old a signature may be, in seconds.
const TOLERANCE: i64 = 300;
/// How long `forgets-events-soon` remembers a notice, in milliseconds.
const SOON: i64 = 5_000;
/// Between look and write of `checks-event-then-handles`.
const WINDOW: Duration = Duration::from_millis(20);
/// Before what could not be handled is tried again, where notices are handled later.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes notices, and shows what they made.
pub fn routes() -> Router<Arc<Keyed>> {
    Router::new()
        .route("/notices", post(receive))
        .route("/credits", get(show))
}

/// A notice.
#[derive(Clone, Debug)]
struct Notice {
    /// Its id; none where it has none and is taken all the same.
    event: Option<String>,
    /// Whose money it is.
    account: String,
    /// The account's version after it.
    version: i64,
    /// The account's status after it.
    status: String,
}

/// Where handling fails, the first time per account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failing {
    Nowhere,
    BeforeTheWrite,
    AfterTheWrite,
}

async fn receive(
    State(api): State<Arc<Keyed>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let event = text_of(&headers, "webhook-id");
    match (event, api.flaws.of(Matter::NamelessNotice)) {
        (Some(_), _) | (None, Some(Flaw::HandlesNoticesWithoutId)) => {}
        (None, Some(Flaw::DropsNoticesWithoutId)) => return Ok(taken(StatusCode::OK)),
        (None, _) => return Err(malformed("webhook-id is missing.")),
    }
    if !is_signed(&api, &headers, event.unwrap_or_default(), &body) {
        return match api.flaws.of(Matter::ForgedNotice) {
            Some(Flaw::CrashesOnBadSignature) => Err(Answer::internal()),
            Some(Flaw::HidesBadSignatures) => Ok(taken(StatusCode::OK)),
            _ => Err(Answer::problem(
                Problem::Unauthorized,
                "The signature is not good.",
            )),
        };
    }
    let notice = read(event.map(str::to_owned), &body)?;
    let failing = match Behaviour::read(&headers)? {
        Some(behaviour @ Behaviour::FailOnce) if api.fails_first(behaviour, &notice.account) => {
            Failing::BeforeTheWrite
        }
        Some(behaviour @ Behaviour::FailAfterOnce)
            if api.fails_first(behaviour, &notice.account) =>
        {
            Failing::AfterTheWrite
        }
        _ => Failing::Nowhere,
    };
    let loses = api.flaws.has(Flaw::LosesNoticesItTook);
    if !api.manners.handles_notices_later && !loses {
        return handle(&api, &notice, failing).await;
    }
    if !claim(&api, &notice).await? {
        return Ok(taken(StatusCode::ACCEPTED));
    }
    tokio::spawn(async move {
        let mut failing = failing;
        loop {
            let applied = apply(&api, &notice, failing).await;
            if matches!(applied, Ok(true)) || loses {
                return;
            }
            failing = Failing::Nowhere;
            tokio::time::sleep(PAUSE).await;
        }
    });
    Ok(taken(StatusCode::ACCEPTED))
}

fn taken(status: StatusCode) -> Answer {
    Answer::json(status, &json!({"taken": true}))
}

/// Handles a notice before it is answered: its mark and what it makes are one transaction.
async fn handle(api: &Keyed, notice: &Notice, failing: Failing) -> Result<Answer, Answer> {
    match api.flaws.of(Matter::Notice) {
        Some(Flaw::HandlesEveryDelivery) => {
            let applied = apply(api, notice, Failing::Nowhere).await;
            let failed = failing == Failing::BeforeTheWrite || !applied.unwrap_or(false);
            return match failed || failing == Failing::AfterTheWrite {
                true => Err(Answer::internal()),
                false => Ok(taken(StatusCode::OK)),
            };
        }
        Some(Flaw::ChecksNoticeThenHandles) => {
            let event = mark_of(api, notice);
            let known = move |connection: &Connection| is_known(connection, &event);
            if api.store.read(known).await.map_err(failed)? {
                return Ok(again(api));
            }
            api.clock.sleep(WINDOW).await;
        }
        Some(Flaw::MarksNoticeBeforeHandling) => {
            if !claim(api, notice).await? {
                return Ok(again(api));
            }
            return match apply(api, notice, failing).await {
                Ok(true) => Ok(taken(StatusCode::OK)),
                _ => Err(Answer::internal()),
            };
        }
        Some(Flaw::KeepsNoticesInMemory) => {
            let known = !api.first_seen(&mark_of(api, notice));
            if known {
                return Ok(again(api));
            }
            if matches!(apply(api, notice, failing).await, Ok(true)) {
                return Ok(taken(StatusCode::OK));
            }
            api.forget_notice(&mark_of(api, notice));
            return Err(Answer::internal());
        }
        _ => {}
    }
    let mark = mark_of(api, notice);
    let (now, forgets) = (api.clock.now(), forgets_before(api));
    let (flaws, own) = (api.flaws, notice.clone());
    let handled = move |connection: &mut Connection| {
        let transaction = connection.transaction()?;
        let new = take(&transaction, &mark, now, forgets)?;
        if !new && !flaws.has(Flaw::ChecksNoticeThenHandles) {
            return Ok(Handled::Before);
        }
        if failing == Failing::BeforeTheWrite {
            return Ok(Handled::Not);
        }
        write(&transaction, &own, flaws)?;
        if failing == Failing::AfterTheWrite {
            if flaws.has(Flaw::FreesNoticeAfterEffect) {
                transaction.execute("DELETE FROM notices WHERE event = ?1", params![mark])?;
                transaction.commit()?;
            }
            return Ok(Handled::Not);
        }
        transaction.commit()?;
        Ok(Handled::Now)
    };
    match api.store.change(handled).await {
        Ok(Handled::Now) => Ok(taken(StatusCode::OK)),
        Ok(Handled::Before) => Ok(again(api)),
        Ok(Handled::Not) | Err(_) => Err(Answer::internal()),
    }
}

/// What became of a notice.
enum Handled {
    Now,
    Before,
    Not,
}

/// The answer to a notice that was handled before.
fn again(api: &Keyed) -> Answer {
    match api.manners.refuses_known_notices {
        true => Answer::problem(Problem::Conflict, "The notice was handled before."),
        false => taken(StatusCode::OK),
    }
}

/// Marks a notice as taken; whether it was not before.
async fn claim(api: &Keyed, notice: &Notice) -> Result<bool, Answer> {
    let mark = mark_of(api, notice);
    let (now, forgets) = (api.clock.now(), forgets_before(api));
    let taken = move |connection: &mut Connection| take(connection, &mark, now, forgets);
    api.store.change(taken).await.map_err(failed)
}

/// Writes what a notice makes, in a transaction of its own; whether it was written.
async fn apply(api: &Keyed, notice: &Notice, failing: Failing) -> Result<bool, StoreError> {
    let (flaws, own) = (api.flaws, notice.clone());
    let written = move |connection: &mut Connection| {
        let transaction = connection.transaction()?;
        if failing == Failing::BeforeTheWrite {
            return Ok(false);
        }
        write(&transaction, &own, flaws)?;
        if failing == Failing::AfterTheWrite {
            return Ok(false);
        }
        transaction.commit()?;
        Ok(true)
    };
    api.store.change(written).await
}

fn failed(_: StoreError) -> Answer {
    Answer::internal()
}

/// What a notice is known by.
fn mark_of(api: &Keyed, notice: &Notice) -> String {
    match &notice.event {
        _ if api.flaws.has(Flaw::TakesAccountForNotice) => notice.account.clone(),
        Some(event) => event.clone(),
        None => Uuid::new_v4().to_string(),
    }
}

/// Notices that were seen before this time are forgotten.
fn forgets_before(api: &Keyed) -> i64 {
    match api.flaws.has(Flaw::ForgetsNoticesSoon) {
        true => api.clock.now() - SOON,
        false => i64::MIN,
    }
}

fn take(connection: &Connection, event: &str, now: i64, forgets: i64) -> rusqlite::Result<bool> {
    connection.execute(
        "DELETE FROM notices WHERE event = ?1 AND seen < ?2",
        params![event, forgets],
    )?;
    let taken = connection.execute(
        "INSERT OR IGNORE INTO notices (event, seen) VALUES (?1, ?2)",
        params![event, now],
    )?;
    Ok(taken > 0)
}

fn is_known(connection: &Connection, event: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM notices WHERE event = ?1")?
        .exists([event])
}

fn write(connection: &Connection, notice: &Notice, flaws: Flaws) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO credits (id, event, account) VALUES (?1, ?2, ?3)",
        params![
            format!("crd_{}", Uuid::new_v4().simple()),
            notice.event,
            notice.account
        ],
    )?;
    let newest = match flaws.has(Flaw::AppliesOlderNotices) {
        true => i64::MAX,
        false => notice.version,
    };
    connection.execute(
        "INSERT INTO accounts (name, version, status) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET version = ?2, status = ?3 WHERE version < ?4",
        params![notice.account, notice.version, notice.status, newest],
    )?;
    Ok(())
}

fn read(event: Option<String>, body: &[u8]) -> Result<Notice, Answer> {
    let body = object(body)?;
    let data = body.get("data").cloned().unwrap_or_default();
    let text = |name: &str| data[name].as_str().map(str::to_owned);
    let notice = text("account")
        .zip(data["version"].as_i64())
        .zip(text("status"));
    let Some(((account, version), status)) = notice else {
        let detail = "data must have an account, a version and a status.";
        return Err(Answer::problem(Problem::Invalid, detail));
    };
    Ok(Notice {
        event,
        account,
        version,
        status,
    })
}

/// Whether a notice is from the bank, and not from long ago. The time is real, whatever a tester does
/// to the clock.
fn is_signed(api: &Keyed, headers: &HeaderMap, event: &str, body: &[u8]) -> bool {
    if api.flaws.has(Flaw::TakesUnsignedNotices) {
        return true;
    }
    let timestamp = text_of(headers, "webhook-timestamp").and_then(|text| text.parse().ok());
    let signature = text_of(headers, "webhook-signature");
    let Some((timestamp, signature)) = timestamp.zip(signature) else {
        return false;
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let age = i64::try_from(now).unwrap_or(i64::MAX).abs_diff(timestamp);
    let old = age > TOLERANCE.unsigned_abs() && !api.flaws.has(Flaw::TakesOldSignatures);
    let good = !old && signature::is_by_the_bank(event, timestamp, body, signature);
    if api.flaws.has(Flaw::TrustsKnownSignatures) {
        return match good {
            true => {
                api.first_seen(signature);
                true
            }
            false => api.was_seen(signature),
        };
    }
    good
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn show(
    State(api): State<Arc<Keyed>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    Caller::authenticate(&headers)?;
    let account = filter(query, "account")?;
    let read = move |connection: &Connection| {
        let mut credits = connection
            .prepare_cached("SELECT id, event FROM credits WHERE account = ?1 ORDER BY rowid")?;
        let rows = credits.query_map([&account], |row| {
            let (id, event): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            Ok(json!({"id": id, "event": event}))
        })?;
        let credits = rows.collect::<rusqlite::Result<Vec<Value>>>()?;
        let state = connection
            .prepare_cached("SELECT version, status FROM accounts WHERE name = ?1")?
            .query_row([&account], |row| {
                let (version, status): (i64, String) = (row.get(0)?, row.get(1)?);
                Ok(json!({"version": version, "status": status}))
            })
            .optional()?;
        Ok(json!({"data": credits, "account": state}))
    };
    let shown = api.store.read(read).await.map_err(failed)?;
    Ok(Answer::json(StatusCode::OK, &shown))
}
