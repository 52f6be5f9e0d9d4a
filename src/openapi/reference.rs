//! References within a document.

use serde_json::Value;

/// How many references are followed one after another.
const MOST: usize = 16;

/// What a value refers to, if it is a reference into the document; else itself.
pub(super) fn resolved<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    let mut value = value;
    for _ in 0..MOST {
        let Some(pointer) = value["$ref"]
            .as_str()
            .and_then(|text| text.strip_prefix('#'))
        else {
            return value;
        };
        match root.pointer(&pointer.replace("%7B", "{").replace("%7D", "}")) {
            Some(found) => value = found,
            None => return value,
        }
    }
    value
}
