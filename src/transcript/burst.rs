//! How the bursts of a round went.

use super::written;
use crate::scenario::StepName;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How the copies of a burst were let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// All but the last byte of each went ahead, each on a connection of its own.
    LastByte,
    /// Whole requests, each on a warm connection of its own.
    WholeRequests,
    /// All but the last frame of each went ahead on one HTTP/2 connection, and one send let all of
    /// them go.
    SinglePacket,
    /// Whole requests, spread over a time on purpose.
    Spread,
    /// As fast as the limits allow.
    Loose,
}

impl Technique {
    /// In words.
    pub fn says(self) -> &'static str {
        match self {
            Technique::LastByte => "last bytes",
            Technique::WholeRequests => "whole requests",
            Technique::SinglePacket => "one packet over HTTP/2",
            Technique::Spread => "spread on purpose",
            Technique::Loose => "one after another",
        }
    }
}

/// How a burst went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstFacts {
    /// The step.
    pub step: StepName,
    /// How its copies were let go.
    pub technique: Technique,
    /// Copies that were sent.
    pub copies: u32,
    /// From the first to the last release.
    #[serde(rename = "release_spread_micros", with = "written::micros")]
    pub release_spread: Duration,
    /// The most that were in flight at once.
    pub in_flight: u32,
    /// Backends it was sent to.
    pub backends: u32,
}
