//! What is known of a key, and the answer to a request whose key has a record: the stored one,
//! or a refusal.

use std::sync::Arc;

use axum::http::StatusCode;

use super::answer::{Answer, Problem};
use super::call::{Call, Slot};
use super::fingerprint::meaning;
use super::flaw::Flaw;
use super::keyed::{Keyed, Permit};
use super::operation::Operation;
use super::store::{Finish, Keeping, StoreError, Stored};

/// How long `guesses-intent-from-payload` takes an equal payload for the same intent, in
/// milliseconds.
const GUESSING: i64 = 300_000;

impl Keyed {
    /// The record that a call must be answered from.
    pub(super) async fn look_up(
        &self,
        call: &Call,
        slot: &Slot,
    ) -> Result<Option<Stored>, StoreError> {
        let own = self.store.find(slot.clone(), self.expired()).await?;
        if own.is_some() {
            return Ok(own);
        }
        let (condition, third, fourth) = match self.flaw {
            Some(Flaw::SharesKeysBetweenOperations) => (
                "tenant = ?2 AND key = ?3 AND operation LIKE 'POST %' AND ?4 LIKE 'POST %'
                 AND replace(operation, '?dry=1', '') <> replace(?4, '?dry=1', '')",
                &slot.key,
                &slot.operation,
            ),
            Some(Flaw::SharesKeysBetweenMethods) => (
                "tenant = ?2 AND key = ?3 AND substr(operation, 1, 4) <> substr(?4, 1, 4)",
                &slot.key,
                &slot.operation,
            ),
            Some(Flaw::RefusesKeyOfOtherTenant) => (
                "tenant <> ?2 AND key = ?3 AND operation = ?4",
                &slot.key,
                &slot.operation,
            ),
            Some(Flaw::GuessesIntentFromPayload) => (
                "tenant = ?2 AND operation = ?3 AND fingerprint = ?4",
                &slot.operation,
                &call.fingerprint,
            ),
            _ => return Ok(None),
        };
        let since = match self.flaw {
            Some(Flaw::GuessesIntentFromPayload) => self.clock.now() - GUESSING,
            _ => self.expired(),
        };
        let values = vec![slot.tenant.clone(), third.clone(), fourth.clone()];
        self.store.find_where(condition, values, since).await
    }

    /// A record of this key, whoever used it.
    pub(super) async fn find_of_anyone(&self, operation: &Operation, key: &str) -> Option<Stored> {
        let values = vec![operation.label(), key.to_owned()];
        let condition = "operation = ?2 AND key = ?3";
        let found = self.store.find_where(condition, values, self.expired());
        found.await.ok().flatten()
    }

    /// Answers a request whose key has a record: a replay, or a refusal.
    pub(super) async fn answer_again(
        &self,
        call: &Arc<Call>,
        stored: Stored,
    ) -> Result<Answer, StoreError> {
        let own = Some(&stored.slot) == call.slot.as_ref();
        let same = match self.flaw {
            Some(Flaw::SharesKeysBetweenOperations | Flaw::SharesKeysBetweenMethods) if !own => {
                true
            }
            Some(Flaw::RefusesKeyOfOtherTenant) if !own => false,
            _ => meaning(&stored.fingerprint) == meaning(&call.fingerprint),
        };
        if !same {
            return self.answer_changed(call, stored).await;
        }
        match self.flaw {
            Some(Flaw::FingerprintsRawBytesIntoKey) if stored.fingerprint != call.fingerprint => {
                self.answer_reworded(call).await
            }
            Some(Flaw::RunsAgainBehindStoredAnswer) => {
                self.write(call, Keeping::Nothing, Finish::Commit).await?;
                Ok(self.replay(stored))
            }
            Some(Flaw::ReplaysWith500) => Ok(Answer::internal()),
            _ => Ok(self.replay(stored)),
        }
    }

    /// The stored answer, marked as a replay.
    pub(super) fn replay(&self, stored: Stored) -> Answer {
        let mut answer = Answer {
            replayed: true,
            ..stored.answer
        };
        match self.flaw {
            Some(Flaw::FlattensStatusTo200) => answer.status = StatusCode::OK,
            Some(Flaw::DropsLocation) => answer.location = None,
            Some(Flaw::ReplaysAsText) => answer.content_type = Some("text/plain".to_owned()),
            Some(Flaw::StoresServerErrors) => answer.replayed = !answer.status.is_server_error(),
            _ => {}
        }
        answer
    }

    /// The refusal of another request under a used key.
    pub(super) fn key_reused(&self) -> Answer {
        if self.flaw == Some(Flaw::AnswersMismatchWith500) {
            return Answer::internal();
        }
        let detail = "This key was used for another request. Use a new key for a new request.";
        Answer::problem(Problem::KeyReused, detail)
    }

    async fn answer_changed(&self, call: &Arc<Call>, stored: Stored) -> Result<Answer, StoreError> {
        if self.flaw == Some(Flaw::ExecutesRefusedChange) {
            self.write(call, Keeping::Nothing, Finish::Commit).await?;
        }
        if self.flaw == Some(Flaw::PoisonsCacheOnMismatch) {
            let entry = (stored.slot.clone(), call.fingerprint.clone());
            let first_time = self.memory().poisoned.insert(entry);
            if !first_time {
                return Ok(self.replay(stored));
            }
        }
        Ok(self.key_reused())
    }

    /// Takes other bytes for another request, under the key and the bytes together.
    async fn answer_reworded(&self, call: &Arc<Call>) -> Result<Answer, StoreError> {
        let mut call = Call::clone(call);
        let Some(slot) = &mut call.slot else {
            return Ok(Answer::internal());
        };
        slot.key = format!("{} {}", slot.key, call.fingerprint);
        if let Some(stored) = self.store.find(slot.clone(), self.expired()).await? {
            return Ok(self.replay(stored));
        }
        let permit = Permit {
            claim: None,
            keeping: Keeping::FirstStays,
        };
        self.execute(&Arc::new(call), permit).await
    }
}
