//! The same JSON, written differently.

use bytes::Bytes;
use serde_json::{Map, Number, Value};

/// The largest integer that surely means the same in any notation (RFC 8259, section 6).
const EXACT: i64 = (1 << 53) - 1;

/// The body with its members in the opposite order, on lines of their own, and its integers as
/// `2000.0`. What is no JSON stays as it is.
pub fn written_anew(body: &Bytes) -> Bytes {
    let anew = serde_json::from_slice(body)
        .map(turned)
        .and_then(|value| serde_json::to_vec_pretty(&value));
    anew.map_or_else(|_| body.clone(), Bytes::from)
}

fn turned(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().rev();
            Value::Object(
                members
                    .map(|(name, value)| (name, turned(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(turned).collect()),
        Value::Number(number) => Value::Number(as_a_float(&number).unwrap_or(number)),
        other => other,
    }
}

fn as_a_float(number: &Number) -> Option<Number> {
    let integer = number.as_i64().filter(|integer| integer.abs() <= EXACT)?;
    Number::from_f64(integer as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_json_in_other_bytes() {
        let body = Bytes::from(r#"{"a":2000,"b":{"c":[1,"x"],"d":null},"e":9007199254740993}"#);
        let anew = written_anew(&body);
        let text = std::str::from_utf8(&anew).expect("it is text");
        assert!(text.find("\"e\"") < text.find("\"a\""), "{text}");
        assert!(text.contains("2000.0"), "{text}");
        assert!(text.contains("9007199254740993"), "{text}");
        let value: Value = serde_json::from_slice(&anew).expect("it is JSON");
        assert_eq!(value["b"]["c"][1], "x");
        assert_eq!(written_anew(&Bytes::from("no JSON")), "no JSON");
    }
}
