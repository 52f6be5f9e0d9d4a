//! Percent-encoding, form bodies and base64.

use std::fmt::Write;

use serde_json::Value;

/// Percent-encodes everything but the unreserved characters of RFC 3986.
pub(super) fn component(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            push_escaped(&mut text, *byte);
        }
    }
    text
}

/// Encodes only what can stand nowhere in a URL: what the author encoded stays as it is.
pub(super) fn literal(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    for byte in written.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            text.push(char::from(byte));
        } else {
            push_escaped(&mut text, byte);
        }
    }
    text
}

fn push_escaped(text: &mut String, byte: u8) {
    // Writing into a String cannot fail.
    let _ = write!(text, "%{byte:02X}");
}

/// The fields of a form: maps nest as `a[b]`, lists as `a[0]`; null is an empty value.
pub(super) fn form_fields(body: &Value) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    if let Value::Object(members) = body {
        for (name, value) in members {
            push_fields(name, value, &mut fields);
        }
    }
    fields
}

fn push_fields(name: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (inner, value) in members {
                push_fields(&format!("{name}[{inner}]"), value, fields);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                push_fields(&format!("{name}[{at}]"), value, fields);
            }
        }
        scalar => fields.push((name.to_string(), super::fill::text_of(scalar.clone()))),
    }
}

/// A form body; brackets in names stay readable, as every API expects them.
pub(super) fn form_body(fields: &[(String, String)]) -> String {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| {
            let name = component(name.as_bytes())
                .replace("%5B", "[")
                .replace("%5D", "]");
            format!("{name}={}", component(value.as_bytes()).replace("%20", "+"))
        })
        .collect();
    pairs.join("&")
}

/// Base64 with padding (RFC 4648), for basic credentials.
pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let padded = [
            chunk[0],
            chunk.get(1).copied().unwrap_or(0),
            chunk.get(2).copied().unwrap_or(0),
        ];
        let bits = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        for digit in 0..4 {
            if digit <= chunk.len() {
                let index = (bits >> (18 - 6 * digit)) & 63;
                text.push(char::from(ALPHABET[index as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_encoded_and_literals_keep_what_is_encoded() {
        assert_eq!(
            component("a b/ü?&=%".as_bytes()),
            "a%20b%2F%C3%BC%3F%26%3D%25"
        );
        assert_eq!(literal("name%3Da-b c\"ü"), "name%3Da-b%20c%22%C3%BC");
    }

    #[test]
    fn forms_nest_by_brackets() {
        let fields = form_fields(&json!({"a": 1, "m": {"x": "y z", "l": [true, null]}}));
        assert_eq!(form_body(&fields), "a=1&m[x]=y+z&m[l][0]=true&m[l][1]=");
    }

    #[test]
    fn base64_pads() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("a:b~", "YTpifg=="),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }
}
