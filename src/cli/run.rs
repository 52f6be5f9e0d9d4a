//! The line itself: scenarios, plan, transcripts, findings, report, text.

use super::args::{DemoArgs, Output, RunArgs, Selection};
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::progress::{Callback, Progress};
use super::screen;
use super::select;
use crate::demo;
use crate::grade::{Report, RunInfo};
use crate::report::console::{self, Detail, Look};
use crate::scenario::Scenario;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::SystemTime;

/// The version of the JSON report.
const FORMAT: u32 = 1;

/// What is asked for, with the scenarios read and chosen.
#[derive(Debug)]
pub struct Job {
    /// What is tried.
    pub subject: Subject,
    /// The scenarios, narrowed to the cases that were selected.
    pub scenarios: Vec<Scenario>,
    /// Items and operations that it is narrowed to, and the seed.
    pub selection: Selection,
    /// The contract, instead of the target's own.
    pub contract: Option<String>,
    /// Variables of the target file.
    pub set: Vec<(String, String)>,
    /// A file with secrets.
    pub secrets: Option<PathBuf>,
    /// Hosts that may be written to, beside those that the target names.
    pub allow_host: Vec<String>,
    /// A target that looks live is meant.
    pub live: bool,
    /// Nothing is sent.
    pub dry_run: bool,
}

/// What is tried.
#[derive(Debug)]
pub enum Subject {
    /// The target of these files, the later ones laid over the first.
    Files(Vec<PathBuf>),
    /// The demo API, which is running.
    Demo {
        /// Where it is.
        address: SocketAddr,
        /// Where its clock can be moved.
        admin: SocketAddr,
    },
}

/// Runs scenarios against a target.
///
/// # Errors
/// When the arguments or the files are wrong, or the run cannot begin.
pub fn run(args: RunArgs) -> Result<Exit, Failure> {
    let scenarios = select::all(args.scenarios.as_deref())?;
    let job = Job {
        subject: Subject::Files(args.targets),
        scenarios: select::selected(scenarios, &args.selection)?,
        selection: args.selection,
        contract: args.contract,
        set: args.set,
        secrets: args.secrets,
        allow_host: args.allow_host,
        live: args.live,
        dry_run: args.dry_run,
    };
    runtime()?.block_on(carry_out(job, &args.output))
}

/// Starts the demo API and runs scenarios against it.
///
/// # Errors
/// When the demo cannot be started, or as for [`run`].
pub fn demo(args: DemoArgs) -> Result<Exit, Failure> {
    let scenarios = select::selected(select::built_in()?, &args.selection)?;
    runtime()?.block_on(async {
        let options = demo::Options {
            flaw: args.flaw,
            ..demo::Options::default()
        };
        let demo = demo::start(options)
            .await
            .map_err(|problem| Failure::Unable(problem.to_string()))?;
        let job = Job {
            subject: Subject::Demo {
                address: demo.address,
                admin: demo.admin,
            },
            scenarios,
            selection: args.selection,
            contract: None,
            set: Vec::new(),
            secrets: None,
            allow_host: Vec::new(),
            live: false,
            dry_run: false,
        };
        let exit = carry_out(job, &args.output).await;
        demo.stop().await;
        exit
    })
}

/// From the job to the exit code: the report is made, written and shown.
async fn carry_out(job: Job, output: &Output) -> Result<Exit, Failure> {
    let progress = Progress::new(output.quiet);
    let report = produce_report(&job, &progress.callback()).await;
    progress.finish();
    let report = report?;
    let failures = files::write_reports(&report, &output.reports, &output.options());
    let look = Look {
        color: true,
        width: screen::width().unwrap_or(console::FILE_WIDTH),
        detail: match (output.quiet, output.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        },
    };
    screen::say(&console::render(&report, &look))?;
    for failure in &failures {
        screen::remark(&failure.to_string());
    }
    if failures.is_empty() {
        Ok(Exit::of(&report, output.strict))
    } else {
        Ok(Exit::Unable)
    }
}

/// Plan, run, judge, grade: the one place where they meet.
async fn produce_report(job: &Job, progress: &Callback) -> Result<Report, Failure> {
    progress("reading the target", 0, job.scenarios.len());
    let target = match &job.subject {
        Subject::Files(files) => files
            .iter()
            .map(|file| file.display().to_string())
            .collect::<Vec<_>>()
            .join(" + "),
        Subject::Demo { address, .. } => format!("demo at http://{address}"),
    };
    Ok(Report {
        about: RunInfo {
            idemspec: env!("CARGO_PKG_VERSION").to_owned(),
            format: FORMAT,
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            target,
            seed: job.selection.seed.unwrap_or_default(),
            stopped: Some("this version cannot send scenarios yet".to_owned()),
            ..RunInfo::default()
        },
        verdict: None,
        checklist: Vec::new(),
        promises: Vec::new(),
        scenarios: Vec::new(),
        headlines: Vec::new(),
    })
}

/// What everything that waits runs on.
///
/// # Errors
/// When the system gives no threads.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|problem| Failure::Unable(format!("cannot start: {problem}")))
}
