//! What came to the receiver, and how it is to treat what comes next.

use crate::runner::round::locked;
use crate::scenario::Receiving;
use crate::target::matcher::{Match, Wants};
use crate::target::selector::Answer;
use bytes::Bytes;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// One delivery as it came.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) at: Instant,
    /// Path and query.
    pub(super) path: String,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Bytes,
    pub(super) received: Receiving,
}

impl Received {
    /// The delivery, as selectors look at it.
    pub(super) fn answer(&self) -> Answer<'_> {
        Answer {
            status: 0,
            headers: &self.headers,
            body: &self.body,
        }
    }

    /// Whether all conditions hold.
    pub(super) fn fits(&self, wanted: &Match) -> bool {
        // A text of ours is a word that occurs nowhere else: what lacks it need not be parsed.
        let lacks = wanted.conditions.iter().any(|condition| {
            matches!(&condition.wants, Wants::Equal(Value::String(text)) if is_word(text) && !self.mentions(text))
        });
        !lacks && wanted.holds(&self.answer())
    }

    /// Whether a text occurs anywhere in it.
    fn mentions(&self, text: &str) -> bool {
        let within = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
        self.path.contains(text)
            || within(&self.body)
            || self.headers.iter().any(|(_, value)| within(value))
    }
}

/// A text that is written in the same way wherever it stands.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Everything that came, and the treatments that are still to be given.
#[derive(Default)]
pub(super) struct Log {
    deliveries: Mutex<Vec<Arc<Received>>>,
    treatments: Mutex<Vec<Treatment>>,
    came: Notify,
}

/// How deliveries with a marker are treated.
struct Treatment {
    /// The step, for messages.
    name: String,
    marker: String,
    answer: Receiving,
    left: u32,
    /// Instead of a number: from the first one on, for so long.
    lasts: Option<Duration>,
    since: Option<Instant>,
    used: bool,
}

impl Treatment {
    /// Whether the next delivery is still treated so.
    fn is_due(&self) -> bool {
        match (self.lasts, self.since) {
            (None, _) => self.left > 0,
            (Some(_), None) => true,
            (Some(lasts), Some(since)) => since.elapsed() < lasts,
        }
    }
}

impl Log {
    /// Treats the next deliveries with this marker so.
    pub(super) fn treat(
        &self,
        name: String,
        marker: String,
        answer: Receiving,
        times: u32,
        lasts: Option<Duration>,
    ) {
        locked(&self.treatments).push(Treatment {
            name,
            marker,
            answer,
            left: times,
            lasts,
            since: None,
            used: false,
        });
    }

    /// The treatments of a marker that met no delivery; all of them are over now.
    pub(super) fn untreated(&self, marker: &str) -> Vec<(String, Receiving)> {
        let mut treatments = locked(&self.treatments);
        let unused = treatments
            .iter()
            .filter(|treatment| treatment.marker == marker && !treatment.used)
            .map(|treatment| (treatment.name.clone(), treatment.answer))
            .collect();
        treatments.retain(|treatment| treatment.marker != marker);
        unused
    }

    /// Writes a delivery down, and says how it is to be treated.
    pub(super) fn note(
        &self,
        path: String,
        headers: Vec<(String, Vec<u8>)>,
        body: Bytes,
    ) -> Receiving {
        let mut delivery = Received {
            at: Instant::now(),
            path,
            headers,
            body,
            received: Receiving::Ok,
        };
        let due = locked(&self.treatments)
            .iter_mut()
            .find(|treatment| treatment.is_due() && delivery.mentions(&treatment.marker))
            .map(|treatment| {
                match treatment.lasts {
                    Some(_) => treatment.since = treatment.since.or(Some(delivery.at)),
                    None => treatment.left -= 1,
                }
                treatment.used = true;
                treatment.answer
            });
        delivery.received = due.unwrap_or(Receiving::Ok);
        let received = delivery.received;
        locked(&self.deliveries).push(Arc::new(delivery));
        self.came.notify_waiters();
        received
    }

    /// Everything so far.
    pub(super) fn deliveries(&self) -> Vec<Arc<Received>> {
        locked(&self.deliveries).clone()
    }

    /// The next delivery, from now on.
    pub(super) fn came(&self) -> impl Future<Output = ()> + '_ {
        let mut came = Box::pin(self.came.notified());
        came.as_mut().enable();
        came
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(log: &Log, body: &str) -> Receiving {
        log.note("/".to_owned(), Vec::new(), Bytes::from(body.to_owned()))
    }

    #[test]
    fn a_treatment_is_for_its_marker_and_so_many_times() {
        let log = Log::default();
        log.treat(
            "`one`".to_owned(),
            "m1".to_owned(),
            Receiving::Error,
            2,
            None,
        );
        log.treat(
            "`two`".to_owned(),
            "m2".to_owned(),
            Receiving::HangUp,
            1,
            None,
        );
        assert_eq!(note(&log, r#"{"ref":"m3"}"#), Receiving::Ok);
        assert_eq!(note(&log, r#"{"ref":"m1"}"#), Receiving::Error);
        assert_eq!(note(&log, r#"{"ref":"m1"}"#), Receiving::Error);
        assert_eq!(note(&log, r#"{"ref":"m1"}"#), Receiving::Ok);
        assert_eq!(log.untreated("m1"), []);
        assert_eq!(
            log.untreated("m2"),
            [("`two`".to_owned(), Receiving::HangUp)]
        );
        assert_eq!(note(&log, "m2"), Receiving::Ok, "it is over");
        assert_eq!(log.deliveries().len(), 5);
    }

    #[test]
    fn an_outage_lasts_from_the_first_delivery_on() {
        let log = Log::default();
        let lasts = Duration::from_secs(600);
        let (name, marker) = ("`one`".to_owned(), "m1".to_owned());
        log.treat(name, marker, Receiving::Error, 1, Some(lasts));
        for _ in 0..3 {
            assert_eq!(note(&log, "m1"), Receiving::Error);
        }
        assert_eq!(note(&log, "m2"), Receiving::Ok);
        locked(&log.treatments)[0].since = Instant::now().checked_sub(2 * lasts);
        assert_eq!(note(&log, "m1"), Receiving::Ok, "it is over");
    }
}
