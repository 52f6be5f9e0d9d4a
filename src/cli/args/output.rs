//! What is shown and written, and what fails the process; `report` and `compare`, which send nothing.

use super::value::{gate_on, report_file};
use crate::checklist::ItemId;
use crate::report::{self, Format, junit};
use crate::scenario::Severity;
use clap::ValueEnum;
use std::path::PathBuf;

/// What is shown and written.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Output {
    /// Write a report: html, junit, json, markdown, github, sarif, har, curl or console (repeatable);
    /// FILE may be - for standard output.
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report_file)]
    pub reports: Vec<ReportFile>,
    /// Write everything that somebody else needs to see it as well: reports, exchanges, scenarios,
    /// contract, checksums.
    #[arg(long, value_name = "FILE.zip")]
    pub bundle: Option<PathBuf>,
    /// What fails the process.
    #[command(flatten)]
    pub gate: Gate,
    /// Write what was observed as a contract, to hold the API to later.
    #[arg(long, value_name = "FILE")]
    pub write_contract: Option<PathBuf>,
    /// What inconclusive findings become in JUnit.
    #[arg(long, value_enum, default_value_t)]
    pub inconclusive: Inconclusive,
    /// Let a broken "should" fail the run.
    #[arg(long)]
    pub strict: bool,
    /// Show all exchanges of every round that a finding points to.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Show the verdict only.
    #[arg(short, long)]
    pub quiet: bool,
}

impl Output {
    /// The wishes for reports in files.
    pub fn options(&self) -> report::Options {
        report::Options {
            inconclusive: match self.inconclusive {
                Inconclusive::Error => junit::Inconclusive::Error,
                Inconclusive::Skip => junit::Inconclusive::Skip,
                Inconclusive::Fail => junit::Inconclusive::Fail,
            },
            strict: self.strict,
            verbose: self.verbose,
        }
    }
}

/// What inconclusive findings become in JUnit.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Inconclusive {
    /// An error.
    #[default]
    Error,
    /// Skipped.
    Skip,
    /// A failure.
    Fail,
}

/// A report to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// In which format.
    pub format: Format,
    /// Where.
    pub path: PathBuf,
}

/// What fails the process.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Gate {
    /// Fail only for what is at least this grave, or bears on this item: low, medium, high, critical,
    /// item-5 (repeatable).
    #[arg(long, value_name = "SEVERITY|ITEM", value_parser = gate_on)]
    pub fail_on: Vec<GateOn>,
    /// A list of checks that are known to fail, each with the reason; what does not fail any more must
    /// be taken out of it.
    #[arg(long, value_name = "FILE")]
    pub known_failing: Option<PathBuf>,
    /// A list of checks that fail now and then, each with the reason.
    #[arg(long, value_name = "FILE")]
    pub known_flaky: Option<PathBuf>,
}

/// What a failure must be to fail the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateOn {
    /// At least so grave.
    Severity(Severity),
    /// Bearing on this item.
    Item(ItemId),
}

/// The arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The file that `run --record` or `client --record` wrote.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Join several: the parts of a run that was split, one run from several places, or both sides,
    /// an API's run and a client's.
    #[arg(long)]
    pub merge: bool,
    /// Judge under this contract instead of the run's own.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
}

/// The arguments of `compare`.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The earlier run: its JSON report or its record.
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The later one.
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
}
