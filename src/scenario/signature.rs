//! How a request is signed where its target says how: well, or badly on purpose.

use super::StepName;
use super::moment::FixedTime;
use super::shape::word_or_map;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// The signature of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Signature {
    /// As the target wants it, made anew for each attempt.
    #[default]
    Good,
    /// None at all.
    None,
    /// Made with another secret.
    Wrong,
    /// Made over another body.
    OtherBody,
    /// Made so long ago.
    Old(Duration),
    /// That step's, word for word.
    Of(StepName),
}

impl Signature {
    /// In words, after "with".
    pub fn says(&self) -> String {
        match self {
            Signature::Good => "a good signature".to_owned(),
            Signature::None => "no signature".to_owned(),
            Signature::Wrong => "a signature by another secret".to_owned(),
            Signature::OtherBody => "a signature over another body".to_owned(),
            Signature::Old(ago) => format!(
                "a signature that is {} old",
                humantime::format_duration(*ago)
            ),
            Signature::Of(step) => format!("the signature of `{step}`"),
        }
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Map {
            ago: Option<FixedTime>,
            of: Option<StepName>,
        }
        word_or_map(
            deserializer,
            "good, none, wrong, other-body, { ago: DURATION } or { of: STEP }",
            |word| match word {
                "good" => Ok(Signature::Good),
                "none" => Ok(Signature::None),
                "wrong" => Ok(Signature::Wrong),
                "other-body" => Ok(Signature::OtherBody),
                other => Err(format!(
                    "unknown signature `{other}`: it is good, none, wrong, other-body, {{ ago: DURATION }} or {{ of: STEP }}"
                )),
            },
            |map: Map| match (map.ago, map.of) {
                (Some(ago), None) => Ok(Signature::Old(ago.0)),
                (None, Some(step)) => Ok(Signature::Of(step)),
                _ => Err("a signature is one of { ago: DURATION } and { of: STEP }".to_owned()),
            },
        )
    }
}
