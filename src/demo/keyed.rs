//! The idempotent execution of a write: look the key up, claim it, work, then write effects,
//! key and answer in one transaction; or replay, or refuse. Most flaws are conditions in here.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::answer::{Answer, Problem};
use super::behaviour::Behaviour;
use super::call::{Call, Slot};
use super::clock::{Clock, Timestamp};
use super::flaw::Flaw;
use super::in_flight::{Claim, InFlight};
use super::store::{Finish, Keeping, Store, StoreError, Stored, Written};

/// How long `guesses-intent-from-payload` takes an equal payload for the same intent.
const GUESSING: i64 = 300_000;

/// The part of the API that executes writes.
#[derive(Debug)]
pub struct Keyed {
    /// The time.
    pub clock: Arc<Clock>,
    /// Where effects and records are.
    pub store: Store,
    /// The planted defect.
    pub flaw: Option<Flaw>,
    /// How long a write works before it writes.
    pub work: Duration,
    /// How long a record is kept.
    pub retention: Duration,
    /// The keys that are being worked on.
    pub in_flight: InFlight,
    failed: Mutex<HashSet<(Behaviour, String)>>,
}

impl Keyed {
    /// Executes writes on a store.
    pub fn new(
        clock: Arc<Clock>,
        store: Store,
        flaw: Option<Flaw>,
        work: Duration,
        retention: Duration,
    ) -> Keyed {
        Keyed {
            clock,
            store,
            flaw,
            work,
            retention,
            in_flight: InFlight::default(),
            failed: Mutex::default(),
        }
    }

    /// Executes a call, or replays or refuses it.
    pub async fn perform(&self, call: Arc<Call>) -> Answer {
        let answered = match &call.slot {
            Some(slot) => self.perform_once(&call, slot).await,
            None => self.execute(&call, Keeping::Nothing).await,
        };
        answered.unwrap_or_else(|_| Answer::internal())
    }

    /// Everything that was completed at this time or before has expired.
    pub fn expired(&self) -> Timestamp {
        if self.flaw == Some(Flaw::NeverExpires) {
            return Timestamp::MIN;
        }
        let retention = i64::try_from(self.retention.as_millis()).unwrap_or(i64::MAX);
        self.clock.now().saturating_sub(retention)
    }

    async fn perform_once(&self, call: &Arc<Call>, slot: &Slot) -> Result<Answer, StoreError> {
        if let Some(stored) = self.look_up(call, slot).await? {
            return self.answer_again(call, stored).await;
        }
        let (_claim, keeping) = match self.claim(call, slot).await {
            Ok(claimed) => claimed,
            Err(refusal) => return Ok(refusal),
        };
        self.execute(call, keeping).await
    }

    async fn look_up(&self, call: &Call, slot: &Slot) -> Result<Option<Stored>, StoreError> {
        let own = self.store.find(slot.clone(), self.expired()).await?;
        if own.is_some() {
            return Ok(own);
        }
        match self.flaw {
            Some(Flaw::SharesKeysBetweenOperations) => {
                let condition = "tenant = ?2 AND key = ?3 AND operation LIKE 'POST %'";
                let values = vec![slot.tenant.clone(), slot.key.clone()];
                self.store
                    .find_where(condition, values, self.expired())
                    .await
            }
            Some(Flaw::GuessesIntentFromPayload) => {
                let condition = "tenant = ?2 AND operation = ?3 AND fingerprint = ?4";
                let values = vec![
                    slot.tenant.clone(),
                    slot.operation.clone(),
                    call.fingerprint.clone(),
                ];
                let since = self.clock.now() - GUESSING;
                self.store.find_where(condition, values, since).await
            }
            _ => Ok(None),
        }
    }

    /// Answers a request whose key has a record: a replay, or a refusal.
    async fn answer_again(&self, call: &Arc<Call>, stored: Stored) -> Result<Answer, StoreError> {
        let same = stored.fingerprint == call.fingerprint
            || (self.flaw == Some(Flaw::SharesKeysBetweenOperations)
                && Some(&stored.slot) != call.slot.as_ref());
        if !same {
            return Ok(key_reused());
        }
        if self.flaw == Some(Flaw::RunsAgainBehindStoredAnswer) {
            self.write(call, Keeping::Nothing, Finish::Commit).await?;
        }
        Ok(replay(stored))
    }

