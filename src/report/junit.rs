//! JUnit XML: a suite for each operation and scenario, a case for each finding. A round is no
//! case of its own, so the names are the same in every run.
//!
//! It keeps to the schemas of Jenkins (`junit-10.xsd` of its xunit plugin) and of Surefire
//! (`surefire-test-report-3.0.xsd`, each suite by itself): neither knows properties of a case, so they
//! stand at the suite, and at the head of the evidence of each case that fails.

use super::Options;
use super::clean::{line, shorten};
use super::entry::{Entry, Standing, entries, severity};
use super::evidence;
use crate::grade::{CaseReport, Report};
use crate::judge::Finding;
use crate::promise::Level;
use crate::target_check::{CheckedLine, Mark};
use crate::transcript::Transcript;
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// Characters in a line of evidence.
const WIDTH: u16 = 160;
/// Characters of a key.
const MOST_KEY: usize = 200;

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
        xml.add_test_suite(suite(&cases, report.about.seed, options));
    }
    let text = xml.to_string().expect("every character of it is legal XML");
    without_sum_of_skipped(&text)
}

/// Jenkins' schema wants that number of suites only.
fn without_sum_of_skipped(xml: &str) -> String {
    let is_of_all = |line: &str| line.trim_start().starts_with("<testsuites ");
    let mut text = String::with_capacity(xml.len());
    for line in xml.split_inclusive('\n') {
        match line.split_once(" skipped=\"") {
            Some((before, after)) if is_of_all(line) => {
                text.push_str(before);
                text.push_str(after.split_once('"').map_or("", |(_, rest)| rest));
            }
            _ => text.push_str(line),
        }
    }
    text
}

/// The suite about the target file and the run itself, so that an empty report is never green.
fn target_suite(report: &Report) -> Option<TestSuite> {
    let mut suite = TestSuite::new("target");
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for checked in &report.about.check {
        let mut case = checked_case(checked);
        // Runs that were joined can be of two files.
        if let (true, Some(place)) = (taken.contains(case.name.as_str()), &checked.place) {
            case.name = name(&format!("{} ({place})", case.name.as_str())).into();
        }
        taken.insert(case.name.as_str().to_owned());
        suite.add_test_case(case);
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
        case.set_classname("target").set_time(Duration::ZERO);
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
    case.set_classname("target").set_time(Duration::ZERO);
    let place = checked.place.as_ref().map(|place| line(place));
    match (checked.mark, place) {
        (Mark::Wrong, Some(place)) => {
            case.set_system_out(format!("{place}: warning: {says}"));
        }
        (Mark::Wrong, None) => {
            case.set_system_out(format!("warning: {says}"));
        }
        (_, Some(place)) => {
            case.set_system_out(place);
        }
        (_, None) => {}
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

fn suite(cases: &[&CaseReport], seed: u64, options: &Options) -> TestSuite {
    let first = cases[0];
    let mut suite = TestSuite::new(name(&format!("{}/{}", first.operation, first.scenario)));
    suite.add_property(Property::new("operation", line(&first.operation)));
    suite.add_property(Property::new("scenario", line(&first.scenario)));
    suite.add_property(Property::new("title", line(&first.title)));
    let mut properties: Vec<(&str, String)> = Vec::new();
    for case in cases {
        let facts = case.findings.iter().flat_map(|own| facts(case, own));
        for fact in facts.chain([("seed", seed.to_string())]) {
            if !properties.contains(&fact) {
                properties.push(fact);
            }
        }
    }
    properties.sort_by_key(|(name, _)| *name);
    for (name, value) in properties {
        suite.add_property(Property::new(name, value));
    }
    let mut total = None;
    for case in cases {
        let time = time(&case.transcript);
        for (index, entry) in entries(case).iter().enumerate() {
            let mut test = test_case(entry, seed, options);
            // The findings of a case share its requests; the first bears the time, so that the
            // times of a suite add up.
            let own = time.filter(|_| index == 0);
            test.set_time(own.unwrap_or(Duration::ZERO));
            if let Some(time) = own {
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

fn test_case(entry: &Entry<'_>, seed: u64, options: &Options) -> TestCase {
    let status = status(entry, seed, options);
    let warning =
        entry.standing == Standing::Warn && matches!(status, TestCaseStatus::Success { .. });
    let mut test = TestCase::new(name(&entry.name()), status);
    test.set_classname(name(&format!(
        "{}.{}",
        entry.case.operation,
        entry.case.scenario.replace('/', ".")
    )));
    if warning {
        test.set_system_out(format!(
            "warning: {}\n\n{}",
            line(entry.reason()),
            proof(entry, seed)
        ));
    }
    test
}

/// What a program may want to know of a finding: the key of the first request that it points to, and
/// how many requests of a burst ran at once.
fn facts(case: &CaseReport, finding: &Finding) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("item", finding.item.to_string()),
        ("severity", severity(finding.severity).to_owned()),
        ("level", level(finding.level).to_owned()),
    ];
    let Some(round) = evidence::round(case, finding) else {
        return facts;
    };
    let exchange = evidence::pointed_at(round, finding)
        .first()
        .and_then(|place| round.exchanges.get(*place))
        .or(round.exchanges.first());
    if let Some(key) = exchange.and_then(|exchange| exchange.key.value.as_ref()) {
        facts.push(("key", shorten(key, MOST_KEY)));
    }
    let bursts = round.bursts.iter();
    if let Some(burst) = bursts.max_by_key(|burst| burst.in_flight) {
        facts.push((
            "overlap",
            format!("{} of {} at once", burst.in_flight, burst.copies),
        ));
    }
    facts
}

fn status(entry: &Entry<'_>, seed: u64, options: &Options) -> TestCaseStatus {
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
        let proof = proof(entry, seed);
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

fn proof(entry: &Entry<'_>, seed: u64) -> String {
    let Some(finding) = entry.finding else {
        return String::new();
    };
    let mut text = String::new();
    for (name, value) in facts(entry.case, finding) {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "{name}: {value}");
    }
    let _ = writeln!(text, "seed: {seed}\n");
    text.push_str(&evidence::text(entry.case, finding, WIDTH));
    text
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
