//! What is looked up: `lint`, `list`, `explain`.

use clap::{ArgAction, ValueEnum};
use std::path::PathBuf;

/// The arguments of `lint`.
#[derive(Debug, clap::Args)]
pub struct LintArgs {
    /// Target and scenario files.
    #[arg(required = true, value_name = "FILE", action = ArgAction::Append)]
    pub files: Vec<PathBuf>,
}

/// The arguments of `list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// What to list.
    #[arg(value_enum, default_value_t)]
    pub what: Listed,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Listed {
    /// The built-in scenarios.
    #[default]
    Scenarios,
    /// The nine points of the checklist.
    Items,
    /// The built-in contracts.
    Contracts,
    /// What a contract can promise.
    Promises,
    /// The defects that the demo can be given.
    Flaws,
    /// What the demo client can be made to do.
    Habits,
    /// The ways to behave that are right, which the demo can be given.
    Variants,
    /// What is checked, by item: a table in Markdown.
    Checks,
}

/// The arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// `item-5` or `5`, a scenario's id (with `#case` or without), the name of a contract, a promise, a
    /// flaw or a variant, or an OpenAPI document (a file), of which the operations are listed with
    /// their keys.
    pub id: String,
}
