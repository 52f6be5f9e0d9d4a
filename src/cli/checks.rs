//! What is checked, by item of the checklist, as a table in Markdown: the readme holds it.

use super::failure::Failure;
use super::select;
use crate::checklist::ItemId;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The table: for each item the scenarios that bear on it, by topic, and their number of checks: each
/// expectation in each case.
///
/// # Errors
/// When a built-in scenario is broken, which a test excludes.
pub fn table() -> Result<String, Failure> {
    let mut by_item: BTreeMap<ItemId, Row> = BTreeMap::new();
    let mut note = |id: &str, items: Vec<ItemId>, cases: usize| {
        for item in items {
            by_item.entry(item).or_default().note(id, cases);
        }
    };
    for scenario in select::built_in()? {
        let items = scenario.expect.iter().map(|(item, _)| *item).collect();
        note(&scenario.id, items, scenario.cases.len());
    }
    for scenario in select::all_client(None)? {
        let items = scenario.expect.iter().map(|(item, _)| *item).collect();
        note(&scenario.id, items, scenario.cases.len());
    }
    let mut text = "| | scenarios | checks |\n|---|---|---|\n".to_owned();
    for item in ItemId::all() {
        let row = by_item.remove(&item).unwrap_or_default();
        let topics: Vec<String> = row
            .topics
            .iter()
            .map(|(topic, names)| format!("**{topic}** {}", names.join(", ")))
            .collect();
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            item.number(),
            topics.join("; "),
            row.checks
        );
    }
    Ok(text)
}

/// One line of the table.
#[derive(Default)]
struct Row {
    topics: BTreeMap<String, Vec<String>>,
    checks: usize,
}

impl Row {
    /// One more check of a scenario, in each of its cases.
    fn note(&mut self, id: &str, cases: usize) {
        let (topic, name) = id.split_once('/').unwrap_or(("", id));
        let names = self.topics.entry(topic.to_owned()).or_default();
        if !names.iter().any(|own| own == name) {
            names.push(name.to_owned());
        }
        self.checks += cases.max(1);
    }
}
