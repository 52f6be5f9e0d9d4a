//! Clean-up after a run that did not come to its own: what its ledger says was made is removed.

use super::args::CleanupArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::run::runtime;
use super::server::{self, Repeatable};
use super::target::{self, Ready};
use super::{files, screen};
use crate::report::{line, plural};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A line of a ledger.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Noted {
    operation: String,
    made: Option<String>,
    removed: Option<String>,
}

/// Removes what a ledger says is left.
///
/// # Errors
/// When the files are wrong, or the target cannot be used.
pub fn cleanup(args: &CleanupArgs) -> Result<Exit, Failure> {
    let left = left(args)?;
    let ready = target::from_file(
        &args.target,
        &args.access.filling.set,
        args.access.filling.secrets.as_deref(),
        &args.access.allow_host,
        None,
    )?;
    target::refuse_live(&ready, args.access.filling.live)?;
    for operation in left
        .iter()
        .map(|(operation, _)| operation)
        .collect::<BTreeSet<_>>()
    {
        let known = ready.target.operation(operation);
        if known.is_none_or(|known| known.cleanup.is_none()) {
            screen::remark(&format!(
                "{}: the target file does not say how to clean up, so what it made stays",
                line(operation)
            ));
        }
    }
    runtime()?.block_on(remove(ready, &left, args))
}

async fn remove(
    ready: Ready,
    left: &BTreeSet<(String, String)>,
    args: &CleanupArgs,
) -> Result<Exit, Failure> {
    let Ready {
        target,
        contracts,
        file,
        ..
    } = ready;
    let hosts = args.access.allow_host.clone();
    let removable: BTreeSet<String> = target
        .operations
        .iter()
        .filter(|operation| operation.cleanup.is_some())
        .map(|operation| operation.name.clone())
        .collect();
    let started = server::start(
        target,
        &file,
        &contracts,
        hosts,
        Repeatable::seed(0),
        None,
        |_| {},
    )
    .await?;
    let mut asked = 0;
    for (operation, identity) in left.iter().filter(|(own, _)| removable.contains(own)) {
        started.runner.remember(operation, identity);
        asked += 1;
    }
    started
        .runner
        .keep_ledger(&args.ledger)
        .map_err(|problem| Failure::Unable(format!("cannot go on with the ledger: {problem}")))?;
    let failed = started.runner.clean_up().await;
    started.runner.stop_server().await;
    for why in &failed {
        screen::remark(&line(why));
    }
    let stayed = left.len() - asked + failed.len();
    screen::say(&format!(
        "{} removed, {stayed} left\n",
        plural(asked - failed.len(), "resource")
    ))?;
    Ok(match stayed {
        0 => Exit::Clean,
        _ => Exit::Inconclusive,
    })
}

/// What was made and not removed.
fn left(args: &CleanupArgs) -> Result<BTreeSet<(String, String)>, Failure> {
    let source = files::read(&args.ledger)?;
    let mut left = BTreeSet::new();
    let written = source.text.lines().enumerate();
    for (place, text) in written.filter(|(_, text)| !text.is_empty()) {
        // A process that was killed may leave half a line.
        let Ok(noted) = serde_json::from_str::<Noted>(text) else {
            screen::remark(&format!(
                "{}:{}: it is no line of a ledger, and is left out",
                source.name,
                place + 1
            ));
            continue;
        };
        if let Some(identity) = noted.made {
            left.insert((noted.operation.clone(), identity));
        }
        if let Some(identity) = noted.removed {
            left.remove(&(noted.operation, identity));
        }
    }
    Ok(left)
}
