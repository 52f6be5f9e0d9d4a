//! How the demo behaves in what has nothing to do with keys: lists that lag, cookies, limits.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::answer::{Answer, Problem};

/// The header by which a request can be named to whoever runs the API.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How the demo behaves in what has nothing to do with keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manners {
    /// How long it takes until lists show what was made.
    pub lists_after: Duration,
    /// The same for a thing that is asked for by its id.
    pub shows_after: Duration,
    /// Every answer sets a cookie of its own, and names its request.
    pub cookies: bool,
    /// Writes that are let in at once; `None` is no limit. Further ones are answered 429.
    pub most_writes: Option<usize>,
    /// Connections that are served at once; `None` is no limit. Further ones are closed.
    pub most_connections: Option<usize>,
    /// Requests that a connection serves before it is ended: over HTTP/2 with GOAWAY (RFC 9113,
    /// section 6.8), over HTTP/1.1 with `Connection: close`. `None` is no limit.
    pub requests_per_connection: Option<usize>,
    /// A PUT that finds what it puts is answered 204, without a body.
    pub silent_puts: bool,
    /// A slow write is answered 504 once by what stands in front, and passed on to nobody.
    pub gives_up_beforehand: bool,
    /// Writes wait for one another.
    pub one_at_a_time: bool,
    /// An event that was taken is delivered once more, under its id.
    pub delivers_twice: bool,
    /// Each attempt to deliver an event has words and a signature of its own.
    pub words_events_anew: bool,
    /// Events are delivered side by side, in any order.
    pub events_overtake: bool,
    /// A notice that comes again is answered 409.
    pub refuses_known_notices: bool,
    /// A notice is answered 202, and handled afterwards.
    pub handles_notices_later: bool,
}

/// What the router keeps for it.
#[derive(Debug)]
struct Porter {
    manners: Manners,
    writes: Semaphore,
}

impl Manners {
    /// The router of an API that behaves so.
    pub fn wrapped(&self, router: Router) -> Router {
        let writes = self.most_writes.unwrap_or(Semaphore::MAX_PERMITS);
        let porter = Porter {
            manners: self.clone(),
            writes: Semaphore::new(writes),
        };
        router.layer(from_fn_with_state(Arc::new(porter), behave))
    }
}

async fn behave(State(porter): State<Arc<Porter>>, request: Request, next: Next) -> Response {
    let reads = request.method() == Method::GET;
    let puts = request.method() == Method::PUT;
    let admitted = if reads {
        None
    } else {
        match porter.writes.try_acquire() {
            Ok(admitted) => Some(admitted),
            Err(_) => return too_many(),
        }
    };
    let mut response = next.run(request).await;
    drop(admitted);
    if puts && porter.manners.silent_puts && response.status() == StatusCode::OK {
        response = StatusCode::NO_CONTENT.into_response();
    }
    if porter.manners.cookies {
        let token = Uuid::new_v4().simple().to_string();
        let cookie = format!("csrf={token}; Path=/; SameSite=Strict");
        for (name, text) in [(SET_COOKIE, &cookie), (REQUEST_ID, &token)] {
            if let Ok(value) = HeaderValue::from_str(text) {
                response.headers_mut().append(name, value);
            }
        }
    }
    response
}

fn too_many() -> Response {
    let detail = "There are too many requests. Ask again in 1 s.";
    let mut response = Answer::problem(Problem::RateLimited, detail).into_response();
    let second = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, second);
    response
}
