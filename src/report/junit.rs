//! JUnit XML: a suite for each operation and scenario, a case for each finding. A round is no
//! case of its own, so the names are the same in every run.

use super::Options;
use super::clean::line;
use super::entry::{Entry, Standing, entries, severity};
use super::evidence;
use crate::grade::{CaseReport, Report};
use crate::promise::Level;
use crate::target_check::{CheckedLine, Mark};
use crate::transcript::Transcript;
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// Characters in a line of evidence.
const WIDTH: u16 = 160;

/// What becomes of an inconclusive finding, as JUnit knows no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inconclusive {
    /// An `<error>`: seen, and told apart from a failure.
    #[default]
    Error,
    /// A `<skipped>`.
    Skip,
    /// A `<failure>`.
    Fail,
}

/// The report as JUnit XML.
pub fn render(report: &Report, options: &Options) -> String {
    let mut xml = quick_junit::Report::new(name(&report.about.target));
    xml.set_time(Duration::from_micros(report.about.took_micros));
    if let Some(suite) = target_suite(report) {
        xml.add_test_suite(suite);
    }
    for cases in by_suite(&report.scenarios) {
        xml.add_test_suite(suite(&cases, options));
    }
    xml.to_string().expect("every character of it is legal XML")
}

/// The suite about the target file and the run itself, so that an empty report is never green.
fn target_suite(report: &Report) -> Option<TestSuite> {
    let mut suite = TestSuite::new("target");
    for checked in &report.about.check {
        suite.add_test_case(checked_case(checked));
    }
    let is_said = report
        .about
        .check
        .iter()
        .any(|line| matches!(line.mark, Mark::Useless | Mark::Unreachable));
    let why = match &report.about.stopped {
        Some(_) if is_said => None,
        Some(why) => Some(line(why).into_owned()),
        None if report.scenarios.is_empty() => Some("nothing ran".to_owned()),
        None => None,
    };
    if let Some(why) = why {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("run").set_message(why);
        let mut case = TestCase::new("the run came to its end", status);
        case.set_classname("target");
        suite.add_test_case(case);
    }
    (!suite.test_cases.is_empty()).then_some(suite)
}

