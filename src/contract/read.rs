//! From YAML to a [`Contract`], over the profile that it extends.

use super::behaviour::{Behaviour, Kind, StatusPattern};
use super::profile::{self, PROFILES};
use super::{
    AfterFailure, Contract, Encoding, Equality, FailureClass, KeyKind, KeyRules, OperationScope,
    PrincipalScope, Promised, ReplayMarker, Retention, RetentionClock,
};
use crate::promise::Strength;
use crate::yaml::{self, Diagnostic, Entry, Node, Value};
use regex::Regex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json_path::JsonPath;
use std::collections::BTreeMap;
use std::time::Duration;

/// Reads what a target file says of its contract: a profile's name, or a map that extends one.
/// `None` is the profile `generic`.
///
/// # Errors
/// An unknown profile or field, with its place.
pub fn resolve(node: Option<&Node>) -> Result<Contract, Diagnostic> {
    let Some(node) = node else {
        return from_profile("generic", None);
    };
    if let Some(name) = node.as_text() {
        return from_profile(name, Some(node));
    }
    let base = match node.get("extends") {
        Some(base) => {
            let name = base.as_text().ok_or_else(|| {
                Diagnostic::error("extends names a profile")
                    .at(base.span.clone())
                    .help("extends: generic")
            })?;
            profile_node(name, Some(base))?
        }
        None => profile_node("generic", None)?,
    };
    let merged = lay_over(base, node);
    let mut contract = read(&merged)?;
    if node
        .as_map()
        .is_some_and(|entries| entries.iter().any(|entry| entry.key != "extends"))
    {
        contract.name.push('+');
    }
    Ok(contract)
}

/// The profile of this name.
///
/// # Errors
/// When there is none, with the nearest right name.
pub fn named(name: &str) -> Result<Contract, Diagnostic> {
    from_profile(name, None)
}

fn from_profile(name: &str, place: Option<&Node>) -> Result<Contract, Diagnostic> {
    read(&profile_node(name, place)?)
}

fn profile_node(name: &str, place: Option<&Node>) -> Result<Node, Diagnostic> {
    match profile::find(name) {
        Some(profile) => profile.node(),
        None => {
            let problem = Diagnostic::error(format!("unknown contract `{name}`"));
            let problem = match place {
                Some(node) => problem.at(node.span.clone()),
                None => problem,
            };
            let names = || PROFILES.iter().map(|profile| profile.name);
            Err(match yaml::nearest(name, names()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!(
                    "profiles are {}",
                    names().collect::<Vec<_>>().join(", ")
                )),
            })
        }
    }
}

/// Groups whose entries are replaced one by one; everything else is replaced whole.
const GROUPS: [&str; 5] = ["key", "scope", "fingerprint", "on", "after"];

fn lay_over(mut base: Node, over: &Node) -> Node {
    let Value::Map(entries) = &mut base.value else {
        return base;
    };
    for entry in over.as_map().unwrap_or_default() {
        if entry.key == "extends" {
            continue;
        }
        match entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) if GROUPS.contains(&entry.key.as_str()) => {
                replace_each(&mut old.value, &entry.value)
            }
            Some(old) => *old = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
    base
}

