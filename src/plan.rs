//! Scenario × operation × case, against what the target has: what will run, and why the rest does
//! not. Pure.

use crate::scenario::Scenario;
use std::sync::Arc;

/// What will run, in order, and what will not.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// All cases.
    pub cases: Vec<PlannedCase>,
}

/// One case of a scenario on one operation.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// The operation that is judged, by its name in the target file.
    pub subject: String,
    /// The operation that plays `other`.
    pub other: Option<String>,
    /// The operation that plays `other-method`.
    pub other_method: Option<String>,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// Which of its cases.
    pub case: usize,
    /// How it shares the target with others.
    pub lane: Lane,
    /// Requests that it sends at most in its planned rounds, without probes.
    pub requests: u32,
    /// Why it does not apply; it is then only reported.
    pub skip: Option<String>,
}

/// How a case shares the target with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// No moment finer than the settle time: together with others.
    Shared,
    /// Moments or bursts: one at a time among its like.
    Timed,
    /// Hooks, floods, shared bounds: nothing else runs.
    Alone,
    /// It moves the target's clock, and so ages everybody's keys: after all others.
    Clock,
    /// At the end of the run.
    Last,
}
