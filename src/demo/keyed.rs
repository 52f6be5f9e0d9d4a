//! The idempotent execution of a write: look its key up, claim it, execute; or replay, or refuse.
//! Looking up and answering again is in `recall`, working and writing in `execution`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use uuid::Uuid;

use super::Options;
use super::answer::{Answer, Problem};
use super::behaviour::Behaviour;
use super::call::{Call, Slot};
use super::clock::{Clock, Timestamp, rfc3339};
use super::flaw::Flaw;
use super::flaws::{Flaws, Matter};
use super::in_flight::{Claim, InFlight};
use super::manners::Manners;
use super::operation::Operation;
use super::policy::{InProgress, Policy, Precedence, StoreDown};
use super::store::{Keeping, Store, StoreError};
use super::switches::{Event, Switches};

/// The workers of the pool that `fills-pool-with-waiters` has.
const WORKERS_OF_POOL: usize = 16;

/// The part of the API that executes writes.
#[derive(Debug)]
pub struct Keyed {
    /// The time.
    pub clock: Arc<Clock>,
    /// Where effects and records are.
    pub store: Store,
    /// The planted defects.
    pub flaws: Flaws,
    /// How it treats keys.
    pub policy: Arc<Policy>,
    /// How it behaves otherwise.
    pub manners: Manners,
    /// Held by the write that is worked on, where writes wait for one another.
    turn: Semaphore,
    /// How long a write works before it writes.
    pub work: Duration,
    /// How long a record is kept.
    pub retention: Duration,
    /// Which instance of the API it is, from 0.
    pub instance: usize,
    /// The keys that are being worked on.
    pub in_flight: InFlight,
    /// What a tester has switched.
    pub switches: Arc<Switches>,
    /// For `fills-pool-with-waiters`: its workers.
    workers: Semaphore,
    /// Tells the relay that there is a new event.
    pub news: Arc<Notify>,
    memory: Mutex<Memory>,
}

/// What the process remembers besides the keys in flight.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What has failed once, by behaviour and reference.
    pub failed: HashSet<(Behaviour, String)>,
    /// For `stores-unauthorized`: refusals by operation and key.
    refusals: HashMap<(String, String), Answer>,
    /// For `poisons-cache-on-mismatch`: what was refused under a used key.
    pub poisoned: HashSet<(Slot, String)>,
    /// For `replays-set-cookie`: the session that the first caller was given.
    sessions: HashMap<Slot, String>,
    /// Where what stands in front has given a write up.
    pub(super) given_up: HashSet<Slot>,
    /// For `keeps-notices-in-memory`: the notices that were handled. For `trusts-known-signatures`:
    /// the signatures that were good.
    notices: HashSet<String>,
}

/// What a call has once it may execute.
#[derive(Debug)]
pub(super) struct Permit {
    /// The claim on its slot, freed with the permit.
    pub claim: Option<Claim>,
    /// What becomes of the record.
    pub keeping: Keeping,
    /// Whether its key is looked up once more now that it has the claim.
    pub looks_again: bool,
}

impl Permit {
    /// A permit without a claim.
    pub fn unclaimed(keeping: Keeping) -> Permit {
        Permit {
            claim: None,
            keeping,
            looks_again: false,
        }
    }
}

/// What a call gets whose slot another request has. Only flaws let it execute.
#[derive(Debug)]
enum InFlightAnswer {
    Answer(Answer),
    Execute(Permit),
    /// It has waited for the other one, so its key is looked up again.
    AskAgain,
}

impl Keyed {
    /// Executes writes on a store.
    pub fn new(
        clock: Arc<Clock>,
        store: Store,
        instance: usize,
        switches: Arc<Switches>,
        news: Arc<Notify>,
        options: Options,
    ) -> Keyed {
        Keyed {
            clock,
            store,
            flaws: options.flaws,
            policy: Arc::new(options.policy),
            manners: options.manners,
            turn: Semaphore::new(1),
            work: options.work,
            retention: options.retention,
            instance,
            in_flight: InFlight::default(),
            switches,
            workers: Semaphore::new(WORKERS_OF_POOL),
            news,
            memory: Mutex::default(),
        }
    }

