//! Scenarios of the other side: what befalls a client's requests, and what its attempts must be
//! like. Data only; nothing here knows a URL, a header or a port.

mod parse;
mod read_check;
mod read_run;

pub use parse::{is_client, parse};

use super::{Close, Rounds, Severity, StepName};
use crate::checklist::ItemId;
use crate::promise::Level;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// One scenario file with `side: client`.
#[derive(Clone, Debug)]
pub struct ClientScenario {
    /// Its path without the ending, such as `client/lost`.
    pub id: String,
    /// The sentence of the bug report that must not come.
    pub title: String,
    /// How grave a failure is.
    pub severity: Severity,
    /// How often all runs are repeated.
    pub rounds: Rounds,
    /// The cases; a scenario without cases has one, without a name.
    pub cases: Vec<ClientCase>,
    /// What must hold, by checklist item.
    pub expect: Vec<(ItemId, ClientExpectation)>,
    /// What it does and why so, for `explain`.
    pub about: Option<String>,
    /// What may look like a fault and is none.
    pub harmless: Vec<String>,
    /// Where the demand, or a public report of its breach, can be read.
    pub sources: Vec<String>,
}

impl ClientScenario {
    /// `client/backoff`, or `client/backoff#error`.
    pub fn case_id(&self, case: &ClientCase) -> String {
        match &case.name {
            Some(name) => format!("{}#{name}", self.id),
            None => self.id.clone(),
        }
    }
}

/// One case of a client scenario.
#[derive(Clone, Debug, Default)]
pub struct ClientCase {
    /// The part of the id after `#`.
    pub name: Option<String>,
    /// How the command is run, one after another.
    pub runs: Vec<CommandRun>,
}

/// One run of the command that is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandRun {
    /// The run's name.
    pub name: StepName,
    /// What befalls the attempts, in their order.
    pub faults: Vec<ClientFault>,
    /// What befalls the attempts after those.
    pub then: Then,
    /// The command is ended without notice as soon as the first fault has fired.
    pub killed: bool,
    /// The run whose unfinished operation it takes up; else it means a new one.
    pub resumes: Option<StepName>,
}

impl CommandRun {
    /// Whether one of its faults needs the client's own time limit to be known.
    pub fn outlasts(&self) -> bool {
        self.faults.contains(&ClientFault::Slow)
    }

    /// What befalls the attempt of this place, from 0.
    pub fn fault(&self, attempt: usize) -> ClientFault {
        let past = match self.then {
            Then::Pass => ClientFault::Pass,
            Then::Repeat => self.faults.last().copied().unwrap_or(ClientFault::Pass),
        };
        self.faults.get(attempt).copied().unwrap_or(past)
    }

    /// Whether the attempt of this place meets a fault.
    pub fn is_faulted(&self, attempt: usize) -> bool {
        self.fault(attempt) != ClientFault::Pass
    }
}

/// What befalls the attempts after the last fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// Nothing: they reach the API, and its answers reach the client.
    #[default]
    Pass,
    /// The last fault, for ever.
    Repeat,
}

/// What we do to one attempt of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientFault {
    /// Nothing.
    Pass,
    /// The connection is refused: nobody listens.
    Refuse,
    /// The connection is closed.
    Drop {
        /// When.
        at: DropAt,
        /// How.
        close: Close,
    },
    /// The answer comes after the client's own time limit.
    Slow,
    /// An answer of ours instead of the API's.
    Answer {
        /// What it says.
        says: Says,
        /// The pause that it asks for.
        pause: Option<Pause>,
    },
}

/// When a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropAt {
    /// Before a byte of the request is read.
    Unread,
    /// The API has done its work, and nothing of its answer is sent.
    Processed,
    /// The API has done its work, and half of its answer is sent.
    HalfAnswered,
}

/// What an answer of ours says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// This status.
    Status(u16),
    /// What the contract has for a duplicate while the first is worked on, else 409.
    InProgress,
    /// What the contract has for another payload under a used key, else 422.
    Mismatch,
}

