//! A recorded run, judged again and reported. Nothing is sent.

use super::args::ReportArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::merge;
use super::present::present;
use super::record::{self, Texts};
use crate::contract;
use crate::yaml::Source;
use std::path::Path;

/// Judges a recorded run under its own contract or another one, shows it and writes reports.
///
/// # Errors
/// When the record or the contract cannot be read, or what is written cannot be.
pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.files.len() > 1 && !args.merge {
        return Err(Failure::Usage(
            "several records are joined only with --merge".to_owned(),
        ));
    }
    let mut runs = Vec::new();
    let mut texts = Texts::default();
    for file in &args.files {
        let (recorded, own) = record::read(file)?;
        runs.push(recorded);
        texts.join(own);
    }
    let mut recorded = merge::join(runs).map_err(Failure::Usage)?;
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
    let presented = present(recorded, &texts, &args.output, false, Vec::new())?;
    Ok(presented.exit)
}
