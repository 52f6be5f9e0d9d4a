//! The line itself: scenarios, plan, transcripts, findings, report, text.

use super::again;
use super::args::{DemoArgs, Output, RunArgs, Selection};
use super::deferred::{self, Deferred, FirstHalf};
use super::dry_run;
use super::exit::Exit;
use super::failure::Failure;
use super::gate::Known;
use super::many;
use super::merge;
use super::observe::{Observed, Subject, observe};
use super::places;
use super::present::present;
use super::progress::{Callback, Progress};
use super::record::{self, Recorded, Texts};
use super::screen;
use super::select;
use super::server::{self, Repeatable};
use super::stage::{self, Kept, Stage};
use super::target::{self, Ready};
use super::vantage;
use crate::contract::Contract;
use crate::demo;
use crate::demo::policy::KeyPolicy;
use crate::grade::Report;
use crate::plan::{self, Plan};
use crate::runner::{Agreement, Runner};
use crate::scenario::Scenario;
use crate::target::sink::Stable;
use crate::target::{HttpVersion, Target};
use crate::yaml;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The version of the JSON report.
pub(super) const FORMAT: u32 = 1;

/// What is asked for, with everything read and chosen.
struct Job {
    /// What is tried.
    ready: Ready,
    /// The scenarios, narrowed to the cases that were selected.
    scenarios: Vec<Arc<Scenario>>,
    /// Items and operations that it is narrowed to, and the seed.
    selection: Selection,
    /// Hosts that may be written to, beside those that the target names.
    allow_hosts: Vec<String>,
    /// The target file is held against the API first.
    check: bool,
    /// Nothing is sent.
    dry_run: bool,
    /// The command that runs it again.
    again: String,
    /// Where operations and own expectations stand.
    places: BTreeMap<String, String>,
    /// The texts of the scenarios.
    texts: Texts,
    /// When it begins.
    start_at: Option<SystemTime>,
    /// What is agreed on, if several places make the same run.
    agreement: Option<Agreement>,
    /// Where is kept what goes on another day.
    defer: Option<PathBuf>,
    /// What the variables of the target file were set to.
    set: Vec<(String, String)>,
    /// Where all that is made is written down at once.
    ledger: Option<PathBuf>,
    /// Where the run is written down.
    record: Option<PathBuf>,
}

/// Runs scenarios against targets.
///
/// # Errors
/// When the arguments or the files are wrong, or the run cannot begin.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if let [target] = args.targets.as_slice() {
        return one(args, target, &args.output, None).map(|(exit, _)| exit);
    }
    many::run(&args.targets, &args.output, |target, output, name| {
        one(args, target, output, Some(name))
    })
}

fn one(
    args: &RunArgs,
    target: &Path,
    output: &Output,
    name: Option<&str>,
) -> Result<(Exit, Option<Report>), Failure> {
    let scenarios = select::all(args.standard.scenarios.as_deref())?;
    let ready = target::from_file(
        target,
        &args.access.filling.set,
        args.access.filling.secrets.as_deref(),
        &args.access.allow_host,
        args.standard.contract.as_deref(),
    )?
    .spread();
    for warning in &ready.warnings {
        screen::remark(&warning.render(true));
    }
    target::refuse_live(&ready, args.access.filling.live || args.dry_run)?;
    let agreement = vantage::agreement(args, output, &ready.target)?;
    let scenarios = shared(select::selected(scenarios, &args.selection)?);
    let folder = args.standard.scenarios.as_deref();
    let own =
        |path: &Path| name.map_or_else(|| path.to_owned(), |name| many::with_name(path, name));
    let job = Job {
        again: again::run(args, target),
        places: places::of(&ready.target, &scenarios, folder),
        texts: Texts::of(&scenarios, folder)?,
        ready,
        scenarios,
        selection: args.selection.clone(),
        allow_hosts: args.access.allow_host.clone(),
        check: !args.no_check,
        dry_run: args.dry_run,
        record: args.record.as_deref().map(own),
        start_at: args.start_at.filter(|_| agreement.is_none()),
        agreement,
        defer: args.defer.as_deref().map(own),
        set: args.access.filling.set.clone(),
        ledger: args.ledger.as_deref().map(own),
    };
    runtime()?.block_on(carry_out(&job, output))
}

