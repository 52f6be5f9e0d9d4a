//! OpenAPI documents (3.0 and 3.1, JSON or YAML), as far as they speak of keys and of answers. Pure:
//! the text is handed in. What a document says and does not mean for us is not looked at.

mod operation;
mod reference;

use serde_json::Value;

pub use operation::{DeclaredKey, DeclaredOperation};

/// What a document declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// `info.title`.
    pub title: String,
    /// The paths of its `servers`, which go before those of its operations.
    pub prefixes: Vec<String>,
    /// Its operations, in the order of the document.
    pub operations: Vec<DeclaredOperation>,
}

/// Names of headers, query entries and members that carry a key somewhere. Names that only look like
/// one, such as a request id for tracing, are left out.
const KEYS: [&str; 11] = [
    "idempotency-key",
    "x-idempotency-key",
    "idempotency_key",
    "idempotencykey",
    "idempotent-key",
    "paypal-request-id",
    "repeatability-request-id",
    "clienttoken",
    "client-token",
    "requestid",
    "request_id",
];

/// Whether a header, a query entry or a member of this name carries a key.
fn names_a_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    KEYS.contains(&name.as_str()) || name.contains("idempotenc")
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// What is no OpenAPI document of version 3, in one sentence.
    pub fn read(text: &str) -> Result<Document, String> {
        let root: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?
        } else {
            let options = serde_saphyr::options! {
                budget: serde_saphyr::budget! {
                    max_nodes: MOST_NODES,
                    max_events: 2 * MOST_NODES,
                    max_total_scalar_bytes: 64 << 20,
                },
            };
            serde_saphyr::from_str_with_options(text, options).map_err(|error| {
                let first = error.to_string();
                format!(
                    "it is no YAML: {}",
                    first.lines().next().unwrap_or_default()
                )
            })?
        };
        let version = root["openapi"].as_str().unwrap_or_default();
        if !version.starts_with("3.") {
            return Err(match root["swagger"].as_str() {
                Some(old) => format!("it is of Swagger {old}: OpenAPI 3.0 and 3.1 are read"),
                None => {
                    "it is no OpenAPI document of version 3: `openapi: 3.…` is missing".to_owned()
                }
            });
        }
        let mut operations = Vec::new();
        for (path, item) in root["paths"].as_object().into_iter().flatten() {
            let item = reference::resolved(&root, item);
            for method in METHODS {
                if let Some(operation) = item.get(method) {
                    operations.push(DeclaredOperation::read(
                        &root, method, path, item, operation,
                    ));
                }
            }
        }
        if operations.is_empty() {
            return Err("it declares no operation".to_owned());
        }
        let prefixes = root["servers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|server| server["url"].as_str())
            .map(path_of)
            .collect();
        Ok(Document {
            title: root["info"]["title"]
                .as_str()
                .unwrap_or("no title")
                .to_owned(),
            prefixes,
            operations,
        })
    }

    /// The operation of a method at a path, which may have a prefix of a server's before it. Segments
    /// in braces stand for any, on both sides.
    pub fn operation(&self, method: &str, path: &str) -> Option<&DeclaredOperation> {
        let fits = |operation: &&DeclaredOperation| {
            let bare = std::iter::once("");
            let prefixes = bare.chain(self.prefixes.iter().map(String::as_str));
            operation.method.eq_ignore_ascii_case(method)
                && prefixes
                    .into_iter()
                    .any(|prefix| same_path(&format!("{prefix}{}", operation.path), path))
        };
        let literal = |operation: &&DeclaredOperation| !operation.path.contains('{');
        let found = || self.operations.iter().filter(fits);
        found().find(literal).or_else(|| found().next())
    }

    /// The operations that change something and are not idempotent by their method (RFC 9110, section
    /// 9.2.2), and declare no key.
    pub fn without_a_key(&self) -> impl Iterator<Item = &DeclaredOperation> {
        self.operations
            .iter()
            .filter(|operation| operation.needs_a_key() && operation.key.is_none())
    }
}

/// Nodes of a YAML document at most.
const MOST_NODES: usize = 2_000_000;

/// The methods of operations.
const METHODS: [&str; 7] = ["get", "head", "options", "put", "post", "delete", "patch"];

/// The path of a server's URL, without a `/` at its end.
fn path_of(url: &str) -> String {
    let rest = url
        .split_once("://")
        .map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    rest.trim_end_matches('/').to_owned()
}

fn same_path(one: &str, other: &str) -> bool {
    let segments = |path: &'_ str| -> Vec<String> {
        path.trim_matches('/')
            .split('/')
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (segments(one), segments(other));
    one.len() == other.len()
        && one
            .iter()
            .zip(&other)
            .all(|(one, other)| one == other || one.contains('{') || other.contains('{'))
}

#[cfg(test)]
mod tests;
