//! What we do to a request on the wire.

use super::moment::{FixedTime, Percent};
use super::shape::word_or_map;
use super::{Moment, TimeSpan, When};
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Duration;

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
    /// That share of the body arrives, and the rest after a time; then the request goes on.
    Stall {
        /// 0 to 1.
        share: f64,
        /// How long the rest waits.
        time: Duration,
    },
    /// The headers arrive, with `Expect: 100-continue`; the body waits until the target says that it may
    /// come, or a time is over. Then it goes on, or the connection closes without a byte of the body.
    AwaitContinue {
        /// How long the body waits.
        at_most: Duration,
        /// How the connection closes; `None` where the request goes on.
        close: Option<Close>,
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
            Fault::Stall { .. } => "stall",
            Fault::AwaitContinue { .. } => "await-continue",
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
            Fault::AwaitContinue { close, .. } => *close,
            Fault::Stall { .. } | Fault::Timeout { .. } => None,
        }
    }

    /// Whether the request is answered all the same.
    pub fn goes_on(&self) -> bool {
        matches!(
            self,
            Fault::Stall { .. } | Fault::AwaitContinue { close: None, .. }
        )
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
            "stall" => Fault::Stall {
                share: 0.5,
                time: STALL,
            },
            "await-continue" => Fault::AwaitContinue {
                at_most: CONTINUE,
                close: None,
            },
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

/// How long a stalled request waits, unless the file says otherwise.
const STALL: Duration = Duration::from_secs(2);

/// How long a body waits for a 100 Continue, unless the file says otherwise.
const CONTINUE: Duration = Duration::from_secs(1);

const FAULTS: [&str; 8] = [
    "before-request",
    "mid-body",
    "hang-up",
    "drop-response",
    "mid-response",
    "stall",
    "await-continue",
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
            stall: Option<Stalling>,
            await_continue: Option<Awaiting>,
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
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Stalling {
            share: Option<Percent>,
            r#for: Option<FixedTime>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Awaiting {
            r#for: Option<FixedTime>,
            close: Option<Close>,
        }
        word_or_map(
            deserializer,
            "a fault's name, or one with its fields",
            Fault::default_of,
            |map: Map| {
                let mut faults = Vec::new();
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
                if let Some(Stalling { share, r#for }) = map.stall {
                    faults.push(Fault::Stall {
                        share: share.map_or(0.5, |s| s.0),
                        time: r#for.map_or(STALL, |time| time.0),
                    });
                }
                if let Some(Awaiting { r#for, close }) = map.await_continue {
                    faults.push(Fault::AwaitContinue {
                        at_most: r#for.map_or(CONTINUE, |time| time.0),
                        close,
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

#[cfg(test)]
mod tests {
    use super::Fault;
    use crate::scenario::{Scenario, parse};
    use crate::yaml::Source;
    use std::sync::Arc;
    use std::time::Duration;

    /// A scenario that compares the response of a request with this fault.
    fn compared(fault: &str) -> Result<Scenario, String> {
        let text = format!(
            "title: A test\nsteps:\n  - send: {{ as: first, key: fresh, fault: {fault} }}\n  - retry: {{ as: again, like: first }}\nexpect:\n  item-5:\n    - same-response: {{ of: again, as: first }}\n"
        );
        let source = Source {
            name: "test.yaml".to_owned(),
            text,
        };
        parse("replay/test", Arc::new(source), false).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn what_goes_on_is_answered_and_may_be_compared() {
        for (written, share, time) in [
            ("stall", 0.5, 2_000),
            ("{ stall: {} }", 0.5, 2_000),
            ("{ stall: { share: 20%, for: 300ms } }", 0.2, 300),
        ] {
            let scenario = compared(written).unwrap_or_else(|problem| panic!("{problem}"));
            let fault = scenario.cases[0]
                .step("first")
                .and_then(|step| step.request()?.fault.clone());
            let time = Duration::from_millis(time);
            assert_eq!(fault, Some(Fault::Stall { share, time }), "{written}");
        }
        for (written, millis) in [
            ("await-continue", 1_000),
            ("{ await-continue: { for: 300ms } }", 300),
        ] {
            let scenario = compared(written).unwrap_or_else(|problem| panic!("{problem}"));
            let fault = scenario.cases[0]
                .step("first")
                .and_then(|step| step.request()?.fault.clone());
            let at_most = Duration::from_millis(millis);
            let awaited = Fault::AwaitContinue {
                at_most,
                close: None,
            };
            assert_eq!(fault, Some(awaited), "{written}");
        }
        let cut = compared("{ await-continue: { close: rst } }");
        assert!(cut.is_err_and(|why| why.contains("loses it")));
        assert!(compared("drop-response").is_err_and(|why| why.contains("loses it")));
        assert!(compared("{ stall: { for: 50% latency } }").is_err());
    }
}
