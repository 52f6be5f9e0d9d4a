//! What a person sees: results on stdout, remarks on stderr. Colours are left out where the other
//! side cannot show them, or does not want them (`NO_COLOR`).

use super::failure::Failure;
use std::io::{ErrorKind, Write};

/// Characters in a line of the terminal; `None` where there is no terminal.
pub(super) fn width() -> Option<u16> {
    comfy_table::Table::new().width()
}

/// Writes a result.
///
/// # Errors
/// When it cannot be written. A reader that went away, such as `head`, is no error.
pub(super) fn say(text: &str) -> Result<(), Failure> {
    write(anstream::stdout().lock(), text)
}

/// Writes what a program reads: as it is, on a terminal as well.
///
/// # Errors
/// As for [`say`].
pub(super) fn say_plainly(text: &str) -> Result<(), Failure> {
    write(std::io::stdout().lock(), text)
}

fn write(mut stdout: impl Write, text: &str) -> Result<(), Failure> {
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => Err(Failure::Unable(format!(
            "cannot write to standard output: {problem}"
        ))),
        _ => Ok(()),
    }
}

/// Writes a line about the work itself. There is nowhere to say that this failed.
pub(super) fn remark(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
