//! What was observed, as a contract that can be held against the API later.
//!
//! A promise is written if the very run, judged under it, finds it kept and nothing else otherwise
//! than before: so a broken invariant stays broken, and what cannot be told is not promised.

mod ways;

use super::failure::Failure;
use super::files;
use super::record::Recorded;
use crate::contract::{
    self, Behaviour, Contract, Equality, FailureClass, Lifetime, OperationScope, PrincipalScope,
    Promised, ReplayMarker,
};
use crate::judge::{self, Finding};
use crate::promise::{Promise, Strength};
use crate::scenario::Check;
use crate::verdict::Verdict;
use std::collections::BTreeSet;
use std::path::Path;
use ways::{add, fates, way};

/// Scenarios that a source names.
const NAMED: usize = 3;

/// Writes what a run shows of its API as a contract file.
///
/// # Errors
/// When the file cannot be written.
pub fn write(recorded: &Recorded, path: &Path) -> Result<(), Failure> {
    files::write(path, &observed(recorded)).map_err(|problem| {
        Failure::Unable(format!(
            "cannot write the contract to {}: {problem}",
            path.display()
        ))
    })
}

/// What a run shows of its API, as a contract file.
pub fn observed(recorded: &Recorded) -> String {
    let mut search = Search::new(recorded);
    for promise in Promise::ALL {
        search.look_for(promise);
    }
    let mut text = format!(
        "# What {} was seen to do on {}. Nobody promises it: read it before you rely on it.\n",
        files::on_one_line(&recorded.about.target),
        date(recorded),
    );
    for (promise, seen) in search.not_written() {
        text.push_str(&format!(
            "# {} is not here, though this was seen: {}\n",
            promise.name(),
            files::on_one_line(&seen)
        ));
    }
    text.push_str(&search.contract.to_yaml());
    text
}

/// The day of the run.
fn date(recorded: &Recorded) -> &str {
    let started = &recorded.about.started;
    started.split('T').next().unwrap_or(started)
}

/// A contract that grows by one promise after the other.
struct Search {
    recorded: Recorded,
    /// What the run was made under, if all operations have the same.
    before: Option<Contract>,
    /// What is sure so far.
    contract: Contract,
    /// The findings of each case under it.
    findings: Vec<Vec<Finding>>,
    /// The promises of which something is written.
    written: BTreeSet<Promise>,
}

impl Search {
    fn new(recorded: &Recorded) -> Search {
        let mut contracts = recorded.contracts.values();
        let before = contracts
            .next()
            .cloned()
            .filter(|first| contracts.all(|other| format!("{other:?}") == format!("{first:?}")));
        let mut contract = contract::named("generic").expect("a test reads every profile");
        contract.name = "observed".to_owned();
        contract.title = format!("What {} was seen to do", recorded.about.target);
        if let Some(before) = &before {
            // The keys that were sent were made by these rules.
            contract.key = before.key.clone();
            contract.key.case_sensitive = Promised::unspecified();
            contract.key.required = Promised::unspecified();
            contract.key.source = None;
            contract.lock_timeout = before.lock_timeout;
            contract.consistency_lag = before.consistency_lag;
        }
        let mut recorded = recorded.clone();
        recorded.hold_to(&contract);
        let findings = recorded
            .cases
            .iter()
            .map(|case| case.judged_under(&contract))
            .collect();
        Search {
            recorded,
            before,
            contract,
            findings,
            written: BTreeSet::new(),
        }
    }

