//! Secrets never leave the runner: they are replaced by pseudonyms that keep what is equal equal.

use crate::target::secret::SecretValue;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Replaces secrets in whatever is written down.
#[derive(Debug)]
pub(super) struct Masker {
    /// What to look for, longest first, and what to write instead. Tokens come in as they are given.
    replacements: RwLock<Vec<(String, String)>>,
    salt: [u8; 16],
}

impl Masker {
    /// `credentials` are secrets as they travel, such as the base64 of basic credentials.
    pub(super) fn new(secrets: &[SecretValue], credentials: &[String]) -> Masker {
        let masker = Masker {
            replacements: RwLock::default(),
            salt: *uuid::Uuid::new_v4().as_bytes(),
        };
        for secret in secrets {
            masker.learn(secret.reveal());
        }
        for credential in credentials {
            masker.replace(vec![credential.clone()], &masker.pseudonym(credential));
        }
        masker
    }

    /// From now on this is a secret too.
    pub(super) fn learn(&self, secret: &str) {
        // A secret of three letters would mask half of every report.
        if secret.len() >= 4 {
            self.replace(forms(secret), &self.pseudonym(secret));
        }
    }

    fn replace(&self, forms: Vec<String>, pseudonym: &str) {
        let mut known = self
            .replacements
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for form in forms {
            if !known.iter().any(|(text, _)| *text == form) {
                known.push((form, pseudonym.to_owned()));
            }
        }
        known.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    }

    fn known(&self) -> RwLockReadGuard<'_, Vec<(String, String)>> {
        self.replacements
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A name for a secret that is the same whenever the secret is, in this run only.
    pub(super) fn pseudonym(&self, secret: &str) -> String {
        format!("‹secret {}›", &self.digest(secret)[..4])
    }

    /// A digest that is the same whenever the text is, in this run only.
    pub(super) fn digest(&self, text: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.salt);
        hash.update(text.as_bytes());
        hash.finalize()[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The text without secrets.
    pub(super) fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for (secret, pseudonym) in self.known().iter() {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), pseudonym);
            }
        }
        masked
    }

    /// Whether secrets were replaced in a text.
    pub(super) fn has_masked(&self, text: &str) -> bool {
        self.known()
            .iter()
            .any(|(_, pseudonym)| text.contains(pseudonym.as_str()))
    }

    /// Whether a text is a part of a secret, which would give some of it away.
    pub(super) fn is_in_a_secret(&self, text: &str) -> bool {
        self.known().iter().any(|(secret, _)| secret.contains(text))
    }

    /// A header's value without secrets: credentials and cookies are secrets, whatever they hold.
    pub(super) fn mask_header(&self, name: &str, value: &str) -> String {
        match name.to_ascii_lowercase().as_str() {
            "authorization" | "proxy-authorization" => match value.split_once(' ') {
                Some((scheme, credentials)) => format!("{scheme} {}", self.pseudonym(credentials)),
                None => self.pseudonym(value),
            },
            "cookie" => self.mask_cookies(value),
            "set-cookie" => {
                let (cookie, attributes) = value.split_once(';').unwrap_or((value, ""));
                let masked = self.mask_cookies(cookie);
                if attributes.is_empty() {
                    masked
                } else {
                    format!("{masked};{attributes}")
                }
            }
            _ => self.mask(value),
        }
    }

    fn mask_cookies(&self, value: &str) -> String {
        value
            .split(';')
            .map(|cookie| match cookie.split_once('=') {
                Some((name, value)) => format!("{name}={}", self.pseudonym(value.trim())),
                None => self.mask(cookie),
            })
            .collect::<Vec<_>>()
            .join(";")
    }
}

/// Characters of a base64 text below which it could stand anywhere.
const SHORTEST: usize = 8;

/// The ways in which a target may write a secret: as it is, percent-encoded, in JSON, and within a
/// base64 text.
fn forms(secret: &str) -> Vec<String> {
    let percent = |byte_of: fn(u8) -> String| secret.bytes().map(byte_of).collect::<String>();
    let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let quoted = serde_json::Value::from(secret).to_string();
    let mut forms = vec![
        secret.to_owned(),
        encoded.replace('+', "%20"),
        small_escapes(&encoded),
        encoded,
        quoted.trim_matches('"').to_owned(),
        percent(|byte| format!("%{byte:02X}")),
        percent(|byte| format!("%{byte:02x}")),
    ];
    for before in 0..3 {
        forms.extend(within_base64(secret, before, &STANDARD_NO_PAD));
        forms.extend(within_base64(secret, before, &URL_SAFE_NO_PAD));
    }
    forms
}

/// The same text with `%2f` for `%2F`.
fn small_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut small = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        small.push('%');
        small.push_str(&hex.to_ascii_lowercase());
        small.push_str(rest);
    }
    small
}

/// The characters that the secret alone decides in a base64 text in which `before` bytes, or three
/// times any number more, stand before it.
fn within_base64(secret: &str, before: usize, alphabet: &impl Engine) -> Option<String> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret.as_bytes());
    let text = alphabet.encode(&bytes);
    let from = (before * 8).div_ceil(6);
    let to = bytes.len() * 8 / 6;
    text.get(from..to)
        .filter(|own| own.len() >= SHORTEST)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_secrets_have_equal_names_and_never_show() {
        let secrets = [
            SecretValue::new("A", "tenant-a-token"),
            SecretValue::new("B", "tenant-b-token"),
        ];
        let masker = Masker::new(&secrets, &[]);
        let masked = masker.mask("Bearer tenant-a-token, tenant-b-token and tenant-a-token again");
        assert!(!masked.contains("tenant-a-token") && !masked.contains("tenant-b-token"));
        assert_eq!(
            masked.matches(&masker.pseudonym("tenant-a-token")).count(),
            2
        );
    }

    #[test]
    fn what_is_learned_later_is_masked_too() {
        let masker = Masker::new(&[], &[]);
        let text = "the token t-0815-4711 was given";
        assert_eq!(masker.mask(text), text);
        masker.learn("t-0815-4711");
        assert!(!masker.mask(text).contains("0815"));
        assert!(masker.is_in_a_secret("0815"));
    }

    #[test]
    fn a_secret_is_found_however_it_is_encoded() {
        let masker = Masker::new(&[SecretValue::new("A", "to/ken+é-123")], &[]);
        for text in [
            "to%2Fken%2B%C3%A9-123",
            "to%2fken%2b%c3%a9-123",
            "%74%6F%2F%6B%65%6E%2B%C3%A9%2D%31%32%33",
            "dG8va2VuK8OpLTEyMw==",
            "YXRvL2tlbivDqS0xMjM",
            "YWJ0by9rZW4rw6ktMTIzIGFuZCBtb3Jl",
        ] {
            assert!(masker.mask(text).contains("‹secret"), "{text}");
        }
        let none = "a text without anything like it";
        assert_eq!(masker.mask(none), none);
    }

    #[test]
    fn credentials_and_cookies_are_secrets_even_if_nobody_said_so() {
        let masker = Masker::new(&[], &[]);
        assert!(
            !masker
                .mask_header("Authorization", "Basic dXNlcjpwYXNz")
                .contains("dXNlcjpwYXNz")
        );
        let cookie = masker.mask_header("Set-Cookie", "sid=abcdef; HttpOnly");
        assert!(
            cookie.starts_with("sid=‹secret") && cookie.ends_with("; HttpOnly"),
            "{cookie}"
        );
    }
}
