//! Everything that is known of a run, as JSON; secrets were masked before the transcript was
//! written.

use crate::grade::Report;

/// The report as indented JSON, with a line's end.
pub fn render(report: &Report) -> String {
    let mut text =
        serde_json::to_string_pretty(report).expect("every map of a report has text for keys");
    text.push('\n');
    text
}
