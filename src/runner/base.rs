//! The places where the target is.

use super::wire::{Endpoint, Scheme};
use std::net::IpAddr;
use url::Url;

/// One of the places where the target is.
pub(super) struct Base {
    /// The URL.
    pub(super) url: Url,
    /// The one of its host's addresses that is meant.
    pub(super) address: Option<IpAddr>,
    /// How reports name it.
    pub(super) said: String,
}

impl Base {
    /// Where its connections go.
    pub(super) fn endpoint(&self) -> Result<Endpoint, String> {
        let (endpoint, _) = endpoint(self.url.as_str())?;
        Ok(Endpoint {
            address: self.address,
            ..endpoint
        })
    }
}

/// The endpoint of an origin such as `https://api.example.com:8443`.
pub(super) fn endpoint(origin: &str) -> Result<(Endpoint, String), String> {
    let url = Url::parse(origin).map_err(|error| format!("`{origin}` is no URL: {error}"))?;
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => {
            return Err(format!(
                "the scheme `{other}` is not supported: http or https"
            ));
        }
    };
    let host = url
        .host_str()
        .ok_or("the URL has no host")?
        .trim_matches(['[', ']'])
        .to_owned();
    let port = url.port_or_known_default().ok_or("the URL has no port")?;
    let authority = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
        None => url.host_str().unwrap_or_default().to_owned(),
    };
    let endpoint = Endpoint {
        scheme,
        host,
        port,
        address: None,
        certificate: None,
    };
    Ok((endpoint, authority))
}
