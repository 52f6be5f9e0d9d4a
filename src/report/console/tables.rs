//! The tables: every case, the nine points, and declared against observed.

use super::{Detail, Look, color};
use crate::grade::{CaseReport, Counts, Grade, Report};
use crate::judge::{Documented, Observation};
use crate::report::clean::{line, shorten};
use crate::report::entry::{Standing, entries};
use crate::report::evidence::plain_table;
use crate::report::words;
use anstyle::AnsiColor;
use comfy_table::{Cell, Color, ColumnConstraint, Table};
use std::fmt::Write;

/// Characters of a reason in a table; the whole of it stands with the finding.
const MOST_REASON: usize = 120;
/// Characters that are left for reasons before the names before them may wrap.
const ROOM_FOR_REASON: u16 = 30;

/// One line for each case; those of one scenario that went alike share a line unless all is wanted.
pub(super) fn scenarios(report: &Report, look: &Look, text: &mut String) {
    if report.scenarios.is_empty() {
        return;
    }
    let mut table = table(look);
    table.set_header(["operation", "scenario", "verdict", "reason"]);
    for row in rows(report, look.detail) {
        table.add_row(vec![
            Cell::new(line(&row.first.operation)),
            Cell::new(row.scenario(report)),
            colored(row.standing.name(), color(row.standing)),
            Cell::new(row.reason()),
        ]);
    }
    keep_whole(&mut table, 3, look.width);
    let _ = writeln!(text, "{}\n", table.trim_fmt());
}

/// Cases of one scenario and operation that went alike.
struct ScenarioRow<'a> {
    first: &'a CaseReport,
    cases: usize,
    standing: Standing,
    /// Entries of this standing.
    alike: usize,
    /// The first reason of this standing.
    says: &'a str,
    /// Other reasons of this standing.
    others: usize,
}

impl ScenarioRow<'_> {
    fn of(case: &CaseReport) -> Option<ScenarioRow<'_>> {
        let entries = entries(case);
        let standing = entries.iter().map(|entry| entry.standing).max()?;
        let reasons: Vec<&str> = entries
            .iter()
            .filter(|entry| entry.standing == standing)
            .map(|entry| entry.reason())
            .collect();
        let says = *reasons.first()?;
        Some(ScenarioRow {
            first: case,
            cases: 1,
            standing,
            alike: reasons.len(),
            says,
            others: reasons.iter().filter(|reason| **reason != says).count(),
        })
    }

    /// Whether the next case can share the line.
    fn takes(&self, next: &ScenarioRow<'_>) -> bool {
        let same_scenario = self.first.operation == next.first.operation
            && self.first.scenario == next.first.scenario;
        let same_reason = match self.standing {
            Standing::Pass => true,
            _ => self.says == next.says && self.others + next.others == 0,
        };
        same_scenario && self.standing == next.standing && same_reason
    }

    /// `lost/response#reset`, or `lost/response (4 of 5 cases)`.
    fn scenario(&self, report: &Report) -> String {
        let id = line(&self.first.scenario);
        match (&self.first.case, self.cases) {
            (Some(name), 1) => format!("{id}#{}", line(name)),
            (_, 1) => id.into_owned(),
            (_, cases) => {
                let all = report
                    .scenarios
                    .iter()
                    .filter(|case| {
                        case.operation == self.first.operation
                            && case.scenario == self.first.scenario
                    })
                    .count();
                if cases == all {
                    format!("{id} ({cases} cases)")
                } else {
                    format!("{id} ({cases} of {all} cases)")
                }
            }
        }
    }

    fn reason(&self) -> String {
        match (self.standing, self.others) {
            (Standing::Pass, _) => format!("{} held", self.alike),
            (_, 0) => shorten(self.says, MOST_REASON),
            (_, others) => format!("{} (and {others} more)", shorten(self.says, MOST_REASON)),
        }
    }
}

fn rows(report: &Report, detail: Detail) -> Vec<ScenarioRow<'_>> {
    let mut rows: Vec<ScenarioRow<'_>> = Vec::new();
    for next in report.scenarios.iter().filter_map(ScenarioRow::of) {
        match rows.last_mut() {
            Some(row) if detail != Detail::Verbose && row.takes(&next) => {
                row.cases += 1;
                row.alike += next.alike;
            }
            _ => rows.push(next),
        }
    }
    rows
}

