//! Hooks: what the target file says may be done to the target from outside.

use super::command;
use super::rendering::Filling;
use super::world::World;
use crate::hook::HookName;
use crate::scenario::PrincipalRole;
use crate::target::action::{Action, Deed};
use crate::transcript::HookFacts;
use std::time::{Duration, Instant, SystemTime};

/// How long a hook may take, unless the file says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a hook of the target file.
pub(super) async fn run(world: &World, name: HookName) -> HookFacts {
    let at = world.clock(Instant::now());
    let result = match declared(world, name) {
        None => managed(world, name).await,
        Some(action) => act(world, action, &Filling::new(world)).await,
    };
    let mut facts = facts(world, name, at, result);
    facts.over = Some(world.clock(Instant::now()));
    if matches!(name, HookName::Kill | HookName::Start) {
        world.forget_connections();
    }
    if name == HookName::Start && facts.worked {
        match wait_until_ready(world).await {
            Ok(()) => {}
            Err(why) => {
                facts.worked = false;
                facts.output = why;
            }
        }
    }
    facts
}

/// What a server that the tool started itself can do without a declared hook.
async fn managed(world: &World, name: HookName) -> Result<String, String> {
    match (&world.target.server, name) {
        (Some(_), HookName::Kill) => {
            world.server.kill().await?;
            Ok("killed the server".to_owned())
        }
        (Some(server), HookName::Start) => {
            world.server.start(world, server).await?;
            Ok("started the server".to_owned())
        }
        _ => Err(format!("the target has no hook `{}`", name.name())),
    }
}

/// Whether the target's time passes only as ours does.
pub(super) fn elapses_by_itself(world: &World) -> bool {
    declared(world, HookName::AdvanceClock).is_none()
}

/// Lets the target's time pass: by its clock, or by waiting.
pub(super) async fn elapse(world: &World, time: Duration) -> HookFacts {
    let at = world.clock(Instant::now());
    let Some(action) = declared(world, HookName::AdvanceClock) else {
        tokio::time::sleep(time).await;
        return HookFacts {
            name: HookName::AdvanceClock,
            at,
            due: None,
            over: Some(world.clock(Instant::now())),
            worked: true,
            output: format!("waited {}", humantime::format_duration(time)),
            moved: Some(time),
        };
    };
    let seconds = time.as_secs_f64().ceil() as u64;
    let advance = |seconds: u64| async move {
        let mut values = Filling::new(world);
        values.seconds = Some(seconds);
        act(world, action, &values).await
    };
    // Asked to move by nothing, a hook that tells the time tells where it starts.
    let before = advance(0).await.ok().and_then(|output| told_time(&output));
    let result = advance(seconds).await;
    let after = result.as_ref().ok().and_then(|output| told_time(output));
    let mut facts = facts(world, HookName::AdvanceClock, at, result);
    facts.over = Some(world.clock(Instant::now()));
    if facts.worked {
        facts.moved = Some(Duration::from_secs(seconds));
        world.dates.moved(Duration::from_secs(seconds));
        if let (Some(before), Some(after)) = (before, after) {
            let moved = after.duration_since(before).unwrap_or_default();
            if moved + Duration::from_secs(2) < Duration::from_secs(seconds) {
                facts.worked = false;
                facts.moved = Some(moved);
                facts.output = format!(
                    "the clock moved by {} s only, not by {seconds} s: {}",
                    moved.as_secs(),
                    facts.output
                );
            }
        }
    }
    facts
}

/// Runs an action. The output is the command's, or the response's body.
pub(super) async fn act(
    world: &World,
    action: &Action,
    values: &Filling<'_>,
) -> Result<String, String> {
    let patience = action.timeout.unwrap_or(PATIENCE);
    match &action.what {
        Deed::Command(script) => {
            let output = command::run(world, script, values, patience).await?;
            Ok(String::from_utf8_lossy(&output).trim().to_owned())
        }
        Deed::Request(request) => {
            let rendered = world.render_plain(request, PrincipalRole::Owner, values)?;
            let fetched = world.fetch(&rendered, patience).await?;
            if (200..300).contains(&fetched.status) {
                Ok(String::from_utf8_lossy(&fetched.body).trim().to_owned())
            } else {
                Err(format!("answered {}", world.told(&fetched)))
            }
        }
    }
}

/// Waits until the hook `ready` works, if there is one.
pub(super) async fn wait_until_ready(world: &World) -> Result<(), String> {
    let Some(ready) = declared(world, HookName::Ready) else {
        return Ok(());
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        match act(world, ready, &Filling::new(world)).await {
            Ok(_) => return Ok(()),
            Err(why) if Instant::now() > deadline => {
                return Err(format!("not ready after {} s: {why}", PATIENCE.as_secs()));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

fn declared(world: &World, name: HookName) -> Option<&Action> {
    world.target.hooks.get(name)
}

fn facts(world: &World, name: HookName, at: Duration, result: Result<String, String>) -> HookFacts {
    let worked = result.is_ok();
    let output = match result {
        Ok(output) | Err(output) => world.masker.mask(&output),
    };
    HookFacts {
        name,
        at,
        due: None,
        over: None,
        worked,
        output: output.chars().take(400).collect(),
        moved: None,
    }
}

/// The first RFC 3339 time in a text.
fn told_time(text: &str) -> Option<SystemTime> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+')))
        .filter(|word| word.len() >= 20)
        .find_map(|word| humantime::parse_rfc3339_weak(word.trim_end_matches('Z')).ok())
}

#[cfg(test)]
mod tests {
    use super::told_time;
    use std::time::Duration;

    #[test]
    fn a_time_is_found_in_whatever_a_hook_says() {
        let one = told_time(r#"{"now":"2026-11-30T10:00:00Z","seconds":0}"#).expect("a time");
        let later =
            told_time(r#"{"now": "2026-11-30T11:00:00.5Z", "seconds": 3600}"#).expect("a time");
        assert_eq!(later.duration_since(one).expect("later").as_secs(), 3600);
        assert_eq!(told_time("ok"), None);
        assert!(later.duration_since(one).expect("later") > Duration::from_secs(3599));
    }
}