fn shared(scenarios: Vec<Scenario>) -> Vec<Arc<Scenario>> {
    scenarios.into_iter().map(Arc::new).collect()
}

/// Starts the demo API and runs scenarios against it.
///
/// # Errors
/// When the demo cannot be started, or as for [`run`].
pub fn demo(args: DemoArgs) -> Result<Exit, Failure> {
    let again = again::demo(&args);
    let named = args.contract.as_deref();
    let kept = match args.variant {
        Some(variant) => {
            let own = Trial::of(variant)?;
            Trial {
                contract: named.map(target::contract).transpose()?.or(own.contract),
                ..own
            }
        }
        None => {
            Trial::keeping(named.or_else(|| args.flaw.iter().find_map(|flaw| flaw.contract())))?
        }
    };
    let trial = Trial {
        kept: kept.kept,
        options: demo::Options {
            flaws: target::planted(&args.flaw)?,
            ..kept.options
        },
        selection: args.selection,
        contract: kept.contract,
        settle: kept.settle,
        events: kept.events,
        sent: None,
        http2: kept.http2,
    };
    runtime()?.block_on(async {
        let (stage, mut job) = demo_job(trial).await?;
        job.again = again;
        job.check = !args.no_check;
        job.record = args.record;
        let done = carry_out(&job, &args.output).await;
        stage.clear().await;
        done.map(|(exit, _)| exit)
    })
}

/// A demo API that is started to be tried, and what is tried on it.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The demo.
    pub options: demo::Options,
    /// What its options were made of.
    pub kept: Kept,
    /// The scenarios.
    pub selection: Selection,
    /// What it is graded against; `None` is its own contract.
    pub contract: Option<Contract>,
    /// How long its effects may take to show; `None` is as its target file says.
    pub settle: Option<Duration>,
    /// What is promised of its events.
    pub events: demo::Events,
    /// Where keys are sent; `None` is where the demo reads them.
    pub sent: Option<KeyPolicy>,
    /// HTTP/2 is spoken, and not HTTP/1.1.
    pub http2: bool,
}

impl Trial {
    /// The trial of everything on a demo that keeps a shipped contract, or its own.
    fn keeping(name: Option<&str>) -> Result<Trial, Failure> {
        let contract = name.map(target::contract).transpose()?;
        Ok(Trial {
            options: target::demo_options(contract.as_ref())?,
            kept: name.map_or(Kept::Nothing, |name| Kept::Contract(name.to_owned())),
            contract,
            ..Trial::default()
        })
    }

    /// The trial of everything on a demo with a flaw, under the contract under which that shows.
    ///
    /// # Errors
    /// When there is no such contract, which a test excludes.
    pub fn with(flaw: demo::Flaw) -> Result<Trial, Failure> {
        let own = Trial::keeping(flaw.contract())?;
        Ok(Trial {
            options: demo::Options {
                flaws: flaw.into(),
                ..own.options
            },
            ..own
        })
    }

    /// The trial of everything on a variant, under the contract that allows it.
    ///
    /// # Errors
    /// As for [`target::allowing`].
    pub fn of(variant: &'static demo::Variant) -> Result<Trial, Failure> {
        Ok(Trial {
            options: variant.options(),
            kept: Kept::Variant(variant),
            contract: Some(target::allowing(variant)?),
            settle: variant.settle,
            events: variant.events,
            http2: variant.http2,
            ..Trial::default()
        })
    }

    /// The report of a run against the demo, which is stopped after it. It shows and writes nothing.
    ///
    /// # Errors
    /// As for [`demo`].
    pub async fn report(self) -> Result<Report, Failure> {
        Ok(Box::pin(self.record()).await?.into_report())
    }

