//! Everything that happened in one case of a scenario, as it was seen; nothing of what it means
//! beyond what the runner itself had to decide.
//!
//! Secrets are masked before anything gets in here. Times are measured from the start of the run
//! on a monotonic clock.

mod burst;
pub mod client;
mod fault;
mod retry_after;
mod written;

pub use burst::{BurstFacts, PauseFacts, Technique, most_in_flight};
pub use retry_after::{Pause, http_date};

use crate::hook::HookName;
use crate::outcome::Outcome;
use crate::scenario::{LookupBy, OperationRole, PrincipalRole, Receiving, StepName};
use crate::signal::Signal;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One case of a scenario on one operation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Transcript {
    /// The rounds that ran.
    pub rounds: Vec<Round>,
    /// Why nothing, or not everything, ran.
    pub broken: Vec<String>,
    /// Why the case does not apply to this operation, where only making its requests could tell.
    pub not_applicable: Option<String>,
    /// How the target's effects can be seen, by operation role.
    pub probes: Vec<ProbeFacts>,
    /// What the target's documents say of the operation, where the scenario is about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<DocumentFacts>,
    /// Measured times to answer, for the operation's plain request.
    pub latency: Option<Latency>,
    /// The same of its variants, and of other operations and callers that the case uses.
    #[serde(default)]
    pub further_latencies: Vec<LatencyOf>,
    /// How requests that are sent at once are served, where that is one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<String>,
    /// The settle time of the target.
    #[serde(rename = "settle_micros", with = "written::micros")]
    pub settle: Duration,
}

impl Transcript {
    /// Which of several places a round ran in, from 1 in the order of the rounds; `None` where there
    /// is only one.
    pub fn place_of(&self, round: &Round) -> Option<usize> {
        let place = &round.vantage.as_ref()?.place;
        let mut places: Vec<&str> = Vec::new();
        for known in self
            .rounds
            .iter()
            .filter_map(|round| round.vantage.as_ref())
        {
            if !places.contains(&known.place.as_str()) {
                places.push(&known.place);
            }
        }
        places
            .iter()
            .position(|known| known == place)
            .map(|at| at + 1)
    }
}

/// What is known of a probe before the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeFacts {
    /// Its name in the target file.
    pub name: String,
    /// The operation whose effects it counts.
    pub operation: OperationRole,
    /// How many it shows for one execution.
    pub per_execution: f64,
    /// The baseline saw it count an effect.
    pub live: bool,
    /// What it may never exceed.
    pub bound: Option<f64>,
    /// Whether it reads a state rather than counting.
    pub is_state: bool,
}

/// What the target's documents say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentFacts {
    /// What an OpenAPI document says; else why it was not read.
    pub openapi: Option<Result<OpenApiFacts, String>>,
    /// For how long a key is remembered.
    #[serde(
        rename = "retention_micros",
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub retention: Option<Duration>,
    /// Whose keys are one space.
    pub scope: Option<String>,
    /// Which errors may be retried: statuses and classes, such as `409` and `5xx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<Vec<String>>,
}

/// What an OpenAPI document says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenApiFacts {
    /// Of the operation; `None` where it is not declared.
    pub operation: Option<OperationFacts>,
    /// Operations that change something and declare no key.
    pub keyless: Vec<String>,
}

/// What an OpenAPI document says of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationFacts {
    /// The parameter that carries the key.
    pub key: Option<KeyFacts>,
    /// The statuses of its responses, as they are written.
    pub statuses: Vec<String>,
    /// Those with a Retry-After.
    pub retry_after: Vec<String>,
}

/// What an OpenAPI document says of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyFacts {
    /// The name of the parameter or member.
    pub name: String,
    /// `header`, `query` or `body`.
    pub place: String,
    /// Whether it is required.
    pub required: bool,
    /// Its format, such as `uuid`.
    pub format: Option<String>,
    /// Its fewest characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// Its most characters.
    pub max: Option<u64>,
    /// A regular expression that it matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// Times to answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The median.
    #[serde(rename = "p50_micros", with = "written::micros")]
    pub p50: Duration,
    /// The slowest of those measured.
    #[serde(rename = "p99_micros", with = "written::micros")]
    pub p99: Duration,
}

