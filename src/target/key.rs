//! Where an idempotency key goes, what it must look like, and how one request uses it.

use serde::{Deserialize, Serialize};

/// Where the key goes and what form it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The operation takes no key.
    None,
    /// It goes somewhere.
    At {
        /// Where.
        carrier: Carrier,
        /// What it must look like; what is not said, the contract says.
        form: KeyForm,
    },
}

/// What carries the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A header of this name.
    Header(String),
    /// A query entry of this name.
    Query(String),
    /// A form field of this name.
    Form(String),
    /// A place in the JSON body, created if absent.
    Json(Vec<PathStep>),
}

/// One step of a singular JSONPath.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A member of a map.
    Name(String),
    /// An entry of a list.
    Index(usize),
}

/// What a key must look like; `None` where the contract decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyForm {
    /// What its characters are.
    pub format: Option<KeyFormat>,
    /// Fewest characters.
    pub min: Option<usize>,
    /// Most characters.
    pub max: Option<usize>,
    /// Whether a header carries it as a quoted string (RFC 9651).
    pub quoted: Option<bool>,
}

/// What the characters of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFormat {
    /// Anything.
    Opaque,
    /// Any UUID.
    Uuid,
    /// A random UUID.
    Uuid4,
    /// A UUID made of a name.
    Uuid5,
}

/// How one request uses the key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyUse {
    /// It sends none: no carrier at all.
    #[default]
    None,
    /// It sends this key.
    Value {
        /// The key.
        text: String,
        /// Whether a header quotes it, where that differs from the place's form.
        quoted: Option<bool>,
    },
    /// It sends the header once for each of these keys.
    Lines(Vec<String>),
    /// It sends these bytes as they are, unquoted.
    Raw(Vec<u8>),
}

impl KeyUse {
    /// The key in the form that the place wants.
    pub fn value(text: impl Into<String>) -> KeyUse {
        KeyUse::Value {
            text: text.into(),
            quoted: None,
        }
    }
}

/// Parses a singular JSONPath such as `$.meta['key'][0]`; `None` if it may match several nodes.
pub fn singular_path(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, tail) = if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            let name = &tail[..end];
            let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                return None;
            }
            (PathStep::Name(name.to_string()), &tail[end..])
        } else {
            let inside = rest.strip_prefix('[')?;
            let quote = inside.chars().next()?;
            if quote == '\'' || quote == '"' {
                let end = inside[1..].find(quote)? + 1;
                let tail = inside[end + 1..].strip_prefix(']')?;
                (PathStep::Name(inside[1..end].to_string()), tail)
            } else {
                let end = inside.find(']')?;
                (
                    PathStep::Index(inside[..end].parse().ok()?),
                    &inside[end + 1..],
                )
            }
        };
        steps.push(step);
        rest = tail;
    }
    (!steps.is_empty()).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_paths_are_split_into_steps() {
        assert_eq!(
            singular_path("$.a['b.c'][0]"),
            Some(vec![
                PathStep::Name("a".to_string()),
                PathStep::Name("b.c".to_string()),
                PathStep::Index(0)
            ])
        );
    }

    #[test]
    fn paths_that_may_match_several_nodes_are_refused() {
        for path in [
            "$",
            "$.*",
            "$..a",
            "$[*]",
            "$.a[?@.b]",
            "$[0:2]",
            "a",
            "$.a.",
        ] {
            assert_eq!(singular_path(path), None, "{path}");
        }
    }
}
