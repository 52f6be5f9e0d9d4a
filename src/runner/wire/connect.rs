//! Opening connections.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::runner::wire::drive;
use crate::runner::wire::flight::Flight;
use crate::runner::wire::http2::GatedBody;
use crate::runner::wire::line::{Line, LineIo, Look};
use crate::runner::wire::request::{Controls, Outgoing};
use crate::runner::wire::tap::{Stream, Tap, TapIo};
use crate::runner::wire::tls;

/// With or without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// As it stands in a URL.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
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
    /// The one of its addresses that is meant; `None` is whichever the system picks.
    pub address: Option<IpAddr>,
    /// Which of the further certificates is shown there; `None` is our own, if we have one.
    pub certificate: Option<String>,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme.name();
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)?;
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)?;
        }
        match self.address {
            Some(address) => write!(f, " ({address})"),
            None => Ok(()),
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

/// A certificate chain and its key.
pub type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Whom we trust, and who we are.
#[derive(Debug)]
pub struct TlsOptions {
    /// Trusted besides the roots of the system (or, if it has none, Mozilla's).
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Our own certificate chain and its key.
    pub identity: Option<Identity>,
    /// Further ones, each shown where an endpoint asks for it by its name.
    pub further: Vec<(String, Identity)>,
    /// Whether the peer's certificate is verified.
    pub verify: bool,
}

/// The TLS options cannot work.
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
#[derive(Clone, Debug)]
pub struct Wire {
    tls: Arc<rustls::ClientConfig>,
    further: BTreeMap<String, Arc<rustls::ClientConfig>>,
    version: Version,
}

impl Wire {
    /// # Errors
    /// If the identity does not fit its key, or a root is not a certificate.
    pub fn new(tls: TlsOptions, version: Version) -> Result<Wire, WireError> {
        let TlsOptions {
            extra_roots,
            identity,
            further,
            verify,
        } = tls;
        let config = |identity| {
            let mut config = tls::client(TlsOptions {
                extra_roots: extra_roots.clone(),
                identity,
                further: Vec::new(),
                verify,
            })?;
            config.alpn_protocols = match version {
                Version::Auto => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
                Version::Http1 => vec![b"http/1.1".to_vec()],
                Version::Http2 => vec![b"h2".to_vec()],
            };
            Ok(Arc::new(config))
        };
        let further = further
            .into_iter()
            .map(|(name, identity)| Ok((name, config(Some(identity))?)));
        Ok(Wire {
            further: further.collect::<Result<_, WireError>>()?,
            tls: config(identity)?,
            version,
        })
    }

    /// The TLS options with one of the further certificates; with our own where there is none of this
    /// name.
    fn showing(&self, certificate: Option<&String>) -> &Arc<rustls::ClientConfig> {
        certificate
            .and_then(|name| self.further.get(name))
            .unwrap_or(&self.tls)
    }

    /// The names of the further certificates.
    pub fn certificates(&self) -> impl Iterator<Item = &String> {
        self.further.keys()
    }

    /// Whom we trust and who we are, for requests that are not sent by us: HTTP/2 or HTTP/1.1.
    pub fn tls_of_others(&self, certificate: Option<&String>) -> rustls::ClientConfig {
        let mut config = rustls::ClientConfig::clone(self.showing(certificate));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config
    }

    /// Which HTTP it speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Opens one connection: TCP, TLS and HTTP handshakes, within `patience`.
    ///
    /// # Errors
    /// If the connection does not stand in that time.
    pub async fn connect(
        &self,
        to: &Endpoint,
        patience: Duration,
    ) -> Result<Connection, Unreachable> {
        match tokio::time::timeout(patience, self.open(to)).await {
            Ok(result) => result,
            Err(_) => Err(Unreachable {
                refused: false,
                says: format!("no connection to {to} within {patience:?}"),
            }),
        }
    }

    async fn open(&self, to: &Endpoint) -> Result<Connection, Unreachable> {
        let unreachable = |what: &str, error: io::Error| Unreachable {
            refused: error.kind() == io::ErrorKind::ConnectionRefused,
            says: format!("{what} {to}: {error}"),
        };
        let connected = match to.address {
            Some(address) => TcpStream::connect((address, to.port)).await,
            None => TcpStream::connect((to.host.as_str(), to.port)).await,
        };
        let line = connected
            .and_then(Line::new)
            .map_err(|error| unreachable("cannot connect to", error))?;
        let (stream, http2) = match to.scheme {
            Scheme::Http => (
                Stream::Plain(LineIo(Arc::clone(&line))),
                self.version == Version::Http2,
            ),
            Scheme::Https => {
                let name = ServerName::try_from(to.host.clone())
                    .map_err(|error| unreachable("no name for TLS in", io::Error::other(error)))?;
                let stream = TlsConnector::from(Arc::clone(self.showing(to.certificate.as_ref())))
                    .connect(name, LineIo(Arc::clone(&line)))
                    .await
                    .map_err(|error| unreachable("TLS handshake failed with", error))?;
                let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                if self.version == Version::Http2 && !http2 {
                    return Err(Unreachable {
                        refused: false,
                        says: format!("{to} does not speak HTTP/2"),
                    });
                }
                (Stream::Tls(Box::new(stream)), http2)
            }
        };
        let tap = Tap::new(line, stream, http2);
        let sender = Sender::shake_hands(&tap, http2)
            .await
            .map_err(|error| unreachable("HTTP handshake failed with", io::Error::other(error)))?;
        Ok(Connection {
            tap,
            sender,
            scheme: to.scheme,
            connected: Instant::now(),
        })
    }
}

/// A connection that is warm and idle: TCP, TLS and HTTP handshakes are done.
pub struct Connection {
    pub(super) tap: Arc<Tap>,
    pub(super) sender: Sender,
    pub(super) scheme: Scheme,
    pub(super) connected: Instant,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("local_port", &self.local_port())
            .field("http2", &self.is_http2())
            .finish_non_exhaustive()
    }
}

