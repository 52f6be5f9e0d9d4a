//! The contracts that are built in: one complete YAML file each.

use crate::yaml::{self, Diagnostic, Node, Source};
use std::sync::Arc;

/// A contract that is built in.
#[derive(Debug)]
pub struct Profile {
    /// The name to write after `contract:`.
    pub name: &'static str,
    /// Its file.
    text: &'static str,
}

/// Every built-in contract, in the order of lists.
pub const PROFILES: [Profile; 3] = [
    Profile {
        name: "generic",
        text: include_str!("profiles/generic.yaml"),
    },
    Profile {
        name: "ietf-draft-07",
        text: include_str!("profiles/ietf-draft-07.yaml"),
    },
    Profile {
        name: "demo",
        text: include_str!("profiles/demo.yaml"),
    },
];

/// The profile of this name.
pub(super) fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Profile {
    /// The parsed file.
    ///
    /// # Errors
    /// A built-in file that does not parse; a test keeps this from happening.
    pub fn node(&self) -> Result<Node, Diagnostic> {
        let source = Source {
            name: format!("contract {}", self.name),
            text: self.text.to_owned(),
        };
        yaml::parse(Arc::new(source))
    }
}

#[cfg(test)]
mod tests {
    use super::PROFILES;
    use crate::contract::resolve;
    use crate::promise::{Promise, Strength};

    #[test]
    fn every_profile_is_sound_and_bears_its_own_name() {
        for profile in &PROFILES {
            let node = profile.node().expect("it parses");
            let contract = resolve(Some(&node)).unwrap_or_else(|problem| panic!("{problem}"));
            assert_eq!(contract.name.trim_end_matches('+'), profile.name);
            assert!(!contract.title.is_empty(), "{}", profile.name);
        }
    }

    #[test]
    fn generic_leaves_every_promise_unspecified() {
        let contract = resolve(None).expect("generic");
        for promise in Promise::ALL {
            assert_eq!(
                contract.strength(promise),
                Strength::Unspecified,
                "{}",
                promise.name()
            );
            assert!(!contract.allows(promise), "{}", promise.name());
        }
    }
}
