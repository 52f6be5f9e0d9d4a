//! `multipart/form-data` (RFC 7578), as far as the demo takes it: into the JSON that it means.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

/// The boundary, if the body is declared as multipart form data.
pub fn boundary(headers: &HeaderMap) -> Option<String> {
    let declared = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let mut parts = declared.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parts.find_map(|part| part.strip_prefix("boundary="))?;
    Some(boundary.trim_matches('"').to_owned())
}

/// Reads the parts: a number where a field is one, else its text, and a file as what it is called
/// and holds. The boundary leaves no trace.
pub fn read(boundary: &str, body: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(body);
    let whole = format!("\r\n{text}");
    let delimiter = format!("\r\n--{boundary}");
    let mut parts = whole.split(delimiter.as_str());
    parts.next()?;
    let mut fields = Map::new();
    for part in parts {
        if part.starts_with("--") {
            return Some(Value::Object(fields));
        }
        let (head, content) = part.strip_prefix("\r\n")?.split_once("\r\n\r\n")?;
        let value = match parameter(head, "filename") {
            Some(file) => json!({ "file": file, "content": content }),
            None => match content.parse::<serde_json::Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::from(content),
            },
        };
        fields.insert(parameter(head, "name")?, value);
    }
    // Without its last delimiter the body has not come in full.
    None
}

/// A parameter of `Content-Disposition`.
fn parameter(head: &str, name: &str) -> Option<String> {
    let line = head.lines().find(|line| {
        line.get(..20)
            .is_some_and(|start| start.eq_ignore_ascii_case("content-disposition:"))
    })?;
    let value = line
        .split(';')
        .find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(boundary: &str) -> String {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n2000\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"scan\"; filename=\"a.txt\"\r\n\
             Content-Type: text/plain\r\n\r\none\r\n\r\ntwo\r\n--{boundary}--\r\n"
        )
    }

    #[test]
    fn a_body_means_the_same_with_any_boundary() {
        let wanted = json!({
            "amount": 2000,
            "scan": { "file": "a.txt", "content": "one\r\n\r\ntwo" },
        });
        for boundary in ["x", "another"] {
            assert_eq!(
                read(boundary, body(boundary).as_bytes()),
                Some(wanted.clone())
            );
        }
    }

    #[test]
    fn a_body_without_its_end_is_none() {
        let whole = body("x");
        assert_eq!(read("x", &whole.as_bytes()[..whole.len() - 8]), None);
        assert_eq!(read("other", whole.as_bytes()), None);
    }
}
