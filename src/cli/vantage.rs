//! One of several places that make the same run: it only records, and `report --merge` judges what all
//! of them saw.

use super::args::{Output, RunArgs};
use super::exit::Exit;
use super::failure::Failure;
use super::record::Recorded;
use super::screen;
use crate::report::{line, plural};
use crate::runner::Agreement;
use crate::target::Target;
use std::time::Duration;

/// The least time from one round to the next.
const PACE: Duration = Duration::from_secs(2);

/// What the places agree on, if `--seed` and `--start-at` are given: keys are the same everywhere, and
/// other ones at another instant, so that no run meets those of an earlier one.
///
/// # Errors
/// When the arguments ask for what one place cannot know.
pub(super) fn agreement(
    args: &RunArgs,
    output: &Output,
    target: &Target,
) -> Result<Option<Agreement>, Failure> {
    let Some((seed, start)) = args.common_start() else {
        return Ok(None);
    };
    let asks = |what: &str, instead: &str| {
        Err(Failure::Usage(format!(
            "with --seed and --start-at this is one of several places that make the same run, {what}: {instead}"
        )))
    };
    if args.record.is_none() && !args.dry_run {
        return asks(
            "and what it sees is judged with the others",
            "give --record FILE",
        );
    }
    if !output.reports.is_empty() || output.bundle.is_some() || output.write_contract.is_some() {
        return asks(
            "which cannot be judged by itself",
            "`idemspec report --merge` writes the reports",
        );
    }
    if args.selection.repeat.is_some() {
        return asks(
            "which is not repeated",
            "choose another instant for each time",
        );
    }
    let at = humantime::format_rfc3339_millis(start);
    Ok(Some(Agreement {
        words: format!("{seed} {at}"),
        start,
        pace: args
            .pace
            .unwrap_or_else(|| PACE.max(2 * target.settle + PACE / 2)),
    }))
}

/// Says what was recorded. Nothing is judged here, so nothing can fail but the run itself.
///
/// # Errors
/// When nothing can be shown.
pub(super) fn recorded(recorded: &Recorded, quiet: bool) -> Result<Exit, Failure> {
    if let Some(why) = &recorded.about.stopped {
        screen::remark(&format!("stopped: {}", line(why)));
        return Ok(Exit::Unable);
    }
    let rounds: usize = recorded
        .cases
        .iter()
        .map(|case| case.transcript.rounds.len())
        .sum();
    if rounds == 0 {
        screen::remark("no round ran: nothing of what was selected can be run from several places");
        return Ok(Exit::Unable);
    }
    for headline in &recorded.headlines {
        screen::remark(&line(headline));
    }
    if !quiet {
        screen::say(&format!(
            "recorded {} as one of several places: `idemspec report --merge` judges them together\n",
            plural(rounds, "round")
        ))?;
    }
    Ok(Exit::Clean)
}
