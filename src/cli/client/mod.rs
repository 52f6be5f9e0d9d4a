//! Grading a client: the line of the other side, from scenarios and target over transcripts and
//! findings to the report.

mod baseline;
pub mod builtin;
mod upstream;
mod watch;

use super::again;
use super::args::{ClientArgs, DemoClientArgs, Output, Selection};
use super::exit::Exit;
use super::failure::Failure;
use super::gate::Known;
use super::present::present;
use super::progress::{Callback, Progress};
use super::record::{self, Recorded, RecordedClient, Texts};
use super::run::{FORMAT, contract_names, micros, unknown_operation, wide_runtime};
use super::select;
use super::server::asked_to_end;
use super::stage::own_executable;
use super::target::{self, Ready};
use crate::client::{self, Answers, Audit, Authority, CERTIFICATE, Clock, MOST_ATTEMPTS, Subject};
use crate::contract::Contract;
use crate::demo_client::{self, Habit};
use crate::grade::{ClientInfo, RunInfo};
use crate::judge;
use crate::plan::client::why_not;
use crate::scenario::client::ClientScenario;
use crate::target::client::base_path;
use crate::transcript::client::{ClientFacts, ClientTranscript};
use baseline::Baseline;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Semaphore;
use upstream::Behind;
use watch::Came;

/// Rounds that are added at once to those that showed too little: more would make this machine late.
const MORE_ROUNDS: u32 = 3;

/// What is asked for, with everything read and chosen.
struct Job {
    ready: Ready,
    scenarios: Vec<Arc<ClientScenario>>,
    /// The operation that is judged, where it is named.
    operation: Option<String>,
    upstream: Option<String>,
    command: Vec<String>,
    jobs: usize,
    /// The texts of the scenarios.
    texts: Texts,
    /// How it is run again.
    about: ClientInfo,
    /// Where what happened is written down.
    record: Option<PathBuf>,
    /// Where clients come to that were started elsewhere.
    listen: SocketAddr,
    /// How long they are waited for.
    time: Option<Duration>,
}

/// Grades a client.
///
/// # Errors
/// When the arguments or the files are wrong, or the audit cannot begin.
pub fn client(args: ClientArgs) -> Result<Exit, Failure> {
    refuse_what_is_about_apis(&args)?;
    if let Some(habit) = args.habit {
        return of_the_demo_client(habit, &args);
    }
    let Some(file) = &args.target else {
        return Err(Failure::Usage(
            "name the target file with --target, or a habit of the demo client with --habit"
                .to_owned(),
        ));
    };
    let ready = target::from_file(
        file,
        &args.filling.set,
        args.filling.secrets.as_deref(),
        &[],
        args.standard.contract.as_deref(),
    )?;
    if args.upstream.is_some() {
        target::refuse_live(&ready, args.filling.live)?;
    }
    let scenarios = select::all_client(args.standard.scenarios.as_deref())?;
    let scenarios = select::selected_client(scenarios, &args.selection)?;
    let operation = args.selection.operation.first().cloned();
    if let Some(name) = &operation
        && ready.target.operation(name).is_none()
    {
        return Err(unknown_operation(name, &ready.target));
    }
    let scenarios: Vec<Arc<ClientScenario>> = scenarios.into_iter().map(Arc::new).collect();
    let job = Job {
        ready,
        texts: Texts::of_clients(&scenarios, args.standard.scenarios.as_deref())?,
        scenarios,
        operation,
        about: again::client(&args),
        upstream: args.upstream,
        command: args.command,
        jobs: args.jobs.max(1),
        record: args.record,
        listen: args.listen,
        time: args.time,
    };
    shown(job, &args.output, args.selection.narrows())
}

/// Carries the job out, writes down what happened, and shows what it means.
fn shown(job: Job, output: &Output, narrowed: bool) -> Result<Exit, Failure> {
    Known::read(&output.gate)?;
    wide_runtime()?.block_on(async {
        let progress = Progress::new(output.quiet);
        let recorded = audited(&job, &progress.callback()).await;
        progress.finish();
        let recorded = recorded?;
        let record = job.record.as_ref();
        let failed = record.and_then(|file| record::write(&recorded, &job.texts, file).err());
        let failures = failed.into_iter().collect();
        let presented = present(recorded, &job.texts, output, narrowed, failures)?;
        Ok(presented.exit)
    })
}

