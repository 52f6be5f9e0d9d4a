//! Scenarios as data: what to do, what must hold for it to show anything, and what must hold.
//!
//! Nothing here knows a URL, a header or a status: scenarios speak of roles, and the target file
//! says how its API is brought there.

mod cases;
mod check;
pub mod client;
mod expectation;
mod fault;
mod first_sent;
mod key;
pub mod library;
mod map;
mod moment;
mod parse;
mod read_expectation;
mod read_step;
mod request;
mod shape;
mod signature;
mod words;

use std::time::Duration;

pub use expectation::{
    Bound, Check, Condition, DocumentedPart, EventClaim, EventPart, Expectation, OutcomeBound,
    SeekIn, SignalClaim,
};
pub use fault::{Close, Fault, ResponsePart};
pub use first_sent::FirstSent;
pub use key::{Key, KeyShape, KeyTwist};
pub use moment::{Amount, Moment, Quantity, TimeSpan, When};
pub use parse::parse;
pub use request::{Like, Marker, Request};
pub use signature::Signature;
pub use words::{FORMS, VARIANTS};

use crate::checklist::ItemId;
use crate::hook::HookName;
use serde::{Deserialize, Serialize};

/// The name of a step, unique within its scenario.
pub type StepName = String;

/// One scenario file.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its path without the ending, such as `race/burst`.
    pub id: String,
    /// The sentence of the bug report that must not come.
    pub title: String,
    /// How grave a failure is.
    pub severity: Severity,
    /// What the target must have, beyond what the steps show by themselves.
    pub needs: Vec<Need>,
    /// Once per operation, or once at the end of the run.
    pub runs: Runs,
    /// Nothing else may run meanwhile.
    pub alone: bool,
    /// How often all steps are repeated.
    pub rounds: Rounds,
    /// The cases; a scenario without cases has one, without a name.
    pub cases: Vec<Case>,
    /// What must hold for the scenario to show anything.
    pub assume: Vec<Expectation>,
    /// What must hold, by checklist item.
    pub expect: Vec<(ItemId, Expectation)>,
    /// What it does and why so, for `explain`.
    pub about: Option<String>,
    /// What may look like a fault and is none.
    pub harmless: Vec<String>,
    /// Where the demand, or a public report of its breach, can be read.
    pub sources: Vec<String>,
}

/// One case of a scenario: its steps with the case's own fields laid over them.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The part of the id after `#`.
    pub name: Option<String>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// A scenario that does nothing and expects nothing, to run requests of one's own in.
    pub fn blank() -> Scenario {
        Scenario {
            id: String::new(),
            title: String::new(),
            severity: Severity::Low,
            needs: Vec::new(),
            runs: Runs::PerOperation,
            alone: false,
            rounds: Rounds::ONE,
            cases: Vec::new(),
            assume: Vec::new(),
            expect: Vec::new(),
            about: None,
            harmless: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// `race/burst`, or `lost/response#reset`.
    pub fn case_id(&self, case: &Case) -> String {
        match &case.name {
            Some(name) => format!("{}#{name}", self.id),
            None => self.id.clone(),
        }
    }
}

/// How grave a failure is for whoever uses the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a note.
    Low,
    /// A nuisance in operation.
    Medium,
    /// Wrong results under conditions that do occur.
    High,
    /// Money or data is doubled, lost or leaked.
    Critical,
}

/// When a scenario runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runs {
    /// Once for each operation that has what it needs.
    #[default]
    PerOperation,
    /// Once, after all others.
    AtEnd,
}

/// Something that a target must have for a scenario to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// An operation with an idempotency key.
    Key,
    /// A request with a body.
    Body,
    /// A request with a JSON body.
    Json,
    /// A key that travels in a header.
    HeaderKey,
    /// An operation on a resource that must exist first.
    Given,
    /// An operation that can be bound to the version of a resource.
    Precondition,
    /// An operation whose meaning makes it idempotent: PUT, DELETE.
    IdempotentMethod,
    /// A probe of a state.
    State,
    /// A probe with a bound.
    Bound,
    /// An operation that something is asked for before.
    Prepare,
    /// A declared look-up.
    Lookup,
    /// An operation that receives events.
    Consumer,
    /// Events that their receiver answers itself, and no broker.
    Posted,
    /// Requests that are signed.
    Signature,
    /// Requests whose signature covers the id of the event.
    SignedId,
    /// Events that our receiver gets.
    Sink,
    /// An outage of our receiver that the target says it survives.
    Outage,
    /// Events that come in the order of what they announce.
    OrderedEvents,
    /// Events whose body is the same in each delivery, by the target's own word.
    StableBody,
    /// Events whose signature is the same in each delivery, by the target's own word.
    StableSignature,
    /// Counts that the target keeps of what befalls its keys.
    Signals,
    /// Documents that can be held against the target.
    Documents,
    /// Two base URLs of one API.
    Replicas,
    /// A retention that the contract declares.
    Retention,
    /// A retention with a maximum.
    RetentionEnd,
    /// A retention that is counted from the completion of the request.
    RetentionFromCompletion,
    /// A contract with first-sent dates.
    FirstSent,
}

