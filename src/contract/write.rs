//! From a [`Contract`] to YAML, complete as the profiles are: what is read back says the same.

use super::behaviour::written;
use super::{
    AfterFailure, Behaviour, Contract, FailureClass, KeyRules, Lifetime, Promised, ReplayMarker,
    Retention, RetentionClock, RetryAfter, RetryRules, StatusPattern, TransientSignal,
};
use crate::promise::Strength;
use regex::Regex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Characters of a line that a promise may have before it is written as a block.
const FITS: usize = 110;

impl Contract {
    /// The contract as a YAML file that answers every question, *unspecified* included.
    pub fn to_yaml(&self) -> String {
        let mut file = Map::new();
        let mut add = |name: &str, value: Value| {
            file.insert(name.to_owned(), value);
        };
        add("contract", self.name.clone().into());
        add("title", self.title.clone().into());
        if let Some(status) = &self.status {
            add("status", status.clone().into());
        }
        if !self.sources.is_empty() {
            add("sources", self.references());
        }
        add(
            "applies",
            json!({
                "methods": word(&self.methods, plain),
                "ignored": word(&self.ignored_methods, plain),
            }),
        );
        add("key", key(&self.key));
        add(
            "scope",
            json!({
                "principal": word(&self.principal_scope, plain),
                "operation": word(&self.operation_scope, plain),
            }),
        );
        add(
            "fingerprint",
            json!({
                "covers": word(&self.covers, plain),
                "equality": word(&self.equality, plain),
            }),
        );
        add("retention", promised(&self.lifetime, lifetime));
        let lock = self.lock_timeout.map_or_else(unspecified, time);
        add("lock-timeout", lock);
        add("consistency-lag", time(self.consistency_lag));
        add("replay-marker", promised(&self.replay_marker, marker));
        add(
            "on",
            json!({
                "replay": behaviours(&self.replay),
                "in-progress": behaviours(&self.in_progress),
                "mismatch": behaviours(&self.mismatch),
                "missing": behaviours(&self.missing),
                "malformed": behaviours(&self.malformed),
                "not-applicable": behaviours(&self.not_applicable),
                "expired": behaviours(&self.expired),
                "deleted": behaviours(&self.deleted),
                "companion-missing": behaviours(&self.companion_missing),
                "companion-malformed": behaviours(&self.companion_malformed),
            }),
        );
        add("precedence", word(&self.precedence, plain));
        let after: Map<String, Value> = FailureClass::ALL
            .into_iter()
            .map(|class| {
                let fate = word(&self.after(class), plain::<AfterFailure>);
                (class.name().to_owned(), fate)
            })
            .collect();
        add("after", after.into());
        add("atomic", word(&self.atomic, plain));
        add("transient", promised(&self.transient, transient));
        add("retry", promised(&self.retry, retry));
        add("lookup", word(&self.lookup, plain));
        add("store-unavailable", behaviours(&self.store_unavailable));
        add("errors", word(&self.errors, plain));
        if !self.requirements.is_empty() {
            add("requirements", self.required());
        }
        file.iter()
            .map(|(name, value)| entry(0, name, value))
            .collect()
    }

    fn references(&self) -> Value {
        let sources = self.sources.iter().map(|(name, source)| {
            let mut fields = Map::new();
            fields.insert("doc".to_owned(), source.doc.clone().into());
            if let Some(date) = &source.retrieved {
                fields.insert("retrieved".to_owned(), date.clone().into());
            }
            if let Some(read) = &source.read {
                fields.insert("read".to_owned(), plain(read));
            }
            (name.clone(), Value::Object(fields))
        });
        Value::Object(sources.collect())
    }

    fn required(&self) -> Value {
        let requirements = self.requirements.iter().map(|(id, requirement)| {
            let fields = json!({
                "says": requirement.says,
                "level": requirement.level,
                "tested-by": requirement.tested_by,
            });
            (id.clone(), fields)
        });
        Value::Object(requirements.collect())
    }
}

fn unspecified() -> Value {
    "unspecified".into()
}

fn said<T: Serialize>(value: Option<T>) -> Value {
    value.map_or_else(unspecified, |value| plain(&value))
}

/// A value whose own words are those of the file.
fn plain<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("a word, a truth value or a list of words is JSON")
}

fn time(time: Duration) -> Value {
    humantime::format_duration(time).to_string().into()
}

