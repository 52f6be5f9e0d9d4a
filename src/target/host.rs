//! Hosts that the tool may write to.

use std::net::IpAddr;

use url::Url;

use super::BaseUrl;
use super::Target;
use super::placeholder::Part;
use super::placeholder::Placeholder;

impl BaseUrl {
    /// The URL; `port` gives the ports that the tool chose for the server, by name.
    pub fn resolve(&self, port: impl Fn(Option<&str>) -> Option<u16>) -> Result<Url, String> {
        let mut text = String::new();
        for part in &self.template.parts {
            let placeholder = match part {
                Part::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                Part::Placeholder(placeholder) => placeholder,
            };
            let chosen = match placeholder {
                Placeholder::Port(name) => port(name.as_deref()),
                _ => None,
            };
            let chosen =
                chosen.ok_or_else(|| format!("${{{placeholder}}} has no value in base-url"))?;
            text.push_str(&chosen.to_string());
        }
        let url = Url::parse(&text).map_err(|error| format!("`{text}` is no URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(format!("`{text}` is no URL of http or https"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("a base URL has no query and no fragment".to_string());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a base URL has no credentials: write them under principals".to_string());
        }
        Ok(url)
    }

    /// Its host.
    pub fn host(&self) -> Result<String, String> {
        let url = self.resolve(|_| Some(1))?;
        Ok(url.host_str().unwrap_or_default().to_string())
    }
}

impl Target {
    /// The hosts that the tool may write to: those named literally in `base-url` and in `hosts`.
    /// Loopback is always allowed beside them.
    pub fn allowed_hosts(&self) -> Vec<String> {
        let literal = self.base_urls.iter().filter(|base| base.literal_host);
        let mut hosts: Vec<String> = literal.filter_map(|base| base.host().ok()).collect();
        for host in &self.hosts {
            if !hosts.contains(host) {
                hosts.push(host.clone());
            }
        }
        hosts
    }

    /// Whether the tool may write to `host`, when `extra` hosts are allowed as well.
    pub fn allows(&self, host: &str, extra: &[String]) -> bool {
        is_loopback(host)
            || self
                .allowed_hosts()
                .iter()
                .chain(extra)
                .any(|pattern| matches(pattern, host))
    }
}

/// Whether the host is this machine.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.to_ascii_lowercase().ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether a host fits a name, or a name with `*.` before it.
fn matches(pattern: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let pattern = pattern.to_ascii_lowercase();
    match pattern.strip_prefix("*.") {
        Some(parent) => host
            .strip_suffix(parent)
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        None => host == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_many_names() {
        for host in [
            "localhost",
            "127.0.0.1",
            "127.1.2.3",
            "[::1]",
            "::1",
            "api.localhost",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "example.com",
            "10.0.0.1",
            "localhost.example.com",
            "0.0.0.0",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_star_stands_for_subdomains_only() {
        assert!(matches("*.acme.test", "a.acme.test"));
        assert!(matches("*.acme.test", "A.b.ACME.test"));
        assert!(!matches("*.acme.test", "acme.test"));
        assert!(!matches("*.acme.test", "evilacme.test"));
        assert!(matches("acme.test", "ACME.test"));
        assert!(!matches("acme.test", "a.acme.test"));
    }
}
