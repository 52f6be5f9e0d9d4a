//! What a target promises about its keys: each promise with its strength and its source, as data.
//! *Unspecified* is a value of its own: what happens is then observed and never fails.

mod behaviour;
mod meaning;
mod profile;
mod read;

pub use behaviour::{Behaviour, Kind, StatusPattern};
pub use meaning::{Earlier, Foreign, Identity, Relation, Situation, meaning, situation};
pub use profile::{PROFILES, Profile};
pub use read::{named, resolve};

use crate::promise::{Promise, Strength};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that a target promises.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The profile's name, or that of the one it extends with `+` behind it.
    pub name: String,
    /// A line for people.
    pub title: String,
    /// Where it is written.
    pub source: Option<String>,
    /// The key itself.
    pub key: KeyRules,
    /// Whose keys are told apart.
    pub principal_scope: Promised<PrincipalScope>,
    /// Which operations share a key.
    pub operation_scope: Promised<OperationScope>,
    /// When two payloads are equal.
    pub equality: Promised<Equality>,
    /// For how long a key is remembered.
    pub retention: Option<Retention>,
    /// After which time a claim runs out.
    pub lock_timeout: Option<Duration>,
    /// For how long after a success a duplicate may still be told that it is in progress.
    pub consistency_lag: Duration,
    /// What a replay is answered with.
    pub replay: Promised<Vec<Behaviour>>,
    /// How a replay can be told from a first answer.
    pub replay_marker: Promised<ReplayMarker>,
    /// The answer to a duplicate while the first still runs.
    pub in_progress: Promised<Vec<Behaviour>>,
    /// The answer to another payload under a used key.
    pub mismatch: Promised<Vec<Behaviour>>,
    /// The answer to a request without a key.
    pub missing: Promised<Vec<Behaviour>>,
    /// The answer to a malformed key.
    pub malformed: Promised<Vec<Behaviour>>,
    /// The answer to a key after its retention.
    pub expired: Promised<Vec<Behaviour>>,
    /// The answer to a replay after the resource was deleted.
    pub deleted: Promised<Vec<Behaviour>>,
    /// What a retry does after a failure, by the failure's class.
    pub after: BTreeMap<FailureClass, Promised<AfterFailure>>,
    /// Whether a request that fails leaves no effect.
    pub atomic: Promised<bool>,
    /// What happens when the key store is down.
    pub store_unavailable: Promised<Vec<Behaviour>>,
}

/// A promise that may be unspecified.
#[derive(Clone, Debug, PartialEq)]
pub struct Promised<T> {
    /// What is promised; `None` is *unspecified*.
    pub value: Option<T>,
    /// How strongly.
    pub strength: Strength,
    /// Where it is written.
    pub source: Option<String>,
}

impl<T> Promised<T> {
    /// Nothing is said about it.
    pub fn unspecified() -> Self {
        Promised {
            value: None,
            strength: Strength::Unspecified,
            source: None,
        }
    }

    /// Whether anything is said about it.
    pub fn is_declared(&self) -> bool {
        self.value.is_some() && self.strength != Strength::Unspecified
    }
}

/// What keys look like and whether they are wanted.
#[derive(Clone, Debug)]
pub struct KeyRules {
    /// The header that carries the key, where the contract fixes one.
    pub header: Option<String>,
    /// How the key is written in the header.
    pub encoding: Encoding,
    /// What the key is made of.
    pub kind: KeyKind,
    /// Fewest characters.
    pub min: usize,
    /// Most characters.
    pub max: usize,
    /// Whether two keys that differ in case only are two keys.
    pub case_sensitive: Promised<bool>,
    /// Whether a key must be there.
    pub required: Promised<bool>,
}

impl KeyRules {
    /// Why the contract calls a key malformed, if it does.
    pub fn objection(&self, key: &str) -> Option<String> {
        let length = key.chars().count();
        if key.trim().is_empty() {
            return Some("it is empty".to_owned());
        }
        if length < self.min {
            return Some(format!(
                "it has {length} characters, fewer than {}",
                self.min
            ));
        }
        if length > self.max {
            return Some(format!(
                "it has {length} characters, more than {}",
                self.max
            ));
        }
        if self.kind != KeyKind::Opaque && uuid::Uuid::try_parse(key).is_err() {
            return Some("it is no UUID".to_owned());
        }
        None
    }
}

/// How a key is written in its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// As it is.
    #[default]
    Raw,
    /// As a quoted string (RFC 9651, section 3.3.3).
    SfString,
    /// Either way.
    Either,
}

/// What a key is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// Any characters.
    #[default]
    Opaque,
    /// A UUID of any version.
    Uuid,
    /// A random UUID.
    Uuid4,
    /// A name-based UUID.
    Uuid5,
}

/// Whose keys are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrincipalScope {
    /// Each tenant has a key space of its own.
    Tenant,
    /// Each company account has one.
    CompanyAccount,
    /// Each API key has one.
    ApiKey,
    /// Each user has one.
    User,
    /// All share one.
    Global,
}

