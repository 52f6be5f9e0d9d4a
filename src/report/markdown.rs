//! The report as Markdown, for a comment on a pull request or the summary of a CI job: the verdict,
//! the nine points, and what is broken with how to see it again.

use super::again;
use super::clean::{clip, line};
use super::entry::{Standing, counts};
use super::gravity::{Broken, broken, inconclusive};
use super::words;
use crate::grade::{Grade, Report};
use crate::judge::Documented;
use std::fmt::Write;

/// Characters that a comment may have: GitHub takes 65,536.
const MOST: usize = 60_000;
/// Cases that are shown of those that are broken.
const MOST_CASES: usize = 25;
/// Reasons that are shown of those for which something was not shown.
const MOST_REASONS: usize = 10;
/// Statements of the documents that are shown.
const MOST_STATEMENTS: usize = 60;
/// Characters of what was observed of one of them.
const MOST_REASON: usize = 200;
/// Characters of one sentence.
const MOST_SENTENCE: usize = 600;

/// The report.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let about = &report.about;
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        text,
        "## {} {}: {}\n\n{}\n",
        sign(report),
        escaped(&about.target),
        words::verdict(report.verdict),
        words::counts(counts(report))
    );
    if let Some(why) = &about.stopped {
        let _ = writeln!(text, "**Stopped**: {}\n", escaped(why));
    }
    for headline in &report.headlines {
        let _ = writeln!(text, "> {}\n", escaped(headline));
    }
    checklist(report, &mut text);
    documents(report, &mut text);
    let cases = broken(report);
    if !cases.is_empty() {
        text.push_str("### What is broken\n\n");
    }
    let mut shown = 0;
    for case in cases.iter().take(MOST_CASES) {
        let block = block(report, case);
        if text.len() + block.len() > MOST {
            break;
        }
        text.push_str(&block);
        shown += 1;
    }
    if shown < cases.len() {
        let _ = writeln!(
            text,
            "and {} more in the other reports\n",
            cases.len() - shown
        );
    }
    not_shown(report, &mut text);
    let _ = writeln!(
        text,
        "<sub>idemspec {}, contract {}, {} requests, seed {}</sub>",
        escaped(&about.idemspec),
        escaped(&about.contract),
        about.requests,
        about.seed
    );
    text
}

fn sign(report: &Report) -> &'static str {
    use crate::verdict::Verdict;
    match report.verdict {
        Some(Verdict::Pass) => "✅",
        Some(Verdict::Inconclusive | Verdict::Skip) => "⚠️",
        Some(Verdict::Fail) | None => "❌",
    }
}

fn checklist(report: &Report, text: &mut String) {
    text.push_str("| | item | grade | |\n|--:|---|---|---|\n");
    for graded in &report.checklist {
        let sign = match graded.grade {
            Grade::Met => "✅",
            Grade::Broken => "❌",
            Grade::PartlyShown | Grade::NotShown => "⚠️",
            Grade::NotChecked => "➖",
        };
        let _ = writeln!(
            text,
            "| {} | {} | {sign} {} | {} |",
            graded.item.number(),
            graded.item.item().short,
            words::grade(graded.grade),
            escaped(&clip(&graded.says, MOST_SENTENCE))
        );
    }
    text.push('\n');
}

fn documents(report: &Report, text: &mut String) {
    let statements = &report.documents.statements;
    let keyless = words::keyless(report);
    if statements.is_empty() && keyless.is_none() {
        return;
    }
    text.push_str("### Documented against observed\n\n");
    if !statements.is_empty() {
        text.push_str("| operation | statement | grade | |\n|---|---|---|---|\n");
    }
    for statement in statements.iter().take(MOST_STATEMENTS) {
        let sign = match statement.grade {
            Documented::True => "✅",
            Documented::False => "❌",
            Documented::Undocumented => "⚠️",
            Documented::NotShown => "➖",
        };
        let _ = writeln!(
            text,
            "| {} | {} | {sign} {} | {} |",
            escaped(&statement.operation),
            escaped(&statement.about),
            words::documented(statement.grade),
            escaped(&clip(&statement.says, MOST_REASON))
        );
    }
    if statements.len() > MOST_STATEMENTS {
        let more = statements.len() - MOST_STATEMENTS;
        let _ = writeln!(text, "\nand {more} more in the other reports");
    }
    if let Some(keyless) = keyless {
        let _ = writeln!(text, "\n{}", escaped(&clip(&keyless, MOST_SENTENCE)));
    }
    text.push('\n');
}

fn block(report: &Report, broken: &Broken<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "<details><summary><b>{}</b>: {} (<code>{}</code>)</summary>\n",
        broken.word(),
        in_tag(&broken.case.title),
        in_tag(&broken.case.name())
    );
    let mut explained = Vec::new();
    for (entry, finding) in broken.entries.iter().zip(broken.findings()) {
        let warning = if entry.standing == Standing::Warn {
            "warning: "
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "- {warning}{} (item {}, {})",
            escaped(&clip(&finding.reason, MOST_SENTENCE)),
            finding.item.number(),
            escaped(&finding.id)
        );
        if !explained.contains(&finding.item) {
            explained.push(finding.item);
            let _ = writeln!(text, "  - why it matters: {}", finding.item.item().why);
        }
    }
    let commands = again::commands(report, broken.case, broken.findings()).join("\n");
    if !commands.is_empty() {
        let fence = "`".repeat(longest_run(&commands, '`').max(2) + 1);
        let _ = writeln!(text, "\n{fence}sh\n{commands}\n{fence}");
    }
    text.push_str("\n</details>\n\n");
    text
}

fn not_shown(report: &Report, text: &mut String) {
    let reasons = inconclusive(report);
    if reasons.is_empty() {
        return;
    }
    text.push_str("### What could not be shown\n\n");
    for (why, names) in reasons.iter().take(MOST_REASONS) {
        let _ = writeln!(
            text,
            "- {} ({})",
            escaped(&clip(why, MOST_SENTENCE)),
            super::plural(names.len(), "check")
        );
    }
    if reasons.len() > MOST_REASONS {
        let _ = writeln!(text, "- and {} more reasons", reasons.len() - MOST_REASONS);
    }
    text.push('\n');
}

/// The text as text: no markup, no link, and nobody is called.
fn escaped(text: &str) -> String {
    const MARKUP: &str = "\\`*_{}[]()!|~$";
    let mut out = String::with_capacity(text.len());
    for letter in in_tag(text).chars() {
        // Of what `in_tag` adds, only `<!-- -->` has a letter of these.
        if MARKUP.contains(letter) && !(letter == '!' && out.ends_with('<')) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// The same within a line of HTML, where Markdown means nothing.
fn in_tag(text: &str) -> String {
    let clean = line(text);
    let mut out = String::with_capacity(clean.len());
    let mut before = ' ';
    for letter in clean.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // These make links of what follows: an empty comment keeps them from it.
            '@' | '#' => {
                out.push(letter);
                out.push_str("<!-- -->");
            }
            '/' if before == ':' => out.push_str("<!-- -->/"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("<!-- -->."),
            letter => out.push(letter),
        }
        before = letter;
    }
    out
}

fn longest_run(text: &str, letter: char) -> usize {
    text.split(|other| other != letter)
        .map(str::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_becomes_a_tag_a_link_or_a_mention() {
        assert_eq!(
            escaped("<img> @all #1 [a](http://x) www.x.y"),
            "&lt;img&gt; @<!-- -->all #<!-- -->1 \\[a\\]\\(http:<!-- -->//x\\) www<!-- -->.x.y"
        );
    }
}
