//! What of a client's requests is looked at: which are the operation's, and where in them the key
//! and the name of the operation stand.

use super::content::Content;
use super::masks::Masks;
use super::message::Head;
use crate::contract::{Contract, KeyRules};
use crate::target::Target;
use crate::target::client::Recogniser;
use crate::target::key::{Carrier, KeyPlace, PathStep, singular_path};
use crate::target::operation::Operation;
use crate::target::placeholder::{Placeholder, Template};
use crate::target::request::Body;
use crate::target::tree::Tree;
use crate::transcript::client::AttemptRequest;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes of a body that are kept as text.
const MOST_TEXT: usize = 2_000;

/// The operations of a target as their requests look from outside.
#[derive(Debug)]
pub struct Subject {
    known: Vec<Known>,
    masks: Masks,
}

#[derive(Debug)]
struct Known {
    name: String,
    request: Recogniser,
    look_ups: Vec<Recogniser>,
    key: Option<Carrier>,
    marker: Option<Carrier>,
}

/// A request as far as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) method: &'a str,
    /// The path and the query.
    pub(super) target: &'a str,
    pub(super) headers: &'a [(String, String)],
    pub(super) content: &'a Content,
}

impl Subject {
    /// What is to be known of a target; `contract` says where keys go where the file does not.
    pub fn new<'c>(target: &Target, contract: impl Fn(&str) -> Option<&'c Contract>) -> Subject {
        let known = target
            .operations
            .iter()
            .map(|operation| Known {
                name: operation.name.clone(),
                request: Recogniser::of(target, operation),
                look_ups: Recogniser::look_ups(target, operation),
                key: key_carrier(operation, contract(&operation.name).map(|own| &own.key)),
                marker: marker_carrier(operation),
            })
            .collect();
        Subject {
            known,
            masks: Masks::new(&target.secrets),
        }
    }

    /// The operation that a request is.
    pub(super) fn operation(&self, method: &str, target: &str) -> Option<&str> {
        self.find(method, target).map(|known| known.name.as_str())
    }

    /// Whether a request asks what became of an operation.
    pub(super) fn looks_up(&self, method: &str, target: &str) -> bool {
        let path = target.split('?').next().unwrap_or_default();
        self.known
            .iter()
            .flat_map(|known| &known.look_ups)
            .any(|look_up| look_up.knows(method, path))
    }

    /// Whether an operation is sent with this method: all that can be known of a request that is
    /// not read.
    pub(super) fn has_method(&self, method: &str) -> bool {
        self.known
            .iter()
            .any(|known| known.request.method().eq_ignore_ascii_case(method))
    }

    /// Whether the target file says where the payload of an operation names it.
    pub fn is_marked(&self, operation: &str) -> bool {
        self.known
            .iter()
            .any(|known| known.name == operation && known.marker.is_some())
    }

    fn find(&self, method: &str, target: &str) -> Option<&Known> {
        let path = target.split('?').next().unwrap_or_default();
        self.known
            .iter()
            .find(|known| known.request.knows(method, path))
    }

    /// What is written down of a request.
    pub(super) fn read(&self, seen: Seen<'_>) -> AttemptRequest {
        let known = self.find(seen.method, seen.target);
        let read = |carrier: Option<&Carrier>| carrier.and_then(|carrier| value_at(carrier, seen));
        let key = read(known.and_then(|known| known.key.as_ref()));
        let marker = read(known.and_then(|known| known.marker.as_ref()));
        let in_body = known
            .is_some_and(|known| matches!(known.key, Some(Carrier::Json(_) | Carrier::Form(_))));
        let body = seen.content.kept.as_slice();
        let hidden = key.clone().filter(|_| in_body);
        let text = String::from_utf8_lossy(&body[..body.len().min(MOST_TEXT)]);
        AttemptRequest {
            method: seen.method.to_owned(),
            target: self.masks.mask(seen.target),
            headers: self.masks.headers(seen.headers),
            key,
            marker,
            body_bytes: seen.content.length,
            body_digest: seen
                .content
                .digest()
                .unwrap_or_else(|| digest(body, hidden.as_deref())),
            credentials: self.masks.credentials(seen.headers),
            body: self.masks.mask(&text),
        }
    }
}

