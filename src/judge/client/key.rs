//! Keys: sent with the first attempt, the same in all of them, new for each operation, and neither
//! guessable nor about a person.

use super::operations::Operation;
use super::{Look, Said};
use crate::contract::{Contract, Encoding, KeyKind, Required};
use crate::promise::Level;
use crate::transcript::client::RunEnd;
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Fewer unforeseeable bits than this can be guessed: draft-ietf-httpapi-idempotency-key-header-07,
/// section 5, asks for keys that cannot; 40 bits are far below any UUID.
const FEWEST_BITS: f64 = 40.0;

/// What looks like an address of electronic mail.
static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}").expect("it is an expression")
});

/// What looks like a number of a bank account (ISO 13616).
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[A-Z]{2}\d{2}(?:[ ]?\d{4}){3,7}[ ]?\d{0,4}$").expect("it is an expression")
});

/// Whether the first attempt bears a key.
pub(super) fn sent(contract: &Contract, operation: &Operation<'_>) -> Said {
    let requests = operation.requests();
    let Some((_, first)) = requests.first() else {
        return Said::not_shown("no request was read");
    };
    if let Some(key) = &first.key {
        return Said::held(format!("the first attempt bears the key {key}"));
    }
    if requests.iter().any(|(_, request)| request.key.is_some()) {
        return Said::broken("the first attempt has no key, and a later one has");
    }
    match contract.key.required.value {
        Some(Required::Required) => Said::broken(format!(
            "it sends no key, and {} asks for one",
            contract.name
        )),
        _ => Said::does_not_apply(
            "it sends no key; whether that does harm shows in what it sends again",
        ),
    }
}

/// Whether all attempts of an operation bear the same key.
pub(super) fn same(operation: &Operation<'_>) -> Said {
    let (requests, differs) = match operation.compared(|first, again| again.key == first.key) {
        Ok(compared) => compared,
        Err(said) => return said,
    };
    let first = requests[0].key.as_deref();
    match (first, differs) {
        (None, None) => Said::does_not_apply("it sends no key"),
        (Some(key), None) => Said::held(format!(
            "the key {key} in all {} attempts ({})",
            requests.len(),
            operation.met()
        )),
        (_, Some(at)) => Said::broken(format!(
            "attempt {} bears {}, and the first {}: {}",
            at + 1,
            shown(requests[at].key.as_deref()),
            shown(first),
            operation.met()
        )),
    }
}

fn shown(key: Option<&str>) -> String {
    key.map_or_else(|| "no key".to_owned(), |key| format!("the key {key}"))
}

/// Whether each operation bears a key of its own.
pub(super) fn new(operations: &[Operation<'_>]) -> Said {
    let mut owners: HashMap<&str, &Operation<'_>> = HashMap::new();
    let mut keyed = 0;
    for operation in operations {
        let requests = operation.requests();
        let Some((_, first)) = requests.first() else {
            continue;
        };
        let Some(key) = first.key.as_deref() else {
            continue;
        };
        keyed += 1;
        let Some(other) = owners.insert(key, operation) else {
            continue;
        };
        let name = |operation: &Operation<'_>| {
            let requests = operation.requests();
            requests.first().and_then(|(_, first)| first.marker.clone())
        };
        if let Some(name) = name(operation).filter(|own| name(other).as_ref() == Some(own)) {
            return Said::not_shown(format!(
                "both operations are named {name} in their payload, so they may be one: let the command name each anew"
            ));
        }
        if operation.run.end.is_watched() && name(operation).is_none() {
            return Said::not_shown(format!(
                "the key {key} came again after its success, which may be one operation sent twice: let the payload name each (${{marker}})"
            ));
        }
        return Said::broken(format!("two operations bear the key {key}"))
            .seen_in(other)
            .seen_in(operation);
    }
    match keyed {
        0 if operations.is_empty() => Said::not_shown("no request was read"),
        0 => Said::does_not_apply("it sends no key"),
        1 => Said::not_shown("only one operation bore a key"),
        more => Said::held(format!("{more} operations bore {more} keys")),
    }
}

