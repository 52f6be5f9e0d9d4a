//! Opening connections.

use std::fmt;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::runner::wire::flight::Flight;
use crate::runner::wire::request::{Controls, Outgoing};

/// With or without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

/// Where a connection goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// With or without TLS.
    pub scheme: Scheme,
    /// A name or an address; an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

/// Which HTTP is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// What the peer chooses over TLS (ALPN), HTTP/1.1 without TLS.
    #[default]
    Auto,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2; without TLS by prior knowledge.
    Http2,
}

/// Whom we trust, and who we are.
#[derive(Debug)]
pub struct TlsOptions {
    /// Trusted besides the roots of the system (or, if it has none, Mozilla's).
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Our own certificate chain and its key.
    pub identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    /// Whether the peer's certificate is verified.
    pub verify: bool,
}

/// The TLS options cannot work, or the version is not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub String);

/// No connection could be opened, and nothing of any request was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{says}")]
pub struct Unreachable {
    /// The peer refused: nothing listens there.
    pub refused: bool,
    /// What went wrong, in words.
    pub says: String,
}

/// Opens connections with one set of TLS options and one version.
#[derive(Debug)]
pub struct Wire;

impl Wire {
    /// # Errors
    /// If the identity does not fit its key, or a root is not a certificate.
    pub fn new(_tls: TlsOptions, _version: Version) -> Result<Wire, WireError> {
        Err(WireError("not there yet".into()))
    }

    /// Opens one connection: TCP, TLS and HTTP handshakes, within `patience`.
    ///
    /// # Errors
    /// If the connection does not stand in that time.
    pub async fn connect(
        &self,
        _to: &Endpoint,
        _patience: Duration,
    ) -> Result<Connection, Unreachable> {
        Err(Unreachable {
            refused: false,
            says: "not there yet".into(),
        })
    }
}

/// A connection that is warm and idle.
#[derive(Debug)]
pub struct Connection;

impl Connection {
    /// The peer has not closed it.
    pub fn is_open(&self) -> bool {
        false
    }
    /// It speaks HTTP/2.
    pub fn is_http2(&self) -> bool {
        false
    }
    /// Our own port.
    pub fn local_port(&self) -> u16 {
        0
    }
    /// Puts a request on the wire, all of it or (held) all but its last byte, and returns when
    /// that has been handed to the kernel.
    pub async fn prepare(self, _request: Outgoing, _controls: Controls) -> Flight {
        Flight
    }
}
