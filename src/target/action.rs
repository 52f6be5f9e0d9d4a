//! Things that the tool does beside the operation itself: commands, hooks, clean-up, the server.

use std::collections::BTreeSet;
use std::time::Duration;

use super::request::Request;
use crate::hook::HookName;

/// A shell command (`sh -euc`). Values reach it as environment variables, never as text put into
/// the command line, so that nothing the target says can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The script, word for word.
    pub script: String,
    /// The names of ours (`marker`, `unique`, `key`, …, variables, fixtures) that it mentions.
    pub mentions: BTreeSet<String>,
}

/// A command or a request, with a time limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What is done.
    pub what: Deed,
    /// How long it may take; the user of the action has a default.
    pub timeout: Option<Duration>,
}

/// What an action does.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Runs a command.
    Command(Command),
    /// Sends a request.
    Request(Request),
}

/// The hooks of a target: what may be done to it from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hooks {
    /// The declared hooks, in the order of the file.
    pub declared: Vec<(HookName, Action)>,
}

impl Hooks {
    /// The hook of this name, if the target declares it.
    pub fn get(&self, name: HookName) -> Option<&Action> {
        self.declared
            .iter()
            .find(|(declared, _)| *declared == name)
            .map(|(_, action)| action)
    }
}

/// A server that the tool starts and kills itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// How it is started. In its environment are `port`, the further ports as `port_NAME`, and
    /// `scratch`: an empty folder that stays over a restart and is removed at the end of the run.
    pub command: Command,
    /// Succeeds when it serves.
    pub ready: Option<Request>,
    /// Its environment, beside ours.
    pub env: Vec<(String, String)>,
    /// Its working directory, relative to the target file.
    pub dir: Option<String>,
    /// How long it may take to be ready.
    pub within: Duration,
}
