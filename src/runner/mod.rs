//! Does what the plan says and writes down what happens: the only module that talks to a target.
//! It never judges; the one thing that it decides is when a retry may stop.

mod answer;
mod back_off;
mod base;
mod baseline;
mod board;
mod burst;
mod case;
mod check;
mod cleanup;
mod command;
mod defer;
mod documents;
mod exchange;
mod fetch;
mod finish;
mod first_sent;
mod fixture;
mod guard;
mod hook;
mod insist;
mod keys;
mod lateness;
mod ledger;
mod lookup;
mod made;
mod mask;
mod neighbours;
mod pace;
mod probe;
mod publish;
mod recheck;
mod rendering;
mod result;
mod retry;
mod round;
mod server;
mod settle;
mod setup;
mod sighting;
mod sign;
mod signals;
mod sink;
mod spare;
mod spec;
mod timing;
mod token;
mod trial;
mod turns;
mod vantage;
mod wait;
pub mod wire;
mod words;
mod world;

pub use check::EFFECTS as CHECK_EFFECTS;
pub use defer::{Origin, Suspended, WallTime};
pub use lateness::Lateness;
pub use server::free_port;
pub use setup::{Effort, RunError, Setup, Shown};
pub use vantage::Agreement;

use crate::plan::{Lane, Plan, PlannedCase};
use crate::scenario::{PrincipalRole, Step};
use crate::target_check::TargetCheck;
use crate::transcript::Transcript;
use baseline::baseline;
use case::{Ended, needed_baselines};
use futures::StreamExt;
use neighbours::{Neighbours, neighbours};
use round::locked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use world::{BaselineKey, Cast, World};

/// Told what begins now, how many cases are done, and how many there are; what begins is empty where
/// only a case ended.
pub type Watch = Box<dyn Fn(&str, usize, usize) + Send + Sync>;

/// Cases of the shared lane that run at once.
const SHARED_AT_ONCE: usize = 8;

/// For how long a token must be good when a round begins: most rounds take less.
const ROUND: Duration = Duration::from_secs(60);

/// Why a case shows nothing in which the tool itself broke off.
const CRASHED: &str = "idemspec crashed in this case, which is a bug of its own";

/// What a run brought.
#[derive(Debug, Default)]
pub struct RunResult {
    /// A transcript for each case of the plan, in its order; skipped ones are empty.
    pub transcripts: Vec<Transcript>,
    /// Requests that were sent to the operations.
    pub requests: u64,
    /// Why the target could not be tried at all.
    pub stopped: Option<String>,
    /// What a reader must know first.
    pub headlines: Vec<String>,
    /// Cases that stopped where their target's time has to pass, by their place in the plan. Their
    /// transcripts hold what is over.
    pub suspended: BTreeMap<usize, Suspended>,
}

/// A run that can be stopped from outside.
pub struct Runner {
    world: Arc<World>,
}

impl Runner {
    /// Gets ready to run; sends nothing.
    ///
    /// # Errors
    /// A base URL that cannot be used, a host that may not be written to, unusable certificates.
    pub fn new(setup: Setup) -> Result<Runner, RunError> {
        World::new(setup).map(|world| Runner {
            world: Arc::new(world),
        })
    }

    /// Starts nothing more; what is under way ends as it will.
    pub fn stop(&self) {
        self.world.stop();
    }

