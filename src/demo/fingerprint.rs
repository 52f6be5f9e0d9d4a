//! The fingerprint of a request: equal for requests that mean the same, different otherwise.
//! Key order, whitespace, escapes and the notation of a number (2000, 2000.0, 2e3) do not count.

use std::fmt::Write as _;

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use super::clock::Timestamp;
use super::flaw::Flaw;
use super::flaws::{Flaws, Matter};
use super::policy::Equality;

/// Integers up to here have one exact value as a floating-point number: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a fingerprint is made of.
#[derive(Clone, Copy, Debug)]
pub struct Ingredients<'a> {
    /// Method, concrete path and the query that changes meaning.
    pub operation: &'a str,
    /// The body as it is understood.
    pub body: &'a Value,
    /// The body as it came. A correct fingerprint depends on it only where bytes count.
    pub bytes: &'a [u8],
    /// Who sent it, as they say. A correct fingerprint does not depend on it.
    pub user_agent: &'a [u8],
    /// What parts a multipart body. A correct fingerprint does not depend on it.
    pub boundary: &'a str,
    /// When it came. A correct fingerprint does not depend on it.
    pub now: Timestamp,
    /// When two bodies are equal.
    pub equality: Equality,
}

/// How the body goes into the fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Whole and exact.
    Exact,
    /// Without what is nested.
    TopLevel,
    /// With every number as a 64-bit float.
    Floats,
}

/// Computes the fingerprint of a request.
pub fn fingerprint(of: Ingredients<'_>, flaws: Flaws) -> String {
    let knows = flaws.of(Matter::Fingerprint);
    let reading = match knows {
        Some(Flaw::StoresNoFingerprint) => return String::new(),
        Some(Flaw::FingerprintsTopLevelOnly) => Reading::TopLevel,
        Some(Flaw::FingerprintsThroughFloats) => Reading::Floats,
        _ => Reading::Exact,
    };
    let mut text = format!("{}\n", of.operation);
    if of.equality == Equality::Json {
        canonical(of.body, reading, 0, &mut text);
    }
    let mut bytes = text.into_bytes();
    if of.equality == Equality::Bytes {
        bytes.extend(of.bytes);
    }
    if knows == Some(Flaw::FingerprintsFirst4Kib) {
        bytes.truncate(4096);
    }
    if flaws.has(Flaw::FingerprintsServerSecond) {
        bytes.extend((of.now / 1000).to_be_bytes());
    }
    if flaws.has(Flaw::HashesUserAgent) {
        bytes.extend(of.user_agent);
    }
    if flaws.has(Flaw::HashesMultipartBoundary) {
        bytes.extend(of.boundary.as_bytes());
    }
    match flaws.has(Flaw::FingerprintsRawBytesIntoKey) {
        true => format!("{} {}", hash(&bytes), hash(of.bytes)),
        false => hash(&bytes),
    }
}

/// The part of a fingerprint that says what a request means: all of it, but for
/// `fingerprints-raw-bytes-into-key`, where the bytes follow.
pub fn meaning(fingerprint: &str) -> &str {
    match fingerprint.split_once(' ') {
        Some((meaning, _)) => meaning,
        None => fingerprint,
    }
}

/// The fingerprint with the route behind it, for where a key counts on every route.
pub fn with_route(fingerprint: &str, operation: &str) -> String {
    format!("{fingerprint}\n{operation}")
}

/// The route behind a fingerprint; nothing where routes are told apart.
pub fn route(fingerprint: &str) -> &str {
    fingerprint.split_once('\n').map_or("", |(_, route)| route)
}

/// SHA-256 in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether a JSON number is an integer, in whatever notation, and which.
pub fn integer(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_u64() {
        return Some(value.into());
    }
    if let Some(value) = number.as_i64() {
        return Some(value.into());
    }
    let value = number.as_f64()?;
    // Above 2^53 a fraction or exponent no longer says which integer is meant.
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i128)
}

fn canonical(value: &Value, reading: Reading, depth: usize, text: &mut String) {
    let nested = matches!(value, Value::Object(_) | Value::Array(_));
    if reading == Reading::TopLevel && nested && depth > 0 {
        text.push_str("nested");
        return;
    }
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                canonical(value, reading, depth + 1, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, reading, depth + 1, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Number(number) if reading == Reading::Floats => {
            text.push_str(&number.as_f64().unwrap_or_default().to_string());
        }
        Value::Number(number) => match integer(number) {
            Some(integer) => text.push_str(&integer.to_string()),
            None => text.push_str(&number.to_string()),
        },
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> String {
        let body = serde_json::from_str(body).expect("valid JSON");
        let of = Ingredients {
            operation: "POST /payments",
            body: &body,
            bytes: &[],
            user_agent: &[],
            boundary: "",
            now: 0,
            equality: Equality::Json,
        };
        fingerprint(of, Flaws::default())
    }

    #[test]
    fn what_means_the_same_has_one_fingerprint() {
        let plain = of(r#"{"amount":2000,"memo":"é","card":{"a":1,"b":2}}"#);
        for same in [
            r#"{"card":{"b":2,"a":1},"memo":"\u00e9","amount":2000}"#,
            r#" { "amount" : 2000.0, "memo":"é", "card":{"a":1,"b":2} } "#,
            r#"{"amount":2e3,"memo":"é","card":{"a":1.0,"b":2}}"#,
        ] {
            assert_eq!(of(same), plain, "{same}");
        }
    }

    #[test]
    fn what_means_something_else_has_another() {
        let plain = of(r#"{"amount":9007199254740993,"items":[1,2],"card":{"brand":"visa"}}"#);
        for other in [
            r#"{"amount":9007199254740992,"items":[1,2],"card":{"brand":"visa"}}"#,
            r#"{"amount":9007199254740993,"items":[2,1],"card":{"brand":"visa"}}"#,
            r#"{"amount":9007199254740993,"items":[1,2],"card":{"brand":"amex"}}"#,
            r#"{"amount":"9007199254740993","items":[1,2],"card":{"brand":"visa"}}"#,
            r#"{"amount":9007199254740993,"items":[1,2],"card":{"brand":"visa"},"memo":null}"#,
        ] {
            assert_ne!(of(other), plain, "{other}");
        }
    }
}
