//! The execution of a write: the work, then its effects, the record of its key and its answer in
//! one transaction; and the failures that a behaviour asks for.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::behaviour::Behaviour;
use super::call::Call;
use super::clock::Timestamp;
use super::flaw::Flaw;
use super::flaws::Matter;
use super::keyed::{Keyed, Permit};
use super::ledger::{self, Effects};
use super::operation::{Command, Payment};
use super::policy::{Fate, KeptFrom};
use super::store::{Finish, Keeping, StoreError, Stored, Terms, Written};
use super::switches::Event;

/// The longest answer that `stores-no-long-answers` keeps, in bytes.
const LONGEST: usize = 256 * 1024;
/// The records that `evicts-oldest-keys` keeps.
const MOST_KEYS: u32 = 256;

impl Keyed {
    /// Works, writes, and answers.
    pub(super) async fn execute(
        &self,
        call: &Arc<Call>,
        mut permit: Permit,
    ) -> Result<Answer, StoreError> {
        if call.behaviour != Some(Behaviour::Linger) {
            self.work(call).await;
        }
        if self.flaws.has(Flaw::KeepsClaimOnHangUp) && call.line.is_dead() {
            permit.leave_claim();
            return Ok(Answer::internal());
        }
        if let Some(failure) = self.failure_before(call) {
            return self.fail(call, permit, failure).await;
        }
        if self.fails_after(call) {
            return self.fail_after(call, permit).await;
        }
        if self.flaws.has(Flaw::DropsClaimOnHangUp) && call.line.is_dead() {
            permit.keeping = Keeping::Nothing;
        }
        let without_length = matches!(
            call.behaviour,
            Some(Behaviour::NoContent | Behaviour::Stream)
        );
        if self.flaws.has(Flaw::RecordsOnlyWholeBodies) && without_length {
            permit.keeping = Keeping::Nothing;
            permit.leave_claim();
        }
        if self.flaws.has(Flaw::OverwritesRecordOfSuccessor)
            && let Some(claim) = &permit.claim
        {
            claim.outlasts_successor().await;
        }
        let _writer = self.worker().await;
        let answer = match self.write_and_record(call, &mut permit).await? {
            Written::Executed(answer) | Written::Refused(answer) => answer,
            Written::Taken(first) => return Box::pin(self.answer_again(call, *first)).await,
        };
        if !self.flaws.has(Flaw::RecordsOutsideTransaction) {
            self.linger(call).await;
        }
        Ok(answer)
    }

    /// Is slow after the write, where a behaviour asks for it.
    async fn linger(&self, call: &Call) {
        if call.behaviour == Some(Behaviour::Linger) {
            self.clock.sleep(self.work * 8).await;
        }
    }

    /// Writes a call in one transaction.
    pub(super) async fn write(
        &self,
        call: &Arc<Call>,
        keeping: Keeping,
        finish: Finish,
    ) -> Result<Written, StoreError> {
        let terms = Terms {
            keeping,
            finish,
            effects: match self.flaws.has(Flaw::CancelsBetweenEffects) {
                true => Effects::ChargeOnly,
                false => Effects::All,
            },
            now: self.kept_from(call),
            expired: self.expired(),
            longest: match self.flaws.has(Flaw::StoresNoLongAnswers) {
                true => LONGEST,
                false => usize::MAX,
            },
        };
        let written = self.store.write(Arc::clone(call), terms).await;
        self.news.notify_one();
        written
    }

    /// From when on the retention of a call's key counts.
    fn kept_from(&self, call: &Call) -> Timestamp {
        let from_start = self.policy.kept_from == KeptFrom::Start
            || self.flaws.has(Flaw::CountsRetentionFromClaim);
        match from_start {
            true => call.started,
            false => self.clock.now(),
        }
    }

    async fn write_and_record(
        &self,
        call: &Arc<Call>,
        permit: &mut Permit,
    ) -> Result<Written, StoreError> {
        let written = match (self.flaws.of(Matter::Record), &call.command) {
            (Some(Flaw::CancelsBetweenEffects), Command::Pay(payment)) => {
                self.write_in_two_steps(call, payment).await
            }
            (Some(Flaw::RecordsAfterResponse), _) => {
                self.write_then_record_later(call, Duration::from_millis(200))
                    .await
            }
            (Some(Flaw::RecordsLate), _) => {
                self.write_then_record_later(call, Duration::from_millis(2))
                    .await
            }
            (Some(Flaw::LeavesGapAfterEffect), _) => self.write_gap_record(call).await,
            (Some(Flaw::RecordsOutsideTransaction), _) => self.write_then_record(call).await,
            (Some(Flaw::FreesClaimBeforeRecord), _) => {
                let written = self.write(call, Keeping::Nothing, Finish::Commit).await?;
                permit.claim = None;
                self.clock.sleep(Duration::from_millis(1)).await;
                self.record(call, &written).await?;
                Ok(written)
            }
            _ => self.write(call, permit.keeping, Finish::Commit).await,
        };
        if self.flaws.has(Flaw::EvictsOldestKeys) {
            self.store.evict(MOST_KEYS).await?;
        }
        written
    }

    /// Charges, and issues the receipt and keeps the record only for a client that still is there.
    async fn write_in_two_steps(
        &self,
        call: &Arc<Call>,
        payment: &Payment,
    ) -> Result<Written, StoreError> {
        if call.line.is_dead() {
            return Ok(Written::Refused(Answer::internal()));
        }
        let charged = self.write(call, Keeping::Nothing, Finish::Commit).await?;
        self.work(call).await;
        if call.line.is_dead() {
            return Ok(charged);
        }
        let (receipt_call, payment, now) = (Arc::clone(call), payment.clone(), self.clock.now());
        self.store
            .change(move |connection| {
                ledger::issue_receipt(connection, &receipt_call, &payment, now)
            })
            .await?;
        self.record(call, &charged).await?;
        Ok(charged)
    }

