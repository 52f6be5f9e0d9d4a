//! The headers `Demo-Behaviour` and `Demo-Pace`: special behaviour that a client asks of one write.
//! They are no part of what the request means, so not of its fingerprint either.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Problem};

/// The header that asks for a behaviour.
pub const HEADER: &str = "demo-behaviour";

/// The header that asks for a slow write, whatever else is asked of it.
const PACE: &str = "demo-pace";

/// What `large` pads a response by, in bytes: 300 KiB.
const PADDING: usize = 300 * 1024;

/// Whether a write works eight times as long before it writes; a pace that is not known is
/// answered 400.
pub fn is_slow(headers: &HeaderMap) -> Result<bool, Answer> {
    match headers.get(PACE) {
        None => Ok(false),
        Some(value) if value == "slow" => Ok(true),
        Some(_) => Err(Answer::problem(
            Problem::Malformed,
            "Demo-Pace must be slow.",
        )),
    }
}

/// A special behaviour of one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Behaviour {
    /// Writes at once, then waits eight times the work before it answers.
    Linger,
    /// Fails before the write, always.
    FailBefore,
    /// Fails before the write, the first time per reference.
    FailOnce,
    /// Fails after the write, which is rolled back.
    FailAfter,
    /// As `FailAfter`, the first time per reference.
    FailAfterOnce,
    /// Works so long that it is given up, and writes nothing.
    TimeOut,
    /// Is declined by the business after execution has begun.
    Decline,
    /// Answers 204 without a body.
    NoContent,
    /// Answers with a body of more than 300 KiB.
    Large,
    /// Answers 202 with a link to the status; `Prefer: respond-async` (RFC 7240) asks for it as well.
    Accepted,
    /// Answers with bytes that are no text.
    Binary,
    /// Answers piece by piece.
    Stream,
    /// Is one of a class of requests of which three a second are taken.
    Limited,
}

impl Behaviour {
    /// Every behaviour, by the name it has in the header.
    const NAMES: [(&'static str, Behaviour); 13] = [
        ("linger", Behaviour::Linger),
        ("fail-before", Behaviour::FailBefore),
        ("fail-once", Behaviour::FailOnce),
        ("fail-after", Behaviour::FailAfter),
        ("fail-after-once", Behaviour::FailAfterOnce),
        ("time-out", Behaviour::TimeOut),
        ("decline", Behaviour::Decline),
        ("no-content", Behaviour::NoContent),
        ("large", Behaviour::Large),
        ("accepted", Behaviour::Accepted),
        ("binary", Behaviour::Binary),
        ("stream", Behaviour::Stream),
        ("limited", Behaviour::Limited),
    ];

    /// Reads the header; a name that is not known is answered 400.
    pub fn read(headers: &HeaderMap) -> Result<Option<Behaviour>, Answer> {
        let Some(value) = headers.get(HEADER) else {
            return Ok(prefers_async(headers).then_some(Behaviour::Accepted));
        };
        let known = Behaviour::NAMES
            .iter()
            .find(|(name, _)| value.as_bytes() == name.as_bytes());
        if let Some((_, behaviour)) = known {
            return Ok(Some(*behaviour));
        }
        let names: Vec<_> = Behaviour::NAMES.iter().map(|(name, _)| *name).collect();
        let detail = format!("Demo-Behaviour must be one of {}.", names.join(", "));
        Err(Answer::problem(Problem::Malformed, detail))
    }

    /// Turns the ordinary answer of a write into the one that this behaviour asks for.
    pub fn dress(self, mut answer: Answer, mut document: Map<String, Value>) -> Answer {
        match self {
            Behaviour::NoContent => {
                answer.status = StatusCode::NO_CONTENT;
                answer.content_type = None;
                answer.body = Bytes::new();
            }
            Behaviour::Large => {
                document.insert("padding".to_owned(), Value::from("x".repeat(PADDING)));
                answer.body = Bytes::from(Value::Object(document).to_string());
            }
            Behaviour::Accepted => {
                let body = json!({
                    "id": document.get("id"),
                    "status": "accepted",
                    "status_link": answer.location,
                });
                answer.status = StatusCode::ACCEPTED;
                answer.body = Bytes::from(body.to_string());
            }
            Behaviour::Binary => {
                let mut bytes: Vec<u8> = (0..=255).collect();
                bytes.extend(
                    document
                        .get("id")
                        .and_then(Value::as_str)
                        .map(str::as_bytes)
                        .unwrap_or_default(),
                );
                answer.content_type = Some("application/octet-stream".to_owned());
                answer.body = Bytes::from(bytes);
            }
            Behaviour::Stream => answer.streamed = true,
            Behaviour::Linger
            | Behaviour::FailBefore
            | Behaviour::FailOnce
            | Behaviour::FailAfter
            | Behaviour::FailAfterOnce
            | Behaviour::TimeOut
            | Behaviour::Decline
            | Behaviour::Limited => {}
        }
        answer
    }
}

/// Whether a client would rather have a link at once than the result later (RFC 7240, section 4.1).
pub fn prefers_async(headers: &HeaderMap) -> bool {
    headers
        .get_all(HeaderName::from_static("prefer"))
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|preference| preference.trim().eq_ignore_ascii_case("respond-async"))
}
