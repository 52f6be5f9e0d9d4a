//! What is said of a target: `check`, `init`, `cleanup`, and what all that read its file share.

use super::value::assignment;
use std::path::PathBuf;

/// How a target file is filled in, and whether what looks live may be written to.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Filling {
    /// Set a variable of the target file (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// A file of NAME=VALUE lines with secrets.
    #[arg(long, value_name = "FILE")]
    pub secrets: Option<PathBuf>,
    /// Go on although the target looks like a live one.
    #[arg(long)]
    pub live: bool,
}

/// How a target that is written to is filled in and reached.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Access {
    /// How the target file is filled in.
    #[command(flatten)]
    pub filling: Filling,
    /// A host that may be written to, beside those that the target file names (repeatable).
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
}

/// What a target is held to.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Standard {
    /// Hold it to this contract instead of the target file's.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// A folder with scenarios of your own, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
}

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The target file.
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// Only this operation of the target (repeatable).
    #[arg(long, value_name = "NAME")]
    pub operation: Vec<String>,
    /// What the target is held to.
    #[command(flatten)]
    pub standard: Standard,
    /// How the target file is filled in, and what may be written to.
    #[command(flatten)]
    pub access: Access,
    /// Do not ask before effects are made.
    #[arg(short, long)]
    pub yes: bool,
}

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// The command, or `-` to read it from standard input, where no shell remembers its secrets.
    #[arg(long, value_name = "COMMAND")]
    pub from_curl: String,
    /// The file to write; without it, one named after the host.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long)]
    pub force: bool,
    /// The request that lists effects, such as 'GET /payments?reference=${marker}'.
    #[arg(long, value_name = "REQUEST", conflicts_with_all = ["effects_command", "no_effects"])]
    pub effects: Option<String>,
    /// Where the ids stand in its answer; without it, $.data[*].id.
    #[arg(long, value_name = "JSONPATH", conflicts_with_all = ["effects_command", "no_effects"])]
    pub ids: Option<String>,
    /// A shell command that prints the number of effects.
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_effects")]
    pub effects_command: Option<String>,
    /// Effects cannot be counted; do not ask.
    #[arg(long)]
    pub no_effects: bool,
    /// What the API promises (see `idemspec list contracts`).
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
}

/// The arguments of `cleanup`.
#[derive(Debug, clap::Args)]
pub struct CleanupArgs {
    /// The target file, which says how to clean up.
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// The file that `run --ledger` wrote.
    #[arg(value_name = "LEDGER")]
    pub ledger: PathBuf,
    /// How the target file is filled in, and what may be written to.
    #[command(flatten)]
    pub access: Access,
}
