//! What must hold: expectations and, in the same words, assumptions.

use super::request::Marker;
use super::{Moment, OperationRole, StepName};
use crate::outcome::Outcome;
use crate::promise::{Level, Promise};
use crate::signal::Signal;
use serde::Deserialize;
use std::time::Duration;

/// One thing that must hold.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Stable and unique in its scenario, derived from what is written.
    pub id: String,
    /// How grave a failure is; a contract's strength overrides it for promises.
    pub level: Level,
    /// Void if the contract declares a behaviour for this promise that allows it.
    pub unless: Option<Promise>,
    /// Void in a round in which this does not hold.
    pub condition: Option<Condition>,
    /// What is checked.
    pub check: Check,
}

/// When an expectation is about a round at all: by how a step was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The step.
    pub of: StepName,
    /// What all its answers must lie in.
    pub is: Outcome,
}

/// A bound on a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Safety: never more. A break stands under any broken assumption.
    AtMost(u64),
    /// Liveness: at least so many in the last settled reading.
    AtLeast(u64),
}

/// A bound on what responses mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeBound {
    /// Every response lies in the set.
    Is(Outcome),
    /// At least one response lies in the set.
    Some(Outcome),
    /// No response lies in the set.
    Never(Outcome),
}

/// Where foreign data is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeekIn {
    /// The status line, the headers and the body.
    #[default]
    Everything,
    /// Cookies and challenges only.
    Secrets,
}

/// What is claimed of the events that a marker's requests brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventClaim {
    /// The number of different event ids.
    Ids(Bound),
    /// The number of deliveries, repeated ones included.
    Deliveries(Bound),
    /// The number of different events that our receiver took.
    Taken(Bound),
    /// The events of several requests came in the order of the requests.
    Ordered,
    /// A delivery that comes again is the same in this part.
    Stable(EventPart),
}

/// A part of a delivery that can stay the same when it comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventPart {
    /// The id of the event.
    Id,
    /// The body, for one id.
    Body,
    /// The signature, for one id.
    Signature,
}

/// What of the documents is held against what was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentedPart {
    /// Where the key goes.
    Key,
    /// What a key looks like.
    KeyFormat,
    /// Whether a key is required.
    Required,
    /// The status of a refusal.
    Status,
    /// The Retry-After of a refusal.
    RetryAfter,
    /// For how long a key is remembered.
    Retention,
    /// Whose keys are one space.
    Scope,
    /// Which errors may be retried.
    Retryable,
    /// That every operation that changes something has a key.
    EveryOperation,
}

impl DocumentedPart {
    /// The word in YAML.
    pub fn name(self) -> &'static str {
        match self {
            DocumentedPart::Key => "key",
            DocumentedPart::KeyFormat => "key-format",
            DocumentedPart::Required => "required",
            DocumentedPart::Status => "status",
            DocumentedPart::RetryAfter => "retry-after",
            DocumentedPart::Retention => "retention",
            DocumentedPart::Scope => "scope",
            DocumentedPart::Retryable => "retryable",
            DocumentedPart::EveryOperation => "every-operation",
        }
    }

    /// Whether it is about the answer to a step; `None` where it may be.
    pub fn is_of_a_step(self) -> Option<bool> {
        match self {
            DocumentedPart::KeyFormat
            | DocumentedPart::Required
            | DocumentedPart::Status
            | DocumentedPart::RetryAfter
            | DocumentedPart::Retryable => Some(true),
            DocumentedPart::Retention | DocumentedPart::Scope => None,
            DocumentedPart::Key | DocumentedPart::EveryOperation => Some(false),
        }
    }
}

/// What is claimed of a count.
#[derive(Clone, Debug)]
pub struct SignalClaim {
    /// The count.
    pub signal: Signal,
    /// The step that provoked it.
    pub of: StepName,
    /// Which of its answers count.
    pub is: Outcome,
    /// The reading before.
    pub from: StepName,
    /// The reading after.
    pub to: StepName,
}

