//! What of a report is broken, the gravest first, and why the rest shows nothing.

use super::entry::{Entry, Standing, entries};
use crate::grade::{CaseReport, Report};
use crate::judge::Finding;
use crate::scenario::Severity;
use std::collections::{BTreeMap, HashMap};

/// A case in which something is broken.
#[derive(Debug)]
pub struct Broken<'a> {
    /// The case.
    pub case: &'a CaseReport,
    /// Its place in the report.
    pub index: usize,
    /// What is broken in it, the gravest first.
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Broken<'a> {
    /// The findings.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.entries.iter().filter_map(|entry| entry.finding)
    }

    /// How grave the gravest of it is.
    pub fn gravity(&self) -> (Standing, Severity) {
        self.entries
            .first()
            .map_or((Standing::Skip, Severity::Low), gravity)
    }

    /// The word for it: the severity of a failure, or that it is a warning.
    pub fn word(&self) -> &'static str {
        match self.gravity() {
            (Standing::Fail, severity) => super::severity(severity),
            (standing, _) => standing.name(),
        }
    }

    /// The rounds that its findings are first seen in, each with the exchanges that they point to.
    pub fn rounds(&self) -> BTreeMap<u32, Vec<usize>> {
        let mut rounds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for finding in self.findings() {
            for round in super::evidence::rounds(self.case, finding) {
                let marked = rounds.entry(round.number).or_default();
                for place in super::evidence::pointed_at(round, finding) {
                    if !marked.contains(&place) {
                        marked.push(place);
                    }
                }
            }
        }
        rounds
    }
}

/// Every case in which something is broken, the gravest first.
pub fn broken(report: &Report) -> Vec<Broken<'_>> {
    let mut cases: Vec<Broken<'_>> = report
        .scenarios
        .iter()
        .enumerate()
        .filter_map(|(index, case)| {
            let mut entries: Vec<Entry<'_>> = entries(case)
                .into_iter()
                .filter(|entry| matches!(entry.standing, Standing::Fail | Standing::Warn))
                .collect();
            entries.sort_by_key(|entry| std::cmp::Reverse(gravity(entry)));
            (!entries.is_empty()).then_some(Broken {
                case,
                index,
                entries,
            })
        })
        .collect();
    cases.sort_by_key(|broken| std::cmp::Reverse(broken.gravity()));
    cases
}

/// Why some entries show nothing: each reason once, with the names of those that it keeps back.
pub fn inconclusive(report: &Report) -> Vec<(&str, Vec<String>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for entry in report.scenarios.iter().flat_map(entries) {
        if entry.standing != Standing::Inconclusive {
            continue;
        }
        let place = *places.entry(entry.reason()).or_insert_with(|| {
            reasons.push((entry.reason(), Vec::new()));
            reasons.len() - 1
        });
        reasons[place].1.push(entry.name());
    }
    reasons
}

/// How grave an entry is.
pub fn gravity(entry: &Entry<'_>) -> (Standing, Severity) {
    let severity = entry
        .finding
        .map_or(entry.case.severity, |finding| finding.severity);
    (entry.standing, severity)
}
