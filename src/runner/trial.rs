//! Trials: what only the target can tell of its variants. Which slow one writes first, which failing
//! one had written, and whether a change that the tool derived is acceptable at all.

use super::baseline::{Measuring, baseline};
use super::exchange;
use super::probe::{self, Subject};
use super::round::{CaseContext, RoundRun, locked};
use super::world::{BaselineKey, Cast, World};
use crate::scenario::{Case, PrincipalRole, Scenario};
use crate::target::operation::{Group, Operation, Variant};
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Settles what a scenario's name for a variant means on this target. Tried once, under keys of
/// their own; what needs no trial is left to the target file.
pub(super) async fn choose(world: &World, operation: &Operation, name: &str) {
    let Ok(candidates) = operation.variation(name) else {
        return;
    };
    let id = (operation.name.clone(), name.to_owned());
    if world.chosen.lock().await.contains_key(&id) {
        return;
    }
    let found = match candidates.as_slice() {
        [Cow::Owned(derived)] if derived.group == Group::Change => {
            acceptable(world, operation, derived).await
        }
        [only] if only.name == name || only.group == Group::Named => return,
        _ if candidates
            .iter()
            .all(|candidate| candidate.patch == Default::default()) =>
        {
            return;
        }
        _ => fitting(world, operation, name, candidates).await,
    };
    world.chosen.lock().await.insert(id, found);
}

/// A change that the tool derived, unless the target refuses it under a fresh key.
async fn acceptable(
    world: &World,
    operation: &Operation,
    derived: &Variant,
) -> Result<Variant, String> {
    let trial = announce(world, operation, derived).await;
    match baseline(world, trial).await.broken {
        None => Ok(derived.clone()),
        Some(_) => Err(format!(
            "{} refuses the derived `{}` under a fresh key: declare one under `variants`",
            operation.name, derived.name
        )),
    }
}

/// The first candidate that behaves as the name says.
async fn fitting(
    world: &World,
    operation: &Operation,
    name: &str,
    candidates: Vec<Cow<'_, Variant>>,
) -> Result<Variant, String> {
    for candidate in candidates {
        let trial = announce(world, operation, &candidate).await;
        let fits = match name {
            "slow" | "lingers" => {
                let measured = baseline(world, trial).await;
                measured.broken.is_none() && measured.writes_early == (name == "lingers")
            }
            name => had_written(world, operation, &trial)
                .await
                .is_some_and(|written| written == name.starts_with("fails-after")),
        };
        if fits {
            return Ok(candidate.into_owned());
        }
    }
    match name {
        // Undeclared, these two are the plain request.
        "slow" | "lingers" => Ok(Variant {
            group: Group::Slow,
            name: name.to_owned(),
            patch: Default::default(),
            heals: false,
            per_execution: None,
            before: None,
            after: None,
        }),
        name => Err(format!(
            "no failing variant of {} turned out as `{name}`",
            operation.name
        )),
    }
}

/// Makes a candidate known under a name of its own, and returns what its trial is a baseline of.
pub(super) async fn announce(
    world: &World,
    operation: &Operation,
    candidate: &Variant,
) -> BaselineKey {
    let trial = format!("trial of {}", candidate.name);
    let id = (operation.name.clone(), trial.clone());
    world.chosen.lock().await.insert(id, Ok(candidate.clone()));
    BaselineKey {
        operation: operation.name.clone(),
        principal: PrincipalRole::Owner,
        variants: vec![trial],
    }
}

/// Whether a failing variant leaves an effect; `None` if it does not fail or cannot be seen.
async fn had_written(world: &World, operation: &Operation, key: &BaselineKey) -> Option<bool> {
    let plain = BaselineKey {
        variants: Vec::new(),
        ..key.clone()
    };
    if baseline(world, plain).await.broken.is_some() {
        return None;
    }
    let cast = Cast::alone(&operation.name);
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, cast, &scenario, &case);
    let run = RoundRun::new(&context, 1);
    let measuring = Measuring { run: &run, key };
    let request = measuring.request("failed", "main");
    let spec = run.specs(&request, 1).ok()?.remove(0);
    exchange::one(&run, &request, &spec, 0, 0, None)
        .await
        .ok()?;
    let failed = measuring.exchange("failed").ok()?;
    if failed.response.is_none_or(|response| response.success) {
        return None;
    }
    let counted = locked(&run.counted).first().cloned()?;
    let probe = operation.effects.first()?;
    let settle = probe.settle.unwrap_or(world.target.settle);
    let began = Instant::now();
    loop {
        let shows = probe::read(
            world,
            &context.cast,
            probe,
            &Subject::of(&spec),
            &[&counted],
        )
        .await;
        if shows
            .as_ref()
            .is_ok_and(|shown| shown.count().is_some_and(|count| count >= 1.0))
        {
            return Some(true);
        }
        if began.elapsed() > settle {
            return shows.is_ok().then_some(false);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
