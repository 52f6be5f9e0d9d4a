//! One write on its way through the API, and the slot under which its result is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::behaviour::Behaviour;
use super::clock::Timestamp;
use super::operation::Command;

/// Where the record of a key stands: a key means nothing outside its tenant and operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The tenant.
    pub tenant: String,
    /// Method, concrete path, and the query that changes meaning.
    pub operation: String,
    /// The key.
    pub key: String,
}

/// One write: authenticated, authorised, valid.
#[derive(Clone, Debug)]
pub struct Call {
    /// Whose write it is.
    pub tenant: &'static str,
    /// The key as the client sent it.
    pub key: Option<String>,
    /// Where its record stands; `None` runs without protection, which only flaws allow.
    pub slot: Option<Slot>,
    /// What it means.
    pub fingerprint: String,
    /// What to do.
    pub command: Command,
    /// The id of what it makes.
    pub id: String,
    /// What the client asked for besides.
    pub behaviour: Option<Behaviour>,
    /// Whether the answer is compressed before it is stored, which only flaws do.
    pub compressed: bool,
    /// Whether it works eight times as long.
    pub slow: bool,
    /// When it came.
    pub started: Timestamp,
    /// The port that its client sends from, which tells connections apart.
    pub port: u16,
    /// Whether its client is still there. A correct API does not ask.
    pub line: Line,
}

/// The line to a client.
#[derive(Clone, Debug, Default)]
pub struct Line(Arc<AtomicBool>);

impl Line {
    /// Whether the client has hung up.
    pub fn is_dead(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Ties the line to a connection: when the guard is dropped before an answer, it is dead.
    pub fn hold(&self) -> Hold {
        Hold(self.clone())
    }
}

/// Held by whoever waits for the answer.
#[derive(Debug)]
pub struct Hold(Line);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}
