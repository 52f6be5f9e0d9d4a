//! Texts of requests as words of a shell: keys, markers and secrets become variables.

use crate::report::clean::is_harmless;
use crate::transcript::Round;
use std::collections::BTreeMap;

/// How a masked secret begins and ends.
const MASKED: (&str, char) = ("‹secret ", '›');
/// Characters of a key below which it could stand anywhere.
const SHORTEST: usize = 6;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// As it is.
    Text(String),
    /// A name for what is new in every use: the key or marker of this number.
    Fresh(String),
    /// A variable with a secret.
    Secret(String),
}

/// What is replaced.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Of the round at hand: the value, and what it is called.
    fresh: Vec<(String, String)>,
    /// Variables with the secrets that they stand for.
    secrets: BTreeMap<String, String>,
}

impl Names {
    /// Forgets the keys of another round and learns those of this one.
    pub(super) fn begin_round(&mut self, round: &Round) {
        self.fresh.clear();
        for exchange in &round.exchanges {
            let key = exchange
                .key
                .value
                .as_deref()
                .filter(|_| !exchange.key.malformed);
            for (kind, value) in [("key", key), ("mark", Some(exchange.marker.as_str()))] {
                let Some(value) = value.filter(|value| value.len() >= SHORTEST) else {
                    continue;
                };
                if !self.fresh.iter().any(|(known, _)| known == value) {
                    let name = format!("{kind}-{}", self.fresh.len() + 1);
                    self.fresh.push((value.to_owned(), name));
                }
            }
        }
        // The longer first: one may begin with another.
        self.fresh
            .sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    }

    /// Variables, and how reports show what they stand for.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.secrets
            .iter()
            .map(|(variable, shown)| (variable.as_str(), shown.as_str()))
    }

    /// The secrets that are needed for a text.
    pub(super) fn needed(&self, pieces: &[Piece]) -> Vec<(String, String)> {
        pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Secret(variable) => self
                    .secrets
                    .get(variable)
                    .map(|shown| (variable.clone(), shown.clone())),
                Piece::Text(_) | Piece::Fresh(_) => None,
            })
            .collect()
    }

    /// The parts of a text.
    pub(super) fn pieces(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut plain = String::new();
        while let Some(letter) = rest.chars().next() {
            let found = self.secret(rest).or_else(|| self.known(rest));
            match found {
                Some((piece, length)) => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(piece);
                    rest = &rest[length..];
                }
                None => {
                    plain.push(letter);
                    rest = &rest[letter.len_utf8()..];
                }
            }
        }
        if !plain.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        pieces
    }

    fn known(&self, text: &str) -> Option<(Piece, usize)> {
        let (value, name) = self
            .fresh
            .iter()
            .find(|(value, _)| text.starts_with(value.as_str()))?;
        Some((Piece::Fresh(name.clone()), value.len()))
    }

    fn secret(&mut self, text: &str) -> Option<(Piece, usize)> {
        let (open, close) = MASKED;
        let inner = text.strip_prefix(open)?;
        let end = inner.find(close)?;
        let name = &inner[..end];
        if !name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return None;
        }
        let length = open.len() + end + close.len_utf8();
        let variable = format!("SECRET_{}", name.to_ascii_uppercase());
        self.secrets
            .insert(variable.clone(), text[..length].to_owned());
        Some((Piece::Secret(variable), length))
    }
}

/// The pieces as one word of a POSIX shell.
pub(super) fn word(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Fresh(name) => format!("\"{name}-$run\""),
            Piece::Secret(variable) => format!("\"${{{variable}}}\""),
            Piece::Text(text) => literal(text),
        })
        .collect()
}

/// What a terminal would obey is written as `printf` reads it, so that the script can be looked at.
fn literal(text: &str) -> String {
    if text
        .chars()
        .all(|letter| letter == '\n' || is_harmless(letter))
    {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut printed = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => printed.push_str("\\\\"),
            '%' => printed.push_str("%%"),
            '\'' => printed.push_str("'\\''"),
            letter if letter == '\n' || is_harmless(letter) => printed.push(letter),
            letter => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    printed.push_str(&format!("\\{byte:03o}"));
                }
            }
        }
    }
    format!("\"$(printf '{printed}')\"")
}

#[cfg(test)]
mod tests {
    use super::{Names, Piece, word};

    #[test]
    fn keys_and_secrets_become_variables_and_all_else_stays_as_it_is() {
        let mut names = Names {
            fresh: vec![("key-1234".to_owned(), "key-1".to_owned())],
            ..Names::default()
        };
        let pieces = names.pieces("Bearer ‹secret 4975›; it's key-1234$(x)");
        assert_eq!(pieces[1], Piece::Secret("SECRET_4975".to_owned()));
        assert_eq!(
            word(&pieces),
            "'Bearer '\"${SECRET_4975}\"'; it'\\''s '\"key-1-$run\"'$(x)'"
        );
        assert_eq!(word(&names.pieces("")), "''");
        assert_eq!(word(&names.pieces("‹secret $(x)›")), "'‹secret $(x)›'");
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_in_the_script() {
        let word = word(&Names::default().pieces("100%\u{1b}[31m'\\"));
        assert_eq!(word, "\"$(printf '100%%\\033[31m'\\''\\\\')\"");
    }
}
