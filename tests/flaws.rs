//! The proof of the verdicts, as far as every change has to pass it: with a defect of the first tier
//! planted in the demo API, exactly the expectations that the defect breaks fail; without one, or with
//! another way to behave that is right, none does. `idemspec selftest` is the whole of it.

use idemspec::cli::args::Selection;
use idemspec::cli::progress::Callback;
use idemspec::cli::run::Trial;
use idemspec::cli::selftest::{SoFar, Subject, Tried, Wanted, everything, try_out};
use idemspec::contract::named;
use idemspec::demo::{Flaw, Flaws, Options, Tier};
use idemspec::promise::Level;
use idemspec::scenario::library;
use idemspec::verdict::Verdict;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use tokio::sync::Mutex;

/// Held by a test that runs demos: the demos of two tests would disturb each other's timing.
static MACHINE: Mutex<()> = Mutex::const_new(());

/// Variants that show the most of how policies differ, and take no long time.
const VARIANTS: [&str; 5] = [
    "lets-losers-wait",
    "replays-as-200",
    "refers-to-the-resource",
    "lets-the-key-alone-count",
    "refuses-expired-keys",
];

/// Every second of them: neighbours in the table are of one kind, and all would take too long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn common_flaws_break_exactly_what_they_say() {
    let mut common = 0;
    let chosen = |subject: &Subject| {
        common += usize::from(matches!(subject, Subject::Flawed(flaw) if flaw.tier() == Tier::One));
        matches!(subject, Subject::Flawed(flaw) if flaw.tier() == Tier::One) && common % 2 == 1
    };
    assert_right(chosen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variants_are_left_alone() {
    let chosen = |subject: &Subject| match subject {
        Subject::Allowed(variant) | Subject::Unpromised(variant) => {
            VARIANTS.contains(&variant.name)
        }
        _ => false,
    };
    assert_right(chosen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_correct_demo_is_clean() {
    assert_right(|subject| matches!(subject, Subject::Correct)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flaws_of_one_demo_are_caught_beside_each_other() {
    let _alone = MACHINE.lock().await;
    let planted = [
        Flaw::StoresNoFingerprint,
        Flaw::DropsLocation,
        Flaw::AcceptsMissingKey,
    ];
    let trial = Trial {
        options: Options {
            flaws: Flaws::plant(&planted).expect("they go together"),
            ..Options::default()
        },
        selection: Selection {
            scenario: ["payload/changed#value", "replay/exact#plain", "key/missing"]
                .map(str::to_owned)
                .to_vec(),
            operation: vec!["create-payment".to_owned()],
            ..Selection::default()
        },
        ..Trial::default()
    };
    let report = trial.report().await.expect("the demo runs");
    let failed: BTreeSet<&str> = report
        .scenarios
        .iter()
        .flat_map(|case| &case.findings)
        .filter(|finding| finding.verdict == Verdict::Fail)
        .map(|finding| finding.name.as_str())
        .collect();
    for caught in [
        "create-payment/payload/changed#value/item-3/keeps:mismatch",
        "create-payment/replay/exact#plain/item-5/same-response:again+later",
        "create-payment/key/missing/item-7/keeps:missing-key",
    ] {
        assert!(failed.contains(caught), "{caught} is not among {failed:#?}");
    }
}

/// Two conflicts that look alike break no invariant: only a contract that tells them apart fails them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conflicts_that_look_alike_are_a_warning_where_nothing_is_declared() {
    let _alone = MACHINE.lock().await;
    let trial = Trial {
        options: Options {
            flaws: Flaw::AnswersConflictsAlike.into(),
            ..Options::default()
        },
        selection: Selection {
            scenario: ["payload/changed#value", "payload/in-flight"]
                .map(str::to_owned)
                .to_vec(),
            operation: vec!["create-payment".to_owned()],
            ..Selection::default()
        },
        contract: Some(named("generic").expect("it is built in")),
        ..Trial::default()
    };
    let report = trial.report().await.expect("the demo runs");
    let failed: Vec<(&str, Level)> = report
        .scenarios
        .iter()
        .flat_map(|case| &case.findings)
        .filter(|finding| finding.verdict == Verdict::Fail)
        .map(|finding| (finding.name.as_str(), finding.level))
        .collect();
    assert_eq!(
        failed,
        [(
            "create-payment/payload/in-flight/item-7/tells-apart:changed-later+same",
            Level::Should
        )]
    );
    assert_eq!(report.verdict, Some(Verdict::Pass));
}

#[test]
fn each_scenario_catches_a_flaw() {
    let is_named = |id: &str| {
        let begins = |name: &str| {
            let name = name.split_once(':').map_or(name, |(operation, rest)| {
                if operation.contains('/') { name } else { rest }
            });
            name.strip_prefix(id)
                .is_some_and(|rest| rest.starts_with(['#', '/']))
        };
        Flaw::ALL
            .iter()
            .flat_map(|flaw| flaw.breaks())
            .any(|name| begins(name))
    };
    let idle: BTreeSet<String> = library::scenarios()
        .expect("the library is whole")
        .into_iter()
        .map(|scenario| scenario.id)
        .filter(|id| !is_named(id))
        .collect();
    assert!(idle.is_empty(), "{idle:?}");
}

/// Tries the chosen subjects, of which the tool must be right.
async fn assert_right(chosen: impl FnMut(&Subject) -> bool) {
    let _alone = MACHINE.lock().await;
    let wanted = Wanted {
        subjects: everything().into_iter().filter(chosen).collect(),
        full: false,
        times: 1,
        at_once: NonZeroUsize::new(4).expect("four is not zero"),
    };
    assert!(!wanted.subjects.is_empty());
    let silent: Callback = Box::new(|_, _, _| {});
    let so_far = SoFar::default();
    try_out(&wanted, &silent, &so_far).await;
    let tried = so_far.all();
    let wrong: Vec<String> = tried
        .iter()
        .filter(|one| !one.is_right())
        .map(Tried::complaints)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