    /// Whether it was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.world.is_stopped()
    }

    /// Holds the target file against the API, for the operations of the plan; of each, `all`
    /// lines or as far as the first that makes the file useless. A run uses again what was
    /// measured.
    pub async fn check(&self, plan: &Plan, all: bool) -> TargetCheck {
        check::check(&self.world, plan, all).await
    }

    /// Removes what was made, where the target file says how; tells what it could not remove.
    pub async fn clean_up(&self) -> Vec<String> {
        cleanup::clean_up(&self.world).await
    }

    /// Writes down at once, in a file, all that is made, so that it can be cleaned up whatever becomes
    /// of the process.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn keep_ledger(&self, path: &Path) -> std::io::Result<()> {
        self.world.ledger.keep_in(path)
    }

    /// Takes something for made by an operation, to be cleaned up.
    pub fn remember(&self, operation: &str, identity: &str) {
        self.world.ledger.remember(operation, identity);
    }

    /// Requests that were sent to the operations so far.
    pub fn requests(&self) -> u64 {
        self.world.spent()
    }

    /// Begins to receive events, and starts the target's own server, if the file says so; both end
    /// with the runner at the latest.
    ///
    /// # Errors
    /// The server was not ready in time, or ended by itself; with what it wrote last.
    pub async fn start_server(&self) -> Result<(), RunError> {
        if let Some(receiver) = &self.world.receiver {
            receiver.serve()?;
        }
        match &self.world.target.server {
            Some(server) => self.world.server.start(&self.world, server).await,
            None => Ok(()),
        }
        .map_err(RunError)
    }

    /// Ends the server that was started, in order.
    pub async fn stop_server(&self) {
        self.world.server.stop().await;
        self.world.server.clear().await;
    }

    /// Ends the server that was started, at once: for a process that is about to exit.
    pub fn kill_server(&self) {
        self.world.server.kill_now();
    }

    /// What a second half of the run must know of it.
    pub fn origin(&self) -> Origin {
        Origin {
            run: self.world.run.clone(),
            started: WallTime(self.world.run_started),
        }
    }

    /// Runs the plan to its end, as far as that is today. The cases of `halves`, by their place in the
    /// plan, go on where they had stopped.
    pub async fn run(
        &self,
        plan: &Plan,
        halves: &BTreeMap<usize, Suspended>,
        watch: &Watch,
    ) -> RunResult {
        let mut result = RunResult {
            transcripts: vec![Transcript::default(); plan.cases.len()],
            ..RunResult::default()
        };
        let ready = match self.reachable().await {
            Ok(()) => self.world.ready_tokens(ROUND).await,
            Err(why) => Err(why),
        };
        if let Err(why) = ready {
            result.stopped = Some(why.clone());
            result.suspended.clone_from(halves);
            for (case, transcript) in plan.cases.iter().zip(&mut result.transcripts) {
                if case.skip.is_none() {
                    transcript.broken.push(why.clone());
                }
            }
            return result;
        }
        let total = plan.cases.iter().filter(|case| case.skip.is_none()).count();
        watch("baseline", 0, total);
        self.choose_variants(plan).await;
        if let Some(why) = self.baselines(plan, &mut result.headlines).await {
            result.stopped = Some(why);
        }
        let side_by_side = self.may_run_side_by_side(plan, &mut result.headlines).await;
        let side_by_side = side_by_side && self.world.vantage.is_none();
        if let Some(vantage) = &self.world.vantage {
            result.headlines.extend(vantage.late());
            watch("the common start", 0, total);
            vantage.turn(&self.world, 0).await;
        }
        let turns = turns(plan);
        let turns = &turns;
        let done = &AtomicUsize::new(0);
        let begins = &|what: &str| watch(what, done.load(Ordering::Relaxed), total);
        let mut late: Vec<(usize, JoinHandle<Ended>)> = Vec::new();
        for lane in [
            Lane::Timed,
            Lane::Shared,
            Lane::Alone,
            Lane::Last,
            Lane::Crash,
            Lane::Clock,
        ] {
            let cases: Vec<(usize, &PlannedCase)> = plan
                .cases
                .iter()
                .enumerate()
                .filter(|(_, case)| case.lane == lane && case.skip.is_none())
                .collect();
            // These disturb the readings that are still to come.
            let disturbs = matches!(lane, Lane::Alone | Lane::Last | Lane::Crash | Lane::Clock);
            if disturbs && !cases.is_empty() {
                begins("the late readings");
                collect(&mut late, &mut result).await;
            }
            let at_once = if lane == Lane::Shared && side_by_side {
                SHARED_AT_ONCE
            } else {
                1
            };
            let mut running = futures::stream::iter(cases)
                .map(|(index, case)| async move {
                    let id = case.scenario.case_id(&case.scenario.cases[case.case]);
                    begins(&format!("{}/{id}", case.subject));
                    let half = halves.get(&index);
                    let ended = self.survived(case, turns[index], side_by_side, half);
                    (index, ended.await)
                })
                .buffer_unordered(at_once);
            while let Some((index, pending)) = running.next().await {
                let number = done.fetch_add(1, Ordering::Relaxed) + 1;
                watch("", number, total);
                late.push((index, pending));
                // The next one ends the server.
                if lane == Lane::Crash {
                    collect(&mut late, &mut result).await;
                }
            }
        }
        if !late.is_empty() {
            begins("the late readings");
        }
        collect(&mut late, &mut result).await;
        if self.world.is_target_gone() && result.stopped.is_none() {
            result.stopped =
                Some("the target stopped taking connections during the run".to_owned());
        }
        if let Some(vantage) = &self.world.vantage {
            // The others read for as long as a round takes.
            begins("the other places");
            vantage.turn(&self.world, last_turn(plan) + 1).await;
        }
        begins("the clean-up");
        cleanup::clean_up(&self.world).await;
        result.requests = self.world.spent();
        result
    }

    /// Whether the target takes connections at all.
    async fn reachable(&self) -> Result<(), String> {
        for base in &self.world.bases {
            let endpoint = base.endpoint()?;
            match self.world.connect(&endpoint, true).await {
                Ok(connection) => self.world.spare.keep(&endpoint, connection),
                Err(unreachable) => {
                    return Err(format!(
                        "the target at {} cannot be reached: {}",
                        base.said, unreachable.says
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether requests may run side by side on every operation that works. Where keys lose each
    /// other's records, that is said in a headline.
    async fn may_run_side_by_side(&self, plan: &Plan, headlines: &mut Vec<String>) -> bool {
        let mut tried: BTreeSet<&str> = BTreeSet::new();
        let mut peaceful = true;
        for case in plan.cases.iter().filter(|case| case.skip.is_none()) {
            if !tried.insert(&case.subject) {
                continue;
            }
            let key = BaselineKey {
                operation: case.subject.clone(),
                principal: PrincipalRole::Owner,
                variants: Vec::new(),
            };
            let Some(latency) = baseline(&self.world, key).await.latency else {
                continue;
            };
            match neighbours(&self.world, &case.subject, latency.p50).await {
                Neighbours::Peaceful => {}
                Neighbours::Slow => peaceful = false,
                Neighbours::InTurn(says) => {
                    headlines.push(says.clone());
                    locked(&self.world.in_turn).insert(case.subject.clone(), says);
                    peaceful = false;
                }
                Neighbours::Forgetful(says) => {
                    headlines.push(says);
                    peaceful = false;
                }
            }
        }
        peaceful
    }

    /// Finds out which declared variants the scenarios' names mean.
    async fn choose_variants(&self, plan: &Plan) {
        let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
        for case in plan.cases.iter().filter(|case| case.skip.is_none()) {
            let cast = Cast::of(case);
            for request in case.scenario.cases[case.case]
                .leaves()
                .filter_map(Step::request)
            {
                if let Ok(name) = cast.name(request.operation.unwrap_or_default()) {
                    wanted.extend(
                        request
                            .variants
                            .iter()
                            .map(|variant| (name.to_owned(), variant.clone())),
                    );
                }
            }
        }
        for (operation, variant) in wanted {
            if let Ok(operation) = self.world.operation(&operation) {
                trial::choose(&self.world, operation, &variant).await;
            }
        }
    }

    /// Measures all baselines. Returns why the target cannot be tried, if no operation works.
    async fn baselines(&self, plan: &Plan, headlines: &mut Vec<String>) -> Option<String> {
        let mut keys: Vec<BaselineKey> = Vec::new();
        for case in plan.cases.iter().filter(|case| case.skip.is_none()) {
            for (_, key) in needed_baselines(case) {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        let mut first_reason = None;
        let mut works = keys.is_empty();
        for key in keys {
            let measured = baseline(&self.world, key.clone()).await;
            if key.principal == PrincipalRole::Owner && key.variants.is_empty() {
                match &measured.broken {
                    Some(why) => {
                        headlines.push(why.clone());
                        first_reason.get_or_insert_with(|| why.clone());
                    }
                    None => {
                        works = true;
                        headlines.extend(measured.told(&key.operation));
                        if measured.natural {
                            headlines.push(format!(
                                "{}: an equal payload under a new key makes nothing new, so duplicates are also prevented by the data",
                                key.operation
                            ));
                        }
                    }
                }
            }
        }
        if works {
            None
        } else {
            first_reason.map(|why| format!("no operation of the target works: {why}"))
        }
    }
}

/// For each case of the plan the turn of its first round, in the order in which they run.
fn turns(plan: &Plan) -> Vec<u32> {
    let mut turns = vec![0; plan.cases.len()];
    let mut order: Vec<usize> = (0..plan.cases.len()).collect();
    order.sort_by_key(|&index| (plan.cases[index].lane, index));
    let mut next = 0;
    for index in order {
        turns[index] = next;
        if plan.cases[index].skip.is_none() {
            next += plan.cases[index].scenario.rounds.count;
        }
    }
    turns
}

/// The turn after all rounds.
fn last_turn(plan: &Plan) -> u32 {
    let running = plan.cases.iter().filter(|case| case.skip.is_none());
    running.map(|case| case.scenario.rounds.count).sum()
}

/// Waits for the late readings that are still to come.
async fn collect(late: &mut Vec<(usize, JoinHandle<Ended>)>, result: &mut RunResult) {
    for (index, pending) in late.drain(..) {
        let ended = pending.await.unwrap_or_else(|error| {
            Ended::broken(match error.is_panic() {
                true => CRASHED.to_owned(),
                false => format!("the case was lost: {error}"),
            })
        });
        result.transcripts[index] = ended.transcript;
        if !ended.suspended.is_empty() {
            result.suspended.insert(index, ended.suspended);
        }
    }
}
