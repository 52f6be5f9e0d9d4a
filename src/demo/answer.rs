//! What the API answers, in the one shape in which an answer is also stored and replayed; and its
//! problems (RFC 9457).

use std::convert::Infallible;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use quick_xml::escape::escape;
use serde_json::{Value, json};

use super::policy::{Element, Marker, Refusal, Said, Step};

/// An answer: status, the headers that matter, body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: StatusCode,
    /// `Content-Type`; none without a body.
    pub content_type: Option<String>,
    /// `Location`, when something was made.
    pub location: Option<String>,
    /// `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// The body, byte for byte.
    pub body: Bytes,
    /// Whether this answer is a replay, and to be marked as one.
    pub replayed: bool,
    /// Further headers, which are not stored.
    pub headers: Vec<(String, String)>,
    /// Whether the body is sent piece by piece; a replay sends it whole.
    pub streamed: bool,
}

impl Answer {
    /// An answer with a JSON body.
    pub fn json(status: StatusCode, value: &Value) -> Answer {
        Answer {
            content_type: Some("application/json".to_owned()),
            body: Bytes::from(value.to_string()),
            ..Answer::empty(status)
        }
    }

    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Answer {
        Answer {
            status,
            content_type: None,
            location: None,
            retry_after: None,
            body: Bytes::new(),
            replayed: false,
            headers: Vec::new(),
            streamed: false,
        }
    }

    /// A problem, with a detail that says what is wrong and what to do.
    pub fn problem(problem: Problem, detail: impl Into<String>) -> Answer {
        let (status, name, title) = problem.parts();
        let body = json!({
            "type": format!("/problems/{name}"),
            "title": title,
            "status": status.as_u16(),
            "detail": detail.into(),
        });
        Answer {
            content_type: Some("application/problem+json".to_owned()),
            ..Answer::json(status, &body)
        }
    }

    /// A problem in the look that a policy gives it. `resource` is the id of what the first request
    /// of the key made.
    pub fn refusal(
        problem: Problem,
        detail: impl Into<String>,
        look: &Refusal,
        resource: Option<&str>,
    ) -> Answer {
        let (_, name, title) = problem.parts();
        let detail = detail.into();
        let text = |said: &Said| match said {
            Said::Text(text) => text.clone(),
            Said::Resource => resource.unwrap_or_default().to_owned(),
        };
        let mut body = json!({
            "type": format!("/problems/{name}"),
            "title": title,
            "status": look.status,
            "detail": detail,
        });
        for (path, said) in &look.members {
            put(&mut body, path, Value::from(text(said)));
        }
        let headers = look.headers.iter();
        let bytes = match &look.xml {
            Some(element) => Bytes::from(reply(element)),
            None => Bytes::from(body.to_string()),
        };
        Answer {
            body: bytes,
            content_type: Some(look.media_type.clone()),
            retry_after: look.retry_after.then_some(1),
            headers: headers
                .map(|(name, said)| (name.clone(), text(said)))
                .collect(),
            ..Answer::empty(status(look.status))
        }
    }

    /// The answer with what a replay, or every answer, is marked by. `key` is the key that was sent.
    pub fn marked(mut self, marker: &Marker, key: Option<&str>) -> Answer {
        let mark = |value: &str, first: &Option<String>| match (self.replayed, first) {
            (true, _) => Some(value.to_owned()),
            (false, Some(first)) if self.status.is_success() => Some(first.clone()),
            (false, _) => None,
        };
        match marker {
            Marker::Nothing => {}
            Marker::Header { name, value, first } => {
                if let Some(mark) = mark(value, first) {
                    self.headers.push((name.clone(), mark));
                }
            }
            Marker::Member { path, value, first } => {
                if let Some(mark) = mark(value, first)
                    && let Ok(mut body @ Value::Object(_)) = serde_json::from_slice(&self.body)
                {
                    // `true` and `3` are written as what they are.
                    let mark = serde_json::from_str(&mark).unwrap_or(Value::String(mark));
                    put(&mut body, path, mark);
                    self.body = Bytes::from(body.to_string());
                }
            }
            Marker::KeyEcho(name) => {
                let key = key.map(|key| (name.clone(), key.to_owned()));
                self.headers.extend(key);
            }
        }
        self
    }

    /// The answer to an error inside the demo itself.
    pub fn internal() -> Answer {
        Answer::problem(Problem::Internal, "The request could not be processed.")
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(match self.streamed {
            true => in_pieces(&self.body),
            false => Body::from(self.body),
        });
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let text = |text: Option<String>| text.and_then(|text| HeaderValue::from_str(&text).ok());
        if let Some(value) = text(self.content_type) {
            headers.insert(CONTENT_TYPE, value);
        }
        if let Some(value) = text(self.location) {
            headers.insert(LOCATION, value);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        for (name, value) in self.headers {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.append(name, value);
            }
        }
        response
    }
}

impl Refusal {
    /// Status, headers and body of a refusal of this look. `resource` is the id of what the first
    /// request made.
    pub fn example(&self, resource: &str) -> (u16, Vec<(String, String)>, String) {
        let answer = Answer::refusal(Problem::KeyReused, "", self, Some(resource));
        let mut headers = answer.headers;
        headers.extend(
            answer
                .content_type
                .map(|text| ("content-type".to_owned(), text)),
        );
        headers.extend(
            answer
                .retry_after
                .map(|seconds| ("retry-after".to_owned(), seconds.to_string())),
        );
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        (answer.status.as_u16(), headers, body)
    }
}