    /// What happened in a run against the demo, which is stopped after it. It shows and writes
    /// nothing.
    ///
    /// # Errors
    /// As for [`demo`].
    pub async fn record(self) -> Result<Recorded, Failure> {
        // Boxed: many trials are polled on one stack.
        let (stage, job) = Box::pin(demo_job(self)).await?;
        let silent: Callback = Box::new(|_, _, _| {});
        let recorded = match planned(&job) {
            Ok(plan) => Box::pin(observed(&job, &plan, 0, &silent, |_| {})).await,
            Err(failure) => Err(failure),
        };
        stage.clear().await;
        recorded.map(|observed| observed.recorded)
    }
}

async fn demo_job(trial: Trial) -> Result<(Stage, Job), Failure> {
    let Trial {
        options,
        kept,
        selection,
        contract,
        settle,
        events,
        sent,
        http2,
    } = trial;
    let scenarios = select::selected(select::built_in()?, &selection)?;
    let set = stage::set(options, &scenarios, kept, contract, sent);
    let (stage, mut ready) = Box::pin(set).await?;
    ready.target.settle = settle.unwrap_or(ready.target.settle);
    if let (demo::Events::AsTheyCome, Some(sink)) = (events, &mut ready.target.sink) {
        sink.ordered = false;
        sink.stable = Stable::default();
    }
    if http2 {
        ready.target.http = HttpVersion::Http2;
    }
    let scenarios = shared(scenarios);
    let job = Job {
        places: places::of(&ready.target, &scenarios, None),
        texts: Texts::of(&scenarios, None)?,
        ready,
        scenarios,
        selection,
        start_at: None,
        agreement: None,
        defer: None,
        set: Vec::new(),
        ledger: None,
        allow_hosts: Vec::new(),
        check: false,
        dry_run: false,
        again: String::new(),
        record: None,
    };
    Ok((stage, job))
}

/// What of the job runs.
fn planned(job: &Job) -> Result<Plan, Failure> {
    for name in &job.selection.operation {
        if job.ready.target.operation(name).is_none() {
            return Err(unknown_operation(name, &job.ready.target));
        }
    }
    let mut plan = plan::plan(
        &job.ready.target,
        &job.ready.contracts,
        &job.scenarios,
        &plan::Selection {
            operations: job.selection.operation.clone(),
            defer: job.defer.is_some(),
            ..plan::Selection::default()
        },
    );
    if job.agreement.is_some() {
        plan.narrow_to_vantage(&job.ready.target);
    }
    select::narrow(&mut plan, &job.selection)?;
    if plan.cases.is_empty() {
        return Err(Failure::Usage(
            "no scenario that was selected runs on the operations that were selected".to_owned(),
        ));
    }
    Ok(plan)
}

/// From the job to the exit code: the report is made, written and shown.
async fn carry_out(job: &Job, output: &Output) -> Result<(Exit, Option<Report>), Failure> {
    let plan = planned(job)?;
    if job.dry_run {
        screen::say(&dry_run::describe(&job.ready.target, &plan))?;
        return Ok((Exit::Clean, None));
    }
    Known::read(&output.gate)?;
    if let Some(file) = &job.defer {
        deferred::refuse_waiting(file)?;
    }
    if let Some(wait) = job
        .start_at
        .and_then(|at| at.duration_since(SystemTime::now()).ok())
    {
        screen::remark(&format!(
            "waiting {:.1} s for the start",
            wait.as_secs_f64()
        ));
        tokio::time::sleep(wait).await;
    }
    let mut runs = Vec::new();
    for turn in 0..job.selection.repeat.unwrap_or(1) {
        let progress = Progress::new(output.quiet);
        let watch = progress.callback();
        let observed = observed(job, &plan, turn, &watch, server::stop_on_interrupt).await;
        progress.finish();
        let recorded = defer(job, observed?)?;
        let is_over = recorded.about.stopped.is_some();
        runs.push(recorded);
        if is_over {
            break;
        }
    }
    let recorded = merge::join(runs).map_err(Failure::Unable)?;
    let record = job.record.as_ref();
    let failed = record.and_then(|file| record::write(&recorded, &job.texts, file).err());
    if job.agreement.is_some() {
        return match failed {
            Some(failure) => Err(failure),
            None => Ok((vantage::recorded(&recorded, output.quiet)?, None)),
        };
    }
    let failures = failed.into_iter().collect();
    let narrowed = job.selection.narrows();
    let only_deferred = only_deferred(job, &recorded);
    let presented = present(recorded, &job.texts, output, narrowed, failures)?;
    let exit = match presented.exit {
        // All of it goes on another day: that nothing was shown today is as it was meant.
        Exit::Unable if only_deferred => Exit::Clean,
        exit => exit,
    };
    Ok((exit, Some(presented.report)))
}

