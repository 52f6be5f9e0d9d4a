//! Scenario × operation × case, against what the target has: what will run, and why the rest does
//! not. Pure.

pub mod client;
mod defer;
mod fit;
mod keys;
mod steps;
mod vantage;

use self::fit::Fit;
use crate::checklist::ItemId;
use crate::contract::{Contract, KeyRules};
use crate::scenario::{Case, LookupBy, Need, PrincipalRole, Scenario, Step};
use crate::target::Target;
use crate::target::key::{Carrier, KeyPlace, singular_path};
use crate::target::operation::{LookupWay, Operation};
use std::collections::BTreeMap;
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
    pub requests: u64,
    /// Why it does not apply; it is then only reported.
    pub skip: Option<String>,
}

/// How a case shares the target with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Requests that meet each other: one at a time, with nothing beside it.
    Timed,
    /// Requests that come one after another: together with others, if the target works on several
    /// requests at once.
    Shared,
    /// Hooks, floods, shared bounds: nothing else runs.
    Alone,
    /// At the end of the run, while its keys still live.
    Last,
    /// It ends the server without notice, which may cost more than its own keys: after all that need
    /// the others.
    Crash,
    /// It moves the target's clock, and so ages everybody's keys: after all others.
    Clock,
}

/// What was selected on the command line; empty lists select everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Ids of scenarios, with or without a case, or the beginnings of ids up to a `/`.
    pub scenarios: Vec<String>,
    /// Items that a scenario must bear on.
    pub items: Vec<ItemId>,
    /// Names of operations.
    pub operations: Vec<String>,
    /// Where the target's time has to pass and neither a hook nor a short wait lets it, a case may
    /// stop, to go on another day.
    pub defer: bool,
}

impl Selection {
    fn wants(&self, scenario: &Scenario, case: &Case) -> bool {
        let id = scenario.case_id(case);
        let by_name = self.scenarios.is_empty()
            || self.scenarios.iter().any(|wanted| {
                let wanted = wanted.trim_end_matches('/');
                id == *wanted
                    || scenario.id == *wanted
                    || scenario.id.starts_with(&format!("{wanted}/"))
            });
        let by_item = self.items.is_empty()
            || scenario
                .expect
                .iter()
                .any(|(item, _)| self.items.contains(item));
        by_name && by_item
    }
}

/// How an operation is looked up in this way, if the target says how.
pub fn lookup_way(operation: &Operation, by: LookupBy) -> Option<&LookupWay> {
    let lookup = &operation.lookup;
    match by {
        LookupBy::Key => lookup.by_key.as_ref(),
        LookupBy::Reference => lookup.by_reference.as_ref(),
        LookupBy::Identity => lookup.by_identity.as_ref(),
    }
}

/// Lays every scenario over every operation that it can be about.
pub fn plan(
    target: &Target,
    contracts: &BTreeMap<String, Contract>,
    scenarios: &[Arc<Scenario>],
    selection: &Selection,
) -> Plan {
    let mut cases = Vec::new();
    let selected: Vec<&Operation> = target
        .operations
        .iter()
        .filter(|operation| {
            selection.operations.is_empty() || selection.operations.contains(&operation.name)
        })
        .collect();
    let is_keyless = |operation: &Operation| {
        operation.key == Some(KeyPlace::None) || operation.consumer.is_some()
    };
    let with_a_key = selected.iter().position(|operation| !is_keyless(operation));
    let consuming = selected
        .iter()
        .position(|operation| operation.consumer.is_some());
    for (number, operation) in selected.iter().copied().enumerate() {
        let Some(contract) = contracts.get(&operation.name) else {
            continue;
        };
        for scenario in scenarios {
            // What is about keys, or about receiving events, is not even missing from an operation
            // that does neither, as long as another one shows it. Where none does, it is missing once.
            let of_keys = scenario.needs.contains(&Need::Key);
            let of_consumers = scenario.needs.contains(&Need::Consumer);
            let misses = |of: Option<usize>| number == of.unwrap_or_default();
            if of_keys && is_keyless(operation) && !misses(with_a_key)
                || of_consumers && operation.consumer.is_none() && !misses(consuming)
            {
                continue;
            }
            if is_elsewhere(&selected, operation, is_keyless(operation), scenario) {
                continue;
            }
            for (index, case) in scenario.cases.iter().enumerate() {
                // Whoever owns what an event is about, its sender is one and the same.
                if operation.consumer.is_some() && !of_consumers && has_other_callers(case) {
                    continue;
                }
                if selection.wants(scenario, case) {
                    let fit = Fit {
                        target,
                        contracts,
                        contract,
                        operation,
                        scenario,
                        case,
                        defer: selection.defer,
                    };
                    cases.push(fit.plan(scenario, index));
                }
            }
        }
    }
    Plan { cases }
}

/// Whether a scenario is about a kind of operations to which this one does not belong and another one
/// does: it is then not even missing here. What takes no key owes no events and no look-up either.
fn is_elsewhere(
    selected: &[&Operation],
    operation: &Operation,
    is_keyless: bool,
    scenario: &Scenario,
) -> bool {
    scenario.needs.iter().any(|need| {
        let belongs: fn(&Operation) -> bool = match need {
            Need::Precondition => |operation| operation.precondition.is_some(),
            Need::IdempotentMethod => {
                |operation| matches!(operation.request.method.as_str(), "PUT" | "DELETE")
            }
            Need::Bound => |operation| operation.effects.iter().any(|probe| probe.bound.is_some()),
            Need::Prepare => |operation| operation.prepare.is_some(),
            Need::Given => |operation| operation.given.is_some(),
            Need::Sink if is_keyless => |operation| operation.events.is_some(),
            Need::Lookup if is_keyless => |operation| {
                let lookup = &operation.lookup;
                lookup.by_key.is_some()
                    || lookup.by_reference.is_some()
                    || lookup.by_identity.is_some()
            },
            _ => return false,
        };
        !belongs(operation) && selected.iter().any(|other| belongs(other))
    })
}

/// Whether somebody else than the owner sends in it.
fn has_other_callers(case: &Case) -> bool {
    case.leaves().filter_map(Step::request).any(|request| {
        request
            .principal
            .is_some_and(|principal| principal != PrincipalRole::Owner)
    })
}

/// What carries a key by the contract, where the target does not say it.
pub fn carrier(key: &KeyRules) -> Option<Carrier> {
    let header = key.header.clone().map(Carrier::Header);
    let query = key.query.clone().map(Carrier::Query);
    let form = key.form.clone().map(Carrier::Form);
    let json = key.json.as_deref().and_then(singular_path);
    header.or(query).or(form).or(json.map(Carrier::Json))
}
