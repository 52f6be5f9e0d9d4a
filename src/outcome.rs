//! What a response can mean, and sets of such meanings.

use serde::de::Error as _;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// One thing that a response may say under the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Meaning {
    /// The operation was carried out by this very request.
    Executed,
    /// The result of an earlier success is given again.
    Replayed,
    /// The stored answer of an earlier failure is given again.
    ReplayedFailure,
    /// The first request with this key still runs.
    InFlight,
    /// The key belongs to another request.
    Mismatch,
    /// Refused before anything happened: the request is not valid.
    Invalid,
    /// Refused by the business after the work began.
    Declined,
    /// Refused for want of credentials or rights.
    Unauthorized,
    /// Refused for its rate or load, by the API or by what stands in front of it.
    RateLimited,
    /// The server failed.
    ServerError,
    /// A success that names somebody else's, or another operation's, resource.
    Foreign,
    /// Refused because there is no key.
    MissingKey,
    /// Refused because the key is malformed.
    MalformedKey,
    /// Refused because the resource is not as it was.
    PreconditionFailed,
    /// Refused because the key is too old.
    Expired,
    /// Refused for another reason.
    Refused,
    /// A look-up found the operation.
    Found,
    /// A look-up found nothing.
    NotFound,
    /// None of the above.
    Unknown,
}

impl Meaning {
    /// Every meaning.
    pub const ALL: [Meaning; 19] = [
        Meaning::Executed,
        Meaning::Replayed,
        Meaning::ReplayedFailure,
        Meaning::InFlight,
        Meaning::Mismatch,
        Meaning::Invalid,
        Meaning::Declined,
        Meaning::Unauthorized,
        Meaning::RateLimited,
        Meaning::ServerError,
        Meaning::Foreign,
        Meaning::MissingKey,
        Meaning::MalformedKey,
        Meaning::PreconditionFailed,
        Meaning::Expired,
        Meaning::Refused,
        Meaning::Found,
        Meaning::NotFound,
        Meaning::Unknown,
    ];

    /// The name in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            Meaning::Executed => "executed",
            Meaning::Replayed => "replayed",
            Meaning::ReplayedFailure => "replayed-failure",
            Meaning::InFlight => "in-flight",
            Meaning::Mismatch => "mismatch",
            Meaning::Invalid => "invalid",
            Meaning::Declined => "declined",
            Meaning::Unauthorized => "unauthorized",
            Meaning::RateLimited => "rate-limited",
            Meaning::ServerError => "server-error",
            Meaning::Foreign => "foreign",
            Meaning::MissingKey => "missing-key",
            Meaning::MalformedKey => "malformed-key",
            Meaning::PreconditionFailed => "precondition-failed",
            Meaning::Expired => "expired",
            Meaning::Refused => "refused",
            Meaning::Found => "found",
            Meaning::NotFound => "not-found",
            Meaning::Unknown => "unknown",
        }
    }
}

/// A set of meanings: all that a response may mean, given what is known.
///
/// The empty set belongs to a request that got no response.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Outcome(u32);

impl Outcome {
    /// No response, hence no meaning.
    pub const NONE: Outcome = Outcome(0);
    /// `executed` or `replayed` from a success.
    pub const SUCCESS: Outcome = Outcome::of(&[Meaning::Executed, Meaning::Replayed]);
    /// Every answer after which a client need not ask again.
    pub const FINAL: Outcome = Outcome(
        ((1 << Meaning::ALL.len()) - 1)
            & !Outcome::of(&[
                Meaning::InFlight,
                Meaning::RateLimited,
                Meaning::ServerError,
            ])
            .0,
    );
    /// Answers that only say to come again later.
    pub const FOR_NOW: Outcome = Outcome::of(&[Meaning::InFlight, Meaning::RateLimited]);
    /// Every way of being refused.
    pub const REFUSAL: Outcome = Outcome::of(&[
        Meaning::InFlight,
        Meaning::Mismatch,
        Meaning::Invalid,
        Meaning::Declined,
        Meaning::Unauthorized,
        Meaning::RateLimited,
        Meaning::MissingKey,
        Meaning::MalformedKey,
        Meaning::PreconditionFailed,
        Meaning::Expired,
        Meaning::Refused,
    ]);

