//! What we do to a request on the wire.

use super::moment::Percent;
use super::shape::word_or_map;
use super::{Moment, TimeSpan, When};
use serde::{Deserialize, Deserializer, Serialize};

/// How a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