/// Times to answer of one kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyOf {
    /// Which operation.
    pub operation: OperationRole,
    /// Who sends.
    pub principal: PrincipalRole,
    /// The variants that are laid over the plain request.
    pub variants: Vec<String>,
    /// The times.
    pub latency: Latency,
}

/// The steps, once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    /// Where it ran, if several places ran it at the same time with the same keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vantage: Option<Vantage>,
    /// In the order of sending.
    pub exchanges: Vec<Exchange>,
    /// In the order of reading.
    pub readings: Vec<Reading>,
    /// How the bursts went.
    pub bursts: Vec<BurstFacts>,
    /// That nothing was sent for a while after it, since the target had refused a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseFacts>,
    /// The hooks that ran.
    pub hooks: Vec<HookFacts>,
    /// Retries that were given up before they came to an end.
    pub retries: Vec<RetryFacts>,
    /// The events that our receiver got for the requests of the round, in the order of coming.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<EventDelivery>,
    /// What the target counted of itself, in the order of reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalReading>,
    /// Implicit assumptions that did not hold: a fault that did not fire, a moment that never came.
    pub broken: Vec<String>,
    /// By how much this machine woke up late meanwhile: nine of ten short sleeps were no later.
    #[serde(
        rename = "late_micros",
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub lateness: Option<Duration>,
}

impl Round {
    /// The exchanges of a step.
    pub fn of<'a>(&'a self, step: &'a str) -> impl Iterator<Item = &'a Exchange> + 'a {
        self.exchanges
            .iter()
            .filter(move |exchange| exchange.step == step)
    }

    /// The exchange that stands for a step: its last attempt.
    pub fn last_of<'a>(&'a self, step: &'a str) -> Option<&'a Exchange> {
        self.of(step).last()
    }
}

/// One of several places that run a round at the same time with the same keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vantage {
    /// Which round it is: the same word in all places.
    pub same: String,
    /// Which place: a word of its own.
    pub place: String,
    /// The instant that all agreed on, from the start of the run in this place.
    #[serde(rename = "start_micros", with = "written::micros")]
    pub start: Duration,
}

/// One request's story.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exchange {
    /// The step that sent it.
    pub step: StepName,
    /// Which copy of a burst or of `times`, from 0.
    pub copy: u32,
    /// Which attempt of a retry, from 0.
    pub attempt: u32,
    /// Which operation.
    pub operation: OperationRole,
    /// Who sent it.
    pub principal: PrincipalRole,
    /// The value that ties its effects to it.
    pub marker: String,
    /// The marker's name in the scenario.
    pub marker_name: String,
    /// The key as it was sent.
    pub key: KeyUsed,
    /// The variants that were laid over the plain request.
    pub variants: Vec<String>,
    /// The rewritings that were applied.
    pub forms: Vec<String>,
    /// What was sent.
    pub request: SentRequest,
    /// When what happened.
    #[serde(rename = "micros")]
    pub times: Times,
    /// How it finished.
    pub ending: Ending,
    /// What the peer can know of the request.
    pub delivery: Delivery,
    /// What we did to it.
    pub fault: Option<FaultFacts>,
    /// It only asked what became of an operation, in this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<LookupBy>,
    /// The answer, if it counts as this step's answer.
    pub response: Option<Response>,
    /// An answer that came after our patience had ended.
    pub late: Option<Response>,
    /// What the answer meant when it came.
    pub outcome: Outcome,
}

/// The key of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUsed {
    /// The key; `None` if none was sent.
    pub value: Option<String>,
    /// Whether the contract calls it malformed (an empty one always is).
    pub malformed: bool,
    /// By how much the date of first sending that went with it was put back on purpose.
    #[serde(
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub backdated: Option<Duration>,
}

/// What was sent, masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentRequest {
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The one of the host's addresses that was chosen for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The headers, in order.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// A digest of what the request asks for: method, path, query and body without key and form.
    pub intent: String,
    /// Whether a form changed the bytes of the body.
    pub reworded: bool,
}

/// When what happened, from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// It was begun, or what was held back of it was let go.
    #[serde(
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub released: Option<Duration>,
    /// The last request byte was handed to the kernel.
    #[serde(
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub sent: Option<Duration>,
    /// The first byte of the response came.
    #[serde(
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub first_byte: Option<Duration>,
    /// The last byte of the response came.
    #[serde(
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub last_byte: Option<Duration>,
    /// It was over.
    #[serde(with = "written::micros")]
    pub ended: Duration,
}

