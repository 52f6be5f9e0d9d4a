//! What every report counts: the findings, and one entry for each case that has none, so that a
//! case which was skipped or came to nothing is never lost.

use crate::grade::{CaseReport, Counts, Report};
use crate::judge::Finding;
use crate::promise::Level;
use crate::scenario::Severity;
use crate::verdict::Verdict;

/// A finding, or a case without findings.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The case.
    pub case: &'a CaseReport,
    /// The finding; `None` where the case has none.
    pub finding: Option<&'a Finding>,
    /// What it amounts to.
    pub standing: Standing,
}

/// What a finding amounts to, its level included. The order is the order of gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It does not apply.
    Skip,
    /// It held.
    Pass,
    /// It was broken, and is known to be.
    Known,
    /// It was broken, below the level that fails a run.
    Warn,
    /// Nothing was shown.
    Inconclusive,
    /// It was broken.
    Fail,
}

impl Standing {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Skip => Verdict::Skip.name(),
            Standing::Pass => Verdict::Pass.name(),
            Standing::Known => "known",
            Standing::Warn => "warning",
            Standing::Inconclusive => Verdict::Inconclusive.name(),
            Standing::Fail => Verdict::Fail.name(),
        }
    }

    fn of(finding: &Finding) -> Standing {
        match (finding.verdict, finding.level) {
            (Verdict::Skip, _) => Standing::Skip,
            (Verdict::Pass, _) => Standing::Pass,
            (Verdict::Inconclusive, _) => Standing::Inconclusive,
            (Verdict::Fail, Level::Must) => Standing::Fail,
            (Verdict::Fail, Level::Should | Level::Note) => Standing::Warn,
        }
    }
}

impl<'a> Entry<'a> {
    /// The same in every report and every run: that of the finding, or of the case.
    pub fn name(&self) -> String {
        match self.finding {
            Some(finding) => finding.name.clone(),
            None => self.case.name(),
        }
    }

    /// One sentence: what happened, or why nothing was shown.
    pub fn reason(&self) -> &'a str {
        match self.finding {
            Some(finding) => &finding.reason,
            None => no_findings(self.case),
        }
    }
}

/// All entries of a case.
pub fn entries(case: &CaseReport) -> Vec<Entry<'_>> {
    if case.findings.is_empty() {
        let standing = if case.skipped.is_some() {
            Standing::Skip
        } else {
            Standing::Inconclusive
        };
        return vec![Entry {
            case,
            finding: None,
            standing,
        }];
    }
    case.findings
        .iter()
        .map(|finding| Entry {
            case,
            finding: Some(finding),
            standing: match case.known.contains_key(&finding.id) {
                true => Standing::Known,
                false => Standing::of(finding),
            },
        })
        .collect()
}

/// How many entries of the whole report stand how.
pub fn counts(report: &Report) -> Counts {
    let mut counts = Counts::default();
    for entry in report.scenarios.iter().flat_map(entries) {
        let count = match entry.standing {
            Standing::Skip => &mut counts.skip,
            Standing::Pass => &mut counts.pass,
            Standing::Known => &mut counts.known,
            Standing::Warn => &mut counts.warn,
            Standing::Inconclusive => &mut counts.inconclusive,
            Standing::Fail => &mut counts.fail,
        };
        *count += 1;
    }
    counts
}

fn no_findings(case: &CaseReport) -> &str {
    case.skipped
        .as_deref()
        .or(case.transcript.broken.first().map(String::as_str))
        .unwrap_or("nothing was judged")
}

/// The word that reports use.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}