    /// Executes a call, or replays or refuses it.
    pub async fn perform(self: Arc<Self>, call: Arc<Call>) -> Answer {
        let _turn = match self.manners.one_at_a_time {
            true => self.turn.acquire().await.ok(),
            false => None,
        };
        let answered = match &call.slot {
            Some(slot) => self.perform_once(&call, slot).await,
            None => {
                let permit = Permit::unclaimed(Keeping::Nothing);
                self.execute(&call, permit).await
            }
        };
        let mut answer = answered.unwrap_or_else(|_| Answer::internal());
        if answer.status.is_success() {
            let cookie = format!("session={}; HttpOnly", self.session(&call));
            answer.headers.push(("Set-Cookie".to_owned(), cookie));
        }
        answer
    }

    /// The session that an answer opens for its caller: a new one with each answer.
    fn session(&self, call: &Call) -> String {
        let fresh = Uuid::new_v4().simple().to_string();
        match &call.slot {
            Some(slot) if self.flaws.has(Flaw::ReplaysSetCookie) => {
                let mut memory = self.memory();
                memory.sessions.entry(slot.clone()).or_insert(fresh).clone()
            }
            _ => fresh,
        }
    }

    /// A worker of the pool, which only `fills-pool-with-waiters` has.
    pub(super) async fn worker(&self) -> Option<SemaphorePermit<'_>> {
        match self.flaws.has(Flaw::FillsPoolWithWaiters) {
            // The pool is never closed.
            true => self.workers.acquire().await.ok(),
            false => None,
        }
    }

    /// Everything that was completed at this time or before has expired.
    pub fn expired(&self) -> Timestamp {
        let retention = match self.flaws.of(Matter::Retention) {
            Some(Flaw::NeverExpires) => Duration::MAX,
            Some(Flaw::ForgetsEarly) => self.retention / 4,
            _ => self.retention,
        };
        let retention = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
        self.clock.now().saturating_sub(retention)
    }

    /// Whether a thing shows already, where things show so long after they were made.
    pub fn shows(&self, document: &Value, lag: Duration) -> bool {
        let lag = i64::try_from(lag.as_millis()).unwrap_or(i64::MAX);
        let made = document["created_at"].as_str().unwrap_or_default();
        lag == 0 || made <= rfc3339(self.clock.now().saturating_sub(lag)).as_str()
    }

    /// The refusal that `stores-unauthorized` has stored.
    pub fn stored_refusal(&self, operation: &Operation, key: &str) -> Option<Answer> {
        let place = (operation.label(), key.to_owned());
        self.memory().refusals.get(&place).cloned()
    }

    /// Stores a refusal, which only `stores-unauthorized` does.
    pub fn store_refusal(&self, operation: &Operation, key: &str, refusal: &Answer) {
        let place = (operation.label(), key.to_owned());
        self.memory().refusals.insert(place, refusal.clone());
    }

    async fn perform_once(&self, call: &Arc<Call>, slot: &Slot) -> Result<Answer, StoreError> {
        if self.switches.is_store_down() {
            let look = match &self.policy.store_down {
                StoreDown::Refuse(look) if !self.flaws.has(Flaw::RunsWithoutItsStore) => look,
                StoreDown::Refuse(_) | StoreDown::Execute => {
                    let permit = Permit::unclaimed(Keeping::Nothing);
                    return self.execute(call, permit).await;
                }
            };
            let detail = "The records of keys cannot be reached, so nothing is executed.";
            return Ok(Answer::refusal(
                Problem::StoreUnavailable,
                detail,
                look,
                None,
            ));
        }
        let place = self.place_in_flight(call, slot);
        let permit = loop {
            if let Some(stored) = self.look_up(call, slot).await? {
                return self.answer_again(call, stored).await;
            }
            if let Some(refusal) = self.refuse_expired(slot).await? {
                return Ok(refusal);
            }
            match self.claim(call, &place).await {
                Ok(permit) => break permit,
                Err(holder) => match self.answer_in_flight(call, &place, &holder).await? {
                    InFlightAnswer::Answer(answer) => return Ok(answer),
                    InFlightAnswer::Execute(permit) => return self.execute(call, permit).await,
                    InFlightAnswer::AskAgain => {}
                },
            }
        };
        // The holder before us may have completed since the key was looked up.
        if permit.looks_again
            && let Some(stored) = self.look_up(call, slot).await?
        {
            return self.answer_again(call, stored).await;
        }
        if self.find_expired(slot).await?.is_some() {
            self.note(Event::Expired);
        }
        if self.flaws.has(Flaw::KeepsClaimOnCrash) {
            self.note_claim(call, slot).await?;
            let answer = self.execute(call, permit).await;
            self.strike_claim(slot).await?;
            return answer;
        }
        self.execute(call, permit).await
    }

    /// Claims the slot of a call, so that a duplicate is told to wait; or returns the fingerprint
    /// of the request that has it.
    async fn claim(&self, call: &Call, slot: &Slot) -> Result<Permit, String> {
        match self.flaws.of(Matter::Claim) {
            Some(Flaw::RecordsOnlyCompleted) => Ok(Permit::unclaimed(Keeping::FirstStays)),
            Some(
                flaw @ (Flaw::ChecksThenSets
                | Flaw::ChecksThenSets1Ms
                | Flaw::ChecksThenSets100Us
                | Flaw::ChecksThenSets20Us
                | Flaw::LastWriterWins),
            ) => self.check_then_set(call, slot, flaw).await,
            Some(
                flaw @ (Flaw::LetsClaimRunOut
                | Flaw::LetsClaimRunOutAtTimes
                | Flaw::FreesClaimOfSuccessor
                | Flaw::OverwritesRecordOfSuccessor),
            ) => self.claim_for_a_while(call, slot, flaw),
            Some(Flaw::ClaimsPerWorker) => Ok(Permit {
                claim: Some(self.in_flight.claim(slot, &call.fingerprint)?),
                keeping: Keeping::FirstStays,
                looks_again: true,
            }),
            _ => Ok(Permit {
                claim: Some(self.in_flight.claim(slot, &call.fingerprint)?),
                keeping: self.keeping(),
                looks_again: true,
            }),
        }
    }

    /// Where a slot stands among the keys in flight: with `claims-per-worker` each worker has a
    /// place of its own, and a connection its worker.
    fn place_in_flight(&self, call: &Call, slot: &Slot) -> Slot {
        let mut place = slot.clone();
        if self.flaws.has(Flaw::ClaimsPerWorker) {
            // Ports of one client are often even: their higher bits tell them apart.
            let worker = u32::from(call.port).wrapping_mul(0x9E37_79B1) >> 29;
            place.operation = format!("{} of worker {worker}", slot.operation);
        }
        place
    }

    /// Claims a slot that is free or whose claim has run out, and nothing in the store tells two
    /// owners apart.
    fn claim_for_a_while(&self, call: &Call, slot: &Slot, flaw: Flaw) -> Result<Permit, String> {
        let (lease, keeping) = match flaw {
            Flaw::LetsClaimRunOutAtTimes => (self.work * 8, Keeping::FirstStays),
            Flaw::OverwritesRecordOfSuccessor => (self.work * 3, Keeping::LastStays),
            _ => (self.work * 3, Keeping::FirstStays),
        };
        let mut claim = self.in_flight.claim_after(lease, slot, &call.fingerprint)?;
        if flaw == Flaw::FreesClaimOfSuccessor {
            claim.frees_any();
        }
        Ok(Permit {
            claim: Some(claim),
            keeping,
            looks_again: true,
        })
    }

    /// Answers a call whose slot another request has.
    async fn answer_in_flight(
        &self,
        call: &Call,
        slot: &Slot,
        holder: &str,
    ) -> Result<InFlightAnswer, StoreError> {
        // A holder without a fingerprint is one whose body has yet to arrive.
        let same = holder.is_empty() || self.is_same(holder, &call.fingerprint);
        let treatment = self.flaws.of(Matter::Duplicate).filter(|_| same);
        Ok(InFlightAnswer::Answer(match treatment {
            Some(Flaw::WaiterRunsAgain) => {
                self.in_flight.freed(slot).await;
                return Ok(InFlightAnswer::Execute(Permit {
                    claim: Some(self.in_flight.overwrite(slot, &call.fingerprint)),
                    keeping: Keeping::FirstStays,
                    looks_again: false,
                }));
            }
            Some(Flaw::FillsPoolWithWaiters) => {
                let _worker = self.worker().await;
                return Ok(self.wait_for_holder(slot, self.work * 10).await);
            }
            Some(Flaw::AnswersRaceLosersWith500) => Answer::internal(),
            _ if !same && self.flaws.has(Flaw::SkipsFingerprintInFlight) => {
                self.in_flight.freed(slot).await;
                let stored = self.store.find(slot.clone(), self.expired()).await?;
                stored.map_or_else(|| self.in_progress(), |stored| self.replay(stored))
            }
            _ if same || self.policy.precedence == Precedence::InProgress => {
                return Ok(self.answer_duplicate(slot).await);
            }
            _ => self.key_reused(None),
        }))
    }

    /// Answers a duplicate of a request in flight as the policy wants.
    async fn answer_duplicate(&self, slot: &Slot) -> InFlightAnswer {
        match &self.policy.in_progress {
            InProgress::Wait(most, _) => self.wait_for_holder(slot, *most).await,
            InProgress::Refuse(_) | InProgress::Accept(_) => {
                InFlightAnswer::Answer(self.in_progress())
            }
        }
    }

    async fn wait_for_holder(&self, slot: &Slot, most: Duration) -> InFlightAnswer {
        let freed = tokio::time::timeout(most, self.in_flight.freed(slot));
        match freed.await {
            Ok(()) => InFlightAnswer::AskAgain,
            Err(_) => InFlightAnswer::Answer(self.in_progress()),
        }
    }

    /// The refusal of a duplicate of a request in flight.
    pub(super) fn in_progress(&self) -> Answer {
        let detail = "A request with this key is being worked on. Ask again in 1 s.";
        let (InProgress::Refuse(look) | InProgress::Wait(_, look) | InProgress::Accept(look)) =
            &self.policy.in_progress;
        self.note(Event::InProgress);
        let mut refusal = Answer::refusal(Problem::InProgress, detail, look, None);
        if self.flaws.has(Flaw::AnswersConflictsAlike) {
            refusal.retry_after = None;
        }
        refusal
    }

    /// Checks a slot, and takes it a moment later whether or not it still is free.
    async fn check_then_set(&self, call: &Call, slot: &Slot, flaw: Flaw) -> Result<Permit, String> {
        let (window, keeping) = match flaw {
            Flaw::ChecksThenSets20Us => (Duration::from_micros(20), Keeping::FirstStays),
            Flaw::ChecksThenSets100Us => (Duration::from_micros(100), Keeping::FirstStays),
            Flaw::ChecksThenSets1Ms => (Duration::from_millis(1), Keeping::FirstStays),
            Flaw::LastWriterWins => (Duration::from_millis(1), Keeping::LastStays),
            _ => (Duration::from_millis(20), Keeping::FirstStays),
        };
        if let Some(holder) = self.in_flight.holder(slot) {
            return Err(holder);
        }
        self.clock.sleep(window).await;
        Ok(Permit {
            claim: Some(self.in_flight.overwrite(slot, &call.fingerprint)),
            keeping,
            looks_again: false,
        })
    }

    /// Counts what befell a key.
    pub fn note(&self, event: Event) {
        let times = match self.flaws.of(Matter::Counting) {
            Some(Flaw::CountsNoDuplicates) => 0,
            Some(Flaw::CountsTwice) => 2,
            _ => 1,
        };
        self.switches.count(event, times);
    }

    /// Whether what fails once for a mark has yet to fail; from now on it has.
    pub fn fails_first(&self, behaviour: Behaviour, mark: &str) -> bool {
        self.memory().failed.insert((behaviour, mark.to_owned()))
    }

    /// Whether the memory of notices did not hold this mark; from now on it does.
    pub fn first_seen(&self, mark: &str) -> bool {
        self.memory().notices.insert(mark.to_owned())
    }

    /// Whether the memory of notices holds this mark.
    pub fn was_seen(&self, mark: &str) -> bool {
        self.memory().notices.contains(mark)
    }

    /// For `keeps-notices-in-memory`: a notice could not be handled.
    pub fn forget_notice(&self, event: &str) {
        self.memory().notices.remove(event);
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
