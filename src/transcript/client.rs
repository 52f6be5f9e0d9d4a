//! What a client sent in one case of a client scenario, and what befell it. Secrets are masked
//! before anything gets in here; times are measured from the start of the audit.

use super::{fault, written};
use crate::scenario::StepName;
use crate::scenario::client::ClientFault;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One case of a client scenario.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ClientTranscript {
    /// What is known of the client beyond this case.
    pub facts: ClientFacts,
    /// The rounds that ran.
    pub rounds: Vec<ClientRound>,
}

/// What is known of a client beyond one case.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ClientFacts {
    /// How many operations one run of the command makes when nothing is in its way.
    pub operations: usize,
    /// Whether the target file says where a payload names its operation.
    pub marked: bool,
    /// Whether the target file says how an outcome is looked up.
    pub has_lookup: bool,
    /// Whether connections that were refused can be counted here.
    pub counts_refused: bool,
    /// Attempts of one run after which it was ended.
    pub most_attempts: usize,
    /// How long a pause between two attempts may be, where the target file says it.
    #[serde(
        default,
        rename = "longest_pause_micros",
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub longest_pause: Option<Duration>,
    /// The client was started elsewhere: each operation that came is a run.
    #[serde(default)]
    pub watched: bool,
    /// While it was watched, operations that were let through had payloads of their own each.
    #[serde(default)]
    pub payloads_differ: bool,
}

/// All runs of a case, once.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ClientRound {
    /// From 1.
    pub number: u32,
    /// In their order.
    pub runs: Vec<RunFacts>,
    /// In the order of their arrival.
    pub attempts: Vec<Attempt>,
}

/// One run of the command.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct RunFacts {
    /// The run's name in the scenario.
    pub name: StepName,
    /// When it began.
    #[serde(rename = "began_micros", with = "written::micros")]
    pub began: Duration,
    /// When it ended.
    #[serde(rename = "ended_micros", with = "written::micros")]
    pub ended: Duration,
    /// How.
    pub end: RunEnd,
    /// The last lines of what it wrote.
    pub wrote: String,
    /// By how much this machine woke up late during the run: nine of ten short sleeps were no later.
    #[serde(rename = "late_micros", with = "written::micros")]
    pub lateness: Duration,
}

/// How a run of the command ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// It ended by itself, with this code.
    Exited(i32),
    /// Somebody else ended it.
    Signalled,
    /// We ended it, as the scenario says.
    Killed,
    /// We ended it, as it would not end in time.
    TimedOut,
    /// We ended it, as it would not stop sending.
    Endless,
    /// It could not be started.
    NotStarted(String),
    /// There is no command: more may have come after the time of waiting was over.
    Watched,
    /// There is no command: the operation succeeded, or nothing more came of it for long enough.
    Quiet,
}

impl RunEnd {
    /// Whether more might have come.
    pub fn is_unfinished(&self) -> bool {
        matches!(self, RunEnd::TimedOut | RunEnd::Watched)
    }

    /// Whether there was no command.
    pub fn is_watched(&self) -> bool {
        matches!(self, RunEnd::Watched | RunEnd::Quiet)
    }

    /// Whether it ended of itself.
    pub fn is_given_up(&self) -> bool {
        matches!(self, RunEnd::Exited(_) | RunEnd::Quiet)
    }
}

/// One attempt: a request, or a connection on which no request was read.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Attempt {
    /// The run that it belongs to.
    pub run: StepName,
    /// The operation of the target file that it is; `None` for other requests.
    pub operation: Option<String>,
    /// Whether it asks what became of an operation, as the target file says that one asks.
    pub looks_up: bool,
    /// Which connection, from 1; 0 where there was none.
    pub connection: u32,
    /// Whether the connection had a request before.
    pub reused: bool,
    /// `HTTP/1.1`, `HTTP/2`, with `over TLS` behind it.
    pub protocol: String,
    /// When its first byte came.
    #[serde(rename = "began_micros", with = "written::micros")]
    pub began: Duration,
    /// When nothing more was done for it.
    #[serde(rename = "ended_micros", with = "written::micros")]
    pub ended: Duration,
    /// What was done to it.
    #[serde(with = "fault")]
    pub fault: ClientFault,
    /// The request, as far as it was read.
    pub request: Option<AttemptRequest>,
    /// The status that the client was given, whole answer or half.
    pub status: Option<u16>,
    /// The earliest moment at which `Retry-After` asked to come back.
    #[serde(
        rename = "asked_back_micros",
        default,
        skip_serializing_if = "Option::is_none",
        with = "written::maybe_micros"
    )]
    pub asked_back: Option<Duration>,
    /// Why the API did not answer, if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The request of an attempt.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct AttemptRequest {
    /// The method.
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// The headers, in order, those with secrets masked.
    pub headers: Vec<(String, String)>,
    /// The idempotency key.
    pub key: Option<String>,
    /// What the payload names its operation by, where the target file says where that stands.
    pub marker: Option<String>,
    /// The number of bytes in the body.
    pub body_bytes: u64,
    /// A digest of the body; a key that stands in the body is left out of it.
    pub body_digest: String,
    /// A digest of the credentials; the same in all attempts that bear the same ones.
    pub credentials: Option<String>,
    /// The beginning of the body as text.
    pub body: String,
}

impl ClientRound {
    /// The attempts of a run, with their places in the round.
    pub fn of<'a>(&'a self, run: &'a str) -> impl Iterator<Item = (usize, &'a Attempt)> + 'a {
        self.attempts
            .iter()
            .enumerate()
            .filter(move |(_, attempt)| attempt.run == run)
    }

    /// The run of this name.
    pub fn run(&self, name: &str) -> Option<&RunFacts> {
        self.runs.iter().find(|run| run.name == name)
    }
}

impl Attempt {
    /// The key, if a request was read and had one.
    pub fn key(&self) -> Option<&str> {
        self.request.as_ref()?.key.as_deref()
    }

    /// Whether it is one of the operation that is judged, or a connection that was refused or
    /// closed unread and so may have been.
    pub fn may_be_of(&self, operation: &str) -> bool {
        match (&self.operation, &self.request) {
            (Some(own), _) => own == operation,
            (None, request) => request.is_none(),
        }
    }
}
