//! Workflow commands of GitHub Actions: an annotation at the line of the target or scenario file for
//! each case in which something is broken, and one for what could not be shown.
//!
//! Source: GitHub's documentation, "Workflow commands for GitHub Actions".

use super::clean::{clip, line};
use super::entry::{Standing, counts};
use super::gravity::{broken, inconclusive};
use super::{place, words};
use crate::grade::Report;
use std::fmt::Write;

/// Annotations of a kind that GitHub shows of one step; the gravest come first.
const MOST: usize = 10;
/// Characters of a message.
const MOST_MESSAGE: usize = 2_000;

/// The commands, one a line.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let mut errors = 0;
    let mut warnings = 0;
    for broken in broken(report) {
        let (command, count) = match broken.gravity().0 {
            Standing::Fail => ("error", &mut errors),
            _ => ("warning", &mut warnings),
        };
        *count += 1;
        if *count > MOST {
            continue;
        }
        let Some(first) = broken.entries.first() else {
            continue;
        };
        let place = place::of(report, first);
        let mut says: Vec<String> = broken
            .findings()
            .map(|finding| format!("{}: {}", finding.item, line(&finding.reason)))
            .collect();
        for command in super::again::commands(report, broken.case, broken.findings()) {
            says.push(format!("see it again: {command}"));
        }
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            text,
            "::{command} file={},line={},title={}::{}",
            property(&place.file),
            place.line,
            property(&format!("{}: {}", broken.word(), broken.case.title)),
            message(&says)
        );
    }
    let reasons = inconclusive(report);
    if !reasons.is_empty() {
        let says: Vec<String> = reasons
            .iter()
            .take(MOST)
            .map(|(why, names)| format!("{} ({})", line(why), super::plural(names.len(), "check")))
            .collect();
        let _ = writeln!(
            text,
            "::warning file={},title=Not everything could be shown::{}",
            property(&report.about.file),
            message(&says)
        );
    }
    let _ = writeln!(
        text,
        "::notice title=idemspec::{}",
        message(&[format!(
            "{}: {}: {}",
            line(&report.about.target),
            words::verdict(report.verdict),
            words::counts(counts(report))
        )])
    );
    text
}

/// Lines of a message, with what the runner reads as the end of a command escaped.
fn message(lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|own| clip(own, MOST_MESSAGE).replace('%', "%25"))
        .collect();
    lines.join("%0A")
}

fn property(text: &str) -> String {
    clip(text, MOST_MESSAGE)
        .replace('%', "%25")
        .replace(':', "%3A")
        .replace(',', "%2C")
}