/// The nine points with their grades.
pub(super) fn checklist(report: &Report, look: &Look, text: &mut String) {
    if report.checklist.is_empty() {
        return;
    }
    let _ = writeln!(text, "{}", look.bold("The checklist"));
    let mut table = table(look);
    table.set_header(["", "item", "grade", "findings", "says"]);
    for graded in &report.checklist {
        let (word, color) = grade(graded.grade);
        table.add_row(vec![
            Cell::new(graded.item.number()),
            Cell::new(graded.item.item().short),
            colored(word, color),
            Cell::new(in_short(graded.counts)),
            Cell::new(line(&graded.says)),
        ]);
    }
    keep_whole(&mut table, 3, look.width);
    let _ = writeln!(text, "{}\n", table.trim_fmt());
}

fn grade(grade: Grade) -> (&'static str, AnsiColor) {
    let color = match grade {
        Grade::NotChecked => AnsiColor::BrightBlack,
        Grade::Met => AnsiColor::Green,
        Grade::PartlyShown | Grade::NotShown => AnsiColor::Yellow,
        Grade::Broken => AnsiColor::Red,
    };
    (words::grade(grade), color)
}

/// The counts that are not 0, the gravest first.
fn in_short(counts: Counts) -> String {
    let parts: Vec<String> = [
        (counts.fail, "fail"),
        (counts.warn, "warning"),
        (counts.inconclusive, "inconclusive"),
        (counts.pass, "pass"),
        (counts.skip, "skip"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    parts.join(", ")
}

/// What is declared against what was observed, wherever there is either.
pub(super) fn promises(report: &Report, look: &Look, text: &mut String) {
    let mut promises = words::promises(report).peekable();
    if promises.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "{}", look.bold("Declared against observed"));
    let mut table = table(look);
    table.set_header([
        "operation",
        "promise",
        "strength",
        "declared",
        "observed",
        "kept",
    ]);
    for promise in promises {
        table.add_row(vec![
            Cell::new(line(&promise.operation)),
            Cell::new(promise.promise.name()),
            Cell::new(words::strength(promise.strength)),
            Cell::new(line(&promise.declared)),
            Cell::new(observed(&promise.observed)),
            match promise.kept {
                Some(true) => colored("yes", AnsiColor::Green),
                Some(false) => colored("no", AnsiColor::Red),
                None => Cell::new("–"),
            },
        ]);
    }
    keep_whole(&mut table, 2, look.width);
    let _ = writeln!(text, "{}\n", table.trim_fmt());
}

/// What the documents say against what was observed, and the operations that declare no key.
pub(super) fn documents(report: &Report, look: &Look, text: &mut String) {
    let statements = &report.documents.statements;
    let keyless = words::keyless(report);
    if statements.is_empty() && keyless.is_none() {
        return;
    }
    let _ = writeln!(text, "{}", look.bold("Documented against observed"));
    if !statements.is_empty() {
        let mut table = table(look);
        table.set_header(["operation", "statement", "grade", "says"]);
        for statement in statements {
            table.add_row(vec![
                Cell::new(line(&statement.operation)),
                Cell::new(line(&statement.about)),
                colored(
                    words::documented(statement.grade),
                    match statement.grade {
                        Documented::NotShown => AnsiColor::BrightBlack,
                        Documented::True => AnsiColor::Green,
                        Documented::Undocumented => AnsiColor::Yellow,
                        Documented::False => AnsiColor::Red,
                    },
                ),
                Cell::new(shorten(&statement.says, MOST_REASON)),
            ]);
        }
        keep_whole(&mut table, 3, look.width);
        let _ = writeln!(text, "{}", table.trim_fmt());
    }
    if let Some(keyless) = keyless {
        let _ = writeln!(text, "{}", line(&keyless));
    }
    text.push('\n');
}

fn observed(observations: &[Observation]) -> String {
    if observations.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<String> = observations
        .iter()
        .map(|observation| format!("{} ×{}", shorten(&observation.says, 100), observation.times))
        .collect();
    parts.join(", ")
}

fn table(look: &Look) -> Table {
    let mut table = plain_table(look.width);
    if look.color {
        table.enforce_styling();
    }
    table
}

/// Keeps the first columns from being wrapped where there is room enough for the others.
fn keep_whole(table: &mut Table, columns: usize, width: u16) {
    let widths = table.column_max_content_widths();
    let taken: u16 = widths.iter().take(columns).map(|width| width + 3).sum();
    if taken + ROOM_FOR_REASON <= width {
        for index in 0..columns {
            if let Some(column) = table.column_mut(index) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
}

/// A cell whose colour shows only in a table that is styled.
fn colored(text: &str, color: AnsiColor) -> Cell {
    Cell::new(text).fg(match color {
        AnsiColor::Green => Color::Green,
        AnsiColor::Red => Color::Red,
        AnsiColor::Yellow => Color::Yellow,
        _ => Color::DarkGrey,
    })
}
