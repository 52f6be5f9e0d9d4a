//! The admin listener: a port of its own on loopback, where a tester moves the demo's clock, says
//! where its events are delivered, takes a grant away, and takes the records of keys down.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde_json::json;
use url::{Url, form_urlencoded};

use super::answer::{Answer, Problem};
use super::clock::{Clock, rfc3339};
use super::outbox;
use super::routes::{health, no_method, no_route};
use super::store::Store;
use super::switches::Switches;

/// What the admin listener works on.
#[derive(Clone)]
struct Admin {
    clock: Arc<Clock>,
    store: Store,
}

impl FromRef<Admin> for Arc<Clock> {
    fn from_ref(admin: &Admin) -> Arc<Clock> {
        Arc::clone(&admin.clock)
    }
}

impl FromRef<Admin> for Store {
    fn from_ref(admin: &Admin) -> Store {
        admin.store.clone()
    }
}

/// The router of the admin listener.
pub fn router(clock: Arc<Clock>, store: Store, switches: Arc<Switches>) -> Router {
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
        .route("/subscription", post(subscribe))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(Admin { clock, store })
}
async fn show(State(clock): State<Arc<Clock>>) -> Answer {
    let body = json!({"now": rfc3339(clock.now()), "seconds": clock.advanced()});
    Answer::json(StatusCode::OK, &body)
}

async fn advance(
    State(clock): State<Arc<Clock>>,
    RawQuery(query): RawQuery,
) -> Result<Answer, Answer> {
    let seconds = named(query.as_deref(), "seconds").and_then(|value| value.parse().ok());
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

async fn subscribe(
    State(store): State<Store>,
    RawQuery(query): RawQuery,
) -> Result<Answer, Answer> {
    let url = named(query.as_deref(), "url").filter(|url| {
        Url::parse(url).is_ok_and(|url| url.scheme() == "http" && url.host_str().is_some())
    });
    let Some(url) = url else {
        let detail = "Send ?url= with an http URL that takes events.";
        return Err(Answer::problem(Problem::Malformed, detail));
    };
    let body = json!({"url": url});
    let subscribed = store
        .change(move |connection| outbox::subscribe(connection, &url))
        .await;
    match subscribed {
        Ok(()) => Ok(Answer::json(StatusCode::OK, &body)),
        Err(_) => Err(Answer::internal()),
    }
}

/// The first value of this name in a query.
fn named(query: Option<&str>, name: &str) -> Option<String> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(own, _)| own == name)
        .map(|(_, value)| value.into_owned())
}
