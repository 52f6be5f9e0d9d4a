//! Several targets in one command: each has reports of its own, and a table says how all fared.

use super::args::Output;
use super::exit::Exit;
use super::failure::Failure;
use super::screen;
use crate::grade::Report;
use crate::report::{counts, line, verdict, words_of};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Runs one after the other and shows the table; the worst exit is that of the process. A target that
/// could not be tried keeps none of the others from it.
///
/// # Errors
/// When nothing can be shown.
pub(super) fn run(
    targets: &[PathBuf],
    output: &Output,
    mut one: impl FnMut(&Path, &Output, &str) -> Result<(Exit, Option<Report>), Failure>,
) -> Result<Exit, Failure> {
    let names = names(targets);
    let mut rows: Vec<(Exit, String, String)> = Vec::new();
    for (target, name) in targets.iter().zip(&names) {
        if !output.quiet {
            screen::say(&format!("\n{}\n", target.display()))?;
        }
        let (exit, says) = match one(target, &named(output, name), name) {
            Ok((exit, Some(report))) => (exit, fared(&report)),
            Ok((exit, None)) => (exit, String::new()),
            Err(failure) => {
                let says = failure.to_string();
                screen::remark(&says);
                let first = says.lines().next().unwrap_or_default().to_owned();
                (failure.exit(), first)
            }
        };
        rows.push((exit, target.display().to_string(), says));
    }
    let wide = rows
        .iter()
        .map(|(_, name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut table = String::from("\n");
    for (_, name, says) in &rows {
        // Writing to a String cannot fail.
        let _ = writeln!(table, "{name:wide$}  {}", line(says));
    }
    screen::say(&table)?;
    Ok(worst(rows.iter().map(|(exit, _, _)| *exit)))
}

fn fared(report: &Report) -> String {
    match &report.about.stopped {
        Some(why) => format!("Stopped: {why}"),
        None => format!("{}: {}", verdict(report.verdict), words_of(counts(report))),
    }
}

/// What is gravest: a failure, what could not work, what is wrong, what was not shown.
fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    let gravity = |exit: &Exit| match exit {
        Exit::Clean => 0,
        Exit::Inconclusive => 1,
        Exit::Usage => 2,
        Exit::Unable => 3,
        Exit::Failed => 4,
    };
    exits.max_by_key(gravity).unwrap_or(Exit::Unable)
}

/// The files' names without their endings; with their folders where two are alike.
fn names(targets: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let is_alone = |name: &str| targets.iter().filter(|path| stem(path) == name).count() == 1;
    targets
        .iter()
        .map(|path| {
            let short = stem(path);
            if is_alone(&short) {
                return short;
            }
            let whole = path.with_extension("").to_string_lossy().into_owned();
            let parts: Vec<&str> = whole
                .split(['/', '\\'])
                .filter(|part| !part.is_empty())
                .collect();
            parts.join("-")
        })
        .collect()
}

fn named(output: &Output, name: &str) -> Output {
    let mut output = output.clone();
    for report in &mut output.reports {
        report.path = with_name(&report.path, name);
    }
    for path in [&mut output.bundle, &mut output.write_contract]
        .into_iter()
        .flatten()
    {
        *path = with_name(path, name);
    }
    output
}

/// `out/report.xml` becomes `out/report-payments.xml`; standard output stays what it is.
pub(super) fn with_name(path: &Path, name: &str) -> PathBuf {
    if path.as_os_str() == "-" {
        return path.to_owned();
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let new = match file.split_once('.') {
        Some((stem, ending)) => format!("{stem}-{name}.{ending}"),
        None => format!("{file}-{name}"),
    };
    path.with_file_name(new)
}

#[cfg(test)]
mod tests {
    use super::{Exit, names, with_name, worst};
    use std::path::{Path, PathBuf};

    #[test]
    fn reports_are_named_after_their_targets() {
        let named = |path: &str| with_name(Path::new(path), "pay");
        assert_eq!(
            named("out/run.record.json"),
            Path::new("out/run-pay.record.json")
        );
        assert_eq!(named("report"), Path::new("report-pay"));
        assert_eq!(named("-"), Path::new("-"));
    }

    #[test]
    fn two_targets_of_one_name_keep_their_folders() {
        let targets = ["eu/pay.yaml", "us/pay.yaml", "refunds.yaml"].map(PathBuf::from);
        assert_eq!(names(&targets), ["eu-pay", "us-pay", "refunds"]);
    }

    #[test]
    fn a_failure_is_graver_than_a_target_that_is_away() {
        let exits = [Exit::Clean, Exit::Unable, Exit::Failed, Exit::Inconclusive];
        assert_eq!(worst(exits.into_iter()), Exit::Failed);
        assert_eq!(worst(exits[..2].iter().copied()), Exit::Unable);
    }
}
