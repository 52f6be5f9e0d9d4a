//! What a demo answers, made from its policy without asking it.

use crate::contract::{Behaviour, Kind, Promised};
use crate::demo::policy::{Gives, Marker, Policy, Refusal, Step};
use crate::transcript::Response;
use serde_json::{Value, json};

/// The status of a first success of the operation that is tried.
pub(super) const FIRST: u16 = 201;

/// The id of what a first request made.
const RESOURCE: &str = "pay_0123456789abcdef";

/// A refusal of this look.
pub(super) fn refusal(look: &Refusal) -> Response {
    let (status, headers, body) = look.example(RESOURCE);
    answer(status, headers, body)
}

/// A repeat that is given its answer again.
pub(super) fn replay(policy: &Policy) -> Response {
    let mut body = json!({ "id": RESOURCE });
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    match &policy.marker {
        Marker::Header { name, value, .. } => headers.push((name.clone(), value.clone())),
        Marker::Member { path, value, .. } => put(&mut body, path, value),
        Marker::KeyEcho(_) | Marker::Nothing => {}
    }
    let status = match policy.replay.gives {
        Gives::Reference(status) => status,
        _ => policy.replay.status.unwrap_or(FIRST),
    };
    answer(status, headers, body.to_string())
}

/// The refusal that names the resource, where a repeat is given one.
pub(super) fn conflict(policy: &Policy) -> Option<Response> {
    match &policy.replay.gives {
        Gives::Conflict(look) => Some(refusal(look)),
        Gives::Stored | Gives::Current | Gives::Reference(_) => None,
    }
}

fn put(body: &mut Value, path: &[Step], value: &str) {
    if let [Step::Member(name), ..] = path {
        body[name.as_str()] = Value::from(value);
    }
}

fn answer(status: u16, headers: Vec<(String, String)>, body: String) -> Response {
    let json: Option<Value> = serde_json::from_str(&body).ok();
    Response {
        status,
        headers,
        body_length: body.len(),
        body_digest: String::new(),
        stable_json: json.clone(),
        json,
        body,
        volatile_headers: Default::default(),
        success: (200..300).contains(&status),
        identity: None,
        tokens: Vec::new(),
    }
}

/// Whether one of the promised ways is of one of these kinds and looks like the answer.
pub(super) fn is_promised(
    ways: &Promised<Vec<Behaviour>>,
    kinds: &[Kind],
    answer: &Response,
) -> bool {
    ways.value
        .iter()
        .flatten()
        .any(|way| kinds.contains(&way.kind) && way.fits(answer, Some(FIRST)))
}

/// Whether one of the promised ways is of one of these kinds, however it looks.
pub(super) fn is_of_kind(ways: &Promised<Vec<Behaviour>>, kinds: &[Kind]) -> bool {
    ways.value
        .iter()
        .flatten()
        .any(|way| kinds.contains(&way.kind))
}
