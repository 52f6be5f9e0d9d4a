//! What `client` is told.

use super::output::Output;
use super::selection::Selection;
use super::target::{Filling, Standard};
use super::value::habit;
use crate::demo_client::Habit;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of `client`.
#[derive(Debug, clap::Args)]
pub struct ClientArgs {
    /// The target file.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// Grade the demo client with this habit instead of a command (see `idemspec list habits`).
    #[arg(long, value_name = "NAME", value_parser = habit, conflicts_with_all = ["target", "upstream", "contract", "command"])]
    pub habit: Option<Habit>,
    /// The API that requests are let through to; without it, the demo API, as the contract says.
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// What the target is held to.
    #[command(flatten)]
    pub standard: Standard,
    /// How the target file is filled in.
    #[command(flatten)]
    pub filling: Filling,
    /// Commands that run at once.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub jobs: usize,
    /// Without a command: where clients that were started elsewhere come to; port 0 is a free one.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:0",
        conflicts_with = "command"
    )]
    pub listen: SocketAddr,
    /// Without a command: how long to wait for clients, such as 30s; else until Ctrl-C.
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "command")]
    pub time: Option<Duration>,
    /// Write down everything that judging needs, for `idemspec report`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Which scenarios.
    #[command(flatten)]
    pub selection: Selection,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
    /// The command that makes one operation at $IDEMSPEC_URL, and its arguments; without it, the
    /// requests of clients are waited for that were started elsewhere.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// The arguments of the demo client.
#[derive(Debug, clap::Args)]
pub struct DemoClientArgs {
    /// What it does.
    #[arg(value_parser = habit)]
    pub habit: Habit,
}
