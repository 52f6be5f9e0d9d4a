//! The target's own clean-up of what the run made.

use super::hook::act;
use super::rendering::Filling;
use super::world::World;
use futures::StreamExt;

/// Resources that are cleaned up at once.
const AT_ONCE: usize = 8;

/// Removes what was made, where the target file says how, and tells what it could not remove and
/// why. What cannot be removed stays.
pub(super) async fn clean_up(world: &World) -> Vec<String> {
    let mut left = Vec::new();
    for (operation, identities) in world.ledger.made() {
        let Some(action) = world
            .operation(&operation)
            .ok()
            .and_then(|operation| operation.cleanup.as_ref())
        else {
            continue;
        };
        let operation = operation.as_str();
        let outcomes: Vec<Option<String>> = futures::stream::iter(identities)
            .map(|identity| async move {
                let mut values = Filling::new(world);
                values.identity = Some(identity.clone());
                match act(world, action, &values).await {
                    Ok(_) => {
                        world.ledger.removed(operation, &identity);
                        None
                    }
                    // It may be that a resource that is gone already cannot be removed.
                    Err(why) => Some(format!("{operation} {identity}: {why}")),
                }
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        left.extend(outcomes.into_iter().flatten());
    }
    left
}
