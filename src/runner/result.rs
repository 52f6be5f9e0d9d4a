//! Results of operations that an answer only begins: they are asked for until they are final.

use super::answer::plain;
use super::fetch::Fetched;
use super::rendering::Filling;
use super::spec::Spec;
use super::world::World;
use crate::target::operation::{AsyncResult, Operation};
use crate::transcript::Response;
use std::time::Instant;

/// Waits for the result that an answer has announced, and writes down what it names, and whether it
/// is a success. The error says why it is not known.
pub(super) async fn await_result(
    world: &World,
    operation: &Operation,
    result: &AsyncResult,
    spec: &Spec,
    announced: Fetched,
    recorded: &mut Response,
) -> Result<(), String> {
    let mut values = Filling::of_spec(world, spec);
    values.response = Some(announced);
    let until = Instant::now() + result.timeout;
    loop {
        world.spend(1)?;
        world.turn().await;
        let rendered = world.render_plain(&result.request, spec.principal, &values)?;
        let fetched = world.fetch(&rendered, world.target.timeout).await?;
        let answer = fetched.answer();
        if result.until.holds(&answer) {
            let success = result.success.as_ref();
            recorded.success = success.is_none_or(|success| success.holds(&answer));
            let identity = match result.identity.is_empty() {
                true => &operation.identity,
                false => &result.identity,
            };
            let named = identity
                .iter()
                .find_map(|selector| selector.select(&answer).iter().find_map(plain));
            if let Some(named) = named {
                recorded.identity = Some(world.masker.mask(&named));
            }
            return Ok(());
        }
        if Instant::now() + result.every > until {
            return Err(format!(
                "the result was not final after {} s: {}",
                result.timeout.as_secs(),
                world.told(&fetched)
            ));
        }
        tokio::time::sleep(result.every).await;
    }
}
