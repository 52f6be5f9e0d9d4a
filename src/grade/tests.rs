//! Tests of grades and verdicts on hand-written findings.

mod points;

use super::{Grade, Judged, Report, RunInfo, grade};
use crate::checklist::ItemId;
use crate::contract::{Contract, resolve};
use crate::judge::{Finding, Observation, Tally};
use crate::promise::{Level, Promise, Strength};
use crate::scenario::{OperationRole, Scenario, Severity, parse};
use crate::transcript::{ProbeFacts, Round, Transcript};
use crate::verdict::Verdict;
use crate::yaml::{self, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

fn scenario(id: &str) -> Arc<Scenario> {
    let source = Source {
        name: "test.yaml".to_owned(),
        text: "title: A test\nsteps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first }\ncases:\n  plain: {}\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n  item-3:\n    - keeps: { promise: mismatch, of: again }\n".to_owned(),
    };
    Arc::new(parse(id, Arc::new(source), true).unwrap_or_else(|problem| panic!("{problem:?}")))
}

fn finding(item: &str, verdict: Verdict) -> Finding {
    Finding {
        name: format!("create-payment/test/{item}/some"),
        id: "some".to_owned(),
        item: ItemId::from_name(item).expect("an item"),
        verdict,
        level: Level::Must,
        severity: Severity::High,
        reason: format!("because it is a {}", verdict.name()),
        steps: Vec::new(),
        promise: None,
        observed: Vec::new(),
        documented: None,
        reach: None,
        rounds: Tally {
            ran: 1,
            ..Tally::default()
        },
        evidence: Vec::new(),
    }
}

fn case(id: &str, findings: Vec<Finding>) -> Judged {
    Judged {
        operation: "create-payment".to_owned(),
        scenario: scenario(id),
        case: 0,
        skipped: None,
        runs: Vec::new(),
        transcript: Transcript {
            rounds: vec![Round::default()],
            probes: vec![ProbeFacts {
                name: "payments".to_owned(),
                operation: OperationRole::Subject,
                per_execution: 1.0,
                live: true,
                bound: None,
                is_state: false,
            }],
            ..Transcript::default()
        },
        findings,
    }
}

fn contracts(text: &str) -> BTreeMap<String, Contract> {
    let source = Source {
        name: "contract.yaml".to_owned(),
        text: text.to_owned(),
    };
    let node = yaml::parse(Arc::new(source)).unwrap_or_else(|problem| panic!("{problem}"));
    let contract = resolve(Some(&node)).unwrap_or_else(|problem| panic!("{problem}"));
    BTreeMap::from([("create-payment".to_owned(), contract)])
}

fn graded(cases: Vec<Judged>) -> Report {
    grade(
        RunInfo::default(),
        cases,
        &contracts("extends: generic"),
        Vec::new(),
    )
}

/// The grade of item 5 and the verdict of the run.
fn of(findings: Vec<Finding>) -> (Grade, Option<Verdict>) {
    let report = graded(vec![case("replay/test", findings)]);
    (report.checklist[4].grade, report.verdict)
}

#[test]
fn one_failure_breaks_an_item_and_fails_the_run() {
    let findings = vec![
        finding("item-5", Verdict::Pass),
        finding("item-5", Verdict::Fail),
        finding("item-5", Verdict::Inconclusive),
    ];
    assert_eq!(of(findings), (Grade::Broken, Some(Verdict::Fail)));
}

#[test]
fn a_break_of_what_should_be_warns_and_never_breaks() {
    let mut warned = finding("item-5", Verdict::Fail);
    warned.level = Level::Should;
    let report = graded(vec![case(
        "replay/test",
        vec![finding("item-5", Verdict::Pass), warned],
    )]);
    assert_eq!(report.verdict, Some(Verdict::Pass));
    let item = &report.checklist[4];
    assert_eq!(
        (item.grade, item.counts.warn, item.counts.fail),
        (Grade::Met, 1, 0)
    );
    assert_eq!(item.says, "1 check passed, 1 with a warning");
}

#[test]
fn nothing_shown_is_no_pass() {
    let inconclusive = || finding("item-5", Verdict::Inconclusive);
    assert_eq!(
        of(vec![inconclusive()]),
        (Grade::NotShown, Some(Verdict::Inconclusive))
    );
    assert_eq!(
        of(vec![inconclusive(), finding("item-5", Verdict::Pass)]),
        (Grade::PartlyShown, Some(Verdict::Inconclusive))
    );
    assert_eq!(
        of(vec![finding("item-5", Verdict::Skip)]),
        (Grade::NotShown, None)
    );
    assert_eq!(of(Vec::new()), (Grade::NotChecked, None));
}

#[test]
fn what_never_ran_leaves_an_item_partly_shown_and_what_was_observed_does_not() {
    let observed = finding("item-5", Verdict::Skip);
    let mut never_ran = observed.clone();
    never_ran.rounds.ran = 0;
    let pass = || finding("item-5", Verdict::Pass);
    assert_eq!(of(vec![pass(), observed]).0, Grade::Met);
    let report = graded(vec![case("replay/test", vec![pass(), never_ran])]);
    assert_eq!(report.checklist[4].grade, Grade::PartlyShown);
    assert_eq!(report.checklist[4].says, "1 check passed, 1 did not run");
    assert!(
        report
            .headlines
            .contains(&"1 of 9 items only partly shown".to_owned())
    );
    assert_eq!(report.verdict, Some(Verdict::Pass));
}

#[test]
fn a_case_that_does_not_apply_names_all_its_expectations() {
    let mut skipped = case("replay/test", Vec::new());
    skipped.skipped = Some("no second operation: name one under `other:`".to_owned());
    skipped.transcript = Transcript::default();
    let report = graded(vec![skipped]);
    assert_eq!(report.verdict, None);
    let names: Vec<&str> = report.scenarios[0]
        .findings
        .iter()
        .map(|finding| finding.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "create-payment/replay/test#plain/item-5/effects-at-most",
            "create-payment/replay/test#plain/item-3/keeps:mismatch"
        ]
    );
    assert!(report.scenarios[0].findings.iter().all(|finding| {
        finding.verdict == Verdict::Skip && finding.reason.starts_with("no second operation")
    }));
    assert_eq!(report.checklist[4].grade, Grade::NotShown);
    assert_eq!(report.checklist[0].grade, Grade::NotChecked);
}

