//! What the demo's world consists of: payments, receipts, refunds and changes, as rows of SQLite.
//! It knows nothing of idempotency; it works inside the transactions of the store.

use axum::http::StatusCode;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::batch;
use super::call::Call;
use super::clock::{Timestamp, rfc3339};
use super::edge::compressed;
use super::operation::{Change, Command, Payment, Refund};
use super::outbox;

/// The table of all entries. `payment` links what belongs to a payment to it.
pub const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS entries (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        key TEXT,
        payment TEXT NOT NULL,
        reference TEXT NOT NULL,
        document TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS entries_by_reference ON entries (kind, tenant, reference);
    CREATE INDEX IF NOT EXISTS entries_by_payment ON entries (kind, tenant, payment);
    CREATE INDEX IF NOT EXISTS entries_by_key ON entries (kind, tenant, key);
";

/// The kinds of entry, each with a list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Money taken.
    Payment,
    /// The receipt of a payment: its second effect.
    Receipt,
    /// Money given back.
    Refund,
    /// A change of a payment, or of a mandate.
    Change,
    /// A permission to take money, which the caller names.
    Mandate,
    /// That a payment was deleted.
    Deletion,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Payment => "payment",
            Kind::Receipt => "receipt",
            Kind::Refund => "refund",
            Kind::Change => "change",
            Kind::Mandate => "mandate",
            Kind::Deletion => "deletion",
        }
    }
}

/// What a list is narrowed to; each filter is exact.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The caller's own mark.
    pub reference: Option<String>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The id of a payment.
    pub payment: Option<String>,
}

/// Which effects of a payment are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// The charge and the receipt.
    All,
    /// The charge only; `issue_receipt` follows.
    ChargeOnly,
}

/// Executes a command and returns the answer to it; a 404 when it changes what is not there.
pub fn execute(
    connection: &Connection,
    call: &Call,
    effects: Effects,
    now: Timestamp,
) -> rusqlite::Result<Answer> {
    let (status, document, location) = match &call.command {
        Command::Pay(payment) => {
            let document = charge(connection, call, payment, now)?;
            if effects == Effects::All {
                issue_receipt(connection, call, payment, now)?;
            }
            (
                StatusCode::CREATED,
                document,
                Some(format!("/payments/{}", call.id)),
            )
        }
        Command::Rehearse(payment) => (StatusCode::OK, rehearsal(payment), None),
        Command::Batch(payments) => {
            let document = batch::execute(connection, call, payments, now)?;
            (StatusCode::CREATED, document, None)
        }
        Command::Refund(refund) => {
            let document = give_back(connection, call, refund, now)?;
            (
                StatusCode::CREATED,
                document,
                Some(format!("/refunds/{}", call.id)),
            )
        }
        Command::Change(change) => match apply_change(connection, call, change, now)? {
            Some(document) => (StatusCode::OK, document, None),
            None => return Ok(not_found()),
        },
        Command::Refuse(refusal) => return Ok(refusal.clone()),
    };
    outbox::announce(connection, call, &document, now)?;
    let mut answer = Answer::json(status, &Value::Object(document.clone()));
    answer.location = location;
    if let Some(behaviour) = call.behaviour {
        answer = behaviour.dress(answer, document);
    }
    Ok(match call.compressed {
        true => compressed(answer),
        false => answer,
    })
}

/// The documents of one kind that belong to a tenant, oldest first; without a tenant, to anyone.
pub fn list(
    connection: &Connection,
    kind: Kind,
    tenant: Option<&str>,
    filter: &Filter,
) -> rusqlite::Result<Vec<Value>> {
    let mut query = connection.prepare_cached(
        "SELECT document FROM entries WHERE kind = ?1 AND (?2 IS NULL OR tenant = ?2)
         AND (?3 IS NULL OR reference = ?3) AND (?4 IS NULL OR key = ?4)
         AND (?5 IS NULL OR payment = ?5) ORDER BY number",
    )?;
    let of = params![
        kind.name(),
        tenant,
        filter.reference,
        filter.key,
        filter.payment
    ];
    let rows = query.query_map(of, |row| row.get::<_, String>(0))?;
    rows.map(|text| Ok(Value::Object(parse(&text?)))).collect()
}

/// One document of a tenant.
pub fn find(
    connection: &Connection,
    kind: Kind,
    tenant: &str,
    id: &str,
) -> rusqlite::Result<Option<Map<String, Value>>> {
    connection
        .prepare_cached("SELECT document FROM entries WHERE kind = ?1 AND tenant = ?2 AND id = ?3")?
        .query_row([kind.name(), tenant, id], |row| row.get::<_, String>(0))
        .optional()
        .map(|found| found.map(|text| parse(&text)))
}

/// One document, whoever it belongs to.
pub fn find_of_anyone(
    connection: &Connection,
    kind: Kind,
    id: &str,
) -> rusqlite::Result<Option<Map<String, Value>>> {
    connection
        .prepare_cached("SELECT document FROM entries WHERE kind = ?1 AND id = ?2")?
        .query_row([kind.name(), id], |row| row.get::<_, String>(0))
        .optional()
        .map(|found| found.map(|text| parse(&text)))
}

