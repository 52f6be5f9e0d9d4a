//! Why a command could not do what it was asked to.

use super::exit::Exit;
use crate::yaml::Diagnostic;

/// Why a command could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something that there is not.
    #[error("error: {0}")]
    Usage(String),
    /// Files are not as they must be.
    #[error("{}", rendered(.0))]
    BadFiles(Vec<Diagnostic>),
    /// The tool or the target could not work at all.
    #[error("error: {0}")]
    Unable(String),
}

impl Failure {
    /// The exit code that belongs to it.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) | Failure::BadFiles(_) => Exit::Usage,
            Failure::Unable(_) => Exit::Unable,
        }
    }
}

/// All diagnostics, with the colours that the screen takes away where they are not wanted.
pub(super) fn rendered(diagnostics: &[Diagnostic]) -> String {
    let texts: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.render(true))
        .collect();
    texts.join("\n\n")
}
