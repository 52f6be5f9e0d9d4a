//! One report in every format, with everything in it that a hostile target could send.

#[path = "reports/browser.rs"]
mod browser;
#[path = "reports/formats.rs"]
mod formats;
#[path = "reports/html.rs"]
mod html;
#[path = "reports/sample.rs"]
mod sample;

use idemspec::grade::{CaseReport, Report};
use idemspec::promise::Level;
use idemspec::report::console::{self, Detail, Look};
use idemspec::report::{Format, Options, junit, render};
use idemspec::verdict::Verdict;
use quick_junit::{NonSuccessKind, TestCaseStatus};
use sample::{HOSTILE, case, exchange, finding, report};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn junit_counts_what_the_report_counts() {
    let xml = render(&report(), Format::Junit, &Options::default());
    let read = parsed(&xml);
    assert_eq!(read.tests, 6);
    assert_eq!(read.failures, 1);
    assert_eq!(read.errors, 2);
    let skipped = skipped(&read);
    assert_eq!(skipped, 1);
    let suites: Vec<&str> = read
        .test_suites
        .iter()
        .map(|suite| suite.name.as_str())
        .collect();
    assert_eq!(
        suites,
        ["create-payment/race/burst", "create-payment/lost/response"],
        "the cases of a scenario share a suite"
    );
}

#[test]
fn junit_names_a_case_as_the_finding_and_says_why_it_failed() {
    let xml = render(&report(), Format::Junit, &Options::default());
    let read = parsed(&xml);
    let failed = &read.test_suites[0].test_cases[0];
    assert_eq!(
        failed.name.as_str(),
        "create-payment/race/burst/item-5/effects-at-most"
    );
    let TestCaseStatus::NonSuccess {
        kind: NonSuccessKind::Failure,
        message: Some(message),
        ty: Some(severity),
        description: Some(body),
        ..
    } = &failed.status
    else {
        panic!("{:?}", failed.status);
    };
    assert_eq!(severity.as_str(), "critical");
    assert!(message.as_str().starts_with("2 requests made 2 effects"));
    assert!(body.as_str().contains("2 effects: pay_1, pay_2"));
    assert!(
        body.as_str()
            .contains("POST http://127.0.0.1:8080/payments")
    );
    assert!(
        body.as_str().contains("bytes in all"),
        "huge bodies are cut"
    );
    assert!(xml.len() < 40_000, "{} bytes", xml.len());
    assert!(failed.properties.is_empty(), "no schema knows them here");
    for fact in ["item: item-5\n", "severity: critical\n", "seed: 0\n"] {
        assert!(body.as_str().contains(fact), "{fact}: {}", body.as_str());
    }
    let properties: Vec<(&str, &str)> = read.test_suites[0]
        .properties
        .iter()
        .map(|property| (property.name.as_str(), property.value.as_str()))
        .collect();
    for fact in [
        ("item", "item-5"),
        ("severity", "critical"),
        ("level", "must"),
        ("key", "burst-key"),
        ("seed", "0"),
    ] {
        assert!(properties.contains(&fact), "{fact:?}: {properties:?}");
    }
    assert_eq!(failed.time, Some(Duration::from_millis(30)));
    assert_eq!(read.test_suites[0].time, Some(Duration::from_millis(30)));
}

#[test]
fn junit_keeps_to_the_schemas_of_jenkins_and_surefire() {
    for options in every_option() {
        let xml = render(&report(), Format::Junit, &options);
        let all = xml.lines().find(|line| line.contains("<testsuites "));
        assert!(!all.expect("the root").contains("skipped="));
        for case in xml.split("<testcase ").skip(1) {
            let (tag, rest) = case.split_once('>').expect("a whole tag");
            assert!(tag.contains(" time=\""), "{tag}");
            let inside = rest.split("</testcase>").next().unwrap_or_default();
            assert!(!inside.contains("<properties>"), "{inside}");
        }
        let suites = parsed(&xml).test_suites;
        let names: Vec<_> = suites.iter().flat_map(|suite| &suite.test_cases).collect();
        let unique: BTreeSet<&str> = names.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(unique.len(), names.len());
    }
}

