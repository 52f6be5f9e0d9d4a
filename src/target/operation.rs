//! Operations: what is sent, how it may be varied, and how its effects are seen. Data only.

use std::time::Duration;

use crate::yaml::Node;

use super::action::Action;
use super::action::Command;
use super::consumer::Consumer;
use super::key::KeyPlace;
use super::matcher::Match;
use super::principal::Role;
use super::request::Patch;
use super::request::Request;
use super::selector::Selector;
use super::selector::SelectorTemplate;
use super::signing::Signing;
use super::sink::Events;
use crate::hook::HookName;

/// One endpoint of the target that changes something.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name in scenarios' findings and in reports.
    pub name: String,
    /// What is sent.
    pub request: Request,
    /// Where the key goes: the operation's own, else the target's; `None`: the contract says.
    pub key: Option<KeyPlace>,
    /// The operation's own contract, unresolved.
    pub contract: Option<Node>,
    /// What counts as success: the operation's own, else the target's, else any 2xx.
    pub success: Match,
    /// Parts of a response that differ between two reads: the operation's own, else the target's.
    pub volatile: Vec<Selector>,
    /// The operation that scenarios use one key on beside this one.
    pub other: Option<String>,
    /// The same, with another method.
    pub other_method: Option<String>,
    /// Everything that the target declares under `change`, `invalid`, `declined`, `failing`,
    /// `slow` and `variants`, in the order of the file.
    pub variants: Vec<Variant>,
    /// Where the identity of what was made stands; the first that matches counts.
    pub identity: Vec<Selector>,
    /// How an asynchronous result is awaited.
    pub result: Option<AsyncResult>,
    /// How effects are seen, in the order of the file.
    pub effects: Vec<Probe>,
    /// It receives events, and the key is the id of one.
    pub consumer: Option<Consumer>,
    /// How its requests are signed.
    pub signing: Option<Signing>,
    /// What a caller asks for before it sends, as `${prepared:…}`.
    pub prepare: Option<Request>,
    /// Which events it sends, and how they are known.
    pub events: Option<Events>,
    /// Reads what was made.
    pub read: Option<Request>,
    /// Removes what was made.
    pub cleanup: Option<Action>,
    /// Ways to ask what became of a request.
    pub lookup: Lookup,
    /// How a request is bound to the version of what it changes.
    pub precondition: Option<Precondition>,
    /// Effects of one execution.
    pub per_execution: u64,
    /// The operation whose resource this one works on, as `${given.identity}`.
    pub given: Option<String>,
}

/// How a request is bound to the version of what it changes (RFC 9110, section 13).
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// The header that carries the version, such as `If-Match`.
    pub header: String,
    /// Where the version stands in a response of the operation.
    pub from: Selector,
}

/// One declared way to vary an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Under which field it was declared.
    pub group: Group,
    /// Its name: the field's for one patch, `change-2` in a list, its own in a map.
    pub name: String,
    /// What it changes of the request.
    pub patch: Patch,
    /// For `failing`: whether it fails only once per marker.
    pub heals: bool,
    /// Effects of one execution, if the variant makes more or fewer.
    pub per_execution: Option<u64>,
    /// A hook that runs before the request.
    pub before: Option<HookName>,
    /// A hook that runs after it.
    pub after: Option<HookName>,
}

/// The field that a variant stands under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Another intent, acceptable by itself.
    Change,
    /// Refused before anything happens.
    Invalid,
    /// Refused after something happened.
    Declined,
    /// The handler fails.
    Failing,
    /// Takes long.
    Slow,
    /// Under `variants`, with a name of its own.
    Named,
}

/// How the result of a request that only began something is awaited.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncResult {
    /// Asks for the result.
    pub request: Request,
    /// It is final when this holds.
    pub until: Match,
    /// It is a success when this holds as well.
    pub success: Option<Match>,
    /// Where the identity stands in the final response.
    pub identity: Vec<Selector>,
    /// Time between two questions.
    pub every: Duration,
    /// How long to ask.
    pub timeout: Duration,
}

/// A way to see effects.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Its name, which findings show.
    pub name: String,
    /// What is asked.
    pub source: ProbeSource,
    /// What of the response counts.
    pub reading: Reading,
    /// How much one effect adds to a value.
    pub per_effect: f64,
    /// How further pages are found.
    pub next: Option<NextPage>,
    /// How long effects may take to show; `None`: the target's.
    pub settle: Option<Duration>,
    /// How long one reading may take.
    pub timeout: Duration,
    /// Who reads; `None`: the principal whose effects are counted.
    pub reader: Option<Role>,
    /// The value that must never be exceeded, whatever the keys.
    pub bound: Option<f64>,
}

/// What a probe asks.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeSource {
    /// A request to the API.
    Request(Request),
    /// A command whose output is the reading.
    Command(Command),
}

/// What of a probe's response counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// Distinct identities.
    Ids(SelectorTemplate),
    /// The number of matches.
    Count(SelectorTemplate),
    /// A quantity that grows by `per-effect`.
    Value(SelectorTemplate),
    /// A state, compared as it is.
    State(SelectorTemplate),
}

/// How the next page of a list is found.
#[derive(Clone, Debug, PartialEq)]
pub enum NextPage {
    /// A URL, a path, or a `Link` header.
    Link(Selector),
    /// A cursor that goes into the query.
    Cursor {
        /// Where it stands.
        cursor: Selector,
        /// The query entry that it goes into.
        query: String,
    },
}

/// Ways to ask what became of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lookup {
    /// By the key.
    pub by_key: Option<LookupWay>,
    /// By something that was sent.
    pub by_reference: Option<LookupWay>,
    /// By the identity of what was made.
    pub by_identity: Option<LookupWay>,
}

/// One way to ask.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupWay {
    /// What is asked.
    pub request: Request,
    /// Where the identity stands in the answer; empty: where it stands in the operation's own.
    pub identity: Vec<Selector>,
}

/// Something that must exist before an operation can be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixture {
    /// Its name, as placeholders use it.
    pub name: String,
    /// How it is made.
    pub source: FixtureSource,
    /// Where its value stands; `None`: the identity of the operation that makes it.
    pub value: Option<Selector>,
    /// How long one lives.
    pub per: Lifetime,
    /// It is ready when this holds.
    pub until: Option<Match>,
    /// Time between two tries.
    pub every: Duration,
    /// How long to try.
    pub timeout: Duration,
    /// Removes it.
    pub cleanup: Option<Action>,
    /// Who makes it; `None`: the sender of the operation that needs it.
    pub maker: Option<Role>,
}

/// How a fixture is made.
#[derive(Clone, Debug, PartialEq)]
pub enum FixtureSource {
    /// By a request.
    Request(Request),
    /// By a command.
    Command(Command),
    /// By an operation, sent with a fresh key of its own.
    Operation {
        /// Its name.
        name: String,
        /// What is changed of its request.
        with: Patch,
    },
}

/// How long one instance of a fixture, or of a placeholder's value, lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifetime {
    /// The whole run (and for each principal its own).
    Run,
    /// One marker.
    Scenario,
    /// One key.
    Key,
}
