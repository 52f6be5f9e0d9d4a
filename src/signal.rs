//! The counts that a well-run API keeps of what befalls its keys.

use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// Requests that were answered from memory.
    Replays,
    /// Other payloads under a used key.
    Mismatches,
    /// Requests whose key was being worked on.
    InProgress,
    /// Requests whose key had run out.
    Expired,
    /// Requests that were given up while they were worked on.
    TimedOut,
}

impl Signal {
    /// All of them.
    pub const ALL: [Signal; 5] = [
        Signal::Replays,
        Signal::Mismatches,
        Signal::InProgress,
        Signal::Expired,
        Signal::TimedOut,
    ];

    /// The word in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Replays => "replays",
            Signal::Mismatches => "mismatches",
            Signal::InProgress => "in-progress",
            Signal::Expired => "expired",
            Signal::TimedOut => "timed-out",
        }
    }
}
