//! From YAML to behaviours and what recognises them.

use super::fields::{Time, promised};
use crate::contract::{
    Behaviour, BodyRelation, Kind, Promised, ReplayMarker, RetryAfter, StatusPattern,
    TransientSignal, XmlPath,
};
use crate::yaml::{self, Diagnostic, Node, Value};
use regex::Regex;
use serde::Deserialize;
use serde_json_path::JsonPath;
use std::collections::BTreeMap;

/// A behaviour, or a promise with one behaviour or `any-of` several.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct BehaviourFields {
    any_of: Option<Vec<Node>>,
    outcome: Option<Kind>,
    status: Option<Node>,
    header: Option<BTreeMap<String, Node>>,
    json: Option<BTreeMap<String, Node>>,
    xml: Option<BTreeMap<String, Node>>,
    content_type: Option<Node>,
    body: Option<BodyRelation>,
    retry_after: Option<Node>,
    max_wait: Option<Time>,
}

/// # Errors
/// A field that does not fit, with its place.
pub(super) fn behaviours(node: Option<&Node>) -> Result<Promised<Vec<Behaviour>>, Diagnostic> {
    promised(node, |node| {
        let mut fields: BehaviourFields = yaml::decode(node)?;
        match fields.any_of.take() {
            None => Ok(vec![behaviour(fields, node)?]),
            Some(several)
                if !several.is_empty() && node.as_map().is_some_and(|map| map.len() == 1) =>
            {
                several
                    .iter()
                    .map(|node| behaviour(yaml::decode(node)?, node))
                    .collect()
            }
            Some(_) => Err(Diagnostic::error(
                "any-of has the ways in which the target may answer, and nothing stands beside it",
            )
            .at(node.span.clone())
            .help("any-of: [ { outcome: reject, status: 409 }, { outcome: wait-then-replay } ]")),
        }
    })
}

fn behaviour(fields: BehaviourFields, place: &Node) -> Result<Behaviour, Diagnostic> {
    let Some(kind) = fields.outcome.filter(|_| fields.any_of.is_none()) else {
        return Err(
            Diagnostic::error("a promise has `outcome`, or `any-of` with several")
                .at(place.span.clone())
                .help("{ outcome: reject, status: 409, strength: must, source: … }"),
        );
    };
    let mut headers = Vec::new();
    for (name, value) in fields.header.unwrap_or_default() {
        headers.push((name, pattern(&value)?));
    }
    let mut json = Vec::new();
    for (path, value) in fields.json.unwrap_or_default() {
        json.push((json_path(&path, &value)?, pattern(&value)?));
    }
    let mut xml = Vec::new();
    for (path, value) in fields.xml.unwrap_or_default() {
        let parsed = XmlPath::parse(&path).map_err(|problem| {
            Diagnostic::error(format!("`{path}` is no path that is understood: {problem}"))
                .at(value.span.clone())
                .help("//error/@code, /reply/error/text()")
        })?;
        xml.push((parsed, pattern(&value)?));
    }
    let retry_after = fields
        .retry_after
        .as_ref()
        .map(|node| match node.as_text() {
            Some("header") => Ok(RetryAfter::Header),
            Some(path) => json_path(path, node).map(RetryAfter::Json),
            None => Err(
                Diagnostic::error("a pause is given in the `header`, or at a JSONPath")
                    .at(node.span.clone()),
            ),
        })
        .transpose()?;
    Ok(Behaviour {
        kind,
        status: fields
            .status
            .as_ref()
            .map(statuses)
            .transpose()?
            .unwrap_or_default(),
        headers,
        json,
        xml,
        content_type: fields.content_type.as_ref().map(pattern).transpose()?,
        body: fields.body,
        retry_after,
        max_wait: fields.max_wait.map(|time| time.0),
    })
}

