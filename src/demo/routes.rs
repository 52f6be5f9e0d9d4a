//! The routes of the payments API, and its reads. How a write is let in is not decided here.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::admission::write;
use super::answer::{Answer, Problem};
use super::caller::Caller;
use super::carts;
use super::clock::rfc3339;
use super::coupons;
use super::flaw::Flaw;
use super::keyed::Keyed;
use super::ledger::{self, Filter, Kind};
use super::mandates::{self, Wish};
use super::notices;
use super::openapi;
use super::operation::Operation;

type Api = State<Arc<Keyed>>;

/// How long `indexes-keys-late` takes, in milliseconds.
const INDEXING: i64 = 30_000;

/// The router of the payments API.
pub fn router(api: Arc<Keyed>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/openapi.json", get(describe))
        .route("/metrics", get(metrics))
        .route("/payments", get(list_payments).post(pay))
        .route("/payments/batch", post(pay_batch))
        .route("/accounts/{name}/payments", post(pay_for))
        .route(
            "/payments/{id}",
            get(find_payment)
                .patch(change_payment)
                .delete(delete_payment),
        )
        .route("/refunds", get(list_refunds).post(refund))
        .route("/refunds/{id}", get(find_refund))
        .route("/receipts", get(list_receipts))
        .route("/changes", get(list_changes))
        .route("/deletions", get(list_deletions))
        .route("/mandates", get(list_mandates))
        .route(
            "/mandates/{name}",
            get(find_mandate).put(put_mandate).patch(change_mandate),
        )
        .merge(coupons::routes())
        .merge(carts::routes())
        .merge(notices::routes())
        .route("/changes/{id}", get(find_change))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(api)
}

/// Answers that the listener is up.
pub async fn health() -> Answer {
    Answer::json(StatusCode::OK, &json!({"status": "ok"}))
}

async fn metrics(State(api): Api) -> String {
    api.switches.metrics()
}

async fn describe(State(api): Api) -> Answer {
    Answer::json(StatusCode::OK, &openapi::document(&api.policy, api.flaws))
}

/// Answers 404 to a route that is not known.
pub async fn no_route() -> Answer {
    Answer::problem(Problem::NotFound, "There is no such route.")
}

/// Answers 405 to a method that a route does not take.
pub async fn no_method() -> Answer {
    Answer::problem(
        Problem::MethodNotAllowed,
        "The route does not take this method.",
    )
}

async fn list_payments(api: Api, query: RawQuery, headers: HeaderMap) -> Result<Answer, Answer> {
    list(api, Kind::Payment, query, headers).await
}

async fn list_receipts(api: Api, query: RawQuery, headers: HeaderMap) -> Result<Answer, Answer> {
    list(api, Kind::Receipt, query, headers).await
}

async fn list_refunds(api: Api, query: RawQuery, headers: HeaderMap) -> Result<Answer, Answer> {
    list(api, Kind::Refund, query, headers).await
}

async fn list_changes(api: Api, query: RawQuery, headers: HeaderMap) -> Result<Answer, Answer> {
    list(api, Kind::Change, query, headers).await
}

async fn list_deletions(api: Api, query: RawQuery, headers: HeaderMap) -> Result<Answer, Answer> {
    list(api, Kind::Deletion, query, headers).await
}

async fn list_mandates(api: Api, query: RawQuery, headers: HeaderMap) -> Result<Answer, Answer> {
    list(api, Kind::Mandate, query, headers).await
}

async fn find_mandate(
    State(api): Api,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let read = move |connection: &_| mandates::show(connection, caller.tenant, &name);
    let shown = api.store.read(read).await;
    shown.map_err(|_| Answer::internal())
}

async fn put_mandate(
    State(api): Api,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let wish = Wish::read(caller.tenant, name, &headers, &body)?;
    let flaws = api.flaws;
    let put = move |connection: &mut _| mandates::put(connection, &wish, flaws);
    api.store.change(put).await.map_err(|_| Answer::internal())
}

async fn change_mandate(
    State(api): Api,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let wish = Wish::read(caller.tenant, name, &headers, &body)?;
    let checks_first = api.flaws.has(Flaw::ChecksVersionBeforeWrite);
    if checks_first {
        let asked = wish.clone();
        let check = move |connection: &_| mandates::refused(connection, &asked);
        let refused = api.store.read(check).await;
        if let Some(refusal) = refused.map_err(|_| Answer::internal())? {
            return Ok(refusal);
        }
        api.clock.sleep(Duration::from_millis(20)).await;
    }
    let change = move |connection: &mut _| {
        if let Some(refusal) = mandates::refused(connection, &wish)?
            && !checks_first
        {
            return Ok(refusal);
        }
        mandates::change(connection, &wish)
    };
    let changed = api.store.change(change).await;
    changed.map_err(|_| Answer::internal())
}

async fn find_payment(api: Api, id: Path<String>, headers: HeaderMap) -> Result<Answer, Answer> {
    find(api, Kind::Payment, id, headers).await
}

