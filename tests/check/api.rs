//! A payments API with habits that the demo has not: it ignores filters, shows effects late, wants
//! odd keys, and shows another time at each read.

use axum::Json;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What is odd about it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Habits {
    pub(crate) ignores_filters: bool,
    pub(crate) shows_after: Duration,
    pub(crate) wants_quoted_keys: bool,
    pub(crate) refuses_equal_payloads: bool,
    pub(crate) answers_200_with_errors: bool,
}

type Shared = Arc<(Habits, Mutex<Vec<Payment>>)>;

struct Payment {
    key: String,
    body: Value,
    made: Instant,
}

impl Payment {
    fn shown(&self, number: usize) -> Value {
        json!({ "id": format!("pay_{number}"), "reference": self.body["reference"] })
    }
}

/// Serves on a free port until the runtime ends. Returns its address.
pub(crate) fn serve(habits: Habits) -> (tokio::runtime::Runtime, SocketAddr) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let state: Shared = Arc::new((habits, Mutex::new(Vec::new())));
    let router = Router::new()
        .route("/payments", get(list).post(pay))
        .route("/payments/{id}", get(find))
        .with_state(state);
    runtime.spawn(async move { axum::serve(listener, router).await });
    (runtime, address)
}

async fn pay(State(state): State<Shared>, headers: HeaderMap, body: String) -> Response {
    let (habits, payments) = &*state;
    let body: Value = serde_json::from_str(&body).expect("the tool sends JSON");
    let key = headers["idempotency-key"]
        .to_str()
        .expect("a text")
        .to_owned();
    if habits.answers_200_with_errors {
        return Json(json!({ "errors": ["no"] })).into_response();
    }
    if habits.wants_quoted_keys && !key.starts_with('"') {
        return (StatusCode::BAD_REQUEST, "a key is a quoted string").into_response();
    }
    let mut payments = payments.lock().expect("no handler panics");
    let at = match payments.iter().position(|payment| payment.key == key) {
        Some(at) => at,
        None if habits.refuses_equal_payloads
            && payments.iter().any(|payment| payment.body == body) =>
        {
            return (StatusCode::CONFLICT, "there is one like it").into_response();
        }
        None => {
            payments.push(Payment {
                key,
                body,
                made: Instant::now(),
            });
            payments.len() - 1
        }
    };
    (StatusCode::CREATED, Json(payments[at].shown(at))).into_response()
}

async fn list(
    State(state): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
) -> Json<Value> {
    let (habits, payments) = &*state;
    let payments = payments.lock().expect("no handler panics");
    let shown: Vec<Value> = payments
        .iter()
        .enumerate()
        .filter(|(_, payment)| {
            let fits = query
                .get("reference")
                .is_some_and(|wanted| payment.body["reference"] == **wanted);
            (habits.ignores_filters || fits) && payment.made.elapsed() >= habits.shows_after
        })
        .map(|(at, payment)| payment.shown(at))
        .collect();
    Json(json!({ "data": shown }))
}

async fn find(State(state): State<Shared>, Path(id): Path<String>) -> Json<Value> {
    let payments = state.1.lock().expect("no handler panics");
    let seconds = payments
        .first()
        .map_or(0, |first| first.made.elapsed().as_millis());
    Json(json!({ "id": id, "age": seconds.to_string() }))
}