#[test]
fn junit_holds_no_character_that_xml_forbids() {
    for options in every_option() {
        let xml = render(&report(), Format::Junit, &options);
        let legal = |c: char| c == '\n' || !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
        assert!(xml.chars().all(legal));
        parsed(&xml);
    }
}

#[test]
fn a_broken_should_is_a_warning_unless_strict() {
    let status = |strict| {
        let options = Options {
            strict,
            ..Options::default()
        };
        let xml = render(&report(), Format::Junit, &options);
        let read = parsed(&xml);
        read.test_suites[0].test_cases[1].clone()
    };
    let lenient = status(false);
    assert!(matches!(lenient.status, TestCaseStatus::Success { .. }));
    let out = lenient.system_out.expect("the warning");
    assert!(
        out.as_str().starts_with("warning: no Retry-After"),
        "{out:?}"
    );
    let strict = status(true).status;
    assert!(matches!(
        strict,
        TestCaseStatus::NonSuccess {
            kind: NonSuccessKind::Failure,
            ..
        }
    ));
}

#[test]
fn inconclusive_is_an_error_a_skip_or_a_failure_but_never_a_pass() {
    let counts = |inconclusive| {
        let options = Options {
            inconclusive,
            ..Options::default()
        };
        let xml = render(&report(), Format::Junit, &options);
        let read = parsed(&xml);
        let skipped = skipped(&read);
        (read.errors, skipped, read.failures)
    };
    assert_eq!(counts(junit::Inconclusive::Error), (2, 1, 1));
    assert_eq!(counts(junit::Inconclusive::Skip), (0, 3, 1));
    assert_eq!(counts(junit::Inconclusive::Fail), (0, 1, 3));
}

#[test]
fn a_run_that_could_not_work_is_one_error_and_no_pass() {
    for stopped in [Some("connection refused".to_owned()), None] {
        let mut report = report();
        report.scenarios.clear();
        report.verdict = None;
        report.about.stopped = stopped;
        let xml = render(&report, Format::Junit, &Options::default());
        let read = parsed(&xml);
        assert_eq!((read.tests, read.errors), (1, 1));
        assert_eq!(read.test_suites[0].name.as_str(), "target");
        assert!(last_line(&report).contains("Nothing ran"));
    }
}

#[test]
fn a_run_that_was_stopped_keeps_what_it_found_and_says_so() {
    let mut report = report();
    report.about.stopped = Some("the budget of requests is used up".to_owned());
    let read = parsed(&render(&report, Format::Junit, &Options::default()));
    assert_eq!((read.tests, read.failures, read.errors), (7, 1, 3));
    assert!(last_line(&report).starts_with("Stopped: the budget of requests is used up; Failed:"));
}

#[test]
fn json_holds_everything_under_names_that_read_well() {
    let text = render(&report(), Format::Json, &Options::default());
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let at = |pointer: &str| json.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!(at("/about/format"), 1);
    assert_eq!(at("/verdict"), "fail");
    assert_eq!(at("/checklist/0/item"), "item-5");
    assert_eq!(at("/checklist/0/grade"), "broken");
    let case = "/scenarios/0";
    assert_eq!(
        at(&format!("{case}/findings/0/name")),
        "create-payment/race/burst/item-5/effects-at-most"
    );
    let exchange = format!("{case}/rounds/0/exchanges/0");
    assert_eq!(at(&format!("{exchange}/micros/sent")), 1_000_000);
    assert_eq!(at(&format!("{exchange}/outcome/0")), "executed");
    assert_eq!(at(&format!("{exchange}/response/status")), 201);
    assert_eq!(at(&format!("{exchange}/response/headers/0/1")), HOSTILE);
}

