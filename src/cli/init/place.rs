//! What a URL tells: a name for the API and for the operation, and whether it may be the live one.

use crate::target::host::is_loopback;
use url::Url;

/// Where the API is, and what it is called.
#[derive(Debug)]
pub(super) struct Home {
    /// The base URL.
    pub(super) base: String,
    /// The name in reports.
    pub(super) name: String,
    /// A short name, for the file and for secrets.
    pub(super) label: String,
    /// It is on this machine.
    pub(super) is_here: bool,
}

/// Labels of a host that say nothing of whose it is.
const NAMELESS: [&str; 12] = [
    "api", "www", "sandbox", "test", "testing", "staging", "stage", "dev", "app", "rest",
    "gateway", "services",
];

impl Home {
    /// Reads a URL of http or https.
    ///
    /// # Errors
    /// Another scheme, or no host.
    pub(super) fn of(url: &Url) -> Result<Home, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}` is no URL of http or https", url.scheme()));
        }
        let host = url.host_str().ok_or("the URL has no host")?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let is_here = is_loopback(host);
        let label = label(host);
        let name = match &label {
            Some(label) => capitalised(label),
            None => format!("API at {authority}"),
        };
        Ok(Home {
            base: format!("{}://{authority}", url.scheme()),
            name,
            label: label.unwrap_or_else(|| "api".to_owned()),
            is_here,
        })
    }
}

/// The part of a host's name that is its owner's.
fn label(host: &str) -> Option<String> {
    if is_loopback(host) || host.parse::<std::net::IpAddr>().is_ok() || host.starts_with('[') {
        return None;
    }
    let labels: Vec<&str> = host.split('.').collect();
    let owned = match labels.len() {
        0 | 1 => labels.as_slice(),
        count => &labels[..count - 1],
    };
    owned
        .iter()
        .rev()
        // `co.uk` and the like.
        .find(|label| label.len() > 3 && !NAMELESS.contains(*label))
        .or_else(|| owned.iter().rev().find(|label| !NAMELESS.contains(*label)))
        .map(|label| label.to_ascii_lowercase())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
    })
}

/// `create-payment` for `POST /v1/payments`.
pub(super) fn operation_of(method: &str, path: &str) -> String {
    let verb = match method {
        "POST" => "create",
        "PUT" => "put",
        "PATCH" => "change",
        "DELETE" => "delete",
        _ => "send",
    };
    let noun = effects_of(path);
    let noun = match (noun.strip_suffix("ies"), noun.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) if !stem.ends_with('s') && stem.len() > 1 => stem.to_owned(),
        _ => noun,
    };
    format!("{verb}-{noun}")
}

/// The last word of a path that is no id, in kebab case.
pub(super) fn effects_of(path: &str) -> String {
    let mut words = path.split('/').filter(|part| !part.is_empty());
    let is_word = |part: &&str| {
        part.chars()
            .all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.'))
    };
    let Some(last) = words.rfind(is_word) else {
        return "effects".to_owned();
    };
    let mut kebab = String::new();
    for c in last.chars() {
        if c.is_ascii_uppercase() && !kebab.is_empty() && !kebab.ends_with('-') {
            kebab.push('-');
        }
        kebab.push(match c {
            '_' | '.' => '-',
            c => c.to_ascii_lowercase(),
        });
    }
    kebab.trim_matches('-').to_owned()
}

/// The URL without what may be secret.
pub(super) fn without_query(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // Setting them fails for URLs without a host only.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.to_string()
}

/// A warning where nothing says that this is a sandbox.
pub(super) fn live_sign(url: &Url) -> Option<String> {
    const TRIAL: [&str; 16] = [
        "sandbox",
        "test",
        "testing",
        "staging",
        "stage",
        "dev",
        "qa",
        "uat",
        "preview",
        "local",
        "demo",
        "localhost",
        "example",
        "invalid",
        "internal",
        "mock",
    ];
    let host = url.host_str()?;
    let words = || host.split(['.', '-']);
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    if is_loopback(host) || is_address || words().any(|word| TRIAL.contains(&word)) {
        return None;
    }
    Some(format!(
        "{host} may be the live API: nothing in its name says sandbox or test. Everything is sent there for real; put the sandbox's URL into base-url"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_is_named_after_its_owner() {
        for (host, label) in [
            ("https://api.acme.test/x", "acme"),
            ("https://sandbox.api.stripe.com", "stripe"),
            ("https://payments.acme.co.uk", "acme"),
            ("http://127.0.0.1:8080", "api"),
            ("http://localhost", "api"),
        ] {
            let home = Home::of(&Url::parse(host).expect("a URL")).expect("a home");
            assert_eq!(home.label, label, "{host}");
        }
    }

    #[test]
    fn an_operation_is_named_after_method_and_path() {
        for (method, path, name) in [
            ("POST", "/payments", "create-payment"),
            ("POST", "/v1/payment_intents", "create-payment-intent"),
            ("POST", "/orders/123/lineItems", "create-line-item"),
            ("DELETE", "/payments/pay_123", "delete-payment"),
            ("PATCH", "/companies", "change-company"),
            ("POST", "/", "create-effect"),
            ("PUT", "/address", "put-address"),
        ] {
            assert_eq!(operation_of(method, path), name, "{path}");
        }
    }

    #[test]
    fn only_what_says_so_is_no_live_api() {
        let sign = |url: &str| live_sign(&Url::parse(url).expect("a URL"));
        assert!(sign("https://api.acme.com").is_some());
        for trial in [
            "https://sandbox.acme.com",
            "https://api-test.acme.com",
            "https://api.acme.test",
            "http://127.0.0.1",
            "http://[::1]:80",
        ] {
            assert_eq!(sign(trial), None, "{trial}");
        }
    }

    #[test]
    fn what_is_shown_of_a_url_is_not_secret() {
        let url = Url::parse("https://me:pw@a.test/x?api_key=1#y").expect("a URL");
        assert_eq!(without_query(&url), "https://a.test/x");
    }
}
