//! What the API answers, in the one shape in which an answer is also stored and replayed; and its
//! problems (RFC 9457).

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

/// Marks an answer that was replayed rather than executed.
pub const REPLAYED: &str = "idempotency-replayed";

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
    /// Whether this answer is a replay, and says so.
    pub replayed: bool,
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
            retry_after: matches!(problem, Problem::InProgress).then_some(1),
            ..Answer::json(status, &body)
        }
    }

    /// The answer to an error inside the demo itself.
    pub fn internal() -> Answer {
        Answer::problem(Problem::Internal, "The request could not be processed.")
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
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
        if self.replayed {
            headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
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
    /// 409: a request with this key is being worked on.
    InProgress,
    /// 422: the key was used for another request.
    KeyReused,
    /// 402: the business declines.
    Declined,
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
            Problem::InProgress => (S::CONFLICT, "in-progress", "Request in progress"),
            Problem::KeyReused => (
                S::UNPROCESSABLE_ENTITY,
                "key-reused",
                "Idempotency key reused",
            ),
            Problem::Declined => (S::PAYMENT_REQUIRED, "declined", "Payment declined"),
            Problem::Internal => (
                S::INTERNAL_SERVER_ERROR,
                "internal",
                "Internal server error",
            ),
        }
    }
}
