//! From YAML to an expectation on a client's attempts: a map with a single key, its kind.

use super::{ClientCheck, ClientExpectation};
use crate::promise::Level;
use crate::scenario::StepName;
use crate::scenario::map::{single_key, split};
use crate::scenario::moment::FixedTime;
use crate::scenario::shape::OneOrMany;
use crate::yaml::{self, Diagnostic, Node};
use serde::Deserialize;

/// The kinds, by their names.
const KINDS: [&str; 16] = [
    "key-sent",
    "same-key",
    "new-key",
    "key-form",
    "same-body",
    "not-blind",
    "retried",
    "not-retried",
    "attempts",
    "pauses",
    "grows",
    "varies",
    "capped",
    "waits",
    "looks-up",
    "key-survives",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    of: OneOrMany<StepName>,
    level: Option<Level>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct AtMost<T> {
    at_most: T,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Than {
    than: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct From {
    from: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl ClientExpectation {
    /// Reads a map with a single key, its kind.
    pub(super) fn read(node: &Node) -> Result<ClientExpectation, Diagnostic> {
        let (kind, body) = single_key(node, "an expectation", &KINDS, &[])?;
        let (common, own) = split(body, &["of", "level"]);
        let common: Common = yaml::decode(&common)?;
        let plain = |check: ClientCheck| yaml::decode::<Nothing>(&own).map(|Nothing {}| check);
        let check = match kind {
            "key-sent" => plain(ClientCheck::KeySent),
            "same-key" => plain(ClientCheck::SameKey),
            "new-key" => plain(ClientCheck::NewKey),
            "key-form" => plain(ClientCheck::KeyForm),
            "same-body" => plain(ClientCheck::SameBody),
            "not-blind" => plain(ClientCheck::NotBlind),
            "retried" => plain(ClientCheck::Retried),
            "not-retried" => plain(ClientCheck::NotRetried),
            "attempts" => yaml::decode::<AtMost<u32>>(&own).map(|fields| ClientCheck::Attempts {
                at_most: fields.at_most,
            }),
            "pauses" => plain(ClientCheck::Pauses),
            "grows" => plain(ClientCheck::Grows),
            "varies" => plain(ClientCheck::Varies),
            "capped" => yaml::decode::<AtMost<FixedTime>>(&own).map(|fields| ClientCheck::Capped {
                at_most: fields.at_most.0,
            }),
            "waits" => {
                yaml::decode::<Than>(&own).map(|fields| ClientCheck::Waits { than: fields.than })
            }
            "looks-up" => plain(ClientCheck::LooksUp),
            "key-survives" => yaml::decode::<From>(&own)
                .map(|fields| ClientCheck::KeySurvives { from: fields.from }),
            _ => unreachable!("single_key lets only known kinds pass"),
        }?;
        Ok(ClientExpectation {
            id: kind.to_owned(),
            level: common.level.unwrap_or_default(),
            check,
            of: common.of.0,
        })
    }
}
