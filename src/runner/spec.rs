//! From a step's request, with all that it inherits, to one concrete request to make.

use super::keys::{KeyWriter, twisted};
use super::words::{Words, fresh_word};
use crate::scenario::{
    FirstSent, Key, KeyTwist, Marker, OperationRole, PrincipalRole, Request, Signature, StepName,
};
use crate::target::key::KeyUse;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::SystemTime;

/// One concrete request: everything that its bytes depend on. What is skipped here no request has that
/// is kept for another day.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Spec {
    pub(super) operation: OperationRole,
    pub(super) variants: Vec<String>,
    pub(super) forms: Vec<String>,
    pub(super) key: SpecKey,
    #[serde(skip)]
    pub(super) first_sent: Option<FirstSent>,
    pub(super) principal: PrincipalRole,
    pub(super) marker_name: String,
    pub(super) marker: String,
    pub(super) unique: String,
    pub(super) now: SystemTime,
    pub(super) given_other: bool,
    pub(super) chosen_name: String,
    /// The step since whose response the resource must be unchanged.
    #[serde(skip)]
    pub(super) only_if: Option<StepName>,
    /// The version that this response told, once it is known.
    #[serde(skip)]
    pub(super) version: Option<String>,
    /// How it is signed.
    #[serde(skip)]
    pub(super) signature: Signature,
    /// The `prepare` step whose answer it uses, by a word of that step's own.
    #[serde(skip)]
    pub(super) prepared: Option<String>,
}

impl Spec {
    /// What a marker looks like before anything was sent with it.
    pub(super) fn unsent(marker: String) -> Spec {
        Spec {
            operation: OperationRole::Subject,
            variants: Vec::new(),
            forms: Vec::new(),
            key: SpecKey {
                value: None,
                sent: KeyUse::None,
                malformed: false,
                ordinary: false,
            },
            first_sent: None,
            principal: PrincipalRole::Owner,
            marker_name: "main".to_owned(),
            marker,
            unique: fresh_word(),
            now: SystemTime::now(),
            given_other: false,
            chosen_name: fresh_word(),
            only_if: None,
            version: None,
            signature: Signature::Good,
            prepared: None,
        }
    }
}

/// The key of a request, as it goes out and as it is known by.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct SpecKey {
    /// What ties requests together; `None` where no key is sent.
    pub(super) value: Option<String>,
    /// What is put on the wire.
    pub(super) sent: KeyUse,
    /// The contract calls it malformed.
    pub(super) malformed: bool,
    /// It is as a client would make it: worth sending again at the end of the run.
    pub(super) ordinary: bool,
}

/// What the steps of one round have in common.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct RoundNames {
    #[serde(skip)]
    words: Words,
    markers: HashMap<String, String>,
    /// `${token}` of keys that are given literally.
    token: String,
    /// The requests of the steps so far, by copy.
    specs: HashMap<StepName, Vec<Spec>>,
}

impl RoundNames {
    pub(super) fn new(words: Words) -> RoundNames {
        RoundNames {
            markers: HashMap::new(),
            token: words.word("token"),
            words,
            specs: HashMap::new(),
        }
    }

    /// The concrete requests of a step, one for each copy. `which` picks the copy of a burst that
    /// the step repeats.
    pub(super) fn resolve(
        &mut self,
        request: &Request,
        copies: u32,
        keys: &KeyWriter<'_>,
        which: usize,
    ) -> Result<Vec<Spec>, String> {
        let base = match &request.like {
            Some(like) => Some(self.spec(&like.of, which)?.clone()),
            None => None,
        };
        let mut specs = Vec::new();
        for copy in 0..copies {
            let each =
                request.key == Some(Key::FreshEach) || request.marker == Some(Marker::FreshEach);
            match specs.first() {
                Some(first) if !each => specs.push(Spec::clone(first)),
                _ => specs.push(self.one(request, base.as_ref(), copy, keys)?),
            }
        }
        self.specs.insert(request.name.clone(), specs.clone());
        Ok(specs)
    }

