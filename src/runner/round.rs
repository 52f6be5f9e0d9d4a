//! One round: the steps of a case, once, written down as they happen.

use super::answer::plain;
use super::board::Board;
use super::defer::{SuspendedRound, pause};
use super::keys::KeyWriter;
use super::lateness::Lateness;
use super::pace::Pace;
use super::probe::{Counted, read_all};
use super::rendering::Filling;
use super::sign::Stamp;
use super::spec::{RoundNames, Spec};
use super::words::Words;
use super::world::{Cast, World};
use super::{burst, exchange, hook};
use crate::contract::Contract;
use crate::hook::HookName;
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{
    Case, Moment, OperationRole, Receiving, Request, Scenario, Step, Until, Wait, When,
};
use crate::target::operation::{Lifetime, Operation, Probe};
use crate::target::selector::Answer;
use crate::transcript::{Delivery, Ending, ReadingKind, Response, RetryFacts, Round};
use futures::future::BoxFuture;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

/// How long a retry goes on that was given up in a round before.
const IN_VAIN: Duration = Duration::from_secs(2);

/// What the rounds of a case have in common.
pub(super) struct CaseContext<'a> {
    pub(super) world: &'a World,
    pub(super) cast: Cast,
    pub(super) scenario: &'a Scenario,
    pub(super) case: &'a Case,
    /// How long a step's request took in the rounds before, by step.
    pub(super) measured: Mutex<HashMap<String, Pace>>,
    /// Retries that did not come to their end in a round before.
    pub(super) stuck: Mutex<BTreeSet<String>>,
    /// Why the case does not apply, where only the making of a request could tell.
    pub(super) not_applicable: Mutex<Option<String>>,
}

/// A round while it runs.
pub(super) struct RoundRun<'a> {
    pub(super) context: &'a CaseContext<'a>,
    pub(super) number: u32,
    pub(super) board: std::sync::Arc<Board>,
    pub(super) names: Mutex<RoundNames>,
    pub(super) record: Mutex<Round>,
    /// Requests whose effects are counted.
    pub(super) counted: Mutex<Vec<Counted>>,
    /// When the last request was lost on purpose: its handler may still run.
    pub(super) lost_at: Mutex<Option<Instant>>,
    pub(super) late: Mutex<Vec<exchange::Late>>,
    undo: Mutex<Vec<HookName>>,
    /// What was signed, by step.
    pub(super) signed: Mutex<HashMap<String, Stamp>>,
}

/// A round that ran, with what is needed to read its effects once more.
pub(super) struct Ran {
    pub(super) round: Round,
    pub(super) counted: Vec<Counted>,
    pub(super) still_at: Instant,
    /// It is about events, which may come until then.
    pub(super) events: bool,
    /// How many tokens had run out before it began.
    pub(super) ran_out: u32,
}

/// How far a round has come.
pub(super) enum Played {
    /// To its end.
    Through(Box<Ran>),
    /// To where the target's time has to pass for longer than the run lasts.
    Suspended(Box<SuspendedRound>),
}

