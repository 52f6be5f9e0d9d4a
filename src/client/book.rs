//! What was done to each attempt of one run of the command, and what is done to the next one.

use super::clock::Clock;
use crate::scenario::StepName;
use crate::scenario::client::{ClientFault, CommandRun, DropAt};
use crate::transcript::client::Attempt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The book of one run.
#[derive(Debug)]
pub(super) struct Book {
    clock: Clock,
    run: CommandRun,
    most_attempts: usize,
    kept: Mutex<Kept>,
    stage: watch::Sender<Stage>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Attempts that took a fault, or were let through.
    taken: usize,
    /// Those of them that met a fault.
    faulted: usize,
    connections: u32,
    attempts: Vec<Attempt>,
}

/// What those who wait for the book must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    /// Connections are refused now.
    pub(super) refuses: bool,
    /// A fault has fired.
    pub(super) fired: bool,
    /// There were more attempts than anybody needs.
    pub(super) endless: bool,
}

impl Book {
    pub(super) fn new(clock: Clock, run: CommandRun, most_attempts: usize) -> Book {
        let first = Stage {
            refuses: run.fault(0) == ClientFault::Refuse,
            ..Stage::default()
        };
        Book {
            clock,
            run,
            most_attempts,
            kept: Mutex::default(),
            stage: watch::channel(first).0,
        }
    }

    /// Whether the command is ended as soon as a fault has fired.
    pub(super) fn ends_command(&self) -> bool {
        self.run.killed
    }

    /// The name of the run.
    pub(super) fn run_name(&self) -> StepName {
        self.run.name.clone()
    }

    /// The time of the audit.
    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Tells of changes.
    pub(super) fn watch(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    /// What is known now.
    pub(super) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// The number of a new connection.
    pub(super) fn connection(&self) -> u32 {
        let mut kept = self.kept();
        kept.connections += 1;
        kept.connections
    }

    /// The next attempt's fault, if it is one that needs no request.
    pub(super) fn take_unread(&self) -> Option<ClientFault> {
        let mut kept = self.kept();
        let next = self.run.fault(kept.taken);
        let unread = matches!(
            next,
            ClientFault::Drop {
                at: DropAt::Unread,
                ..
            }
        );
        unread.then(|| self.take(&mut kept))
    }

    /// The next attempt was refused, if refusing is what is done now.
    pub(super) fn take_refused(&self) -> bool {
        let mut kept = self.kept();
        let refuses = self.run.fault(kept.taken) == ClientFault::Refuse;
        if refuses {
            self.take(&mut kept);
        }
        refuses
    }

    /// The fault of the next attempt, which is now met.
    pub(super) fn take_next(&self) -> ClientFault {
        self.take(&mut self.kept())
    }

    fn take(&self, kept: &mut Kept) -> ClientFault {
        let fault = self.run.fault(kept.taken);
        kept.taken += 1;
        let refuses = self.run.fault(kept.taken) == ClientFault::Refuse;
        kept.faulted += usize::from(fault != ClientFault::Pass);
        let endless = kept.faulted >= self.most_attempts;
        self.stage.send_if_modified(|stage| {
            let before = *stage;
            stage.refuses = refuses;
            stage.endless |= endless;
            *stage != before
        });
        fault
    }

    /// A fault has done what it does.
    pub(super) fn fired(&self) {
        self.stage
            .send_if_modified(|stage| !std::mem::replace(&mut stage.fired, true));
    }

    /// Enters an attempt; the number is its place.
    pub(super) fn enter(&self, attempt: Attempt) -> usize {
        let mut kept = self.kept();
        kept.attempts.push(attempt);
        kept.attempts.len() - 1
    }

    /// Adds to an attempt what has become known of it.
    pub(super) fn amend(&self, place: usize, amend: impl FnOnce(&mut Attempt)) {
        if let Some(attempt) = self.kept().attempts.get_mut(place) {
            amend(attempt);
        }
    }

    /// An attempt of which nothing is known yet.
    pub(super) fn blank(&self, began: Duration) -> Attempt {
        Attempt {
            run: self.run.name.clone(),
            operation: None,
            looks_up: false,
            connection: 0,
            reused: false,
            protocol: String::new(),
            began,
            ended: began,
            fault: ClientFault::Pass,
            request: None,
            status: None,
            asked_back: None,
            trouble: None,
        }
    }

    /// All attempts, in the order of their arrival.
    pub(super) fn attempts(&self) -> Vec<Attempt> {
        let mut attempts = self.kept().attempts.clone();
        attempts.sort_by_key(|attempt| attempt.began);
        attempts
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