    fn one(
        &mut self,
        request: &Request,
        base: Option<&Spec>,
        copy: u32,
        keys: &KeyWriter<'_>,
    ) -> Result<Spec, String> {
        let (marker_name, marker) = match (&request.marker, base) {
            (Some(Marker::Named(name)), _) => (name.clone(), self.marker(name)),
            (Some(Marker::FreshEach), _) => {
                let name = format!("{}-{copy}", request.name);
                let marker = self.marker(&name);
                (name, marker)
            }
            (Some(Marker::Of(step)), _) => {
                let of = self.spec(step, 0)?;
                (of.marker_name.clone(), of.marker.clone())
            }
            (None, Some(base)) => (base.marker_name.clone(), base.marker.clone()),
            (None, None) => ("main".to_owned(), self.marker("main")),
        };
        let key = match &request.key {
            None => base
                .map(|base| base.key.clone())
                .ok_or("the step has no key")?,
            Some(key) => self.key(key, keys, &format!("key {} {copy}", request.name))?,
        };
        let own = |what: &str| self.words.word(&format!("{what} {} {copy}", request.name));
        let mut variants = base.map(|base| base.variants.clone()).unwrap_or_default();
        for variant in &request.variants {
            if !variants.contains(variant) {
                variants.push(variant.clone());
            }
        }
        let fresh_values = base.is_none();
        Ok(Spec {
            operation: request
                .operation
                .or(base.map(|base| base.operation))
                .unwrap_or_default(),
            variants,
            forms: request
                .forms
                .clone()
                .or(base.map(|base| base.forms.clone()))
                .unwrap_or_default(),
            key,
            first_sent: request.first_sent.or(base.and_then(|base| base.first_sent)),
            principal: request
                .principal
                .or(base.map(|base| base.principal))
                .unwrap_or_default(),
            marker_name,
            marker,
            unique: match base {
                Some(base) if !fresh_values => base.unique.clone(),
                _ => own("unique"),
            },
            now: base.map_or_else(|| self.words.now(), |base| base.now),
            given_other: request
                .given_other
                .or(base.map(|base| base.given_other))
                .unwrap_or(false),
            chosen_name: match (&request.chosen_name, base) {
                (Some(name), _) => name.replace("${token}", &self.token),
                (None, Some(base)) => base.chosen_name.clone(),
                (None, None) => own("name"),
            },
            only_if: request
                .only_if
                .clone()
                .or_else(|| base.and_then(|base| base.only_if.clone())),
            version: None,
            signature: request.signature.clone(),
            prepared: match &request.prepared {
                Some(step) => self.spec(step, 0)?.prepared.clone(),
                None => base.and_then(|base| base.prepared.clone()),
            },
        })
    }

    /// What a `prepare` step asks for, which later steps may use.
    pub(super) fn prepare(&mut self, step: &str, principal: PrincipalRole) -> Spec {
        let spec = Spec {
            principal,
            prepared: Some(fresh_word()),
            ..Spec::unsent(self.marker("main"))
        };
        self.specs.insert(step.to_owned(), vec![spec.clone()]);
        spec
    }

    /// What fixtures are made for: its markers, and what is new for each key.
    pub(super) fn instances(&self) -> Vec<&str> {
        let specs = self.specs.values().flatten();
        let unique = specs.map(|spec| spec.unique.as_str());
        let markers = self.markers.values().map(String::as_str);
        markers.chain(unique).collect()
    }

    /// The request of a step's first copy, if it has been made.
    pub(super) fn first_spec(&self, step: &str) -> Option<&Spec> {
        self.specs.get(step)?.first()
    }

    fn spec(&self, step: &str, copy: usize) -> Result<&Spec, String> {
        let specs = self
            .specs
            .get(step)
            .ok_or_else(|| format!("the step `{step}` sent nothing"))?;
        specs
            .get(copy)
            .or(specs.first())
            .ok_or_else(|| format!("the step `{step}` sent nothing"))
    }

