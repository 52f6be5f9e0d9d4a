//! From findings to a report: a grade for each of the nine points, and a verdict for the run.

use crate::checklist::ItemId;
use crate::judge::{Finding, Observation};
use crate::promise::{Promise, Strength};
use crate::scenario::Severity;
use crate::transcript::Transcript;
use crate::verdict::Verdict;
use serde::Serialize;

/// Everything that a report shows; rendering adds nothing to it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The run itself.
    pub about: RunInfo,
    /// The verdict of the whole run; `None` when nothing ran.
    pub verdict: Option<Verdict>,
    /// The nine points.
    pub checklist: Vec<GradedItem>,
    /// Declared against observed, promise by promise.
    pub promises: Vec<PromiseReport>,
    /// Every case of every scenario on every operation, in the order of the plan.
    pub scenarios: Vec<CaseReport>,
    /// What a reader must know before anything else, such as "effects cannot be counted".
    pub headlines: Vec<String>,
}

/// What is known about a run without looking at its results.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunInfo {
    /// The tool's version.
    pub idemspec: String,
    /// The version of this format; it grows when a reader would have to change.
    pub format: u32,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How long it took, in microseconds.
    pub took_micros: u64,
    /// The target's name.
    pub target: String,
    /// Where it is.
    pub base_urls: Vec<String>,
    /// The file it was described in.
    pub file: String,
    /// The contract that it is graded against.
    pub contract: String,
    /// What makes the run repeatable.
    pub seed: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Why the run could not go on, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// The grade of one point.
#[derive(Clone, Debug, Serialize)]
pub struct GradedItem {
    /// Which.
    pub item: ItemId,
    /// What the findings make of it.
    pub grade: Grade,
    /// In one sentence: the gravest failure, what was not shown, or what was.
    pub says: String,
    /// How many findings have which verdict.
    pub counts: Counts,
}

/// What the findings make of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// No check of this version bears on it, or none was selected.
    NotChecked,
    /// Every check that bears on it passed.
    Met,
    /// What ran passed; something was skipped or inconclusive.
    PartlyShown,
    /// Nothing was shown.
    NotShown,
    /// At least one check failed.
    Broken,
}

/// Numbers of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// They held.
    pub pass: u32,
    /// They were broken.
    pub fail: u32,
    /// They were broken below the level of a failure.
    pub warn: u32,
    /// Nothing was shown.
    pub inconclusive: u32,
    /// They did not apply.
    pub skip: u32,
}

/// One promise, declared against observed.
#[derive(Clone, Debug, Serialize)]
pub struct PromiseReport {
    /// The operation.
    pub operation: String,
    /// The promise.
    pub promise: Promise,
    /// How strongly it is made.
    pub strength: Strength,
    /// What is declared, in words; `unspecified` where nothing is.
    pub declared: String,
    /// What was observed.
    pub observed: Vec<Observation>,
    /// Whether they agree; `None` where nothing is declared or nothing was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
}

/// One case of a scenario on one operation.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// The operation.
    pub operation: String,
    /// The scenario's id.
    pub scenario: String,
    /// The case's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The scenario's title.
    pub title: String,
    /// How grave a failure is.
    pub severity: Severity,
    /// Why it does not apply, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The findings, in the order of the file.
    pub findings: Vec<Finding>,
    /// What happened.
    #[serde(flatten)]
    pub transcript: Transcript,
}

impl CaseReport {
    /// `create-payment/lost/response#reset`.
    pub fn name(&self) -> String {
        match &self.case {
            Some(case) => format!("{}/{}#{case}", self.operation, self.scenario),
            None => format!("{}/{}", self.operation, self.scenario),
        }
    }
}
