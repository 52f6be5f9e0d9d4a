//! When what happened to one flight, and whom to tell.

use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use crate::runner::wire::flight::Moment;

/// What is called when a moment comes.
type Call = Box<dyn FnOnce(Instant) + Send>;

/// The moments of one flight so far.
pub(super) struct Story {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    times: [Option<Instant>; 5],
    released: Option<Instant>,
    watchers: Vec<(Moment, Call)>,
}

impl Story {
    pub(super) fn new(connected: Instant) -> Story {
        let mut state = State::default();
        state.times[Moment::Connected as usize] = Some(connected);
        Story {
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn at(&self, moment: Moment) -> Option<Instant> {
        self.state().times[moment as usize]
    }

    pub(super) fn released(&self) -> Option<Instant> {
        self.state().released
    }

    pub(super) fn set_released(&self, at: Instant) {
        self.state().released.get_or_insert(at);
    }

    /// Only the first time counts. Must not be called with any lock held: watchers run here, and
    /// they may release or cut a flight, this one included.
    pub(super) fn happen(&self, moment: Moment, mut at: Instant) {
        let (due, dropped) = {
            let mut state = self.state();
            if moment == Moment::Sent
                && let Some(answered) = state.times[Moment::FirstByte as usize]
            {
                // What was answered had been sent.
                at = at.min(answered);
            }
            if state.times[moment as usize].is_some() {
                return;
            }
            state.times[moment as usize] = Some(at);
            let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut state.watchers)
                .into_iter()
                .partition(|(of, _)| *of == moment);
            if moment == Moment::Ended {
                (due, rest)
            } else {
                state.watchers = rest;
                (due, Vec::new())
            }
        };
        for (_, call) in due {
            call(at);
        }
        drop(dropped);
    }

    pub(super) fn watch(&self, moment: Moment, call: Call) {
        let at = {
            let mut state = self.state();
            match state.times[moment as usize] {
                Some(at) => at,
                None if state.times[Moment::Ended as usize].is_some() => return,
                None => {
                    state.watchers.push((moment, call));
                    return;
                }
            }
        };
        call(at);
    }
}

impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Story")
            .field("times", &self.state().times)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_answered_had_been_sent() {
        let start = Instant::now();
        let story = Story::new(start);
        let answered = start + Duration::from_micros(5);
        story.happen(Moment::FirstByte, answered);
        story.happen(Moment::Sent, start + Duration::from_micros(9));
        assert_eq!(story.at(Moment::Sent), Some(answered));
        let story = Story::new(start);
        story.happen(Moment::Sent, answered);
        story.happen(Moment::FirstByte, start + Duration::from_micros(9));
        assert_eq!(story.at(Moment::Sent), Some(answered));
    }
}
