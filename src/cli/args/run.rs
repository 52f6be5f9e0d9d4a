//! What `run` and `demo` are told.

use super::output::Output;
use super::selection::Selection;
use super::target::{Access, Standard};
use super::value::{duration, flaw, instant, variant};
use crate::demo::{Flaw, Variant};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The target file; of several, each has reports of its own, named after it.
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<PathBuf>,
    /// Which scenarios.
    #[command(flatten)]
    pub selection: Selection,
    /// What the target is held to.
    #[command(flatten)]
    pub standard: Standard,
    /// How the target file is filled in, and what may be written to.
    #[command(flatten)]
    pub access: Access,
    /// Do not hold the target file against the API first.
    #[arg(long)]
    pub no_check: bool,
    /// Show every request that would be sent; send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Write down at once all that is made, for `idemspec cleanup` after a run that was killed.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Begin at this instant, such as 2026-12-01T12:00:00Z. With --seed it is one of several places
    /// that make the same run, with the same keys at the same time: it records what it sees, and
    /// `report --merge` judges what all of them saw as one.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub start_at: Option<SystemTime>,
    /// From one of several places: the time from one round to the next, the same everywhere.
    #[arg(long, value_name = "DURATION", value_parser = duration, requires_all = ["start_at", "seed"])]
    pub pace: Option<Duration>,
    /// Where keys must grow old for longer than the run lasts, make them now and keep what
    /// `idemspec resume FILE` needs to go on with them another day.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["start_at", "repeat", "dry_run"])]
    pub defer: Option<PathBuf>,
    /// Write down everything that judging needs, for `idemspec report`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
}

/// The arguments of `resume`.
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// The file that `run --defer` wrote. What has been resumed is kept in it.
    #[arg(value_name = "FILE")]
    pub state: PathBuf,
    /// The target file, where it is not where it was; it must be the same.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// A file of NAME=VALUE lines with secrets.
    #[arg(long, value_name = "FILE")]
    pub secrets: Option<PathBuf>,
    /// Go on although the target looks like a live one.
    #[arg(long)]
    pub live: bool,
    /// Do not hold the target file against the API first.
    #[arg(long)]
    pub no_check: bool,
    /// Write down everything that judging needs, for `idemspec report`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
}

impl RunArgs {
    /// The seed and the instant that all places have in common, if this is one of several that make
    /// the same run.
    pub fn common_start(&self) -> Option<(u64, SystemTime)> {
        self.selection.seed.zip(self.start_at)
    }
}

/// The arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// A defect to plant in the demo (repeatable; see `idemspec list flaws`).
    #[arg(long, value_name = "NAME", value_parser = flaw, value_delimiter = ',')]
    pub flaw: Vec<Flaw>,
    /// Let the demo behave in another way that is right (see `idemspec list variants`).
    #[arg(long, value_name = "NAME", value_parser = variant)]
    pub variant: Option<&'static Variant>,
    /// Let the demo keep this contract, and grade it against that; a variant is only graded against it.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// Do not hold the target file against the API first.
    #[arg(long)]
    pub no_check: bool,
    /// Which scenarios.
    #[command(flatten)]
    pub selection: Selection,
    /// Write down everything that judging needs, for `idemspec report`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
}
