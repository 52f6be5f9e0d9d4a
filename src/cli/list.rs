//! Lists of what there is, one thing a line.

use super::args::{ListArgs, Listed};
use super::exit::Exit;
use super::failure::Failure;
use super::screen;
use super::select;
use crate::checklist::ItemId;
use crate::contract;
use crate::demo::{Flaw, VARIANTS};
use crate::demo_client::Habit;
use crate::promise::Promise;
use std::fmt::Write;

/// Lists what was asked for.
///
/// # Errors
/// When a built-in file is broken, or the list cannot be written.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let rows = match args.what {
        Listed::Checks => {
            screen::say(&super::checks::table()?)?;
            return Ok(Exit::Clean);
        }
        Listed::Scenarios => scenarios()?,
        Listed::Items => ItemId::all()
            .map(|item| (item.to_string(), item.item().says.to_owned()))
            .collect(),
        Listed::Contracts => contracts()?,
        Listed::Promises => Promise::ALL
            .iter()
            .map(|promise| {
                let about = super::explain::about_promise(*promise);
                (promise.name().to_owned(), about.to_owned())
            })
            .collect(),
        Listed::Habits => Habit::ALL
            .iter()
            .map(|habit| (habit.name().to_owned(), habit.says().to_owned()))
            .collect(),
        Listed::Flaws => Flaw::ALL
            .iter()
            .map(|flaw| {
                let says = format!("tier {}  {}", flaw.tier().number(), flaw.says());
                (flaw.name().to_owned(), says)
            })
            .collect(),
        Listed::Variants => VARIANTS
            .iter()
            .map(|variant| (variant.name.to_owned(), variant.says.to_owned()))
            .collect(),
    };
    screen::say(&in_columns(&rows))?;
    Ok(Exit::Clean)
}

fn scenarios() -> Result<Vec<(String, String)>, Failure> {
    let row = |id: String, title: &str, cases: usize| {
        let cases = match cases {
            0 | 1 => String::new(),
            more => format!(" ({more} cases)"),
        };
        (id, format!("{title}{cases}"))
    };
    let mut rows: Vec<(String, String)> = select::built_in()?
        .into_iter()
        .map(|scenario| row(scenario.id, &scenario.title, scenario.cases.len()))
        .collect();
    let client = select::all_client(None)?;
    rows.extend(
        client
            .into_iter()
            .map(|scenario| row(scenario.id, &scenario.title, scenario.cases.len())),
    );
    rows.sort();
    Ok(rows)
}

fn contracts() -> Result<Vec<(String, String)>, Failure> {
    contract::PROFILES
        .iter()
        .map(|profile| {
            let node = profile.node();
            let contract = node.and_then(|node| contract::resolve(Some(&node)));
            contract
                .map(|contract| (profile.name.to_owned(), contract.title))
                .map_err(|problem| Failure::BadFiles(vec![problem]))
        })
        .collect()
}

fn in_columns(rows: &[(String, String)]) -> String {
    let width = rows
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for (name, says) in rows {
        let _ = writeln!(text, "{name:width$}  {says}");
    }
    text
}
