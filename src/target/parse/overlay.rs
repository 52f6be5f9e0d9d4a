//! `extends` and `--set`: several files become one document before anything is read from it.

use std::path::Path;
use std::sync::Arc;

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Source;
use crate::yaml::Span;
use crate::yaml::Value;
use crate::yaml::nearest;
use crate::yaml::parse;

use super::Environment;

/// The top keys that merge by name; all others are replaced as a whole.
const BY_NAME: [&str; 6] = [
    "headers",
    "vars",
    "principals",
    "fixtures",
    "operations",
    "hooks",
];

/// The document of `main` over those that it extends, without `extends`.
pub(super) fn merged(main: Arc<Source>, environment: &dyn Environment) -> Result<Node, Diagnostic> {
    merged_after(main, environment, &mut Vec::new())
}

/// A top key of the overlay replaces the base's; some go by name; null removes. No deeper.
fn merged_after(
    source: Arc<Source>,
    environment: &dyn Environment,
    chain: &mut Vec<String>,
) -> Result<Node, Diagnostic> {
    chain.push(source.name.clone());
    let node = parse(source)?;
    let Value::Map(entries) = &node.value else {
        return Err(
            Diagnostic::error("a target file is a map, beginning with `target: NAME`")
                .at(node.span.clone()),
        );
    };
    let Some(extends) = entries.iter().find(|entry| entry.key == "extends") else {
        return Ok(node);
    };
    let Value::Text(path) = &extends.value.value else {
        return Err(
            Diagnostic::error("`extends` is the path of one file, relative to this one")
                .at(extends.value.span.clone()),
        );
    };
    let from = chain.last().map(String::as_str).unwrap_or_default();
    let base = environment.file(Path::new(path), from).map_err(|error| {
        Diagnostic::error(format!("`{path}` cannot be read: {error}"))
            .at(extends.value.span.clone())
    })?;
    if let Some(at) = chain.iter().position(|name| *name == base.name) {
        let mut circle: Vec<&str> = chain[at..].iter().map(String::as_str).collect();
        circle.push(&base.name);
        return Err(
            Diagnostic::error(format!("files extend each other: {}", circle.join(" → ")))
                .at(extends.value.span.clone()),
        );
    }
    let base = merged_after(Arc::new(base), environment, chain)?;
    Ok(Node {
        span: node.span.clone(),
        value: Value::Map(laid_over(&base, entries)),
    })
}

fn laid_over(base: &Node, overlay: &[Entry]) -> Vec<Entry> {
    let mut merged = base.as_map().unwrap_or_default().to_vec();
    for entry in overlay.iter().filter(|entry| entry.key != "extends") {
        let base = merged.iter_mut().find(|below| below.key == entry.key);
        match base {
            Some(below) => {
                let by_name = BY_NAME.contains(&entry.key.as_str());
                let value = match (&below.value.value, &entry.value.value) {
                    (Value::Map(base), Value::Map(over)) if by_name => Node {
                        span: entry.value.span.clone(),
                        value: Value::Map(named_over(base, over)),
                    },
                    _ => entry.value.clone(),
                };
                *below = Entry {
                    value,
                    ..entry.clone()
                };
            }
            None => merged.push(entry.clone()),
        }
    }
    merged.retain(|entry| entry.value.value != Value::Null);
    merged
}

fn named_over(base: &[Entry], overlay: &[Entry]) -> Vec<Entry> {
    let mut merged = base.to_vec();
    for entry in overlay {
        match merged.iter_mut().find(|below| below.key == entry.key) {
            Some(below) => *below = entry.clone(),
            None => merged.push(entry.clone()),
        }
    }
    merged.retain(|entry| entry.value.value != Value::Null);
    merged
}

/// The document with the variables of `--set`, which must exist. A value takes the type of the one
/// that it replaces, where it can.
pub(super) fn with_settings(
    mut document: Node,
    settings: &[(String, String)],
) -> Result<Node, Diagnostic> {
    for (name, text) in settings {
        let vars = top_value(&mut document, "vars");
        let names: Vec<String> = vars
            .iter()
            .flat_map(|vars| vars.as_map().unwrap_or_default())
            .map(|entry| entry.key.clone())
            .collect();
        let value = vars.and_then(|vars| top_value(vars, name));
        let Some(value) = value else {
            return Err(no_such_var(name, &names));
        };
        let source = Arc::new(Source {
            name: "--set".to_string(),
            text: format!("{name}={text}"),
        });
        *value = Node {
            span: Span {
                start: name.len() + 1,
                end: source.text.len(),
                source,
            },
            value: typed_like(&value.value, text),
        };
    }
    Ok(document)
}

fn top_value<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Map(entries) = &mut node.value else {
        return None;
    };
    entries
        .iter_mut()
        .find(|entry| entry.key == key)
        .map(|entry| &mut entry.value)
}

fn typed_like(old: &Value, text: &str) -> Value {
    match (old, serde_json::from_str(text)) {
        (Value::Number(_), Ok(serde_json::Value::Number(number))) => Value::Number(number),
        (Value::Bool(_), Ok(serde_json::Value::Bool(value))) => Value::Bool(value),
        _ => Value::Text(text.to_string()),
    }
}

fn no_such_var(name: &str, names: &[String]) -> Diagnostic {
    let message = match names {
        [] => format!("--set: no var `{name}`: the target has no vars"),
        names => format!("--set: no var `{name}`; vars are {}", names.join(", ")),
    };
    let problem = Diagnostic::error(message);
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}
