//! What was broken, the gravest first, with all that is needed to believe it.

use super::{Detail, Look, color};
use crate::checklist::ItemId;
use crate::grade::{CaseReport, Report};
use crate::judge::Finding;
use crate::report::attempts;
use crate::report::clean::line;
use crate::report::entry::{Entry, Standing, entries, severity};
use crate::report::evidence;
use crate::scenario::Severity;
use anstyle::AnsiColor;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One block for each case that something is broken in.
pub(super) fn broken(report: &Report, look: &Look, text: &mut String) {
    let mut cases: Vec<(&CaseReport, Vec<Entry<'_>>)> = report
        .scenarios
        .iter()
        .map(|case| (case, broken_entries(case)))
        .filter(|(_, entries)| !entries.is_empty())
        .collect();
    cases.sort_by_key(|(_, entries)| std::cmp::Reverse(entries.iter().map(gravity).max()));
    for (case, entries) in cases {
        block(case, &entries, look, text);
    }
}

fn broken_entries(case: &CaseReport) -> Vec<Entry<'_>> {
    let mut broken: Vec<Entry<'_>> = entries(case)
        .into_iter()
        .filter(|entry| matches!(entry.standing, Standing::Fail | Standing::Warn))
        .collect();
    broken.sort_by_key(|entry| std::cmp::Reverse(gravity(entry)));
    broken
}

fn gravity(entry: &Entry<'_>) -> (Standing, Severity) {
    let severity = entry
        .finding
        .map_or(entry.case.severity, |finding| finding.severity);
    (entry.standing, severity)
}

fn block(case: &CaseReport, entries: &[Entry<'_>], look: &Look, text: &mut String) {
    let Some(gravest) = entries.first() else {
        return;
    };
    let (standing, worst) = gravity(gravest);
    let word = match standing {
        Standing::Fail => severity(worst),
        _ => standing.name(),
    };
    let _ = writeln!(
        text,
        "{} {}",
        look.paint(&format!("{word}:"), color(standing)),
        look.bold(&line(&case.title)),
    );
    let _ = writeln!(text, "  {}", line(&case.name()));
    let mut explained: Vec<ItemId> = Vec::new();
    for entry in entries {
        let Some(finding) = entry.finding else {
            continue;
        };
        sentence(finding, entry.standing, look, text);
        if !explained.contains(&finding.item) {
            explained.push(finding.item);
            let item = finding.item.item();
            let _ = writeln!(text, "      why it matters: {}", item.why);
        }
    }
    if let (Some(client), Some(finding)) = (&case.client, gravest.finding) {
        for row in attempts::text(client, finding, look.width - 4).lines() {
            let _ = writeln!(text, "    {row}");
        }
    }
    for (number, marked) in rounds(case, entries, look.detail) {
        let Some(round) = case
            .transcript
            .rounds
            .iter()
            .find(|round| round.number == number)
        else {
            continue;
        };
        let _ = writeln!(text, "  round {number}:");
        let all = look.detail == Detail::Verbose;
        for row in evidence::tables(round, &marked, all, look.width - 4).lines() {
            let _ = writeln!(text, "    {row}");
        }
    }
    text.push('\n');
}

fn sentence(finding: &Finding, standing: Standing, look: &Look, text: &mut String) {
    let _ = writeln!(
        text,
        "    {} {}, {}: {}",
        look.paint("×", color(standing)),
        finding.item,
        line(&finding.id),
        line(&finding.reason)
    );
}

/// The rounds that the findings are seen in, each with the exchanges that they point to: the first
/// failed one of each finding, or every one that they name.
fn rounds(case: &CaseReport, entries: &[Entry<'_>], detail: Detail) -> BTreeMap<u32, Vec<usize>> {
    let mut rounds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for finding in entries.iter().filter_map(|entry| entry.finding) {
        let first = evidence::round(case, finding).map(|round| round.number);
        let pointed = finding.evidence.iter().map(|evidence| evidence.round);
        let numbers: Vec<u32> = match detail {
            Detail::Verbose => first.into_iter().chain(pointed).collect(),
            Detail::Quiet | Detail::Normal => first.into_iter().collect(),
        };
        for number in numbers {
            let marked = rounds.entry(number).or_default();
            for evidence in &finding.evidence {
                if evidence.round == number && !marked.contains(&evidence.exchange) {
                    marked.push(evidence.exchange);
                }
            }
        }
    }
    rounds
}

/// Why some findings show nothing, each reason once.
pub(super) fn inconclusive(report: &Report, look: &Look, text: &mut String) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for entry in report.scenarios.iter().flat_map(entries) {
        if entry.standing != Standing::Inconclusive {
            continue;
        }
        let name = entry.name();
        match reasons.iter_mut().find(|(why, _)| *why == entry.reason()) {
            Some((_, names)) => names.push(name),
            None => reasons.push((entry.reason(), vec![name])),
        }
    }
    if reasons.is_empty() {
        return;
    }
    let _ = writeln!(text, "{}", look.paint("Inconclusive", AnsiColor::Yellow));
    for (why, names) in reasons {
        let _ = writeln!(text, "  {}", line(why));
        let shown = if look.detail == Detail::Verbose {
            names.len()
        } else {
            3
        };
        for name in names.iter().take(shown) {
            let _ = writeln!(text, "      {}", line(name));
        }
        if names.len() > shown {
            let _ = writeln!(text, "      and {} more", names.len() - shown);
        }
    }
    text.push('\n');
}
