//! The command line: the only place with arguments, files, stdout, progress and exit codes.
//! Nothing imports it.

mod again;
pub mod args;
mod bundle;
mod certificates;
pub mod check;
pub mod checks;
pub mod cleanup;
pub mod client;
pub mod compare;
mod crash;
pub mod deferred;
mod dry_run;
pub mod exit;
pub mod explain;
pub mod failure;
pub mod files;
pub mod gate;
pub mod init;
pub mod lint;
pub mod list;
mod many;
pub mod matrix;
pub mod merge;
mod observe;
mod places;
pub mod policy;
mod present;
pub mod progress;
pub mod record;
pub mod report;
pub mod resume;
pub mod run;
mod schema;
mod screen;
pub mod select;
pub mod selftest;
pub mod serve;
mod server;
pub mod stage;
pub mod target;
mod vantage;
pub mod write_contract;

use clap::Parser;
use std::process::ExitCode;

use args::{Args, Command};
use exit::Exit;
use failure::Failure;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    crash::name_crashes();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(problem) => {
            // Nobody is left to hear of a closed terminal.
            let _ = problem.print();
            return u8::try_from(problem.exit_code()).map_or(Exit::Usage.into(), ExitCode::from);
        }
    };
    match obey(args.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen::remark(&failure.to_string());
            failure.exit().into()
        }
    }
}

fn obey(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => resume::resume(&args),
        Command::Check(args) => check::check(args),
        Command::Init(args) => init::init(&args),
        Command::Demo(args) => run::demo(args),
        Command::Client(args) => client::client(args),
        Command::DemoClient(args) => client::be_the_demo_client(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Cleanup(args) => cleanup::cleanup(&args),
        Command::Schema => schema::print(),
        Command::Report(args) => report::report(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Selftest(args) => selftest::selftest(&args),
        Command::Lint(args) => lint::lint(&args),
        Command::List(args) => list::list(&args),
        Command::Matrix(args) => matrix::matrix(&args),
        Command::Explain(args) => explain::explain(&args),
    }
}
