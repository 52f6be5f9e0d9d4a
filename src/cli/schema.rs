//! What the JSON report looks like, for programs that read it.

use super::exit::Exit;
use super::failure::Failure;
use super::screen;

/// The JSON Schema of the report.
const SCHEMA: &str = include_str!("../../docs/report.schema.json");

/// Prints the schema.
///
/// # Errors
/// When standard output cannot be written.
pub fn print() -> Result<Exit, Failure> {
    screen::say_plainly(SCHEMA)?;
    Ok(Exit::Clean)
}