    /// The marker's value in this round.
    pub(super) fn marker(&mut self, name: &str) -> String {
        let words = &self.words;
        self.markers
            .entry(name.to_owned())
            .or_insert_with(|| words.word(&format!("marker {name}")))
            .clone()
    }

    fn key(&self, key: &Key, keys: &KeyWriter<'_>, what: &str) -> Result<SpecKey, String> {
        let twist_of = |base: &str, twist: &Option<KeyTwist>| twisted(base, *twist, keys);
        Ok(match key {
            Key::Fresh | Key::FreshEach => keys.ordinary(keys.fresh_of(self.words.uuid(what))),
            Key::Of { step, twist } => {
                let of = &self.spec(step, 0)?.key;
                match (&of.value, twist) {
                    (Some(value), Some(_)) => twist_of(value, twist)?,
                    (Some(value), None) if of.ordinary => keys.ordinary(value.clone()),
                    (Some(value), None) => keys.odd(value.clone()),
                    (None, _) => return Err(format!("the step `{step}` has no key")),
                }
            }
            Key::Shaped {
                length,
                shape,
                twist,
            } => {
                let value = keys.shaped(*length, *shape)?;
                match twist {
                    Some(_) => twist_of(&value, twist)?,
                    None => keys.odd(value),
                }
            }
            Key::None => SpecKey {
                value: None,
                sent: KeyUse::None,
                malformed: false,
                ordinary: false,
            },
            Key::Empty => SpecKey {
                value: Some(String::new()),
                sent: KeyUse::Raw(Vec::new()),
                malformed: true,
                ordinary: false,
            },
            Key::Blank => SpecKey {
                value: Some(" ".to_owned()),
                sent: KeyUse::Raw(b" ".to_vec()),
                malformed: true,
                ordinary: false,
            },
            Key::Text(text) => keys.odd(text.replace("${token}", &self.token)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    fn request(name: &str, like: Option<&str>, key: Option<Key>) -> Request {
        Request {
            like: like.map(|of| crate::scenario::Like {
                of: of.to_owned(),
                which: None,
            }),
            key,
            ..Request::plain(name)
        }
    }

    #[test]
    fn like_keeps_key_marker_and_unique_values() {
        let contract = contract::resolve(None).expect("generic");
        let keys = KeyWriter::new(&contract, None);
        let mut names = RoundNames::new(Words::Random);
        let first = names
            .resolve(&request("first", None, Some(Key::Fresh)), 1, &keys, 0)
            .expect("resolves");
        let again = names
            .resolve(&request("again", Some("first"), None), 1, &keys, 0)
            .expect("resolves");
        assert_eq!(first[0].key, again[0].key);
        assert_eq!(first[0].marker, again[0].marker);
        assert_eq!(first[0].unique, again[0].unique);
        let other = names
            .resolve(
                &request("other", Some("first"), Some(Key::Fresh)),
                1,
                &keys,
                0,
            )
            .expect("resolves");
        assert_ne!(first[0].key, other[0].key);
        assert_eq!(
            first[0].unique, other[0].unique,
            "a new key alone must make a new operation"
        );
    }

    #[test]
    fn copies_share_one_key_unless_each_has_its_own() {
        let contract = contract::resolve(None).expect("generic");
        let keys = KeyWriter::new(&contract, None);
        let mut names = RoundNames::new(Words::Random);
        let shared = names
            .resolve(&request("burst", None, Some(Key::Fresh)), 3, &keys, 0)
            .expect("resolves");
        assert!(shared.iter().all(|spec| spec.key == shared[0].key));
        let each = names
            .resolve(&request("flood", None, Some(Key::FreshEach)), 3, &keys, 0)
            .expect("resolves");
        assert_ne!(each[0].key, each[1].key);
        assert_ne!(each[1].unique, each[2].unique);
    }
}
