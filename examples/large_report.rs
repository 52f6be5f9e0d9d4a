//! How long a report of 10,000 checks takes in every format, and the most memory that the process
//! has meanwhile. As in a run, the report is in memory once, and of the texts one at a time.
//!
//! `cargo run --release --example large_report`; for a look at fewer checks, which says nothing of
//! times in a debug build: `cargo run --example large_report -- 400`.

#[path = "../tests/reports/sample.rs"]
#[allow(
    dead_code,
    reason = "it is shared with the tests, and not all of it is needed"
)]
mod sample;

use idemspec::grade::CaseReport;
use idemspec::promise::Level;
use idemspec::report::{Format, Options, render};
use idemspec::transcript::{Round, Transcript};
use idemspec::verdict::Verdict;
use std::io::Write;
use std::time::{Duration, Instant};

/// Checks, if no other number is given.
const CHECKS: usize = 10_000;
/// Checks of a case.
const CHECKS_OF_CASE: usize = 4;
/// All formats together are to take less.
const MOST_TIME: Duration = Duration::from_secs(5);
/// The process is to have less memory, in MB.
const MOST_MEMORY: u64 = 300;
/// Every so many cases, one fails.
const FAILS: usize = 12;
/// Requests of a round.
const REQUESTS: u32 = 6;
const BODY: &str = r#"{"id":"pay_e7b3909301464d00b8d7896a389a4a49","amount":2000,"currency":"EUR","status":"succeeded"}"#;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let checks = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let cases = checks.unwrap_or(CHECKS).div_ceil(CHECKS_OF_CASE);
    let mut report = sample::report();
    report.about.started = "2026-11-30T12:00:00Z".to_owned();
    report.about.again = "idemspec run payments.yaml".to_owned();
    report.scenarios = (0..cases).map(case).collect();
    writeln!(out, "the report itself: {} MB", peak())?;
    let mut whole = Duration::ZERO;
    for format in Format::ALL {
        let began = Instant::now();
        let text = render(&report, format, &Options::default());
        let took = began.elapsed();
        whole += took;
        writeln!(
            out,
            "{:9} {:6.2} s  {:7.1} MB",
            format.name(),
            took.as_secs_f64(),
            text.len() as f64 / 1e6
        )?;
    }
    let memory = peak();
    writeln!(
        out,
        "{} checks in all formats: {:.2} s, {memory} MB at the most (wanted: under {} s and {MOST_MEMORY} MB: {})",
        cases * CHECKS_OF_CASE,
        whole.as_secs_f64(),
        MOST_TIME.as_secs(),
        match (
            cfg!(debug_assertions),
            whole < MOST_TIME && memory < MOST_MEMORY
        ) {
            (true, _) => "a debug build does not tell",
            (false, true) => "met",
            (false, false) => "missed",
        }
    )
}

fn case(number: usize) -> CaseReport {
    let worst = match number % FAILS {
        0 => Verdict::Fail,
        1 => Verdict::Inconclusive,
        _ => Verdict::Pass,
    };
    let checks: [_; CHECKS_OF_CASE] = [
        ("effects-at-most", worst),
        ("one-resource", Verdict::Pass),
        ("same-response", Verdict::Pass),
        ("outcome", Verdict::Pass),
    ];
    let round = |number| Round {
        number,
        exchanges: (0..REQUESTS)
            .map(|copy| sample::exchange(copy, BODY))
            .collect(),
        ..Round::default()
    };
    CaseReport {
        findings: checks
            .into_iter()
            .map(|(id, verdict)| sample::finding("burst", id, verdict, Level::Must))
            .collect(),
        transcript: Transcript {
            rounds: vec![round(1), round(2)],
            ..Transcript::default()
        },
        ..sample::case(
            &format!("topic-{}/scenario", number / 50),
            Some(&format!("case-{number}")),
        )
    }
}

/// The most memory that the process has had, in MB, as Linux counts it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    kilobytes / 1024
}
