//! What a target promises about its keys: each promise with its strength and its source, as data.
//! *Unspecified* is a value of its own: what happens is then observed and never fails.

mod behaviour;
mod complete;
mod failure;
mod gateway;
mod hiding;
mod key;
mod likeness;
mod marker;
mod meaning;
mod profile;
mod provenance;
mod read;
mod retention;
mod scope;
mod terms;
mod words;
mod write;

pub use crate::xml::XmlPath;
pub use behaviour::{Behaviour, BodyRelation, Kind, RetryAfter, StatusPattern, written};
pub use failure::{AfterFailure, FailureClass, RetryRules, TransientSignal};
pub use gateway::gateway;
pub use hiding::hides_outcome;
pub use key::{Companion, CompanionForm, Encoding, KeyKind, KeyRules, Required, Unit};
pub use likeness::{remove, same_body, same_json};
pub use marker::ReplayMarker;
pub use meaning::{
    Earlier, Foreign, Identity, Relation, SKEW_OF_PLACES, Situation, meaning, situation,
};
pub use profile::{PROFILES, Profile};
pub use provenance::{ErrorFormat, Read, Reference, Requirement};
pub use read::{Files, chosen, named, resolve, resolve_with};
pub use retention::{Lifetime, Retention, RetentionClock};
pub use scope::{Equality, OperationScope, Part, Precedence, PrincipalScope};
pub use terms::Term;

use crate::promise::{Promise, Strength};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Everything that a target promises.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The profile's name, or that of the one it extends with `+` behind it.
    pub name: String,
    /// A line for people.
    pub title: String,
    /// What must be known of the text before one relies on it, such as that it is a draft.
    pub status: Option<String>,
    /// The texts that promises are taken from, by the names that promises give as their source.
    pub sources: BTreeMap<String, Reference>,
    /// What of the source's requirements is tested by what, by their ids.
    pub requirements: BTreeMap<String, Requirement>,
    /// The methods whose requests have keys. Informational: a target's operations say it.
    pub methods: Promised<BTreeSet<String>>,
    /// The methods on which a key is ignored. Informational.
    pub ignored_methods: Promised<BTreeSet<String>>,
    /// The key itself.
    pub key: KeyRules,
    /// Whose keys are told apart.
    pub principal_scope: Promised<PrincipalScope>,
    /// Which operations share a key.
    pub operation_scope: Promised<OperationScope>,
    /// What must be the same for a request to be the same; empty where the key alone counts.
    /// Informational: the answers to changed requests are judged.
    pub covers: Promised<BTreeSet<Part>>,
    /// When two payloads are equal.
    pub equality: Promised<Equality>,
    /// For how long a key is remembered, with strength and source.
    pub lifetime: Promised<Lifetime>,
    /// The same where it ends, for what waits or counts.
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
    /// Which of the two comes first; it tells what a status that both have means.
    pub precedence: Promised<Precedence>,
    /// The answer to a request without a key.
    pub missing: Promised<Vec<Behaviour>>,
    /// The answer to a malformed key.
    pub malformed: Promised<Vec<Behaviour>>,
    /// The answer to a key where keys have no meaning. Informational.
    pub not_applicable: Promised<Vec<Behaviour>>,
    /// The answer to a key after its retention.
    pub expired: Promised<Vec<Behaviour>>,
    /// The answer to a replay after the resource was deleted.
    pub deleted: Promised<Vec<Behaviour>>,
    /// The answer to a key without a companion that is required, or to such a companion without a
    /// key.
    pub companion_missing: Promised<Vec<Behaviour>>,
    /// The answer to a companion that cannot be read.
    pub companion_malformed: Promised<Vec<Behaviour>>,
    /// What a retry does after a failure, by the failure's class.
    pub after: BTreeMap<FailureClass, Promised<AfterFailure>>,
    /// Whether a request that fails leaves no effect.
    pub atomic: Promised<bool>,
    /// How a failure is marked as passing.
    pub transient: Promised<TransientSignal>,
    /// What clients are told about retries. Informational.
    pub retry: Promised<RetryRules>,
    /// How an operation can be found again without a retry, in words; `none` where it cannot. A target
    /// names its own look-ups.
    pub lookup: Promised<String>,
    /// What happens when the key store is down.
    pub store_unavailable: Promised<Vec<Behaviour>>,
    /// How errors about keys are written. Informational.
    pub errors: Promised<ErrorFormat>,
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
            Promise::Retention => of(&self.lifetime),
            Promise::Lookup => of(&self.lookup),
            Promise::FirstSent => of(&self.companion_missing).max(of(&self.companion_malformed)),
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
            // Nothing had happened, so only a contract can make a 429 what a key is answered for good.
            Promise::AfterFailure => matches!(
                self.after(FailureClass::RateLimited).value,
                Some(AfterFailure::Stored | AfterFailure::ConsumedBlocked)
            ),
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
