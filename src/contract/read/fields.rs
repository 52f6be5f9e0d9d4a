//! The fields of a contract file, and the small values in them.

use crate::contract::{
    Companion, Encoding, FailureClass, KeyKind, Promised, Reference, Requirement, RetentionClock,
    Unit,
};
use crate::promise::Strength;
use crate::yaml::{self, Diagnostic, Node, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// A contract file. A node is read further by what it stands for.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Fields {
    pub contract: Option<String>,
    pub title: Option<String>,
    pub status: Option<String>,
    #[serde(default)]
    pub sources: BTreeMap<String, Reference>,
    #[serde(default)]
    pub applies: AppliesFields,
    #[serde(default)]
    pub key: KeyFields,
    #[serde(default)]
    pub scope: ScopeFields,
    #[serde(default)]
    pub fingerprint: FingerprintFields,
    pub retention: Option<Node>,
    pub lock_timeout: Option<Node>,
    pub consistency_lag: Option<Node>,
    pub replay_marker: Option<Node>,
    #[serde(default)]
    pub on: OnFields,
    pub precedence: Option<Node>,
    #[serde(default)]
    pub after: BTreeMap<FailureClass, Node>,
    pub atomic: Option<Node>,
    pub transient: Option<Node>,
    pub retry: Option<Node>,
    pub lookup: Option<Node>,
    pub store_unavailable: Option<Node>,
    pub errors: Option<Node>,
    #[serde(default)]
    pub requirements: BTreeMap<String, Requirement>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AppliesFields {
    pub methods: Option<Node>,
    pub ignored: Option<Node>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct KeyFields {
    pub header: Option<Node>,
    pub json: Option<Node>,
    pub query: Option<Node>,
    pub form: Option<Node>,
    #[serde(default)]
    pub companions: Vec<Companion>,
    pub encoding: Option<Node>,
    pub kind: Option<Node>,
    pub charset: Option<Node>,
    pub min: Option<Node>,
    pub max: Option<Node>,
    pub unit: Option<Node>,
    pub source: Option<Node>,
    pub case_sensitive: Option<Node>,
    pub required: Option<Node>,
}

/// What a key is made of, as far as the file says it.
pub(super) struct KeyFormat {
    pub encoding: Encoding,
    pub kind: KeyKind,
    pub min: Option<usize>,
    pub max: Option<usize>,
    pub unit: Unit,
}

impl KeyFields {
    /// # Errors
    /// A value that does not fit.
    pub fn format(&self) -> Result<KeyFormat, Diagnostic> {
        Ok(KeyFormat {
            encoding: said(self.encoding.as_ref())?.unwrap_or_default(),
            kind: said(self.kind.as_ref())?.unwrap_or_default(),
            min: said(self.min.as_ref())?,
            max: said(self.max.as_ref())?,
            unit: said(self.unit.as_ref())?.unwrap_or_default(),
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScopeFields {
    pub principal: Option<Node>,
    pub operation: Option<Node>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FingerprintFields {
    pub covers: Option<Node>,
    pub equality: Option<Node>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetentionFields {
    pub min: Option<Time>,
    pub max: Option<Time>,
    pub forever: Option<bool>,
    pub clock: Option<Node>,
}

impl RetentionFields {
    /// Whoever names no clock means the end of the first request; `unspecified` names none.
    ///
    /// # Errors
    /// A word that is no clock.
    pub fn clock(&self) -> Result<RetentionClock, Diagnostic> {
        if self.clock.is_none() {
            return Ok(RetentionClock::Completion);
        }
        Ok(said(self.clock.as_ref())?.unwrap_or(RetentionClock::Unspecified))
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct OnFields {
    pub replay: Option<Node>,
    pub in_progress: Option<Node>,
    pub mismatch: Option<Node>,
    pub missing: Option<Node>,
    pub malformed: Option<Node>,
    pub not_applicable: Option<Node>,
    pub expired: Option<Node>,
    pub deleted: Option<Node>,
    pub companion_missing: Option<Node>,
    pub companion_malformed: Option<Node>,
}

/// A duration such as `24h`.
pub(super) struct Time(pub Duration);

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

/// The node, unless it says that nothing is said.
pub(super) fn speaking(node: Option<&Node>) -> Option<&Node> {
    node.filter(|node| node.value != Value::Null && node.as_text() != Some("unspecified"))
}

/// A plain value, unless nothing is said.
pub(super) fn said<T: DeserializeOwned>(node: Option<&Node>) -> Result<Option<T>, Diagnostic> {
    speaking(node).map(yaml::decode).transpose()
}

/// A promise: `strength` and `source` are taken out of the map, the rest is for `value` to read. A
/// promise without a strength is a must.
pub(super) fn promised<T>(
    node: Option<&Node>,
    value: impl FnOnce(&Node) -> Result<T, Diagnostic>,
) -> Result<Promised<T>, Diagnostic> {
    let Some(node) = speaking(node) else {
        return Ok(Promised::unspecified());
    };
    let mut rest = node.clone();
    let (mut strength, mut source) = (None, None);
    if let Value::Map(entries) = &mut rest.value {
        if let Some(node) = node.get("strength") {
            strength = Some(yaml::decode::<Strength>(node)?);
        }
        if let Some(node) = node.get("source") {
            source = Some(yaml::decode::<String>(node)?);
        }
        entries.retain(|entry| entry.key != "strength" && entry.key != "source");
    }
    Ok(Promised {
        value: Some(value(&rest)?),
        strength: strength.unwrap_or(Strength::Must),
        source,
    })
}

/// `{ is: VALUE, strength, source }`, or the bare value.
pub(super) fn word<T>(
    node: Option<&Node>,
    value: impl FnOnce(&Node) -> Result<T, Diagnostic>,
) -> Result<Promised<T>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Word {
        is: Node,
    }
    promised(node, |node| {
        if node.as_map().is_none() {
            return value(node);
        }
        value(&yaml::decode::<Word>(node)?.is)
    })
}

#[cfg(test)]
mod tests {
    use super::{AppliesFields, Fields, FingerprintFields, KeyFields, OnFields, ScopeFields};
    use crate::contract::{FailureClass, PROFILES};
    use serde::Deserialize;
    use serde::de::value::Error;
    use serde::de::{Deserializer, Error as _, Visitor};

    /// Finds out which fields a type has, by refusing to give it any.
    struct Asking<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Asking<'_> {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error::custom("it is no struct"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Error> {
            *self.0 = fields;
            Err(Error::custom("asked"))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
            option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
            ignored_any
        }
    }

    fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
        let mut fields: &'static [&'static str] = &[];
        assert!(T::deserialize(Asking(&mut fields)).is_err());
        assert!(!fields.is_empty());
        fields
    }

    /// What a profile may leave out: there is none of it, or another field stands for it.
    const OPTIONAL: [&str; 7] = [
        "status",
        "requirements",
        "header",
        "json",
        "query",
        "form",
        "sources",
    ];

    #[test]
    fn every_profile_answers_every_question_of_the_model() {
        let classes: Vec<&str> = FailureClass::ALL
            .into_iter()
            .map(FailureClass::name)
            .collect();
        for profile in &PROFILES {
            let node = profile.node().expect("it parses");
            for (group, fields) in [
                ("", fields_of::<Fields>()),
                ("applies", fields_of::<AppliesFields>()),
                ("key", fields_of::<KeyFields>()),
                ("scope", fields_of::<ScopeFields>()),
                ("fingerprint", fields_of::<FingerprintFields>()),
                ("on", fields_of::<OnFields>()),
                ("after", &classes),
            ] {
                let group_node = node.at(group).unwrap_or_else(|| {
                    panic!("{} does not answer {group}", profile.name);
                });
                for field in fields.iter().filter(|field| !OPTIONAL.contains(field)) {
                    assert!(
                        group_node.get(field).is_some(),
                        "{} does not answer {group} {field}",
                        profile.name
                    );
                }
            }
            let carriers = ["header", "json", "query", "form"];
            let given = carriers
                .iter()
                .filter(|name| node.at("key").is_some_and(|key| key.get(name).is_some()));
            assert_eq!(given.count(), 1, "{} names one carrier", profile.name);
        }
    }
}
