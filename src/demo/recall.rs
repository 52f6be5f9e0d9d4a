//! What is known of a key, and the answer to a request whose key has a record: the stored one,
//! or a refusal.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use bytes::Bytes;
use serde_json::{Map, Value};

use super::answer::{Answer, Problem, status};
use super::call::{Call, Slot};
use super::caller::GUEST;
use super::clock::Timestamp;
use super::fingerprint::{meaning, route};
use super::flaw::Flaw;
use super::flaws::Matter;
use super::keyed::{Keyed, Permit};
use super::ledger::{self, Kind};
use super::operation::{Command, Operation};
use super::outbox;
use super::policy::{Deleted, Expired, Gives, Mismatch, Refusal, Wording};
use super::rewording::written_anew;
use super::store::{Finish, Keeping, StoreError, Stored};
use super::switches::Event;

/// How long `guesses-intent-from-payload` takes an equal payload for the same intent, in
/// milliseconds.
const GUESSING: i64 = 300_000;

/// Where `cuts-replays` cuts a body, in bytes.
const CUT: usize = 64 * 1024;

impl Keyed {
    /// The record that a call must be answered from.
    pub(super) async fn look_up(
        &self,
        call: &Call,
        slot: &Slot,
    ) -> Result<Option<Stored>, StoreError> {
        let own = self.store.find(slot.clone(), self.expired()).await?;
        if let Some(stored) = &own
            && self.flaws.has(Flaw::RemakesWhatWasDeleted)
            && self.is_gone(call, stored).await?
        {
            self.store.forget(slot.clone()).await?;
            return Ok(None);
        }
        if own.is_some() {
            return Ok(own.filter(|stored| self.has_arrived(stored)));
        }
        let beside = self.flaws.of(Matter::LookUp);
        let (condition, third, fourth) = match beside {
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
        let since = match beside {
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

    /// The refusal of a key that was kept long enough, where the policy refuses it.
    pub(super) async fn refuse_expired(&self, slot: &Slot) -> Result<Option<Answer>, StoreError> {
        let Expired::Refuse(look) = &self.policy.expired else {
            return Ok(None);
        };
        let detail = "This key was used too long ago. Use a new key for a new request.";
        Ok(self.find_expired(slot).await?.map(|_| {
            self.note(Event::Expired);
            Answer::refusal(Problem::KeyExpired, detail, look, None)
        }))
    }

    /// The record of a slot that was kept long enough, as long as nothing has taken its place.
    pub(super) async fn find_expired(&self, slot: &Slot) -> Result<Option<Stored>, StoreError> {
        let used = self.store.find(slot.clone(), Timestamp::MIN).await?;
        // One that was completed since it was looked up is not old.
        Ok(used.filter(|used| used.completed <= self.expired()))
    }

    /// Whether two fingerprints are those of one request, by what the policy compares.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        matches!(self.policy.mismatch, Mismatch::Replay)
            || route(one) != route(other)
            || meaning(one) == meaning(other)
    }

    /// Answers a request whose key has a record: a replay, or a refusal.
    pub(super) async fn answer_again(
        &self,
        call: &Arc<Call>,
        stored: Stored,
    ) -> Result<Answer, StoreError> {
        let own = Some(&stored.slot) == call.slot.as_ref();
        let same = match self.flaws.of(Matter::LookUp) {
            Some(Flaw::SharesKeysBetweenOperations | Flaw::SharesKeysBetweenMethods) if !own => {
                true
            }
            Some(Flaw::RefusesKeyOfOtherTenant) if !own => false,
            _ => self.is_same(&stored.fingerprint, &call.fingerprint),
        };
        if !same {
            return self.answer_changed(call, stored).await;
        }
        if self.flaws.has(Flaw::FingerprintsRawBytesIntoKey)
            && stored.fingerprint != call.fingerprint
        {
            return self.answer_reworded(call).await;
        }
        if self.flaws.has(Flaw::RunsAgainBehindStoredAnswer) {
            self.write(call, Keeping::Nothing, Finish::Commit).await?;
        }
        if self.flaws.has(Flaw::EmitsEventOnReplay) {
            self.announce_again(call, &stored).await?;
        }
        if self.flaws.has(Flaw::ReplaysWith500) {
            return Ok(Answer::internal());
        }
        self.repeat(call, stored).await
    }

    /// Announces once more what the first request of the key has made.
    async fn announce_again(&self, call: &Arc<Call>, stored: &Stored) -> Result<(), StoreError> {
        let made = serde_json::from_slice(&stored.answer.body).unwrap_or_default();
        self.announce(call, made).await
    }

    /// Announces what a call has made, or not.
    pub(super) async fn announce(
        &self,
        call: &Arc<Call>,
        made: Map<String, Value>,
    ) -> Result<(), StoreError> {
        let (call, now) = (Arc::clone(call), self.clock.now());
        self.store
            .change(move |connection| outbox::announce(connection, &call, &made, now))
            .await?;
        self.news.notify_one();
        Ok(())
    }

    /// The answer to a repeat, as the policy gives it.
    async fn repeat(&self, call: &Call, stored: Stored) -> Result<Answer, StoreError> {
        let policy = &self.policy.replay;
        if self.since(stored.completed) < policy.from {
            return Ok(self.in_progress());
        }
        if let Some((most, look)) = &policy.tombstone
            && stored.answer.body.len() >= *most
        {
            let detail = "The answer was too large to be kept. The request will not run again.";
            return Ok(Answer::refusal(Problem::TooLarge, detail, look, None));
        }
        let made = made(&stored.answer).filter(|_| stored.answer.status.is_success());
        // What a batch has made is several things.
        if let (Deleted::Refuse(look), Some(id)) = (&policy.deleted, &made)
            && !matches!(call.command, Command::Batch(_))
            && self.find_made(call.tenant, id.clone()).await?.is_none()
        {
            let detail = "What this key has made is deleted.";
            return Ok(Answer::refusal(Problem::NotFound, detail, look, None));
        }
        if let (Gives::Conflict(look), Some(id)) = (&policy.gives, &made) {
            let change = change(&stored.answer);
            let id = change.as_ref().unwrap_or(id);
            let detail = format!("This key has made {id}.");
            let mut refusal = Answer::refusal(Problem::Conflict, detail, look, Some(id));
            if let Some(place) = &stored.answer.location {
                let link = format!("<{place}>; rel=\"related\"");
                refusal.headers.push(("Link".to_owned(), link));
            }
            return Ok(refusal);
        }
        let mut answer = self.replay(stored);
        if let Some(number) = policy.status
            && answer.status.is_success()
        {
            answer.status = status(number);
        }
        match (&policy.gives, made) {
            (Gives::Current, Some(id)) => {
                if let Some(now) = self.as_it_is(call.tenant, id, &answer.body).await? {
                    answer.body = now;
                }
            }
            (Gives::Reference(number), Some(id)) => {
                answer.status = status(*number);
                let mut names = Map::from_iter([("id".to_owned(), Value::from(id))]);
                if let Some(change) = change(&answer) {
                    if answer.status.is_redirection() {
                        answer.location = Some(format!("/changes/{change}"));
                    }
                    names.insert("change_id".to_owned(), Value::from(change));
                }
                answer.body = Bytes::from(Value::Object(names).to_string());
            }
            _ => {}
        }
        if policy.wording == Wording::Anew {
            answer.body = written_anew(&answer.body);
        }
        Ok(answer)
    }

    /// How long ago something was, on the demo's clock.
    fn since(&self, then: Timestamp) -> Duration {
        let passed = self.clock.now().saturating_sub(then);
        Duration::from_millis(u64::try_from(passed).unwrap_or_default())
    }

    /// What was made under this id, as it is now.
    async fn find_made(
        &self,
        tenant: &'static str,
        id: String,
    ) -> Result<Option<Map<String, Value>>, StoreError> {
        let find = move |connection: &_| {
            let payment = ledger::find(connection, Kind::Payment, tenant, &id)?;
            match payment {
                Some(payment) => Ok(Some(payment)),
                None => ledger::find(connection, Kind::Refund, tenant, &id),
            }
        };
        self.store.read(find).await
    }

    /// Whether the payment that an answer tells of is no longer there.
    async fn is_gone(&self, call: &Call, stored: &Stored) -> Result<bool, StoreError> {
        let made = made(&stored.answer).filter(|_| matches!(call.command, Command::Pay(_)));
        let Some(id) = made else {
            return Ok(false);
        };
        let tenant = call.tenant;
        let find = move |connection: &_| ledger::find(connection, Kind::Payment, tenant, &id);
        Ok(self.store.read(find).await?.is_none())
    }

    /// The thing of this id as it is now, with what only the stored body says; `None` when it is gone.
    async fn as_it_is(
        &self,
        tenant: &'static str,
        id: String,
        stored: &[u8],
    ) -> Result<Option<Bytes>, StoreError> {
        let (Some(mut now), Ok(then)) = (
            self.find_made(tenant, id).await?,
            serde_json::from_slice::<Map<String, Value>>(stored),
        ) else {
            return Ok(None);
        };
        for (name, value) in then {
            now.entry(name).or_insert(value);
        }
        Ok(Some(Bytes::from(Value::Object(now).to_string())))
    }

    /// The stored answer, marked as a replay.
    pub(super) fn replay(&self, stored: Stored) -> Answer {
        self.note(Event::Replay);
        let mut answer = Answer {
            replayed: true,
            ..stored.answer
        };
        self.distort(&mut answer);
        answer
    }

    /// What flaws do to a stored answer.
    fn distort(&self, answer: &mut Answer) {
        if self.flaws.has(Flaw::StoresServerErrors) {
            answer.replayed = !answer.status.is_server_error();
        }
        if self.flaws.has(Flaw::ReplaysNoContentAsNull) && answer.status == StatusCode::NO_CONTENT {
            answer.status = StatusCode::OK;
            answer.content_type = Some("application/json".to_owned());
            answer.body = Bytes::from_static(b"null");
        }
        if self.flaws.has(Flaw::FlattensStatusTo200) {
            answer.status = StatusCode::OK;
        }
        if self.flaws.has(Flaw::DropsLocation) {
            answer.location = None;
        }
        if self.flaws.has(Flaw::ReplaysAsText) {
            answer.content_type = Some("text/plain".to_owned());
        }
        if self.flaws.has(Flaw::StoresBytesAsText) {
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            answer.body = Bytes::from(text);
        }
        if self.flaws.has(Flaw::CutsReplays) {
            answer.body.truncate(CUT);
        }
    }

    /// The refusal of another request under a used key.
    pub(super) fn key_reused(&self, stored: Option<&Stored>) -> Answer {
        self.note(Event::Mismatch);
        match self.flaws.of(Matter::Change) {
            Some(Flaw::AnswersMismatchWith500) => return Answer::internal(),
            Some(Flaw::AnswersConflictsAlike) => return self.in_progress(),
            _ => {}
        }
        let detail = "This key was used for another request. Use a new key for a new request.";
        let bare = Refusal::of(422);
        let look = match &self.policy.mismatch {
            Mismatch::Refuse(look) => look,
            Mismatch::Replay | Mismatch::Execute => &bare,
        };
        // Guests are strangers to each other.
        let named = stored.filter(|stored| stored.slot.tenant != GUEST);
        let made = named.and_then(|stored| made(&stored.answer));
        Answer::refusal(Problem::KeyReused, detail, look, made.as_deref())
    }

    async fn answer_changed(&self, call: &Arc<Call>, stored: Stored) -> Result<Answer, StoreError> {
        if self.flaws.has(Flaw::ExecutesRefusedChange) {
            self.write(call, Keeping::Nothing, Finish::Commit).await?;
        }
        if self.flaws.has(Flaw::PoisonsCacheOnMismatch) {
            let entry = (stored.slot.clone(), call.fingerprint.clone());
            let first_time = self.memory().poisoned.insert(entry);
            if !first_time {
                return Ok(self.replay(stored));
            }
        }
        Ok(self.key_reused(Some(&stored)))
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
        let permit = Permit::unclaimed(Keeping::FirstStays);
        self.execute(&Arc::new(call), permit).await
    }
}

/// The id of the change that an answer tells of: what a changed thing is called says nothing of it.
fn change(answer: &Answer) -> Option<String> {
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    body["change_id"].as_str().map(str::to_owned)
}

/// The id of what an answer made, where its body or its `Location` says one.
fn made(answer: &Answer) -> Option<String> {
    let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let id = body.as_ref().and_then(|body| body["id"].as_str());
    let last = answer
        .location
        .as_deref()
        .and_then(|place| place.rsplit('/').next());
    id.or(last).map(str::to_owned)
}
