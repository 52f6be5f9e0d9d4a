//! Puts the key where the target wants it.

use serde_json::Value;

use super::Content;
use super::RenderError;
use super::encode;
use super::push_query;
use crate::target::key::Carrier;
use crate::target::key::KeyUse;
use crate::target::key::PathStep;

/// The values of the key, one for each line.
pub(super) fn key_values(
    using: &KeyUse,
    carrier: &Carrier,
    quoted_place: bool,
) -> Result<Vec<Vec<u8>>, RenderError> {
    let in_header = matches!(carrier, Carrier::Header(_));
    let write = |text: &str, quoted: Option<bool>| match quoted.unwrap_or(quoted_place && in_header)
    {
        true => quoted_string(text).into_bytes(),
        false => text.as_bytes().to_vec(),
    };
    Ok(match using {
        KeyUse::None => Vec::new(),
        KeyUse::Value { text, quoted } => vec![write(text, *quoted)],
        KeyUse::Lines(lines) if in_header => lines.iter().map(|line| write(line, None)).collect(),
        KeyUse::Lines(_) => {
            return Err(RenderError::NotApplicable(
                "the key is in no header".to_string(),
            ));
        }
        KeyUse::Raw(bytes) => vec![bytes.clone()],
    })
}

/// A string of RFC 9651: `"` and `\` are escaped.
fn quoted_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Puts the key into query, form or JSON.
pub(super) fn place_key(
    carrier: &Carrier,
    lines: &[Vec<u8>],
    path_and_query: &mut String,
    content: &mut Content,
) -> Result<(), RenderError> {
    let Some(key) = lines.first() else {
        return Ok(());
    };
    let text = || {
        String::from_utf8(key.clone()).map_err(|_| {
            RenderError::NotApplicable("a body takes no key that is no text".to_string())
        })
    };
    match (carrier, content) {
        (Carrier::Query(name), _) => {
            let entry = format!(
                "{}={}",
                encode::component(name.as_bytes()),
                encode::component(key)
            );
            push_query(path_and_query, &entry);
        }
        (Carrier::Form(name), Content::Form(Value::Object(fields))) => {
            fields.insert(name.clone(), Value::String(text()?));
        }
        (Carrier::Form(name), content @ Content::None) => {
            *content = Content::Form(serde_json::json!({ name: text()? }));
        }
        (Carrier::Json(path), Content::Json(body)) => set(body, path, text()?)?,
        (Carrier::Json(path), content @ Content::None) => {
            let mut body = Value::Object(serde_json::Map::new());
            set(&mut body, path, text()?)?;
            *content = Content::Json(body);
        }
        _ => {
            return Err(RenderError::Invalid(
                "the key belongs into another kind of body than the request has".to_string(),
            ));
        }
    }
    Ok(())
}

/// Sets a node of a JSON body, creating maps and list entries on the way.
fn set(body: &mut Value, path: &[PathStep], key: String) -> Result<(), RenderError> {
    let mut node = body;
    for step in path {
        if node.is_null() {
            *node = match step {
                PathStep::Name(_) => Value::Object(serde_json::Map::new()),
                PathStep::Index(_) => Value::Array(Vec::new()),
            };
        }
        node = match (step, node) {
            (PathStep::Name(name), Value::Object(members)) => {
                members.entry(name.clone()).or_insert(Value::Null)
            }
            (PathStep::Index(at), Value::Array(items)) if *at <= items.len() => {
                if *at == items.len() {
                    items.push(Value::Null);
                }
                &mut items[*at]
            }
            _ => {
                return Err(RenderError::Invalid(
                    "the body has something else where the key belongs".to_string(),
                ));
            }
        };
    }
    *node = Value::String(key);
    Ok(())
}
