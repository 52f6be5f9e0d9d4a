//! The API behind us.

use super::line::Line;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::fmt;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

/// Where requests are let through to.
#[derive(Clone, Debug)]
pub struct Upstream {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
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
