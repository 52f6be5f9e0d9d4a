//! Coupons with so many uses, and their redemption: a write without a key, which the number of uses
//! bounds whatever comes at once.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::caller::Caller;
use super::flaw::Flaw;
use super::keyed::Keyed;
use super::ledger::not_found;
use super::routes::{filter, object, text};

/// The table of coupons.
pub const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS coupons (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        uses INTEGER NOT NULL,
        used INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS redemptions (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        coupon TEXT NOT NULL,
        reference TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS redemptions_by_reference ON redemptions (tenant, reference);
";

/// Between check and debit of `checks-then-debits`.
const WINDOW: Duration = Duration::from_millis(1);

/// Makes coupons, shows them and redeems them.
pub fn routes() -> Router<Arc<Keyed>> {
    Router::new()
        .route("/coupons", post(make))
        .route("/coupons/{id}", get(show))
        .route("/redemptions", get(list).post(redeem))
}

async fn make(
    State(api): State<Arc<Keyed>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let uses = object(&body)?.get("uses").and_then(Value::as_i64);
    let Some(uses) = uses.filter(|uses| *uses > 0) else {
        let detail = "uses must be an integer above 0.";
        return Err(Answer::problem(Problem::Invalid, detail));
    };
    let id = format!("cpn_{}", Uuid::new_v4().simple());
    let made = json!({"id": id, "uses": uses, "used": 0});
    let insert = move |connection: &mut Connection| {
        connection.execute(
            "INSERT INTO coupons (id, tenant, uses, used) VALUES (?1, ?2, ?3, 0)",
            params![id, caller.tenant, uses],
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
    let (uses, used) = uses(&api, caller, &id).await?;
    let shown = json!({"id": id, "uses": uses, "used": used});
    Ok(Answer::json(StatusCode::OK, &shown))
}

async fn redeem(
    State(api): State<Arc<Keyed>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let body = object(&body)?;
    let coupon = text(&body, "coupon")?;
    let reference = text(&body, "reference")?;
    let (uses, used) = uses(&api, caller, &coupon).await?;
    if used >= uses {
        return Err(used_up());
    }
    let most = if api.flaws.has(Flaw::ChecksThenDebits) {
        api.clock.sleep(WINDOW).await;
        i64::MAX
    } else {
        uses
    };
    let id = format!("red_{}", Uuid::new_v4().simple());
    let made = json!({"id": id, "coupon": coupon, "reference": reference});
    let debit = move |connection: &mut Connection| {
        let transaction = connection.transaction()?;
        let debited = transaction.execute(
            "UPDATE coupons SET used = used + 1 WHERE id = ?1 AND tenant = ?2 AND used < ?3",
            params![coupon, caller.tenant, most],
        )?;
        if debited > 0 {
            transaction.execute(
                "INSERT INTO redemptions (id, tenant, coupon, reference) VALUES (?1, ?2, ?3, ?4)",
                params![id, caller.tenant, coupon, reference],
            )?;
        }
        transaction.commit()?;
        Ok(debited > 0)
    };
    match api.store.change(debit).await {
        Ok(true) => Ok(Answer::json(StatusCode::CREATED, &made)),
        Ok(false) => Err(used_up()),
        Err(_) => Err(Answer::internal()),
    }
}

async fn list(
    State(api): State<Arc<Keyed>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let reference = filter(query, "reference")?;
    let read = move |connection: &Connection| {
        let mut query = connection.prepare_cached(
            "SELECT id, coupon FROM redemptions WHERE tenant = ?1 AND reference = ?2
             ORDER BY rowid",
        )?;
        let rows = query.query_map([caller.tenant, &reference], |row| {
            let (id, coupon): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(json!({"id": id, "coupon": coupon, "reference": reference}))
        })?;
        rows.collect::<rusqlite::Result<Vec<Value>>>()
    };
    match api.store.read(read).await {
        Ok(data) => Ok(Answer::json(StatusCode::OK, &json!({"data": data}))),
        Err(_) => Err(Answer::internal()),
    }
}

/// How many uses a coupon was made for, and how many it has had.
async fn uses(api: &Keyed, caller: Caller, id: &str) -> Result<(i64, i64), Answer> {
    let id = id.to_owned();
    let find = move |connection: &Connection| {
        connection
            .prepare_cached("SELECT uses, used FROM coupons WHERE id = ?1 AND tenant = ?2")?
            .query_row([id.as_str(), caller.tenant], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
    };
    let found = api.store.read(find).await;
    found.map_err(|_| Answer::internal())?.ok_or_else(not_found)
}

fn used_up() -> Answer {
    Answer::problem(Problem::UsedUp, "The coupon has no uses left.")
}
