//! From findings to a report: a grade for each of the nine points, and a verdict for the run.

mod documents;
mod headlines;
mod items;
mod promises;
mod sides;

use crate::checklist::ItemId;
use crate::contract::Contract;
use crate::judge::{Documented, Finding, Observation, Tally};
use crate::promise::{Level, Promise, Strength};
use crate::scenario::client::ClientScenario;
use crate::scenario::{Check, Scenario, Severity};
use crate::target_check::CheckedLine;
use crate::transcript::Transcript;
use crate::transcript::client::ClientTranscript;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One planned case with what came of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The operation, by its name in the target file.
    pub operation: String,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// Which of its cases.
    pub case: usize,
    /// Why it does not apply, if it does not; it then needs no findings.
    pub skipped: Option<String>,
    /// What happened.
    pub transcript: Transcript,
    /// What it means, as [`crate::judge::judge`] found.
    pub findings: Vec<Finding>,
    /// The runs that its rounds are of, where that is not the one run.
    pub runs: Vec<RoundsOf>,
}

/// The report of a run. `contracts` has the contract of each operation; `headlines` are those
/// that the run itself knows of, and stand first.
pub fn grade(
    about: RunInfo,
    judged: Vec<Judged>,
    contracts: &BTreeMap<String, Contract>,
    headlines: Vec<String>,
) -> Report {
    grade_sides(about, judged, Vec::new(), contracts, headlines)
}

/// One case of a client scenario with what came of it.
#[derive(Clone, Debug)]
pub struct JudgedClient {
    /// The operation, by its name in the target file.
    pub operation: String,
    /// The scenario.
    pub scenario: Arc<ClientScenario>,
    /// Which of its cases.
    pub case: usize,
    /// Why it does not apply, if it does not.
    pub skipped: Option<String>,
    /// What happened.
    pub transcript: ClientTranscript,
    /// What it means, as [`crate::judge::client::judge`] found.
    pub findings: Vec<Finding>,
}

/// The report of both sides: what came of the API's cases, and of the client's. Each point is graded
/// on the side that it is about.
pub fn grade_sides(
    about: RunInfo,
    judged: Vec<Judged>,
    clients: Vec<JudgedClient>,
    contracts: &BTreeMap<String, Contract>,
    headlines: Vec<String>,
) -> Report {
    let cases = judged.into_iter().map(case_report);
    let cases = cases.chain(clients.into_iter().map(client_case_report));
    whole(about, cases.collect(), contracts, headlines)
}

fn client_case_report(judged: JudgedClient) -> CaseReport {
    let case = judged.scenario.cases.get(judged.case);
    CaseReport {
        operation: judged.operation,
        scenario: judged.scenario.id.clone(),
        case: case.and_then(|case| case.name.clone()),
        title: judged.scenario.title.clone(),
        severity: judged.scenario.severity,
        skipped: judged.skipped,
        findings: judged.findings,
        known: BTreeMap::new(),
        runs: Vec::new(),
        transcript: Transcript::default(),
        client: Some(judged.transcript),
    }
}

fn whole(
    about: RunInfo,
    scenarios: Vec<CaseReport>,
    contracts: &BTreeMap<String, Contract>,
    headlines: Vec<String>,
) -> Report {
    let findings: Vec<&Finding> = scenarios.iter().flat_map(|case| &case.findings).collect();
    let checklist: Vec<GradedItem> = ItemId::all()
        .map(|item| items::grade(item, &sides::bearing(item, &scenarios)))
        .collect();
    let verdict = verdict(&about, &findings);
    let promises = promises::collect(&scenarios, contracts);
    let documents = documents::collect(&scenarios);
    let headlines = headlines
        .into_iter()
        .chain(headlines::found(&about, &scenarios, &checklist))
        .collect();
    Report {
        about,
        verdict,
        checklist,
        promises,
        documents,
        scenarios,
        headlines,
    }
}

/// Marks findings that fail and are known to, with the reason that `known` gives; they stand in the
/// report, and do not fail the run.
pub fn excuse(report: &mut Report, known: impl Fn(&Finding) -> Option<String>) {
    for case in &mut report.scenarios {
        let failing = case
            .findings
            .iter()
            .filter(|finding| finding.verdict == Verdict::Fail);
        for finding in failing {
            if let Some(reason) = known(finding) {
                case.known.insert(finding.id.clone(), reason);
            }
        }
    }
    let counting: Vec<&Finding> = report
        .scenarios
        .iter()
        .flat_map(|case| {
            case.findings
                .iter()
                .filter(|finding| !case.known.contains_key(&finding.id))
        })
        .collect();
    report.verdict = verdict(&report.about, &counting);
}