/// Takes a lock whatever befell its last holder: the data is only ever appended to.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> CaseContext<'a> {
    /// A case of which nothing has run yet.
    pub(super) fn new(
        world: &'a World,
        cast: Cast,
        scenario: &'a Scenario,
        case: &'a Case,
    ) -> CaseContext<'a> {
        CaseContext {
            world,
            cast,
            scenario,
            case,
            measured: Mutex::new(HashMap::new()),
            stuck: Mutex::new(BTreeSet::new()),
            not_applicable: Mutex::new(None),
        }
    }

    /// Runs a round, to its end or to where it goes on another day.
    pub(super) async fn round(&'a self, number: u32) -> Played {
        self.world.quiet().await;
        let run = RoundRun::new(self, number);
        run.ready_tokens().await;
        let lateness = Lateness::measure();
        run.agree();
        run.read_shared().await;
        let played: BoxFuture<'_, Played> = Box::pin(self.play(run, 0, lateness));
        played.await
    }

    /// Goes on with a round where it had stopped.
    pub(super) async fn resumed(&'a self, half: &SuspendedRound) -> Played {
        let (run, from) = RoundRun::restored(self, half);
        run.ready_tokens().await;
        let lateness = Lateness::measure();
        match run.take_up(half).await {
            Ok(()) => Box::pin(self.play(run, from, lateness)).await,
            Err(why) => {
                run.broke(why);
                Box::pin(self.play(run, self.case.steps.len(), lateness)).await
            }
        }
    }

    /// Does the steps from one on.
    async fn play(&'a self, run: RoundRun<'a>, from: usize, lateness: Lateness) -> Played {
        let ran_out = self.world.ran_out();
        for (index, step) in self.case.steps.iter().enumerate().skip(from) {
            let done = match pause(&run, step) {
                Some((span, long)) => match run.suspend(index, span, long).await {
                    Ok(suspended) => return Played::Suspended(Box::new(suspended)),
                    Err(why) => Err(why),
                },
                None => run.step(step).await,
            };
            if let Err(why) = done {
                run.broke(why);
                break;
            }
        }
        let mut ran = run.finish().await;
        ran.ran_out = ran_out;
        ran.note_tokens(self.world);
        ran.round.lateness = Some(lateness.usual());
        Played::Through(Box::new(ran))
    }

    pub(super) fn contract(&self, role: OperationRole) -> &Contract {
        let name = self.cast.name(role).unwrap_or(&self.cast.subject);
        self.world.contract(name)
    }
}

impl Ran {
    /// What was refused for a token that had run out was refused for that alone.
    pub(super) fn note_tokens(&mut self, world: &World) {
        let why = "a token ran out meanwhile, of which nobody had said when it would".to_owned();
        if world.ran_out() > self.ran_out && !self.round.broken.contains(&why) {
            self.round.broken.push(why);
        }
    }
}

