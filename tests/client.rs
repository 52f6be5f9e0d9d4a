//! The demo client with each of its habits: a mistake breaks exactly the expectations that its row
//! names, and a habit that is none breaks nothing.

use idemspec::cli::client::builtin::{habit_report, is_about_time, telling};
use idemspec::demo_client::Habit;
use idemspec::grade::Report;
use idemspec::verdict::Verdict;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Commands of one audit that run at once.
const JOBS: usize = 4;

async fn report(habit: Habit) -> Report {
    let program = Path::new(env!("CARGO_BIN_EXE_idemspec"));
    let silent = Box::new(|_: &str, _, _| {}) as Box<dyn Fn(&str, usize, usize) + Send + Sync>;
    habit_report(program, habit, &telling(habit), JOBS, &silent)
        .await
        .unwrap_or_else(|failure| panic!("{}: {failure}", habit.name()))
}

async fn breaks_what_its_row_says(habit: Habit) {
    let report = report(habit).await;
    assert_eq!(report.about.stopped, None, "{}", habit.name());
    let mut found = 0;
    let mut shown = 0;
    for finding in report.scenarios.iter().flat_map(|case| &case.findings) {
        let name = finding.name.split_once('/').map_or("", |(_, name)| name);
        let says = format!("{}: {name}: {}", habit.name(), finding.reason);
        match finding.verdict {
            Verdict::Fail => {
                assert!(habit.does_break(name), "{says}");
                found += 1;
            }
            Verdict::Pass => {
                assert!(!habit.does_break(name), "missed: {says}");
                shown += 1;
            }
            Verdict::Inconclusive if is_about_time(name) => found += 1,
            Verdict::Inconclusive | Verdict::Skip => {
                assert!(!habit.does_break(name), "not shown: {says}");
            }
        }
    }
    assert!(shown > 0, "{} passes nothing", habit.name());
    assert!(!habit.is_mistake() || found > 0, "{}", habit.name());
}

#[test]
fn each_habit_breaks_what_its_row_says_and_nothing_else() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (early, late) = Habit::ALL.split_at(Habit::ALL.len() / 2);
        for some in [early, late] {
            let all = some.iter().map(|habit| breaks_what_its_row_says(*habit));
            futures::future::join_all(all).await;
        }
    });
}

#[test]
fn a_key_that_was_kept_on_disk_survives_the_end_of_the_client() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let report = runtime.block_on(report(Habit::KeepsKeyOnDisk));
    let survives = report
        .scenarios
        .iter()
        .flat_map(|case| &case.findings)
        .find(|finding| finding.id == "key-survives")
        .expect("it is among the scenarios");
    assert_eq!(survives.verdict, Verdict::Pass, "{}", survives.reason);
}

/// The findings of an audit that watches the demo client with a habit, started elsewhere.
fn watched(habit: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let target = "target: T\nbase-url: http://127.0.0.1:1\nkey: Idempotency-Key\nclient: { patience: 1s }\noperations:\n  pay: { request: { method: POST, path: /payments, json: {} } }\n";
    std::fs::write(folder.path().join("t.yaml"), target).expect("it is written");
    let mut audit = Command::new(env!("CARGO_BIN_EXE_idemspec"));
    audit.current_dir(folder.path());
    audit.args(["client", "--target", "t.yaml", "--for", "6s", "-q"]);
    audit.args(["--scenario", "client/lost", "--scenario", "client/restart"]);
    audit.args(["--scenario", "client/refused", "--report", "json=r.json"]);
    audit.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut audit = audit.spawn().expect("it runs");
    let mut said = BufReader::new(audit.stderr.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says where it is");
    let url = line
        .split([' ', ','])
        .find(|word| word.starts_with("http:"));
    let url = url.unwrap_or_else(|| panic!("{line}"));
    // Until nobody listens any more.
    for _ in 0..12 {
        let mut client = Command::new(env!("CARGO_BIN_EXE_idemspec"));
        client.args(["demo-client", habit]).env("IDEMSPEC_URL", url);
        client.output().expect("it runs");
    }
    audit.wait().expect("it ends");
    let text = std::fs::read_to_string(folder.path().join("r.json"));
    serde_json::from_str(&text.expect("it was written")).expect("it is JSON")
}

#[test]
fn clients_that_were_started_elsewhere_are_judged_as_far_as_they_can_be() {
    let habits = ["correct", "new-key-per-attempt"];
    let [right, wrong] = habits.map(|habit| std::thread::spawn(move || watched(habit)));
    let findings = |report: &Value| {
        let cases = report["scenarios"].as_array().expect("a list").clone();
        let all = cases
            .iter()
            .flat_map(|case| case["findings"].as_array().expect("a list").clone());
        all.collect::<Vec<_>>()
    };
    let right = right.join().expect("it ends");
    let passes = findings(&right)
        .iter()
        .filter(|finding| finding["verdict"] == "pass")
        .count();
    assert!(passes > 0, "{}", right["headlines"]);
    for finding in findings(&right) {
        assert_ne!(finding["verdict"], "fail", "{finding}");
        if finding["id"] == "key-survives" {
            assert_eq!(finding["verdict"], "skip", "it needs a command");
        }
    }
    // Its requests are alike and have a key each: whether they are one operation cannot be told.
    for finding in findings(&wrong.join().expect("it ends")) {
        assert_ne!(finding["verdict"], "fail", "{finding}");
        if finding["id"] == "same-key" {
            assert_eq!(finding["verdict"], "inconclusive", "{finding}");
        }
    }
}
