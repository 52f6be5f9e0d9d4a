//! The arguments, and nothing else: what was typed, checked as far as that needs no file.

use crate::checklist::ItemId;
use crate::demo::{Flaw, VARIANTS, Variant};
use crate::demo_client::Habit;
use crate::report::{self, Format, junit};
use crate::runner::Effort;
use crate::scenario::Severity;
use crate::yaml;
use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Proves whether an HTTP API is safe to retry.
#[derive(Debug, Parser)]
#[command(name = "idemspec", version, max_term_width = 100)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios against a target, grade it, report.
    Run(RunArgs),
    /// Prove line by line that a target file describes the API.
    Check(CheckArgs),
    /// Write a first target file from a curl command that works; send nothing.
    Init(InitArgs),
    /// Start the demo API and run everything against it.
    Demo(DemoArgs),
    /// Grade a client: stand before the API, lose its answers, and watch what it sends again.
    Client(ClientArgs),
    /// Be the demo client, with its habits.
    #[command(hide = true)]
    DemoClient(DemoClientArgs),
    /// Tell what changed between two runs.
    Compare(CompareArgs),
    /// Remove what a run that was killed has left, as its ledger says.
    Cleanup(CleanupArgs),
    /// Print the JSON Schema of the JSON report.
    Schema,
    /// Judge a recorded run again, under its own or another contract; send nothing.
    Report(ReportArgs),
    /// Start the demo API alone.
    Serve(ServeArgs),
    /// Try the tool itself on every flaw and variant of the demo API.
    Selftest(SelftestArgs),
    /// Check target and scenario files; send nothing.
    Lint(LintArgs),
    /// List scenarios, checklist items, contracts, promises, flaws or variants.
    List(ListArgs),
    /// Hold demos that keep one contract each to all contracts: is each difference found?
    Matrix(MatrixArgs),
    /// Say what a scenario, checklist item, contract, promise, flaw or variant means.
    Explain(ExplainArgs),
}

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The target file; of several, each has reports of its own, named after it.
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<PathBuf>,
    /// Which scenarios.
    #[command(flatten)]
    pub selection: Selection,
    /// Grade against this contract instead of the target file's.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// Set a variable of the target file (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// A file of NAME=VALUE lines with secrets.
    #[arg(long, value_name = "FILE")]
    pub secrets: Option<PathBuf>,
    /// A host that may be written to, beside those that the target file names (repeatable).
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Go on although the target looks like a live one.
    #[arg(long)]
    pub live: bool,
    /// A folder with scenarios of your own, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
    /// Do not hold the target file against the API first.
    #[arg(long)]
    pub no_check: bool,
    /// Show every request that would be sent; send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Write down at once all that is made, for `idemspec cleanup` after a run that was killed.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Begin at this instant, such as 2026-12-01T12:00:00Z, so that several places begin together.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub start_at: Option<SystemTime>,
    /// Write down everything that judging needs, for `idemspec report`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
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
    /// Check against this contract instead of the target file's.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// Set a variable of the target file (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// A file of NAME=VALUE lines with secrets.
    #[arg(long, value_name = "FILE")]
    pub secrets: Option<PathBuf>,
    /// A host that may be written to, beside those that the target file names (repeatable).
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Go on although the target looks like a live one.
    #[arg(long)]
    pub live: bool,
    /// A folder with scenarios of your own, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
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

/// The arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// The defect to plant in the demo (see `idemspec list flaws`).
    #[arg(long, value_name = "NAME", value_parser = flaw)]
    pub flaw: Option<Flaw>,
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
    /// Grade against this contract instead of the target file's.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// Set a variable of the target file (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// A file of NAME=VALUE lines with secrets.
    #[arg(long, value_name = "FILE")]
    pub secrets: Option<PathBuf>,
    /// Go on although the target looks like a live one.
    #[arg(long)]
    pub live: bool,
    /// A folder with scenarios of your own, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
    /// Commands that run at once.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub jobs: usize,
    /// Which scenarios.
    #[command(flatten)]
    pub selection: Selection,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
    /// The command that makes one operation at $IDEMSPEC_URL, and its arguments.
    #[arg(last = true, required_unless_present = "habit", value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// The arguments of the demo client.
