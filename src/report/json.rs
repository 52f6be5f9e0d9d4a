//! Everything that is known of a run, as JSON; secrets were masked before the transcript was
//! written.

use super::clean::is_harmless;
use crate::grade::Report;
use std::fmt::Write;

/// The report as indented JSON, with a line's end. What a terminal would obey, or show as something
/// that it is not, is escaped: the target may have sent it, and reports are looked at with `cat`.
pub fn render(report: &Report) -> String {
    let text =
        serde_json::to_string_pretty(report).expect("every map of a report has text for keys");
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
