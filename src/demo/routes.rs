//! The routes of the payments API: who may ask, what is asked, and whether it is valid. What
//! happens with a key is not decided here.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use bytes::Bytes;
use http_body_util::LengthLimitError;
use serde_json::{Value, json};
use url::form_urlencoded;
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::behaviour::Behaviour;
use super::call::{Call, Line, Slot};
use super::caller::Caller;
use super::fingerprint::{Ingredients, fingerprint};
use super::flaw::Flaw;
use super::key;
use super::keyed::{Keyed, replay};
use super::ledger::{self, Filter, Kind};
use super::operation::Operation;
use super::store::Stored;

/// The largest body, in bytes: 1 MiB.
const LARGEST: usize = 1024 * 1024;

type Api = State<Arc<Keyed>>;

/// The router of the payments API.
pub fn router(api: Arc<Keyed>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/payments", get(list_payments).post(pay))
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
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(api)
}

/// Answers that the listener is up.
pub async fn health() -> Answer {
    Answer::json(StatusCode::OK, &json!({"status": "ok"}))
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

async fn find_payment(api: Api, id: Path<String>, headers: HeaderMap) -> Result<Answer, Answer> {
    find(api, Kind::Payment, id, headers).await
}

async fn find_refund(api: Api, id: Path<String>, headers: HeaderMap) -> Result<Answer, Answer> {
    find(api, Kind::Refund, id, headers).await
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
    let read = move |connection: &_| ledger::list(connection, kind, caller.tenant, &filter);
    match api.store.read(read).await {
        Ok(data) => Ok(Answer::json(StatusCode::OK, &json!({"data": data}))),
        Err(_) => Err(Answer::internal()),
    }
}

async fn find(
    State(api): Api,
    kind: Kind,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Answer, Answer> {
    let caller = Caller::authenticate(&headers)?;
    let read = move |connection: &_| ledger::find(connection, kind, caller.tenant, &id);
    match api.store.read(read).await {
        Ok(Some(document)) => Ok(Answer::json(StatusCode::OK, &Value::Object(document))),
        Ok(None) => Err(ledger::not_found()),
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

async fn change_payment(
    State(api): Api,
    Path(payment): Path<String>,
    request: Request,
) -> Result<Answer, Answer> {
    write(api, Operation::Change { payment }, request).await
}

/// Authentication, authorisation, validation, the key: in this order, and before anything is
/// remembered.
async fn write(api: Arc<Keyed>, operation: Operation, request: Request) -> Result<Answer, Answer> {
    let (head, body) = request.into_parts();
    let headers = head.headers;
    let authorized =
        Caller::authenticate(&headers).and_then(|caller| caller.authorize_write().map(|()| caller));
    let caller = match authorized {
        Ok(caller) => caller,
        Err(refusal) => return Err(refuse(&api, &operation, &headers, refusal).await),
    };
    let behaviour = Behaviour::read(&headers)?;
    let body = read_json(&headers, body).await?;
    let of = Ingredients {
        operation: &operation.label(),
        body: &body,
    };
    let fingerprint = fingerprint(of, api.flaw);
    let slot = |key: String| Slot {
        tenant: match api.flaw {
            Some(Flaw::SharesKeysBetweenTenants) => "anyone".to_owned(),
            _ => caller.tenant.to_owned(),
        },
        operation: operation.label(),
        key: match api.flaw {
            Some(Flaw::ExecutesChangedPayload) => format!("{key} {fingerprint}"),
            _ => key,
        },
    };
    let command = match operation.command(&body) {
        Ok(command) => command,
        Err(refusal) => {
            if api.flaw == Some(Flaw::StoresValidationFailures)
                && let Ok(Some(key)) = key::read(&headers, api.flaw)
            {
                let row = Stored {
                    slot: slot(key),
                    fingerprint,
                    answer: refusal.clone(),
                    completed: api.clock.now(),
                };
                api.store.keep(row).await.map_err(|_| Answer::internal())?;
            }
            return Err(refusal);
        }
    };
    let key = key::read(&headers, api.flaw)?;
    let line = Line::default();
    let call = Call {
        tenant: caller.tenant,
        slot: key.map(slot),
        fingerprint,
        id: format!("{}_{}", command.prefix(), Uuid::new_v4().simple()),
        command,
        behaviour,
        started: api.clock.now(),
        line: line.clone(),
    };
    // The write runs in a task of its own: a client that hangs up must not cancel it.
    let _held = line.hold();
    let task = tokio::spawn(async move { api.perform(Arc::new(call)).await });
    task.await.map_err(|_| Answer::internal())
}

/// Answers a write whose caller is not known, or may not write.
async fn refuse(
    api: &Keyed,
    operation: &Operation,
    headers: &HeaderMap,
    refusal: Answer,
) -> Answer {
    if api.flaw == Some(Flaw::LooksUpBeforeAuthentication)
        && let Ok(Some(key)) = key::read(headers, api.flaw)
    {
        let condition = "operation = ?2 AND key = ?3";
        let values = vec![operation.label(), key];
        let found = api.store.find_where(condition, values, api.expired()).await;
        if let Ok(Some(stored)) = found {
            return replay(stored);
        }
    }
    refusal
}

async fn read_json(headers: &HeaderMap, body: Body) -> Result<Value, Answer> {
    let declared = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|media_type| media_type.trim().to_ascii_lowercase());
    let is_json = declared.is_some_and(|media_type| {
        media_type == "application/json"
            || (media_type.starts_with("application/") && media_type.ends_with("+json"))
    });
    if !is_json {
        let detail = "Send the body as application/json.";
        return Err(Answer::problem(Problem::UnsupportedMediaType, detail));
    }
    let bytes = read_body(headers, body).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| malformed(&format!("The body is not JSON: {error}.")))
}

async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, Answer> {
    let too_large = || Answer::problem(Problem::TooLarge, "The body may have at most 1 MiB.");
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<u64>().ok());
    if length.is_some_and(|length| length > LARGEST as u64) {
        return Err(too_large());
    }
    to_bytes(body, LARGEST).await.map_err(|error| {
        if error.into_inner().is::<LengthLimitError>() {
            return too_large();
        }
        malformed("The body did not arrive in full.")
    })
}

fn malformed(detail: &str) -> Answer {
    Answer::problem(Problem::Malformed, detail)
}
