//! What was broken, the gravest first, with all that is needed to believe it.

use super::{Detail, Look, color};
use crate::checklist::ItemId;
use crate::grade::Report;
use crate::judge::Finding;
use crate::report::again;
use crate::report::attempts;
use crate::report::clean::line;
use crate::report::entry::Standing;
use crate::report::evidence;
use crate::report::gravity::{self, Broken};
use anstyle::AnsiColor;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One block for each case that something is broken in.
pub(super) fn broken(report: &Report, look: &Look, text: &mut String) {
    for broken in gravity::broken(report) {
        block(report, &broken, look, text);
    }
}

fn block(report: &Report, broken: &Broken<'_>, look: &Look, text: &mut String) {
    let case = broken.case;
    let (standing, _) = broken.gravity();
    let _ = writeln!(
        text,
        "{} {}",
        look.paint(&format!("{}:", broken.word()), color(standing)),
        look.bold(&line(&case.title)),
    );
    let _ = writeln!(text, "  {}", line(&case.name()));
    let mut explained: Vec<ItemId> = Vec::new();
    for entry in &broken.entries {
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
    if let (Some(client), Some(finding)) = (&case.client, broken.findings().next()) {
        let shown = match look.detail {
            Detail::Verbose => attempts::all(client, look.width - 4),
            Detail::Normal | Detail::Quiet => attempts::text(client, finding, look.width - 4),
        };
        for row in shown.lines() {
            let _ = writeln!(text, "    {row}");
        }
    }
    for command in again::commands(report, case, broken.findings()) {
        let _ = writeln!(text, "      see it again:   {command}");
    }
    for (number, marked) in rounds(broken, look.detail) {
        let Some(round) = case
            .transcript
            .rounds
            .iter()
            .find(|round| round.number == number)
        else {
            continue;
        };
        let _ = writeln!(text, "  {}:", evidence::title(case, round));
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

/// The rounds that are shown, each with the exchanges that findings point to: the first failed one
/// of each finding, or every one that they name.
fn rounds(broken: &Broken<'_>, detail: Detail) -> BTreeMap<u32, Vec<usize>> {
    let mut rounds = broken.rounds();
    if detail == Detail::Verbose {
        for evidence in broken.findings().flat_map(|finding| &finding.evidence) {
            let marked = rounds.entry(evidence.round).or_default();
            if !marked.contains(&evidence.exchange) {
                marked.push(evidence.exchange);
            }
        }
    }
    rounds
}

/// Why some findings show nothing, each reason once.
pub(super) fn inconclusive(report: &Report, look: &Look, text: &mut String) {
    let reasons = gravity::inconclusive(report);
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
