//! Checks files and sends nothing.

use super::args::LintArgs;
use super::certificates;
use super::exit::Exit;
use super::failure::{Failure, rendered};
use super::files;
use super::screen;
use super::target;
use crate::scenario;
use crate::yaml::{self, Diagnostic, Node, Severity, Source};
use std::path::Path;
use std::sync::Arc;

/// Checks every file, and shows all that is wrong.
///
/// # Errors
/// When the result cannot be shown.
pub fn lint(args: &LintArgs) -> Result<Exit, Failure> {
    let mut errors = 0;
    let mut warnings = 0;
    for path in &args.files {
        let found = match files::read(path) {
            Ok(source) => problems(path, source),
            Err(failure) => diagnostics(failure),
        };
        for diagnostic in &found {
            match diagnostic.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
        }
        if !found.is_empty() {
            screen::say(&format!("{}\n\n", rendered(&found)))?;
        }
    }
    screen::say(&format!(
        "{}: {}, {}\n",
        crate::report::plural(args.files.len(), "file"),
        crate::report::plural(errors, "error"),
        crate::report::plural(warnings, "warning")
    ))?;
    Ok(if errors == 0 {
        Exit::Clean
    } else {
        Exit::Usage
    })
}

fn problems(path: &Path, source: Arc<Source>) -> Vec<Diagnostic> {
    let root = match yaml::parse(Arc::clone(&source)) {
        Ok(root) => root,
        Err(problem) => return vec![problem],
    };
    if scenario::client::is_client(&root) {
        scenario::client::parse(&files::id(path), source)
            .err()
            .unwrap_or_default()
    } else if is_scenario(&root) {
        scenario::parse(&files::id(path), source, false)
            .err()
            .unwrap_or_default()
    } else {
        target_problems(path)
    }
}

/// A scenario has steps; a target has none.
fn is_scenario(root: &Node) -> bool {
    ["steps", "expect"]
        .iter()
        .any(|field| root.get(field).is_some())
}

/// What is wrong with a target file.
fn target_problems(path: &Path) -> Vec<Diagnostic> {
    match target::from_file(path, &[], None, &[], None) {
        Ok(ready) => match certificates::tls(&ready.target, &ready.file) {
            Ok(_) => ready.warnings,
            Err(failure) => {
                let mut found = diagnostics(failure);
                found.extend(ready.warnings);
                found
            }
        },
        Err(failure) => diagnostics(failure),
    }
}

fn diagnostics(failure: Failure) -> Vec<Diagnostic> {
    match failure {
        Failure::BadFiles(problems) => problems,
        Failure::Usage(message) | Failure::Unable(message) => vec![Diagnostic::error(message)],
    }
}
