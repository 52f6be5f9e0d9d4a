//! The request of a step: what of it differs from the target's plain request.

use super::fault::Fault;
use super::first_sent::FirstSent;
use super::key::Key;
use super::moment::FixedTime;
use super::shape::word_or_map;
use super::signature::Signature;
use super::{Moment, OperationRole, PrincipalRole, StepName};
use crate::outcome::Outcome;
use serde::{Deserialize, Deserializer};

/// What a send, a burst or a retry sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The step's name; made up where the file gives none.
    pub name: StepName,
    /// The step that this one repeats, except for what is written beside it.
    pub like: Option<Like>,
    /// Which operation; inherited.
    pub operation: Option<OperationRole>,
    /// Variants to lay over the request; inherited and added to.
    pub variants: Vec<String>,
    /// Rewritings that keep the meaning; inherited and replaced.
    pub forms: Option<Vec<String>>,
    /// The key; inherited.
    pub key: Option<Key>,
    /// The date that goes with the key; inherited.
    pub first_sent: Option<FirstSent>,
    /// Who sends; inherited.
    pub principal: Option<PrincipalRole>,
    /// Whose effects it makes; inherited.
    pub marker: Option<Marker>,
    /// The second resource instead of the first; inherited.
    pub given_other: Option<bool>,
    /// What the client calls the resource, where it has the choice; `${token}` in it is fresh in each
    /// round. Else a fresh word.
    pub chosen_name: Option<String>,
    /// The step since whose response the resource must be unchanged.
    pub only_if: Option<StepName>,
    /// The `prepare` step whose answer it uses; inherited. Without one it has an answer of its own.
    pub prepared: Option<StepName>,
    /// How it is signed, where the target says how requests are.
    pub signature: Signature,
    /// A new connection instead of a warm one.
    pub new_connection: bool,
    /// Spread over all replicas.
    pub to_each: bool,
    /// When it starts, within a `together`.
    pub at: Option<Moment>,
    /// What befalls it on the wire.
    pub fault: Option<Fault>,
}

impl Request {
    /// A request of which nothing but the name is said.
    pub fn plain(name: impl Into<StepName>) -> Request {
        Request {
            name: name.into(),
            like: None,
            operation: None,
            variants: Vec::new(),
            forms: None,
            key: None,
            first_sent: None,
            principal: None,
            marker: None,
            given_other: None,
            chosen_name: None,
            only_if: None,
            prepared: None,
            signature: Signature::Good,
            new_connection: false,
            to_each: false,
            at: None,
            fault: None,
        }
    }
}

/// The step that is repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// Its name.
    pub of: StepName,
    /// Of a burst: the first copy with this outcome.
    pub which: Option<Outcome>,
}

impl<'de> Deserialize<'de> for Like {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Map {
            of: StepName,
            which: Option<String>,
        }
        word_or_map(
            deserializer,
            "a step's name, or { of, which }",
            |name| {
                Ok(Like {
                    of: name.to_owned(),
                    which: None,
                })
            },
            |map: Map| {
                let which = map
                    .which
                    .map(|word| super::read_expectation::outcome_word(&word))
                    .transpose()?;
                Ok(Like { of: map.of, which })
            },
        )
    }
}

/// What ties effects to a request: every round has fresh markers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// A name; the same name is the same marker within a round. The usual one is `main`.
    Named(String),
    /// A new one for each copy.
    FreshEach,
    /// That step's marker.
    Of(StepName),
}

impl Default for Marker {
    fn default() -> Self {
        Marker::Named("main".to_owned())
    }
}

impl<'de> Deserialize<'de> for Marker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Map {
            of: StepName,
        }
        word_or_map(
            deserializer,
            "a name, fresh-each, or { of: STEP }",
            |word| {
                Ok(match word {
                    "fresh-each" => Marker::FreshEach,
                    name => Marker::Named(name.to_owned()),
                })
            },
            |map: Map| Ok(Marker::Of(map.of)),
        )
    }
}

/// The condition of a request: the resource is as that step's response left it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct OnlyIf {
    unchanged_since: StepName,
}

/// The fields that a request may have in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RequestFields {
    pub(super) r#as: Option<StepName>,
    pub(super) like: Option<Like>,
    pub(super) operation: Option<OperationRole>,
    pub(super) variant: Option<super::shape::OneOrMany<String>>,
    pub(super) form: Option<super::shape::OneOrMany<String>>,
    pub(super) key: Option<Key>,
    pub(super) first_sent: Option<FirstSent>,
    pub(super) principal: Option<PrincipalRole>,
    pub(super) marker: Option<Marker>,
    pub(super) given: Option<Given>,
    pub(super) name: Option<String>,
    pub(super) only_if: Option<OnlyIf>,
    pub(super) prepared: Option<StepName>,
    pub(super) signature: Option<Signature>,
    pub(super) connection: Option<ConnectionWord>,
    pub(super) to: Option<ToWord>,
    pub(super) at: Option<Moment>,
    pub(super) fault: Option<Fault>,
}

impl RequestFields {
    /// The names of the fields, for messages.
    pub(super) const NAMES: [&'static str; 18] = [
        "as",
        "like",
        "operation",
        "variant",
        "form",
        "key",
        "first-sent",
        "principal",
        "marker",
        "given",
        "name",
        "only-if",
        "prepared",
        "signature",
        "connection",
        "to",
        "at",
        "fault",
    ];

    pub(super) fn into_request(self, made_up_name: &str) -> Request {
        Request {
            name: self.r#as.unwrap_or_else(|| made_up_name.to_owned()),
            like: self.like,
            operation: self.operation,
            variants: self.variant.map(|many| many.0).unwrap_or_default(),
            forms: self.form.map(|many| many.0),
            key: self.key,
            first_sent: self.first_sent,
            principal: self.principal,
            marker: self.marker,
            given_other: self.given.map(|given| given == Given::Other),
            chosen_name: self.name,
            only_if: self.only_if.map(|only_if| only_if.unchanged_since),
            prepared: self.prepared,
            signature: self.signature.unwrap_or_default(),
            new_connection: self.connection == Some(ConnectionWord::New),
            to_each: self.to == Some(ToWord::Each),
            at: self.at,
            fault: self.fault,
        }
    }
}

/// Which existing resource an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Given {
    Subject,
    Other,
}

/// A warm connection or a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ConnectionWord {
    Warm,
    New,
}

/// Any replica, or each in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToWord {
    Any,
    Each,
}

/// How long a retry waits and lasts, and a `wait` in map form.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RetryFields {
    pub(super) until: Option<super::Until>,
    pub(super) every: Option<FixedTime>,
    pub(super) r#for: Option<FixedTime>,
}

/// The fields of a burst.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct BurstFields {
    pub(super) copies: super::shape::OneOrMany<u32>,
    pub(super) release: Option<super::Release>,
    pub(super) stop_at: Option<String>,
}

/// The fields of a send.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SendFields {
    pub(super) times: Option<u32>,
}
