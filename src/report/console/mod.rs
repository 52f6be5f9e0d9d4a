//! The report for people: what matters first on top, the verdict on the last line, where a
//! terminal leaves the eye.

pub mod checked;
mod findings;
mod tables;

use super::clean::line;
use super::entry::{Standing, counts};
use super::words;
use crate::grade::{Grade, Report};
use crate::verdict::Verdict;
use anstyle::{AnsiColor, Color, Style};
use std::fmt::Write;

/// Characters in a line of a report that goes into a file.
pub const FILE_WIDTH: u16 = 120;
/// The narrowest that tables are drawn; below it they would be columns of single letters.
const LEAST_WIDTH: u16 = 60;

/// How the report looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// With terminal colours.
    pub color: bool,
    /// Characters in a line.
    pub width: u16,
    /// How much is shown.
    pub detail: Detail,
}

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line: the verdict.
    Quiet,
    /// What is needed to understand every failure.
    #[default]
    Normal,
    /// All rounds that a finding points to, with all exchanges.
    Verbose,
}

/// The report as text for a terminal.
pub fn render(report: &Report, look: &Look) -> String {
    let look = &Look {
        width: look.width.max(LEAST_WIDTH),
        ..*look
    };
    let mut text = String::new();
    if look.detail != Detail::Quiet {
        head(report, look, &mut text);
        target_file(report, look, &mut text);
        tables::scenarios(report, look, &mut text);
        findings::broken(report, look, &mut text);
        findings::inconclusive(report, look, &mut text);
        tables::checklist(report, look, &mut text);
        tables::promises(report, look, &mut text);
        tables::documents(report, look, &mut text);
    }
    last_line(report, look, &mut text);
    text
}

fn head(report: &Report, look: &Look, text: &mut String) {
    let about = &report.about;
    let _ = write!(text, "{}", look.bold(&line(&about.target)));
    if !about.base_urls.is_empty() {
        let _ = write!(text, " at {}", line(&about.base_urls.join(", ")));
    }
    if !about.contract.is_empty() {
        let _ = write!(text, ", contract {}", line(&about.contract));
    }
    let _ = writeln!(
        text,
        ", {} requests in {:.1} s, seed {}",
        about.requests,
        about.took_micros as f64 / 1e6,
        about.seed
    );
    for headline in &report.headlines {
        let _ = writeln!(
            text,
            "{} {}",
            look.paint("!", AnsiColor::Yellow),
            line(headline)
        );
    }
    text.push('\n');
}

/// What the target file says and the API does not; all lines where everything is wanted.
fn target_file(report: &Report, look: &Look, text: &mut String) {
    let all = look.detail == Detail::Verbose;
    let lines = checked::lines(&report.about.check, look, all);
    if !lines.is_empty() {
        let _ = writeln!(text, "{}\n{lines}", look.bold("The target file"));
    }
}

fn last_line(report: &Report, look: &Look, text: &mut String) {
    if let Some(why) = &report.about.stopped {
        let word = look.paint("Stopped", AnsiColor::Red);
        let _ = write!(text, "{word}: {}; ", line(why));
    }
    let color = match report.verdict {
        None | Some(Verdict::Fail) => AnsiColor::Red,
        Some(Verdict::Skip | Verdict::Inconclusive) => AnsiColor::Yellow,
        Some(Verdict::Pass) => AnsiColor::Green,
    };
    let _ = write!(
        text,
        "{}: {}",
        look.paint(words::verdict(report.verdict), color),
        words::counts(counts(report))
    );
    let mut parts = Vec::new();
    for (grade, says) in [
        (Grade::PartlyShown, "only partly shown"),
        (Grade::NotShown, "not shown"),
        (Grade::NotChecked, "not checked"),
    ] {
        let count = report
            .checklist
            .iter()
            .filter(|graded| graded.grade == grade)
            .count();
        match (count, parts.is_empty()) {
            (0, _) => {}
            (count, true) => {
                parts.push(format!(
                    "{count} of {} items {says}",
                    report.checklist.len()
                ));
            }
            (count, false) => parts.push(format!("{count} {says}")),
        }
    }
    if !parts.is_empty() {
        let _ = write!(text, "; {}", parts.join(", "));
    }
    text.push('\n');
}

impl Look {
    fn paint(&self, text: &str, color: AnsiColor) -> String {
        self.styled(text, Style::new().bold().fg_color(Some(Color::Ansi(color))))
    }

    fn bold(&self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.color {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// The colour of a verdict.
fn color(standing: Standing) -> AnsiColor {
    match standing {
        Standing::Skip => AnsiColor::BrightBlack,
        Standing::Pass => AnsiColor::Green,
        Standing::Known | Standing::Warn | Standing::Inconclusive => AnsiColor::Yellow,
        Standing::Fail => AnsiColor::Red,
    }
}
