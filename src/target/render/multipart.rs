//! `multipart/form-data` (RFC 7578), written by the tool itself so that the boundary is known.

use serde_json::Value;

use super::RenderError;

/// The boundaries that occur: the usual one, and that of the form `new-boundary`.
const BOUNDARIES: [(&str, &str); 2] = [
    (
        "idemspec-part-4f1c9a7e",
        "multipart/form-data; boundary=idemspec-part-4f1c9a7e",
    ),
    (
        "idemspec-part-b83d20f6",
        "multipart/form-data; boundary=idemspec-part-b83d20f6",
    ),
];

/// Writes the parts, in the order of the file, and names the media type.
pub(super) fn write(
    parts: &Value,
    other_boundary: bool,
) -> Result<(Vec<u8>, &'static str), RenderError> {
    let (boundary, media_type) = BOUNDARIES[usize::from(other_boundary)];
    let mut text = String::new();
    for (name, part) in parts.as_object().into_iter().flatten() {
        let name = quoted(name);
        let field = |field: &str| part.get(field).map(plain);
        let (head, content) = match part {
            Value::Object(_) => {
                let file = quoted(&field("file").unwrap_or_default());
                let kind = field("type").unwrap_or_else(|| "application/octet-stream".to_owned());
                if kind.contains(['\r', '\n']) {
                    return Err(RenderError::Invalid(format!(
                        "the type of the part {name} is no single line"
                    )));
                }
                (
                    format!("; filename={file}\r\nContent-Type: {kind}"),
                    field("content").unwrap_or_default(),
                )
            }
            scalar => (String::new(), plain(scalar)),
        };
        if content.contains(boundary) {
            return Err(RenderError::Invalid(format!(
                "the part {name} holds the boundary {boundary}"
            )));
        }
        text += &format!(
            "--{boundary}\r\nContent-Disposition: form-data; name={name}{head}\r\n\r\n{content}\r\n"
        );
    }
    text += &format!("--{boundary}--\r\n");
    Ok((text.into_bytes(), media_type))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A name between quotes, as browsers write it (WHATWG HTML, multipart/form-data encoding).
fn quoted(name: &str) -> String {
    let escaped = name
        .replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_written_with_either_boundary_and_differ_in_nothing_else() {
        let parts = json!({ "amount": 7, "a\"b": { "file": "s.txt", "content": "x\r\ny" } });
        let (one, media_type) = write(&parts, false).expect("sound parts");
        let (other, other_type) = write(&parts, true).expect("sound parts");
        let text = String::from_utf8(one).expect("text");
        assert_eq!(
            text,
            "--idemspec-part-4f1c9a7e\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n7\r\n\
             --idemspec-part-4f1c9a7e\r\nContent-Disposition: form-data; name=\"a%22b\"; filename=\"s.txt\"\r\n\
             Content-Type: application/octet-stream\r\n\r\nx\r\ny\r\n--idemspec-part-4f1c9a7e--\r\n"
        );
        let (boundary, _) = BOUNDARIES[0];
        let swapped = text.replace(boundary, BOUNDARIES[1].0);
        assert_eq!(String::from_utf8(other).expect("text"), swapped);
        assert!(media_type.ends_with(boundary) && other_type.ends_with(BOUNDARIES[1].0));
    }

    #[test]
    fn a_part_that_holds_the_boundary_is_refused() {
        assert!(write(&json!({ "a": BOUNDARIES[0].0 }), false).is_err());
        assert!(write(&json!({ "a": BOUNDARIES[0].0 }), true).is_ok());
    }
}
