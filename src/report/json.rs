//! Everything that is known of a run, as JSON; secrets were masked before the transcript was
//! written.

use super::clean::is_harmless;
use crate::grade::Report;
use serde_json::{Map, Value};
use std::fmt::Write;

/// What only judging needs of a response; a recorded run has it.
const UNSHOWN: [&str; 4] = ["json", "stable_json", "volatile_headers", "tokens"];

/// The report as indented JSON, with a line's end. What a terminal would obey, or show as something
/// that it is not, is escaped: the target may have sent it, and reports are looked at with `cat`.
pub fn render(report: &Report) -> String {
    const KEYS: &str = "every map of a report has text for keys";
    let mut whole = serde_json::to_value(report).expect(KEYS);
    leave_out_unshown(&mut whole);
    let text = serde_json::to_string_pretty(&whole).expect(KEYS);
    let mut safe = String::with_capacity(text.len() + 1);
    for character in text.chars() {
        if character != '\n' && !is_harmless(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    safe.push('\n');
    safe
}

fn leave_out_unshown(report: &mut Value) {
    for case in listed(report, "scenarios") {
        if let Value::Object(case) = case {
            case.shift_remove("not_applicable");
        }
        for round in listed(case, "rounds") {
            for exchange in listed(round, "exchanges") {
                for answer in ["response", "late"] {
                    if let Some(Value::Object(response)) = exchange.get_mut(answer) {
                        leave_out(response);
                    }
                }
            }
        }
    }
}

fn leave_out(response: &mut Map<String, Value>) {
    for name in UNSHOWN {
        response.shift_remove(name);
    }
}

fn listed<'a>(value: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    value
        .get_mut(name)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}
