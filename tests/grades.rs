//! Each item of the checklist that an API can keep reaches each of the three clear grades on the demo:
//! met where it is right, broken where a flaw is planted, not shown where nothing could be tried.

use idemspec::checklist::ItemId;
use idemspec::cli::args::Selection;
use idemspec::cli::run::Trial;
use idemspec::demo::{Flaw, Options};
use idemspec::grade::Grade;
use std::time::Duration;

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

async fn grade(item: &str, case: &str, operation: &str, flaw: Option<Flaw>) -> Grade {
    let trial = Trial {
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
    };
    let report = trial.report().await.expect("the demo runs");
    let wanted = ItemId::from_name(item).expect("an item");
    let graded = report.checklist.iter().find(|graded| graded.item == wanted);
    graded.expect("all nine are graded").grade
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_item_is_met_broken_and_not_shown_somewhere() {
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
