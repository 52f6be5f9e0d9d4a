//! The headers `Demo-Behaviour` and `Demo-Pace`: special behaviour that a client asks of one write.
//! They are no part of what the request means, so not of its fingerprint either.

use axum::http::{HeaderMap, StatusCode};
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
    /// Is declined by the business after execution has begun.
    Decline,
    /// Answers 204 without a body.
    NoContent,
    /// Answers with a body of more than 300 KiB.
    Large,
    /// Answers 202 with a link to the status.
    Accepted,
}

impl Behaviour {
    /// Every behaviour, by the name it has in the header.
    const NAMES: [(&'static str, Behaviour); 9] = [
        ("linger", Behaviour::Linger),
        ("fail-before", Behaviour::FailBefore),
        ("fail-once", Behaviour::FailOnce),
        ("fail-after", Behaviour::FailAfter),
        ("fail-after-once", Behaviour::FailAfterOnce),
        ("decline", Behaviour::Decline),
        ("no-content", Behaviour::NoContent),
        ("large", Behaviour::Large),
        ("accepted", Behaviour::Accepted),
    ];

    /// Reads the header; a name that is not known is answered 400.
    pub fn read(headers: &HeaderMap) -> Result<Option<Behaviour>, Answer> {
        let Some(value) = headers.get(HEADER) else {
            return Ok(None);
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
            Behaviour::Linger
            | Behaviour::FailBefore
            | Behaviour::FailOnce
            | Behaviour::FailAfter
            | Behaviour::FailAfterOnce
            | Behaviour::Decline => {}
        }
        answer
    }
}
