//! Consumers: operations that receive events. We are their sender then: the key is the id of the
//! event, the signature is ours, and where a broker stands between, a command publishes.

use std::time::Duration;

use super::action::Action;
use super::action::Command;

/// What is known of an operation that receives events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consumer {
    /// How long it may take until it has tried again by itself what it took and could not handle;
    /// `None`: it does not, whoever sends must.
    pub retries_within: Option<Duration>,
    /// Publishes the event, where it is not posted.
    pub publish: Option<Publication>,
}

/// A command that publishes an event. In its environment are `key`, `marker` and `body`, the path of
/// the request as `path`, and its headers as `header_NAME`, in small letters and `_` for `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The command.
    pub command: Command,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

impl Publication {
    /// The publication that an action is; `None` for a request.
    pub fn of(action: Action) -> Option<Publication> {
        match action.what {
            super::action::Deed::Command(command) => Some(Publication {
                command,
                timeout: action.timeout,
            }),
            super::action::Deed::Request(_) => None,
        }
    }
}
