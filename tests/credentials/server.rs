//! A small payments API that lets nobody in without the credentials that a test wants, and keeps
//! what it gave out.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Whether a request may come in.
pub type Admits = dyn Fn(&Api, &Parts, &Bytes) -> bool + Send + Sync;

/// What the API knows.
#[derive(Default)]
pub struct Book {
    payments: Vec<(String, String)>,
    answers: HashMap<String, (Bytes, String)>,
    /// Tokens, and how many requests they are good for.
    tokens: Vec<(String, u32)>,
    pub refused: u32,
}

impl Book {
    /// How many payments were made.
    pub fn paid(&self) -> usize {
        self.payments.len()
    }
}

/// The API.
pub struct Api {
    pub book: Mutex<Book>,
    admits: Box<Admits>,
    /// For how long a token is good, as far as it says; in truth it is good for longer, so that a
    /// busy machine makes nobody late.
    says: Option<Duration>,
    /// How many requests a token is good for.
    uses: u32,
    /// Nobody reaches it but by the certificate of `app`, so that a token needs no secret.
    certified: bool,
}

impl Api {
    pub fn new(admits: Box<Admits>) -> Api {
        Api {
            book: Mutex::default(),
            admits,
            says: Some(Duration::from_secs(60)),
            uses: u32::MAX,
            certified: false,
        }
    }

    /// It knows its clients by their certificates.
    pub fn certified(self) -> Api {
        Api {
            certified: true,
            ..self
        }
    }

    /// It says that its tokens are good for this time.
    pub fn giving_for(self, lifetime: Duration) -> Api {
        let says = Some(lifetime);
        Api { says, ..self }
    }

    /// Its tokens are good for so many requests, and it says nothing of their end.
    pub fn giving_silently(self, uses: u32) -> Api {
        Api {
            uses,
            says: None,
            ..self
        }
    }

    /// All tokens that were given out.
    pub fn given(&self) -> Vec<String> {
        let book = self.book.lock().expect("the book");
        let tokens = book.tokens.iter();
        tokens.map(|(token, _)| token.clone()).collect()
    }

    pub fn knows(&self, token: &str) -> bool {
        let mut book = self.book.lock().expect("the book");
        let mut tokens = book.tokens.iter_mut();
        let Some((_, uses)) = tokens.find(|(own, _)| own == token) else {
            return false;
        };
        let is_good = *uses > 0;
        *uses = uses.saturating_sub(1);
        is_good
    }

    fn give(&self) -> Response {
        let mut book = self.book.lock().expect("the book");
        let token = format!("token-{}-of-the-api", uuid::Uuid::new_v4());
        book.tokens.push((token.clone(), self.uses));
        let mut body = json!({ "access_token": token, "token_type": "Bearer" });
        if let Some(lifetime) = self.says {
            body["expires_in"] = json!(lifetime.as_secs_f64());
        }
        answer(200, &body)
    }

    /// Serves until the runtime ends.
    pub async fn serve(self: Arc<Api>) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new().fallback(handle).with_state(self);
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }
}

fn answer(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("an answer")
}

async fn handle(State(api): State<Arc<Api>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap_or_default();
    let path = parts.uri.path();
    if path == "/login" {
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        return match sent["password"] == "the-password-of-ada" {
            true => api.give(),
            false => answer(403, &json!({ "error": "unknown" })),
        };
    }
    if path == "/oauth/token" {
        let form = String::from_utf8_lossy(&body);
        let asks = form.contains("grant_type=client_credentials");
        // `app:sec%2Fret-of-the-app`, as RFC 6749 has it.
        let known = "Basic YXBwOnNlYyUyRnJldC1vZi10aGUtYXBw";
        let is_known = match (api.certified, header(&parts, "authorization")) {
            // RFC 8705, section 2: the client names itself, and its certificate proves it.
            (true, None) => form.contains("client_id=app") && !form.contains("client_secret"),
            (false, Some(basic)) => basic == known,
            _ => false,
        };
        return match asks && is_known {
            true => api.give(),
            false => answer(401, &json!({ "error": "invalid_client" })),
        };
    }
    if !(api.admits)(&api, &parts, &body) {
        api.book.lock().expect("the book").refused += 1;
        return answer(401, &json!({ "error": "who are you" }));
    }
    let mut book = api.book.lock().expect("the book");
    if parts.method == "GET" {
        let wanted = parts.uri.query().unwrap_or_default();
        let wanted = wanted.strip_prefix("reference=").unwrap_or_default();
        let own = book.payments.iter().filter(|(_, name)| name == wanted);
        let data: Vec<Value> = own.map(|(id, _)| json!({ "id": id })).collect();
        return answer(200, &json!({ "data": data }));
    }
    let Some(key) = header(&parts, "idempotency-key") else {
        return answer(400, &json!({ "error": "no key" }));
    };
    if let Some((first, id)) = book.answers.get(key) {
        return match *first == body {
            true => answer(201, &json!({ "id": id })),
            false => answer(422, &json!({ "error": "another payload" })),
        };
    }
    let id = format!("pay_{}", book.payments.len() + 1);
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = sent["reference"].as_str().unwrap_or_default().to_owned();
    book.payments.push((id.clone(), name));
    book.answers.insert(key.to_owned(), (body, id.clone()));
    answer(201, &json!({ "id": id }))
}

pub fn header<'a>(parts: &'a Parts, name: &str) -> Option<&'a str> {
    parts.headers.get(name)?.to_str().ok()
}

/// Lets in who bears a token that was given out and is good.
pub fn bearer(api: &Api, parts: &Parts, _: &Bytes) -> bool {
    let token = header(parts, "authorization").and_then(|value| value.strip_prefix("Bearer "));
    token.is_some_and(|token| api.knows(token))
}