/// The pause that an answer asks for in `Retry-After` (RFC 9110, section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// How long.
    pub time: Duration,
    /// In which form.
    pub form: PauseForm,
}

/// The two forms of `Retry-After`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseForm {
    /// A number of seconds.
    #[default]
    Seconds,
    /// A date, rounded up to whole seconds.
    Date,
}

impl ClientFault {
    /// Whether the API may have done the work although the client saw no success.
    pub fn may_be_processed(self) -> bool {
        match self {
            ClientFault::Pass | ClientFault::Refuse => false,
            ClientFault::Drop { at, .. } => at != DropAt::Unread,
            ClientFault::Slow => true,
            // Too many requests, and "unavailable" with a time to come back, turn work away.
            ClientFault::Answer { says, pause } => match says {
                Says::Status(status) => status >= 500 && (status != 503 || pause.is_none()),
                Says::InProgress => true,
                Says::Mismatch => false,
            },
        }
    }
}

/// `answered 503 with Retry-After 2s`, as reports say it.
impl fmt::Display for ClientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientFault::Pass => f.write_str("let through"),
            ClientFault::Refuse => f.write_str("connection refused"),
            ClientFault::Drop { at, close } => {
                let how = match close {
                    Close::Rst => "reset",
                    _ => "closed",
                };
                let when = match at {
                    DropAt::Unread => "before the request was read",
                    DropAt::Processed => "after the work was done",
                    DropAt::HalfAnswered => "after half of the answer",
                };
                write!(f, "connection {how} {when}")
            }
            ClientFault::Slow => f.write_str("answered after the client's time limit"),
            ClientFault::Answer { says, pause } => {
                match says {
                    Says::Status(status) => write!(f, "answered {status}")?,
                    Says::InProgress => f.write_str("answered \"in progress\"")?,
                    Says::Mismatch => f.write_str("answered \"another payload\"")?,
                }
                if let Some(pause) = pause {
                    let form = match pause.form {
                        PauseForm::Seconds => "",
                        PauseForm::Date => " as a date",
                    };
                    let time = humantime::format_duration(pause.time);
                    write!(f, " with Retry-After {time}{form}")?;
                }
                Ok(())
            }
        }
    }
}

/// One thing that must hold of a client's attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientExpectation {
    /// Stable and unique in its scenario, derived from what is written.
    pub id: String,
    /// How grave a failure is; a contract that asks for it makes it a must.
    pub level: Level,
    /// What is checked.
    pub check: ClientCheck,
    /// The runs that are looked at.
    pub of: Vec<StepName>,
}

/// The kinds of checks on a client's attempts.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientCheck {
    /// The first attempt bears a key.
    KeySent,
    /// All attempts of an operation bear the same key.
    SameKey,
    /// Two operations bear two keys, though their payloads be the same.
    NewKey,
    /// The key is what the contract asks for, can be guessed by nobody, and names no person.
    KeyForm,
    /// The body of all attempts of an operation is the same, byte for byte.
    SameBody,
    /// A request that is not idempotent and has no key is not sent again where it may have been
    /// carried out.
    NotBlind,
    /// It is sent again.
    Retried,
    /// It is not sent again.
    NotRetried,
    /// An operation has so many attempts at most.
    Attempts {
        /// The most.
        at_most: u32,
    },
    /// There is a pause between attempts.
    Pauses,
    /// Pauses grow, unless they vary.
    Grows,
    /// Pauses vary, so that many clients do not come back at once.
    Varies,
    /// No pause is longer than this.
    Capped {
        /// The longest.
        at_most: Duration,
    },
    /// `Retry-After` is waited for; shown only where the client by itself waits for less.
    Waits {
        /// The run without `Retry-After`, which shows what the client waits by itself.
        than: StepName,
    },
    /// After giving up the client asks what became of the operation.
    LooksUp,
    /// The key is that of the run that was ended without notice.
    KeySurvives {
        /// That run.
        from: StepName,
    },
}
