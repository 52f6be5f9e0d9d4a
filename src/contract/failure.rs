//! What failures do to a key, and what a client may do about them.

use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

use super::behaviour::StatusPattern;
use crate::transcript::Response;

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

impl FailureClass {
    /// Every class, in the order of reports.
    pub const ALL: [FailureClass; 8] = [
        FailureClass::PreExecutionValidation,
        FailureClass::Auth,
        FailureClass::Executed4xx,
        FailureClass::BusinessDeclined,
        FailureClass::Server5xx,
        FailureClass::RateLimited,
        FailureClass::TransientMarked,
        FailureClass::ConnectionDropped,
    ];

    /// The name in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::PreExecutionValidation => "pre-execution-validation",
            FailureClass::Auth => "auth",
            FailureClass::Executed4xx => "executed-4xx",
            FailureClass::BusinessDeclined => "business-declined",
            FailureClass::Server5xx => "server-5xx",
            FailureClass::RateLimited => "rate-limited",
            FailureClass::TransientMarked => "transient-marked",
            FailureClass::ConnectionDropped => "connection-dropped",
        }
    }
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

/// How a target marks a failure as passing; such a failure is of the class `transient-marked`.
#[derive(Clone, Debug)]
pub struct TransientSignal {
    /// The header's name.
    pub header: String,
    /// A pattern for its value.
    pub value: Regex,
}

impl TransientSignal {
    /// Whether a response bears it.
    pub fn is_on(&self, response: &Response) -> bool {
        response
            .header(&self.header)
            .any(|own| self.value.is_match(own))
    }
}

/// What the contract tells clients about retries. Informational here: targets are not held to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetryRules {
    /// Statuses after which a client retries.
    pub statuses: Vec<StatusPattern>,
    /// Statuses after which it does not.
    pub never: Vec<StatusPattern>,
    /// Response headers that it obeys.
    pub honours: BTreeSet<String>,
    /// The shortest pause before a retry.
    pub min_delay: Option<Duration>,
}