/// How often the steps are repeated, each time with fresh markers and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Rounds to run.
    pub count: u32,
    /// Rounds that must have shown something.
    pub valid: u32,
    /// Rounds to go on to while too few have shown something.
    pub up_to: u32,
    /// Rounds that may run at once.
    pub side_by_side: u32,
}

impl Rounds {
    /// A single round.
    pub const ONE: Rounds = Rounds {
        count: 1,
        valid: 1,
        up_to: 1,
        side_by_side: 1,
    };
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// A request, `times` times one after another.
    Send {
        /// The request.
        request: Request,
        /// How many times.
        times: u32,
    },
    /// Copies of a request at once, or spread over a time.
    Burst {
        /// The request.
        request: Request,
        /// How many copies; a list rotates over the rounds.
        copies: Vec<u32>,
        /// Released together, or as fast as the limits allow.
        release: Release,
        /// No further copies are sent once one had this outcome.
        stop_at: Option<crate::outcome::Outcome>,
    },
    /// The same request until it is answered for good.
    Retry {
        /// The request.
        request: Request,
        /// When to stop.
        until: Until,
        /// The pause between attempts; a Retry-After wins.
        every: Duration,
        /// When to give up.
        patience: Duration,
    },
    /// Steps that run at once; over when all have ended.
    Together(Vec<Step>),
    /// Our time passes.
    Wait(Wait),
    /// The target's time passes.
    Elapse {
        /// How much of it.
        time: TimeSpan,
        /// When, while the step that it names is still under way. Else at once.
        at: Option<Moment>,
    },
    /// A named reading of all probes.
    Read {
        /// The reading's name.
        name: StepName,
    },
    /// What the target's operation asks for beforehand, such as opening a view of a cart.
    Prepare {
        /// The step's name, which requests refer to.
        name: StepName,
        /// Who asks.
        principal: PrincipalRole,
    },
    /// One of the target's hooks.
    Hook {
        /// The hook.
        run: HookName,
        /// When, within a `together`.
        at: Option<Moment>,
        /// The hook that undoes it at the end, whatever happens.
        undo: Option<HookName>,
    },
    /// The target's own clean-up of what a step made.
    Cleanup {
        /// The step.
        of: StepName,
    },
    /// Asks what became of an operation, without a retry.
    Lookup(Lookup),
    /// How our receiver of events treats the next deliveries.
    Sink {
        /// The step's name, where it has one.
        name: Option<StepName>,
        /// What it does with them.
        answer: Receiving,
        /// How many of them it treats so.
        times: u32,
        /// All of them instead, for as long as the target says that it bears it.
        outage: bool,
    },
    /// A named reading of the counts that the target keeps of itself.
    Signals {
        /// The reading's name.
        name: StepName,
    },
    /// Every live key of the run, sent once more.
    Recheck {
        /// The step's name.
        name: StepName,
        /// At most so many keys.
        at_most: u32,
    },
}

impl Step {
    /// The step's name, where it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Step::Send { request, .. }
            | Step::Burst { request, .. }
            | Step::Retry { request, .. } => Some(&request.name),
            Step::Signals { name }
            | Step::Read { name }
            | Step::Prepare { name, .. }
            | Step::Recheck { name, .. } => Some(name),
            Step::Sink { name, .. } => name.as_deref(),
            Step::Lookup(lookup) => Some(&lookup.name),
            Step::Together(_)
            | Step::Wait(_)
            | Step::Elapse { .. }
            | Step::Hook { .. }
            | Step::Cleanup { .. } => None,
        }
    }

    /// The step's request, where it sends one.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Step::Send { request, .. }
            | Step::Burst { request, .. }
            | Step::Retry { request, .. } => Some(request),
            _ => None,
        }
    }

    /// The step itself, or the steps of a `together`.
    pub fn leaves(&self) -> &[Step] {
        match self {
            Step::Together(steps) => steps,
            single => std::slice::from_ref(single),
        }
    }
}

impl Case {
    /// All steps, those of a `together` one by one.
    pub fn leaves(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(Step::leaves)
    }

