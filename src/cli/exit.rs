//! The exit codes, and which one a report deserves.

use crate::grade::Report;
use crate::promise::Level;
use crate::report::{Standing, counts, entries};
use crate::verdict::Verdict;
use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: all selected checks pass, or do not apply.
    Clean,
    /// 1: something fails.
    Failed,
    /// 2: the command line or a file is wrong.
    Usage,
    /// 3: nothing fails, something is inconclusive.
    Inconclusive,
    /// 4: the tool or the target could not work at all, or nothing ran.
    Unable,
}

impl Exit {
    /// The exit that a report deserves; when `strict`, a broken `should` fails as well.
    ///
    /// A run in which nothing at all applied has shown nothing, and is no success. A run that was
    /// stopped is inconclusive at best; if it had not shown anything by then, it did not work.
    pub fn of(report: &Report, strict: bool) -> Exit {
        let stopped = report.about.stopped.is_some();
        match report.verdict {
            Some(Verdict::Fail) => Exit::Failed,
            Some(_) if strict && has_warning(report) => Exit::Failed,
            None | Some(Verdict::Skip) => Exit::Unable,
            Some(Verdict::Inconclusive) if stopped && has_shown_nothing(report) => Exit::Unable,
            Some(Verdict::Inconclusive) => Exit::Inconclusive,
            Some(Verdict::Pass) if stopped => Exit::Inconclusive,
            Some(Verdict::Pass) => Exit::Clean,
        }
    }

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Inconclusive => 3,
            Exit::Unable => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

fn has_shown_nothing(report: &Report) -> bool {
    let counts = counts(report);
    counts.pass + counts.warn + counts.fail == 0
}

fn has_warning(report: &Report) -> bool {
    report.scenarios.iter().flat_map(entries).any(|entry| {
        entry.standing == Standing::Warn
            && entry
                .finding
                .is_some_and(|finding| finding.level == Level::Should)
    })
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use crate::grade::{DocumentsReport, Report, RunInfo};
    use crate::verdict::Verdict;

    fn report(verdict: Option<Verdict>, stopped: Option<&str>) -> Report {
        Report {
            about: RunInfo {
                stopped: stopped.map(str::to_owned),
                ..RunInfo::default()
            },
            verdict,
            checklist: Vec::new(),
            promises: Vec::new(),
            documents: DocumentsReport::default(),
            scenarios: Vec::new(),
            headlines: Vec::new(),
        }
    }

    #[test]
    fn nothing_ran_is_never_a_success() {
        assert_eq!(Exit::of(&report(None, None), false), Exit::Unable);
        assert_eq!(
            Exit::of(&report(Some(Verdict::Skip), None), false),
            Exit::Unable
        );
    }

    #[test]
    fn a_target_on_which_nothing_worked_is_no_mere_doubt() {
        let stopped = report(Some(Verdict::Inconclusive), Some("every baseline failed"));
        let doubtful = report(Some(Verdict::Inconclusive), None);
        assert_eq!(Exit::of(&stopped, false), Exit::Unable);
        assert_eq!(Exit::of(&doubtful, false), Exit::Inconclusive);
    }

    #[test]
    fn a_run_that_was_stopped_keeps_its_failures_and_loses_its_pass() {
        let failed = report(Some(Verdict::Fail), Some("connection lost"));
        let passed = report(Some(Verdict::Pass), Some("connection lost"));
        assert_eq!(Exit::of(&failed, false), Exit::Failed);
        assert_eq!(Exit::of(&passed, false), Exit::Inconclusive);
    }
}
