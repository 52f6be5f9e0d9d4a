//! What the target's documents say, as the target file tells it.

use crate::signal::Signal;
use std::collections::BTreeMap;
use std::time::Duration;

/// The documents of a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    /// An OpenAPI document: a file beside the target file, a URL, or `GET /path` of the API itself.
    pub openapi: Option<String>,
    /// A page for people, which is not read.
    pub url: Option<String>,
    /// For how long a key is remembered.
    pub retention: Option<Duration>,
    /// Which errors may be retried: statuses and classes, such as `409` and `5xx`.
    pub retryable: Option<Vec<String>>,
    /// A page in the text format of Prometheus: a URL, or `GET /path` of the API itself.
    pub metrics: Option<String>,
    /// The samples on it that count what befalls keys, such as `replays_total{path="/payments"}`.
    pub signals: BTreeMap<Signal, String>,
    /// Whose keys are one space: one of [`SCOPES`].
    pub scope: Option<String>,
}

impl Documents {
    /// Whether a count of what befalls keys is named.
    pub fn counts(&self, signal: Signal) -> bool {
        self.metrics.is_some() && self.signals.contains_key(&signal)
    }
}

/// The words for whose keys are one space.
pub const SCOPES: [&str; 9] = [
    "tenant",
    "account",
    "company-account",
    "organization",
    "merchant",
    "credential",
    "api-key",
    "user",
    "global",
];
