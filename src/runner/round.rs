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
use crate::scenario::{Case, Moment, OperationRole, Request, Scenario, Step, When};
use crate::target::operation::{Lifetime, Operation, Probe};
use crate::target::selector::Answer;
use crate::transcript::{ReadingKind, Round};
use futures::future::BoxFuture;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

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
    pub(super) undo: Mutex<Vec<HookName>>,
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
}
