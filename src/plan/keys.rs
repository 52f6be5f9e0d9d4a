//! Keys of a given form that a contract refuses: nothing is shown by one where it is assumed to work.

use crate::contract::{Contract, KeyKind};
use crate::outcome::Outcome;
use crate::scenario::{Case, Check, Key, KeyShape, OutcomeBound, Scenario, Step};

/// A word such as the runner makes.
const SOME_WORD: &str = "tq0v6xw2m9s4c7ba";

/// The error is why a key that the case assumes to work does not by the contract.
pub(super) fn accepted(
    scenario: &Scenario,
    case: &Case,
    contract: &Contract,
) -> Result<(), String> {
    let assumed = scenario
        .assume
        .iter()
        .filter_map(|assumed| match &assumed.check {
            Check::Outcome {
                of,
                bound: OutcomeBound::Is(outcome),
            } if outcome.is_within(Outcome::SUCCESS) => Some(of),
            _ => None,
        });
    for name in assumed.flatten() {
        let Some(Step::Send { request, .. }) = case.step(name) else {
            continue;
        };
        let rule = match &request.key {
            Some(Key::Shaped { length, shape, .. }) => broken(contract, *length, *shape),
            Some(Key::Text(text)) => objected(contract, text),
            _ => None,
        };
        if let Some(rule) = rule {
            return Err(format!("{rule} by the contract {}", contract.name));
        }
    }
    Ok(())
}

/// The rule that a key of this form breaks.
fn broken(contract: &Contract, length: Option<usize>, shape: Option<KeyShape>) -> Option<String> {
    let rules = &contract.key;
    if let Some(length) = length {
        if length > rules.max {
            return Some(format!("keys have at most {} characters", rules.max));
        }
        if length < rules.min {
            return Some(format!("keys have at least {} characters", rules.min));
        }
    }
    let any = matches!(rules.kind, KeyKind::Opaque | KeyKind::Natural);
    (!any && shape != Some(KeyShape::Uuid)).then(|| "keys are UUIDs".to_owned())
}

/// What the contract has against a key of this text; of `${token}` the length and the characters are
/// known.
fn objected(contract: &Contract, text: &str) -> Option<String> {
    let key = text.replace("${token}", SOME_WORD);
    let why = contract.key.objection(&key)?;
    Some(format!("a key such as {key} is malformed, as {why},"))
}

#[cfg(test)]
mod tests {
    use super::{broken, objected};
    use crate::contract::named;
    use crate::scenario::KeyShape;

    #[test]
    fn a_key_is_too_long_too_short_or_no_uuid_by_the_contract() {
        let says = |name: &str, length, shape| {
            let contract = named(name).expect("it is built in");
            broken(&contract, length, shape)
        };
        let of = |length| Some(length);
        assert_eq!(
            says("adyen", of(65), None).as_deref(),
            Some("keys have at most 64 characters")
        );
        assert_eq!(says("adyen", of(64), None), None);
        assert_eq!(
            says("brandur", of(1), None).as_deref(),
            Some("keys have at least 20 characters")
        );
        let letters = Some(KeyShape::Letters);
        assert_eq!(
            says("zalando", None, letters).as_deref(),
            Some("keys are UUIDs")
        );
        assert_eq!(says("zalando", None, Some(KeyShape::Uuid)), None);
        assert_eq!(says("generic", of(255), letters), None);
    }

    #[test]
    fn a_given_key_is_none_by_a_contract_that_wants_others() {
        let says = |name: &str| {
            let contract = named(name).expect("it is built in");
            objected(&contract, "x:${token}")
        };
        let key = "a key such as x:tq0v6xw2m9s4c7ba is malformed, as";
        let wanted = |why: &str| Some(format!("{key} {why},"));
        assert_eq!(says("azure"), wanted("it is no UUID"));
        assert_eq!(
            says("brandur"),
            wanted("it has 18 characters, fewer than 20")
        );
        assert_eq!(
            says("redis-middleware"),
            wanted("it has characters that are not allowed")
        );
        assert_eq!(says("demo"), None);
    }
}
