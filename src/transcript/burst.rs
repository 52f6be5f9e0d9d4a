//! How the bursts of a round went.

use super::{Exchange, written};
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

/// A time in which nothing was sent, since the target had refused requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseFacts {
    /// Requests of the round's bursts that were refused for their rate or for the load of the target.
    pub refused: u32,
    /// Requests whose connection the target closed, or did not take, without an answer.
    pub closed: u32,
    /// The longest pause that an answer asked for.
    #[serde(
        rename = "asked_micros",
        default,
        with = "written::maybe_micros",
        skip_serializing_if = "Option::is_none"
    )]
    pub asked: Option<Duration>,
    /// For how long no round was begun.
    #[serde(rename = "waited_micros", with = "written::micros")]
    pub waited: Duration,
    /// With it the pauses of the case have come to as much as it may wait: it makes no rounds beyond the
    /// planned ones.
    #[serde(default)]
    pub enough: bool,
}

/// The most of these requests that were in flight at once.
pub fn most_in_flight<'a>(exchanges: impl Iterator<Item = &'a Exchange>) -> u32 {
    let mut edges: Vec<(Duration, i32)> = Vec::new();
    for exchange in exchanges {
        if let Some(sent) = exchange.times.sent {
            edges.push((sent, 1));
            edges.push((exchange.times.ended, -1));
        }
    }
    // At equal times an end comes first: touching is no overlap.
    edges.sort();
    let mut now = 0;
    let mut most = 0;
    for (_, change) in edges {
        now += change;
        most = most.max(now);
    }
    most.max(0) as u32
}
