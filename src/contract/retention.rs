//! For how long keys are remembered.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// For how long keys are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// For a time.
    Limited(Retention),
    /// For good, or for as long as the resource lives.
    Forever,
}

/// For how long keys are remembered, where that ends.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetentionClock {
    /// From the first request.
    FirstRequest,
    /// From the end of the first request.
    Completion,
    /// From the date that the client gives.
    ClientFirstSent,
    /// Nothing is said: the earliest of them counts where only a remembered key proves something.
    Unspecified,
}
