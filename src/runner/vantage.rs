//! The same run from several places: all use the same keys, and begin each round at the same time.

use super::words::{Words, fresh_word};
use super::world::World;
use crate::transcript;
use std::time::{Duration, Instant, SystemTime};

/// What the places of a run agree on beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// What keys and all other values are made of: the seed and the instant.
    pub words: String,
    /// When the first round begins.
    pub start: SystemTime,
    /// The time from one round to the next.
    pub pace: Duration,
}

/// One of the places of a run.
pub(super) struct Vantage {
    agreement: Agreement,
    /// This place, by a word of its own.
    place: String,
    /// The agreed start on our own clock.
    start: Instant,
}

impl Vantage {
    /// This place; the error says by how much it is too late.
    pub(super) fn new(agreement: Agreement) -> Result<Vantage, String> {
        match agreement.start.duration_since(SystemTime::now()) {
            Ok(left) => Ok(Vantage {
                start: Instant::now() + left,
                place: fresh_word(),
                agreement,
            }),
            Err(late) => Err(format!(
                "the common start was {} s ago: the other places do not wait; agree on a later one",
                late.duration().as_secs()
            )),
        }
    }

    /// The name of the run, in all places.
    pub(super) fn run(&self) -> String {
        self.words("run").word("run")
    }

    /// When it begins, in all places.
    pub(super) fn start(&self) -> SystemTime {
        self.agreement.start
    }

    /// The values of a round.
    pub(super) fn words(&self, round: &str) -> Words {
        Words::Agreed {
            round: format!("{}\n{round}", self.agreement.words),
            now: self.agreement.start,
        }
    }

    /// What is written down of a round.
    pub(super) fn note(&self, world: &World, round: &str) -> transcript::Vantage {
        transcript::Vantage {
            same: self.words("same").word(round),
            place: self.place.clone(),
            start: world.clock(self.start),
        }
    }

    /// That this place was not ready in time, if it was not.
    pub(super) fn late(&self) -> Option<String> {
        let late = Instant::now().saturating_duration_since(self.start);
        (!late.is_zero()).then(|| {
            format!(
                "one place was ready {:.1} s after the common start: start it earlier, or agree on a later instant",
                late.as_secs_f64()
            )
        })
    }

    /// Waits for the turn of a round, counted from 0 over the whole run.
    pub(super) async fn turn(&self, world: &World, number: u32) {
        const LOOK: Duration = Duration::from_millis(200);
        let due = self.start + self.agreement.pace * number;
        // Told to stop, nothing waits.
        while !world.is_stopped() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }
}
