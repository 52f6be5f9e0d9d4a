//! The moments of a round: who waits for what, and what has come.

use crate::scenario::{StepName, When};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// Called once, with the time, or with `None` if the moment can no longer come.
type Call = Box<dyn FnOnce(Option<Instant>) + Send>;

/// What has come and who waits.
#[derive(Default)]
pub(super) struct Board {
    slots: Mutex<HashMap<(StepName, When), Slot>>,
}

enum Slot {
    Awaited(Vec<Call>),
    Came(Instant),
    Missed,
}

impl Board {
    fn slots(&self) -> MutexGuard<'_, HashMap<(StepName, When), Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The moment has come. Later calls for the same moment do nothing.
    pub(super) fn came(&self, step: &str, when: When, at: Instant) {
        let waiting = {
            let mut slots = self.slots();
            let slot = slots
                .entry((step.to_owned(), when))
                .or_insert_with(|| Slot::Awaited(Vec::new()));
            if !matches!(slot, Slot::Awaited(_)) {
                return;
            }
            std::mem::replace(slot, Slot::Came(at))
        };
        if let Slot::Awaited(calls) = waiting {
            for call in calls {
                call(Some(at));
            }
        }
    }

    /// The step is over: what has not come never will.
    pub(super) fn over(&self, step: &str) {
        let mut calls = Vec::new();
        {
            let mut slots = self.slots();
            let all = [
                When::Connected,
                When::Sent,
                When::FirstByte,
                When::LastByte,
                When::Ended,
                When::Effect,
            ];
            for when in all {
                let slot = slots
                    .entry((step.to_owned(), when))
                    .or_insert_with(|| Slot::Awaited(Vec::new()));
                if matches!(slot, Slot::Awaited(_))
                    && let Slot::Awaited(waiting) = std::mem::replace(slot, Slot::Missed)
                {
                    calls.extend(waiting);
                }
            }
        }
        for call in calls {
            call(None);
        }
    }

    /// Calls when the moment comes, on the thread on which it comes, or at once if it has.
    pub(super) fn on(&self, step: &str, when: When, call: Call) {
        let known = {
            let mut slots = self.slots();
            match slots
                .entry((step.to_owned(), when))
                .or_insert_with(|| Slot::Awaited(Vec::new()))
            {
                Slot::Awaited(calls) => {
                    calls.push(call);
                    return;
                }
                Slot::Came(at) => Some(*at),
                Slot::Missed => None,
            }
        };
        call(known);
    }

    /// Whether the moment has come.
    pub(super) fn has_come(&self, step: &str, when: When) -> bool {
        let slots = self.slots();
        matches!(slots.get(&(step.to_owned(), when)), Some(Slot::Came(_)))
    }

    /// Waits for the moment; `None` if it can no longer come.
    pub(super) async fn wait(&self, step: &str, when: When) -> Option<Instant> {
        let (sender, receiver) = oneshot::channel();
        self.on(
            step,
            when,
            Box::new(move |at| {
                // The waiter may have gone; then nobody wants to know.
                let _ = sender.send(at);
            }),
        );
        receiver.await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_moment_that_came_is_told_to_those_who_ask_later() {
        let board = Board::default();
        let at = Instant::now();
        assert!(!board.has_come("first", When::Sent));
        board.came("first", When::Sent, at);
        assert!(board.has_come("first", When::Sent));
        assert_eq!(board.wait("first", When::Sent).await, Some(at));
    }

    #[tokio::test]
    async fn what_has_not_come_when_a_step_is_over_never_will() {
        let board = Board::default();
        board.came("first", When::Sent, Instant::now());
        board.over("first");
        assert!(board.wait("first", When::Sent).await.is_some());
        assert_eq!(board.wait("first", When::Effect).await, None);
    }
}
