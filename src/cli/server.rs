//! From a target to a runner that is ready to send: the target's own server is started first, and
//! ends with the process however that ends.

use super::certificates;
use super::failure::Failure;
use super::screen;
use crate::contract::Contract;
use crate::judge;
use crate::runner::{self, Agreement, Effort, Origin, Runner, Setup};
use crate::target::Target;
use crate::target::port::Ports;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A runner whose target is there, as far as that is in our hands.
pub(super) struct Started {
    /// The runner.
    pub(super) runner: Arc<Runner>,
    /// Where the target is.
    pub(super) base_urls: Vec<String>,
}

/// What makes a run repeatable.
pub(super) struct Repeatable {
    /// The seed.
    pub(super) seed: u64,
    /// What is agreed on, if several places make the same run.
    pub(super) agreement: Option<Agreement>,
    /// The run of which this is the second half.
    pub(super) origin: Option<Origin>,
    /// How hard to look for races.
    pub(super) effort: Effort,
}

impl Repeatable {
    /// This seed, in one place.
    pub(super) fn seed(seed: u64) -> Repeatable {
        Repeatable {
            seed,
            agreement: None,
            origin: None,
            effort: Effort::default(),
        }
    }
}

/// Makes the runner and starts the target's server, if the file says how. `ports` are those of a
/// server that runs already. `starting` is given the runner before anything runs.
///
/// # Errors
/// A target that cannot be used, or a server that does not get ready.
pub(super) async fn start(
    target: Target,
    file: &str,
    contracts: &BTreeMap<String, Contract>,
    allow_hosts: Vec<String>,
    repeatable: Repeatable,
    ports: Option<Ports>,
    starting: impl FnOnce(&Arc<Runner>),
) -> Result<Started, Failure> {
    let unable = |problem: String| Failure::Unable(problem);
    let ports = match (&target.server, ports) {
        (Some(_), None) => Ports::chosen(&target, runner::free_port)
            .map_err(|problem| unable(problem.to_string()))?,
        (_, known) => known.unwrap_or_default(),
    };
    let base_urls = target
        .base_urls
        .iter()
        .filter_map(|base| {
            let url = base.resolve(|name| ports.get(name)).ok()?;
            Some(base.said(&url))
        })
        .collect();
    let setup = Setup {
        tls: certificates::tls(&target, file)?,
        target,
        contracts: contracts.clone(),
        allow_hosts,
        seed: repeatable.seed,
        agreement: repeatable.agreement,
        origin: repeatable.origin,
        ports,
        shown: judge::so_far,
        effort: repeatable.effort,
        folder: Path::new(file)
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default(),
    };
    let runner =
        Arc::new(Runner::new(setup).map_err(|problem| Failure::Usage(problem.to_string()))?);
    starting(&runner);
    runner
        .start_server()
        .await
        .map_err(|problem| unable(problem.to_string()))?;
    Ok(Started { runner, base_urls })
}

/// The first Ctrl-C (or request to end) ends the run in order, so that what was seen is reported;
/// the second at once.
pub(super) fn stop_on_interrupt(runner: &Arc<Runner>) {
    // Weak, so that the runner and its server end with the run and not with this task.
    let runner = Arc::downgrade(runner);
    tokio::spawn(async move {
        if !asked_to_end().await {
            return;
        }
        if let Some(runner) = runner.upgrade() {
            runner.stop();
        }
        screen::remark("stopping: what was seen is reported; Ctrl-C again ends at once");
        if asked_to_end().await {
            if let Some(runner) = runner.upgrade() {
                runner.kill_server();
            }
            std::process::exit(130);
        }
    });
}

/// Waits for Ctrl-C or SIGTERM; `false` if neither can be heard.
#[cfg(unix)]
pub(super) async fn asked_to_end() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
        heard = terminate.recv() => heard.is_some(),
    }
}

/// Waits for Ctrl-C; `false` if it cannot be heard.
#[cfg(not(unix))]
pub(super) async fn asked_to_end() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
