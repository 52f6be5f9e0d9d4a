//! Maps of a scenario file: one with a single key, its kind; and the fields of two things in one.

use crate::yaml::{self, Diagnostic, Node, Value};

/// The entries of a map with these names, and the rest.
pub(super) fn split(body: &Node, names: &[&str]) -> (Node, Node) {
    let (named, rest) = match &body.value {
        Value::Map(entries) => entries
            .iter()
            .cloned()
            .partition(|entry| names.contains(&entry.key.as_str())),
        _ => (Vec::new(), Vec::new()),
    };
    let rest = match &body.value {
        Value::Map(_) | Value::Null => Value::Map(rest),
        other => other.clone(),
    };
    (
        Node {
            span: body.span.clone(),
            value: Value::Map(named),
        },
        Node {
            span: body.span.clone(),
            value: rest,
        },
    )
}

/// The one key of a single-key map, and its value.
pub(super) fn single_key<'a>(
    node: &'a Node,
    what: &str,
    known: &[&'static str],
    not_yet: &[&'static str],
) -> Result<(&'static str, &'a Node), Diagnostic> {
    let entry = match node.as_map() {
        Some([entry]) => entry,
        Some([_, second, ..]) => {
            return Err(
                Diagnostic::error(format!("{what} has one kind, and here are several"))
                    .at(second.key_span.clone())
                    .help("put each on a line of its own that begins with `- `"),
            );
        }
        _ => {
            return Err(
                Diagnostic::error(format!("{what} is a map with one key, its kind"))
                    .at(node.span.clone())
                    .help(format!("kinds are {}", known.join(", "))),
            );
        }
    };
    if let Some(kind) = known.iter().find(|kind| **kind == entry.key) {
        return Ok((kind, &entry.value));
    }
    if not_yet.contains(&entry.key.as_str()) {
        return Err(
            Diagnostic::error(format!("`{}` is not supported yet", entry.key))
                .at(entry.key_span.clone()),
        );
    }
    let problem = Diagnostic::error(format!(
        "unknown kind `{}` of {}",
        entry.key,
        what.trim_start_matches("an ").trim_start_matches("a ")
    ))
    .at(entry.key_span.clone());
    Err(match yaml::nearest(&entry.key, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("kinds are {}", known.join(", "))),
    })
}