/// One line of the target file; what does not keep the rest from being shown is a warning.
fn checked_case(checked: &CheckedLine) -> TestCase {
    let says = match &checked.help {
        Some(help) => format!("{} ({help})", checked.says),
        None => checked.says.clone(),
    };
    let says = line(&says);
    let mut status = match checked.mark {
        Mark::Right | Mark::Wrong => TestCaseStatus::success(),
        Mark::NotChecked => TestCaseStatus::skipped(),
        Mark::Useless | Mark::Unreachable => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    if !matches!(checked.mark, Mark::Right | Mark::Wrong) {
        status.set_message(says.clone());
    }
    let of = match checked.operation.as_str() {
        "" => checked.name.clone(),
        operation => format!("{operation}/{}", checked.name),
    };
    let mut case = TestCase::new(name(&of), status);
    case.set_classname("target");
    if checked.mark == Mark::Wrong {
        case.set_system_out(format!("warning: {says}"));
    }
    if let Some(place) = &checked.place {
        case.add_property(Property::new("place", line(place)));
    }
    case
}

/// The cases in the order of the report, those of one operation and scenario together.
fn by_suite(cases: &[CaseReport]) -> Vec<Vec<&CaseReport>> {
    let mut suites: Vec<Vec<&CaseReport>> = Vec::new();
    for case in cases {
        let suite = suites.iter_mut().find(|suite| {
            suite[0].operation == case.operation && suite[0].scenario == case.scenario
        });
        match suite {
            Some(suite) => suite.push(case),
            None => suites.push(vec![case]),
        }
    }
    suites
}

fn suite(cases: &[&CaseReport], options: &Options) -> TestSuite {
    let first = cases[0];
    let mut suite = TestSuite::new(name(&format!("{}/{}", first.operation, first.scenario)));
    suite.add_property(Property::new("operation", line(&first.operation)));
    suite.add_property(Property::new("scenario", line(&first.scenario)));
    suite.add_property(Property::new("title", line(&first.title)));
    let mut total = None;
    for case in cases {
        let time = time(&case.transcript);
        for (index, entry) in entries(case).iter().enumerate() {
            let mut test = test_case(entry, options);
            // The findings of a case share its requests; the first bears the time, so that the
            // times of a suite add up.
            if let (0, Some(time)) = (index, time) {
                test.set_time(time);
                total = Some(total.unwrap_or(Duration::ZERO) + time);
            }
            suite.add_test_case(test);
        }
    }
    if let Some(total) = total {
        suite.set_time(total);
    }
    suite
}

fn test_case(entry: &Entry<'_>, options: &Options) -> TestCase {
    let status = status(entry, options);
    let warning =
        entry.standing == Standing::Warn && matches!(status, TestCaseStatus::Success { .. });
    let mut test = TestCase::new(name(&entry.name()), status);
    test.set_classname(name(&format!(
        "{}.{}",
        entry.case.operation,
        entry.case.scenario.replace('/', ".")
    )));
    if let Some(finding) = entry.finding {
        test.add_property(Property::new("item", finding.item.to_string()));
        test.add_property(Property::new("severity", severity(finding.severity)));
        test.add_property(Property::new("level", level(finding.level)));
    }
    if warning {
        test.set_system_out(format!(
            "warning: {}\n\n{}",
            line(entry.reason()),
            proof(entry)
        ));
    }
    test
}

fn status(entry: &Entry<'_>, options: &Options) -> TestCaseStatus {
    let kind = match (entry.standing, options.inconclusive) {
        (Standing::Pass, _) => return TestCaseStatus::success(),
        (Standing::Warn, _) if !fails_when_strict(entry, options) => {
            return TestCaseStatus::success();
        }
        (Standing::Fail | Standing::Warn, _) | (Standing::Inconclusive, Inconclusive::Fail) => {
            Some(NonSuccessKind::Failure)
        }
        (Standing::Inconclusive, Inconclusive::Error) => Some(NonSuccessKind::Error),
        (Standing::Inconclusive, Inconclusive::Skip) | (Standing::Skip | Standing::Known, _) => {
            None
        }
    };
    let mut status = match kind {
        Some(kind) => TestCaseStatus::non_success(kind),
        None => TestCaseStatus::skipped(),
    };
    let known = entry
        .finding
        .and_then(|finding| entry.case.known.get(&finding.id));
    status.set_message(match known {
        Some(why) => format!("known to fail ({}): {}", line(why), line(entry.reason())),
        None => line(entry.reason()).into_owned(),
    });
    if kind.is_some() {
        let word = match entry.standing {
            Standing::Inconclusive => "inconclusive",
            _ => severity(
                entry
                    .finding
                    .map_or(entry.case.severity, |finding| finding.severity),
            ),
        };
        status.set_type(word);
        let proof = proof(entry);
        if !proof.is_empty() {
            status.set_description(proof);
        }
    }
    status
}

/// A broken `should` fails when strict; a note never does.
fn fails_when_strict(entry: &Entry<'_>, options: &Options) -> bool {
    options.strict
        && entry
            .finding
            .is_some_and(|finding| finding.level == Level::Should)
}

fn proof(entry: &Entry<'_>) -> String {
    entry
        .finding
        .map(|finding| evidence::text(entry.case, finding, WIDTH))
        .unwrap_or_default()
}

/// How long the requests of a case took, over all rounds; `None` where there were none.
fn time(transcript: &Transcript) -> Option<Duration> {
    let mut total = None;
    for round in &transcript.rounds {
        let times = || round.exchanges.iter().map(|exchange| exchange.times);
        let start = times().map(|times| times.sent.unwrap_or(times.ended)).min();
        let end = times().map(|times| times.ended).max();
        if let (Some(start), Some(end)) = (start, end) {
            total = Some(total.unwrap_or(Duration::ZERO) + end.saturating_sub(start));
        }
    }
    total
}

/// A name that is fit for an attribute, and never empty.
fn name(text: &str) -> String {
    let text = line(text);
    if text.trim().is_empty() {
        "unnamed".to_owned()
    } else {
        text.into_owned()
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Note => "note",
        Level::Should => "should",
        Level::Must => "must",
    }
}
