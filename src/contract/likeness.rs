//! Whether two answers say the same.

use super::{Contract, ReplayMarker};
use crate::transcript::Response;
use serde_json::{Number, Value};
use serde_json_path::{JsonPath, NormalizedPath};

/// The largest integer up to which all have one exact value as a floating-point number: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether two bodies are equal but for what the target calls volatile and for the mark of a replay.
/// JSON is equal in any order and notation: 2000 is 2000.0 (RFC 8259, sections 4 and 6).
pub fn same_body(contract: &Contract, one: &Response, other: &Response) -> bool {
    let (Some(first), Some(second)) = (&one.stable_json, &other.stable_json) else {
        return one.body_digest == other.body_digest;
    };
    match &contract.replay_marker.value {
        Some(ReplayMarker::Json { path, .. }) => {
            let (mut first, mut second) = (first.clone(), second.clone());
            remove(&mut first, path);
            remove(&mut second, path);
            same_json(&first, &second)
        }
        _ => same_json(first, second),
    }
}

/// Removes all that a path leads to; items of lists become `null`, so that the others keep their
/// places.
pub fn remove(json: &mut Value, path: &JsonPath) {
    let places: Vec<String> = path
        .query_located(json)
        .locations()
        .map(NormalizedPath::to_json_pointer)
        .collect();
    for place in places {
        remove_at(json, &place);
    }
}

/// Removes the value at a JSON Pointer (RFC 6901).
fn remove_at(json: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match json.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.shift_remove(&last);
        }
        Some(Value::Array(list)) => {
            if let Some(entry) = last
                .parse::<usize>()
                .ok()
                .and_then(|index| list.get_mut(index))
            {
                *entry = Value::Null;
            }
        }
        _ => {}
    }
}

/// Whether two values are equal, in any order and notation.
pub fn same_json(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same_json(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, one)| other.get(name).is_some_and(|other| same_json(one, other)))
        }
        _ => one == other,
    }
}

/// Above 2^53 a fraction or exponent no longer says which integer is meant.
fn same_number(one: &Number, other: &Number) -> bool {
    if one == other {
        return true;
    }
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other && one.abs() < EXACT,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{remove, same_json};
    use serde_json::json;
    use serde_json_path::JsonPath;

    #[test]
    fn json_is_equal_in_any_order_and_notation() {
        let one = json!({"a": 2000, "b": [1, {"c": null}]});
        assert!(same_json(
            &one,
            &json!({"b": [1.0, {"c": null}], "a": 2000.0})
        ));
        for other in [
            json!({"a": 2001, "b": [1, {"c": null}]}),
            json!({"a": 2000, "b": [1]}),
            json!({"a": 2000, "b": [1, {"c": null}], "d": 1}),
            json!({"a": 2000, "b": [1, {"d": null}]}),
            json!({"a": "2000", "b": [1, {"c": null}]}),
        ] {
            assert!(!same_json(&one, &other), "{other}");
        }
    }

    #[test]
    fn large_integers_are_equal_only_when_they_are_the_same() {
        let large = json!(9_007_199_254_740_993_u64);
        assert!(same_json(&large, &large.clone()));
        assert!(!same_json(&large, &json!(9_007_199_254_740_992_u64)));
        assert!(!same_json(&large, &json!(9_007_199_254_740_992.0)));
    }

    #[test]
    fn what_a_path_leads_to_is_removed() {
        let mut json = json!({"replayed": true, "a/b": [1, 2], "c": 3});
        for path in ["$.replayed", "$['a/b'][0]", "$.nothing"] {
            remove(&mut json, &JsonPath::parse(path).expect("a path"));
        }
        assert_eq!(json, json!({"a/b": [null, 2], "c": 3}));
    }
}
