//! The request of a step: what of it differs from the target's plain request.

use super::moment::{FixedTime, Percent};
use super::shape::word_or_map;
use super::{Moment, OperationRole, PrincipalRole, StepName, TimeSpan, When};
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
    /// Who sends; inherited.
    pub principal: Option<PrincipalRole>,
    /// Whose effects it makes; inherited.
    pub marker: Option<Marker>,
    /// The second resource instead of the first; inherited.
    pub given_other: Option<bool>,
    /// A new connection instead of a warm one.
    pub new_connection: bool,
    /// Spread over all replicas.
    pub to_each: bool,
    /// When it starts, within a `together`.
    pub at: Option<Moment>,
    /// What befalls it on the wire.
    pub fault: Option<Fault>,
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

/// How a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// Orderly: a FIN.
    Fin,
    /// Abruptly: a RST.
    Rst,
    /// Only the HTTP/2 stream.
    RstStream,
}

/// Where a response is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponsePart {
    /// As soon as there is something to read.
    #[default]
    FirstByte,
    /// After the header block.
    Headers,
}

/// What we do to a request on the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The connection closes before a byte of the request.
    BeforeRequest {
        /// How.
        close: Close,
    },
    /// That share of the body arrives, then the connection closes.
    MidBody {
        /// 0 to 1.
        share: f64,
        /// How.
        close: Close,
    },
    /// The request arrives, and at the moment the connection closes; nothing is read.
    HangUp {
        /// When; `of` is the step itself.
        at: Moment,
        /// How.
        close: Close,
    },
    /// The response is there, and dropped.
    DropResponse {
        /// Where it is cut.
        after: ResponsePart,
        /// How.
        close: Close,
    },
    /// That share of the response's body is read, then the connection closes.
    MidResponse {
        /// 0 to 1.
        share: f64,
        /// How.
        close: Close,
    },
    /// Our patience ends; the connection stays open and a late response is recorded.
    Timeout {
        /// After this time.
        after: TimeSpan,
    },
}

impl Fault {
    /// The name in YAML and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::BeforeRequest { .. } => "before-request",
            Fault::MidBody { .. } => "mid-body",
            Fault::HangUp { .. } => "hang-up",
            Fault::DropResponse { .. } => "drop-response",
            Fault::MidResponse { .. } => "mid-response",
            Fault::Timeout { .. } => "timeout",
        }
    }

    /// How the connection is closed, where it is.
    pub fn close(&self) -> Option<Close> {
        match self {
            Fault::BeforeRequest { close }
            | Fault::MidBody { close, .. }
            | Fault::HangUp { close, .. }
            | Fault::DropResponse { close, .. }
            | Fault::MidResponse { close, .. } => Some(*close),
            Fault::Timeout { .. } => None,
        }
    }

    fn default_of(name: &str) -> Result<Fault, String> {
        Ok(match name {
            "before-request" => Fault::BeforeRequest { close: Close::Fin },
            "mid-body" => Fault::MidBody {
                share: 0.5,
                close: Close::Fin,
            },
            "hang-up" => Fault::HangUp {
                at: Moment {
                    when: When::Sent,
                    of: None,
                    plus: None,
                    spread: None,
                },
                close: Close::Rst,
            },
            "drop-response" => Fault::DropResponse {
                after: ResponsePart::FirstByte,
                close: Close::Rst,
            },
            "mid-response" => Fault::MidResponse {
                share: 0.5,
                close: Close::Rst,
            },
            "timeout" => Fault::Timeout {
                after: half_latency(),
            },
            "stall" => return Err("the fault `stall` is not supported yet".to_owned()),
            other => {
                return Err(match crate::yaml::nearest(other, FAULTS.iter().copied()) {
                    Some(name) => format!("unknown fault `{other}`: did you mean `{name}`?"),
                    None => format!(
                        "unknown fault `{other}`: it is one of {}",
                        FAULTS.join(", ")
                    ),
                });
            }
        })
    }
}

const FAULTS: [&str; 6] = [
    "before-request",
    "mid-body",
    "hang-up",
    "drop-response",
    "mid-response",
    "timeout",
];

fn half_latency() -> TimeSpan {
    TimeSpan::from_text("50% latency").expect("a share of a known quantity")
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        struct Map {
            before_request: Option<Closing>,
            mid_body: Option<Sharing>,
            hang_up: Option<HangUp>,
            drop_response: Option<Dropping>,
            mid_response: Option<Sharing>,
            timeout: Option<Patience>,
            stall: Option<crate::yaml::Node>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Closing {
            close: Option<Close>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Sharing {
            share: Option<Percent>,
            close: Option<Close>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct HangUp {
            when: When,
            plus: Option<TimeSpan>,
            spread: Option<[TimeSpan; 2]>,
            close: Option<Close>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Dropping {
            after: Option<ResponsePart>,
            close: Option<Close>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Patience {
            after: TimeSpan,
        }
        word_or_map(
            deserializer,
            "a fault's name, or one with its fields",
            Fault::default_of,
            |map: Map| {
                let mut faults = Vec::new();
                if map.stall.is_some() {
                    return Err("the fault `stall` is not supported yet".to_owned());
                }
                if let Some(Closing { close }) = map.before_request {
                    faults.push(Fault::BeforeRequest {
                        close: close.unwrap_or(Close::Fin),
                    });
                }
                if let Some(Sharing { share, close }) = map.mid_body {
                    faults.push(Fault::MidBody {
                        share: share.map_or(0.5, |s| s.0),
                        close: close.unwrap_or(Close::Fin),
                    });
                }
                if let Some(HangUp {
                    when,
                    plus,
                    spread,
                    close,
                }) = map.hang_up
                {
                    faults.push(Fault::HangUp {
                        at: Moment {
                            when,
                            of: None,
                            plus,
                            spread,
                        },
                        close: close.unwrap_or(Close::Rst),
                    });
                }
                if let Some(Dropping { after, close }) = map.drop_response {
                    faults.push(Fault::DropResponse {
                        after: after.unwrap_or_default(),
                        close: close.unwrap_or(Close::Rst),
                    });
                }
                if let Some(Sharing { share, close }) = map.mid_response {
                    faults.push(Fault::MidResponse {
                        share: share.map_or(0.5, |s| s.0),
                        close: close.unwrap_or(Close::Rst),
                    });
                }
                if let Some(Patience { after }) = map.timeout {
                    faults.push(Fault::Timeout { after });
                }
                match faults.len() {
                    1 => Ok(faults.remove(0)),
                    0 => Err(format!("a fault is one of {}", FAULTS.join(", "))),
                    _ => Err("a request has one fault only".to_owned()),
                }
            },
        )
    }
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
    pub(super) principal: Option<PrincipalRole>,
    pub(super) marker: Option<Marker>,
    pub(super) given: Option<Given>,
    pub(super) connection: Option<ConnectionWord>,
    pub(super) to: Option<ToWord>,
    pub(super) at: Option<Moment>,
    pub(super) fault: Option<Fault>,
}

impl RequestFields {
    /// The names of the fields, for messages.
    pub(super) const NAMES: [&'static str; 13] = [
        "as",
        "like",
        "operation",
        "variant",
        "form",
        "key",
        "principal",
        "marker",
        "given",
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
            principal: self.principal,
            marker: self.marker,
            given_other: self.given.map(|given| given == Given::Other),
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
