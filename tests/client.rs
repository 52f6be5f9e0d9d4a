//! The demo client with each of its habits: a mistake breaks exactly the expectations that its row
//! names, and a habit that is none breaks nothing.

use idemspec::cli::client::builtin::{habit_report, is_about_time, telling};
use idemspec::demo_client::Habit;
use idemspec::grade::Report;
use idemspec::verdict::Verdict;
use std::path::Path;

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