/// How a request finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// A whole response.
    Answered,
    /// We cut it, as planned.
    HungUp,
    /// Our patience ended.
    TimedOut,
    /// The connection could not be made; nothing was sent.
    Refused(String),
    /// The target closed or reset the connection by itself.
    ClosedByTarget(String),
    /// What came was no HTTP response.
    Broken(String),
}

impl Ending {
    /// In words, for reports.
    pub fn says(&self) -> String {
        match self {
            Ending::Answered => "answered".to_owned(),
            Ending::HungUp => "hung up by us".to_owned(),
            Ending::TimedOut => "timed out".to_owned(),
            Ending::Refused(why) => format!("no connection: {why}"),
            Ending::ClosedByTarget(why) => format!("closed by the target: {why}"),
            Ending::Broken(why) => format!("no HTTP response: {why}"),
        }
    }
}

/// What the peer can know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// No complete request was sent: nothing can have happened.
    NotSent,
    /// It was delivered; whether it was executed is unknown.
    Delivered,
    /// At least a part of the response was seen.
    ResponseSeen,
}

/// What we did to a request on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultFacts {
    /// The fault's name.
    pub name: String,
    /// Whether it did what it was meant to do.
    pub fired: bool,
    /// What happened, in words.
    pub says: String,
    /// How a cut at a moment came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutFacts>,
}

/// How a cut at a moment came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutFacts {
    /// When it was meant to be.
    #[serde(rename = "due_micros", with = "written::micros")]
    pub due: Duration,
    /// When it was made.
    #[serde(rename = "at_micros", with = "written::micros")]
    pub at: Duration,
    /// Whether something of an answer lay unread in our own kernel then; `None` where that cannot be
    /// told, as under TLS and HTTP/2, whose own bytes may lie there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_there: Option<bool>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, in order, masked.
    pub headers: Vec<(String, String)>,
    /// The body as text, masked and cut to a sensible length for reports.
    pub body: String,
    /// Length of the whole body in bytes, after decoding.
    pub body_length: usize,
    /// A digest of the whole body, after decoding.
    pub body_digest: String,
    /// The body as JSON, if it is JSON.
    pub json: Option<serde_json::Value>,
    /// The same without the fields that the target calls volatile.
    pub stable_json: Option<serde_json::Value>,
    /// Names of headers that the target calls volatile, in small letters.
    pub volatile_headers: BTreeSet<String>,
    /// Whether the target file calls this a success.
    pub success: bool,
    /// The resource that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Strings of this response that could give its owner away, as keyed digests, taken from the
    /// whole unmasked response: identities, tokens, cookies.
    pub tokens: Vec<Token>,
}

impl Response {
    /// The values of a header.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.headers
            .iter()
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// A string of a response that could give its owner away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token {
    /// A digest of the string, with the run's own key.
    pub digest: String,
    /// Where it stood: `body`, or `header NAME`.
    pub place: String,
    /// The string itself, masked where it is a secret.
    pub shown: String,
    /// It is a cookie or a challenge.
    pub secret: bool,
    /// It is the identity of the resource.
    pub identity: bool,
}

/// What a probe returned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// Which reading of the scenario.
    pub kind: ReadingKind,
    /// The probe's name.
    pub probe: String,
    /// The operation whose effects it counts.
    pub operation: OperationRole,
    /// With whose credentials.
    pub principal: PrincipalRole,
    /// Whose effects, by the marker's value.
    pub marker: String,
    /// The marker's name in the scenario.
    pub marker_name: String,
    /// When it was taken.
    #[serde(rename = "at_micros", with = "written::micros")]
    pub at: Duration,
    /// What it showed; else why there is no reading, which is never 0.
    #[serde(with = "written::shows")]
    pub shows: Result<Shown, String>,
}

/// Which reading it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingKind {
    /// Before the first request with this marker.
    Before,
    /// As soon as things were still.
    Early,
    /// While a moment was waited for.
    Poll,
    /// A step of the scenario.
    Named(StepName),
    /// A settle time after the last ending, on which at-most finally stands.
    Late,
}

