//! Secret values, and the junk that stands in for them where a scenario wants wrong credentials.
//! A secret is never printed: its `Debug` shows its name only.

use std::fmt;

use sha2::Digest;
use sha2::Sha256;

/// A value that came from `${secret.NAME}`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue {
    /// The name that the target file uses.
    pub name: String,
    value: String,
}

impl SecretValue {
    /// A secret with the name that messages may show.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        SecretValue {
            name: name.into(),
            value: value.into(),
        }
    }

    /// The value itself, for the wire and for masking, never for messages.
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// Text of the same length and shape as the secret, and none of the `taken` values. The same
    /// seed gives the same junk.
    pub fn junk(&self, seed: u64, taken: &[SecretValue]) -> String {
        let mut attempt = 0_u32;
        loop {
            let junk = self.scrambled(seed, attempt);
            let valid = junk == self.value || taken.iter().any(|other| other.value == junk);
            // A secret without letters and digits, or of one character, may have no free twin.
            if !valid || attempt == 64 {
                return if valid { "invalid".to_string() } else { junk };
            }
            attempt += 1;
        }
    }

    /// Letters become letters and digits become digits; a prefix such as `sk_test_` is kept, so that
    /// the API takes the value for a credential of the right kind.
    fn scrambled(&self, seed: u64, attempt: u32) -> String {
        let kept = kept_prefix(&self.value);
        let mut stream = Stream::new(&format!("{seed}/{attempt}/{}", self.name));
        self.value
            .char_indices()
            .map(|(at, letter)| match letter {
                _ if at < kept => letter,
                'a'..='z' => char::from(b'a' + stream.next_byte() % 26),
                'A'..='Z' => char::from(b'A' + stream.next_byte() % 26),
                '0'..='9' => char::from(b'0' + stream.next_byte() % 10),
                other => other,
            })
            .collect()
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SecretValue({}, …)", self.name)
    }
}

/// How many bytes of prefix (`sk_test_`, `ghp_`) the junk keeps: at most 12, and only when at least
/// eight characters remain to scramble.
fn kept_prefix(value: &str) -> usize {
    let head = value
        .char_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at <= 12)
        .last()
        .unwrap_or(0);
    match value[..head].rfind('_') {
        Some(at) if value.len() - at > 8 => at + 1,
        _ => 0,
    }
}

/// An endless stream of bytes from a label.
struct Stream {
    block: Vec<u8>,
    at: usize,
}

impl Stream {
    fn new(label: &str) -> Self {
        Stream {
            block: Sha256::digest(label.as_bytes()).to_vec(),
            at: 0,
        }
    }

    fn next_byte(&mut self) -> u8 {
        if self.at == self.block.len() {
            self.block = Sha256::digest(&self.block).to_vec();
            self.at = 0;
        }
        self.at += 1;
        self.block[self.at - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_the_value() {
        let secret = SecretValue::new("TOKEN", "hunter2-hunter2");
        assert!(!format!("{secret:?}").contains("hunter2"));
    }

    #[test]
    fn junk_keeps_length_shape_and_prefix_and_differs() {
        let secret = SecretValue::new("KEY", "sk_test_Ab12-Cd34ef56");
        let junk = secret.junk(7, &[]);
        assert_eq!(junk.len(), secret.reveal().len());
        assert!(junk.starts_with("sk_test_"));
        assert_eq!(&junk[12..13], "-");
        assert_ne!(junk, secret.reveal());
        assert_eq!(junk, secret.junk(7, &[]));
        assert_ne!(junk, secret.junk(8, &[]));
    }

    #[test]
    fn junk_is_never_another_valid_secret() {
        let secret = SecretValue::new("DIGIT", "1");
        let taken: Vec<SecretValue> = (0..9)
            .map(|digit| SecretValue::new("OTHER", digit.to_string()))
            .collect();
        assert_eq!(secret.junk(1, &taken), "9");
        let all: Vec<SecretValue> = (0..10)
            .map(|digit| SecretValue::new("OTHER", digit.to_string()))
            .collect();
        assert_eq!(secret.junk(1, &all), "invalid");
    }

    #[test]
    fn a_secret_of_wide_letters_is_scrambled_without_panicking() {
        let secret = SecretValue::new("WIDE", "ключ_ключ_ключ_12345678");
        assert_eq!(
            secret.junk(1, &[]).chars().count(),
            secret.reveal().chars().count()
        );
    }
}
