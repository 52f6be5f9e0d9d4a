//! Declared against observed, promise by promise.

use super::{CaseReport, PromiseReport};
use crate::contract::Contract;
use crate::judge::{Finding, Observation, declared};
use crate::promise::Promise;
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// One report for each operation and promise that a finding is about.
pub(super) fn collect(
    cases: &[CaseReport],
    contracts: &BTreeMap<String, Contract>,
) -> Vec<PromiseReport> {
    let mut found: BTreeMap<(&str, Promise), Vec<&Finding>> = BTreeMap::new();
    for case in cases {
        for finding in &case.findings {
            if let Some(promise) = finding.promise {
                found
                    .entry((&case.operation, promise))
                    .or_default()
                    .push(finding);
            }
        }
    }
    found
        .into_iter()
        .map(|((operation, promise), findings)| {
            let contract = contracts.get(operation);
            PromiseReport {
                operation: operation.to_owned(),
                promise,
                strength: contract
                    .map(|contract| contract.strength(promise))
                    .unwrap_or_default(),
                declared: contract.map_or_else(
                    || "unspecified".to_owned(),
                    |contract| declared(contract, promise),
                ),
                observed: observed(&findings),
                kept: kept(&findings),
            }
        })
        .collect()
}

fn observed(findings: &[&Finding]) -> Vec<Observation> {
    let mut all: Vec<Observation> = Vec::new();
    for observation in findings.iter().flat_map(|finding| &finding.observed) {
        match all.iter_mut().find(|own| own.says == observation.says) {
            Some(own) => own.times += observation.times,
            None => all.push(observation.clone()),
        }
    }
    all.sort_by_key(|observation| std::cmp::Reverse(observation.times));
    all
}

/// One break breaks a promise; a pass keeps it.
fn kept(findings: &[&Finding]) -> Option<bool> {
    let has = |verdict: Verdict| findings.iter().any(|finding| finding.verdict == verdict);
    if has(Verdict::Fail) {
        Some(false)
    } else {
        has(Verdict::Pass).then_some(true)
    }
}
