//! What stands in front of the demo and may have less patience than a slow write needs: then it answers
//! with a page of its own.

use axum::http::StatusCode;
use bytes::Bytes;
use tokio::task::JoinHandle;

use super::answer::Answer;
use super::behaviour::Behaviour;
use super::call::Call;
use super::flaw::Flaw;
use super::flaws::Matter;
use super::keyed::Keyed;

/// How much work is waited for; a slow write needs eight times the usual.
const MOST: u32 = 6;

impl Keyed {
    /// The page that a write gets without being passed on, if it is not.
    pub(super) fn not_passed_on(&self, call: &Call) -> Option<Answer> {
        let slot = call.slot.as_ref()?;
        let refuses = match self.flaws.has(Flaw::KeepsGivingUp) {
            true => self.memory().given_up.contains(slot),
            false => {
                self.manners.gives_up_beforehand
                    && is_long(call)
                    && self.memory().given_up.insert(slot.clone())
            }
        };
        refuses.then(gave_up)
    }

    /// The answer to a write, or the page of what did not wait for it. The write goes on all the same.
    pub(super) async fn awaited(
        &self,
        call: &Call,
        mut write: JoinHandle<Answer>,
    ) -> Result<Answer, Answer> {
        let waits = self.flaws.of(Matter::Patience).is_none() || !is_long(call);
        tokio::select! {
            biased;
            () = self.clock.sleep(self.work * MOST), if !waits => {
                self.memory().given_up.extend(call.slot.clone());
                Ok(gave_up())
            }
            written = &mut write => written.map_err(|_| Answer::internal()),
        }
    }
}

/// Whether a write works, or is slow afterwards, for longer than what stands in front waits.
fn is_long(call: &Call) -> bool {
    call.slow || call.behaviour == Some(Behaviour::Linger)
}

/// A page as proxies make them, in the words of Envoy.
fn gave_up() -> Answer {
    Answer {
        content_type: Some("text/plain".to_owned()),
        body: Bytes::from_static(b"upstream request timeout"),
        ..Answer::empty(StatusCode::GATEWAY_TIMEOUT)
    }
}
