//! The idempotency key of a request: a fresh one, another step's, or an odd one on purpose.

use super::StepName;
use super::shape::word_or_map;
use serde::{Deserialize, Deserializer};

/// The idempotency key of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// A new one that the contract accepts; one for the whole step.
    Fresh,
    /// A new one for each copy.
    FreshEach,
    /// That step's key, perhaps with a twist.
    Of {
        /// The step.
        step: StepName,
        /// What is done to the key.
        twist: Option<KeyTwist>,
    },
    /// A new key of a given form.
    Shaped {
        /// Its length in characters.
        length: Option<usize>,
        /// What it is made of.
        shape: Option<KeyShape>,
        /// What is done to it.
        twist: Option<KeyTwist>,
    },
    /// No key at all.
    None,
    /// An empty value.
    Empty,
    /// One space.
    Blank,
    /// This text; `${token}` in it is fresh in each round.
    Text(String),
}

/// What is done to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyTwist {
    /// Another last character.
    OtherTail,
    /// The other case.
    OtherCase,
    /// An accent on one letter.
    Accent,
    /// Two header lines.
    SentTwice,
    /// `K, K` in one line.
    Joined,
    /// The other encoding: quoted if the contract wants it bare, bare if quoted.
    Quoted,
}

/// What a key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyShape {
    /// A version 4 UUID.
    Uuid,
    /// Letters only.
    Letters,
    /// With a control byte in it.
    ControlByte,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Map {
            of: Option<StepName>,
            fresh: Option<Form>,
            with: Option<KeyTwist>,
            text: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Form {
            length: Option<usize>,
            shape: Option<KeyShape>,
        }
        word_or_map(
            deserializer,
            "fresh, fresh-each, none, empty, blank, { of }, { fresh } or { text }",
            |word| match word {
                "fresh" => Ok(Key::Fresh),
                "fresh-each" => Ok(Key::FreshEach),
                "none" => Ok(Key::None),
                "empty" => Ok(Key::Empty),
                "blank" => Ok(Key::Blank),
                other => Err(format!(
                    "unknown key `{other}`: it is fresh, fresh-each, none, empty, blank, {{ of: STEP }}, {{ fresh: … }} or {{ text: … }}"
                )),
            },
            |map: Map| match map {
                Map {
                    of: Some(step),
                    fresh: None,
                    with: twist,
                    text: None,
                } => Ok(Key::Of { step, twist }),
                Map {
                    of: None,
                    fresh: Some(form),
                    with: twist,
                    text: None,
                } => Ok(Key::Shaped {
                    length: form.length,
                    shape: form.shape,
                    twist,
                }),
                Map {
                    of: None,
                    fresh: None,
                    with: None,
                    text: Some(text),
                } => Ok(Key::Text(text)),
                _ => Err(
                    "a key is one of { of: STEP, with }, { fresh: …, with } and { text: … }"
                        .to_owned(),
                ),
            },
        )
    }
}
