//! What came of a flight.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::runner::wire::connect::Connection;

/// The story of one request, complete.
#[derive(Debug)]
pub struct Done {
    /// When what happened.
    pub times: Times,
    /// How the exchange finished.
    pub ending: Ending,
    /// What the peer can know of the request.
    pub delivery: Delivery,
    /// What was read of the response; see [`Response::complete`].
    pub response: Option<Response>,
    /// Whether the fault, if one was asked for, did its thing.
    pub fault: Option<FaultReport>,
    /// Bytes that lay unread when we closed the connection; `None` if we did not, and under TLS and
    /// HTTP/2, where bytes of their own may lie there.
    pub unread: Option<usize>,
    /// The response that may still come after [`super::Fault::Timeout`].
    pub late: Option<LateResponse>,
    /// The connection, warm and idle, when the exchange ended cleanly and the peer keeps it open.
    pub connection: Option<Connection>,
}

/// When what happened, on the monotonic clock. What did not happen has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The connection stood, TLS and HTTP handshake included.
    pub connected: Instant,
    /// The held bytes were let go. Without hold: when the request was begun.
    pub released: Option<Instant>,
    /// The last byte of the request had been handed to the kernel.
    pub sent: Option<Instant>,
    /// The first byte of the response was read; informational responses do not count.
    pub first_byte: Option<Instant>,
    /// The last byte of the response was read.
    pub last_byte: Option<Instant>,
    /// The exchange ended, in whatever way.
    pub ended: Instant,
}

/// How an exchange finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By a response, read to its end.
    Answered,
    /// By our own fault.
    HungUp,
    /// By the end of our patience.
    TimedOut,
    /// The peer closed or reset the connection before its response was complete.
    ClosedByPeer {
        /// What was seen, in words.
        says: String,
    },
    /// By something that is not HTTP, or a request that cannot be put on the wire.
    Broken {
        /// What was seen, in words.
        says: String,
    },
}

/// What the peer can know of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delivery {
    /// No byte of it was handed to the kernel.
    NotSent,
    /// A part of it was.
    Partial,
    /// All of it was; whether it was executed is unknown.
    Delivered,
    /// All or a part of it was, and at least the first byte of a response was read.
    ResponseSeen,
}

/// A response, as it stood on the wire: nothing decompressed, nothing followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The version in its status line.
    pub version: http::Version,
    /// The status.
    pub status: u16,
    /// Names in lower case, repeated names one after the other.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, at most [`Response::MOST_KEPT`] bytes of it.
    pub body: Bytes,
    /// How many bytes of body came, kept or not.
    pub body_len: u64,
    /// Whether `body` is all of it. If not although the ending is [`Ending::Answered`], the body
    /// was longer than what we keep.
    pub complete: bool,
}

impl Response {
    /// How many bytes of a body are kept: 8 MiB.
    pub const MOST_KEPT: usize = 8 * 1024 * 1024;
}

/// Whether a fault did its thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// It did.
    pub fired: bool,
    /// What was done, or why it could not be.
    pub says: String,
}

/// A response that we no longer wait for but that is recorded if it comes. Dropping it closes the
/// connection.
#[derive(Debug)]
pub struct LateResponse {
    pub(super) parked: oneshot::Receiver<(Instant, Response)>,
}

impl LateResponse {
    /// Waits for the last byte of the response. `None`: it did not come in that time, or the
    /// connection ended without it.
    pub async fn wait(self, at_most: Duration) -> Option<(Instant, Response)> {
        tokio::time::timeout(at_most, self.parked).await.ok()?.ok()
    }
}