/// Whether keys are what the contract asks for, can be guessed by nobody, and name no person.
pub(super) fn form(contract: &Contract, operations: &[Operation<'_>]) -> Said {
    let mut keys: Vec<String> = Vec::new();
    for operation in operations {
        let requests = operation.requests();
        let Some(sent) = requests.first().and_then(|(_, first)| first.key.as_deref()) else {
            continue;
        };
        let key = match plain(contract, sent) {
            Ok(key) => key,
            Err(why) => return Said::broken(format!("the key {sent}: {why}")).seen_in(operation),
        };
        if let Some(why) = contract.key.objection(&key) {
            return Said::broken(format!("the key {sent}: {why}")).seen_in(operation);
        }
        if MAIL.is_match(&key) || ACCOUNT.is_match(&key) {
            return Said::broken(format!("the key {sent} names a person")).seen_in(operation);
        }
        keys.push(key);
    }
    let Some(last) = operations.last().filter(|_| !keys.is_empty()) else {
        return Said::does_not_apply("it sends no key");
    };
    if contract.key.kind == KeyKind::Natural {
        return Said::held("keys are what the contract asks for");
    }
    let bits = keys
        .windows(2)
        .filter(|two| two[0] != two[1])
        .map(|two| unforeseeable(&two[0], &two[1]))
        .fold(f64::INFINITY, f64::min);
    let alone = keys
        .iter()
        .map(|key| spread(key, key.chars().count()))
        .fold(bits, f64::min);
    if alone < FEWEST_BITS {
        return Said::broken(format!(
            "the key {} can be guessed: about {alone:.0} bits of it change from one to the next",
            keys[0]
        ))
        .at(Level::Should)
        .seen_in(last);
    }
    Said::held(format!(
        "{} that {} accepts and nobody guesses",
        match keys.len() {
            1 => "a key".to_owned(),
            more => format!("{more} keys"),
        },
        contract.name
    ))
}

/// The key without the quotes that a contract wants around it (RFC 9651, section 3.3.3).
fn plain(contract: &Contract, sent: &str) -> Result<String, &'static str> {
    let inner = sent
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .map(str::to_owned);
    match (contract.key.encoding, inner) {
        (Encoding::Raw, _) => Ok(sent.to_owned()),
        (Encoding::Either, inner) => Ok(inner.unwrap_or_else(|| sent.to_owned())),
        (Encoding::SfString, Some(inner)) => Ok(inner),
        (Encoding::SfString, None) => Err("the contract wants it as a quoted string"),
    }
}

/// About how many bits of a key cannot be foreseen from another one.
fn unforeseeable(one: &str, two: &str) -> f64 {
    let pairs = one.chars().zip(two.chars());
    let differ = pairs.filter(|(a, b)| a != b).count();
    let longer = one.chars().count().abs_diff(two.chars().count());
    spread(two, differ + longer)
}

/// The bits of so many characters, by the kinds of characters that the key is made of.
fn spread(key: &str, characters: usize) -> f64 {
    let hex = key.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let digits = key.chars().all(|c| c.is_ascii_digit());
    let bits = match (digits, hex) {
        (true, _) => 3.3,
        (false, true) => 4.0,
        (false, false) => 5.0,
    };
    characters as f64 * bits
}

/// Whether the key of a run that was ended without notice is used again.
pub(super) fn survives(look: &Look<'_>, from: &str) -> Said {
    let mut said = Vec::new();
    let earlier = look.of_run(from);
    for operation in look.operations() {
        let Some(first) = earlier.iter().find(|first| first.round == operation.round) else {
            continue;
        };
        if first.run.end != RunEnd::Killed {
            said.push(Said::not_shown(
                "the command ended before it could be ended",
            ));
            continue;
        }
        let key = |operation: &Operation<'_>| {
            let requests = operation.requests();
            requests
                .first()
                .and_then(|(_, request)| request.key.clone())
        };
        said.push(match (key(first), key(&operation)) {
            (None, _) => Said::does_not_apply("it sends no key"),
            (Some(old), Some(new)) if old == new => {
                Said::held(format!("the key {old} was used again after the restart"))
            }
            (Some(old), new) => Said::broken(format!(
                "the first run sent the key {old}, and the one after it {}",
                shown(new.as_deref())
            ))
            .seen_in(first)
            .seen_in(&operation),
        });
    }
    super::fold(said)
}
