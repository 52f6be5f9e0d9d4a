//! Secrets of a client's requests never get into what is written down: a pseudonym stands for each,
//! so that what is equal stays equal.

use crate::target::secret::SecretValue;
use sha2::{Digest, Sha256};

/// Headers that say who sends.
const CREDENTIALS: [&str; 6] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "x-amz-security-token",
];

/// What is masked.
#[derive(Debug)]
pub(super) struct Masks {
    secrets: Vec<String>,
    salt: [u8; 16],
}

impl Masks {
    pub(super) fn new(secrets: &[SecretValue]) -> Masks {
        let secrets = secrets
            .iter()
            .map(|secret| secret.reveal().to_owned())
            // A secret of three letters would mask half of every report.
            .filter(|secret| secret.len() > 3);
        Masks {
            secrets: secrets.collect(),
            salt: *uuid::Uuid::new_v4().as_bytes(),
        }
    }

    /// The text without the target's secrets.
    pub(super) fn mask(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret, &self.pseudonym(secret));
        }
        text
    }

    /// The headers without secrets.
    pub(super) fn headers(&self, headers: &[(String, String)]) -> Vec<(String, String)> {
        headers
            .iter()
            .map(|(name, value)| {
                let value = match is_credential(name) {
                    true => self.pseudonym(value),
                    false => self.mask(value),
                };
                (name.clone(), value)
            })
            .collect()
    }

    /// What stands for all credentials of a request.
    pub(super) fn credentials(&self, headers: &[(String, String)]) -> Option<String> {
        let found: Vec<&str> = headers
            .iter()
            .filter(|(name, _)| is_credential(name))
            .map(|(_, value)| value.as_str())
            .collect();
        (!found.is_empty()).then(|| self.pseudonym(&found.join("\n")))
    }

    fn pseudonym(&self, secret: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.salt);
        hash.update(secret.as_bytes());
        let digest = hash.finalize();
        format!("‹secret {:02x}{:02x}›", digest[0], digest[1])
    }
}

fn is_credential(name: &str) -> bool {
    CREDENTIALS
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::{Masks, SecretValue};

    #[test]
    fn credentials_and_secrets_are_never_written_and_stay_comparable() {
        let masks = Masks::new(&[SecretValue::new("TOKEN", "hunter22")]);
        let headers = |token: &str| {
            [
                ("Authorization".to_owned(), format!("Bearer {token}")),
                ("X-Trace".to_owned(), "a hunter22 b".to_owned()),
            ]
        };
        let shown = masks.headers(&headers("open"));
        assert!(
            shown
                .iter()
                .all(|(_, value)| { !value.contains("hunter22") && !value.contains("open") })
        );
        let one = masks.credentials(&headers("open"));
        assert_eq!(one, masks.credentials(&headers("open")));
        assert_ne!(one, masks.credentials(&headers("shut")));
        assert_eq!(masks.credentials(&[]), None);
    }
}
