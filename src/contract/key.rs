//! What keys look like, where they travel, and whether they are wanted.

use super::Promised;
use regex::Regex;
use serde::{Deserialize, Serialize};

/// What keys look like and whether they are wanted.
#[derive(Clone, Debug)]
pub struct KeyRules {
    /// The header that carries the key, where the contract fixes one.
    pub header: Option<String>,
    /// The place in the JSON body that carries it, as a JSONPath that leads to one place.
    pub json: Option<String>,
    /// The query parameter that carries it.
    pub query: Option<String>,
    /// The form field that carries it.
    pub form: Option<String>,
    /// Headers that belong to the key.
    pub companions: Vec<Companion>,
    /// How the key is written in the header.
    pub encoding: Encoding,
    /// What the key is made of.
    pub kind: KeyKind,
    /// Which characters it has: a pattern for the whole key.
    pub charset: Option<Regex>,
    /// Fewest characters that a key is made with.
    pub min: usize,
    /// Most characters that a key is made with.
    pub max: usize,
    /// The bounds as the contract states them, fewest and most; `None` where it states none.
    pub stated: (Option<usize>, Option<usize>),
    /// What the bounds count.
    pub unit: Unit,
    /// Where all of the above is written.
    pub source: Option<String>,
    /// Whether two keys that differ in case only are two keys.
    pub case_sensitive: Promised<bool>,
    /// Whether a key must be there. Informational: what is judged is the answer to a missing one.
    pub required: Promised<Required>,
}

impl KeyRules {
    /// Why the contract calls a key malformed, if it does.
    pub fn objection(&self, key: &str) -> Option<String> {
        let (length, unit) = match self.unit {
            Unit::Chars => (key.chars().count(), "characters"),
            Unit::Bytes => (key.len(), "bytes"),
        };
        if key.trim().is_empty() {
            return Some("it is empty".to_owned());
        }
        if length < self.min {
            return Some(format!("it has {length} {unit}, fewer than {}", self.min));
        }
        if length > self.max {
            return Some(format!("it has {length} {unit}, more than {}", self.max));
        }
        if self
            .charset
            .as_ref()
            .is_some_and(|charset| !charset.is_match(key))
        {
            return Some("it has characters that are not allowed".to_owned());
        }
        let version = match self.kind {
            KeyKind::Opaque | KeyKind::Natural => return None,
            KeyKind::Uuid => None,
            KeyKind::Uuid4 => Some(4),
            KeyKind::Uuid5 => Some(5),
        };
        match (uuid::Uuid::try_parse(key), version) {
            (Err(_), _) => Some("it is no UUID".to_owned()),
            (Ok(uuid), Some(version)) if uuid.get_version_num() != version => {
                Some(format!("it is no UUID of version {version}"))
            }
            (Ok(_), _) => None,
        }
    }

    /// The companion that says when the request was first sent.
    pub fn first_sent(&self) -> Option<&Companion> {
        self.companions
            .iter()
            .find(|companion| companion.form == CompanionForm::FirstSent)
    }

    /// Where the key travels, in words.
    pub fn place(&self) -> Option<String> {
        let header = self.header.as_ref().map(|name| format!("header {name}"));
        let json = self.json.as_ref().map(|path| format!("{path} of the body"));
        let query = self
            .query
            .as_ref()
            .map(|name| format!("query parameter {name}"));
        let form = self.form.as_ref().map(|name| format!("form field {name}"));
        header.or(json).or(query).or(form)
    }
}

/// A header that belongs to the key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// The header's name.
    pub header: String,
    /// What it says.
    pub form: CompanionForm,
    /// Whether a key without it is refused.
    #[serde(default)]
    pub required: bool,
}

/// What a companion says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompanionForm {
    /// When the request was first sent, as an IMF-fixdate (RFC 9110, section 5.6.7).
    FirstSent,
    /// Who the client is. Informational.
    ClientId,
}

/// How a key is written in its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// As it is.
    #[default]
    Raw,
    /// As a quoted string (RFC 9651, section 3.3.3).
    SfString,
    /// Either way.
    Either,
}

/// What a key is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// Any characters.
    #[default]
    Opaque,
    /// A UUID of any version.
    Uuid,
    /// A random UUID.
    Uuid4,
    /// A name-based UUID.
    Uuid5,
    /// A name that the thing has anyway.
    Natural,
}

/// What the bounds of a key's length count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Characters.
    #[default]
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Required {
    /// It must be there.
    Required,
    /// It may be left out; nothing is then deduplicated.
    Optional,
    /// The server makes one where it is left out.
    AutoGenerated,
    /// It must be there on some operations.
    Conditional,
}

#[cfg(test)]
mod tests {
    use crate::contract::meaning::tests::sample::contract;

    #[test]
    fn a_key_is_malformed_by_its_length_its_characters_or_its_kind() {
        let says = |rules: &str, key: &str| {
            contract(&format!("extends: generic\nkey: {rules}"))
                .key
                .objection(key)
        };
        assert_eq!(says("{ max: 4 }", "äöüß"), None);
        assert!(says("{ max: 4, unit: bytes }", "äöüß").is_some());
        assert!(says("{ min: 5 }", "abcd").is_some());
        assert!(says("{ charset: '[a-z]+' }", "abcd1").is_some());
        assert_eq!(says("{ charset: '[a-z]+' }", "abcd"), None);
        let random = "9b2d7c1e-5a4f-4c3b-8d2e-1f0a9b8c7d6e";
        assert_eq!(says("{ kind: uuid4 }", random), None);
        assert!(says("{ kind: uuid5 }", random).is_some());
        assert!(says("{ kind: uuid }", "no-uuid").is_some());
        assert_eq!(says("{ kind: natural }", "invoice-7"), None);
    }
}
