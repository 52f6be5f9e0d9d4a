//! One operation of a document.

use super::names_a_key;
use super::reference::resolved;
use serde_json::Value;
use std::collections::BTreeSet;

/// What a document declares of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredOperation {
    /// In small letters.
    pub method: String,
    /// With its parameters in braces.
    pub path: String,
    /// The parameter that carries the key.
    pub key: Option<DeclaredKey>,
    /// The statuses of its responses as they are written: `201`, `4XX`, `default`.
    pub statuses: BTreeSet<String>,
    /// Those of them that declare a `Retry-After`.
    pub retry_after: BTreeSet<String>,
}

/// A parameter, or a member of the body, that carries a key.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredKey {
    /// Its name.
    pub name: String,
    /// `header`, `query` or `body`.
    pub place: String,
    /// Whether it is required.
    pub required: bool,
    /// Its format, such as `uuid`.
    pub format: Option<String>,
    /// Its fewest characters.
    pub min: Option<u64>,
    /// Its most characters.
    pub max: Option<u64>,
    /// A regular expression that it matches.
    pub pattern: Option<String>,
}

impl DeclaredOperation {
    /// Reads an operation of a path item.
    pub(super) fn read(
        root: &Value,
        method: &str,
        path: &str,
        item: &Value,
        operation: &Value,
    ) -> DeclaredOperation {
        let lists = [&operation["parameters"], &item["parameters"]];
        let parameter = lists
            .into_iter()
            .filter_map(Value::as_array)
            .flatten()
            .map(|parameter| resolved(root, parameter))
            .filter(|parameter| matches!(parameter["in"].as_str(), Some("header" | "query")))
            .find(|parameter| parameter["name"].as_str().is_some_and(names_a_key));
        let key = parameter
            .map(|parameter| DeclaredKey {
                name: parameter["name"].as_str().unwrap_or_default().to_owned(),
                place: parameter["in"].as_str().unwrap_or_default().to_owned(),
                required: parameter["required"].as_bool().unwrap_or(false),
                ..shape(resolved(root, &parameter["schema"]))
            })
            .or_else(|| in_body(root, operation));
        let mut statuses = BTreeSet::new();
        let mut retry_after = BTreeSet::new();
        for (status, response) in operation["responses"].as_object().into_iter().flatten() {
            statuses.insert(status.clone());
            let headers = resolved(root, response)["headers"].as_object();
            if headers.is_some_and(|all| {
                all.keys()
                    .any(|name| name.eq_ignore_ascii_case("retry-after"))
            }) {
                retry_after.insert(status.clone());
            }
        }
        DeclaredOperation {
            method: method.to_owned(),
            path: path.to_owned(),
            key,
            statuses,
            retry_after,
        }
    }

    /// Whether it changes something and is not idempotent by its method.
    pub fn needs_a_key(&self) -> bool {
        matches!(self.method.as_str(), "post" | "patch")
    }

    /// Whether a status is declared: by itself or by its class, such as `4XX`. `default` declares
    /// nothing in particular.
    pub fn declares(&self, status: u16) -> bool {
        holds(&self.statuses, status)
    }

    /// Whether a `Retry-After` is declared for a status.
    pub fn declares_retry_after(&self, status: u16) -> bool {
        holds(&self.retry_after, status)
    }
}

fn holds(statuses: &BTreeSet<String>, status: u16) -> bool {
    let class = format!("{}XX", status / 100);
    statuses
        .iter()
        .any(|own| *own == status.to_string() || own.eq_ignore_ascii_case(&class))
}

/// What a schema says of the form of a key.
fn shape(schema: &Value) -> DeclaredKey {
    DeclaredKey {
        name: String::new(),
        place: String::new(),
        required: false,
        format: schema["format"].as_str().map(str::to_owned),
        min: schema["minLength"].as_u64(),
        max: schema["maxLength"].as_u64(),
        pattern: schema["pattern"].as_str().map(str::to_owned),
    }
}

/// A member of a JSON body that carries the key.
fn in_body(root: &Value, operation: &Value) -> Option<DeclaredKey> {
    let body = resolved(root, &operation["requestBody"]);
    let content = body["content"].as_object()?;
    let media = content
        .iter()
        .find(|(name, _)| name.contains("json"))
        .map(|(_, media)| media)?;
    let schema = resolved(root, &media["schema"]);
    member(root, schema).or_else(|| {
        let parts = schema["allOf"].as_array()?;
        parts
            .iter()
            .find_map(|part| member(root, resolved(root, part)))
    })
}

fn member(root: &Value, schema: &Value) -> Option<DeclaredKey> {
    let (name, own) = schema["properties"]
        .as_object()?
        .iter()
        .find(|(name, _)| names_a_key(name))?;
    let required = schema["required"].as_array();
    Some(DeclaredKey {
        name: name.clone(),
        place: "body".to_owned(),
        required: required.is_some_and(|all| all.iter().any(|own| own == name.as_str())),
        ..shape(resolved(root, own))
    })
}
