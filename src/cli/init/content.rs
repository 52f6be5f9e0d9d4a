//! The body of a curl command as a body of a target file, with what it offers for variants.

use super::body;
use super::curl::Curl;
use super::headers::{Sorted, secret_row};
use super::secrets::{Secrets, is_secret_name, is_secret_value};
use super::yaml::{entry, literal, quoted};
use serde_json::Value;

/// The body, by kind.
pub(super) enum Content {
    Json(Value),
    Form(Value),
    Text(String),
}

/// What the body became.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) kind: Option<&'static str>,
    pub(super) body: String,
    pub(super) variants: String,
    pub(super) filter: Option<String>,
}

impl Content {
    /// The body, if there is one.
    pub(super) fn of(curl: &Curl, sorted: &Sorted) -> Option<Content> {
        let body = curl.body.as_deref()?;
        let kind = sorted.content_type.as_deref().unwrap_or_default();
        let is_form = kind.starts_with("application/x-www-form-urlencoded");
        // A forgotten header is the commonest slip: what is a JSON map is meant as JSON.
        let json = serde_json::from_str::<Value>(body)
            .ok()
            .filter(|json| kind.contains("json") || (is_form && json.is_object()));
        Some(match json {
            Some(json) => Content::Json(json),
            None if is_form => Content::Form(body::form(body)),
            None => Content::Text(body.to_owned()),
        })
    }

    /// Finds where marker, change and secrets stand.
    pub(super) fn parts(
        self,
        sorted: &mut Sorted,
        secrets: &mut Secrets,
        rows: &mut Vec<(String, String)>,
        remarks: &mut Vec<String>,
    ) -> Parts {
        let (name, kind, mut tree) = match self {
            Content::Json(tree) => ("json", "JSON", tree),
            Content::Form(tree) => ("form", "form", tree),
            Content::Text(text) => {
                keep_content_type(sorted, "text/plain");
                remarks.push(
                    "the body is no JSON and no form: put ${marker} into it by hand".to_owned(),
                );
                let text = Value::String(literal(&text));
                return Parts {
                    kind: Some("text"),
                    body: entry(6, "text", &text),
                    ..Parts::default()
                };
            }
        };
        let usual = match name {
            "json" => "application/json",
            _ => "application/x-www-form-urlencoded",
        };
        if sorted
            .content_type
            .as_deref()
            .is_some_and(|kind| name == "json" && !kind.contains("json"))
        {
            remarks.push("the body is JSON, so it is sent as application/json".to_owned());
            sorted.content_type = None;
        }
        keep_content_type(sorted, usual);
        if sorted.key.is_none() {
            key_in_body(name, &mut tree, sorted, rows);
        }
        let marker = body::marker(&tree);
        let unique = body::unique(&tree, marker.as_ref());
        let number = body::number(&tree);
        let mut texts = Vec::new();
        body::each(&tree, &mut Vec::new(), &mut |path, value| {
            if let Value::String(text) = value {
                texts.push((path.clone(), text.clone()));
            }
        });
        for (path, text) in texts {
            let is_secret = matches!(path.last(), Some(body::Step::Name(name)) if is_secret_name(name))
                || is_secret_value(&text);
            let taken =
                marker.as_ref() == Some(&path) || unique.iter().any(|(other, _)| *other == path);
            let instead = if is_secret && !taken {
                let kind = match path.last() {
                    Some(body::Step::Name(name)) => name.as_str(),
                    _ => "secret",
                };
                let secret = secrets.take(&text, kind);
                rows.push(secret_row(&body::in_words(&path), &secret));
                secret
            } else {
                literal(&text)
            };
            body::put(&mut tree, &path, Value::String(instead));
        }
        let mut filter = None;
        match &marker {
            Some(path) => {
                let was = body::at(&tree, path).map(shown).unwrap_or_default();
                rows.push((
                    "marker".to_owned(),
                    format!("{} {was} → \"${{marker}}\"", body::in_words(path)),
                ));
                body::put(&mut tree, path, Value::String("${marker}".to_owned()));
                if let Some(body::Step::Name(name)) = path.last() {
                    filter = Some(name.clone());
                }
            }
            None => remarks.push(
                "no free text for ${marker} was found: put it where effects can be found by it"
                    .to_owned(),
            ),
        }
        for (path, value) in unique {
            let was = body::at(&tree, &path).map(shown).unwrap_or_default();
            rows.push((
                "unique".to_owned(),
                format!("{} {was} → {value}", body::in_words(&path)),
            ));
            body::put(&mut tree, &path, Value::String(value));
        }
        let mut variants = String::new();
        if let Some((path, more, bad)) = number {
            let place = body::in_words(&path);
            let was = body::at(&tree, &path).map(shown).unwrap_or_default();
            rows.push((
                "change".to_owned(),
                format!("{place} {was} → {}", shown(&more)),
            ));
            rows.push((
                "invalid".to_owned(),
                format!("{place} → {}, a guess", shown(&bad)),
            ));
            for (field, value) in [("change", more), ("invalid", bad)] {
                let patch = body::patch(&tree, &path, value);
                let patch = serde_json::json!({ name: patch });
                variants.push_str(&entry(4, field, &patch));
            }
        }
        Parts {
            kind: Some(kind),
            body: entry(6, name, &tree),
            variants,
            filter,
        }
    }
}

fn shown(value: &Value) -> String {
    let text: String = value.to_string().chars().take(60).collect();
    text
}

/// The content type stays in the file where it is not what the body gets by itself.
fn keep_content_type(sorted: &mut Sorted, usual: &str) {
    if let Some(kind) = sorted.content_type.take().filter(|kind| {
        let bare = kind.split(';').next().unwrap_or_default().trim();
        !bare.eq_ignore_ascii_case(usual)
    }) {
        sorted
            .headers
            .insert("Content-Type".to_owned(), Value::String(literal(&kind)));
    }
}

/// A key that travels in the body.
fn key_in_body(
    kind: &str,
    tree: &mut Value,
    sorted: &mut Sorted,
    rows: &mut Vec<(String, String)>,
) {
    const NAMES: [&str; 7] = [
        "idempotency_key",
        "idempotencyKey",
        "idempotencyToken",
        "ClientToken",
        "clientToken",
        "requestId",
        "request_id",
    ];
    let Some(members) = tree.as_object_mut() else {
        return;
    };
    let Some(name) = NAMES.into_iter().find(|name| members.contains_key(*name)) else {
        return;
    };
    members.shift_remove(name);
    let (place, shown) = match kind {
        "json" => (format!("$.{name}"), format!("$.{name} of the body")),
        _ => (name.to_owned(), format!("form field {name}")),
    };
    sorted.key = Some(format!("{{ {kind}: {} }}", quoted(&place)));
    rows.push(("key".to_owned(), shown));
}
