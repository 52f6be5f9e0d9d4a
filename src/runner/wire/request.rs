//! What is asked of a flight: the request, and what shall go wrong with it.

use std::time::Duration;

use bytes::Bytes;

/// One request, as it shall stand on the wire.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The method.
    pub method: http::Method,
    /// Path and query, already encoded, such as `/payments?limit=1`.
    pub target: String,
    /// Host and port for the `Host` header or `:authority`, unless `headers` has a `Host` itself.
    pub authority: String,
    /// Names and values in the order in which they are sent; repeated names stay separate lines.
    /// `Host`, `Content-Length` and `Transfer-Encoding` are added where they are missing.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body; `None` is no body, which differs from an empty one by having no length header
    /// (other than the `Content-Length: 0` that POST, PUT and PATCH must have).
    pub body: Option<Bytes>,
    /// Sends the body with `Transfer-Encoding: chunked` (HTTP/1.1 only).
    pub chunked: bool,
    /// Writes all header names in capital letters (HTTP/1.1 only).
    pub upper_case_headers: bool,
}

/// How a request is let go and what we do to it.
#[derive(Clone, Debug)]
pub struct Controls {
    /// What is kept back until the flight is released.
    pub hold: Hold,
    /// What we do to this request on the wire.
    pub fault: Option<Fault>,
    /// From the release to the last byte of the response. It also bounds how long handing the
    /// request to the kernel may take.
    pub patience: Duration,
}

/// What of a request is kept back until it is released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: it goes out at once.
    #[default]
    Nothing,
    /// Its last byte (over HTTP/2 the frame that ends it): all the rest has arrived by then, so that
    /// many requests can be completed within microseconds.
    LastByte,
    /// All of it: the peer knows nothing of it before its release.
    Everything,
}

/// How a connection is closed by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// An orderly end of the byte stream. Over TLS there is no `close_notify`, as after a crash.
    Fin,
    /// A TCP reset.
    Rst,
    /// Only the stream is cancelled, the connection stays. HTTP/1.1 has no streams: a fault that
    /// wants this sends nothing and does not fire, and a cut that wants it is a FIN.
    RstStream,
}

/// What we do to a request on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Closes before any byte of the request is sent.
    BeforeRequest {
        /// How it is closed.
        close: Close,
    },
    /// Closes when a share of the request's body, and no more, has been acknowledged. A request
    /// without a body is not sent, and the fault does not fire.
    MidBody {
        /// Between 0 and 1. The last byte of the body is never sent.
        share: f64,
        /// How it is closed.
        close: Close,
    },
    /// Sends everything and reads nothing. The owner calls [`super::Flight::cut`] when its moment
    /// comes.
    HangUp,
    /// Closes when the response has begun.
    DropResponse {
        /// How much of the response we see.
        after: ResponsePart,
        /// How it is closed.
        close: Close,
    },
    /// Closes when a share of the response's body has been read. Over HTTP/2 what is handed up of
    /// it are whole frames only.
    MidResponse {
        /// Between 0 and 1, of the `Content-Length`; without one we close after the first bytes.
        share: f64,
        /// How it is closed.
        close: Close,
    },
    /// Sends a share of the request's body, and the rest a time later. A request without a body is not
    /// sent, nor is one over HTTP/2, and the fault does not fire.
    Stall {
        /// Between 0 and 1. The last byte of the body never goes with the first part.
        share: f64,
        /// How long the rest waits.
        time: Duration,
    },
    /// Sends the headers, which ask for it with `Expect: 100-continue`, and the body when the target has
    /// said `100 Continue`, or a time has passed without it (RFC 9110, section 10.1.1). A request without
    /// a body is not sent, and the fault does not fire.
    AwaitContinue {
        /// How long we wait for it.
        at_most: Duration,
        /// The body is never sent, and it is closed like this instead.
        close: Option<Close>,
    },
    /// Gives up waiting, and leaves the connection open: a late response is still recorded.
    Timeout {
        /// Our patience, from the moment when the request was sent.
        after: Duration,
    },
}

/// How much of a response is seen before it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsePart {
    /// Its first byte became readable, and nothing is handed up.
    FirstByte,
    /// Status and headers.
    Headers,
}

impl Fault {
    /// How it closes, if it does so by itself.
    pub(super) fn close(self) -> Option<Close> {
        match self {
            Fault::BeforeRequest { close }
            | Fault::MidBody { close, .. }
            | Fault::DropResponse { close, .. }
            | Fault::MidResponse { close, .. } => Some(close),
            Fault::AwaitContinue { close, .. } => close,
            Fault::HangUp | Fault::Stall { .. } | Fault::Timeout { .. } => None,
        }
    }
}
