//! Batches: several payments in one request, each item known by a key of its own.

use std::collections::HashSet;

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::call::Call;
use super::clock::Timestamp;
use super::ledger;
use super::operation::{Command, Payment, invalid, payment, text};
use super::outbox;

/// Reads the items of a batch. Items with one key are one item, which is made once.
pub fn items(fields: &Map<String, Value>) -> Result<Vec<Payment>, Answer> {
    let mut known = HashSet::new();
    let mut payments = Vec::new();
    for item in listed(fields)? {
        let Value::Object(item) = item else {
            return Err(invalid("Each of the items must be a JSON object."));
        };
        let key = text(item, "key")?;
        let payment = payment(item)?;
        if known.insert(key) {
            payments.push(payment);
        }
    }
    Ok(payments)
}

/// Whether two items have one key.
pub fn has_equal_items(body: &Value) -> bool {
    let items = body["items"].as_array().into_iter().flatten();
    let mut known = HashSet::new();
    items
        .filter_map(|item| item["key"].as_str())
        .any(|key| !known.insert(key))
}

/// Makes the payments of a batch, each with its receipt.
pub fn execute(
    connection: &Connection,
    call: &Call,
    payments: &[Payment],
    now: Timestamp,
) -> rusqlite::Result<Map<String, Value>> {
    let mut ids = Vec::new();
    for (number, payment) in payments.iter().enumerate() {
        let item = Call {
            id: format!("pay_{}_{number}", call.id),
            command: Command::Pay(payment.clone()),
            ..call.clone()
        };
        let document = ledger::charge(connection, &item, payment, now)?;
        ledger::issue_receipt(connection, &item, payment, now)?;
        outbox::announce(connection, &item, &document, now)?;
        ids.push(item.id);
    }
    let Value::Object(document) = json!({"id": call.id, "payments": ids}) else {
        return Ok(Map::new());
    };
    Ok(document)
}

fn listed(fields: &Map<String, Value>) -> Result<&Vec<Value>, Answer> {
    match fields.get("items") {
        Some(Value::Array(items)) if !items.is_empty() => Ok(items),
        _ => Err(invalid("items must be a list that is not empty.")),
    }
}
