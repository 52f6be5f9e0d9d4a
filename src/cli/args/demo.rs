//! What the demo API and the tool's trials of itself are told.

use super::selection::Shard;
use super::value::{duration, flaw, habit, shard, variant};
use crate::demo::{Flaw, Variant};
use crate::demo_client::Habit;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of `serve`.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The API's port on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Where a second instance listens, over the same store; 0 picks a free one.
    #[arg(long, value_name = "PORT")]
    pub replica_port: Option<u16>,
    /// The admin listener's port on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    pub admin_port: u16,
    /// A defect to plant (repeatable; see `idemspec list flaws`).
    #[arg(long, value_name = "NAME", value_parser = flaw, value_delimiter = ',')]
    pub flaw: Vec<Flaw>,
    /// Behave in another way that is right (see `idemspec list variants`).
    #[arg(long, value_name = "NAME", value_parser = variant, conflicts_with = "contract")]
    pub variant: Option<&'static Variant>,
    /// Behave as this contract says (see `idemspec list contracts`).
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// How long a write works before it writes.
    #[arg(long, value_name = "DURATION", default_value = "50ms", value_parser = duration)]
    pub work: Duration,
    /// How long a key is kept; without it, as long as the contract says, or 24h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub retention: Option<Duration>,
    /// The SQLite file; without it, a temporary one.
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,
}

/// The arguments of `selftest`.
#[derive(Debug, clap::Args)]
pub struct SelftestArgs {
    /// Run everything against everything, not only what bears on a flaw or variant.
    #[arg(long)]
    pub full: bool,
    /// Only this flaw (repeatable).
    #[arg(long, value_name = "NAME", value_parser = flaw)]
    pub flaw: Vec<Flaw>,
    /// Only this variant (repeatable).
    #[arg(long, value_name = "NAME", value_parser = variant)]
    pub variant: Vec<&'static Variant>,
    /// Only this habit of the demo client (repeatable).
    #[arg(long, value_name = "NAME", value_parser = habit)]
    pub habit: Vec<Habit>,
    /// One of several parts of it, such as 1/4.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub part: Option<Shard>,
    /// How often a flaw is tried that is caught at a rate only.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub times: usize,
    /// How many demos run side by side. Most of a run is waiting, but it must not come late.
    #[arg(long, value_name = "N", default_value = "4")]
    pub at_once: NonZeroUsize,
    /// Write the matrix to this file, in Markdown.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Show every check that caught something.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The arguments of `matrix`.
#[derive(Debug, clap::Args)]
pub struct MatrixArgs {
    /// Only these contracts, as rows and columns; without any, all that are built in.
    #[arg(value_name = "CONTRACT")]
    pub contract: Vec<String>,
    /// This scenario, case or folder of scenarios (repeatable), instead of all that are about promises.
    #[arg(long, value_name = "ID")]
    pub scenario: Vec<String>,
    /// How many demos run at once.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub at_once: usize,
    /// Write the matrix as a page in Markdown.
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
}