/// One run of the job. `turn` counts repetitions, from 0.
async fn observed(
    job: &Job,
    plan: &Plan,
    turn: u32,
    progress: &Callback,
    starting: impl FnOnce(&Arc<Runner>),
) -> Result<Observed, Failure> {
    let first_seed = job
        .selection
        .seed
        .unwrap_or_else(|| u64::from(std::process::id()));
    let subject = Subject {
        ready: &job.ready,
        allow_hosts: &job.allow_hosts,
        check: job.check,
        again: &job.again,
        places: &job.places,
        ledger: job.ledger.as_deref(),
        repeatable: Repeatable {
            seed: first_seed.wrapping_add(u64::from(turn)),
            agreement: job.agreement.clone(),
            origin: None,
            effort: job.selection.effort.effort(),
        },
    };
    observe(subject, plan, &BTreeMap::new(), progress, starting).await
}

/// Writes down what goes on another day, and leaves it out of today's report.
fn defer(job: &Job, observed: Observed) -> Result<Recorded, Failure> {
    let Some(file) = &job.defer else {
        return Ok(observed.recorded);
    };
    let first = FirstHalf {
        set: job.set.clone(),
        allow_hosts: job.allow_hosts.clone(),
        digest: job.ready.digest.clone(),
        places: job.places.clone(),
    };
    let (today, later) = Deferred::split(observed, &job.texts, first);
    match later {
        Some(later) => later.write(file)?,
        None => screen::remark(&format!(
            "nothing has to grow old for longer than the run lasts: {} was not written",
            file.display()
        )),
    }
    Ok(today)
}

/// Whether keys were made for another day, and nothing else was to run.
fn only_deferred(job: &Job, recorded: &Recorded) -> bool {
    job.defer.as_ref().is_some_and(|file| file.exists())
        && recorded.about.stopped.is_none()
        && recorded.cases.iter().all(|case| case.skip.is_some())
}

pub(super) fn unknown_operation(wanted: &str, target: &Target) -> Failure {
    let names = || target.operations.iter().map(|known| known.name.as_str());
    Failure::Usage(match yaml::nearest(wanted, names()) {
        Some(near) => format!("there is no operation `{wanted}`: did you mean `{near}`?"),
        None => format!(
            "there is no operation `{wanted}`: the target has {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    })
}

pub(super) fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// The names of the contracts in use, once each. What promises nothing is not worth a name beside one
/// that does.
pub(super) fn contract_names(contracts: &BTreeMap<String, Contract>) -> String {
    let mut names: Vec<&str> = contracts
        .values()
        .map(|contract| contract.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > 1 {
        names.retain(|name| *name != "generic");
    }
    names.join(", ")
}

/// What a run is carried out on: half of the cores, so that a target on the same machine has the others.
/// Requests that wait for one another are also handed on from task to task without waking a thread.
///
/// # Errors
/// When the system gives no threads.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    runtime_on(cores().div_ceil(2))
}

/// What many runs at once are carried out on, or what others are served by: all cores.
///
/// # Errors
/// When the system gives no threads.
pub(super) fn wide_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    runtime_on(cores())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn runtime_on(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    // As much as the first thread of a program has: cases run on these.
    const ROOM: usize = 8 * 1024 * 1024;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_stack_size(ROOM)
        .enable_all()
        .build()
        .map_err(|problem| Failure::Unable(format!("cannot start: {problem}")))
}
