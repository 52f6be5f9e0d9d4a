//! What all built-in contracts have in common.

use super::PROFILES;
use crate::contract::{Behaviour, Contract, Kind, Promised, Required, StatusPattern, resolve};
use crate::promise::{Promise, Strength};
use std::collections::BTreeSet;

fn contracts() -> impl Iterator<Item = (&'static str, Contract)> {
    PROFILES.iter().map(|profile| {
        let node = profile.node().expect("it parses");
        let contract = resolve(Some(&node)).unwrap_or_else(|problem| panic!("{problem}"));
        (profile.name, contract)
    })
}

/// Every promise that is made of behaviours, by its name.
fn answers(contract: &Contract) -> [(&'static str, &Promised<Vec<Behaviour>>); 11] {
    [
        ("replay", &contract.replay),
        ("in-progress", &contract.in_progress),
        ("mismatch", &contract.mismatch),
        ("missing", &contract.missing),
        ("malformed", &contract.malformed),
        ("not-applicable", &contract.not_applicable),
        ("expired", &contract.expired),
        ("deleted", &contract.deleted),
        ("companion-missing", &contract.companion_missing),
        ("companion-malformed", &contract.companion_malformed),
        ("store-unavailable", &contract.store_unavailable),
    ]
}

#[test]
fn every_profile_is_sound_and_bears_its_own_name() {
    let mut titles = BTreeSet::new();
    let mut names = BTreeSet::new();
    for (name, contract) in contracts() {
        assert_eq!(contract.name, name);
        assert!(names.insert(name), "two profiles are called {name}");
        assert!(!contract.title.is_empty(), "{name}");
        assert!(titles.insert(contract.title.clone()), "{}", contract.title);
        assert!(contract.title.chars().count() < 60, "{}", contract.title);
        let (min, max) = (contract.key.min, contract.key.max);
        assert!(min <= max, "{name}");
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
    assert!(contract.terms().iter().all(|term| term.says.is_none()));
}

#[test]
fn every_declared_promise_has_a_source_that_the_profile_names() {
    for (name, contract) in contracts() {
        let mut used = BTreeSet::new();
        for term in contract
            .terms()
            .into_iter()
            .filter(|term| term.says.is_some())
        {
            let source = term
                .source
                .unwrap_or_else(|| panic!("{name}: {} has none", term.name));
            assert_ne!(
                term.strength,
                Strength::Unspecified,
                "{name}: {}",
                term.name
            );
            let texts = source.split(':').next().unwrap_or_default();
            for text in texts.split(", ") {
                let text = text.split(' ').next().unwrap_or_default();
                assert!(
                    contract.sources.contains_key(text),
                    "{name}: {} is taken from {text}, which is not among the sources",
                    term.name
                );
                used.insert(text.to_owned());
            }
        }
        for (text, reference) in &contract.sources {
            // Where there are no keys, the requirements are what the sources are for.
            let keyless = contract.key.place().is_none() && !contract.requirements.is_empty();
            assert!(used.contains(text) || keyless, "{name}: {text}");
            assert!(!reference.doc.is_empty(), "{name}: {text}");
            let date = reference.retrieved.as_deref();
            assert!(date.is_none_or(|date| date.len() == 10), "{name}: {text}");
        }
    }
}

#[test]
fn statuses_suit_what_the_target_does() {
    for (name, contract) in contracts() {
        for (promise, promised) in answers(&contract) {
            for behaviour in promised.value.iter().flatten() {
                for status in &behaviour.status {
                    let StatusPattern::Exact(status) = *status else {
                        continue;
                    };
                    let fits = match behaviour.kind {
                        Kind::Reject if promise == "store-unavailable" => status >= 500,
                        Kind::Reject if promise == "not-applicable" => {
                            status == 501 || (400..500).contains(&status)
                        }
                        Kind::Reject | Kind::ConflictRef => (400..500).contains(&status),
                        _ => (200..300).contains(&status),
                    };
                    assert!(fits, "{name}: {promise} is {behaviour}");
                }
            }
        }
    }
}

#[test]
fn what_a_profile_says_of_keys_agrees_with_its_answers() {
    for (name, contract) in contracts() {
        let refuses = |promised: &Promised<Vec<Behaviour>>| {
            promised
                .value
                .iter()
                .flatten()
                .any(|behaviour| behaviour.kind == Kind::Reject)
        };
        match contract.key.required.value {
            Some(Required::Required) if contract.missing.is_declared() => {
                assert!(refuses(&contract.missing), "{name}");
            }
            Some(Required::Optional | Required::AutoGenerated) => {
                assert!(!refuses(&contract.missing), "{name}");
            }
            _ => {}
        }
        let first_sent = contract
            .key
            .companions
            .iter()
            .any(|companion| companion.required);
        assert!(
            first_sent || contract.says(Promise::FirstSent).is_none(),
            "{name}"
        );
    }
}