/// Hyper's end.
#[derive(Debug)]
pub(super) enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<GatedBody>),
}

impl Sender {
    async fn shake_hands(tap: &Arc<Tap>, http2: bool) -> Result<Sender, hyper::Error> {
        let io = TokioIo::new(TapIo::new(Arc::clone(tap)));
        // What goes wrong in these tasks is seen by the exchange that it befalls.
        if http2 {
            let (sender, carrier) = http2::handshake(TokioExecutor::new(), io).await?;
            let carrier = tokio::spawn(carrier);
            // Only with the peer's settings does the connection stand.
            tokio::select! {
                () = tap.frames_until(|frames| frames.settings_in) => Ok(Sender::Http2(sender)),
                ended = carrier => match ended {
                    Ok(Err(error)) => Err(error),
                    _ => Ok(Sender::Http2(sender)),
                },
            }
        } else {
            let (sender, carrier) = http1::handshake(io).await?;
            tokio::spawn(carrier);
            Ok(Sender::Http1(sender))
        }
    }

    pub(super) async fn ready(&mut self) -> Result<(), hyper::Error> {
        match self {
            Sender::Http1(sender) => sender.ready().await,
            Sender::Http2(sender) => sender.ready().await,
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }
}

impl Connection {
    /// The peer has not closed it.
    pub fn is_open(&self) -> bool {
        let quiet = match self.tap.line.look() {
            Look::Quiet => true,
            // It may be a session ticket or a ping; without these it is an answer to no question.
            Look::BytesWaiting => self.tap.is_tls() || self.is_http2(),
            Look::Closed => false,
        };
        quiet && !self.sender.is_closed() && self.tap.ended().is_none()
    }

    /// It speaks HTTP/2.
    pub fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    /// Our own port.
    pub fn local_port(&self) -> u16 {
        self.tap.line.local_port()
    }

    /// Puts a request on the wire, all of it or (held) all but its last byte, and returns when
    /// that has been handed to the kernel, or the exchange is over already.
    pub async fn prepare(self, request: Outgoing, controls: Controls) -> Flight {
        drive::launch(self, request, controls).await
    }
}