#[test]
fn a_run_that_was_stopped_passes_nothing() {
    let about = RunInfo {
        stopped: Some("the budget of requests is spent".to_owned()),
        ..RunInfo::default()
    };
    let cases = vec![case("replay/test", vec![finding("item-5", Verdict::Pass)])];
    let report = grade(about, cases, &contracts("extends: generic"), Vec::new());
    assert_eq!(report.verdict, Some(Verdict::Inconclusive));
    assert!(report.headlines[0].contains("the budget of requests is spent"));
}

#[test]
fn promises_are_declared_against_observed() {
    let keeps = |verdict: Verdict, says: &str, times: u32| {
        let mut keeps = finding("item-3", verdict);
        keeps.promise = Some(Promise::Mismatch);
        keeps.observed = vec![Observation {
            says: says.to_owned(),
            times,
        }];
        keeps
    };
    let cases = || {
        vec![
            case("replay/test", vec![keeps(Verdict::Pass, "422", 2)]),
            case(
                "payload/changed",
                vec![
                    keeps(Verdict::Fail, "409", 3),
                    keeps(Verdict::Pass, "422", 2),
                ],
            ),
        ]
    };
    let report = grade(
        RunInfo::default(),
        cases(),
        &contracts("extends: demo"),
        Vec::new(),
    );
    let promise = &report.promises[0];
    assert_eq!(report.promises.len(), 1);
    assert_eq!(promise.declared, "reject with 422");
    assert_eq!(
        (promise.strength, promise.kept),
        (Strength::Must, Some(false))
    );
    let observed: Vec<(&str, u32)> = promise
        .observed
        .iter()
        .map(|one| (one.says.as_str(), one.times))
        .collect();
    assert_eq!(observed, [("422", 4), ("409", 3)]);
    let seen = vec![case("replay/test", vec![keeps(Verdict::Skip, "422", 1)])];
    let report = graded(seen);
    assert_eq!(report.promises[0].declared, "unspecified");
    assert_eq!(report.promises[0].kept, None);
}