/// # Errors
/// Text that is no regular expression.
pub(super) fn pattern(node: &Node) -> Result<Regex, Diagnostic> {
    let text = scalar(node).ok_or_else(|| {
        Diagnostic::error("a pattern is a regular expression").at(node.span.clone())
    })?;
    Regex::new(&text).map_err(|error| {
        let why = yaml::in_one_line(&error);
        Diagnostic::error(format!("`{text}` is no regular expression: {why}")).at(node.span.clone())
    })
}

fn json_path(path: &str, place: &Node) -> Result<JsonPath, Diagnostic> {
    JsonPath::parse(path).map_err(|error| {
        Diagnostic::error(format!("`{path}` is no JSONPath (RFC 9535): {error}"))
            .at(place.span.clone())
    })
}

/// The text of a value that is no list and no map.
fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

/// # Errors
/// What is neither a status nor a class of them.
pub(super) fn statuses(node: &Node) -> Result<Vec<StatusPattern>, Diagnostic> {
    let one = |node: &Node| {
        let text = scalar(node).unwrap_or_default();
        let pattern = match text.as_str() {
            "same-as-first" => Some(StatusPattern::SameAsFirst),
            class if class.len() == 3 && class.ends_with("xx") => class
                .get(..1)
                .and_then(|hundreds| hundreds.parse().ok())
                .filter(|hundreds| (1..6).contains(hundreds))
                .map(StatusPattern::Class),
            exact => exact
                .parse()
                .ok()
                .filter(|status| (100..600).contains(status))
                .map(StatusPattern::Exact),
        };
        pattern.ok_or_else(|| {
            Diagnostic::error(
                "a status is a code such as 409, a class such as 4xx, or same-as-first",
            )
            .at(node.span.clone())
        })
    };
    match node.as_list() {
        Some(list) => list.iter().map(one).collect(),
        None => Ok(vec![one(node)?]),
    }
}

/// # Errors
/// A marker of no known kind.
pub(super) fn marker(node: Option<&Node>) -> Result<Promised<ReplayMarker>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct MarkerFields {
        header: Option<String>,
        json: Option<Node>,
        value: Option<Node>,
        first: Option<Node>,
        status: Option<u16>,
        key_echo: Option<String>,
        none: Option<bool>,
    }
    promised(node, |node| {
        if node.as_text() == Some("none") {
            return Ok(ReplayMarker::None);
        }
        let fields: MarkerFields = yaml::decode(node)?;
        let first = fields.first.as_ref().and_then(scalar);
        let value = fields.value.as_ref().and_then(scalar);
        let valued = value.is_some() || first.is_some();
        let value = value.unwrap_or_else(|| "true".to_owned());
        match (
            fields.header,
            fields.json,
            fields.status,
            fields.key_echo,
            fields.none,
        ) {
            (Some(name), None, None, None, None) => Ok(ReplayMarker::Header { name, value, first }),
            (None, Some(path), None, None, None) => Ok(ReplayMarker::Json {
                path: json_path(path.as_text().unwrap_or_default(), &path)?,
                value,
                first,
            }),
            (None, None, Some(status), None, None) if !valued => Ok(ReplayMarker::Status(status)),
            (None, None, None, Some(name), None) if !valued => Ok(ReplayMarker::KeyEcho(name)),
            (None, None, None, None, Some(true)) if !valued => Ok(ReplayMarker::None),
            _ => Err(Diagnostic::error(
                "a replay marker is { header, value }, { json, value }, { status }, { key-echo }, or none",
            )
            .at(node.span.clone())),
        }
    })
}

/// # Errors
/// A field that does not fit.
pub(super) fn transient(node: Option<&Node>) -> Result<Promised<TransientSignal>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SignalFields {
        header: String,
        value: Node,
    }
    promised(node, |node| {
        let fields: SignalFields = yaml::decode(node)?;
        Ok(TransientSignal {
            header: fields.header,
            value: pattern(&fields.value)?,
        })
    })
}
