//! The end of the line: what happened is judged, shown, and written where it was asked for.

use super::args::Output;
use super::bundle::Bundle;
use super::exit::Exit;
use super::failure::Failure;
use super::gate::{self, Known};
use super::record::{Recorded, Texts};
use super::{files, screen, write_contract};
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
    recorded: Recorded,
    texts: &Texts,
    output: &Output,
    narrowed: bool,
    mut failures: Vec<Failure>,
) -> Result<Presented, Failure> {
    let known = Known::read(&output.gate)?;
    let options = output.options();
    let bundle = output
        .bundle
        .as_deref()
        .map(|file| (file, Bundle::of(&recorded, texts)));
    if let Some(file) = &output.write_contract {
        failures.extend(write_contract::write(&recorded, file).err());
    }
    let mut report = recorded.into_report();
    let complaints = known.apply(&mut report, narrowed);
    if let Some((file, bundle)) = bundle {
        let written = bundle.and_then(|bundle| bundle.finish(&report, &options, file));
        failures.extend(written.err().map(|problem| {
            Failure::Unable(format!(
                "cannot write the bundle to {}: {problem}",
                file.display()
            ))
        }));
    }
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
