//! Making keys: ordinary ones that the contract accepts, and odd ones on purpose.

use super::spec::SpecKey;
use super::words::fresh_word;
use crate::contract::{Contract, Encoding, KeyKind};
use crate::scenario::{KeyShape, KeyTwist};
use crate::target::key::{Carrier, KeyForm, KeyFormat, KeyPlace, KeyUse};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Makes keys for one operation.
pub(super) struct KeyWriter<'a> {
    contract: &'a Contract,
    place: Option<&'a KeyPlace>,
}

impl<'a> KeyWriter<'a> {
    pub(super) fn new(contract: &'a Contract, place: Option<&'a KeyPlace>) -> KeyWriter<'a> {
        KeyWriter { contract, place }
    }

    fn form(&self) -> Option<&KeyForm> {
        match self.place {
            Some(KeyPlace::At { form, .. }) => Some(form),
            _ => None,
        }
    }

    fn max(&self) -> usize {
        self.form()
            .and_then(|form| form.max)
            .unwrap_or(self.contract.key.max)
    }

    fn min(&self) -> usize {
        self.form()
            .and_then(|form| form.min)
            .unwrap_or(self.contract.key.min)
    }

    fn wants_uuid(&self) -> bool {
        match self.form().and_then(|form| form.format) {
            Some(KeyFormat::Opaque) => false,
            Some(KeyFormat::Uuid | KeyFormat::Uuid4 | KeyFormat::Uuid5) => true,
            None => !matches!(self.contract.key.kind, KeyKind::Opaque | KeyKind::Natural),
        }
    }

    /// Whether the key goes out quoted.
    pub(super) fn is_quoted(&self) -> bool {
        let in_header = matches!(
            self.place,
            Some(KeyPlace::At {
                carrier: Carrier::Header(_),
                ..
            }) | None
        );
        in_header
            && self
                .form()
                .and_then(|form| form.quoted)
                .unwrap_or(self.contract.key.encoding == Encoding::SfString)
    }

    /// A new key that the contract accepts: a random UUID, unless that is too long or too short.
    pub(super) fn fresh(&self) -> String {
        self.fresh_of(Uuid::new_v4())
    }

    /// The new key that a random UUID makes.
    pub(super) fn fresh_of(&self, random: Uuid) -> String {
        let uuid = match self.form().and_then(|form| form.format) {
            Some(KeyFormat::Uuid5) => name_based(random.as_bytes()),
            _ if self.contract.key.kind == KeyKind::Uuid5 => name_based(random.as_bytes()),
            _ => random,
        };
        let text = uuid.to_string();
        if self.wants_uuid() || (text.len() <= self.max() && text.len() >= self.min()) {
            return text;
        }
        let mut text = uuid.simple().to_string();
        while text.len() < self.min() {
            text.push_str(&name_based(text.as_bytes()).simple().to_string());
        }
        text.truncate(self.max().max(1));
        text
    }

    /// A key as a client would make it.
    pub(super) fn ordinary(&self, value: String) -> SpecKey {
        let sent = KeyUse::Value {
            text: value.clone(),
            quoted: Some(self.is_quoted()),
        };
        SpecKey {
            malformed: self.objection(&value),
            value: Some(value),
            sent,
            ordinary: true,
        }
    }

    /// A key that is odd on purpose.
    pub(super) fn odd(&self, value: String) -> SpecKey {
        SpecKey {
            ordinary: false,
            ..self.ordinary(value)
        }
    }

    fn objection(&self, value: &str) -> bool {
        let length = value.chars().count();
        self.contract.key.objection(value).is_some()
            || length > self.max()
            || length < self.min()
            || (self.wants_uuid() && Uuid::try_parse(value).is_err())
            || value.chars().any(char::is_control)
    }

    /// A new key of a length and a shape.
    pub(super) fn shaped(
        &self,
        length: Option<usize>,
        shape: Option<KeyShape>,
    ) -> Result<String, String> {
        let mut value = match shape {
            Some(KeyShape::Uuid) => Uuid::new_v4().to_string(),
            Some(KeyShape::Letters) => fresh_word()
                .chars()
                .filter(char::is_ascii_alphabetic)
                .chain("key".chars())
                .collect(),
            Some(KeyShape::ControlByte) => {
                format!("{}\u{1}{}", &fresh_word()[..8], &fresh_word()[..8])
            }
            None => fresh_word(),
        };
        if let Some(length) = length {
            if length == 0 {
                return Err("a key of length 0 is `key: empty`".to_owned());
            }
            while value.len() < length {
                value.push_str(&fresh_word());
            }
            value.truncate(length);
        } else if shape == Some(KeyShape::Letters) {
            while value.len() < self.min() {
                value.extend(fresh_word().chars().filter(char::is_ascii_alphabetic));
            }
            value.truncate(self.max());
        }
        Ok(value)
    }
}

