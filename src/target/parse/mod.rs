//! From YAML to a target: the front door is [`load`]. All problems are collected, so that one run
//! names every mistake; nothing is read but through the [`Environment`] that is handed in.

mod action;
mod client;
mod consumer;
mod context;
mod documents;
mod fixture;
mod key;
mod limits;
mod lint;
mod live;
mod operation;
mod overlay;
mod principal;
mod probe;
mod reader;
mod request;
mod settings;
mod signing;
mod sink;
mod template;
mod token;
mod value;
mod variant;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::yaml::Diagnostic;
use crate::yaml::Severity;
use crate::yaml::Source;

use super::Target;
use reader::Reader;

/// What the file may ask of its surroundings.
pub trait Environment {
    /// An environment variable.
    fn var(&self, name: &str) -> Option<String>;

    /// A file, relative to the file named `from` (empty: to the working directory). The name of the
    /// source that is returned must identify it. The error is the system's.
    fn file(&self, path: &Path, from: &str) -> Result<Source, String>;
}

/// What the command line says about a target.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--set name=value`.
    pub set: Vec<(String, String)>,
    /// `--allow-host`; `*.` stands for any subdomain.
    pub allow_hosts: Vec<String>,
    /// The contents of `--secrets FILE`.
    pub secrets: BTreeMap<String, String>,
}

/// A target that can be used, and what is doubtful about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The target.
    pub target: Target,
    /// What its author should look at.
    pub warnings: Vec<Diagnostic>,
}

/// Parses, merges and lints a target file. The errors are all that keep it from being used; the
/// warnings found beside them come last.
pub fn load(
    main: Arc<Source>,
    options: &Options,
    environment: &dyn Environment,
) -> Result<Loaded, Vec<Diagnostic>> {
    let merged = overlay::merged(main, environment).map_err(|problem| vec![problem])?;
    let merged = overlay::with_settings(merged, &options.set).map_err(|problem| vec![problem])?;
    let reader = Reader::new(&merged, options, environment);
    let target = settings::target(&reader, merged.clone());
    if let Some(target) = &target {
        lint::lint(&reader, target);
    }
    let mut problems = reader.into_problems();
    problems.sort_by_cached_key(|problem| {
        let span = problem.span.as_ref();
        span.map(|span| (span.source.name.clone(), span.start))
    });
    let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) = problems
        .into_iter()
        .partition(|problem| problem.severity == Severity::Error);
    match target {
        Some(target) if errors.is_empty() => Ok(Loaded { target, warnings }),
        _ => Err(errors.into_iter().chain(warnings).collect()),
    }
}

#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod tests;