    fn look_for(&mut self, promise: Promise) {
        match promise {
            Promise::AfterFailure => {
                for class in FailureClass::ALL {
                    self.first_kept(
                        promise,
                        fates(class).iter().copied(),
                        |contract, source, fate| {
                            contract.after.insert(class, must(fate, source));
                        },
                    );
                }
            }
            Promise::ReplayMarker => {
                let markers = self.markers();
                self.first_kept(promise, markers, |contract, source, marker| {
                    contract.replay_marker = must(marker, source);
                });
            }
            Promise::Equality => {
                let words = [Equality::JsonCanonical, Equality::Bytes];
                self.first_kept(promise, words, |contract, source, word| {
                    contract.equality = must(word, source);
                });
            }
            Promise::KeyCase => {
                self.first_kept(promise, [true, false], |contract, source, word| {
                    contract.key.case_sensitive = must(word, source);
                })
            }
            Promise::OtherPrincipal => {
                // The least that fits: who was not tried is not promised anything.
                let words = [
                    PrincipalScope::Tenant,
                    PrincipalScope::User,
                    PrincipalScope::ApiKey,
                ];
                self.first_kept(promise, words, |contract, source, word| {
                    contract.principal_scope = must(word, source);
                });
            }
            Promise::OtherOperation => {
                let words = [OperationScope::PerEndpoint, OperationScope::GlobalKey];
                self.first_kept(promise, words, |contract, source, word| {
                    contract.operation_scope = must(word, source);
                });
            }
            Promise::Retention => {
                // A run can only show that what was declared is kept: it waited for that time.
                let declared = self
                    .before
                    .as_ref()
                    .and_then(|before| before.lifetime.value);
                self.first_kept(promise, declared, |contract, source, lifetime| {
                    contract.retention = match lifetime {
                        Lifetime::Limited(retention) => Some(retention),
                        Lifetime::Forever => None,
                    };
                    contract.lifetime = must(lifetime, source);
                });
            }
            Promise::Lookup => {
                let words = ["as the target file says", "none"];
                self.first_kept(promise, words, |contract, source, word| {
                    contract.lookup = must(word.to_owned(), source);
                });
            }
            // What the date of the first sending decides is not sent by any scenario yet.
            Promise::FirstSent => {}
            Promise::Replay
            | Promise::InProgress
            | Promise::Mismatch
            | Promise::MissingKey
            | Promise::MalformedKey
            | Promise::Expired
            | Promise::Deleted
            | Promise::StoreUnavailable => self.behaviours(promise),
        }
    }

    /// The ways in which a promise was answered: all of them, then as few as will do.
    fn behaviours(&mut self, promise: Promise) {
        for precise in [true, false] {
            let mut ways = self.ways(promise, precise);
            let Some(mut kept) = self.tried(promise, &ways) else {
                continue;
            };
            let mut index = 0;
            while ways.len() > 1 && index < ways.len() {
                let mut fewer = ways.clone();
                fewer.remove(index);
                match self.tried(promise, &fewer) {
                    Some(found) if passes(&found.1, promise) == passes(&kept.1, promise) => {
                        kept = found;
                        ways = fewer;
                    }
                    _ => index += 1,
                }
            }
            self.take(promise, kept);
            return;
        }
    }

    fn tried(&self, promise: Promise, ways: &[Behaviour]) -> Option<(Contract, Vec<Vec<Finding>>)> {
        if ways.is_empty() {
            return None;
        }
        self.kept_by(promise, |contract, source| {
            let promised = must(ways.to_vec(), source);
            match promise {
                Promise::Replay => contract.replay = promised,
                Promise::InProgress => contract.in_progress = promised,
                Promise::Mismatch => contract.mismatch = promised,
                Promise::MissingKey => contract.missing = promised,
                Promise::MalformedKey => contract.malformed = promised,
                Promise::Expired => contract.expired = promised,
                Promise::Deleted => contract.deleted = promised,
                Promise::StoreUnavailable => contract.store_unavailable = promised,
                other => unreachable!("{} has no behaviours", other.name()),
            }
        })
    }

    /// Takes the first value that was kept.
    fn first_kept<T: Clone>(
        &mut self,
        promise: Promise,
        values: impl IntoIterator<Item = T>,
        set: impl Fn(&mut Contract, String, T),
    ) {
        for value in values {
            let kept = self.kept_by(promise, |contract, source| {
                set(contract, source, value.clone());
            });
            if let Some(kept) = kept {
                self.take(promise, kept);
                return;
            }
        }
    }

    fn take(&mut self, promise: Promise, (contract, findings): (Contract, Vec<Vec<Finding>>)) {
        self.contract = contract;
        self.findings = findings;
        self.written.insert(promise);
    }

    /// The contract with something added and the findings under it, if the run keeps it and nothing
    /// else is found otherwise.
    fn kept_by(
        &self,
        promise: Promise,
        set: impl Fn(&mut Contract, String),
    ) -> Option<(Contract, Vec<Vec<Finding>>)> {
        let mut contract = self.contract.clone();
        set(&mut contract, String::new());
        let cases = || self.recorded.cases.iter().zip(&self.findings);
        // Cheap first: most that is tried fails where the promise itself is looked at.
        let mut shown_by: Vec<&str> = Vec::new();
        for (case, before) in cases().filter(|(_, findings)| is_about(findings, promise)) {
            let now = case.judged_under(&contract);
            if !agrees(before, &now, promise) {
                return None;
            }
            let more = passes_of(&now, promise) > passes_of(before, promise);
            if more && !shown_by.contains(&case.scenario.id.as_str()) {
                shown_by.push(&case.scenario.id);
            }
        }
        if shown_by.is_empty() {
            return None;
        }
        set(&mut contract, self.source(&shown_by));
        let mut findings = Vec::with_capacity(self.findings.len());
        for (case, before) in cases() {
            let now = case.judged_under(&contract);
            if !agrees(before, &now, promise) {
                return None;
            }
            findings.push(now);
        }
        Some((contract, findings))
    }