/// What a probe can show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The ids of the effects.
    Ids(Vec<String>),
    /// Their number.
    Count(f64),
    /// A state, which is compared but not counted.
    State(serde_json::Value),
}

impl Shown {
    /// How many; `None` for a state.
    pub fn count(&self) -> Option<f64> {
        match self {
            Shown::Ids(ids) => Some(ids.len() as f64),
            Shown::Count(count) => Some(*count),
            Shown::State(_) => None,
        }
    }
}

/// How far a case has come while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar {
    /// Rounds that have shown something.
    pub shown: u32,
    /// One of them has shown harm.
    pub harmed: bool,
    /// The smallest race window that its bursts would have shown with 95 %, if it has bursts.
    pub window: Option<Duration>,
}

/// A hook that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookFacts {
    /// Which.
    pub name: HookName,
    /// When it began.
    #[serde(rename = "at_micros", with = "written::micros")]
    pub at: Duration,
    /// When it was meant to begin, where that was at a moment.
    #[serde(
        rename = "due_micros",
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub due: Option<Duration>,
    /// When it was over.
    #[serde(
        rename = "over_micros",
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub over: Option<Duration>,
    /// Whether it worked.
    pub worked: bool,
    /// Its output, masked.
    pub output: String,
    /// For `advance-clock` and elapsed time: how far the target's time has moved.
    #[serde(
        rename = "moved_micros",
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub moved: Option<Duration>,
}

/// One delivery of an event to our receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventDelivery {
    /// Whose event it is.
    pub operation: OperationRole,
    /// The marker's value of the requests that it belongs to.
    pub marker: String,
    /// The marker's name in the scenario.
    pub marker_name: String,
    /// The id of the event; `None` where the delivery has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// When it had arrived.
    #[serde(rename = "at_micros", with = "written::micros")]
    pub at: Duration,
    /// What our receiver did with it.
    pub received: Receiving,
    /// The path that it came to.
    pub path: String,
    /// The headers, in order, masked.
    pub headers: Vec<(String, String)>,
    /// The body as text, masked and cut to a sensible length for reports.
    pub body: String,
    /// A digest of the whole body.
    pub body_digest: String,
    /// A digest of the signature; `None` where the delivery has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature_digest: Option<String>,
}

/// What the target counted of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalReading {
    /// The reading's name.
    pub name: StepName,
    /// When it was read.
    #[serde(rename = "at_micros", with = "written::micros")]
    pub at: Duration,
    /// The counts, or why they could not be read.
    pub counts: Result<BTreeMap<Signal, f64>, String>,
}

/// How a retry went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryFacts {
    /// The step.
    pub step: StepName,
    /// Whether it came to its end.
    pub ended: bool,
    /// From its first attempt to its end, or to where it was given up.
    #[serde(rename = "took_micros", with = "written::micros")]
    pub took: Duration,
    /// How many attempts it made.
    pub attempts: u32,
}

#[cfg(test)]
mod tests {
    use super::{Duration, HookFacts, HookName, Latency};

    #[test]
    fn times_are_read_back_to_the_nanosecond() {
        for nanos in [0, 1, 999, 1000, 1_234_567, 86_400_123_456_789] {
            let time = Duration::from_nanos(nanos);
            let latency = Latency {
                p50: time,
                p99: time,
            };
            let text = serde_json::to_string(&latency).expect("it is JSON");
            let back: Latency = serde_json::from_str(&text).expect(&text);
            assert_eq!(back, latency, "{text}");
        }
        for wrong in ["-1", "1e300", "\"1\""] {
            let text = format!("{{\"p50_micros\": {wrong}, \"p99_micros\": 1}}");
            assert!(serde_json::from_str::<Latency>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_that_there_is_not_may_be_left_out() {
        let facts = HookFacts {
            name: HookName::Kill,
            at: Duration::from_millis(1),
            due: None,
            over: None,
            worked: true,
            output: String::new(),
            moved: None,
        };
        let text = serde_json::to_string(&facts).expect("it is JSON");
        assert!(!text.contains("moved"), "{text}");
        let back: HookFacts = serde_json::from_str(&text).expect(&text);
        assert_eq!(back, facts);
    }
}