/// Refuses wishes that only a run against an API can fulfil.
fn refuse_what_is_about_apis(args: &ClientArgs) -> Result<(), Failure> {
    let Selection {
        only_failed,
        shard,
        repeat,
        ..
    } = &args.selection;
    let wishes = [
        ("--write-contract", args.output.write_contract.is_some()),
        ("--only-failed", only_failed.is_some()),
        ("--shard", shard.is_some()),
        ("--repeat", repeat.is_some()),
    ];
    match wishes.iter().find(|(_, wished)| *wished) {
        Some((name, _)) => Err(Failure::Usage(format!(
            "{name} is about an API: `idemspec run` knows it"
        ))),
        None => Ok(()),
    }
}

fn of_the_demo_client(habit: Habit, args: &ClientArgs) -> Result<Exit, Failure> {
    let program = own_executable()
        .ok_or_else(|| Failure::Unable("this program cannot be found".to_owned()))?;
    let mut job = builtin::job(&program, habit, &args.selection, args.jobs.max(1))?;
    job.about = again::client(args);
    job.record.clone_from(&args.record);
    shown(job, &args.output, args.selection.narrows())
}

/// Is the demo client: what `--habit` runs as its command.
///
/// # Errors
/// When it is not told where the API is.
pub fn be_the_demo_client(args: &DemoClientArgs) -> Result<Exit, Failure> {
    let url = std::env::var("IDEMSPEC_URL")
        .map_err(|_| Failure::Usage("IDEMSPEC_URL says where the API is".to_owned()))?;
    let state = std::env::var("IDEMSPEC_STATE")
        .ok()
        .map(|folder| format!("{folder}/key"));
    match demo_client::run(args.habit, &url, state.as_deref()) {
        Ok(true) => Ok(Exit::Clean),
        Ok(false) => Ok(Exit::Failed),
        Err(why) => Err(Failure::Usage(why)),
    }
}

/// Audits a client; Ctrl-C ends it, and what was seen until then is reported.
async fn audited(job: &Job, progress: &Callback) -> Result<Recorded, Failure> {
    let began = Instant::now();
    let Job {
        ready,
        operation,
        upstream,
        command,
        jobs,
        about: client,
        ..
    } = job;
    let contract = |name: &str| ready.contracts.get(name);
    let first = operation
        .as_deref()
        .or_else(|| Some(ready.target.operations.first()?.name.as_str()));
    let own = first
        .and_then(contract)
        .ok_or_else(|| Failure::Usage("the target has no operation".to_owned()))?;
    let behind = Behind::start(ready, own, upstream.as_deref()).await?;
    let folder = Folder::new()?;
    let authority = Authority::new().map_err(Failure::Unable)?;
    let certificate = folder.0.join(CERTIFICATE);
    std::fs::write(&certificate, authority.certificate())
        .map_err(|problem| Failure::Unable(format!("{}: {problem}", certificate.display())))?;
    let audit = Audit {
        subject: Arc::new(Subject::new(&ready.target, contract)),
        upstream: behind.upstream.clone(),
        answers: Answers::of(own),
        authority: Arc::new(authority),
        folder: folder.0.clone(),
        command: command.clone(),
        client: ready.target.client.clone(),
        base_path: base_path(&ready.target),
        counts_refused: client::counts_refused(),
        clock: Clock::start(),
        permits: Arc::new(Semaphore::new(*jobs)),
    };
    let mut about = RunInfo {
        idemspec: env!("CARGO_PKG_VERSION").to_owned(),
        format: FORMAT,
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        target: ready.target.name.clone(),
        contract: contract_names(&ready.contracts),
        client: Some(client.clone()),
        base_urls: vec![behind.says()],
        file: ready.file.clone(),
        ..RunInfo::default()
    };
    let came = match command.is_empty() {
        true => watch::watch(&audit, job).await,
        false => run_all(&audit, job, own, &mut about, progress).await,
    };
    let (clients, headlines) = came.unwrap_or_else(|why| {
        about.stopped = Some(why);
        (Vec::new(), Vec::new())
    });
    behind.stop().await;
    about.requests = requests(&clients);
    about.took_micros = micros(began);
    Ok(Recorded {
        about,
        headlines,
        contracts: ready.contracts.clone(),
        cases: Vec::new(),
        clients,
    })
}

