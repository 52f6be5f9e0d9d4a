//! Values as YAML that a person would write: plain where that is safe, quoted where it is not.

use serde_json::Value;

/// Characters of a flow map that still fit behind their key.
const FITS: usize = 88;

/// `key: value` lines at an indentation: a flow map if it fits, else a block.
pub(super) fn entry(indent: usize, key: &str, value: &Value) -> String {
    let pad = " ".repeat(indent);
    let flat = flow(value);
    if !is_container(value) || indent + key.len() + 2 + flat.chars().count() <= FITS {
        return format!("{pad}{}: {flat}\n", scalar(key));
    }
    format!("{pad}{}:\n{}", scalar(key), block(indent + 2, value))
}

fn is_container(value: &Value) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

fn block(indent: usize, value: &Value) -> String {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| entry(indent, name, value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .map(|item| format!("{pad}- {}\n", flow(item)))
            .collect(),
        other => format!("{pad}{}\n", flow(other)),
    }
}

/// The value on one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", scalar(name), flow(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text: plain if no reader could take it for anything else.
pub(super) fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan",
    ];
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let harmless = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    if begins && harmless && !WORDS.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    // JSON's strings are YAML's double-quoted ones.
    Value::String(text.to_owned()).to_string()
}

/// A text in quotes, whatever is in it.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Literal text in which nothing is a placeholder.
pub(super) fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

#[cfg(test)]
mod tests {
    use super::{entry, scalar};
    use crate::yaml::{Source, parse};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn only_what_is_surely_text_stands_bare() {
        for plain in ["abc", "a-b_c", "/payments/x", "EUR", "v1.2"] {
            assert_eq!(scalar(plain), plain);
        }
        for odd in [
            "true",
            "No",
            "1",
            "",
            "a: b",
            "a #b",
            "- x",
            "${marker}",
            "ü",
            "a b",
            "\n",
        ] {
            assert!(scalar(odd).starts_with('"'), "{odd}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let value = json!({
            "text": "it's \"x\": # no\n\ttab \u{1} ü 😀",
            "": null,
            "number": 1.5,
            "big": 9_007_199_254_740_993_u64,
            "list": [1, "two", { "three": [] }, {}],
            "nested": { "true": true, "long": "x".repeat(100), "more": { "a": [{ "b": "c" }] } },
        });
        let text = entry(0, "json", &value);
        let source = Source {
            name: "a.yaml".to_owned(),
            text,
        };
        let root = parse(Arc::new(source)).expect("it is YAML");
        assert_eq!(root.get("json").expect("the entry").to_json(), value);
    }
}