    /// The set of these meanings.
    pub const fn of(meanings: &[Meaning]) -> Outcome {
        let mut bits = 0;
        let mut index = 0;
        while index < meanings.len() {
            bits |= 1 << meanings[index] as u32;
            index += 1;
        }
        Outcome(bits)
    }

    /// The set that a word of a scenario stands for: a meaning, or one of the groups `success`,
    /// `refusal` and `final`. `replayed` includes a replayed failure.
    pub fn from_word(word: &str) -> Option<Outcome> {
        match word {
            "success" => Some(Outcome::SUCCESS),
            "refusal" => Some(Outcome::REFUSAL),
            "final" => Some(Outcome::FINAL),
            "replayed" => Some(Outcome::of(&[Meaning::Replayed, Meaning::ReplayedFailure])),
            word => Meaning::ALL
                .into_iter()
                .find(|m| m.name() == word)
                .map(Outcome::from),
        }
    }

    /// Every word that [`Outcome::from_word`] knows.
    pub fn words() -> impl Iterator<Item = &'static str> {
        Meaning::ALL
            .into_iter()
            .map(Meaning::name)
            .chain(["success", "refusal", "final"])
    }

    /// No meaning at all: there was no response.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the meaning is possible.
    pub fn may_be(self, meaning: Meaning) -> bool {
        self.0 & 1 << meaning as u32 != 0
    }

    /// Not empty, and all of it lies in `set`.
    pub fn is_within(self, set: Outcome) -> bool {
        !self.is_empty() && self.0 & !set.0 == 0
    }

    /// Nothing of it lies in `set`.
    pub fn is_disjoint(self, set: Outcome) -> bool {
        self.0 & set.0 == 0
    }

    /// Both sets together.
    pub fn union(self, other: Outcome) -> Outcome {
        Outcome(self.0 | other.0)
    }

    /// Every possible meaning.
    pub fn meanings(self) -> impl Iterator<Item = Meaning> {
        Meaning::ALL.into_iter().filter(move |m| self.may_be(*m))
    }
}

impl From<Meaning> for Outcome {
    fn from(meaning: Meaning) -> Outcome {
        Outcome::of(&[meaning])
    }
}

impl fmt::Display for Outcome {
    /// `executed`, `executed or replayed`, `no response`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no response");
        }
        for (index, meaning) in self.meanings().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            f.write_str(meaning.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for meaning in self.meanings() {
            list.serialize_element(meaning.name())?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut outcome = Outcome::NONE;
        for name in Vec::<String>::deserialize(deserializer)? {
            let meaning = Meaning::ALL.into_iter().find(|own| own.name() == name);
            let meaning =
                meaning.ok_or_else(|| D::Error::custom(format!("no meaning `{name}`")))?;
            outcome = outcome.union(meaning.into());
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning, Outcome};

    #[test]
    fn no_response_lies_within_nothing_and_is_disjoint_from_everything() {
        assert!(!Outcome::NONE.is_within(Outcome::SUCCESS));
        assert!(Outcome::NONE.is_disjoint(Outcome::SUCCESS));
    }

    #[test]
    fn every_meaning_has_its_own_bit_and_word() {
        for meaning in Meaning::ALL {
            assert!(
                Outcome::from_word(meaning.name())
                    .expect("a word")
                    .may_be(meaning)
            );
            assert_eq!(
                Outcome::from(meaning).meanings().collect::<Vec<_>>(),
                [meaning]
            );
        }
    }

    #[test]
    fn a_replayed_failure_is_final_and_no_success() {
        let stored = Outcome::from(Meaning::ReplayedFailure);
        assert!(stored.is_within(Outcome::FINAL));
        assert!(stored.is_disjoint(Outcome::SUCCESS));
        assert!(Outcome::from(Meaning::ServerError).is_disjoint(Outcome::FINAL));
    }
}
