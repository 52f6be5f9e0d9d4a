//! Everything that is known of a run, as JSON; secrets were masked before the transcript was
//! written. `docs/report.schema.json` says what is in it.

use super::clean::is_harmless;
use crate::grade::Report;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write;

/// What only judging needs of a response; a recorded run has it.
const UNSHOWN: [&str; 4] = ["json", "stable_json", "volatile_headers", "tokens"];

const KEYS: &str = "every map of a report has text for keys";

/// The report as JSON, with a line for each case and one at its end.
pub fn render(report: &Report) -> String {
    let mut text = String::from("{");
    for (name, value) in [
        ("about", json(&report.about)),
        ("verdict", json(&report.verdict)),
        ("checklist", json(&report.checklist)),
        ("promises", json(&report.promises)),
        ("documents", json(&report.documents)),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = write!(text, "\n\"{name}\": {},", safe(&value));
    }
    text.push_str("\n\"scenarios\": [");
    for (place, case) in report.scenarios.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let mut shown = serde_json::to_value(case).expect(KEYS);
        leave_out_unshown(&mut shown);
        let _ = write!(text, "{comma}\n{}", safe(&json(&shown)));
    }
    let _ = write!(
        text,
        "\n],\n\"headlines\": {}\n}}\n",
        safe(&json(&report.headlines))
    );
    text
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect(KEYS)
}

/// JSON in which what a terminal would obey, or show as something that it is not,
/// is escaped: the target may have sent it, and reports are looked at with `cat`.
pub(super) fn safe(json: &str) -> Cow<'_, str> {
    let is_safe = |character: char| character == '\n' || is_harmless(character);
    if json.chars().all(is_safe) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if !is_safe(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn leave_out_unshown(case: &mut Value) {
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