/// Runs the command for every case; the error is why nothing can be judged.
async fn run_all(
    audit: &Audit,
    job: &Job,
    first: &Contract,
    about: &mut RunInfo,
    progress: &Callback,
) -> Came {
    let baseline = tokio::select! {
        baseline = Baseline::of(audit, &job.ready, job.operation.as_deref()) => baseline?,
        true = asked_to_end() => return Err("it was told to stop".to_owned()),
    };
    let own = job
        .ready
        .contracts
        .get(&baseline.operation)
        .unwrap_or(first);
    let finished = Mutex::default();
    let all = all_cases(audit, &job.scenarios, &baseline, own, &finished, progress);
    tokio::select! {
        () = all => {}
        true = asked_to_end() => about.stopped = Some("it was told to stop".to_owned()),
    }
    let mut finished: Vec<(usize, RecordedClient)> = finished
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    finished.sort_by_key(|(place, _)| *place);
    let clients = finished.into_iter().map(|(_, case)| case).collect();
    Ok((clients, baseline.headlines(audit)))
}

/// What is known of a client of an operation before anything is tried.
fn facts_of(audit: &Audit, ready: &Ready, operation: &str) -> ClientFacts {
    let declared = ready.target.operation(operation);
    let has_lookup = declared.is_some_and(|declared| {
        let lookup = &declared.lookup;
        lookup.by_key.is_some() || lookup.by_reference.is_some() || lookup.by_identity.is_some()
    });
    ClientFacts {
        marked: audit.subject.is_marked(operation),
        has_lookup,
        counts_refused: audit.counts_refused,
        most_attempts: MOST_ATTEMPTS,
        longest_pause: ready.target.client.longest_pause,
        ..ClientFacts::default()
    }
}

/// Runs and judges every case, as many at once as there are permits.
async fn all_cases(
    audit: &Audit,
    scenarios: &[Arc<ClientScenario>],
    baseline: &Baseline,
    contract: &Contract,
    finished: &Mutex<Vec<(usize, RecordedClient)>>,
    progress: &Callback,
) {
    let cases: Vec<(&Arc<ClientScenario>, usize)> = scenarios
        .iter()
        .flat_map(|scenario| (0..scenario.cases.len()).map(move |case| (scenario, case)))
        .collect();
    let total = cases.len();
    let done = AtomicUsize::new(0);
    let all = cases
        .into_iter()
        .enumerate()
        .map(|(place, (scenario, case))| {
            let done = &done;
            async move {
                let case_done = one_case(audit, scenario, case, baseline, contract).await;
                let id = scenario.case_id(&scenario.cases[case]);
                progress(&id, done.fetch_add(1, Ordering::Relaxed) + 1, total);
                let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
                finished.push((place, case_done));
            }
        });
    futures::future::join_all(all).await;
}

async fn one_case(
    audit: &Audit,
    scenario: &Arc<ClientScenario>,
    place: usize,
    baseline: &Baseline,
    contract: &Contract,
) -> RecordedClient {
    let case = &scenario.cases[place];
    let subject = baseline.operation.as_str();
    let mut transcript = ClientTranscript {
        facts: baseline.facts.clone(),
        rounds: Vec::new(),
    };
    let skip = why_not(case, &audit.client, baseline.facts.operations);
    let id = scenario.case_id(case);
    let rounds = scenario.rounds;
    let mut upto = rounds.count;
    while skip.is_none() && transcript.rounds.len() < rounds.up_to as usize {
        let from = u32::try_from(transcript.rounds.len()).unwrap_or(u32::MAX);
        let more = (from..upto).map(|number| audit.round(&id, case, number + 1));
        transcript
            .rounds
            .extend(futures::future::join_all(more).await);
        let findings = judge::client::judge(subject, scenario, case, contract, &transcript);
        if !judge::client::wants_more_rounds(&findings) {
            break;
        }
        upto = rounds.up_to.min(upto + MORE_ROUNDS);
    }
    RecordedClient {
        operation: baseline.operation.clone(),
        scenario: Arc::clone(scenario),
        case: place,
        skip,
        transcript,
    }
}

fn requests(clients: &[RecordedClient]) -> u64 {
    let rounds = clients.iter().flat_map(|case| &case.transcript.rounds);
    rounds.map(|round| round.attempts.len() as u64).sum()
}

/// A folder for the audit, which goes with it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let name = format!("idemspec-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)
            .map_err(|problem| Failure::Unable(format!("{}: {problem}", path.display())))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A temporary folder that stays does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
