//! Each item of the checklist reaches each of the three clear grades on the demo: met where it is right,
//! broken where a flaw is planted, not shown where nothing could be tried. The first item is a client's,
//! and the demo client shows it.

use idemspec::checklist::ItemId;
use idemspec::cli::args::Selection;
use idemspec::cli::client::builtin::habit_report;
use idemspec::cli::progress::Callback;
use idemspec::cli::run::Trial;
use idemspec::demo::{Flaw, Options};
use idemspec::demo_client::Habit;
use idemspec::grade::{Grade, Report};
use idemspec::judge::Documented;
use idemspec::report::console::{self, Detail, Look};
use idemspec::report::{html, json, markdown};
use std::path::Path;
use std::time::Duration;

/// The futures of whole runs are large without optimization: a thread with room for them.
fn with_room<F: Future<Output = ()> + 'static>(work: fn() -> F) {
    const ROOM: usize = 16 << 20;
    let run = move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_stack_size(ROOM)
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(work());
    };
    let thread = std::thread::Builder::new().stack_size(ROOM).spawn(run);
    let done = thread.expect("a thread").join();
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// What shows an item: a case, the operation on which it can be tried, one on which it cannot, and a
/// flaw that breaks it.
const SHOWN_BY: [(&str, &str, &str, &str, Flaw); 8] = [
    (
        "item-2",
        "scope/fresh-key",
        "create-payment",
        "put-mandate",
        Flaw::GuessesIntentFromPayload,
    ),
    (
        "item-3",
        "payload/changed#value",
        "create-payment",
        "put-mandate",
        Flaw::StoresNoFingerprint,
    ),
    (
        "item-4",
        "scope/other-operation#operation",
        "create-payment",
        "put-mandate",
        Flaw::SharesKeysBetweenOperations,
    ),
    (
        "item-5",
        "replay/exact#plain",
        "create-payment",
        "put-mandate",
        Flaw::IgnoresKeys,
    ),
    (
        "item-6",
        "auth/credentials#none",
        "create-payment",
        "put-mandate",
        Flaw::LooksUpBeforeAuthentication,
    ),
    (
        "item-7",
        "failure/refused#invalid",
        "create-payment",
        "put-mandate",
        Flaw::StoresValidationFailures,
    ),
    (
        "item-8",
        "consumer/forged#wrong",
        "receive-notice",
        "put-mandate",
        Flaw::TakesUnsignedNotices,
    ),
    (
        "item-9",
        "lookup/strangers#key",
        "create-payment",
        "put-mandate",
        Flaw::IndexesKeysLate,
    ),
];

/// One case on one operation of a demo.
fn trial(case: &str, operation: &str, flaw: Option<Flaw>) -> Trial {
    Trial {
        options: Options {
            flaws: flaw.into(),
            work: Duration::from_millis(20),
            ..Options::default()
        },
        selection: Selection {
            scenario: vec![case.to_owned()],
            operation: vec![operation.to_owned()],
            ..Selection::default()
        },
        ..Trial::default()
    }
}

async fn grade(item: &str, case: &str, operation: &str, flaw: Option<Flaw>) -> Grade {
    let trial = trial(case, operation, flaw);
    graded(
        &Box::pin(trial.report()).await.expect("the demo runs"),
        item,
    )
}

fn graded(report: &Report, item: &str) -> Grade {
    let wanted = ItemId::from_name(item).expect("an item");
    let graded = report.checklist.iter().find(|graded| graded.item == wanted);
    graded.expect("all nine are graded").grade
}

/// The grade of the first item that the demo client gets in one case.
async fn grade_of_client(case: &str, habit: Habit) -> Grade {
    let selection = Selection {
        scenario: vec![case.to_owned()],
        ..Selection::default()
    };
    let program = Path::new(env!("CARGO_BIN_EXE_idemspec"));
    let silent: Callback = Box::new(|_, _, _| {});
    let report = Box::pin(habit_report(program, habit, &selection, 1, &silent)).await;
    graded(&report.expect("the demo client runs"), "item-1")
}

#[test]
fn the_first_item_is_met_broken_and_not_shown_by_the_demo_client() {
    with_room(try_the_demo_client);
}

async fn try_the_demo_client() {
    for (habit, grade) in [
        (Habit::Correct, Grade::Met),
        (Habit::SendsNewKeyPerAttempt, Grade::Broken),
        (Habit::NeverRetries, Grade::NotShown),
    ] {
        let shown = grade_of_client("client/in-progress", habit).await;
        assert_eq!(shown, grade, "{}", habit.name());
    }
}

#[test]
fn each_item_is_met_broken_and_not_shown_somewhere() {
    with_room(try_each_item);
}

async fn try_each_item() {
    for (item, case, operation, other, flaw) in SHOWN_BY {
        assert_eq!(
            grade(item, case, operation, None).await,
            Grade::Met,
            "{item}"
        );
        let case = match flaw {
            Flaw::IndexesKeysLate => "lookup/after-loss#key",
            _ => case,
        };
        assert_eq!(
            grade(item, case, operation, Some(flaw)).await,
            Grade::Broken,
            "{item}"
        );
        assert_eq!(
            grade(item, case, other, None).await,
            Grade::NotShown,
            "{item}"
        );
    }
}

/// What the documents of a demo say, held against it.
async fn documented(flaw: Option<Flaw>) -> Report {
    let trial = trial("run/documents", "create-payment", flaw);
    Box::pin(trial.report()).await.expect("the demo runs")
}

#[test]
fn a_statement_of_the_documents_has_one_of_four_grades_in_every_report() {
    with_room(try_each_grade_of_a_statement);
}

async fn try_each_grade_of_a_statement() {
    let words = [
        (None, "status 409", Documented::True, "documented and true"),
        // Nothing waits for the retention here.
        (None, "retention", Documented::NotShown, "not shown"),
        (
            Some(Flaw::DocumentsKeyElsewhere),
            "key",
            Documented::False,
            "documented and false",
        ),
        (
            Some(Flaw::DocumentsNoConflict),
            "status 409",
            Documented::Undocumented,
            "undocumented but observed",
        ),
    ];
    for (flaw, about, grade, word) in words {
        let report = documented(flaw).await;
        let mut statements = report.documents.statements.iter();
        let statement = statements.find(|statement| statement.about == about);
        let shown = statement.map(|statement| statement.grade);
        assert_eq!(shown, Some(grade), "{about}: {statement:?}");
        assert_eq!(
            report.documents.keyless,
            ["POST /redemptions", "POST /orders"]
        );
        let look = Look {
            color: false,
            width: 200,
            detail: Detail::Normal,
        };
        let keyless = "declare no key: POST /redemptions, POST /orders";
        for text in [console::render(&report, &look), html::render(&report)] {
            assert!(text.contains(word) && text.contains(keyless), "{text}");
        }
        let comment = markdown::render(&report);
        assert!(comment.contains(word) && comment.contains("POST /orders"));
        let written = serde_json::to_value(grade).expect("it is a word");
        let written = format!("\"about\":\"{about}\",\"grade\":{written}");
        assert!(json::render(&report).contains(&written), "{written}");
    }
}