#[derive(Debug, clap::Args)]
pub struct DemoClientArgs {
    /// What it does.
    #[arg(value_parser = habit)]
    pub habit: Habit,
}

/// The arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The file that `run --record` wrote.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Join several: the parts of a run that was split, or one run from several places.
    #[arg(long)]
    pub merge: bool,
    /// Judge under this contract instead of the run's own.
    #[arg(long, value_name = "NAME")]
    pub contract: Option<String>,
    /// What is shown and written.
    #[command(flatten)]
    pub output: Output,
}

/// Which scenarios run, on which operations.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Selection {
    /// Only this scenario, case, or those whose id begins so (repeatable).
    #[arg(long, value_name = "ID")]
    pub scenario: Vec<String>,
    /// Only what bears on this checklist item, 1 to 9 (repeatable).
    #[arg(long, value_name = "N", value_parser = item)]
    pub item: Vec<ItemId>,
    /// Only this operation of the target (repeatable).
    #[arg(long, value_name = "NAME")]
    pub operation: Vec<String>,
    /// Only what failed, or showed nothing, in an earlier run: its JSON report or its record.
    #[arg(long, value_name = "FILE")]
    pub only_failed: Option<PathBuf>,
    /// Only this part of all cases, such as 1/4; `report --merge` joins the parts.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Run everything so often, with a seed of its own each time, and judge it as one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// Repeat a run: the number that it reported.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How hard to look for races.
    #[command(flatten)]
    pub effort: EffortArgs,
}

/// How hard to look for races.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct EffortArgs {
    /// Send bursts until a race window this long would have shown with 95 %, as far as a scenario's
    /// rounds allow [default: 1ms].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub race_bound: Option<Duration>,
    /// Go on looking for races after one has shown.
    #[arg(long)]
    pub keep_going: bool,
}

impl EffortArgs {
    /// With the defaults for what is not given.
    pub fn effort(self) -> Effort {
        let default = Effort::default();
        Effort {
            race_bound: self.race_bound.unwrap_or(default.race_bound),
            keep_going: self.keep_going,
        }
    }
}

