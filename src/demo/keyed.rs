//! The idempotent execution of a write: look its key up, claim it, execute; or replay, or refuse.
//! Looking up and answering again is in `recall`, working and writing in `execution`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::Options;
use super::answer::{Answer, Problem};
use super::behaviour::Behaviour;
use super::call::{Call, Slot};
use super::clock::{Clock, Timestamp};
use super::flaw::Flaw;
use super::in_flight::{Claim, InFlight};
use super::operation::Operation;
use super::policy::{InProgress, Policy, Precedence};
use super::store::{Keeping, Store, StoreError};

/// The part of the API that executes writes.
#[derive(Debug)]
pub struct Keyed {
    /// The time.
    pub clock: Arc<Clock>,
    /// Where effects and records are.
    pub store: Store,
    /// The planted defect.
    pub flaw: Option<Flaw>,
    /// How it treats keys.
    pub policy: Arc<Policy>,
    /// How long a write works before it writes.
    pub work: Duration,
    /// How long a record is kept.
    pub retention: Duration,
    /// The keys that are being worked on.
    pub in_flight: InFlight,
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
}

/// What a call has once it may execute.
#[derive(Debug)]
pub(super) struct Permit {
    /// The claim on its slot, freed with the permit.
    pub claim: Option<Claim>,
    /// What becomes of the record.
    pub keeping: Keeping,
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
    pub fn new(clock: Arc<Clock>, store: Store, options: Options) -> Keyed {
        Keyed {
            clock,
            store,
            flaw: options.flaw,
            policy: Arc::new(options.policy),
            work: options.work,
            retention: options.retention,
            in_flight: InFlight::default(),
            news: Arc::default(),
            memory: Mutex::default(),
        }
    }

    /// Executes a call, or replays or refuses it.
    pub async fn perform(&self, call: Arc<Call>) -> Answer {
        let answered = match &call.slot {
            Some(slot) => self.perform_once(&call, slot).await,
            None => {
                let permit = Permit {
                    claim: None,
                    keeping: Keeping::Nothing,
                };
                self.execute(&call, permit).await
            }
        };
        answered.unwrap_or_else(|_| Answer::internal())
    }

    /// Everything that was completed at this time or before has expired.
    pub fn expired(&self) -> Timestamp {
        let retention = match self.flaw {
            Some(Flaw::NeverExpires) => Duration::MAX,
            Some(Flaw::ForgetsEarly) => self.retention / 4,
            _ => self.retention,
        };
        let retention = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
        self.clock.now().saturating_sub(retention)
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
        let permit = loop {
            if let Some(stored) = self.look_up(call, slot).await? {
                return self.answer_again(call, stored).await;
            }
            if let Some(refusal) = self.refuse_expired(slot).await? {
                return Ok(refusal);
            }
            match self.claim(call, slot).await {
                Ok(permit) => break permit,
                Err(holder) => match self.answer_in_flight(call, slot, &holder).await? {
                    InFlightAnswer::Answer(answer) => return Ok(answer),
                    InFlightAnswer::Execute(permit) => return self.execute(call, permit).await,
                    InFlightAnswer::AskAgain => {}
                },
            }
        };
        // The holder before us may have completed since the key was looked up.
        if permit.keeping == Keeping::Unique
            && let Some(stored) = self.look_up(call, slot).await?
        {
            return self.answer_again(call, stored).await;
        }
        self.execute(call, permit).await
    }

    /// Claims the slot of a call, so that a duplicate is told to wait; or returns the fingerprint
    /// of the request that has it.
    async fn claim(&self, call: &Call, slot: &Slot) -> Result<Permit, String> {
        match self.flaw {
            Some(Flaw::RecordsOnlyCompleted) => Ok(Permit {
                claim: None,
                keeping: Keeping::FirstStays,
            }),
            Some(
                flaw @ (Flaw::ChecksThenSets
                | Flaw::ChecksThenSets1Ms
                | Flaw::ChecksThenSets100Us
                | Flaw::LastWriterWins),
            ) => self.check_then_set(call, slot, flaw).await,
            _ => Ok(Permit {
                claim: Some(self.in_flight.claim(slot, &call.fingerprint)?),
                keeping: Keeping::Unique,
            }),
        }
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
        Ok(InFlightAnswer::Answer(match self.flaw {
            Some(Flaw::WaiterRunsAgain) if same => {
                self.in_flight.freed(slot).await;
                return Ok(InFlightAnswer::Execute(Permit {
                    claim: Some(self.in_flight.overwrite(slot, &call.fingerprint)),
                    keeping: Keeping::FirstStays,
                }));
            }
            Some(Flaw::SkipsFingerprintInFlight) if !same => {
                self.in_flight.freed(slot).await;
                let stored = self.store.find(slot.clone(), self.expired()).await?;
                stored.map_or_else(|| self.in_progress(), |stored| self.replay(stored))
            }
            Some(Flaw::AnswersRaceLosersWith500) if same => Answer::internal(),
            _ if same || self.policy.precedence == Precedence::InProgress => {
                return Ok(self.answer_duplicate(slot).await);
            }
            _ => self.key_reused(None),
        }))
    }

    /// Answers a duplicate of a request in flight as the policy wants.
    async fn answer_duplicate(&self, slot: &Slot) -> InFlightAnswer {
        if let InProgress::Wait(most, _) = &self.policy.in_progress {
            let freed = tokio::time::timeout(*most, self.in_flight.freed(slot));
            if freed.await.is_ok() {
                return InFlightAnswer::AskAgain;
            }
        }
        InFlightAnswer::Answer(self.in_progress())
    }

    fn in_progress(&self) -> Answer {
        let detail = "A request with this key is being worked on. Ask again in 1 s.";
        let (InProgress::Refuse(look) | InProgress::Wait(_, look) | InProgress::Accept(look)) =
            &self.policy.in_progress;
        Answer::refusal(Problem::InProgress, detail, look, None)
    }

    /// Checks a slot, and takes it a moment later whether or not it still is free.
    async fn check_then_set(&self, call: &Call, slot: &Slot, flaw: Flaw) -> Result<Permit, String> {
        let (window, keeping) = match flaw {
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
        })
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
