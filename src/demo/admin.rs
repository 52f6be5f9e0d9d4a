//! The admin listener: a port of its own on loopback, where a tester moves the demo's clock.

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

/// The router of the admin listener.
pub fn router(clock: Arc<Clock>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/clock", get(show))
        .route("/clock/advance", post(advance))
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