/// `{ is: VALUE, strength, source }`.
fn word<T>(promised: &Promised<T>, say: impl Fn(&T) -> Value) -> Value {
    self::promised(promised, |value| json!({ "is": say(value) }))
}

/// The map of a value, with strength and source behind it.
fn promised<T>(promised: &Promised<T>, say: impl Fn(&T) -> Value) -> Value {
    let Some(value) = &promised.value else {
        return unspecified();
    };
    let mut fields = match say(value) {
        Value::Object(fields) => fields,
        other => return other,
    };
    fields.insert("strength".to_owned(), plain::<Strength>(&promised.strength));
    if let Some(source) = &promised.source {
        fields.insert("source".to_owned(), source.clone().into());
    }
    fields.into()
}

fn key(rules: &KeyRules) -> Value {
    let mut fields = Map::new();
    let places = [
        ("header", &rules.header),
        ("json", &rules.json),
        ("query", &rules.query),
        ("form", &rules.form),
    ];
    for (name, place) in places {
        if let Some(place) = place {
            fields.insert(name.to_owned(), place.clone().into());
        }
    }
    if fields.is_empty() {
        fields.insert("header".to_owned(), unspecified());
    }
    let companions: Value = rules
        .companions
        .iter()
        .map(|companion| {
            json!({
                "header": companion.header,
                "form": plain(&companion.form),
                "required": companion.required,
            })
        })
        .collect();
    let charset = rules.charset.as_ref().map(|charset| {
        let text = charset.as_str();
        let inner = text
            .strip_prefix(r"\A(?:")
            .and_then(|text| text.strip_suffix(r")\z"));
        inner.unwrap_or(text).to_owned()
    });
    let (min, max) = rules.stated;
    let more = [
        ("companions", companions),
        ("encoding", plain(&rules.encoding)),
        ("kind", plain(&rules.kind)),
        ("charset", said(charset)),
        ("min", said(min)),
        ("max", said(max)),
        ("unit", plain(&rules.unit)),
        ("source", said(rules.source.as_ref())),
        ("case-sensitive", word(&rules.case_sensitive, plain)),
        ("required", word(&rules.required, plain)),
    ];
    fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    fields.into()
}

fn lifetime(lifetime: &Lifetime) -> Value {
    let Lifetime::Limited(Retention { min, max, clock }) = lifetime else {
        return json!({ "forever": true });
    };
    let mut fields = Map::new();
    fields.insert("min".to_owned(), time(*min));
    if let Some(max) = max {
        fields.insert("max".to_owned(), time(*max));
    }
    fields.insert("clock".to_owned(), plain::<RetentionClock>(clock));
    fields.into()
}

fn marker(marker: &ReplayMarker) -> Value {
    let valued = |place: &str, at: String, value: &str, first: &Option<String>| {
        let mut fields = Map::new();
        fields.insert(place.to_owned(), at.into());
        fields.insert("value".to_owned(), value.into());
        if let Some(first) = first {
            fields.insert("first".to_owned(), first.clone().into());
        }
        Value::Object(fields)
    };
    match marker {
        ReplayMarker::Header { name, value, first } => valued("header", name.clone(), value, first),
        ReplayMarker::Json { path, value, first } => valued("json", written(path), value, first),
        ReplayMarker::Status(status) => json!({ "status": status }),
        ReplayMarker::KeyEcho(name) => json!({ "key-echo": name }),
        ReplayMarker::None => json!({ "none": true }),
    }
}

fn behaviours(ways: &Promised<Vec<Behaviour>>) -> Value {
    promised(ways, |ways| match ways.as_slice() {
        [way] => behaviour(way).into(),
        ways => json!({ "any-of": ways.iter().map(behaviour).collect::<Vec<_>>() }),
    })
}