fn replace_each(base: &mut Node, over: &Node) {
    let (Value::Map(entries), Some(new)) = (&mut base.value, over.as_map()) else {
        *base = over.clone();
        return;
    };
    for entry in new {
        match entries
            .iter_mut()
            .find(|old: &&mut Entry| old.key == entry.key)
        {
            Some(old) => *old = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Fields {
    contract: Option<String>,
    title: Option<String>,
    source: Option<String>,
    #[serde(default)]
    key: KeyFields,
    #[serde(default)]
    scope: ScopeFields,
    #[serde(default)]
    fingerprint: FingerprintFields,
    retention: Option<Node>,
    lock_timeout: Option<Time>,
    consistency_lag: Option<Time>,
    replay_marker: Option<Node>,
    #[serde(default)]
    on: OnFields,
    #[serde(default)]
    after: BTreeMap<FailureClass, Node>,
    atomic: Option<Node>,
    store_unavailable: Option<Node>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct KeyFields {
    header: Option<String>,
    encoding: Option<Encoding>,
    kind: Option<KeyKind>,
    min: Option<usize>,
    max: Option<usize>,
    case_sensitive: Option<Node>,
    required: Option<Node>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScopeFields {
    principal: Option<Node>,
    operation: Option<Node>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FingerprintFields {
    equality: Option<Node>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetentionFields {
    min: Time,
    max: Option<Time>,
    clock: Option<RetentionClock>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct OnFields {
    replay: Option<Node>,
    in_progress: Option<Node>,
    mismatch: Option<Node>,
    missing: Option<Node>,
    malformed: Option<Node>,
    expired: Option<Node>,
    deleted: Option<Node>,
}

/// A duration such as `24h`.
struct Time(Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Time;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a duration such as 30s or 24h")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
                humantime::parse_duration(text).map(Time).map_err(|_| {
                    E::custom(format!(
                        "`{text}` is no duration: write one such as 30s or 24h"
                    ))
                })
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Time, E> {
                Err(E::custom(format!(
                    "a duration needs a unit, such as {number}s or {number}h"
                )))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

fn read(node: &Node) -> Result<Contract, Diagnostic> {
    let fields: Fields = yaml::decode(node)?;
    let key = KeyRules {
        header: fields.key.header,
        encoding: fields.key.encoding.unwrap_or_default(),
        kind: fields.key.kind.unwrap_or_default(),
        min: fields.key.min.unwrap_or(1),
        max: fields.key.max.unwrap_or(255),
        case_sensitive: word(fields.key.case_sensitive.as_ref())?,
        required: word(fields.key.required.as_ref())?,
    };
    let mut after = BTreeMap::new();
    for (class, node) in &fields.after {
        after.insert(*class, word::<AfterFailure>(Some(node))?);
    }
    Ok(Contract {
        name: fields.contract.unwrap_or_else(|| "unnamed".to_owned()),
        title: fields.title.unwrap_or_default(),
        source: fields.source,
        key,
        principal_scope: word::<PrincipalScope>(fields.scope.principal.as_ref())?,
        operation_scope: word::<OperationScope>(fields.scope.operation.as_ref())?,
        equality: word::<Equality>(fields.fingerprint.equality.as_ref())?,
        retention: fields.retention.as_ref().map(retention).transpose()?,
        lock_timeout: fields.lock_timeout.map(|time| time.0),
        consistency_lag: fields
            .consistency_lag
            .map_or(Duration::from_secs(1), |time| time.0),
        replay: behaviours(fields.on.replay.as_ref())?,
        replay_marker: marker(fields.replay_marker.as_ref())?,
        in_progress: behaviours(fields.on.in_progress.as_ref())?,
        mismatch: behaviours(fields.on.mismatch.as_ref())?,
        missing: behaviours(fields.on.missing.as_ref())?,
        malformed: behaviours(fields.on.malformed.as_ref())?,
        expired: behaviours(fields.on.expired.as_ref())?,
        deleted: behaviours(fields.on.deleted.as_ref())?,
        after,
        atomic: word(fields.atomic.as_ref())?,
        store_unavailable: behaviours(fields.store_unavailable.as_ref())?,
    })
}

fn retention(node: &Node) -> Result<Retention, Diagnostic> {
    if let Some(text) = node.as_text() {
        return Err(Diagnostic::error(
            "retention is { min, max }: how long a key is kept at least and at most",
        )
        .at(node.span.clone())
        .help(format!("retention: {{ min: {text}, max: {text} }}")));
    }
    let fields: RetentionFields = yaml::decode(node)?;
    let (min, max) = (fields.min.0, fields.max.map(|time| time.0));
    if max.is_some_and(|max| max < min) {
        return Err(Diagnostic::error("min is more than max").at(node.span.clone()));
    }
    Ok(Retention {
        min,
        max,
        clock: fields.clock.unwrap_or_default(),
    })
}

/// Whether a node says that nothing is said.
fn is_unspecified(node: Option<&Node>) -> bool {
    node.is_none_or(|node| node.value == Value::Null || node.as_text() == Some("unspecified"))
}

/// `{ is: WORD, strength, source }`, or the bare word, which is then a must.
fn word<T: DeserializeOwned>(node: Option<&Node>) -> Result<Promised<T>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Word {
        is: Node,
        strength: Option<Strength>,
        source: Option<String>,
    }
    let Some(node) = node.filter(|node| !is_unspecified(Some(node))) else {
        return Ok(Promised::unspecified());
    };
    if node.as_map().is_none() {
        return Ok(Promised {
            value: Some(yaml::decode(node)?),
            strength: Strength::Must,
            source: None,
        });
    }
    let word: Word = yaml::decode(node)?;
    Ok(Promised {
        value: Some(yaml::decode(&word.is)?),
        strength: word.strength.unwrap_or(Strength::Must),
        source: word.source,
    })
}

fn marker(node: Option<&Node>) -> Result<Promised<ReplayMarker>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct MarkerFields {
        header: Option<String>,
        value: Option<String>,
        none: Option<bool>,
        strength: Option<Strength>,
        source: Option<String>,
    }
    let Some(node) = node.filter(|node| !is_unspecified(Some(node))) else {
        return Ok(Promised::unspecified());
    };
    if node.as_text() == Some("none") {
        return Ok(Promised {
            value: Some(ReplayMarker::None),
            strength: Strength::Must,
            source: None,
        });
    }
    let fields: MarkerFields = yaml::decode(node)?;
    let value = match (fields.header, fields.none) {
        (Some(name), None) => ReplayMarker::Header {
            name,
            value: fields.value.unwrap_or_else(|| "true".to_owned()),
        },
        (None, Some(true)) => ReplayMarker::None,
        _ => {
            return Err(
                Diagnostic::error("a replay marker is { header, value }, or none")
                    .at(node.span.clone()),
            );
        }
    };
    Ok(Promised {
        value: Some(value),
        strength: fields.strength.unwrap_or(Strength::Must),
        source: fields.source,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct PromiseFields {
    any_of: Option<Vec<BehaviourFields>>,
    outcome: Option<Kind>,
    status: Option<Node>,
    header: Option<BTreeMap<String, String>>,
    json: Option<BTreeMap<String, String>>,
    content_type: Option<String>,
    strength: Option<Strength>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct BehaviourFields {
    outcome: Kind,
    status: Option<Node>,
    header: Option<BTreeMap<String, String>>,
    json: Option<BTreeMap<String, String>>,
    content_type: Option<String>,
}

fn behaviours(node: Option<&Node>) -> Result<Promised<Vec<Behaviour>>, Diagnostic> {
    let Some(node) = node.filter(|node| !is_unspecified(Some(node))) else {
        return Ok(Promised::unspecified());
    };
    let fields: PromiseFields = yaml::decode(node)?;
    let alternatives = match (fields.outcome, fields.any_of) {
        (Some(outcome), None) => vec![BehaviourFields {
            outcome,
            status: fields.status,
            header: fields.header,
            json: fields.json,
            content_type: fields.content_type,
        }],
        (None, Some(any_of)) if !any_of.is_empty() => any_of,
        _ => {
            return Err(
                Diagnostic::error("a promise has `outcome`, or `any-of` with several")
                    .at(node.span.clone())
                    .help("{ outcome: reject, status: 409, strength: must, source: … }"),
            );
        }
    };
    let list = alternatives
        .into_iter()
        .map(|fields| behaviour(fields, node))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Promised {
        value: Some(list),
        strength: fields.strength.unwrap_or(Strength::Must),
        source: fields.source,
    })
}

fn behaviour(fields: BehaviourFields, place: &Node) -> Result<Behaviour, Diagnostic> {
    let pattern = |text: &str| {
        Regex::new(text).map_err(|error| {
            let why = yaml::in_one_line(&error);
            Diagnostic::error(format!("`{text}` is no regular expression: {why}"))
                .at(place.span.clone())
        })
    };
    let mut headers = Vec::new();
    for (name, value) in fields.header.unwrap_or_default() {
        headers.push((name, pattern(&value)?));
    }
    let mut json = Vec::new();
    for (path, value) in fields.json.unwrap_or_default() {
        let parsed = JsonPath::parse(&path).map_err(|error| {
            Diagnostic::error(format!("`{path}` is no JSONPath (RFC 9535): {error}"))
                .at(place.span.clone())
        })?;
        json.push((parsed, pattern(&value)?));
    }
    Ok(Behaviour {
        kind: fields.outcome,
        status: fields
            .status
            .as_ref()
            .map(statuses)
            .transpose()?
            .unwrap_or_default(),
        headers,
        json,
        content_type: fields.content_type.as_deref().map(pattern).transpose()?,
    })
}

fn statuses(node: &Node) -> Result<Vec<StatusPattern>, Diagnostic> {
    let one = |node: &Node| {
        let text = match &node.value {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
            _ => String::new(),
        };
        let pattern = match text.as_str() {
            "same-as-first" => Some(StatusPattern::SameAsFirst),
            class if class.len() == 3 && class.ends_with("xx") => {
                class[..1].parse().ok().map(StatusPattern::Class)
            }
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
