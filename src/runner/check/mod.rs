//! Holds the target file against the API, line by line, with at most five effects per operation.
//! What the baseline measures is taken from there; nothing is sent twice for it.

mod callers;
mod effects;
mod events;
mod identity;
mod operation;
mod reads;
mod sheet;
mod variants;

use super::baseline::baseline;
use super::world::{BaselineKey, World};
use crate::plan::Plan;
use crate::scenario::PrincipalRole;
use crate::target::operation::Operation;
use crate::target_check::{Mark, TargetCheck};
use sheet::Sheet;
use std::time::Instant;

/// Effects that checking one operation makes at most.
pub const EFFECTS: usize = 5;

/// Checks what the plan's operations stand on. Stops at the first thing that makes the file
/// useless, unless all of them are wanted.
pub(super) async fn check(world: &World, plan: &Plan, all: bool) -> TargetCheck {
    let mut sheet = Sheet::new(world);
    if !reachable(world, &mut sheet).await {
        return sheet.into_check();
    }
    let operations = operations(world, plan);
    if let Err(why) = world.ready_tokens(super::ROUND).await {
        sheet.line("owner", Mark::Useless, &why, "principals/owner");
        return sheet.into_check();
    }
    events::register(world, &operations, &mut sheet).await;
    let may_go_on = callers::check(world, &operations, &mut sheet).await;
    for operation in operations {
        if !may_go_on || (!all && sheet.is_useless()) || world.is_stopped() {
            break;
        }
        sheet.turn_to(&operation.name);
        one(world, operation, plan, &mut sheet).await;
    }
    sheet.into_check()
}

async fn one(world: &World, operation: &Operation, plan: &Plan, sheet: &mut Sheet<'_>) {
    let key = BaselineKey {
        operation: operation.name.clone(),
        principal: PrincipalRole::Owner,
        variants: Vec::new(),
    };
    let measured = baseline(world, key).await;
    operation::check(world, operation, &measured, sheet).await;
    if measured.broken.is_some() {
        return;
    }
    let (mut apart, mut downstream) = (sheet.apart(), sheet.apart());
    tokio::join!(
        variants::check(world, operation, &measured, plan, sheet),
        reads::check(world, operation, &measured, &mut apart),
        events::check(world, operation, &measured, &mut downstream),
    );
    sheet.add(apart);
    sheet.add(downstream);
}

/// Whether the target takes connections at all.
async fn reachable(world: &World, sheet: &mut Sheet<'_>) -> bool {
    for (number, base) in world.bases.iter().enumerate() {
        let pointer = format!("base-url/{number}");
        let began = Instant::now();
        let problem = match base.endpoint() {
            Err(why) => Some(why),
            Ok(endpoint) => match world.connect(&endpoint, true).await {
                Ok(connection) => {
                    world.spare.keep(&endpoint, connection);
                    None
                }
                Err(unreachable) => Some(unreachable.says),
            },
        };
        match problem {
            None => {
                let took = sheet::in_words(began.elapsed());
                let says = format!("{} takes connections ({took})", base.said);
                sheet.line("base-url", Mark::Right, says, &pointer);
            }
            Some(why) => {
                let says = format!("the target at {} cannot be reached: {why}", base.said);
                sheet.line("base-url", Mark::Unreachable, says, &pointer);
                return false;
            }
        }
    }
    true
}

/// The operations of the plan, in its order; those that will run, if any will.
fn operations<'w>(world: &'w World, plan: &Plan) -> Vec<&'w Operation> {
    let any_runs = plan.cases.iter().any(|case| case.skip.is_none());
    let mut operations: Vec<&Operation> = Vec::new();
    for case in plan
        .cases
        .iter()
        .filter(|case| !any_runs || case.skip.is_none())
    {
        if let Ok(operation) = world.operation(&case.subject)
            && !operations.iter().any(|known| known.name == operation.name)
        {
            operations.push(operation);
        }
    }
    operations
}
