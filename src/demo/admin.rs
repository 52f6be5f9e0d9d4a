//! The admin listener: a port of its own on loopback, where a tester moves the demo's clock, takes
//! a grant away, and takes the records of keys down.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde_json::json;
use url::form_urlencoded;

use super::answer::{Answer, Problem};
use super::clock::{Clock, rfc3339};
use super::routes::{health, no_method, no_route};
use super::switches::Switches;

/// The router of the admin listener.
pub fn router(clock: Arc<Clock>, switches: Arc<Switches>) -> Router {
    let switched = |set: fn(&Switches, bool), on: bool| {
        let switches = Arc::clone(&switches);
        post(async move || {
            set(&switches, on);
            Answer::empty(StatusCode::NO_CONTENT)
        })
    };
    Router::new()
        .route("/healthz", get(health))
        .route("/clock", get(show))
        .route("/clock/advance", post(advance))
        .route("/grant/revoke", switched(Switches::revoke, true))
        .route("/grant/restore", switched(Switches::revoke, false))
        .route("/store/down", switched(Switches::take_store_down, true))
        .route("/store/up", switched(Switches::take_store_down, false))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(clock)
}

async fn show(State(clock): State<Arc<Clock>>) -> Answer {
    let body = json!({"now": rfc3339(clock.now()), "seconds": clock.advanced()});
    Answer::json(StatusCode::OK, &body)
}

async fn advance(
    State(clock): State<Arc<Clock>>,
    RawQuery(query): RawQuery,
) -> Result<Answer, Answer> {
    let query = query.unwrap_or_default();
    let seconds = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "seconds")
        .and_then(|(_, value)| value.parse().ok());
    let Some(seconds) = seconds else {
        let detail = "Send ?seconds= with a whole number of seconds.";
        return Err(Answer::problem(Problem::Malformed, detail));
    };
    if clock.advance(seconds).is_none() {
        let detail = "The clock may be advanced by at most a hundred years in all.";
        return Err(Answer::problem(Problem::Malformed, detail));
    }
    Ok(show(State(clock)).await)
}
