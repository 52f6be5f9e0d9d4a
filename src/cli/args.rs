//! The arguments, and nothing else: what was typed, checked as far as that needs no file.

mod client;
mod demo;
mod output;
mod run;
mod selection;
mod shelf;
mod target;
mod value;

pub use client::{ClientArgs, DemoClientArgs};
pub use demo::{MatrixArgs, SelftestArgs, ServeArgs};
pub use output::{CompareArgs, Gate, GateOn, Inconclusive, Output, ReportArgs, ReportFile};
pub use run::{DemoArgs, ResumeArgs, RunArgs};
pub use selection::{EffortArgs, Selection, Shard};
pub use shelf::{ExplainArgs, LintArgs, ListArgs, Listed};
pub use target::{Access, CheckArgs, CleanupArgs, Filling, InitArgs, Standard};

use clap::{Parser, Subcommand};

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
    /// Go on with keys that `run --defer` has made, once they are old enough.
    Resume(ResumeArgs),
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
    /// Try the tool itself on every flaw and variant of the demo API and every habit of the demo client.
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

#[cfg(test)]
mod tests {
    use super::value::report_file;
    use super::{Args, Command};
    use crate::report::Format;
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
