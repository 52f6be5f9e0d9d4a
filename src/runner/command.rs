//! Shell commands of the target file. Values reach them as environment variables, never as text.

use super::rendering::Filling;
use super::world::World;
use crate::scenario::PrincipalRole;
use crate::target::action::Command;
use crate::target::render::command::environment;
use std::process::Stdio;
use std::time::Duration;

/// Runs a command and returns what it wrote. The error is its exit status with what it said.
pub(super) async fn run(
    world: &World,
    script: &Command,
    values: &Filling<'_>,
    timeout: Duration,
) -> Result<Vec<u8>, String> {
    run_with(world, script, values, &[], timeout).await
}

/// The same with further variables.
pub(super) async fn run_with(
    world: &World,
    script: &Command,
    values: &Filling<'_>,
    further: &[(String, String)],
    timeout: Duration,
) -> Result<Vec<u8>, String> {
    let mut command = tokio::process::Command::new("sh");
    command
        .arg("-euc")
        .arg(&script.script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.kill_on_drop(true);
    let principal = world.principal(PrincipalRole::Owner)?.0;
    let variables = environment(script, &world.target, &principal, values)
        .map_err(|error| error.to_string())?;
    command.envs(variables);
    command.envs(further.iter().cloned());
    let child = command
        .spawn()
        .map_err(|error| format!("sh could not be started: {error}"))?;
    let output = tokio::time::timeout(timeout, child.wait_with_output())
        .await
        .map_err(|_| format!("no end after {} s", timeout.as_secs_f64()))?
        .map_err(|error| format!("the command was lost: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = world.masker.mask(said.trim()).chars().take(400).collect();
    Err(match output.status.code() {
        Some(code) => format!("exit {code}: {said}"),
        None => format!("ended by a signal: {said}"),
    })
}