/// A UUID over a name, in the form of version 5 (RFC 9562). Nobody can tell which digest it was.
fn name_based(name: &[u8]) -> Uuid {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(name)[..16]);
    uuid::Builder::from_sha1_bytes(bytes).into_uuid()
}

/// A key with a twist.
pub(super) fn twisted(
    base: &str,
    twist: Option<KeyTwist>,
    keys: &KeyWriter<'_>,
) -> Result<SpecKey, String> {
    let other = |value: String| keys.odd(value);
    Ok(match twist {
        None => keys.ordinary(base.to_owned()),
        Some(KeyTwist::OtherTail) => {
            let mut value = base.to_owned();
            let last = value.pop().ok_or("an empty key has no last character")?;
            value.push(if last == 'a' { 'b' } else { 'a' });
            other(value)
        }
        Some(KeyTwist::OtherCase) => {
            let swapped: String = base
                .chars()
                .map(|c| {
                    if c.is_ascii_lowercase() {
                        c.to_ascii_uppercase()
                    } else {
                        c.to_ascii_lowercase()
                    }
                })
                .collect();
            if swapped == base {
                return Err("the key has no letters, so it has no other case".to_owned());
            }
            other(swapped)
        }
        Some(KeyTwist::Accent) => {
            let at = base.find(|c: char| "aeiou".contains(c)).unwrap_or(0);
            let mut value = base.to_owned();
            value.replace_range(at..at + 1, "é");
            other(value)
        }
        Some(KeyTwist::SentTwice) => SpecKey {
            value: Some(base.to_owned()),
            sent: KeyUse::Lines(vec![base.to_owned(), base.to_owned()]),
            malformed: true,
            ordinary: false,
        },
        Some(KeyTwist::Joined) => SpecKey {
            value: Some(base.to_owned()),
            sent: KeyUse::Raw(format!("{base}, {base}").into_bytes()),
            malformed: true,
            ordinary: false,
        },
        Some(KeyTwist::Quoted) => SpecKey {
            value: Some(base.to_owned()),
            sent: KeyUse::Value {
                text: base.to_owned(),
                quoted: Some(!keys.is_quoted()),
            },
            malformed: true,
            ordinary: false,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn fresh_keys_fit_the_contract() {
        let contract = contract::resolve(None).expect("generic");
        let short = KeyPlace::At {
            carrier: Carrier::Header("K".to_owned()),
            form: KeyForm {
                max: Some(20),
                ..KeyForm::default()
            },
        };
        let keys = KeyWriter::new(&contract, Some(&short));
        assert_eq!(keys.fresh().len(), 20);
        assert!(!keys.ordinary(keys.fresh()).malformed);
        let long = KeyPlace::At {
            carrier: Carrier::Header("K".to_owned()),
            form: KeyForm {
                min: Some(50),
                ..KeyForm::default()
            },
        };
        assert!(KeyWriter::new(&contract, Some(&long)).fresh().len() >= 50);
    }

    #[test]
    fn twists_make_another_key_or_another_way_of_sending_it() {
        let contract = contract::resolve(None).expect("generic");
        let keys = KeyWriter::new(&contract, None);
        let tail = twisted("abc", Some(KeyTwist::OtherTail), &keys).expect("it has a tail");
        assert_eq!(tail.value.as_deref(), Some("aba"));
        let twice = twisted("abc", Some(KeyTwist::SentTwice), &keys).expect("it can be sent twice");
        assert_eq!(twice.value.as_deref(), Some("abc"));
        assert!(twisted("123", Some(KeyTwist::OtherCase), &keys).is_err());
    }

    #[test]
    fn shaped_keys_have_the_wanted_length() {
        let contract = contract::resolve(None).expect("generic");
        let keys = KeyWriter::new(&contract, None);
        for length in [1, 37, 255, 4096] {
            assert_eq!(
                keys.shaped(Some(length), None).expect("a key").len(),
                length
            );
        }
        assert!(
            keys.odd(keys.shaped(Some(256), None).expect("a key"))
                .malformed
        );
        assert!(
            !keys
                .odd(keys.shaped(Some(255), None).expect("a key"))
                .malformed
        );
    }
}
