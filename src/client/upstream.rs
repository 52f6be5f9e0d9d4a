//! The API behind us.

use super::http2::PREFACE;
use super::line::Line;
use http::uri::Scheme;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use url::Url;

/// How long an API may take to say that it knows HTTP/2.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where requests are let through to.
#[derive(Clone, Debug)]
pub struct Upstream {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
    /// Whether it speaks HTTP/2 without TLS, once that was asked.
    speaks_http2: Arc<OnceCell<bool>>,
}

impl Upstream {
    /// The API at a URL, whose path does not count: those of the client's requests do. `tls` is used
    /// for `https`.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn at(
        url: &str,
        tls: impl FnOnce() -> Result<ClientConfig, String>,
    ) -> Result<Upstream, String> {
        let parsed = Url::parse(url).map_err(|error| format!("`{url}` is no URL: {error}"))?;
        let host = parsed
            .host_str()
            .ok_or_else(|| format!("`{url}` has no host"))?
            .trim_matches(['[', ']'])
            .to_owned();
        let tls = match parsed.scheme() {
            "http" => None,
            "https" => Some(Arc::new(tls()?)),
            other => return Err(format!("`{other}` is neither http nor https")),
        };
        Ok(Upstream {
            host,
            port: parsed.port_or_known_default().unwrap_or(80),
            tls,
            speaks_http2: Arc::default(),
        })
    }

    /// What the header `Host` says of it.
    pub(super) fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        match (self.port, &self.tls) {
            (80, None) | (443, Some(_)) => host,
            (port, _) => format!("{host}:{port}"),
        }
    }

    /// The scheme of its URL.
    pub(super) fn scheme(&self) -> Scheme {
        match self.tls {
            Some(_) => Scheme::HTTPS,
            None => Scheme::HTTP,
        }
    }

    /// A new connection to it, and whether HTTP/2 is spoken there: over TLS if both sides agree on
    /// it, without TLS if it knows the preface.
    pub(super) async fn best(&self) -> Result<(Line, bool), String> {
        if self.tls.is_some() {
            let line = self.connect(&[b"h2", b"http/1.1"]).await?;
            let agreed = line.agreed_on_http2();
            return Ok((line, agreed));
        }
        let knows = self.speaks_http2.get_or_init(|| self.ask()).await;
        Ok((self.connect(&[]).await?, *knows))
    }

    /// Asks on a connection of its own whether the preface of HTTP/2 is answered as that wants it:
    /// by a frame of settings (RFC 9113, section 3.4).
    async fn ask(&self) -> bool {
        /// Settings without any.
        const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        /// The place of a frame's type (RFC 9113, section 4.1).
        const TYPE: usize = 3;
        let asked = async {
            let mut line = self.connect(&[]).await.ok()?;
            let hello = [PREFACE, &SETTINGS].concat();
            line.write_all(&hello).await.ok()?;
            let mut answer = [0; SETTINGS.len()];
            line.read_exact(&mut answer).await.ok()?;
            Some(answer[TYPE] == SETTINGS[TYPE])
        };
        let answered = tokio::time::timeout(PATIENCE, asked).await;
        answered.ok().flatten().unwrap_or_default()
    }

    /// A new connection to it. `protocols` are offered by ALPN (RFC 7301) over TLS.
    pub(super) async fn connect(&self, protocols: &[&[u8]]) -> Result<Line, String> {
        let failed = |why: std::io::Error| format!("{self} cannot be reached: {why}");
        let tcp = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(failed)?;
        tcp.set_nodelay(true).map_err(failed)?;
        let Some(tls) = &self.tls else {
            return Ok(Line::Plain(tcp));
        };
        let name = ServerName::try_from(self.host.clone())
            .map_err(|error| format!("{self} cannot be reached: {error}"))?;
        let mut tls = ClientConfig::clone(tls);
        tls.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let line = TlsConnector::from(Arc::new(tls))
            .connect(name, tcp)
            .await
            .map_err(failed)?;
        Ok(Line::Tls(Box::new(line.into())))
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}
