//! What the demo's keys promise, as plain data: by default what the demo is by itself. Where each
//! term is kept stands at its place, as a look at the [`Policy`].

use std::time::Duration;

use regex::Regex;

/// How the demo treats keys.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where keys are and what they look like.
    pub key: KeyPolicy,
    /// Who has a key space.
    pub principals: Principals,
    /// Which routes share a key space.
    pub routes: Routes,
    /// When two bodies are equal.
    pub equality: Equality,
    /// From when the time counts for which a key is kept.
    pub kept_from: KeptFrom,
    /// What a repeat is answered.
    pub replay: Replay,
    /// What a replay can be told by.
    pub marker: Marker,
    /// What a repeat is answered while the first one still is worked on.
    pub in_progress: InProgress,
    /// What another request under a used key is answered.
    pub mismatch: Mismatch,
    /// What another request is answered while the first one still is worked on.
    pub precedence: Precedence,
    /// What a request without a key is answered.
    pub missing: Unkeyed,
    /// What a malformed key is answered.
    pub malformed: Refusal,
    /// What a key is answered that was kept long enough.
    pub expired: Expired,
    /// What failures do to a key.
    pub after: Fates,
    /// What a request is answered while the records of keys cannot be reached.
    pub store_down: StoreDown,
    /// When a caller is asked for credentials.
    pub credentials: Credentials,
}

impl Default for Policy {
    /// The demo's own contract.
    fn default() -> Policy {
        Policy {
            key: KeyPolicy::default(),
            principals: Principals::Tenant,
            routes: Routes::Apart,
            equality: Equality::Json,
            kept_from: KeptFrom::Completion,
            replay: Replay::default(),
            marker: Marker::Header {
                name: "Idempotency-Replayed".to_owned(),
                value: "true".to_owned(),
                first: None,
            },
            in_progress: InProgress::Refuse(Refusal {
                retry_after: true,
                ..Refusal::of(409)
            }),
            mismatch: Mismatch::Refuse(Refusal::of(422)),
            precedence: Precedence::Mismatch,
            missing: Unkeyed::Refuse(Refusal::of(400)),
            malformed: Refusal::of(400),
            expired: Expired::Execute,
            after: Fates::default(),
            store_down: StoreDown::Refuse(Refusal {
                retry_after: true,
                ..Refusal::of(503)
            }),
            credentials: Credentials::First,
        }
    }
}

/// Where keys are and what they look like.
#[derive(Clone, Debug)]
pub struct KeyPolicy {
    /// What carries the key.
    pub place: Place,
    /// How a header writes it.
    pub form: Form,
    /// Fewest characters.
    pub min: usize,
    /// Most characters.
    pub max: usize,
    /// A pattern for the whole key. Without one a key is of visible ASCII characters.
    pub characters: Option<Regex>,
    /// Whether it must be a UUID.
    pub kind: KeyKind,
    /// Whether keys that differ in case only are two.
    pub case_sensitive: bool,
    /// The date that goes with every key; `None` wants none.
    pub first_sent: Option<FirstSent>,
}

/// The date of the first sending that goes with every key (OASIS Repeatable Requests 1.0, section
/// 3.1.2). What is older than a key is kept is answered as a key that was kept long enough.
#[derive(Clone, Debug)]
pub struct FirstSent {
    /// The header that has it.
    pub header: String,
    /// What a key without its date, or a date without its key, is answered.
    pub missing: Refusal,
    /// What a text that is no date is answered.
    pub malformed: Refusal,
}

impl Default for KeyPolicy {
    /// A header `Idempotency-Key` of 1 to 255 visible ASCII characters.
    fn default() -> KeyPolicy {
        KeyPolicy {
            place: Place::Header("Idempotency-Key".to_owned()),
            form: Form::Raw,
            min: 1,
            max: 255,
            characters: None,
            kind: KeyKind::Any,
            case_sensitive: true,
            first_sent: None,
        }
    }
}

/// What carries the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A header of this name.
    Header(String),
    /// A member of this name at the top of the JSON body.
    Member(String),
    /// A query parameter of this name.
    Query(String),
    /// Nothing: whatever key is sent, it is not looked at.
    Nothing,
}

impl Place {
    /// The name of what carries the key; empty where nothing does.
    pub fn name(&self) -> &str {
        match self {
            Place::Header(name) | Place::Member(name) | Place::Query(name) => name,
            Place::Nothing => "",
        }
    }
}

/// How a header writes a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Raw,
    /// As a quoted string (RFC 9651, section 3.3.3).
    Quoted,
    /// Either way.
    Either,
}

/// What a key must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Anything.
    Any,
    /// A UUID, perhaps of one version only.
    Uuid(Option<usize>),
}

/// Who has a key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Principals {
    /// Each tenant.
    Tenant,
    /// Each bearer token.
    Token,
    /// All together.
    Everyone,
}

/// Which routes share a key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routes {
    /// Each has its own.
    Apart,
    /// All share one: the key on another route is another request under a used key.
    Together,
    /// The key on another route gives the first answer.
    Ignored,
}

/// When two bodies are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// When their JSON is.
    Json,
    /// When their bytes are.
    Bytes,
}

/// From when the time counts for which a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptFrom {
    /// From the end of its request.
    Completion,
    /// From the beginning of its request.
    Start,
}

