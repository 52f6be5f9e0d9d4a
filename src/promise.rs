//! The names of what a contract may promise, and how strongly.

use serde::{Deserialize, Serialize};

/// One thing that a contract can promise; scenarios hold the target to it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// What a repeated request is answered with.
    Replay,
    /// How a replay can be told from a first answer.
    ReplayMarker,
    /// The answer to a duplicate while the first request still runs.
    InProgress,
    /// The answer to another payload under a used key.
    Mismatch,
    /// Whether an equal payload that is written differently counts as equal.
    Equality,
    /// The answer to a request without a key.
    MissingKey,
    /// The answer to a key that the contract calls malformed.
    MalformedKey,
    /// Whether keys are case-sensitive.
    KeyCase,
    /// What another principal's use of the key means.
    OtherPrincipal,
    /// What the key's use on another operation means.
    OtherOperation,
    /// For how long a key is remembered.
    Retention,
    /// What a key does after its retention.
    Expired,
    /// The answer to a replay after the resource was deleted.
    Deleted,
    /// Whether an operation can be found again without a retry.
    Lookup,
    /// What the date of the first sending decides (OASIS Repeatable Requests 1.0, section 5).
    FirstSent,
    /// What happens when the key store is down.
    StoreUnavailable,
    /// What a retry does after each class of failure.
    AfterFailure,
}

impl Promise {
    /// Every promise, in the order of reports.
    pub const ALL: [Promise; 17] = [
        Promise::Replay,
        Promise::ReplayMarker,
        Promise::InProgress,
        Promise::Mismatch,
        Promise::Equality,
        Promise::MissingKey,
        Promise::MalformedKey,
        Promise::KeyCase,
        Promise::OtherPrincipal,
        Promise::OtherOperation,
        Promise::Retention,
        Promise::Expired,
        Promise::Deleted,
        Promise::Lookup,
        Promise::FirstSent,
        Promise::StoreUnavailable,
        Promise::AfterFailure,
    ];

    /// The name in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Replay => "replay",
            Promise::ReplayMarker => "replay-marker",
            Promise::InProgress => "in-progress",
            Promise::Mismatch => "mismatch",
            Promise::Equality => "equality",
            Promise::MissingKey => "missing-key",
            Promise::MalformedKey => "malformed-key",
            Promise::KeyCase => "key-case",
            Promise::OtherPrincipal => "other-principal",
            Promise::OtherOperation => "other-operation",
            Promise::Retention => "retention",
            Promise::Expired => "expired",
            Promise::Deleted => "deleted",
            Promise::Lookup => "lookup",
            Promise::FirstSent => "first-sent",
            Promise::StoreUnavailable => "store-unavailable",
            Promise::AfterFailure => "after-failure",
        }
    }
}

/// How strongly something is promised or expected.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// Nothing is said: what happens is observed and reported, and never fails.
    #[default]
    Unspecified,
    /// Allowed: observed, never fails.
    May,
    /// A break of it is a finding, and does not fail the run.
    Should,
    /// A break of it fails.
    Must,
}

/// How grave a failed expectation is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Reported only.
    Note,
    /// Reported as a warning; does not fail the run.
    Should,
    /// Fails the run.
    #[default]
    Must,
}
