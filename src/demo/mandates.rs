//! Mandates: what the caller names itself, puts in place as a whole and changes by version. No key
//! is needed: PUT and DELETE are idempotent by their meaning (RFC 9110, section 9.2.2), and a
//! change can be bound to a version (RFC 9110, section 13.1.1).

use axum::http::header::IF_MATCH;
use axum::http::{HeaderMap, StatusCode};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::flaw::Flaw;
use super::flaws::Flaws;
use super::ledger::{self, Entry, Filter, Kind, not_found};
use super::operation::{invalid, text};

/// What a caller wants of a mandate.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The tenant that it belongs to.
    pub tenant: &'static str,
    /// What the caller calls it, or for a change its id.
    pub name: String,
    /// What it is to hold, or what of it is to change.
    pub fields: Map<String, Value>,
    /// The version that it must have: `If-Match`.
    pub version: Option<String>,
}

impl Wish {
    /// Reads a wish, or refuses its body.
    pub fn read(
        tenant: &'static str,
        name: String,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Wish, Answer> {
        let Ok(Value::Object(fields)) = serde_json::from_slice(body) else {
            return Err(invalid("The body must be a JSON object."));
        };
        let version = headers.get(IF_MATCH).and_then(|value| value.to_str().ok());
        Ok(Wish {
            tenant,
            name,
            fields,
            version: version.map(|version| version.trim().to_owned()),
        })
    }
}

/// Puts a mandate in place: 201 if there was none, else 200. One that is there already stays as it
/// is.
pub fn put(connection: &Connection, wish: &Wish, flaws: Flaws) -> rusqlite::Result<Answer> {
    let known = find(connection, wish.tenant, &wish.name)?;
    let appends = flaws.has(Flaw::AppendsOnPut);
    let (mut document, status) = match known {
        Some(known) if holds(&known, wish) && !appends => {
            return Ok(shown(StatusCode::OK, &known));
        }
        Some(known) => (known, StatusCode::OK),
        None => (
            object(json!({
                "id": null,
                "name": wish.name,
                "revision": 0,
            })),
            StatusCode::CREATED,
        ),
    };
    document.retain(|name, _| is_own(name));
    for (name, value) in &wish.fields {
        document
            .entry(name.clone())
            .or_insert_with(|| value.clone());
    }
    advance(&mut document);
    if status == StatusCode::OK && !appends {
        replace(connection, wish.tenant, &document)?;
    } else {
        let id = format!("man_{}", Uuid::new_v4().simple());
        document.insert("id".to_owned(), Value::from(id.as_str()));
        let reference = document.get("reference").and_then(Value::as_str);
        let entry = Entry {
            kind: Kind::Mandate,
            id: &id,
            payment: &wish.name,
            reference: reference.unwrap_or_default(),
        };
        ledger::insert(connection, wish.tenant, None, entry, &document)?;
    }
    Ok(shown(status, &document))
}

/// Whether a change may be made to what is there now: the answer if not.
pub fn refused(connection: &Connection, wish: &Wish) -> rusqlite::Result<Option<Answer>> {
    let Some(known) = find(connection, wish.tenant, &wish.name)? else {
        return Ok(Some(not_found()));
    };
    let fits = |version: &String| *version == "*" || *version == etag(&known);
    Ok((!wish.version.as_ref().is_none_or(fits)).then(|| {
        let detail = "The mandate has another version by now. Read it again.";
        Answer::problem(Problem::VersionMismatch, detail)
    }))
}

/// Changes a mandate, and keeps a record of the change. Whether it may be changed is asked before.
pub fn change(connection: &Connection, wish: &Wish) -> rusqlite::Result<Answer> {
    let memo = match text(&wish.fields, "memo") {
        Ok(memo) => memo,
        Err(refusal) => return Ok(refusal),
    };
    let Some(mut document) = find(connection, wish.tenant, &wish.name)? else {
        return Ok(not_found());
    };
    document.insert("memo".to_owned(), Value::from(memo));
    advance(&mut document);
    replace(connection, wish.tenant, &document)?;
    let id = format!("chg_{}", Uuid::new_v4().simple());
    let record = object(json!({ "id": id, "mandate": wish.name, "memo": memo }));
    let entry = Entry {
        kind: Kind::Change,
        id: &id,
        payment: &wish.name,
        reference: "",
    };
    ledger::insert(connection, wish.tenant, None, entry, &record)?;
    let etag = etag(&document);
    document.insert("change_id".to_owned(), Value::from(id));
    let mut answer = shown(StatusCode::OK, &document);
    answer.headers = vec![("ETag".to_owned(), etag)];
    Ok(answer)
}

/// A mandate, with its version.
pub fn show(connection: &Connection, tenant: &str, name: &str) -> rusqlite::Result<Answer> {
    let found = find(connection, tenant, name)?;
    Ok(found.map_or_else(not_found, |document| shown(StatusCode::OK, &document)))
}

fn find(
    connection: &Connection,
    tenant: &str,
    name: &str,
) -> rusqlite::Result<Option<Map<String, Value>>> {
    let filter = Filter {
        payment: Some(name.to_owned()),
        ..Filter::default()
    };
    let called = ledger::list(connection, Kind::Mandate, Some(tenant), &filter)?;
    match called.into_iter().next_back() {
        Some(found) => Ok(Some(object(found))),
        None => ledger::find(connection, Kind::Mandate, tenant, name),
    }
}

fn replace(
    connection: &Connection,
    tenant: &str,
    document: &Map<String, Value>,
) -> rusqlite::Result<()> {
    let text = Value::Object(document.clone()).to_string();
    let id = document.get("id").and_then(Value::as_str);
    connection
        .execute(
            "UPDATE entries SET document = ?1 WHERE kind = 'mandate' AND tenant = ?2 AND id = ?3",
            [text.as_str(), tenant, id.unwrap_or_default()],
        )
        .map(|_| ())
}

/// Whether a mandate holds what is wished already.
fn holds(known: &Map<String, Value>, wish: &Wish) -> bool {
    let own = known.iter().filter(|(name, _)| !is_own(name));
    own.clone().count() == wish.fields.len()
        && own
            .into_iter()
            .all(|(name, value)| wish.fields.get(name) == Some(value))
}

/// Whether a field is the API's own.
fn is_own(name: &str) -> bool {
    ["id", "name", "revision"].contains(&name)
}

fn advance(document: &mut Map<String, Value>) {
    let revision = document.get("revision").and_then(Value::as_u64);
    document.insert("revision".to_owned(), json!(revision.unwrap_or(0) + 1));
}

fn etag(document: &Map<String, Value>) -> String {
    format!("\"{}\"", document.get("revision").unwrap_or(&Value::Null))
}

fn shown(status: StatusCode, document: &Map<String, Value>) -> Answer {
    let mut answer = Answer::json(status, &Value::Object(document.clone()));
    answer.headers.push(("ETag".to_owned(), etag(document)));
    answer
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
