//! The scenarios that are built in.

use super::client::{self, ClientScenario};
use super::{Scenario, parse};
use crate::yaml::{Diagnostic, Source};
use include_dir::{Dir, include_dir};
use std::sync::Arc;

static SCENARIOS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// The folder of the scenarios about clients.
const CLIENT: &str = "client/";

/// Every built-in scenario about servers, in the order of the ids.
///
/// # Errors
/// A built-in file that does not parse; a test keeps this from happening.
pub fn scenarios() -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    files()
        .filter(|(id, _)| !id.starts_with(CLIENT))
        .map(|(id, text)| parse(&id, source(&id, text), true))
        .collect()
}

/// Every built-in scenario about clients, in the order of the ids.
///
/// # Errors
/// A built-in file that does not parse; a test keeps this from happening.
pub fn client_scenarios() -> Result<Vec<ClientScenario>, Vec<Diagnostic>> {
    files()
        .filter(|(id, _)| id.starts_with(CLIENT))
        .map(|(id, text)| client::parse(&id, source(&id, text)))
        .collect()
}

fn files() -> impl Iterator<Item = (String, &'static str)> {
    let mut files = Vec::new();
    collect(&SCENARIOS, &mut files);
    files.sort();
    files.into_iter()
}

fn source(id: &str, text: &str) -> Arc<Source> {
    Arc::new(Source {
        name: format!("scenarios/{id}.yaml"),
        text: text.to_owned(),
    })
}

/// The text of a built-in scenario.
pub fn text(id: &str) -> Option<&'static str> {
    SCENARIOS.get_file(format!("{id}.yaml"))?.contents_utf8()
}

fn collect(dir: &'static Dir<'static>, files: &mut Vec<(String, &'static str)>) {
    for file in dir.files() {
        let path = file.path();
        if path.extension().is_some_and(|ending| ending == "yaml")
            && let Some(text) = file.contents_utf8()
        {
            files.push((
                path.with_extension("").to_string_lossy().replace('\\', "/"),
                text,
            ));
        }
    }
    for inner in dir.dirs() {
        collect(inner, files);
    }
}