    async fn write_then_record_later(
        &self,
        call: &Arc<Call>,
        gap: Duration,
    ) -> Result<Written, StoreError> {
        let written = self.write(call, Keeping::Nothing, Finish::Commit).await?;
        if let Some(row) = self.row(call, &written) {
            let (clock, store, expired) = (self.clock.clone(), self.store.clone(), self.expired());
            tokio::spawn(async move {
                clock.sleep(gap).await;
                // Nobody is left to be told that the record was lost.
                let _ = store.keep(row, expired).await;
            });
        }
        Ok(written)
    }

    /// Keeps the record when the answer is ready, in a transaction of its own.
    async fn write_then_record(&self, call: &Arc<Call>) -> Result<Written, StoreError> {
        let written = self.write(call, Keeping::Nothing, Finish::Commit).await?;
        self.linger(call).await;
        self.record(call, &written).await?;
        Ok(written)
    }

    async fn write_gap_record(&self, call: &Arc<Call>) -> Result<Written, StoreError> {
        let written = self.write(call, Keeping::Nothing, Finish::Commit).await?;
        self.clock.sleep(Duration::from_millis(300)).await;
        if !call.line.is_dead() {
            self.record(call, &written).await?;
        }
        Ok(written)
    }

    /// Keeps the record of a write outside its transaction.
    async fn record(&self, call: &Call, written: &Written) -> Result<(), StoreError> {
        match self.row(call, written) {
            Some(row) => self.store.keep(row, self.expired()).await,
            None => Ok(()),
        }
    }

    fn row(&self, call: &Call, written: &Written) -> Option<Stored> {
        let (Some(slot), Written::Executed(answer)) = (&call.slot, written) else {
            return None;
        };
        Some(Stored {
            slot: slot.clone(),
            fingerprint: call.fingerprint.clone(),
            answer: answer.clone(),
            completed: self.kept_from(call),
        })
    }

    async fn work(&self, call: &Call) {
        let work = match call.slow {
            true if self.flaws.has(Flaw::LetsClaimRunOutAtTimes) => {
                // From 95 to 125 % of the lease, at random.
                let percent = 95 + Uuid::new_v4().as_u128() % 31;
                (self.work * 8).mul_f64(percent as f64 / 100.0)
            }
            true => self.work * 8,
            false => self.work,
        };
        self.clock.sleep(work).await;
    }

    fn failure_before(&self, call: &Call) -> Option<Answer> {
        if let Command::Refuse(refusal) = &call.command {
            return Some(refusal.clone());
        }
        match call.behaviour {
            Some(Behaviour::Decline) => {
                let detail = "The card was declined. Nothing was charged.";
                Some(Answer::problem(Problem::Declined, detail))
            }
            Some(Behaviour::TimeOut) => {
                self.note(Event::TimedOut);
                let detail = "The work took too long and was given up. Nothing was done.";
                Some(Answer::problem(Problem::TimedOut, detail))
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
        self.fails_first(behaviour, &mark)
    }

    /// Fails after the write, of which nothing stays.
    async fn fail_after(&self, call: &Arc<Call>, permit: Permit) -> Result<Answer, StoreError> {
        let (keeping, finish) = match self.flaws.has(Flaw::ForgetsKeyAfterEffect) {
            true => (Keeping::Nothing, Finish::Commit),
            false => (permit.keeping, Finish::RollBack),
        };
        let written = self.write(call, keeping, finish).await?;
        if self.flaws.has(Flaw::KeepsKeyOfRolledBackWrite) {
            self.record(call, &written).await?;
        }
        if let Written::Executed(answer) = &written
            && self.flaws.has(Flaw::AnnouncesRolledBackWrites)
            && let Ok(made) = serde_json::from_slice(&answer.body)
        {
            self.announce(call, made).await?;
        }
        match written {
            Written::Executed(_) => self.fail(call, permit, Answer::internal()).await,
            Written::Refused(answer) => Ok(answer),
            Written::Taken(first) => Box::pin(self.answer_again(call, *first)).await,
        }
    }

    /// Answers a failure. Nothing of it is stored unless the policy says so, and the claim is freed
    /// with the permit.
    async fn fail(
        &self,
        call: &Call,
        mut permit: Permit,
        failure: Answer,
    ) -> Result<Answer, StoreError> {
        if failure.status.is_server_error() {
            match self.flaws.of(Matter::Failure) {
                Some(Flaw::KeepsClaimOnError) => permit.leave_claim(),
                Some(Flaw::StoresServerErrors) => {
                    self.record(call, &Written::Executed(failure.clone()))
                        .await?;
                }
                _ => {}
            }
        }
        if self.flaws.has(Flaw::FreesAnotherClaim) && failure.status.is_client_error() {
            permit.leave_claim();
        }
        match self.fate(call, &failure) {
            Fate::Forgotten => {}
            Fate::Stored => {
                let stored = Written::Executed(failure.clone());
                self.record(call, &stored).await?;
            }
            Fate::Blocked => {
                let stored = Written::Executed(self.key_reused(None));
                self.record(call, &stored).await?;
            }
        }
        Ok(failure)
    }

    /// What the policy makes of a failure.
    fn fate(&self, call: &Call, failure: &Answer) -> Fate {
        let fates = self.policy.after;
        match &call.command {
            _ if failure.status == StatusCode::TOO_MANY_REQUESTS => fates.rate_limited,
            Command::Refuse(_) => fates.validation,
            _ if failure.status.is_server_error() => fates.server_error,
            _ => fates.declined,
        }
    }
}

impl Permit {
    fn leave_claim(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.leave();
        }
    }
}
