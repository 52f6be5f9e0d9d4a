//! Whom we trust. The roots are those of the system; a machine that has none (a bare container)
//! gets Mozilla's.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::runner::wire::connect::{TlsOptions, WireError};

/// A configuration without ALPN. Sessions are not resumed: each connection stands for itself.
///
/// # Errors
/// A certificate or key that cannot be used.
pub fn client(options: TlsOptions) -> Result<ClientConfig, WireError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| WireError(format!("TLS cannot work here: {error}")))?;
    let builder = if options.verify {
        builder.with_root_certificates(roots(options.extra_roots)?)
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unverified(provider)))
    };
    let mut config = match options.identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| {
            WireError(format!("the client certificate cannot be used: {error}"))
        })?,
        None => builder.with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn roots(extra: Vec<CertificateDer<'static>>) -> Result<RootCertStore, WireError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs().certs;
    let (usable, _) = roots.add_parsable_certificates(native);
    if usable == 0 {
        roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    }
    for root in extra {
        roots
            .add(root)
            .map_err(|error| WireError(format!("a root certificate cannot be used: {error}")))?;
    }
    Ok(roots)
}

/// Takes any certificate, but still wants the peer to hold its key.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
