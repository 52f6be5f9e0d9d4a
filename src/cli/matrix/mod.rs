//! Every shipped contract against every other: one recorded run of a demo for each contract that it
//! can keep, judged again under all of them. Two contracts that differ must be told apart, in just
//! the promises in which they differ.

mod answers;
mod expected;
mod keys;
pub mod page;
pub mod pair;

use super::args::{MatrixArgs, Selection};
use super::exit::Exit;
use super::failure::Failure;
use super::policy::{policy_of, retention_of};
use super::record::Recorded;
use super::run::{self, Trial};
use super::{files, screen, select};
use crate::contract::{
    Contract, FailureClass, Lifetime, PROFILES, Retention, RetentionClock, named,
};
use crate::demo;
use crate::demo::policy::{KeptFrom, KeyPolicy, Place, Policy};
use crate::promise::Promise;
use crate::scenario::{Check, Scenario, Step};
use crate::yaml;
use expected::Demo;
use futures::{StreamExt, TryStreamExt};
use page::Matrix;
use pair::{Pair, compare};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The operation that is tried.
const OPERATION: &str = "create-payment";

/// The longest that a single run may take.
const LONGEST: Duration = Duration::from_secs(600);

/// Makes the matrix, shows what was unexpected, and writes the page.
///
/// # Errors
/// When a contract is not known, a demo cannot be started, or the page cannot be written.
pub fn matrix(args: &MatrixArgs) -> Result<Exit, Failure> {
    let contracts = chosen(&args.contract)?;
    let scenarios = match args.scenario.is_empty() {
        true => about_promises()?,
        false => args.scenario.clone(),
    };
    let made =
        run::wide_runtime()?.block_on(make(&contracts, &scenarios, args.at_once, &|line| {
            screen::remark(line);
        }))?;
    screen::say(&format!("{}{}\n", made.unexpected(), made.summary()))?;
    if let Some(file) = &args.write {
        files::write(file, &made.page()).map_err(|problem| {
            Failure::Unable(format!("cannot write {}: {problem}", file.display()))
        })?;
    }
    let clean = made.pairs.iter().all(|pair| pair.unexpected.is_empty());
    Ok(if clean { Exit::Clean } else { Exit::Failed })
}

/// The ids of the scenarios that hold a target to some promise.
fn about_promises() -> Result<Vec<String>, Failure> {
    let is_about = |scenario: &Scenario| {
        scenario
            .expect
            .iter()
            .any(|(_, expected)| matches!(expected.check, Check::Keeps { .. }))
    };
    let scenarios = select::built_in()?.into_iter();
    Ok(scenarios
        .filter(is_about)
        .map(|scenario| scenario.id)
        .collect())
}

/// The contracts of these names; all that are shipped if there are none.
///
/// # Errors
/// A name that no shipped contract has.
pub fn chosen(names: &[String]) -> Result<Vec<Contract>, Failure> {
    let known = || PROFILES.iter().map(|profile| profile.name);
    for name in names {
        if !known().any(|known| known == name) {
            let near = yaml::nearest(name, known());
            return Err(Failure::Usage(match near {
                Some(near) => format!("there is no contract `{name}`: did you mean `{near}`?"),
                None => {
                    format!("there is no contract `{name}`: `idemspec list contracts` shows all")
                }
            }));
        }
    }
    known()
        .filter(|known| names.is_empty() || names.iter().any(|name| name == known))
        .map(|name| named(name).map_err(|problem| Failure::BadFiles(vec![problem])))
        .collect()
}

/// Runs a demo for each contract, `at_once` of them side by side, and holds each run to all.
///
/// # Errors
/// When a demo cannot be started, or a run does not end.
pub async fn make(
    contracts: &[Contract],
    scenarios: &[String],
    at_once: usize,
    told: &dyn Fn(&str),
) -> Result<Matrix, Failure> {
    let mut not_kept = Vec::new();
    let mut kept = Vec::new();
    for contract in contracts {
        match policy_of(contract) {
            Ok(policy) => kept.push((whole(contract, &policy)?, policy)),
            Err(why) => not_kept.push((contract.name.clone(), why)),
        }
    }
    let judges = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut pairs = Vec::new();
    // Nothing is judged while a demo runs: that would take the time that the run measures. And no
    // more runs are kept than ran at once.
    for some in kept.chunks(at_once.max(1)) {
        let runs = some.iter().map(|(does, policy)| async move {
            let began = Instant::now();
            let recorded = recorded(does, policy, scenarios).await?;
            let took = began.elapsed().as_secs();
            told(&format!("ran the demo as {} ({took} s)", does.name));
            Ok::<_, Failure>((does, policy, Arc::new(recorded)))
        });
        let runs = futures::future::try_join_all(runs).await?;
        let held = runs.iter().flat_map(|(does, policy, recorded)| {
            contracts
                .iter()
                .map(move |held| hold(does, policy, recorded, held))
        });
        let found: Vec<Pair> = futures::stream::iter(held)
            .buffered(judges)
            .try_collect()
            .await?;
        pairs.extend(found);
    }
    Ok(Matrix {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pairs,
        not_kept,
        beside: beside(contracts),
    })
}

