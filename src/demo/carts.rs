//! Carts and their orders: a write without a key, which the state of the cart makes happen once.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::caller::Caller;
use super::flaw::Flaw;
use super::keyed::Keyed;
use super::ledger::not_found;
use super::routes::{filter, object, text};

/// The tables of carts and orders. An order makes a new version of its cart.
pub const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS carts (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        items TEXT NOT NULL,
        version INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS orders (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        cart TEXT NOT NULL,
        items TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS orders_by_cart ON orders (tenant, cart);
";

/// Makes carts, shows them and orders them.
pub fn routes() -> Router<Arc<Keyed>> {
    Router::new()
        .route("/carts", post(make))
        .route("/carts/{id}", get(show))
        .route("/orders", get(list).post(order))
}

struct Cart {
    items: String,
    version: i64,
}

async fn make(
    State(api): State<Arc<Keyed>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let items = match object(&body)?.remove("items") {
        Some(items @ Value::Array(_)) => items,
        _ => return Err(Answer::problem(Problem::Invalid, "items must be a list.")),
    };
    let id = format!("crt_{}", Uuid::new_v4().simple());
    let made = json!({"id": id, "items": items, "version": 1});
    let insert = move |connection: &mut Connection| {
        connection.execute(
            "INSERT INTO carts (id, tenant, items, version) VALUES (?1, ?2, ?3, 1)",
            params![id, caller.tenant, items.to_string()],
        )
    };
    api.store
        .change(insert)
        .await
        .map_err(|_| Answer::internal())?;
    Ok(Answer::json(StatusCode::CREATED, &made))
}

async fn show(
    State(api): State<Arc<Keyed>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let place = id.clone();
    let read = move |connection: &Connection| find(connection, caller, &place);
    match api.store.read(read).await {
        Ok(Some(cart)) => {
            let items: Value = serde_json::from_str(&cart.items).unwrap_or_default();
            let shown = json!({"id": id, "items": items, "version": cart.version});
            Ok(Answer::json(StatusCode::OK, &shown))
        }
        Ok(None) => Err(not_found()),
        Err(_) => Err(Answer::internal()),
    }
}

async fn list(
    State(api): State<Arc<Keyed>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let cart = filter(query, "cart")?;
    let read = move |connection: &Connection| {
        let mut query = connection.prepare_cached(
            "SELECT id FROM orders WHERE tenant = ?1 AND cart = ?2 ORDER BY rowid",
        )?;
        let rows = query.query_map([caller.tenant, &cart], |row| row.get::<_, String>(0))?;
        rows.map(|id| Ok(json!({"id": id?, "cart": cart})))
            .collect::<rusqlite::Result<Vec<Value>>>()
    };
    match api.store.read(read).await {
        Ok(data) => Ok(Answer::json(StatusCode::OK, &json!({"data": data}))),
        Err(_) => Err(Answer::internal()),
    }
}

/// Orders a cart as its caller has seen it: in one transaction with the look at what it is now.
async fn order(
    State(api): State<Arc<Keyed>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let body = object(&body)?;
    let cart_id = text(&body, "cart")?;
    let Some(seen) = body.get("version").and_then(Value::as_i64) else {
        let detail = "version must be that of the cart as you have seen it.";
        return Err(Answer::problem(Problem::Invalid, detail));
    };
    let looks_again = !api.flaws.has(Flaw::OrdersStaleCarts);
    let id = format!("ord_{}", Uuid::new_v4().simple());
    let made = json!({"id": id, "cart": cart_id});
    let write = move |connection: &mut Connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Some(cart) = find(&transaction, caller, &cart_id)? else {
            return Ok(Err(not_found()));
        };
        if looks_again && cart.version != seen {
            let detail = "The cart has changed since you have seen it. Look at it again.";
            return Ok(Err(Answer::problem(Problem::OutOfDate, detail)));
        }
        transaction.execute(
            "INSERT INTO orders (id, tenant, cart, items) VALUES (?1, ?2, ?3, ?4)",
            params![id, caller.tenant, cart_id, cart.items],
        )?;
        transaction.execute(
            "UPDATE carts SET version = version + 1 WHERE id = ?1",
            [&cart_id],
        )?;
        transaction.commit()?;
        Ok(Ok(()))
    };
    match api.store.change(write).await {
        Ok(Ok(())) => Ok(Answer::json(StatusCode::CREATED, &made)),
        Ok(Err(refusal)) => Err(refusal),
        Err(_) => Err(Answer::internal()),
    }
}

fn find(connection: &Connection, caller: Caller, id: &str) -> rusqlite::Result<Option<Cart>> {
    connection
        .prepare_cached("SELECT items, version FROM carts WHERE id = ?1 AND tenant = ?2")?
        .query_row([id, caller.tenant], |row| {
            Ok(Cart {
                items: row.get(0)?,
                version: row.get(1)?,
            })
        })
        .optional()
}