fn behaviour(way: &Behaviour) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    add("outcome", plain(&way.kind));
    if !way.status.is_empty() {
        add("status", statuses(&way.status));
    }
    let pattern = |pattern: &Regex| Value::from(pattern.as_str());
    let patterns = |found: Vec<(String, Value)>| Value::Object(found.into_iter().collect());
    if !way.headers.is_empty() {
        let headers = way.headers.iter();
        add(
            "header",
            patterns(
                headers
                    .map(|(name, value)| (name.clone(), pattern(value)))
                    .collect(),
            ),
        );
    }
    if !way.json.is_empty() {
        let json = way.json.iter();
        add(
            "json",
            patterns(
                json.map(|(path, value)| (written(path), pattern(value)))
                    .collect(),
            ),
        );
    }
    if !way.xml.is_empty() {
        let xml = way.xml.iter();
        add(
            "xml",
            patterns(
                xml.map(|(path, value)| (path.to_string(), pattern(value)))
                    .collect(),
            ),
        );
    }
    if let Some(media) = &way.content_type {
        add("content-type", pattern(media));
    }
    if let Some(body) = &way.body {
        add("body", plain(body));
    }
    match &way.retry_after {
        Some(RetryAfter::Header) => add("retry-after", "header".into()),
        Some(RetryAfter::Json(path)) => add("retry-after", written(path).into()),
        None => {}
    }
    if let Some(limit) = way.max_wait {
        add("max-wait", time(limit));
    }
    fields
}

fn statuses(patterns: &[StatusPattern]) -> Value {
    let one = |pattern: &StatusPattern| match pattern {
        StatusPattern::Exact(status) => Value::from(*status),
        StatusPattern::Class(_) => pattern.to_string().into(),
        StatusPattern::SameAsFirst => "same-as-first".into(),
    };
    match patterns {
        [single] => one(single),
        several => several.iter().map(one).collect(),
    }
}

fn transient(signal: &TransientSignal) -> Value {
    json!({ "header": signal.header, "value": signal.value.as_str() })
}

fn retry(rules: &RetryRules) -> Value {
    let mut fields = Map::new();
    for (name, list) in [("statuses", &rules.statuses), ("never", &rules.never)] {
        if !list.is_empty() {
            fields.insert(name.to_owned(), statuses(list));
        }
    }
    if !rules.honours.is_empty() {
        fields.insert("honours".to_owned(), plain(&rules.honours));
    }
    if let Some(pause) = rules.min_delay {
        fields.insert("min-delay".to_owned(), time(pause));
    }
    fields.into()
}

/// `name: value` on one line if it fits, else a block.
fn entry(indent: usize, name: &str, value: &Value) -> String {
    let pad = " ".repeat(indent);
    let line = format!("{pad}{}: {}\n", scalar(name), flow(value));
    match value {
        // Whoever reads a file looks for the names of its groups at its edge.
        Value::Object(fields)
            if !fields.is_empty()
                && (indent == 0 && fields.len() > 2 && !fields.contains_key("strength")
                    || line.chars().count() > FITS) =>
        {
            let inner: String = fields
                .iter()
                .map(|(name, value)| entry(indent + 2, name, value))
                .collect();
            format!("{pad}{}:\n{inner}", scalar(name))
        }
        Value::Array(list) if line.chars().count() > FITS => {
            let inner: String = list
                .iter()
                .map(|value| format!("{pad}  - {}\n", flow(value)))
                .collect();
            format!("{pad}{}:\n{inner}", scalar(name))
        }
        _ => line,
    }
}

/// The value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", scalar(name), flow(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(flow).collect();
            format!("[{}]", list.join(", "))
        }
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text: bare if no reader could take it for anything else.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let harmless = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+'));
    // The group `on` of a contract is text to our reader, as in the profiles.
    if text == "on" || begins && harmless && !WORDS.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    // JSON's strings are YAML's double-quoted ones.
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use crate::contract::{Contract, PROFILES, chosen, named};
    use crate::yaml::Source;

    fn read_back(text: &str) -> Contract {
        let files = |_: &str, _: &str| {
            Ok(Source {
                name: "written.yaml".to_owned(),
                text: text.to_owned(),
            })
        };
        chosen("written.yaml", &files).unwrap_or_else(|problem| panic!("{problem:?}\n{text}"))
    }

    #[test]
    fn every_profile_is_read_back_as_it_was_written() {
        for profile in &PROFILES {
            let contract = named(profile.name).expect("a profile");
            let text = contract.to_yaml();
            let back = read_back(&text);
            assert_eq!(format!("{contract:#?}"), format!("{back:#?}"), "{text}");
        }
    }

    #[test]
    fn a_written_contract_answers_every_question_that_a_profile_answers() {
        let text = named("generic").expect("a profile").to_yaml();
        for name in [
            "methods",
            "header",
            "deleted",
            "server-5xx",
            "store-unavailable",
        ] {
            assert!(
                text.contains(&format!("{name}: unspecified")),
                "{name}:\n{text}"
            );
        }
    }
}
