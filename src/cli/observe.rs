//! The running of a plan: what is judged comes out, and nothing is judged yet.

use super::failure::Failure;
use super::progress::Callback;
use super::record::{Recorded, RecordedCase};
use super::run::{FORMAT, contract_names, micros};
use super::server::{self, Repeatable, Started};
use super::target::Ready;
use crate::grade::RunInfo;
use crate::plan::Plan;
use crate::runner::{Origin, RunResult, Runner, Suspended};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// What is tried, with everything read and chosen.
pub(super) struct Subject<'a> {
    /// The target.
    pub(super) ready: &'a Ready,
    /// Hosts that may be written to, beside those that the target names.
    pub(super) allow_hosts: &'a [String],
    /// The target file is held against the API first.
    pub(super) check: bool,
    /// The command that runs it again.
    pub(super) again: &'a str,
    /// Where operations and own expectations stand.
    pub(super) places: &'a BTreeMap<String, String>,
    /// Where all that is made is written down at once.
    pub(super) ledger: Option<&'a Path>,
    /// What makes it repeatable.
    pub(super) repeatable: Repeatable,
}

/// What was seen.
pub(super) struct Observed {
    /// What is judged.
    pub(super) recorded: Recorded,
    /// The cases that stopped to go on another day, by their place among the recorded ones.
    pub(super) suspended: BTreeMap<usize, Suspended>,
    /// What their second half must know of the run.
    pub(super) origin: Origin,
}

/// Runs the plan. The cases of `halves`, by their place in it, go on where they had stopped; `starting`
/// is given the runner before it runs.
pub(super) async fn observe(
    subject: Subject<'_>,
    plan: &Plan,
    halves: &BTreeMap<usize, Suspended>,
    progress: &Callback,
    starting: impl FnOnce(&Arc<Runner>),
) -> Result<Observed, Failure> {
    let Ready {
        target,
        contracts,
        file,
        ports,
        ..
    } = subject.ready.clone();
    let began = Instant::now();
    let mut about = RunInfo {
        idemspec: env!("CARGO_PKG_VERSION").to_owned(),
        format: FORMAT,
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        target: target.name.clone(),
        contract: contract_names(&contracts),
        file: file.clone(),
        again: subject.again.to_owned(),
        places: subject.places.clone(),
        seed: subject.repeatable.seed,
        ..RunInfo::default()
    };
    let Started { runner, base_urls } = server::start(
        target,
        &file,
        &contracts,
        subject.allow_hosts.to_vec(),
        subject.repeatable,
        ports,
        starting,
    )
    .await?;
    about.base_urls = base_urls;
    if let Some(file) = subject.ledger {
        runner.keep_ledger(file).map_err(|problem| {
            Failure::Unable(format!(
                "cannot write the ledger to {}: {problem}",
                file.display()
            ))
        })?;
    }
    if subject.check {
        progress("check", 0, 0);
        let checked = runner.check(plan, false).await;
        about.stopped = match runner.is_stopped() {
            true => Some("it was told to stop".to_owned()),
            false => checked.stops(),
        };
        about.check = checked.lines;
    }
    let origin = runner.origin();
    if about.stopped.is_some() {
        runner.clean_up().await;
        runner.stop_server().await;
        about.requests = runner.requests();
        about.took_micros = micros(began);
        return Ok(Observed {
            recorded: Recorded {
                about,
                headlines: Vec::new(),
                contracts,
                cases: Vec::new(),
                clients: Vec::new(),
            },
            suspended: halves.clone(),
            origin,
        });
    }
    let RunResult {
        transcripts,
        requests,
        stopped,
        headlines,
        suspended,
    } = runner.run(plan, halves, progress).await;
    runner.stop_server().await;
    about.requests = requests;
    about.stopped = stopped;
    about.took_micros = micros(began);
    let cases = plan
        .cases
        .iter()
        .zip(transcripts)
        .map(|(planned, transcript)| RecordedCase {
            operation: planned.subject.clone(),
            scenario: Arc::clone(&planned.scenario),
            case: planned.case,
            skip: planned.skip.clone(),
            runs: Vec::new(),
            transcript,
        });
    Ok(Observed {
        recorded: Recorded {
            about,
            headlines,
            contracts,
            cases: cases.collect(),
            clients: Vec::new(),
        },
        suspended,
        origin,
    })
}