/// What a repeat is answered.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What is given.
    pub gives: Gives,
    /// The status of a repeated success; `None` keeps the first one.
    pub status: Option<u16>,
    /// How the JSON of a repeated success is written.
    pub wording: Wording,
    /// What is given once the resource is deleted.
    pub deleted: Deleted,
    /// From how many bytes of body on nothing but this refusal is kept of an answer.
    pub tombstone: Option<(usize, Refusal)>,
    /// For how long after its completion a request still seems to be worked on.
    pub from: Duration,
}

impl Default for Replay {
    /// The stored answer with its own status, at once and whatever became of the resource.
    fn default() -> Replay {
        Replay {
            gives: Gives::Stored,
            status: None,
            wording: Wording::AsStored,
            deleted: Deleted::Stored,
            tombstone: None,
            from: Duration::ZERO,
        }
    }
}

/// How the JSON of a replay is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// Byte for byte as it was.
    AsStored,
    /// With its members in another order, other white space, and 2000 as 2000.0.
    Anew,
}

/// What a repeat is given once the resource is deleted.
#[derive(Clone, Debug)]
pub enum Deleted {
    /// What it would be given otherwise.
    Stored,
    /// A refusal.
    Refuse(Refusal),
}

/// When a caller is asked for credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// Before anything else.
    First,
    /// Once the key and the body are found to be good.
    AfterValidation,
}

/// What a repeat is given.
#[derive(Clone, Debug)]
pub enum Gives {
    /// The stored answer.
    Stored,
    /// The resource as it is now; the stored answer once it is gone.
    Current,
    /// A refusal with a link to the resource.
    Conflict(Refusal),
    /// An answer of this status that names the resource and says no more of it.
    Reference(u16),
}

/// What a replay can be told by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Nothing.
    Nothing,
    /// A header.
    Header {
        /// Its name.
        name: String,
        /// Its value on a replay.
        value: String,
        /// Its value on another success; `None` is no such header.
        first: Option<String>,
    },
    /// A member of the JSON body.
    Member {
        /// Where it is.
        path: Vec<Step>,
        /// Its value on a replay.
        value: String,
        /// Its value on another success; `None` is no such member.
        first: Option<String>,
    },
    /// Nothing, but every answer bears the key in this header.
    KeyEcho(String),
}

/// What a repeat is answered while the first one still is worked on.
#[derive(Clone, Debug)]
pub enum InProgress {
    /// A refusal.
    Refuse(Refusal),
    /// The first one's answer, when that is there; after this time a refusal.
    Wait(Duration, Refusal),
    /// 202: it is accepted, and can be asked for under the same key.
    Accept(Refusal),
}

/// What another request under a used key is answered.
#[derive(Clone, Debug)]
pub enum Mismatch {
    /// A refusal.
    Refuse(Refusal),
    /// The first one's answer: the key alone counts.
    Replay,
    /// It is executed, under the key and its payload together.
    Execute,
}

/// Which refusal comes first when both apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// That of another request.
    Mismatch,
    /// That of a key in use.
    InProgress,
}

/// What a request without a key is answered.
#[derive(Clone, Debug)]
pub enum Unkeyed {
    /// A refusal.
    Refuse(Refusal),
    /// It is executed, unprotected.
    Execute,
}

/// What a key is answered that was kept long enough.
#[derive(Clone, Debug)]
pub enum Expired {
    /// It is a new key.
    Execute,
    /// A refusal.
    Refuse(Refusal),
}

/// What a request is answered while the records of keys cannot be reached.
#[derive(Clone, Debug)]
pub enum StoreDown {
    /// A refusal.
    Refuse(Refusal),
    /// It is executed, unprotected and unrecorded.
    Execute,
}

/// What failures do to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fates {
    /// A body that is no valid request.
    pub validation: Fate,
    /// The business declines.
    pub declined: Fate,
    /// The server fails.
    pub server_error: Fate,
    /// Too many requests of the class came before.
    pub rate_limited: Fate,
}

impl Default for Fates {
    /// A failure never uses the key up.
    fn default() -> Fates {
        Fates {
            validation: Fate::Forgotten,
            declined: Fate::Forgotten,
            server_error: Fate::Forgotten,
            rate_limited: Fate::Forgotten,
        }
    }
}

/// What a failure does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: a retry is executed.
    Forgotten,
    /// The failure is the key's answer.
    Stored,
    /// The key is refused from now on.
    Blocked,
}

/// What a refusal looks like, beside what the demo says anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// The media type.
    pub media_type: String,
    /// Members of the body.
    pub members: Vec<(Vec<Step>, Said)>,
    /// The body is a reply in XML with this element; else it is a problem in JSON.
    pub xml: Option<Element>,
    /// Headers.
    pub headers: Vec<(String, Said)>,
    /// Whether it has a `Retry-After` of 1 s.
    pub retry_after: bool,
}

impl Refusal {
    /// A problem (RFC 9457) with this status and no more.
    pub fn of(status: u16) -> Refusal {
        Refusal {
            status,
            media_type: "application/problem+json".to_owned(),
            members: Vec::new(),
            xml: None,
            headers: Vec::new(),
            retry_after: false,
        }
    }
}

/// An element of an XML document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes.
    pub attributes: Vec<(String, String)>,
    /// Its text.
    pub text: String,
}

/// A step into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of this name.
    Member(String),
    /// The first item.
    Item,
}

/// What stands in a member or header of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// This text.
    Text(String),
    /// The id of what the first request made.
    Resource,
}
