//! What a transcript means: a pure function of transcript, contract and scenario. No clock, no
//! network, no printing.

use crate::checklist::ItemId;
use crate::promise::{Level, Promise};
use crate::scenario::{Severity, StepName};
use crate::verdict::Verdict;
use serde::Serialize;

/// A verdict on one expectation, with its checklist item and evidence.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// `create-payment/race/burst/item-5/effects-at-most`: the same in every report.
    pub name: String,
    /// The expectation's id.
    pub id: String,
    /// The item that it bears on.
    pub item: ItemId,
    /// The verdict over all rounds.
    pub verdict: Verdict,
    /// How grave a failure of this expectation is for the run.
    pub level: Level,
    /// How grave it is for whoever uses the API.
    pub severity: Severity,
    /// One sentence: what happened, or why nothing was shown.
    pub reason: String,
    /// The steps that it looked at.
    pub steps: Vec<StepName>,
    /// The promise that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// What was observed for the promise, with the number of rounds.
    pub observed: Vec<Observation>,
    /// How the rounds went.
    pub rounds: Tally,
    /// Where it can be seen: the first and the worst round.
    pub evidence: Vec<Evidence>,
}

/// One behaviour that was observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// In words, such as `409` or `waited, then replayed`.
    pub says: String,
    /// How often.
    pub times: u32,
}

/// How the rounds went for one expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rounds that ran.
    pub ran: u32,
    /// Rounds that showed something.
    pub valid: u32,
    /// Rounds in which it was broken.
    pub failed: u32,
    /// The first of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<u32>,
}

/// A pointer into the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The round's number.
    pub round: u32,
    /// The exchange, by its place in the round.
    pub exchange: usize,
}