/// The verdict of a run: only breaks at the level *must* fail it, and nothing shown is no pass.
fn verdict(about: &RunInfo, findings: &[&Finding]) -> Option<Verdict> {
    let has = |verdict: Verdict| {
        findings
            .iter()
            .any(|finding| finding.verdict == verdict && finding.level == Level::Must)
    };
    let passes = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Pass);
    if has(Verdict::Fail) {
        Some(Verdict::Fail)
    } else if has(Verdict::Inconclusive) || about.stopped.is_some() {
        Some(Verdict::Inconclusive)
    } else {
        passes.then_some(Verdict::Pass)
    }
}

fn case_report(judged: Judged) -> CaseReport {
    let Judged {
        operation,
        scenario,
        case,
        skipped,
        transcript,
        findings,
        runs,
    } = judged;
    let name = scenario.cases.get(case).and_then(|case| case.name.clone());
    let findings = match &skipped {
        Some(why) if findings.is_empty() => skipped_findings(&operation, &scenario, case, why),
        _ => findings,
    };
    CaseReport {
        operation,
        scenario: scenario.id.clone(),
        case: name,
        title: scenario.title.clone(),
        severity: scenario.severity,
        skipped,
        known: BTreeMap::new(),
        findings,
        runs,
        transcript,
        client: None,
    }
}

/// A finding for each expectation of a case that did not run, so that reports name them all.
fn skipped_findings(operation: &str, scenario: &Scenario, case: usize, why: &str) -> Vec<Finding> {
    let id = scenario
        .cases
        .get(case)
        .map_or_else(|| scenario.id.clone(), |case| scenario.case_id(case));
    scenario
        .expect
        .iter()
        .map(|(item, expectation)| Finding {
            name: format!("{operation}/{id}/{item}/{}", expectation.id),
            id: expectation.id.clone(),
            item: *item,
            verdict: Verdict::Skip,
            level: expectation.level,
            severity: scenario.severity,
            reason: why.to_owned(),
            steps: expectation
                .check
                .steps()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            promise: match &expectation.check {
                Check::Keeps { promise, .. } => Some(*promise),
                _ => None,
            },
            observed: Vec::new(),
            rounds: Tally::default(),
            documented: None,
            reach: None,
            evidence: Vec::new(),
        })
        .collect()
}

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
    /// What the documents say, held against what was observed.
    pub documents: DocumentsReport,
    /// Every case of every scenario on every operation, in the order of the plan.
    pub scenarios: Vec<CaseReport>,
    /// What a reader must know before anything else, such as "effects cannot be counted".
    pub headlines: Vec<String>,
}

/// What is known about a run without looking at its results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// The command that runs all of it again, its selection left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub again: String,
    /// How the client was run, where one was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// Where each operation stands: `acme.yaml:9`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
    /// The contract that it is graded against.
    pub contract: String,
    /// What makes the run repeatable.
    pub seed: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Why the run could not go on, if it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What holding the target file against the API brought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<CheckedLine>,
}

/// The run that rounds of a case are of, where a report is of several runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundsOf {
    /// The first round that is of it.
    pub from_round: u32,
    /// The command that runs all of it again.
    pub again: String,
    /// What makes it repeatable.
    pub seed: u64,
}

/// How a client was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// The command that judges it again, without its selection and the client's own command.
    pub again: String,
    /// The client's command; empty where it was started elsewhere.
    pub command: String,
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
    /// They were broken, and are known to be.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: u32,
}

/// Whether a count is left out: lists of what is known are rare.
fn is_zero(count: &u32) -> bool {
    *count == 0
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

/// What the documents say, held against what was observed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DocumentsReport {
    /// Each statement with its grade; none where the target file names no documents.
    pub statements: Vec<DocumentedReport>,
    /// The operations of the OpenAPI document that change something, are not idempotent by their method
    /// (RFC 9110, section 9.2.2), and declare no key: `POST /orders`.
    pub keyless: Vec<String>,
}

/// One statement of the documents.
#[derive(Clone, Debug, Serialize)]
pub struct DocumentedReport {
    /// The operation.
    pub operation: String,
    /// What it is about, such as `status 409` or `retention`.
    pub about: String,
    /// What becomes of it.
    pub grade: Documented,
    /// In one sentence: what was observed, or why nothing was.
    pub says: String,
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
    /// Findings that are known to fail, by their ids, with the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<String, String>,
    /// The findings, in the order of the file.
    pub findings: Vec<Finding>,
    /// The runs that its rounds are of, in their order; without any, all are of the run that the
    /// report is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RoundsOf>,
    /// What happened.
    #[serde(flatten)]
    pub transcript: Transcript,
    /// What a client sent, where it is a client that was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientTranscript>,
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

#[cfg(test)]
mod tests;