    /// `observed 2026-11-30, scenario race/burst`.
    fn source(&self, shown_by: &[&str]) -> String {
        let named = shown_by[..shown_by.len().min(NAMED)].join(", ");
        let word = if shown_by.len() == 1 {
            "scenario"
        } else {
            "scenarios"
        };
        let more = match shown_by.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("observed {}, {word} {named}{more}", date(&self.recorded))
    }

    /// What marks replays, if the same was seen on all of them.
    fn markers(&self) -> Vec<ReplayMarker> {
        let seen: BTreeSet<&str> = self
            .about(Promise::ReplayMarker)
            .flat_map(|finding| &finding.observed)
            .map(|observation| observation.says.as_str())
            .collect();
        let seen: Vec<&str> = seen.into_iter().collect();
        match seen.as_slice() {
            ["none"] => vec![ReplayMarker::None],
            [single] => single
                .split_once(": ")
                .map(|(name, value)| ReplayMarker::Header {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    first: None,
                })
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The ways in which the promise's requests were answered, those apart that no API may answer
    /// in. `precise` are those with all that they had in common.
    fn ways(&self, promise: Promise, precise: bool) -> Vec<Behaviour> {
        let mut ways: Vec<Behaviour> = Vec::new();
        for case in &self.recorded.cases {
            if case.why_skipped().is_some() {
                continue;
            }
            let steps: Vec<&str> = case
                .scenario
                .expect
                .iter()
                .filter_map(|(_, expectation)| match &expectation.check {
                    Check::Keeps { promise: own, of } if *own == promise => Some(of.as_str()),
                    _ => None,
                })
                .collect();
            if steps.is_empty() {
                continue;
            }
            let own = &case.scenario.cases[case.case];
            let transcript = judge::reclassified(own, &self.contract, case.transcript.clone());
            for exchange in transcript.rounds.iter().flat_map(|round| &round.exchanges) {
                if !steps.contains(&exchange.step.as_str()) {
                    continue;
                }
                if let Some(way) = way(promise, exchange, precise) {
                    add(&mut ways, way);
                }
            }
        }
        ways
    }

    fn about(&self, promise: Promise) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .flatten()
            .filter(move |finding| finding.promise == Some(promise))
    }

    /// What was seen of promises of which nothing is written.
    fn not_written(&self) -> Vec<(Promise, String)> {
        let mut found = Vec::new();
        for promise in Promise::ALL {
            if self.written.contains(&promise) {
                continue;
            }
            let seen: BTreeSet<&str> = self
                .about(promise)
                .flat_map(|finding| &finding.observed)
                .map(|observation| observation.says.as_str())
                .collect();
            if !seen.is_empty() {
                let seen: Vec<&str> = seen.into_iter().collect();
                found.push((promise, seen.join("; ")));
            }
        }
        found
    }
}

fn must<T>(value: T, source: String) -> Promised<T> {
    Promised {
        value: Some(value),
        strength: Strength::Must,
        source: Some(source),
    }
}

fn is_about(findings: &[Finding], promise: Promise) -> bool {
    findings
        .iter()
        .any(|finding| finding.promise == Some(promise))
}

fn passes_of(findings: &[Finding], promise: Promise) -> usize {
    findings
        .iter()
        .filter(|finding| finding.promise == Some(promise) && finding.verdict == Verdict::Pass)
        .count()
}

fn passes(findings: &[Vec<Finding>], promise: Promise) -> usize {
    findings.iter().map(|case| passes_of(case, promise)).sum()
}

/// Whether a promise that was added is kept and changes nothing else: what failed fails, and what
/// passed passes.
fn agrees(before: &[Finding], now: &[Finding], promise: Promise) -> bool {
    before.len() == now.len()
        && before.iter().zip(now).all(|(before, now)| {
            let same = before.verdict == now.verdict
                && (now.verdict != Verdict::Fail || before.level == now.level);
            match (before.verdict, now.verdict) {
                (Verdict::Skip | Verdict::Inconclusive, Verdict::Pass) => true,
                (Verdict::Inconclusive, Verdict::Skip) => now.promise != Some(promise),
                _ => same,
            }
        })
}