    /// The operation that a step sends: its own, else that of the step that it repeats.
    pub fn operation_of(&self, name: &str) -> OperationRole {
        let mut step = self.step(name).and_then(Step::request);
        while let Some(request) = step {
            match (request.operation, &request.like) {
                (Some(operation), _) => return operation,
                // A step repeats an earlier one, so that this comes to an end.
                (None, Some(like)) if like.of != request.name => {
                    step = self.step(&like.of).and_then(Step::request);
                }
                (None, _) => break,
            }
        }
        OperationRole::Subject
    }

    /// The step of this name.
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.leaves().find(|step| step.name() == Some(name))
    }
}

/// How the copies of a burst leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// All at once, as close together as the wire allows.
    #[default]
    Together,
    /// As fast as the limits allow.
    Loose,
}

/// When a retry stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// At an answer after which a client need not ask again.
    #[default]
    Final,
    /// At any answer but "still in progress" or "too many requests".
    NotInFlight,
}

/// What a `wait` waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// Nothing of the scenario runs and the effects have stopped changing.
    Settled,
    /// A time.
    For(TimeSpan),
    /// Until the consumer has tried again by itself what it could not handle, where it does so; else
    /// as `Settled`.
    OwnRetries,
    /// What the step's response asked for.
    RetryAfter(StepName),
    /// So many deliveries of events have arrived, whatever became of them, or the time is over.
    Arrivals {
        /// How many.
        count: u32,
        /// For how long at most.
        patience: Duration,
    },
    /// Our receiver has taken so many deliveries of events, or the time is over.
    Deliveries {
        /// How many.
        count: u32,
        /// For how long at most.
        patience: Duration,
    },
}

/// A question about an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The step's name.
    pub name: StepName,
    /// What is asked about.
    pub what: LookedUp,
    /// How.
    pub by: LookupBy,
    /// Who asks.
    pub principal: Option<PrincipalRole>,
}

/// What a look-up asks about.
#[derive(Clone, Debug, PartialEq)]
pub enum LookedUp {
    /// The operation of an earlier step.
    Step(StepName),
    /// An operation that never was, under this key.
    Key(Key),
}

/// How an operation is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LookupBy {
    /// By its key.
    Key,
    /// By something that was sent.
    Reference,
    /// By the identity of what it made.
    Identity,
}

impl LookupBy {
    /// The word in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            LookupBy::Key => "key",
            LookupBy::Reference => "reference",
            LookupBy::Identity => "identity",
        }
    }
}

/// What our receiver does with a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receiving {
    /// Takes it: 204.
    Ok,
    /// Answers 500.
    Error,
    /// Closes the connection without an answer.
    HangUp,
    /// Leaves it unanswered for as long as the sender waits.
    Stall,
}

impl Receiving {
    /// The word in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            Receiving::Ok => "ok",
            Receiving::Error => "error",
            Receiving::HangUp => "hang-up",
            Receiving::Stall => "stall",
        }
    }
}

/// Which operation a step uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationRole {
    /// The one that is judged.
    #[default]
    Subject,
    /// Another one with a key.
    Other,
    /// Another method on the same resource.
    OtherMethod,
}

/// Who sends.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PrincipalRole {
    /// The first principal of the target.
    #[default]
    Owner,
    /// One of another tenant.
    OtherTenant,
    /// The same user in another session.
    OtherSession,
    /// Another user of the same tenant.
    SameTenant,
    /// One who may not do the operation.
    ReadOnly,
    /// One whose credentials have run out.
    Expired,
    /// The one whose rights the hook `revoke` takes away.
    Revoked,
    /// One without credentials who may do the operation.
    Anonymous,
    /// The owner's request without its credentials.
    Nobody,
    /// The owner's request with junk for credentials.
    Wrong,
}

impl PrincipalRole {
    /// The name in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            PrincipalRole::Owner => "owner",
            PrincipalRole::OtherTenant => "other-tenant",
            PrincipalRole::OtherSession => "other-session",
            PrincipalRole::SameTenant => "same-tenant",
            PrincipalRole::ReadOnly => "read-only",
            PrincipalRole::Expired => "expired",
            PrincipalRole::Revoked => "revoked",
            PrincipalRole::Anonymous => "anonymous",
            PrincipalRole::Nobody => "nobody",
            PrincipalRole::Wrong => "wrong",
        }
    }

    /// Whether the tool makes this one itself, out of the owner.
    pub fn is_built_in(self) -> bool {
        matches!(self, PrincipalRole::Nobody | PrincipalRole::Wrong)
    }

    /// Whether a first request of its should succeed.
    pub fn may_operate(self) -> bool {
        !self.is_built_in() && !matches!(self, PrincipalRole::ReadOnly | PrincipalRole::Expired)
    }

    /// Who makes what it needs, and reads what it may have done: itself, or the owner.
    pub fn stand_in(self) -> PrincipalRole {
        if self.may_operate() {
            self
        } else {
            PrincipalRole::Owner
        }
    }
}