/// The kinds of checks.
#[derive(Clone, Debug)]
pub enum Check {
    /// The number of effects, for each probe on its own.
    Effects {
        /// The bound, in executions.
        bound: Bound,
        /// One probe, or all.
        probe: Option<String>,
        /// Whose probes.
        operation: OperationRole,
        /// Whose effects.
        marker: Marker,
        /// A named reading; else all of them (at most) or the last settled one (at least).
        reading: Option<StepName>,
    },
    /// What the responses of the steps mean.
    Outcome {
        /// The steps.
        of: Vec<StepName>,
        /// The bound.
        bound: OutcomeBound,
    },
    /// What the contract declares for the promise.
    Keeps {
        /// The promise.
        promise: Promise,
        /// Whose responses show it.
        of: StepName,
    },
    /// The response is the earlier one again.
    SameResponse {
        /// The later steps.
        of: Vec<StepName>,
        /// The earlier step; `earliest` stands for each key's first success.
        r#as: StepName,
    },
    /// All successes name one resource.
    OneResource {
        /// The steps.
        of: Vec<StepName>,
    },
    /// Two successes name two resources; void unless both are successes.
    TwoResources {
        /// The two steps.
        of: [StepName; 2],
    },
    /// A success has its effect.
    Exists {
        /// The step.
        of: StepName,
    },
    /// No string that only the other response has occurs in this one.
    NothingForeign {
        /// The responses looked into.
        of: Vec<StepName>,
        /// Whose data it would be.
        from: StepName,
        /// Where.
        r#in: SeekIn,
    },
    /// Probes with a bound keep it.
    Bounded {
        /// One probe, or all with a bound.
        probe: Option<String>,
    },
    /// What came to our receiver of events.
    Events {
        /// What is claimed.
        claim: EventClaim,
        /// Whose events.
        marker: Marker,
    },
    /// What the documents say is there, and is what was observed.
    Documented {
        /// What of them.
        part: DocumentedPart,
        /// The step that shows it, where one does.
        of: Option<StepName>,
    },
    /// What the target says that it counted is what was provoked.
    Counted(SignalClaim),
    /// What both answers say of one resource is the same.
    Agrees {
        /// The look-up.
        of: StepName,
        /// The other answer.
        with: StepName,
    },
    /// Two readings agree, or differ.
    State {
        /// The later one.
        reading: StepName,
        /// The earlier one.
        than: StepName,
        /// Whether they must agree.
        same: bool,
        /// Only what reads a state is compared, and not what counts.
        states_only: bool,
    },
    /// The two responses can be told apart by a program.
    TellsApart {
        /// One.
        of: StepName,
        /// The other.
        from: StepName,
    },
    /// A Retry-After is there where it is wanted, and is sound.
    RetryAfter {
        /// Whose responses.
        of: StepName,
    },
    /// Every copy was answered in time. The only check that fails a missing response.
    Answered {
        /// The step.
        of: StepName,
        /// In what time.
        within: super::TimeSpan,
    },
    /// Whoever made an effect was told so: no failure and no silence hides it.
    Told {
        /// The step.
        of: StepName,
    },
    /// The retry came to its end.
    Recovered {
        /// The retry.
        of: StepName,
        /// In what time; else the declared lock timeout, else 65 s.
        within: Option<Duration>,
    },
    /// The other requests took no longer than before, within a factor.
    Unaffected {
        /// The other requests.
        of: StepName,
        /// What they are measured against.
        than: StepName,
        /// The factor.
        factor: f64,
    },
    /// A plain status; for users' own scenarios.
    Status {
        /// Whose response.
        of: StepName,
        /// The status.
        is: u16,
    },
    /// A plain header; for users' own scenarios.
    Header {
        /// Whose response.
        of: StepName,
        /// The header's name.
        name: String,
        /// A regular expression for its value.
        matches: String,
    },
    /// A plain JSON value; for users' own scenarios.
    Json {
        /// Whose response.
        of: StepName,
        /// A JSONPath (RFC 9535).
        path: String,
        /// The value.
        equals: serde_json::Value,
    },
    /// A copy of one step was sent before the other step had its last byte.
    Overlap {
        /// The step that must overlap.
        of: StepName,
        /// The step that must still be running.
        with: StepName,
    },
    /// Copies were sent before and after the moment, near enough.
    Straddled {
        /// The spread burst.
        of: StepName,
        /// The moment.
        around: Moment,
    },
}

impl Check {
    /// Safety: a failure stands under broken assumptions and in any round.
    pub fn is_safety(&self) -> bool {
        match self {
            Check::Effects { bound, .. } => matches!(bound, Bound::AtMost(_)),
            Check::Events { claim, .. } => matches!(
                claim,
                EventClaim::Ids(Bound::AtMost(_)) | EventClaim::Stable(EventPart::Id)
            ),
            Check::OneResource { .. }
            | Check::TwoResources { .. }
            | Check::Exists { .. }
            | Check::NothingForeign { .. }
            | Check::Bounded { .. } => true,
            _ => false,
        }
    }

    /// The steps whose responses it needs.
    pub fn steps(&self) -> Vec<&str> {
        fn all(names: &[StepName]) -> Vec<&str> {
            names.iter().map(String::as_str).collect()
        }
        match self {
            Check::Effects { .. }
            | Check::Events { .. }
            | Check::Bounded { .. }
            | Check::State { .. } => Vec::new(),
            Check::Outcome { of, .. } | Check::OneResource { of } => all(of),
            Check::TwoResources { of } => all(of),
            Check::SameResponse { of, r#as } => {
                let mut steps = all(of);
                if r#as != "earliest" {
                    steps.push(r#as);
                }
                steps
            }
            Check::NothingForeign { of, from, .. } => {
                let mut steps = all(of);
                steps.push(from);
                steps
            }
            Check::Counted(claim) => vec![&claim.of],
            Check::Keeps { of, .. }
            | Check::Exists { of }
            | Check::Told { of }
            | Check::RetryAfter { of }
            | Check::Answered { of, .. }
            | Check::Recovered { of, .. }
            | Check::Status { of, .. }
            | Check::Header { of, .. }
            | Check::Json { of, .. } => vec![of],
            Check::TellsApart { of, from } => vec![of, from],
            Check::Unaffected { of, than, .. } => vec![of, than],
            Check::Documented { of, .. } => of.iter().map(String::as_str).collect(),
            Check::Overlap { of, with } | Check::Agrees { of, with } => vec![of, with],
            Check::Straddled { of, around } => std::iter::once(of.as_str())
                .chain(around.of.as_deref())
                .collect(),
        }
    }

    /// The named readings that it needs.
    pub fn readings(&self) -> Vec<&str> {
        match self {
            Check::Effects {
                reading: Some(reading),
                ..
            } => vec![reading],
            Check::State { reading, than, .. } => vec![reading, than],
            _ => Vec::new(),
        }
    }
}