    async fn claim(&self, call: &Call, slot: &Slot) -> Result<(Claim, Keeping), Answer> {
        let refuse = |holder: String| {
            if holder == call.fingerprint {
                let detail = "A request with this key is being worked on. Ask again in 1 s.";
                return Answer::problem(Problem::InProgress, detail);
            }
            key_reused()
        };
        if self.flaw == Some(Flaw::ChecksThenSets) {
            if let Some(holder) = self.in_flight.holder(slot) {
                return Err(refuse(holder));
            }
            self.clock.sleep(Duration::from_millis(20)).await;
            let claim = self.in_flight.overwrite(slot, &call.fingerprint);
            return Ok((claim, Keeping::FirstStays));
        }
        let claim = self.in_flight.claim(slot, &call.fingerprint);
        claim.map(|claim| (claim, Keeping::Unique)).map_err(refuse)
    }

    /// Works, writes, and answers.
    async fn execute(&self, call: &Arc<Call>, mut keeping: Keeping) -> Result<Answer, StoreError> {
        let linger = call.behaviour == Some(Behaviour::Linger);
        if !linger {
            self.work(call).await;
        }
        if let Some(failure) = self.failure_before(call) {
            return Ok(failure);
        }
        if self.flaw == Some(Flaw::DropsClaimOnHangUp) && call.line.is_dead() {
            keeping = Keeping::Nothing;
        }
        let fails = self.fails_after(call);
        let finish = if fails {
            Finish::RollBack
        } else {
            Finish::Commit
        };
        let answer = match self.write(call, keeping, finish).await? {
            Written::Executed(_) if fails => Answer::internal(),
            Written::Executed(answer) | Written::Refused(answer) => answer,
            Written::Taken(first) => return self.answer_again(call, *first).await,
        };
        if linger {
            self.clock.sleep(self.work * 8).await;
        }
        Ok(answer)
    }

    async fn work(&self, call: &Call) {
        let slow = call.behaviour == Some(Behaviour::Slow);
        let times = if slow { 8 } else { 1 };
        self.clock.sleep(self.work * times).await;
    }

    fn failure_before(&self, call: &Call) -> Option<Answer> {
        match call.behaviour {
            Some(Behaviour::Decline) => {
                let detail = "The card was declined. Nothing was charged.";
                Some(Answer::problem(Problem::Declined, detail))
            }
            Some(Behaviour::FailBefore) => Some(Answer::internal()),
            Some(Behaviour::FailOnce) if self.is_first_failure(call) => Some(Answer::internal()),
            _ => None,
        }
    }

    fn fails_after(&self, call: &Call) -> bool {
        match call.behaviour {
            Some(Behaviour::FailAfter) => true,
            Some(Behaviour::FailAfterOnce) => self.is_first_failure(call),
            _ => false,
        }
    }

    /// Whether a behaviour that fails once per reference has yet to fail; from now on it has.
    fn is_first_failure(&self, call: &Call) -> bool {
        let Some(behaviour) = call.behaviour else {
            return false;
        };
        let mark = format!("{} {}", call.tenant, call.command.reference());
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert((behaviour, mark))
    }

    async fn write(
        &self,
        call: &Arc<Call>,
        keeping: Keeping,
        finish: Finish,
    ) -> Result<Written, StoreError> {
        let now = match self.flaw {
            Some(Flaw::CountsRetentionFromClaim) => call.started,
            _ => self.clock.now(),
        };
        let expired = self.expired();
        self.store
            .write(Arc::clone(call), keeping, finish, now, expired)
            .await
    }
}

/// The stored answer, marked as a replay.
pub fn replay(stored: Stored) -> Answer {
    Answer {
        replayed: true,
        ..stored.answer
    }
}

/// The refusal of another request under a used key.
fn key_reused() -> Answer {
    let detail = "This key was used for another request. Use a new key for a new request.";
    Answer::problem(Problem::KeyReused, detail)
}