impl<'a> RoundRun<'a> {
    /// A round in which nothing has happened yet.
    pub(super) fn new(context: &'a CaseContext<'a>, number: u32) -> RoundRun<'a> {
        RoundRun {
            context,
            number,
            board: std::sync::Arc::default(),
            names: Mutex::new(RoundNames::new(Words::Random)),
            record: Mutex::new(Round {
                number,
                ..Round::default()
            }),
            counted: Mutex::new(Vec::new()),
            lost_at: Mutex::new(None),
            late: Mutex::new(Vec::new()),
            undo: Mutex::new(Vec::new()),
            signed: Mutex::new(HashMap::new()),
        }
    }

    /// Takes the values that other places use as well, if several make the same run.
    fn agree(&self) {
        let CaseContext {
            world,
            cast,
            scenario,
            case,
            ..
        } = self.context;
        if let Some(vantage) = &world.vantage {
            let id = scenario.case_id(case);
            let round = format!("{}\n{id}\n{}", cast.subject, self.number);
            *locked(&self.names) = RoundNames::new(vantage.words(&round));
            locked(&self.record).vantage = Some(vantage.note(world, &round));
        }
    }

    pub(super) fn world(&self) -> &'a World {
        self.context.world
    }

    /// Whoever asks for tokens has one that is good for a while.
    async fn ready_tokens(&self) {
        if let Err(why) = self.world().ready_tokens(super::ROUND).await {
            self.broke(why);
        }
    }

    /// An implicit assumption did not hold.
    pub(super) fn broke(&self, why: impl Into<String>) {
        let why = why.into();
        let mut record = locked(&self.record);
        if !record.broken.contains(&why) {
            record.broken.push(why);
        }
    }

    /// Probes that everybody shares show other scenarios' effects too: what they show beforehand is
    /// written down, to be subtracted.
    async fn read_shared(&self) {
        let world = self.world();
        let Ok(operation) = world.operation(&self.context.cast.subject) else {
            return;
        };
        let shared = |probe: &Probe| probe.sharing(&world.target) == Lifetime::Run;
        if !operation.effects.iter().any(shared) {
            return;
        }
        let marker = locked(&self.names).marker("main");
        let nothing_sent = Counted {
            spec: Spec::unsent(marker),
            body: None,
        };
        let counted = [nothing_sent];
        let mut readings =
            read_all(world, &self.context.cast, &counted, &ReadingKind::Before).await;
        readings.retain(|reading| {
            operation
                .effects
                .iter()
                .any(|probe| probe.name == reading.probe && shared(probe))
        });
        locked(&self.record).readings.extend(readings);
    }

    async fn step(&self, step: &Step) -> Result<(), String> {
        if self.world().is_stopped() {
            return Err("the run was stopped".to_owned());
        }
        match step {
            Step::Together(steps) => {
                let senders = steps.iter().filter(|step| step.request().is_some()).count();
                let ready = Barrier::new(senders.max(1));
                let all = steps.iter().map(|step| self.leaf(step, Some(&ready)));
                let results = futures::future::join_all(all).await;
                results
                    .into_iter()
                    .collect::<Result<Vec<()>, _>>()
                    .map(|_| ())
            }
            step => self.leaf(step, None).await,
        }
    }

    async fn leaf(&self, step: &Step, ready: Option<&Barrier>) -> Result<(), String> {
        match step {
            Step::Send { request, times } => {
                let result = self.send(request, *times, ready).await;
                self.board.over(&request.name);
                result
            }
            Step::Burst {
                request,
                copies,
                release,
                stop_at,
            } => {
                let result = burst::burst(self, request, copies, *release, *stop_at, ready).await;
                self.board.over(&request.name);
                result
            }
            Step::Retry {
                request,
                until,
                every,
                patience,
            } => {
                let result = self.retry(request, *until, *every, *patience, ready).await;
                self.board.over(&request.name);
                result
            }
            Step::Wait(wait) => self.wait(wait).await,
            Step::Elapse { time, at } => {
                let due = self.due(at.as_ref()).await?;
                let time = self.time(*time, None)?;
                let mut facts = hook::elapse(self.world(), time).await;
                facts.due = due;
                let problem = (!facts.worked)
                    .then(|| format!("the target's time did not pass: {}", facts.output));
                locked(&self.record).hooks.push(facts);
                if let Some(problem) = problem {
                    return Err(problem);
                }
                match at.as_ref().and_then(|moment| moment.of.as_ref()) {
                    Some(of) if self.board.has_come(of, When::LastByte) => Err(format!(
                        "`{of}` had been answered before the target's time had passed"
                    )),
                    _ => Ok(()),
                }
            }
            Step::Read { name } => {
                self.settle(&ReadingKind::Named(name.clone())).await;
                Ok(())
            }
            Step::Signals { name } => {
                self.read_signals(name).await;
                Ok(())
            }
            Step::Prepare { name, principal } => {
                let spec = locked(&self.names).prepare(name, *principal);
                let operation = self.world().operation(&self.context.cast.subject)?;
                let fixtures = &self.world().fixtures;
                let prepared = fixtures.prepared(self.world(), operation, &spec).await;
                prepared.map(|_| ())
            }
            Step::Hook { run, at, undo } => {
                let due = self.due(at.as_ref()).await?;
                let mut facts = hook::run(self.world(), *run).await;
                facts.due = due;
                locked(&self.undo).extend(*undo);
                let problem = (!facts.worked)
                    .then(|| format!("the hook {} did not work: {}", run.name(), facts.output));
                locked(&self.record).hooks.push(facts);
                problem.map_or(Ok(()), Err)
            }
            Step::Cleanup { of } => self.clean_up(of).await,
            Step::Lookup(lookup) => self.look_up(lookup).await,
            Step::Sink {
                name,
                answer,
                times,
                outage,
            } => self.receive(name.as_deref(), *answer, *times, *outage),
            Step::Recheck { name, at_most } => self.recheck(name, *at_most).await,
            Step::Together(_) => Err("a together holds no other together".to_owned()),
        }
    }

    /// Waits for the moment of a step that has one, and says when it was.
    async fn due(&self, at: Option<&Moment>) -> Result<Option<Duration>, String> {
        match at {
            None => Ok(None),
            Some(moment) => Ok(Some(self.world().clock(self.until(moment).await?))),
        }
    }

    /// The concrete requests of a step.
    pub(super) fn specs(&self, request: &Request, copies: u32) -> Result<Vec<Spec>, String> {
        let role = request.operation.unwrap_or_default();
        let name = self.context.cast.name(role)?;
        let operation = self.world().operation(name)?;
        let place = self.world().key_place(operation);
        let keys = KeyWriter::new(self.context.contract(role), place.as_ref());
        let which = match request
            .like
            .as_ref()
            .and_then(|like| Some((like.of.as_str(), like.which?)))
        {
            None => 0,
            Some((step, outcome)) => {
                let record = locked(&self.record);
                record
                    .of(step)
                    .find(|exchange| exchange.outcome.is_within(outcome))
                    .map(|exchange| exchange.copy as usize)
                    .ok_or_else(|| format!("no copy of `{step}` was {outcome}"))?
            }
        };
        let mut specs = locked(&self.names).resolve(request, copies, &keys, which)?;
        for spec in &mut specs {
            if let Some(step) = &spec.only_if {
                spec.version = Some(self.version(operation, step)?);
            }
        }
        Ok(specs)
    }

    /// The version of the resource that a step's response told.
    fn version(&self, operation: &Operation, step: &str) -> Result<String, String> {
        let precondition = operation
            .precondition
            .as_ref()
            .ok_or_else(|| format!("{} has no precondition", operation.name))?;
        let record = locked(&self.record);
        let response = record
            .last_of(step)
            .and_then(|exchange| exchange.response.as_ref())
            .ok_or_else(|| format!("`{step}` was not answered, so that no version is known"))?;
        let headers: Vec<(String, Vec<u8>)> = response
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
            .collect();
        let answer = Answer {
            status: response.status,
            headers: &headers,
            body: response.body.as_bytes(),
        };
        let found = precondition.from.select(&answer);
        found
            .iter()
            .find_map(plain)
            .ok_or_else(|| format!("the response to `{step}` tells no version"))
    }

    /// Has the target remove what a step made.
    async fn clean_up(&self, step: &str) -> Result<(), String> {
        let role = self.context.case.operation_of(step);
        let operation = self.world().operation(self.context.cast.name(role)?)?;
        let action = operation
            .cleanup
            .as_ref()
            .ok_or_else(|| format!("{} has no cleanup", operation.name))?;
        let made = {
            let record = locked(&self.record);
            record
                .of(step)
                .filter_map(|exchange| exchange.response.as_ref())
                .filter(|response| response.success)
                .find_map(|response| response.identity.clone())
                .ok_or_else(|| format!("`{step}` made nothing that could be removed"))?
        };
        self.world().ledger.forget_resource(&made);
        let mut values = Filling::new(self.world());
        values.identity = Some(made);
        hook::act(self.world(), action, &values)
            .await
            .map(|_| ())
            .map_err(|why| format!("what `{step}` made could not be removed: {why}"))
    }

    async fn send(
        &self,
        request: &Request,
        times: u32,
        ready: Option<&Barrier>,
    ) -> Result<(), String> {
        let specs = self.specs(request, times)?;
        for (copy, spec) in specs.iter().enumerate() {
            let ready = ready.filter(|_| copy == 0);
            exchange::one(self, request, spec, copy as u32, 0, ready).await?;
        }
        Ok(())
    }

    async fn retry(
        &self,
        request: &Request,
        until: Until,
        every: Duration,
        patience: Duration,
        ready: Option<&Barrier>,
    ) -> Result<(), String> {
        let spec = self.specs(request, 1)?.remove(0);
        // Twice the declared time shows that the key is not freed in time; more shows nothing new.
        let lock_timeout = self.context.contract(spec.operation).lock_timeout;
        let patience = lock_timeout.map_or(patience, |time| patience.min(2 * time));
        // That it waits in vain was shown once.
        let patience = if locked(&self.context.stuck).contains(&request.name) {
            patience.min(IN_VAIN)
        } else {
            patience
        };
        let began = Instant::now();
        let mut attempt = 0;
        let ended = loop {
            let index = exchange::one(
                self,
                request,
                &spec,
                0,
                attempt,
                ready.filter(|_| attempt == 0),
            )
            .await?;
            attempt += 1;
            let (outcome, asked) = {
                let record = locked(&self.record);
                let exchange = record
                    .exchanges
                    .iter()
                    .find(|exchange| exchange.step == request.name && exchange.attempt == index);
                let asked = exchange
                    .and_then(|exchange| exchange.response.as_ref())
                    .and_then(Response::asked_pause);
                (
                    exchange.map_or(Outcome::NONE, |exchange| exchange.outcome),
                    asked,
                )
            };
            let wanted = match until {
                Until::Final => Outcome::FINAL,
                Until::NotInFlight => Outcome::FINAL.union(Meaning::ServerError.into()),
            };
            if outcome.is_within(wanted) {
                break true;
            }
            let pause = asked.unwrap_or(every);
            if began.elapsed() + pause > patience || self.world().is_stopped() {
                break false;
            }
            tokio::time::sleep(pause).await;
        };
        if !ended {
            locked(&self.context.stuck).insert(request.name.clone());
        }
        locked(&self.record).retries.push(RetryFacts {
            step: request.name.clone(),
            ended,
            took: began.elapsed(),
            attempts: attempt,
        });
        Ok(())
    }

    async fn wait(&self, wait: &Wait) -> Result<(), String> {
        match wait {
            Wait::For(span) => tokio::time::sleep(self.time(*span, None)?).await,
            Wait::Settled => self.settle(&ReadingKind::Early).await,
            Wait::OwnRetries => self.wait_for_own_retries().await,
            Wait::Deliveries { count, patience } => {
                let taken = |received| received == Receiving::Ok;
                self.wait_for_deliveries(*count, *patience, taken).await;
            }
            Wait::Arrivals { count, patience } => {
                self.wait_for_deliveries(*count, *patience, |_| true).await;
            }
            Wait::RetryAfter(step) => {
                let asked = {
                    let record = locked(&self.record);
                    record
                        .of(step)
                        .filter_map(|exchange| exchange.response.as_ref())
                        .filter_map(Response::asked_pause)
                        .max()
                };
                tokio::time::sleep(asked.unwrap_or(Duration::from_secs(1))).await;
            }
        }
        Ok(())
    }

    /// Waits until whoever received the events has tried again what it could not handle.
    async fn wait_for_own_retries(&self) {
        let began = Instant::now();
        self.settle(&ReadingKind::Early).await;
        let operation = self.world().operation(&self.context.cast.subject);
        let within = operation
            .ok()
            .and_then(|operation| operation.consumer.as_ref()?.retries_within);
        if let Some(within) = within {
            tokio::time::sleep(within.saturating_sub(began.elapsed())).await;
            self.settle(&ReadingKind::Early).await;
        }
    }

    /// A server that this round has ended serves again, whatever befell the round.
    async fn restart(&self) {
        let is_down = locked(&self.record)
            .hooks
            .iter()
            .rfind(|hook| matches!(hook.name, HookName::Kill | HookName::Start))
            .is_some_and(|hook| hook.name == HookName::Kill);
        if !is_down || self.world().is_stopped() {
            return;
        }
        let facts = hook::run(self.world(), HookName::Start).await;
        if !facts.worked {
            self.broke(format!("the server did not start again: {}", facts.output));
        }
        locked(&self.record).hooks.push(facts);
    }

    async fn finish(self) -> Ran {
        self.restart().await;
        let undo = std::mem::take(&mut *locked(&self.undo));
        for hook in undo {
            let facts = hook::run(self.world(), hook).await;
            if !facts.worked {
                self.broke(format!(
                    "the hook {} did not undo: {}",
                    hook.name(),
                    facts.output
                ));
            }
            locked(&self.record).hooks.push(facts);
        }
        let late = std::mem::take(&mut *locked(&self.late));
        futures::future::join_all(
            late.into_iter()
                .map(|late| exchange::collect_late(&self, late)),
        )
        .await;
        let more_events = self.note_deliveries();
        let still = {
            let lost = *locked(&self.lost_at);
            let quiet = Instant::now() + self.settle_time();
            let quiet = more_events.map_or(quiet, |time| quiet.max(time));
            lost.map_or(quiet, |lost| quiet.max(lost + self.still_running()))
        };
        let mut round = std::mem::take(&mut *locked(&self.record));
        round
            .exchanges
            .sort_by_key(|exchange| exchange.times.sent.unwrap_or(exchange.times.ended));
        self.remember_latencies(&round);
        broken_off(&mut round);
        killed_too_late(self.context.case, &mut round);
        let counted = std::mem::take(&mut *locked(&self.counted));
        Ran {
            round,
            counted,
            still_at: still,
            events: more_events.is_some(),
            ran_out: 0,
        }
    }

    /// What this round measured serves the next ones.
    fn remember_latencies(&self, round: &Round) {
        let mut measured = locked(&self.context.measured);
        for exchange in &round.exchanges {
            let first =
                exchange.copy == 0 && exchange.attempt == 0 && exchange.ending == Ending::Answered;
            let executed = exchange.outcome.may_be(Meaning::Executed);
            if let (true, true, Some(sent)) = (first, executed, exchange.times.sent) {
                let took = exchange.times.ended.saturating_sub(sent);
                measured
                    .entry(exchange.step.clone())
                    .and_modify(|pace| pace.took(took))
                    .or_insert(Pace::new(took));
            }
        }
    }
}

