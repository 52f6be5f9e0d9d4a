//! The end of the line: what happened is judged, shown, and written where it was asked for.

use super::args::Output;
use super::exit::Exit;
use super::failure::Failure;
use super::gate::{self, Known};
use super::record::{Recorded, Texts};
use super::{bundle, files, screen, write_contract};
use crate::grade::Report;
use crate::report::console::{self, Detail, Look};

/// What was shown, and how the process ends.
pub(super) struct Presented {
    /// The report.
    pub(super) report: Report,
    /// The exit that it deserves.
    pub(super) exit: Exit,
}

/// Judges what happened, shows it, and writes what was asked for. `failures` are those of writing
/// before; `narrowed` says that not everything was meant to run.
///
/// # Errors
/// When nothing can be shown, or a list of what is known cannot be read.
pub(super) fn present(
    recorded: &Recorded,
    texts: &Texts,
    output: &Output,
    narrowed: bool,
    mut failures: Vec<Failure>,
) -> Result<Presented, Failure> {
    let mut report = recorded.report();
    let complaints = Known::read(&output.gate)?.apply(&mut report, narrowed);
    if let Some(file) = &output.bundle {
        let options = output.options();
        failures.extend(bundle::write(&report, recorded, texts, &options, file).err());
    }
    if let Some(file) = &output.write_contract {
        failures.extend(write_contract::write(recorded, file).err());
    }
    let options = output.options();
    failures.extend(files::write_reports(&report, &output.reports, &options));
    let look = Look {
        color: true,
        width: screen::width().unwrap_or(console::FILE_WIDTH),
        detail: match (output.quiet, output.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        },
    };
    screen::say(&console::render(&report, &look))?;
    for complaint in &complaints {
        screen::remark(complaint);
    }
    for failure in &failures {
        screen::remark(&failure.to_string());
    }
    let exit = match failures.is_empty() {
        true => gate::exit(&report, output.strict, &output.gate.fail_on, &complaints),
        false => Exit::Unable,
    };
    Ok(Presented { report, exit })
}