/// A digest of a body; what it holds of `hidden` counts as nothing.
fn digest(body: &[u8], hidden: Option<&str>) -> String {
    let mut hash = Sha256::new();
    match hidden.filter(|hidden| !hidden.is_empty()) {
        None => hash.update(body),
        Some(hidden) => {
            let mut rest = body;
            let needle = hidden.as_bytes();
            while let Some(at) = rest
                .windows(needle.len())
                .position(|window| window == needle)
            {
                hash.update(&rest[..at]);
                hash.update(b"\0key\0");
                rest = &rest[at + needle.len()..];
            }
            hash.update(rest);
        }
    }
    hash.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn key_carrier(operation: &Operation, rules: Option<&KeyRules>) -> Option<Carrier> {
    match &operation.key {
        Some(KeyPlace::None) => return None,
        Some(KeyPlace::At { carrier, .. }) => return Some(carrier.clone()),
        None => {}
    }
    if let Some(written) = placed(operation, |placeholder| *placeholder == Placeholder::Key) {
        return Some(written);
    }
    let rules = rules?;
    let header = rules.header.clone().map(Carrier::Header);
    let json = || {
        rules
            .json
            .as_deref()
            .and_then(singular_path)
            .map(Carrier::Json)
    };
    let query = || rules.query.clone().map(Carrier::Query);
    let form = || rules.form.clone().map(Carrier::Form);
    header.or_else(json).or_else(query).or_else(form)
}

fn marker_carrier(operation: &Operation) -> Option<Carrier> {
    placed(operation, |placeholder| {
        matches!(placeholder, Placeholder::Marker)
    })
}

/// Where in an operation's request a placeholder stands.
fn placed(operation: &Operation, wanted: fn(&Placeholder) -> bool) -> Option<Carrier> {
    let request = &operation.request;
    let has = |template: &Option<Template>| {
        let template = template.as_ref();
        template.is_some_and(|template| template.placeholders().any(wanted))
    };
    let header = request.headers.iter().find(|pair| has(&pair.value));
    if let Some(pair) = header {
        return Some(Carrier::Header(pair.name.clone()));
    }
    if let Some(pair) = request.query.iter().find(|pair| has(&pair.value)) {
        return Some(Carrier::Query(pair.name.clone()));
    }
    match request.body.as_ref()? {
        Body::Json(tree) => {
            let mut path = Vec::new();
            step_to(tree, wanted, &mut path).then_some(Carrier::Json(path))
        }
        Body::Form(tree) => {
            let mut path = Vec::new();
            step_to(tree, wanted, &mut path).then(|| Carrier::Form(form_name(&path)))
        }
        Body::Text(_) | Body::Multipart(_) => None,
    }
}

/// Goes to the first text with the placeholder; `path` is then the way there.
fn step_to(tree: &Tree, wanted: fn(&Placeholder) -> bool, path: &mut Vec<PathStep>) -> bool {
    let inner: Vec<(PathStep, &Tree)> = match tree {
        Tree::Text(template) => return template.placeholders().any(wanted),
        Tree::Map(members) => members
            .iter()
            .map(|(name, inner)| (PathStep::Name(name.clone()), inner))
            .collect(),
        Tree::List(items) => items
            .iter()
            .enumerate()
            .map(|(index, inner)| (PathStep::Index(index), inner))
            .collect(),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => return false,
    };
    for (step, inner) in inner {
        path.push(step);
        if step_to(inner, wanted, path) {
            return true;
        }
        path.pop();
    }
    false
}

/// `a[b][0]`.
fn form_name(path: &[PathStep]) -> String {
    let mut name = String::new();
    for (index, step) in path.iter().enumerate() {
        let step = match step {
            PathStep::Name(name) => name.clone(),
            PathStep::Index(index) => index.to_string(),
        };
        match index {
            0 => name.push_str(&step),
            _ => name.push_str(&format!("[{step}]")),
        }
    }
    name
}

fn value_at(carrier: &Carrier, seen: Seen<'_>) -> Option<String> {
    let entry = |text: &[u8], name: &str| {
        url::form_urlencoded::parse(text)
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.into_owned())
    };
    match carrier {
        Carrier::Header(name) => seen
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone()),
        Carrier::Query(name) => {
            let (_, query) = seen.target.split_once('?')?;
            entry(query.as_bytes(), name)
        }
        Carrier::Form(name) => entry(&seen.content.kept, name),
        Carrier::Json(path) => {
            let body: Value = serde_json::from_slice(&seen.content.kept).ok()?;
            let mut place = &body;
            for step in path {
                place = match step {
                    PathStep::Name(name) => place.get(name)?,
                    PathStep::Index(index) => place.get(index)?,
                };
            }
            match place {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            }
        }
    }
}

/// The path and the query of a target, which a client of a proxy writes as a whole URL.
pub(super) fn origin_form(head: &Head) -> &str {
    let target = head.target();
    let Some((_, rest)) = target.split_once("://") else {
        return target;
    };
    rest.find('/').map_or("/", |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::{Carrier, Content, PathStep, Seen, digest, value_at};

    #[test]
    fn a_key_is_found_wherever_it_travels() {
        let headers = [("idempotency-KEY".to_owned(), "a".to_owned())];
        let at = |carrier: Carrier, target: &str, body: &str| {
            let mut content = Content::default();
            content.take(body.as_bytes());
            let seen = Seen {
                method: "POST",
                target,
                headers: &headers,
                content: &content,
            };
            value_at(&carrier, seen)
        };
        let header = Carrier::Header("Idempotency-Key".to_owned());
        assert_eq!(at(header, "/", "").as_deref(), Some("a"));
        let query = Carrier::Query("token".to_owned());
        assert_eq!(at(query, "/x?token=a%2Bb", "").as_deref(), Some("a+b"));
        let form = Carrier::Form("k".to_owned());
        assert_eq!(at(form, "/", "a=1&k=2").as_deref(), Some("2"));
        let path = vec![
            PathStep::Name("entries".to_owned()),
            PathStep::Index(0),
            PathStep::Name("id".to_owned()),
        ];
        let json = Carrier::Json(path);
        let body = r#"{"entries":[{"id":"k-1"}]}"#;
        assert_eq!(at(json.clone(), "/", body).as_deref(), Some("k-1"));
        assert_eq!(at(json, "/", ""), None);
    }

    #[test]
    fn a_key_in_the_body_does_not_make_two_bodies_differ_and_anything_else_does() {
        let body = |key: &str, amount: u32| format!(r#"{{"k":"{key}","amount":{amount}}}"#);
        let one = digest(body("aaa", 1).as_bytes(), Some("aaa"));
        assert_eq!(one, digest(body("bbb", 1).as_bytes(), Some("bbb")));
        assert_ne!(one, digest(body("bbb", 2).as_bytes(), Some("bbb")));
        assert_ne!(digest(b"a", None), digest(b"", None));
    }
}