/// A server that is ended when the request was through has lost nothing on its way.
fn killed_too_late(case: &Case, round: &mut Round) {
    let meant = case.leaves().filter_map(|step| match step {
        Step::Hook {
            run: HookName::Kill,
            at: Some(moment),
            ..
        } => moment.of.as_deref(),
        _ => None,
    });
    for step in meant {
        let answered = round
            .of(step)
            .any(|exchange| exchange.ending == Ending::Answered);
        if answered {
            round.broken.push(format!(
                "`{step}` had been answered before the server was killed"
            ));
        }
    }
}

/// A target that closes connections by itself shows nothing, and that is said.
fn broken_off(round: &mut Round) {
    let mut reasons: Vec<String> = Vec::new();
    for exchange in &round.exchanges {
        // What we ended ourselves was meant to break.
        let killed = round.hooks.iter().any(|hook| {
            hook.name == HookName::Kill
                && hook.worked
                && exchange.times.sent.is_some_and(|sent| sent <= hook.at)
                && hook.at <= exchange.times.ended
        });
        if killed {
            continue;
        }
        let reason = match &exchange.ending {
            Ending::ClosedByTarget(why) if exchange.fault.is_none() => {
                format!("the target broke off `{}`: {why}", exchange.step)
            }
            Ending::Broken(why) => format!(
                "`{}` was answered with something that is not HTTP: {why}",
                exchange.step
            ),
            Ending::Refused(why) => format!("no connection for `{}`: {why}", exchange.step),
            Ending::TimedOut
                if exchange.fault.is_none() && exchange.delivery != Delivery::NotSent =>
            {
                format!("`{}` was not answered in time", exchange.step)
            }
            _ => continue,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    round.broken.extend(reasons);
}
