//! Does what the plan says and writes down what happens: the only module that talks to a target.
//! It never judges; the one thing that it decides is when a retry may stop.

mod answer;
mod baseline;
mod board;
mod burst;
mod check;
mod cleanup;
mod command;
mod documents;
mod exchange;
mod fetch;
mod first_sent;
mod fixture;
mod guard;
mod hook;
mod keys;
mod lateness;
mod ledger;
mod lookup;
mod made;
mod mask;
mod neighbours;
mod probe;
mod publish;
mod recheck;
mod rendering;
mod round;
mod server;
mod settle;
mod sighting;
mod sign;
mod signals;
mod sink;
mod spec;
mod timing;
mod trial;
mod vantage;
pub mod wire;
mod words;
mod world;

pub use check::EFFECTS as CHECK_EFFECTS;
pub use lateness::Lateness;
pub use server::free_port;
pub use vantage::Agreement;
pub use world::{Effort, RunError, Setup, Shown};

use crate::plan::{Lane, Plan, PlannedCase};
use crate::scenario::{Case, Need, OperationRole, PrincipalRole, Request, Rounds, Step};
use crate::target::operation::{Operation, Reading as What};
use crate::target_check::TargetCheck;
use crate::transcript::{LatencyOf, ProbeFacts, ReadingKind, SoFar, Transcript};
use baseline::{Baseline, baseline};
use futures::{FutureExt, StreamExt};
use neighbours::{Neighbours, neighbours};
use round::{CaseContext, Ran, locked};
use sink::speaks_of_events;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use timing::too_quick;
use tokio::task::JoinHandle;
use world::{BaselineKey, Cast, World};

/// Told what begins now, how many cases are done, and how many there are; what begins is empty where
/// only a case ended.
pub type Watch = Box<dyn Fn(&str, usize, usize) + Send + Sync>;

