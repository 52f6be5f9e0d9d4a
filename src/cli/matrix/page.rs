//! The matrix as a page in Markdown, and as a summary for the screen.

use super::pair::Pair;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// All pairs, and the contracts that no demo can keep, with why.
pub struct Matrix {
    /// The version of the tool.
    pub version: String,
    /// Row by row.
    pub pairs: Vec<Pair>,
    /// Contracts that a demo cannot keep; it is held to them all the same.
    pub not_kept: Vec<(String, String)>,
    /// Terms to which no target is held, and the contracts that have them.
    pub beside: BTreeMap<&'static str, Vec<String>>,
}

impl Matrix {
    /// `650 pairs: 30 agree, 620 differ as they must, 0 unexpected`.
    pub fn summary(&self) -> String {
        let all = self.pairs.len();
        let count = |is: fn(&Pair) -> bool| self.pairs.iter().filter(|pair| is(pair)).count();
        let agree = count(Pair::agrees);
        let unexpected = count(|pair| !pair.unexpected.is_empty());
        let hidden: usize = self.pairs.iter().map(|pair| pair.hidden.len()).sum();
        format!(
            "{all} pairs: {agree} agree, {} differ as they must, {unexpected} unexpected; {hidden} differences that no run shows",
            all - agree - unexpected
        )
    }

    /// What came otherwise than expected, a line each.
    pub fn unexpected(&self) -> String {
        let mut text = String::new();
        for pair in &self.pairs {
            for why in &pair.unexpected {
                // Writing to a text does not fail.
                let _ = writeln!(text, "{} held to {}: {why}", pair.kept, pair.held);
            }
        }
        text
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut rows: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
        for pair in &self.pairs {
            rows.entry(&pair.kept).or_default().push(pair);
        }
        let held: Vec<&str> = rows
            .values()
            .next()
            .into_iter()
            .flatten()
            .map(|pair| pair.held.as_str())
            .collect();
        let mut page = format!(
            "# Contracts against contracts\n\n\
             Made by `idemspec matrix --write` of idemspec {}. Each row is one recorded run of the demo API\n\
             that keeps that contract; each column is a contract that this run was judged under. A cell\n\
             says in how many promises the run breaks the other contract at the level *must*; `=` is in\n\
             none. What should differ was told from the two contracts alone, before anything was looked\n\
             at: `!` marks a cell in which it came otherwise, `+n` are differences that the run does not\n\
             show. `*` marks a demo that gives tenants each other's results, as its contract has it: that\n\
             fails point 6 of the checklist under every contract, its own included. `#` marks a demo that\n\
             reads no keys, as its contract has none; in the runs of this page keys are sent to it all the\n\
             same, and each repeat is executed: that breaks the invariants under every contract.\n\n{}.\n\n",
            self.version,
            self.summary()
        );
        let _ = writeln!(
            page,
            "| kept \\ held to | {} |",
            numbered(&held).join(" | ")
        );
        let _ = writeln!(page, "|---|{}", "---|".repeat(held.len()));
        for (kept, pairs) in &rows {
            let cells: Vec<String> = pairs.iter().map(|pair| cell(pair)).collect();
            let _ = writeln!(page, "| {kept} | {} |", cells.join(" | "));
        }
        page.push_str("\nThe columns:");
        for (index, name) in held.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(page, "{comma} {} {name}", index + 1);
        }
        page.push_str(".\n");
        if !self.not_kept.is_empty() {
            page.push_str("\n## Contracts without a row\n\n");
            for (name, why) in &self.not_kept {
                let _ = writeln!(page, "* {name}: {why}.");
            }
        }
        if !self.beside.is_empty() {
            page.push_str(
                "\n## Of what no cell tells\n\n\
                 Contracts also say what no target is held to: it helps to judge, or is for people.\n\n",
            );
            for (term, contracts) in &self.beside {
                let _ = writeln!(
                    page,
                    "* {term} ({}): {}",
                    why_beside(term),
                    contracts.join(", ")
                );
            }
        }
        page.push_str("\n## In what they differ\n");
        for (kept, pairs) in &rows {
            let _ = writeln!(page, "\n### {kept}\n");
            for pair in pairs.iter().filter(|pair| !pair.agrees()) {
                let _ = writeln!(page, "* {}: {}", pair.held, in_what(pair));
            }
        }
        page
    }
}

fn numbered(names: &[&str]) -> Vec<String> {
    (1..=names.len()).map(|number| number.to_string()).collect()
}

fn cell(pair: &Pair) -> String {
    let mut cell = match pair.differs.len() {
        0 => "=".to_owned(),
        count => count.to_string(),
    };
    if !pair.hidden.is_empty() {
        let _ = write!(cell, "+{}", pair.hidden.len());
    }
    if pair.leaks {
        cell.push('*');
    }
    if pair.unprotected {
        cell.push('#');
    }
    if !pair.unexpected.is_empty() {
        cell.push('!');
    }
    cell
}

/// Why no target is held to a term.
pub(super) fn why_beside(term: &str) -> &'static str {
    match term {
        "key" => "it says how keys are sent",
        "key-required" => "missing-key shows what comes of it",
        "methods" | "ignored-methods" => "the target file says which operations take keys",
        "fingerprint" => "mismatch and equality show what comes of it",
        "precedence" => "it decides what an answer means when two refusals apply",
        "not-applicable" => {
            "it is about operations that take no keys, and what is tried here takes them"
        }
        "transient" => "by it the class of a failure is told",
        "retry" => "it binds clients",
        "errors" => "the promises name what of an error counts",
        _ => "",
    }
}

fn in_what(pair: &Pair) -> String {
    let differs: Vec<&str> = pair.differs.iter().map(|promise| promise.name()).collect();
    let mut parts = Vec::new();
    if !differs.is_empty() {
        parts.push(differs.join(", "));
    }
    for (promise, why) in &pair.hidden {
        parts.push(format!("not shown: {} ({why})", promise.name()));
    }
    for why in &pair.unexpected {
        parts.push(format!("unexpected: {why}"));
    }
    parts.join("; ")
}
