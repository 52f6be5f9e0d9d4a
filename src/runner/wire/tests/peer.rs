//! The other side for the tests: a server that does nothing by itself. The test reads and writes
//! for it, so that every order of events is the test's own and nothing has to be waited out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::runner::wire::{Connection, Endpoint, Scheme, TlsOptions, Version, Wire};

/// Longer than anything here takes; a test that runs into it has failed.
pub(super) const SOON: Duration = Duration::from_secs(10);

trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// How the client ended the connection, as the server saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Fin,
    Rst,
}

/// A listener and the client's side to go with it.
pub(super) struct Server {
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    pub(super) wire: Wire,
    pub(super) endpoint: Endpoint,
}

/// One accepted connection.
pub(super) struct Peer {
    io: Box<dyn Io>,
    /// The same socket once more, for what the streams do not offer.
    tcp: socket2::Socket,
    pub(super) port: u16,
}

/// A certificate for localhost and its configuration.
pub(super) fn certificate(alpn: &[&str]) -> (CertificateDer<'static>, Arc<rustls::ServerConfig>) {
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names)
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    (certificate.der().clone(), Arc::new(config))
}

impl Server {
    pub(super) async fn start(scheme: Scheme) -> Server {
        Server::start_with(scheme, Version::Auto, &["http/1.1"]).await
    }

    pub(super) async fn start_with(scheme: Scheme, version: Version, alpn: &[&str]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (root, config) = certificate(alpn);
        let options = TlsOptions {
            extra_roots: vec![root],
            identity: None,
            further: Vec::new(),
            verify: true,
        };
        Server {
            listener,
            acceptor: (scheme == Scheme::Https).then(|| TlsAcceptor::from(config)),
            wire: Wire::new(options, version).unwrap(),
            endpoint: Endpoint {
                address: None,
                scheme,
                host: "127.0.0.1".into(),
                port,
                certificate: None,
            },
        }
    }

    pub(super) async fn accept(&self) -> Peer {
        self.try_accept().await.unwrap()
    }

    /// # Errors
    /// If the TLS handshake fails.
    pub(super) async fn try_accept(&self) -> io::Result<Peer> {
        let (tcp, _) = self.listener.accept().await?;
        tcp.set_nodelay(true)?;
        Ok(Peer {
            tcp: socket2::SockRef::from(&tcp).try_clone()?,
            port: tcp.peer_addr()?.port(),
            io: match &self.acceptor {
                Some(acceptor) => Box::new(acceptor.accept(tcp).await?),
                None => Box::new(tcp),
            },
        })
    }

    /// A connection and its other end.
    pub(super) async fn pair(&self) -> (Connection, Peer) {
        let (connection, peer) =
            tokio::join!(self.wire.connect(&self.endpoint, SOON), self.accept());
        (connection.unwrap(), peer)
    }
}

impl Peer {
    pub(super) async fn write(&mut self, text: impl AsRef<[u8]>) {
        self.io.write_all(text.as_ref()).await.unwrap();
        self.io.flush().await.unwrap();
    }

    async fn read_bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        tokio::time::timeout(SOON, self.io.read_exact(&mut bytes))
            .await
            .unwrap()
            .unwrap();
        bytes
    }

    /// The stream itself, for a server that speaks more than these tests do.
    pub(super) fn into_io(self) -> impl AsyncRead + AsyncWrite + Unpin + Send + 'static {
        self.io
    }

    /// Reads exactly so many bytes.
    pub(super) async fn read(&mut self, count: usize) -> String {
        String::from_utf8(self.read_bytes(count).await).unwrap()
    }

    /// Reads until these bytes have come.
    pub(super) async fn read_until(&mut self, wanted: &str) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(wanted.as_bytes()) {
            bytes.extend(self.read_bytes(1).await);
        }
        String::from_utf8(bytes).unwrap()
    }

    /// Whether a byte comes when it should not: there is nothing to wait for, so this gives it a
    /// moment, which can only hide a defect, never invent one.
    pub(super) async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(20), self.io.read_u8())
            .await
            .is_err()
    }

    /// Reads to the end: what came, and how it ended.
    pub(super) async fn end(&mut self) -> (String, End) {
        let mut bytes = Vec::new();
        let result = tokio::time::timeout(SOON, self.io.read_to_end(&mut bytes))
            .await
            .expect("the connection ends");
        let end = match result.map_err(|error| error.kind()) {
            // Over TLS there is no close_notify, which is an unexpected end.
            Ok(_) | Err(io::ErrorKind::UnexpectedEof) => End::Fin,
            Err(io::ErrorKind::ConnectionReset) => End::Rst,
            Err(other) => panic!("the connection ended by {other}"),
        };
        (String::from_utf8(bytes).unwrap(), end)
    }

    /// Closes in good order.
    pub(super) async fn close(mut self) {
        self.io.shutdown().await.unwrap();
    }

    /// Closes by a reset.
    pub(super) fn reset(self) {
        let tcp = socket2::SockRef::from(&self.tcp);
        tcp.set_linger(Some(Duration::ZERO)).unwrap();
        // The copy of the descriptor that remains is closed last, by the drop of `self`.
        drop(self.io);
    }
}