/// Which operations share a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationScope {
    /// The key on another operation is a mismatch.
    GlobalKey,
    /// The key on another operation is a new one.
    PerEndpoint,
    /// The key on another operation replays the first answer.
    IgnoresRoute,
}

/// When two payloads are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Equality {
    /// When their bytes are.
    Bytes,
    /// When their JSON is.
    JsonCanonical,
    /// When some of their fields are.
    SelectedFields,
}

/// For how long keys are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Retention {
    /// At least.
    pub min: Duration,
    /// At most; `None` where only the least is declared.
    pub max: Option<Duration>,
    /// From when it counts.
    pub clock: RetentionClock,
}

/// From when a retention counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetentionClock {
    /// From the first request.
    FirstRequest,
    /// From the end of the first request.
    #[default]
    Completion,
    /// From the date that the client gives.
    ClientFirstSent,
}

/// How a replay can be told from a first answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayMarker {
    /// By this header with this value, without regard to case.
    Header {
        /// The header's name.
        name: String,
        /// The value that a replay has.
        value: String,
    },
    /// Not at all.
    None,
}

/// A class of failures, each with a fate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// Refused before anything happened.
    PreExecutionValidation,
    /// Refused for want of credentials or rights.
    Auth,
    /// Refused by the operation.
    #[serde(rename = "executed-4xx")]
    Executed4xx,
    /// Refused by the business.
    BusinessDeclined,
    /// The server failed.
    #[serde(rename = "server-5xx")]
    Server5xx,
    /// Refused for its rate.
    RateLimited,
    /// Marked as passing by the target.
    TransientMarked,
    /// The response never arrived.
    ConnectionDropped,
}

/// What a retry with the same key does after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterFailure {
    /// The key is as if it had never been sent.
    NotConsumed,
    /// The failure is the key's answer.
    Stored,
    /// The operation runs again.
    Reexecuted,
    /// The operation goes on where it stopped.
    Resumed,
    /// Either of the two.
    StoredOrReexecuted,
    /// The key cannot be used any more.
    ConsumedBlocked,
}

impl Contract {
    /// How strongly a promise is made, and where it is written; for `after-failure` the strongest class.
    pub fn strength(&self, promise: Promise) -> Strength {
        fn of<T>(promised: &Promised<T>) -> Strength {
            if promised.value.is_some() {
                promised.strength
            } else {
                Strength::Unspecified
            }
        }
        match promise {
            Promise::Replay => of(&self.replay),
            Promise::ReplayMarker => of(&self.replay_marker),
            Promise::InProgress => of(&self.in_progress),
            Promise::Mismatch => of(&self.mismatch),
            Promise::Equality => of(&self.equality),
            Promise::MissingKey => of(&self.missing),
            Promise::MalformedKey => of(&self.malformed),
            Promise::KeyCase => of(&self.key.case_sensitive),
            Promise::OtherPrincipal => of(&self.principal_scope),
            Promise::OtherOperation => of(&self.operation_scope),
            Promise::Retention if self.retention.is_some() => Strength::Must,
            Promise::Retention | Promise::FirstSent => Strength::Unspecified,
            Promise::Expired => of(&self.expired),
            Promise::Deleted => of(&self.deleted),
            Promise::StoreUnavailable => of(&self.store_unavailable),
            Promise::AfterFailure => self.after.values().map(of).max().unwrap_or_default(),
        }
    }

    /// Whether the contract declares a behaviour for the promise that allows what would else be a
    /// break of an invariant: `unless: mismatch` is void under a contract that replays or executes.
    pub fn allows(&self, promise: Promise) -> bool {
        fn any(promised: &Promised<Vec<Behaviour>>, kinds: &[Kind]) -> bool {
            promised
                .value
                .iter()
                .flatten()
                .any(|behaviour| kinds.contains(&behaviour.kind))
        }
        match promise {
            Promise::Mismatch => any(
                &self.mismatch,
                &[Kind::ReplayStored, Kind::ReplayCurrent, Kind::ExecuteNew],
            ),
            Promise::MissingKey => any(&self.missing, &[Kind::ReplayStored, Kind::ReplayCurrent]),
            Promise::KeyCase => self.key.case_sensitive.value == Some(false),
            Promise::OtherPrincipal => self.principal_scope.value == Some(PrincipalScope::Global),
            Promise::OtherOperation => {
                self.operation_scope.value == Some(OperationScope::IgnoresRoute)
            }
            Promise::StoreUnavailable => any(&self.store_unavailable, &[Kind::ExecuteNew]),
            _ => false,
        }
    }

    /// What is promised after a failure of this class.
    pub fn after(&self, class: FailureClass) -> Promised<AfterFailure> {
        self.after
            .get(&class)
            .cloned()
            .unwrap_or_else(Promised::unspecified)
    }
}