#[test]
fn the_console_without_colour_writes_no_control_character() {
    for detail in [Detail::Quiet, Detail::Normal, Detail::Verbose] {
        for width in [0, 60, 80, 200] {
            let text = console::render(
                &report(),
                &Look {
                    color: false,
                    width,
                    detail,
                },
            );
            let odd = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(odd, None, "{detail:?} {width}");
            assert!(!text.contains('\u{202e}'));
        }
    }
}

#[test]
fn with_colour_only_our_own_escapes_are_written() {
    let text = console::render(
        &report(),
        &Look {
            color: true,
            width: 120,
            detail: Detail::Normal,
        },
    );
    assert!(text.contains("\u{1b}["));
    assert!(!text.contains("\u{1b}]0;title"));
    assert!(!text.contains("\u{1b}[31mred"));
    assert!(text.contains("␛[31mred"));
}

#[test]
fn quiet_is_one_line() {
    let text = console::render(
        &report(),
        &Look {
            color: false,
            width: 80,
            detail: Detail::Quiet,
        },
    );
    assert_eq!(
        text,
        "Failed: 1 failed, 1 warning, 1 passed, 2 inconclusive, 1 skipped; \
         1 of 2 items only partly shown\n"
    );
}

#[test]
fn the_console_puts_the_gravest_first_and_the_verdict_last() {
    let text = render(&report(), Format::Console, &Options::default());
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("{part} is not in\n{text}"))
    };
    assert!(place("effects cannot be counted") < place("operation"));
    assert!(place("critical: Requests with one key") < place("The checklist"));
    assert!(place("2 requests made 2 effects") < place("no Retry-After"));
    place("why it matters: Between check and write");
    place("round 2:");
    place("2 effects: pay_1, pay_2");
    place("burst-key");
    place("only partly shown");
    place("409 ×12");
    assert!(last_line(&report()).starts_with("Failed: 1 failed"));
}

#[test]
fn cases_that_went_alike_share_a_line_unless_all_is_wanted() {
    let mut report = report();
    for name in ["closed", "gave-up"] {
        report.scenarios.push(CaseReport {
            findings: vec![finding("burst", "one-resource", Verdict::Pass, Level::Must)],
            ..case("lost/response", Some(name))
        });
    }
    let text = |verbose| {
        let options = Options {
            verbose,
            ..Options::default()
        };
        render(&report, Format::Console, &options)
    };
    assert!(text(false).contains("lost/response (2 of 4 cases)"));
    assert!(text(false).contains("2 held"));
    assert!(text(false).contains("lost/response#stream-reset"));
    assert!(text(true).contains("lost/response#gave-up"));
}

#[test]
fn a_burst_of_many_is_shown_in_part_unless_all_is_wanted() {
    let mut report = report();
    let round = &mut report.scenarios[0].transcript.rounds[1];
    for copy in 2..50 {
        round.exchanges.push(exchange(copy, "{}"));
    }
    let text = |verbose| {
        let options = Options {
            verbose,
            ..Options::default()
        };
        render(&report, Format::Console, &options)
    };
    assert!(text(false).contains("and 38 more requests"));
    assert!(!text(true).contains("more requests"));
}

fn parsed(xml: &str) -> quick_junit::Report {
    quick_junit::Report::deserialize_from_str(xml).expect("it is JUnit XML")
}

fn skipped(report: &quick_junit::Report) -> usize {
    let cases = report
        .test_suites
        .iter()
        .flat_map(|suite| &suite.test_cases);
    cases
        .filter(|case| matches!(case.status, TestCaseStatus::Skipped { .. }))
        .count()
}

fn last_line(report: &Report) -> String {
    let text = render(report, Format::Console, &Options::default());
    text.lines().last().unwrap_or_default().to_owned()
}

fn every_option() -> Vec<Options> {
    let mut all = Vec::new();
    for inconclusive in [
        junit::Inconclusive::Error,
        junit::Inconclusive::Skip,
        junit::Inconclusive::Fail,
    ] {
        for strict in [false, true] {
            all.push(Options {
                inconclusive,
                strict,
                verbose: strict,
            });
        }
    }
    all
}
