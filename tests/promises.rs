//! Every promise is shown by some scenario, and a contract that contradicts what was shown is caught
//! in exactly that promise. A new promise without a line here does not compile.

use idemspec::cli::args::Selection;
use idemspec::cli::policy::{policy_of, retention_of};
use idemspec::cli::record::Recorded;
use idemspec::cli::run::Trial;
use idemspec::contract::{Contract, chosen, named};
use idemspec::demo::Options;
use idemspec::judge::Finding;
use idemspec::promise::{Level, Promise};
use idemspec::verdict::Verdict;
use idemspec::yaml::Source;
use std::collections::BTreeSet;
use std::time::Duration;

/// How a promise is shown, and a contract that says otherwise.
struct Line {
    /// What the demo keeps.
    kept: &'static str,
    /// The scenario that shows it.
    shown_by: &'static str,
    /// What the other contract says instead.
    instead: &'static str,
}

/// The line of a promise.
fn line(promise: Promise) -> Line {
    let demo = |shown_by, instead| Line {
        kept: "demo",
        shown_by,
        instead,
    };
    match promise {
        Promise::Replay => demo(
            "replay/exact#plain",
            "on: { replay: { outcome: conflict-ref, status: 409 } }",
        ),
        Promise::ReplayMarker => demo(
            "replay/exact#plain",
            "replay-marker: { header: X-Replayed, value: 'yes' }",
        ),
        Promise::InProgress => demo(
            "race/during",
            "on: { in-progress: { outcome: reject, status: 423 } }",
        ),
        Promise::Mismatch => demo(
            "payload/changed#value",
            "on: { mismatch: { outcome: reject, status: 400 } }",
        ),
        Promise::Equality => demo(
            "replay/reworded#key-order",
            "fingerprint: { equality: { is: bytes, strength: must } }",
        ),
        Promise::MissingKey => demo("key/missing", "on: { missing: { outcome: execute-new } }"),
        Promise::MalformedKey => demo(
            "key/odd#at-256",
            "on: { malformed: { outcome: reject, status: 422 } }",
        ),
        Promise::KeyCase => demo(
            "key/near#case",
            "key: { case-sensitive: { is: false, strength: must } }",
        ),
        Promise::OtherPrincipal => demo(
            "auth/other-tenant#same-body",
            "scope: { principal: { is: global, strength: must } }",
        ),
        Promise::OtherOperation => demo(
            "scope/other-operation#operation",
            "scope: { operation: { is: global-key, strength: must } }",
        ),
        Promise::Retention => demo("expiry/kept", "retention: { min: 30d, max: 30d }"),
        Promise::Expired => demo(
            "expiry/over",
            "on: { expired: { outcome: reject, status: 410 } }",
        ),
        Promise::Deleted => demo(
            "replay/after-delete",
            "on: { deleted: { outcome: reject, status: 410 } }",
        ),
        Promise::Lookup => demo(
            "lookup/after-loss#key",
            "lookup: { is: none, strength: must }",
        ),
        Promise::FirstSent => Line {
            kept: "azure",
            shown_by: "expiry/first-sent",
            instead: "on: { companion-malformed: { outcome: reject, status: 422 } }",
        },
        Promise::StoreUnavailable => demo(
            "failure/store-down",
            "store-unavailable: { outcome: execute-new }",
        ),
        Promise::AfterFailure => demo(
            "failure/refused#invalid",
            "after: { pre-execution-validation: { is: stored, strength: must } }",
        ),
    }
}

/// What after a failure is promised class by class; of the first class [`line`] tells.
fn lines() -> Vec<(Promise, Line)> {
    let after = |shown_by, instead| {
        let line = Line {
            kept: "demo",
            shown_by,
            instead,
        };
        (Promise::AfterFailure, line)
    };
    let mut lines: Vec<_> = Promise::ALL
        .into_iter()
        .map(|promise| (promise, line(promise)))
        .collect();
    lines.extend([
        after(
            "failure/refused#declined",
            "after: { business-declined: { is: stored, strength: must } }",
        ),
        after(
            "failure/error#heals",
            "after: { server-5xx: { is: stored, strength: must } }",
        ),
        after(
            "failure/rate-limited",
            "after: { rate-limited: { is: stored, strength: must } }",
        ),
    ]);
    lines
}

/// What is said of a promise that no finding is about.
const NOT_SHOWN: &str = "nothing shows that it is kept";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_promise_is_shown_and_its_breach_is_caught() {
    let mut wrong = Box::pin(what_is_wrong()).await;
    // A busy machine may leave a run without a proof, and never with a wrong one.
    if wrong.iter().any(|wrong| wrong.contains(NOT_SHOWN)) {
        wrong = Box::pin(what_is_wrong()).await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Promises that nothing shows, and breaches that are not caught, or not alone.
async fn what_is_wrong() -> Vec<String> {
    let (demo, azure) = tokio::join!(Box::pin(recorded("demo")), Box::pin(recorded("azure")));
    let mut wrong = Vec::new();
    for (promise, line) in lines() {
        let run = if line.kept == "demo" { &demo } else { &azure };
        let own = found(run, &named(line.kept).expect("it is built in"));
        let about = |finding: &&Finding| finding.promise == Some(promise);
        let passes = |finding: &Finding| finding.verdict == Verdict::Pass;
        if !own.iter().filter(about).any(passes) {
            let why: Vec<&str> = own
                .iter()
                .filter(about)
                .map(|own| own.reason.as_str())
                .collect();
            wrong.push(format!("{}: {NOT_SHOWN}: {why:?}", promise.name()));
        }
        let broken = failing(&own);
        if !broken.is_empty() {
            wrong.push(format!("under {} itself: {broken:?}", line.kept));
        }
        let other = instead(&line);
        let broken: BTreeSet<String> = failing(&found(run, &other));
        let meant = format!("keeps:{}", promise.name());
        if broken != BTreeSet::from([meant]) {
            wrong.push(format!("{}: {broken:?} fails", line.instead));
        }
    }
    wrong
}

/// A run of the scenarios that show the promises of a demo that keeps this contract.
async fn recorded(kept: &str) -> Recorded {
    let contract = named(kept).expect("it is built in");
    let options = Options {
        policy: policy_of(&contract).expect("the demo can be it"),
        retention: retention_of(&contract),
        work: Duration::from_millis(30),
        ..Options::default()
    };
    let selection = Selection {
        scenario: lines()
            .into_iter()
            .filter(|(_, line)| line.kept == kept)
            .map(|(_, line)| line.shown_by.to_owned())
            .collect(),
        operation: vec!["create-payment".to_owned()],
        ..Selection::default()
    };
    let trial = Trial {
        options,
        selection,
        contract: Some(contract),
        ..Trial::default()
    };
    Box::pin(trial.record())
        .await
        .unwrap_or_else(|failure| panic!("{kept}: {failure}"))
}

fn instead(line: &Line) -> Contract {
    let text = format!("extends: {}\n{}\n", line.kept, line.instead);
    let files = |name: &str, _: &str| {
        Ok(Source {
            name: name.to_owned(),
            text: text.clone(),
        })
    };
    chosen("instead.yaml", &files).unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

fn found(run: &Recorded, contract: &Contract) -> Vec<Finding> {
    let mut run = run.clone();
    run.hold_to(contract);
    run.findings()
        .into_iter()
        .map(|(_, finding)| finding)
        .collect()
}

/// The ids of what fails.
fn failing(findings: &[Finding]) -> BTreeSet<String> {
    findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Fail && finding.level == Level::Must)
        .map(|finding| finding.id.clone())
        .collect()
}