async fn find_refund(api: Api, id: Path<String>, headers: HeaderMap) -> Result<Answer, Answer> {
    find(api, Kind::Refund, id, headers).await
}

async fn find_change(api: Api, id: Path<String>, headers: HeaderMap) -> Result<Answer, Answer> {
    find(api, Kind::Change, id, headers).await
}

async fn list(
    State(api): Api,
    kind: Kind,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let mut filter = Filter::default();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let place = match name.as_ref() {
            "reference" => &mut filter.reference,
            "key" => &mut filter.key,
            "payment" => &mut filter.payment,
            _ => return Err(malformed(&format!("There is no filter {name}."))),
        };
        if place.replace(value.into_owned()).is_some() {
            return Err(malformed(&format!("The filter {name} was sent twice.")));
        }
    }
    let by_key = filter.key.is_some();
    let foreign = by_key && api.flaws.has(Flaw::LooksUpForeignOperations);
    let whose = (!foreign).then_some(caller.tenant);
    let read = move |connection: &_| ledger::list(connection, kind, whose, &filter);
    match api.store.read(read).await {
        Ok(mut data) => {
            if by_key {
                distort(&api, &mut data);
            }
            data.retain(|document| api.shows(document, api.manners.lists_after));
            Ok(Answer::json(StatusCode::OK, &json!({"data": data})))
        }
        Err(_) => Err(Answer::internal()),
    }
}

/// What flaws do to the operations that are found by their key.
fn distort(api: &Keyed, found: &mut Vec<Value>) {
    if api.flaws.has(Flaw::IndexesKeysLate) {
        let indexed = rfc3339(api.clock.now() - INDEXING);
        found.retain(|document| document["created_at"].as_str() < Some(indexed.as_str()));
    }
    if api.flaws.has(Flaw::LooksUpStaleState) {
        for document in found {
            document["status"] = Value::from("pending");
        }
    }
}

async fn find(
    State(api): Api,
    kind: Kind,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let foreign = api.flaws.has(Flaw::LooksUpForeignOperations);
    let read = move |connection: &_| match foreign {
        true => ledger::find_of_anyone(connection, kind, &id),
        false => ledger::find(connection, kind, caller.tenant, &id),
    };
    match api.store.read(read).await {
        Ok(found) => found
            .map(Value::Object)
            .filter(|document| api.shows(document, api.manners.shows_after))
            .map(|document| Answer::json(StatusCode::OK, &document))
            .ok_or_else(ledger::not_found),
        Err(_) => Err(Answer::internal()),
    }
}

async fn delete_payment(
    State(api): Api,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    caller.authorize_write()?;
    let delete = move |connection: &mut _| ledger::delete_payment(connection, caller.tenant, &id);
    match api.store.change(delete).await {
        Ok(true) => Ok(Answer::empty(StatusCode::NO_CONTENT)),
        Ok(false) if api.flaws.has(Flaw::FailsSecondDelete) => Err(Answer::internal()),
        Ok(false) => Err(ledger::not_found()),
        Err(_) => Err(Answer::internal()),
    }
}

async fn pay(
    State(api): Api,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Answer, Answer> {
    let mut dry = false;
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if name != "dry" {
            continue;
        }
        dry = match value.as_ref() {
            "1" => true,
            "0" => false,
            _ => return Err(malformed("dry must be 1 or 0.")),
        };
    }
    write(api, Operation::Pay { dry }, request).await
}

async fn refund(State(api): Api, request: Request) -> Result<Answer, Answer> {
    write(api, Operation::Refund, request).await
}

async fn pay_batch(State(api): Api, request: Request) -> Result<Answer, Answer> {
    write(api, Operation::Batch, request).await
}

async fn pay_for(
    State(api): Api,
    Path(account): Path<String>,
    request: Request,
) -> Result<Answer, Answer> {
    write(api, Operation::PayFor { account }, request).await
}

async fn change_payment(
    State(api): Api,
    Path(payment): Path<String>,
    request: Request,
) -> Result<Answer, Answer> {
    write(api, Operation::Change { payment }, request).await
}

/// The body of a write that needs no key.
pub fn object(body: &[u8]) -> Result<Map<String, Value>, Answer> {
    serde_json::from_slice(body)
        .map_err(|error| malformed(&format!("The body is no JSON object: {error}.")))
}

/// A text field that such a body must have.
pub fn text(body: &Map<String, Value>, name: &str) -> Result<String, Answer> {
    let text = body.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| Answer::problem(Problem::Invalid, format!("{name} must be a text.")))
}

/// The one filter that such a list needs.
pub fn filter(query: Option<String>, name: &str) -> Result<String, Answer> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(own, _)| own == name)
        .map(|(_, value)| value.into_owned())
        .ok_or_else(|| malformed(&format!("Send ?{name}= to say which.")))
}

/// The answer to a header, query or body without meaning.
pub fn malformed(detail: &str) -> Answer {
    Answer::problem(Problem::Malformed, detail)
}