/// Deletes a payment with its receipt, and keeps a record of that; false when there was none.
pub fn delete_payment(connection: &Connection, tenant: &str, id: &str) -> rusqlite::Result<bool> {
    let deleted = connection.execute(
        "DELETE FROM entries WHERE kind IN ('payment', 'receipt') AND tenant = ?1 AND payment = ?2",
        [tenant, id],
    )?;
    if deleted == 0 {
        return Ok(false);
    }
    let own = format!("del_{}", Uuid::new_v4().simple());
    let document = document(json!({ "id": own, "payment_id": id }), &Map::new());
    let entry = Entry {
        kind: Kind::Deletion,
        id: &own,
        payment: id,
        reference: "",
    };
    insert(connection, tenant, None, entry, &document)?;
    Ok(true)
}

/// Takes the money of a payment: its first effect.
pub fn charge(
    connection: &Connection,
    call: &Call,
    payment: &Payment,
    now: Timestamp,
) -> rusqlite::Result<Map<String, Value>> {
    let document = document(
        json!({
            "id": call.id,
            "amount": payment.amount,
            "currency": payment.currency,
            "reference": payment.reference,
            "status": "succeeded",
            "created_at": rfc3339(now),
        }),
        &payment.further,
    );
    let entry = Entry {
        kind: Kind::Payment,
        id: &call.id,
        payment: &call.id,
        reference: &payment.reference,
    };
    insert(
        connection,
        call.tenant,
        call.key.as_deref(),
        entry,
        &document,
    )?;
    Ok(document)
}

/// Issues the receipt of a payment: its second effect.
pub fn issue_receipt(
    connection: &Connection,
    call: &Call,
    payment: &Payment,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let id = format!("rcp_{}", call.id);
    let document = document(
        json!({
            "id": id,
            "payment_id": call.id,
            "amount": payment.amount,
            "currency": payment.currency,
            "reference": payment.reference,
            "created_at": rfc3339(now),
        }),
        &Map::new(),
    );
    let entry = Entry {
        kind: Kind::Receipt,
        id: &id,
        payment: &call.id,
        reference: &payment.reference,
    };
    insert(
        connection,
        call.tenant,
        call.key.as_deref(),
        entry,
        &document,
    )
}

fn give_back(
    connection: &Connection,
    call: &Call,
    refund: &Refund,
    now: Timestamp,
) -> rusqlite::Result<Map<String, Value>> {
    let document = document(
        json!({
            "id": call.id,
            "payment_id": refund.payment,
            "amount": refund.amount,
            "reference": refund.reference,
            "status": "succeeded",
            "created_at": rfc3339(now),
        }),
        &refund.further,
    );
    let entry = Entry {
        kind: Kind::Refund,
        id: &call.id,
        payment: &refund.payment,
        reference: &refund.reference,
    };
    insert(
        connection,
        call.tenant,
        call.key.as_deref(),
        entry,
        &document,
    )?;
    Ok(document)
}

fn apply_change(
    connection: &Connection,
    call: &Call,
    change: &Change,
    now: Timestamp,
) -> rusqlite::Result<Option<Map<String, Value>>> {
    let Some(mut payment) = find(connection, Kind::Payment, call.tenant, &change.payment)? else {
        return Ok(None);
    };
    payment.insert("memo".to_owned(), Value::from(change.memo.as_str()));
    connection.execute(
        "UPDATE entries SET document = ?1 WHERE id = ?2",
        [&Value::Object(payment.clone()).to_string(), &change.payment],
    )?;
    let reference = match (&change.reference, payment.get("reference")) {
        (Some(reference), _) => reference.clone(),
        (None, Some(Value::String(reference))) => reference.clone(),
        (None, _) => String::new(),
    };
    let record = document(
        json!({
            "id": call.id,
            "payment_id": change.payment,
            "memo": change.memo,
            "reference": reference,
            "created_at": rfc3339(now),
        }),
        &Map::new(),
    );
    let entry = Entry {
        kind: Kind::Change,
        id: &call.id,
        payment: &change.payment,
        reference: &reference,
    };
    insert(connection, call.tenant, call.key.as_deref(), entry, &record)?;
    payment.insert("change_id".to_owned(), Value::from(call.id.as_str()));
    Ok(Some(payment))
}

fn rehearsal(payment: &Payment) -> Map<String, Value> {
    document(
        json!({
            "dry": true,
            "amount": payment.amount,
            "currency": payment.currency,
            "reference": payment.reference,
            "status": "valid",
        }),
        &payment.further,
    )
}

/// Where an entry stands.
pub struct Entry<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its own id.
    pub id: &'a str,
    /// What it belongs to.
    pub payment: &'a str,
    /// The caller's own mark.
    pub reference: &'a str,
}

/// Adds an entry.
pub fn insert(
    connection: &Connection,
    tenant: &str,
    key: Option<&str>,
    entry: Entry<'_>,
    document: &Map<String, Value>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO entries (kind, id, tenant, key, payment, reference, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            entry.kind.name(),
            entry.id,
            tenant,
            key,
            entry.payment,
            entry.reference,
            Value::Object(document.clone()).to_string(),
        ])?;
    Ok(())
}

/// The API's own fields, then those of the client; ours win.
fn document(own: Value, further: &Map<String, Value>) -> Map<String, Value> {
    let Value::Object(mut document) = own else {
        return further.clone();
    };
    for (name, value) in further {
        document
            .entry(name.clone())
            .or_insert_with(|| value.clone());
    }
    document
}

fn parse(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// The answer when a tenant has nothing of that id.
pub fn not_found() -> Answer {
    Answer::problem(Problem::NotFound, "There is nothing here with this id.")
}
