//! The target's own clean-up of what the run made.

use super::hook::act;
use super::rendering::Filling;
use super::world::World;
use futures::StreamExt;

/// Resources that are cleaned up at once.
const AT_ONCE: usize = 8;

/// Removes what was made, where the target file says how. What cannot be removed stays.
pub(super) async fn clean_up(world: &World) {
    for (operation, identities) in world.ledger.made() {
        let Some(action) = world
            .operation(&operation)
            .ok()
            .and_then(|operation| operation.cleanup.as_ref())
        else {
            continue;
        };
        futures::stream::iter(identities)
            .map(|identity| async move {
                let mut values = Filling::new(world);
                values.identity = Some(identity);
                // A resource that is gone already needs no removing.
                let _ = act(world, action, &values).await;
            })
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<()>>()
            .await;
    }
}
