//! A recorded run, judged again and reported. Nothing is sent.

use super::args::ReportArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::{record, run};
use crate::contract;
use crate::yaml::Source;
use std::path::Path;

/// Judges a recorded run under its own contract or another one, shows it and writes reports.
///
/// # Errors
/// When the record or the contract cannot be read, or what is written cannot be.
pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let mut recorded = record::read(&args.file)?;
    if let Some(name) = &args.contract {
        let read = |path: &str, from: &str| {
            let beside = Path::new(from).parent().map(|folder| folder.join(path));
            let path = beside.unwrap_or_else(|| path.into());
            let text = std::fs::read_to_string(&path).map_err(|problem| problem.to_string())?;
            Ok(Source {
                name: path.display().to_string(),
                text,
            })
        };
        let contract =
            contract::chosen(name, &read).map_err(|problem| Failure::BadFiles(vec![problem]))?;
        recorded.hold_to(&contract);
    }
    run::present(&recorded, &args.output, Vec::new())
}
