//! A certificate authority of our own, for clients that speak https only. It lives as long as the
//! audit; its certificate is written to a file that the command is told of.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

/// Makes certificates for the hosts that clients ask for.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
    known: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

impl Authority {
    /// A new authority that nobody trusts yet.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn new() -> Result<Authority, String> {
        let failed = |error: rcgen::Error| format!("no certificate can be made: {error}");
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "idemspec, for one audit");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(failed)?.pem();
        Ok(Authority {
            issuer: Issuer::new(params, key),
            certificate,
            known: Mutex::default(),
        })
    }

    /// Its certificate, as PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Agrees on TLS with a client, as whomever it asks for: by name, by the host that it named to
    /// a proxy, else by the address of this machine.
    pub(super) async fn accept(
        &self,
        tcp: TcpStream,
        host: Option<&str>,
    ) -> Option<TlsStream<TcpStream>> {
        let acceptor = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), tcp);
        let hello = acceptor.await.ok()?;
        let asked = hello.client_hello().server_name().map(str::to_owned);
        let name = asked.or_else(|| host.map(str::to_owned));
        let config = self.config(name.as_deref().unwrap_or("127.0.0.1"))?;
        hello.into_stream(config).await.ok()
    }

    fn config(&self, name: &str) -> Option<Arc<ServerConfig>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = known.get(name) {
            return Some(Arc::clone(config));
        }
        let mut names = vec![name.trim_matches(['[', ']']).to_owned()];
        names.extend(["127.0.0.1", "::1", "localhost"].map(str::to_owned));
        let key = KeyPair::generate().ok()?;
        let mut params = CertificateParams::new(names).ok()?;
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer).ok()?;
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::try_from(key.serialize_der()).ok()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .ok()?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .ok()?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let config = Arc::new(config);
        known.insert(name.to_owned(), Arc::clone(&config));
        Some(config)
    }
}