/// Terms to which no target is held, and the contracts that have them.
fn beside(contracts: &[Contract]) -> BTreeMap<&'static str, Vec<String>> {
    let mut beside: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for contract in contracts {
        for term in contract.terms() {
            if !term.judged && term.says.is_some() {
                beside
                    .entry(term.name)
                    .or_default()
                    .push(contract.name.clone());
            }
        }
    }
    beside
}

/// All that a demo does that keeps a contract: what that says, and else what the demo does by itself.
fn whole(contract: &Contract, policy: &Policy) -> Result<Contract, Failure> {
    let own = named("demo").map_err(|problem| Failure::BadFiles(vec![problem]))?;
    let mut whole = contract.completed_by(&own);
    if whole.lifetime.value != Some(Lifetime::Forever) {
        let kept = retention_of(contract);
        let clock = match (contract.key.first_sent(), policy.kept_from) {
            (Some(_), _) => RetentionClock::ClientFirstSent,
            (None, KeptFrom::Start) => RetentionClock::FirstRequest,
            (None, KeptFrom::Completion) => RetentionClock::Completion,
        };
        let retention = Retention {
            min: kept,
            max: Some(kept),
            clock,
        };
        whole.lifetime.value = Some(Lifetime::Limited(retention));
        whole.retention = Some(retention);
    }
    Ok(whole)
}

async fn recorded(
    does: &Contract,
    policy: &Policy,
    scenarios: &[String],
) -> Result<Recorded, Failure> {
    let options = demo::Options {
        policy: policy.clone(),
        retention: retention_of(does),
        ..demo::Options::default()
    };
    let selection = Selection {
        scenario: scenarios.to_vec(),
        operation: vec![OPERATION.to_owned()],
        ..Selection::default()
    };
    let trial = Trial {
        options,
        selection,
        contract: Some(does.clone()),
        // Where no key is read, one is sent all the same: that it protects nothing must show.
        sent: (policy.key.place == Place::Nothing).then(KeyPolicy::default),
        ..Trial::default()
    };
    match tokio::time::timeout(LONGEST, trial.record()).await {
        Ok(recorded) => recorded,
        Err(_) => Err(Failure::Unable(format!(
            "the run of the demo as {} did not end within {} s",
            does.name,
            LONGEST.as_secs()
        ))),
    }
}

async fn hold(
    does: &Contract,
    policy: &Policy,
    recorded: &Arc<Recorded>,
    held: &Contract,
) -> Result<Pair, Failure> {
    let (run, contract) = (Arc::clone(recorded), held.clone());
    let (does, policy) = (does.clone(), policy.clone());
    let judging = tokio::task::spawn_blocking(move || {
        let mut run = Recorded::clone(&run);
        run.hold_to(&contract);
        let demo = Demo {
            does: &does,
            policy: &policy,
            keeps: does.retention.map(|retention| retention.min),
            fails: failures(&run),
        };
        compare(&demo, &contract, &run.findings())
    });
    judging
        .await
        .map_err(|problem| Failure::Unable(format!("judging stopped: {problem}")))
}

/// The failures that a run makes where what comes after them is looked at.
fn failures(run: &Recorded) -> BTreeSet<FailureClass> {
    let about = |scenario: &Scenario| {
        scenario.expect.iter().any(|(_, expected)| {
            matches!(
                expected.check,
                Check::Keeps {
                    promise: Promise::AfterFailure,
                    ..
                }
            )
        })
    };
    run.cases
        .iter()
        .filter(|case| case.why_skipped().is_none() && about(&case.scenario))
        .flat_map(|case| case.scenario.cases[case.case].leaves())
        .filter_map(Step::request)
        .flat_map(|request| &request.variants)
        .filter_map(|variant| match variant.as_str() {
            "invalid" => Some(FailureClass::PreExecutionValidation),
            "declined" => Some(FailureClass::BusinessDeclined),
            "rate-limited" => Some(FailureClass::RateLimited),
            other => other
                .starts_with("fails")
                .then_some(FailureClass::Server5xx),
        })
        .collect()
}

#[cfg(test)]
mod tests;