#[test]
fn an_api_without_idempotency_is_named_first() {
    let mut repeats = finding("item-5", Verdict::Fail);
    repeats.id = "effects-at-most".to_owned();
    let report = grade(
        RunInfo::default(),
        vec![case("replay/exact", vec![repeats])],
        &contracts("extends: generic"),
        vec!["clocks differ".to_owned()],
    );
    assert_eq!(
        report.headlines,
        [
            "clocks differ",
            "create-payment: every repeat makes a second effect; many further findings follow from this"
        ]
    );
}

#[test]
fn an_operation_without_probes_is_named() {
    let mut blind = case(
        "replay/test",
        vec![finding("item-5", Verdict::Inconclusive)],
    );
    blind.transcript.probes.clear();
    let report = graded(vec![blind]);
    assert!(report.headlines[0].starts_with("create-payment: effects cannot be counted"));
}

#[test]
fn what_is_known_to_fail_does_not_fail_the_run() {
    let failing = |id: &str| Finding {
        id: id.to_owned(),
        ..finding("item-5", Verdict::Fail)
    };
    let findings = vec![failing("known"), finding("item-5", Verdict::Pass)];
    let mut report = graded(vec![case("race/burst", findings)]);
    assert_eq!(report.verdict, Some(Verdict::Fail));
    let reason = |finding: &Finding| (finding.id != "new").then(|| "a ticket".to_owned());
    super::excuse(&mut report, reason);
    assert_eq!(report.verdict, Some(Verdict::Pass));
    let known: Vec<&str> = report.scenarios[0]
        .known
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(known, ["known"], "what passes is not excused");
    let both = vec![failing("known"), failing("new")];
    let mut report = graded(vec![case("race/burst", both)]);
    super::excuse(&mut report, reason);
    assert_eq!(report.verdict, Some(Verdict::Fail));
}

#[test]
fn a_point_says_what_is_gravest() {
    let says = |findings: Vec<Finding>| {
        let report = graded(vec![case("race/burst", findings)]);
        report.checklist[4].says.clone()
    };
    let told = |verdict: Verdict, reason: &str| Finding {
        reason: reason.to_owned(),
        ..finding("item-5", verdict)
    };
    let of = |severity: Severity, reason: &str| Finding {
        severity,
        ..told(Verdict::Fail, reason)
    };
    let warning = |reason: &str| Finding {
        level: Level::Should,
        severity: Severity::Critical,
        ..told(Verdict::Fail, reason)
    };
    let pass = || told(Verdict::Pass, "it held");
    assert_eq!(
        says(vec![
            pass(),
            warning("a warning"),
            of(Severity::Critical, "twice"),
            of(Severity::Low, "late"),
        ]),
        "twice (the gravest of 2 failures)"
    );
    let one = vec![pass(), of(Severity::Low, "late")];
    assert_eq!(says(one), "late");
    let nothing = || told(Verdict::Inconclusive, "no fault fired");
    let skip = || told(Verdict::Skip, "no such variant");
    assert_eq!(says(vec![skip(), nothing()]), "no fault fired");
    assert_eq!(says(vec![warning("a warning"), skip()]), "no such variant");
    assert_eq!(says(vec![warning("a warning")]), "a warning");
    assert_eq!(
        says(vec![pass(), nothing()]),
        "1 check passed, 1 inconclusive"
    );
    assert_eq!(says(vec![pass(), pass()]), "2 checks passed");
    assert_eq!(
        says(vec![pass(), warning("a warning")]),
        "1 check passed, 1 with a warning"
    );
    let ran = |verdict: Verdict, ran: u32| Finding {
        rounds: Tally {
            ran,
            ..Tally::default()
        },
        ..told(verdict, "skipped")
    };
    let unrun = vec![pass(), ran(Verdict::Skip, 0)];
    assert_eq!(says(unrun), "1 check passed, 1 did not run");
    assert_eq!(says(vec![pass(), ran(Verdict::Skip, 1)]), "1 check passed");
    let held = vec![pass(), ran(Verdict::Pass, 0)];
    assert_eq!(says(held), "2 checks passed");
}