/// Cases of the shared lane that run at once.
const SHARED_AT_ONCE: usize = 8;

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

    /// Runs the plan to its end.
    pub async fn run(&self, plan: &Plan, watch: &Watch) -> RunResult {
        let mut result = RunResult {
            transcripts: vec![Transcript::default(); plan.cases.len()],
            ..RunResult::default()
        };
        if let Err(why) = self.reachable().await {
            result.stopped = Some(why.clone());
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
        let mut late: Vec<(usize, JoinHandle<Transcript>)> = Vec::new();
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
                collect(&mut late, &mut result.transcripts).await;
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
                    (index, self.survived(case, turns[index], side_by_side).await)
                })
                .buffer_unordered(at_once);
            while let Some((index, pending)) = running.next().await {
                let number = done.fetch_add(1, Ordering::Relaxed) + 1;
                watch("", number, total);
                late.push((index, pending));
                // The next one ends the server.
                if lane == Lane::Crash {
                    collect(&mut late, &mut result.transcripts).await;
                }
            }
        }
        if !late.is_empty() {
            begins("the late readings");
        }
        collect(&mut late, &mut result.transcripts).await;
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
            let (endpoint, _) = world::endpoint(base.as_str())?;
            match self.world.connect(&endpoint, true).await {
                Ok(connection) => self.world.keep(&endpoint, connection),
                Err(unreachable) => {
                    return Err(format!(
                        "the target at {base} cannot be reached: {}",
                        unreachable.says
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

    /// Runs a case's rounds; a bug of the tool takes no other case with it.
    async fn survived(
        &self,
        planned: &PlannedCase,
        turn: u32,
        side_by_side: bool,
    ) -> JoinHandle<Transcript> {
        let case = AssertUnwindSafe(self.case(planned, turn, side_by_side)).catch_unwind();
        case.await.unwrap_or_else(|_| {
            tokio::spawn(std::future::ready(Transcript {
                broken: vec![CRASHED.to_owned()],
                ..Transcript::default()
            }))
        })
    }

    /// Runs a case's rounds. What is left, the late readings, goes on by itself.
    ///
    /// `turn` is that of its first round, where several places make the same run.
    async fn case(
        &self,
        planned: &PlannedCase,
        turn: u32,
        side_by_side: bool,
    ) -> JoinHandle<Transcript> {
        let world = &self.world;
        let cast = Cast::of(planned);
        let case = &planned.scenario.cases[planned.case];
        let mut transcript = Transcript {
            settle: world.target.settle,
            ..Transcript::default()
        };
        let mut baselines: Vec<(OperationRole, BaselineKey, Baseline)> = Vec::new();
        for (role, key) in needed_baselines(planned) {
            let measured = baseline(world, key.clone()).await;
            transcript.broken.extend(measured.broken.clone());
            baselines.push((role, key, measured));
        }
        if rechecks(planned) {
            // Whatever does not work names the same nothing again at the end.
            let key = BaselineKey {
                operation: planned.subject.clone(),
                principal: PrincipalRole::Owner,
                variants: Vec::new(),
            };
            transcript
                .broken
                .extend(baseline::found_broken(world, &key).await);
        }
        transcript.latency = baselines
            .iter()
            .find(|(role, key, _)| *role == OperationRole::Subject && key.variants.is_empty())
            .and_then(|(_, _, baseline)| baseline.latency);
        transcript.further_latencies = baselines
            .iter()
            .filter_map(|(role, key, baseline)| {
                Some(LatencyOf {
                    operation: *role,
                    principal: key.principal,
                    variants: key.variants.clone(),
                    latency: baseline.latency?,
                })
            })
            .collect();
        transcript.not_applicable = too_quick(case, world.contract(&planned.subject), &transcript);
        transcript.probes = self.probe_facts(case, &cast, &baselines);
        if planned.scenario.needs.contains(&Need::Documents) {
            transcript.documents = world.document_facts(&planned.subject).await;
        }
        if speaks_of_events(&planned.scenario) {
            transcript
                .broken
                .extend(world.register_receiver().await.err());
        }
        if world.is_stopped() {
            transcript.broken.push("the run was stopped".to_owned());
        }
        let mut rounds: Vec<Ran> = Vec::new();
        if transcript.broken.is_empty() && transcript.not_applicable.is_none() {
            let context = CaseContext::new(world, cast.clone(), &planned.scenario, case);
            let plan = planned.scenario.rounds;
            let at_once = if side_by_side { plan.side_by_side } else { 1 };
            let mut ran = 0;
            while ran < plan.count || self.more_rounds(planned, &transcript, &rounds) {
                if let Err(why) = world.spend(0) {
                    transcript.broken.push(why);
                    break;
                }
                if locked(&context.not_applicable).is_some() {
                    break;
                }
                let until = if ran < plan.count {
                    plan.count
                } else {
                    plan.up_to
                };
                let together = ran + 1..=until.min(ran + at_once);
                if let Some(vantage) = &world.vantage {
                    vantage.turn(world, turn + ran).await;
                }
                ran = *together.end();
                rounds.extend(
                    futures::future::join_all(together.map(|number| context.round(number))).await,
                );
            }
            if case
                .leaves()
                .any(|step| matches!(step, Step::Elapse { .. }))
            {
                world.ledger.forget_keys();
            }
            transcript.not_applicable = locked(&context.not_applicable).take();
        }
        let world = Arc::clone(world);
        tokio::spawn(async move {
            transcript.rounds = late_readings(&world, &cast, rounds).await;
            transcript
        })
    }

    /// Whether a case goes on beyond its planned rounds.
    fn more_rounds(&self, planned: &PlannedCase, so_far: &Transcript, rounds: &[Ran]) -> bool {
        let plan = planned.scenario.rounds;
        let ran = rounds.len() as u32;
        // The others make no more rounds because of what is seen here.
        if ran >= plan.up_to || self.world.vantage.is_some() {
            return false;
        }
        let transcript = Transcript {
            rounds: rounds.iter().map(|ran| ran.round.clone()).collect(),
            ..so_far.clone()
        };
        let case = &planned.scenario.cases[planned.case];
        let contract = self.world.contract(&planned.subject);
        let so_far = (self.world.shown)(&planned.scenario, case, contract, &transcript);
        another_round(plan, ran, so_far, self.world.effort)
    }

    fn probe_facts(
        &self,
        case: &Case,
        cast: &Cast,
        baselines: &[(OperationRole, BaselineKey, Baseline)],
    ) -> Vec<ProbeFacts> {
        let mut facts = Vec::new();
        for role in [
            OperationRole::Subject,
            OperationRole::Other,
            OperationRole::OtherMethod,
        ] {
            let Some(operation) = cast
                .name(role)
                .ok()
                .and_then(|name| self.world.operation(name).ok())
            else {
                continue;
            };
            for probe in &operation.effects {
                facts.push(ProbeFacts {
                    name: probe.name.clone(),
                    operation: role,
                    per_execution: per_execution(case, role, operation) as f64,
                    live: baselines.iter().any(|(_, key, baseline)| {
                        key.operation == operation.name && baseline.live.contains(&probe.name)
                    }),
                    bound: probe.bound,
                    is_state: matches!(probe.reading, What::State(_)),
                });
            }
        }
        facts
    }
}

/// The effects of one execution: the operation's, or what a variant in the case says instead. Where
/// they differ the largest counts, so that a case that mixes them never fails for its own making.
fn per_execution(case: &Case, role: OperationRole, operation: &Operation) -> u64 {
    let of_request = |request: &Request| {
        let varied = request.variants.iter().rev().find_map(|name| {
            let variant = operation.likeliest_variation(name).ok()?;
            variant.per_execution
        });
        varied.unwrap_or(operation.per_execution)
    };
    case.leaves()
        .filter_map(Step::request)
        // A repeat makes what the step made that it repeats.
        .filter(|request| request.like.is_none())
        .filter(|request| request.operation.unwrap_or_default() == role)
        .map(of_request)
        .max()
        .unwrap_or(operation.per_execution)
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

/// Whether a case only asks again for what others have made.
fn rechecks(planned: &PlannedCase) -> bool {
    planned.scenario.cases[planned.case]
        .leaves()
        .any(|step| matches!(step, Step::Recheck { .. }))
}

/// The baselines that a case stands on: everybody who is to succeed, and every variant that is to.
fn needed_baselines(planned: &PlannedCase) -> Vec<(OperationRole, BaselineKey)> {
    let cast = Cast::of(planned);
    let mut needed: Vec<(OperationRole, BaselineKey)> = Vec::new();
    let mut need = |role: OperationRole, principal: PrincipalRole, variants: Vec<String>| {
        if let Ok(name) = cast.name(role) {
            let key = BaselineKey {
                operation: name.to_owned(),
                principal,
                variants,
            };
            if !needed.iter().any(|(_, known)| *known == key) {
                needed.push((role, key));
            }
        }
    };
    let case = &planned.scenario.cases[planned.case];
    if rechecks(planned) {
        return needed;
    }
    need(OperationRole::Subject, PrincipalRole::Owner, Vec::new());
    for request in case.leaves().filter_map(Step::request) {
        let role = request.operation.unwrap_or_default();
        let principal = request.principal.unwrap_or_default();
        let who = principal.stand_in();
        need(role, who, Vec::new());
        let variants = succeeding(&request.variants);
        if !variants.is_empty() {
            need(role, who, variants);
        }
    }
    needed
}

/// The variants among these with which a request should succeed.
fn succeeding(variants: &[String]) -> Vec<String> {
    const SUCCEED: [&str; 9] = [
        "slow",
        "lingers",
        "long",
        "big-number",
        "no-content",
        "large",
        "async",
        "stream",
        "binary",
    ];
    variants
        .iter()
        .filter(|variant| SUCCEED.contains(&variant.as_str()))
        .cloned()
        .collect()
}

/// Rounds beyond the planned ones without any that showed something, after which none will.
const IN_VAIN: u32 = 15;

/// Whether one more round is worth it: too few showed something, and another may; or a smaller race
/// window is to be looked for, and can be reached. Harm ends the search.
fn another_round(plan: Rounds, ran: u32, so_far: SoFar, effort: Effort) -> bool {
    let SoFar {
        shown,
        harmed,
        window,
    } = so_far;
    if ran >= plan.up_to {
        return false;
    }
    if shown < plan.valid && (shown > 0 || ran < plan.count + IN_VAIN) {
        return true;
    }
    // Twice as many rounds see windows half as long.
    let smallest = |window: Duration| window.mul_f64(f64::from(ran) / f64::from(plan.up_to));
    (effort.keep_going || !harmed)
        && window.is_some_and(|window| {
            window > effort.race_bound && smallest(window) <= effort.race_bound
        })
}

/// Reads the effects once more, a settle time after everything of the case was over.
async fn late_readings(
    world: &World,
    cast: &Cast,
    rounds: Vec<Ran>,
) -> Vec<crate::transcript::Round> {
    let still = rounds.iter().map(|ran| ran.still_at).max();
    if let Some(still) = still.filter(|still| *still > Instant::now()) {
        tokio::time::sleep_until(still.into()).await;
    }
    futures::stream::iter(rounds)
        .map(|mut ran| async move {
            let readings = probe::read_all(world, cast, &ran.counted, &ReadingKind::Late).await;
            ran.round.readings.extend(readings);
            if ran.events {
                ran.round.deliveries = world.deliveries(cast, &ran.counted);
            }
            ran.round
        })
        .buffered(4)
        .collect()
        .await
}

/// Waits for the late readings that are still to come.
async fn collect(late: &mut Vec<(usize, JoinHandle<Transcript>)>, transcripts: &mut [Transcript]) {
    for (index, pending) in late.drain(..) {
        transcripts[index] = pending.await.unwrap_or_else(|error| Transcript {
            broken: vec![match error.is_panic() {
                true => CRASHED.to_owned(),
                false => format!("the case was lost: {error}"),
            }],
            ..Transcript::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Effort, SoFar, another_round, per_execution};
    use crate::scenario::{Case, OperationRole, Rounds, parse};
    use crate::yaml::Source;
    use std::sync::Arc;
    use std::time::Duration;

    fn case(steps: &str) -> Case {
        let text = format!(
            "title: A test\nsteps:\n{steps}expect:\n  item-5:\n    - effects: {{ at-most: 1 }}\n"
        );
        let source = Source {
            name: "test.yaml".to_owned(),
            text,
        };
        let scenario = parse("own/test", Arc::new(source), false);
        scenario.expect("a sound scenario").cases.remove(0)
    }

    #[test]
    fn a_variant_restates_the_effects_of_one_execution() {
        let target = crate::target::trial::target(
            "target: T\nbase-url: http://127.0.0.1:1\noperations:\n  pay:\n    request: POST /payments\n    per-execution: 2\n    variants: { dry-run: { query: { dry: \"1\" }, per-execution: 0 }, same-item-twice: { query: { n: \"2\" }, per-execution: 4 } }\n",
        );
        let per = |steps: &str| {
            per_execution(&case(steps), OperationRole::Subject, &target.operations[0])
        };
        assert_eq!(per("  - send: { as: first, key: fresh }\n"), 2);
        let batch = "  - send: { as: first, key: fresh, variant: same-item-twice }\n  - send: { as: again, like: first }\n";
        assert_eq!(per(batch), 4);
        let dry = "  - send: { as: dry, key: fresh, variant: dry-run }\n  - send: { as: live, key: { of: dry } }\n";
        assert_eq!(per(dry), 2);
    }

    #[test]
    fn rounds_that_show_nothing_are_made_up_for_within_reason() {
        let plan = Rounds {
            count: 5,
            valid: 3,
            up_to: 40,
            side_by_side: 1,
        };
        let another = |ran, shown| {
            let so_far = SoFar {
                shown,
                ..SoFar::default()
            };
            another_round(plan, ran, so_far, Effort::default())
        };
        assert!(!another(5, 3), "enough");
        assert!(another(5, 2) && another(39, 2));
        assert!(!another(40, 2), "no more than allowed");
        assert!(another(19, 0));
        assert!(!another(20, 0), "nothing will ever show");
    }

    #[test]
    fn rounds_go_on_until_a_race_of_the_wanted_length_would_have_shown() {
        let plan = Rounds {
            count: 5,
            valid: 5,
            up_to: 60,
            side_by_side: 1,
        };
        let saw = |millis| SoFar {
            shown: 60,
            harmed: false,
            window: Some(Duration::from_millis(millis)),
        };
        let effort = Effort::default();
        assert!(!another_round(plan, 5, saw(1), effort), "it is reached");
        assert!(another_round(plan, 5, saw(12), effort));
        assert!(!another_round(plan, 5, saw(13), effort), "it never will be");
        assert!(!another_round(plan, 60, saw(2), effort));
        let harm = SoFar {
            harmed: true,
            ..saw(12)
        };
        assert!(!another_round(plan, 5, harm, effort));
        let keep_going = Effort {
            keep_going: true,
            ..effort
        };
        assert!(another_round(plan, 5, harm, keep_going));
    }
}
