//! Whether the events of an operation come to our receiver, and can be told apart.

use super::sheet::{Sheet, escaped, in_words};
use crate::runner::baseline::Baseline;
use crate::runner::probe::Counted;
use crate::runner::sink::Arrived;
use crate::runner::world::{Cast, World};
use crate::target::operation::Operation;
use crate::target_check::Mark;
use std::time::Duration;

/// Tells the target where to deliver, before anything is sent.
pub(super) async fn register(world: &World, operations: &[&Operation], sheet: &mut Sheet<'_>) {
    if operations
        .iter()
        .all(|operation| operation.events.is_none())
    {
        return;
    }
    if let Err(why) = world.register_receiver().await {
        sheet.line("sink", Mark::Wrong, why, "/sink/register");
    }
}

/// Waits for the event of the operation's first request.
pub(super) async fn check(
    world: &World,
    operation: &Operation,
    measured: &Baseline,
    sheet: &mut Sheet<'_>,
) {
    let (Some(events), Some(receiver)) = (&operation.events, &world.receiver) else {
        return;
    };
    let (Some(spec), Some(first)) = (&measured.seen.spec, &measured.seen.first) else {
        return;
    };
    let counted = Counted {
        spec: spec.clone(),
        body: first
            .request
            .body
            .as_deref()
            .and_then(|body| serde_json::from_str(body).ok()),
    };
    let settle = events.settle.unwrap_or(world.target.settle);
    let patience = (settle * 4).clamp(Duration::from_secs(2), Duration::from_secs(30));
    let cast = Cast::alone(&operation.name);
    let arrived = world.first_event(&cast, &counted, patience).await;
    let pointer = format!("effects/{}", escaped(&events.name));
    let name = format!("effects.{}", events.name);
    // The second request has the same payload under another key, and so the same marker.
    let requests = 1 + usize::from(measured.seen.second.is_some());
    let (mark, says, help) = match arrived {
        Arrived::Events { ids, .. } if ids.len() > requests => (
            Mark::Wrong,
            format!(
                "{requests} requests brought {} different event ids: {}",
                ids.len(),
                ids.join(", ")
            ),
            Some("if these are events of several kinds, let `webhook` name one of them".to_owned()),
        ),
        Arrived::Events { ids, at } => match ids.first() {
            Some(id) => {
                let lag = at.saturating_sub(first.times.ended);
                let says = format!("an event after {}, id {id}", in_words(lag));
                (Mark::Right, says, None)
            }
            None => (
                Mark::Wrong,
                "an event came, and its id was not found".to_owned(),
                Some("sink.event-id says where it stands".to_owned()),
            ),
        },
        Arrived::Others(count) => (
            Mark::Wrong,
            format!(
                "{count} deliveries came, and none of them fits `webhook` within {}",
                in_words(patience)
            ),
            world
                .last_delivery()
                .map(|last| format!("the last one: {last}")),
        ),
        Arrived::Nothing => (
            Mark::Wrong,
            format!("no delivery came within {}", in_words(patience)),
            Some(format!("can the API reach {}?", receiver.url)),
        ),
    };
    sheet.line_with_help(&name, mark, says, help, &pointer);
}
