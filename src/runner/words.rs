//! Values that are unlike all others: random ones, and, where several places run the same round with
//! the same keys, ones that all of them come to by themselves.

use sha2::{Digest, Sha256};
use std::time::SystemTime;
use uuid::Uuid;

/// Where the values of a round come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Words {
    /// By chance.
    #[default]
    Random,
    /// From what the places agree on.
    Agreed {
        /// The run, the case and the round.
        round: String,
        /// What they take for the time.
        now: SystemTime,
    },
}

impl Words {
    /// A UUID. Of agreed ones, the same `what` has the same.
    pub(super) fn uuid(&self, what: &str) -> Uuid {
        match self {
            Words::Random => Uuid::new_v4(),
            Words::Agreed { round, .. } => {
                let mut bytes = [0; 16];
                let digest = Sha256::digest(format!("{round}\n{what}"));
                bytes.copy_from_slice(&digest[..16]);
                uuid::Builder::from_random_bytes(bytes).into_uuid()
            }
        }
    }

    /// 16 characters, a letter first: short enough for any field.
    pub(super) fn word(&self, what: &str) -> String {
        word_of(self.uuid(what))
    }

    /// The time that requests speak of.
    pub(super) fn now(&self) -> SystemTime {
        match self {
            Words::Random => SystemTime::now(),
            Words::Agreed { now, .. } => *now,
        }
    }
}

/// 16 characters, a letter first: short enough for any field, and unlike any other.
pub(super) fn fresh_word() -> String {
    word_of(Uuid::new_v4())
}

fn word_of(random: Uuid) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut word = String::with_capacity(16);
    let mut random = random.as_u128();
    for place in 0..16 {
        let alphabet = if place == 0 { 26 } else { 36 };
        word.push(char::from(LETTERS[(random % alphabet) as usize]));
        random /= alphabet;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::{Words, fresh_word};
    use std::time::SystemTime;

    #[test]
    fn fresh_words_begin_with_a_letter_and_differ() {
        let (one, other) = (fresh_word(), fresh_word());
        assert_ne!(one, other);
        assert_eq!(one.len(), 16);
        assert!(one.starts_with(|c: char| c.is_ascii_lowercase()));
    }

    #[test]
    fn agreed_values_are_the_same_for_the_same_thing_in_the_same_round_only() {
        let agreed = |round: &str| Words::Agreed {
            round: round.to_owned(),
            now: SystemTime::UNIX_EPOCH,
        };
        assert_eq!(agreed("1").uuid("key"), agreed("1").uuid("key"));
        assert_eq!(agreed("1").uuid("key").get_version_num(), 4);
        assert_ne!(agreed("1").uuid("key"), agreed("2").uuid("key"));
        assert_ne!(agreed("1").word("key"), agreed("1").word("marker"));
        assert_ne!(Words::Random.uuid("key"), Words::Random.uuid("key"));
    }
}