/// A body without a length, in pieces of 64 bytes.
fn in_pieces(body: &[u8]) -> Body {
    let pieces: Vec<_> = body.chunks(64).map(Bytes::copy_from_slice).collect();
    Body::from_stream(futures::stream::iter(
        pieces.into_iter().map(Ok::<Bytes, Infallible>),
    ))
}

/// A reply in XML with one element in it.
fn reply(element: &Element) -> String {
    let Element {
        name,
        attributes,
        text,
    } = element;
    let attributes: String = attributes
        .iter()
        .map(|(name, value)| format!(" {name}=\"{}\"", escape(value)))
        .collect();
    let text = escape(text);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<reply><{name}{attributes}>{text}</{name}></reply>\n"
    )
}

/// A status by its number; one that is none is an error of ours.
pub fn status(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Puts a value into a document, making what leads to it.
pub fn put(document: &mut Value, path: &[Step], value: Value) {
    let Some((step, rest)) = path.split_first() else {
        *document = value;
        return;
    };
    match step {
        Step::Member(name) => {
            if !document.is_object() {
                *document = json!({});
            }
            put(&mut document[name.as_str()], rest, value);
        }
        Step::Item => {
            if document.get(0).is_none() {
                *document = json!([null]);
            }
            put(&mut document[0], rest, value);
        }
    }
}

/// The kinds of problem that the API reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// 401: no, unknown or expired credentials.
    Unauthorized,
    /// 403: these credentials may read only.
    Forbidden,
    /// 404: no such route, or nothing there for this tenant.
    NotFound,
    /// 405: the route does not take this method.
    MethodNotAllowed,
    /// 400: the body is not JSON, or a header or query has no meaning.
    Malformed,
    /// 413: the body is above 1 MiB.
    TooLarge,
    /// 415: the body is not declared as JSON.
    UnsupportedMediaType,
    /// 422: the body is JSON, but not a valid request.
    Invalid,
    /// 400: the operation needs an idempotency key.
    KeyMissing,
    /// 400: the idempotency key is not a valid one.
    KeyMalformed,
    /// 400: a key without the date of its first sending, or such a date without a key.
    DateMissing,
    /// 400: the date of the first sending is none.
    DateMalformed,
    /// 409: a request with this key is being worked on.
    InProgress,
    /// 422: the key was used for another request.
    KeyReused,
    /// 409: the key has made something before.
    Conflict,
    /// 412: the key was used too long ago.
    KeyExpired,
    /// 402: the business declines.
    Declined,
    /// 412: what is to be changed has another version by now.
    VersionMismatch,
    /// 429: too many requests of this class.
    RateLimited,
    /// 503: the records of keys cannot be reached.
    StoreUnavailable,
    /// 409: a coupon has no uses left.
    UsedUp,
    /// 409: a cart is no longer what the caller has seen.
    OutOfDate,
    /// 504: the work took too long and was given up.
    TimedOut,
    /// 500: the request failed.
    Internal,
}

impl Problem {
    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Problem::Unauthorized => (S::UNAUTHORIZED, "unauthorized", "Unauthorized"),
            Problem::Forbidden => (S::FORBIDDEN, "forbidden", "Forbidden"),
            Problem::NotFound => (S::NOT_FOUND, "not-found", "Not found"),
            Problem::MethodNotAllowed => (
                S::METHOD_NOT_ALLOWED,
                "method-not-allowed",
                "Method not allowed",
            ),
            Problem::Malformed => (S::BAD_REQUEST, "malformed", "Malformed request"),
            Problem::TooLarge => (S::PAYLOAD_TOO_LARGE, "too-large", "Body too large"),
            Problem::UnsupportedMediaType => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "unsupported-media-type",
                "Unsupported media type",
            ),
            Problem::Invalid => (S::UNPROCESSABLE_ENTITY, "invalid", "Invalid request"),
            Problem::KeyMissing => (S::BAD_REQUEST, "key-missing", "Idempotency key missing"),
            Problem::KeyMalformed => (S::BAD_REQUEST, "key-malformed", "Idempotency key malformed"),
            Problem::DateMissing => (
                S::BAD_REQUEST,
                "date-missing",
                "Date of first sending missing",
            ),
            Problem::DateMalformed => (
                S::BAD_REQUEST,
                "date-malformed",
                "Date of first sending malformed",
            ),
            Problem::InProgress => (S::CONFLICT, "in-progress", "Request in progress"),
            Problem::KeyReused => (
                S::UNPROCESSABLE_ENTITY,
                "key-reused",
                "Idempotency key reused",
            ),
            Problem::Conflict => (S::CONFLICT, "conflict", "Already made"),
            Problem::KeyExpired => (
                S::PRECONDITION_FAILED,
                "key-expired",
                "Idempotency key expired",
            ),
            Problem::Declined => (S::PAYMENT_REQUIRED, "declined", "Payment declined"),
            Problem::VersionMismatch => (
                S::PRECONDITION_FAILED,
                "version-mismatch",
                "Changed meanwhile",
            ),
            Problem::RateLimited => (S::TOO_MANY_REQUESTS, "rate-limited", "Too many requests"),
            Problem::StoreUnavailable => (
                S::SERVICE_UNAVAILABLE,
                "store-unavailable",
                "Key store unavailable",
            ),
            Problem::UsedUp => (S::CONFLICT, "used-up", "Used up"),
            Problem::OutOfDate => (S::CONFLICT, "out-of-date", "Out of date"),
            Problem::TimedOut => (S::GATEWAY_TIMEOUT, "timed-out", "Given up"),
            Problem::Internal => (
                S::INTERNAL_SERVER_ERROR,
                "internal",
                "Internal server error",
            ),
        }
    }
}
