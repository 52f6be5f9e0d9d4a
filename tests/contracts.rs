//! The proof of the contracts: a demo that keeps one passes under it, and fails under another one
//! in exactly the promises in which the two differ.

use futures::StreamExt;
use idemspec::cli::args::Selection;
use idemspec::cli::matrix::{chosen, make};
use idemspec::cli::policy::{policy_of, retention_of};
use idemspec::cli::run::Trial;
use idemspec::contract::{PROFILES, chosen as by_file, named};
use idemspec::demo::Options;
use idemspec::grade::Report;
use idemspec::judge::Finding;
use idemspec::promise::Promise;
use idemspec::verdict::Verdict;
use idemspec::yaml::Source;
use std::collections::BTreeSet;
use std::time::Duration;

/// Cases that show most promises, and take no long time.
const SAMPLE: [&str; 8] = [
    "replay/exact#plain",
    "payload/changed#value",
    "payload/in-flight",
    "key/missing",
    "key/odd#one",
    "scope/other-operation#operation",
    "failure/error#heals",
    "race/during",
];

/// The same for a repeat of what was lost, where that is given its answer.
const LOST: &str = "lost/response#reset";

/// Demos that run at once. Most of a run is waiting.
const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demo_that_keeps_a_contract_passes_under_it() {
    let names = [
        "stripe-v1",
        "ietf-draft-07",
        "gocardless",
        "square",
        "brandur",
        "adyen",
    ];
    let wrong: Vec<String> = futures::stream::iter(names)
        .map(|name| async move {
            let report = report(name, name, &[&SAMPLE[..], &[LOST]].concat()).await;
            let bad = |finding: &&Finding| {
                matches!(finding.verdict, Verdict::Fail | Verdict::Inconclusive)
            };
            let passed = findings(&report)
                .filter(|finding| finding.verdict == Verdict::Pass)
                .count();
            assert!(passed > 20, "{name}: {passed} passed");
            findings(&report)
                .filter(bad)
                .map(|finding| format!("{name}: {}: {}", finding.name, finding.reason))
                .collect::<Vec<String>>()
        })
        .buffer_unordered(AT_ONCE)
        .collect::<Vec<Vec<String>>>()
        .await
        .concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_another_contract_it_fails_in_the_promises_that_differ() {
    use Promise::{
        AfterFailure, InProgress, Mismatch, MissingKey, OtherOperation, Replay, ReplayMarker,
    };
    let cases: [(&str, &str, &[Promise]); 3] = [
        (
            "stripe-v1",
            "demo",
            &[AfterFailure, ReplayMarker, MissingKey, OtherOperation],
        ),
        ("gocardless", "checkout", &[Replay]),
        (
            "brandur",
            "coinbase-cdp",
            &[InProgress, Mismatch, MissingKey],
        ),
    ];
    let ran: Vec<_> = futures::stream::iter(cases)
        .map(|(kept, graded, wanted)| async move {
            (kept, graded, wanted, report(kept, graded, &SAMPLE).await)
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut wrong = Vec::new();
    for (kept, graded, wanted, report) in ran {
        let broken: BTreeSet<&str> = findings(&report)
            .filter(|finding| finding.verdict == Verdict::Fail)
            .filter_map(|finding| finding.promise)
            .map(Promise::name)
            .collect();
        let wanted: BTreeSet<&str> = wanted.iter().map(|promise| promise.name()).collect();
        if broken != wanted {
            wrong.push(format!("{kept} under {graded}: {broken:?}, not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_a_few_contracts_is_told_from_the_others() {
    let names = [
        "demo",
        "oasis-repeatable-1.0",
        "redis-middleware",
        "worldpay",
    ];
    let contracts = chosen(&names.map(str::to_owned)).expect("they are built in");
    let scenarios = [&SAMPLE[..], &["key/uuid-case", "expiry/over"]].concat();
    let scenarios: Vec<String> = scenarios.into_iter().map(str::to_owned).collect();
    let made = make(&contracts, &scenarios, AT_ONCE, &|_| {})
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(made.unexpected(), "", "{}", made.page());
    assert_eq!(made.pairs.len(), names.len() * names.len());
    let agree: Vec<(&str, &str)> = made
        .pairs
        .iter()
        .filter(|pair| pair.kept != pair.held && pair.differs.is_empty())
        .map(|pair| (pair.kept.as_str(), pair.held.as_str()))
        .collect();
    assert_eq!(agree, [("worldpay", "demo")], "{}", made.page());
    let page = made.page();
    assert!(page.contains(env!("CARGO_PKG_VERSION")), "{page}");
    assert!(page.contains("| demo | = |"), "{page}");
}

#[test]
fn the_demo_can_be_all_that_is_shipped_and_says_what_it_cannot_be() {
    for profile in &PROFILES {
        let policy = policy_of(&named(profile.name).expect("it is built in"));
        assert!(policy.is_ok(), "{:?}", policy.err());
    }
    let form = "contract: ours\nextends: demo\nkey: { header: unspecified, form: token }\n";
    let files = |name: &str, _: &str| {
        Ok(Source {
            name: name.to_owned(),
            text: form.to_owned(),
        })
    };
    let ours = by_file("ours.yaml", &files).unwrap_or_else(|bad| panic!("{}", bad.render(false)));
    assert_eq!(
        policy_of(&ours).err().as_deref(),
        Some("the demo cannot behave as ours: its keys are form fields, and the demo reads JSON")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demo_without_keys_passes_in_what_needs_none() {
    let contract = named("rfc-9110-methods").expect("it is built in");
    let trial = Trial {
        options: Options {
            policy: policy_of(&contract).expect("the demo can be it"),
            ..Options::default()
        },
        selection: Selection {
            scenario: vec!["no-key/methods".to_owned(), "replay/exact".to_owned()],
            ..Selection::default()
        },
        contract: Some(contract),
        ..Trial::default()
    };
    let report = trial
        .report()
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    let of = |verdict| findings(&report).filter(move |finding| finding.verdict == verdict);
    let passed: BTreeSet<&str> = of(Verdict::Pass)
        .filter_map(|finding| finding.name.split('/').next())
        .collect();
    assert_eq!(passed, BTreeSet::from(["delete-payment", "put-mandate"]));
    assert_eq!(of(Verdict::Fail).count(), 0);
    assert_eq!(of(Verdict::Inconclusive).count(), 0);
    // That keys are missing is said once, not for each operation.
    let without: BTreeSet<&str> = report
        .scenarios
        .iter()
        .filter(|case| case.scenario == "replay/exact")
        .map(|case| case.operation.as_str())
        .collect();
    assert_eq!(without, BTreeSet::from(["create-payment"]));
}

/// The report of a demo that keeps one contract, graded under another one.
async fn report(kept: &str, graded: &str, scenarios: &[&str]) -> Report {
    let contract = named(kept).expect("it is built in");
    let options = Options {
        policy: policy_of(&contract).expect("the demo can be it"),
        retention: retention_of(&contract),
        work: Duration::from_millis(30),
        ..Options::default()
    };
    let selection = Selection {
        scenario: scenarios.iter().map(|id| (*id).to_owned()).collect(),
        operation: vec!["create-payment".to_owned()],
        ..Selection::default()
    };
    let trial = Trial {
        options,
        selection,
        contract: Some(named(graded).expect("it is built in")),
        ..Trial::default()
    };
    trial
        .report()
        .await
        .unwrap_or_else(|failure| panic!("{kept}: {failure}"))
}

fn findings(report: &Report) -> impl Iterator<Item = &Finding> {
    report.scenarios.iter().flat_map(|case| &case.findings)
}
