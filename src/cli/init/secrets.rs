//! Secrets of a curl command: found by where they stand, and never written into the file.

use regex::Regex;

/// Makes names for secrets and remembers them; their values are forgotten at once.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    owner: String,
    /// The names, in the order in which they were found.
    pub(super) names: Vec<String>,
}

impl Secrets {
    /// Names begin with `owner`: `ACME_TOKEN`.
    pub(super) fn of(owner: &str) -> Secrets {
        Secrets {
            owner: owner.to_ascii_uppercase().replace('-', "_"),
            names: Vec::new(),
        }
    }

    /// `${secret.NAME}` in place of the value. Where that is a variable of the shell, its name stays.
    pub(super) fn take(&mut self, value: &str, kind: &str) -> String {
        let name = match variable(value) {
            Some(name) => name.to_owned(),
            None => {
                let kind: String = kind
                    .to_ascii_uppercase()
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                    .collect();
                format!("{}_{}", self.owner, kind.trim_matches('_'))
            }
        };
        if !self.names.contains(&name) {
            self.names.push(name.clone());
        }
        format!("${{secret.{name}}}")
    }
}

/// The name of the shell's variable that a value is.
fn variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix('$')?;
    let name = match name.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => name,
    };
    let fits = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    fits.then_some(name)
}

/// Whether what bears this name is a secret: a header, a query entry or a field of a body.
pub(super) fn is_secret_name(name: &str) -> bool {
    let pattern = r"(?i)authorization|cookie|passw|secret|credential|signature|session|api[-_]?key|access[-_]?key|^key$|apikey|(^|[-_])(auth|jwt|csrf|xsrf|sig|pin|cvc|cvv)([-_]|$)|token";
    // An idempotency token is no secret, and neither is how a page goes on.
    let harmless = r"(?i)client[-_]?token|idempot|page[-_]?token|tokens?[-_]?(type|count)";
    matches(pattern, name) && !matches(harmless, name)
}

/// Whether a value is a secret whatever its name: the well-known prefixes of API keys.
pub(super) fn is_secret_value(value: &str) -> bool {
    matches(
        r"^(sk|rk|pk)_(live|test)_|^gh[pousr]_|^xox[abpr]-|^eyJ[A-Za-z0-9_-]+\.|^AKIA[0-9A-Z]{12}",
        value,
    )
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_gets_a_name_and_loses_its_value() {
        let mut secrets = Secrets::of("acme");
        assert_eq!(secrets.take("s3cr3t", "token"), "${secret.ACME_TOKEN}");
        assert_eq!(
            secrets.take("other", "X-Api-Key"),
            "${secret.ACME_X_API_KEY}"
        );
        assert_eq!(secrets.take("$MY_TOKEN", "token"), "${secret.MY_TOKEN}");
        assert_eq!(secrets.take("${MY_TOKEN}", "token"), "${secret.MY_TOKEN}");
        assert_eq!(secrets.names, ["ACME_TOKEN", "ACME_X_API_KEY", "MY_TOKEN"]);
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "Authorization",
            "X-API-Key",
            "api_key",
            "apikey",
            "X-Auth-Token",
            "password",
            "client_secret",
            "Cookie",
            "X-CSRF-Token",
            "access_token",
            "key",
            "DD-API-KEY",
            "cvc",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "Content-Type",
            "Idempotency-Key",
            "reference",
            "ClientToken",
            "X-Request-Id",
            "author",
            "Acme-Version",
            "shipping",
            "keyword",
            "authorized_amount",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