impl Selection {
    /// Whether it leaves anything out.
    pub fn narrows(&self) -> bool {
        !self.scenario.is_empty()
            || !self.item.is_empty()
            || !self.operation.is_empty()
            || self.only_failed.is_some()
            || self.shard.is_some()
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Leaves of these what belongs to this part: every n-th, so that each part has some of all
    /// kinds.
    pub fn narrow<T>(self, all: &mut Vec<T>) {
        let mut place = 0..;
        all.retain(|_| {
            place
                .next()
                .is_some_and(|place| place % self.of == self.part - 1)
        });
    }
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

/// The arguments of `cleanup`.
#[derive(Debug, clap::Args)]
pub struct CleanupArgs {
    /// The target file, which says how to clean up.
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// The file that `run --ledger` wrote.
    #[arg(value_name = "LEDGER")]
    pub ledger: PathBuf,
    /// Set a variable of the target file (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// A file of NAME=VALUE lines with secrets.
    #[arg(long, value_name = "FILE")]
    pub secrets: Option<PathBuf>,
    /// A host that may be written to, beside those that the target file names (repeatable).
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Go on although the target looks like a live one.
    #[arg(long)]
    pub live: bool,
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
    /// The defect to plant (see `idemspec list flaws`).
    #[arg(long, value_name = "NAME", value_parser = flaw)]
    pub flaw: Option<Flaw>,
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
    /// One of several parts of it, such as 1/4.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub part: Option<Shard>,
    /// How often a flaw is tried that is caught at a rate only.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub times: usize,
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

/// The arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// `item-5` or `5`, a scenario's id (with `#case` or without), the name of a contract, a promise, a
    /// flaw or a variant, or an OpenAPI document (a file), of which the operations are listed with
    /// their keys.
    pub id: String,
}

fn item(text: &str) -> Result<ItemId, String> {
    ItemId::from_name(text)
        .or_else(|| ItemId::from_name(&format!("item-{text}")))
        .ok_or_else(|| "the checklist has the items 1 to 9".to_owned())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

fn report_file(text: &str) -> Result<ReportFile, String> {
    let formats = || Format::ALL.map(Format::name);
    let (name, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or_else(|| "write FORMAT=FILE, such as junit=report.xml".to_owned())?;
    let format = Format::from_name(name).ok_or_else(|| {
        format!(
            "there is no format `{name}`: it is one of {}",
            formats().join(", ")
        )
    })?;
    Ok(ReportFile {
        format,
        path: PathBuf::from(path),
    })
}

fn flaw(name: &str) -> Result<Flaw, String> {
    let names = Flaw::ALL.iter().map(|flaw| flaw.name());
    Flaw::from_name(name).ok_or_else(|| unknown(name, names, "flaws"))
}

fn variant(name: &str) -> Result<&'static Variant, String> {
    let names = VARIANTS.iter().map(|variant| variant.name);
    Variant::from_name(name).ok_or_else(|| unknown(name, names, "variants"))
}

fn unknown(name: &str, names: impl Iterator<Item = &'static str>, what: &str) -> String {
    match yaml::nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`idemspec list {what}` shows all"),
    }
}

fn habit(name: &str) -> Result<Habit, String> {
    let names = Habit::ALL.iter().map(|habit| habit.name());
    Habit::from_name(name).ok_or_else(|| unknown(name, names, "habits"))
}

fn instant(text: &str) -> Result<SystemTime, String> {
    humantime::parse_rfc3339_weak(text)
        .map_err(|_| "write an instant in UTC, such as 2026-12-01T12:00:00Z".to_owned())
}

fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text
        .split_once('/')
        .and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((part, of)) if (1..=of).contains(&part) => Ok(Shard { part, of }),
        _ => Err("write a part of all, such as 1/4 to 4/4".to_owned()),
    }
}

fn gate_on(text: &str) -> Result<GateOn, String> {
    let severities = [
        Severity::Low,
        Severity::Medium,
        Severity::High,
        Severity::Critical,
    ];
    severities
        .into_iter()
        .find(|severity| report::severity(*severity) == text)
        .map(GateOn::Severity)
        .or_else(|| ItemId::from_name(text).map(GateOn::Item))
        .ok_or_else(|| "it is low, medium, high, critical, or an item such as item-5".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| "write a duration with its unit, such as 300ms, 2s or 24h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Args, Command, Format, report_file};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_arguments_contradict_nothing() {
        Args::command().debug_assert();
    }

    #[test]
    fn an_item_is_a_number_or_a_name() {
        for word in ["5", "item-5"] {
            let args = Args::try_parse_from(["idemspec", "run", "a.yaml", "--item", word])
                .expect("it is an item");
            let Command::Run(run) = args.command else {
                panic!("it was `run`");
            };
            assert_eq!(run.selection.item[0].number(), 5);
        }
        assert!(Args::try_parse_from(["idemspec", "run", "a.yaml", "--item", "10"]).is_err());
    }

    #[test]
    fn a_report_names_its_format_and_its_file() {
        let report = report_file("junit=out/a=b.xml").expect("it is whole");
        assert_eq!(report.format, Format::Junit);
        assert_eq!(report.path.to_string_lossy(), "out/a=b.xml");
        assert!(report_file("junit=").is_err());
        assert!(
            report_file("pdf=x")
                .expect_err("no such format")
                .contains("json")
        );
    }
}
