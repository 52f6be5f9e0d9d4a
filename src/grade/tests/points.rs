//! Tests of which findings a point is graded by, and of what is said before all points.

use super::{case, contracts, finding, graded};
use crate::checklist::ItemId;
use crate::grade::{CaseReport, Counts, Grade, RunInfo, grade, sides};
use crate::judge::{Documented, Finding, Graded};
use crate::outcome::{Meaning, Outcome};
use crate::promise::Promise;
use crate::scenario::OperationRole;
use crate::transcript::client::ClientTranscript;
use crate::transcript::{Exchange, Round};
use crate::verdict::Verdict;

#[test]
fn a_point_is_graded_by_its_own_findings_only() {
    let report = graded(vec![case(
        "replay/test",
        vec![
            finding("item-5", Verdict::Pass),
            finding("item-3", Verdict::Fail),
        ],
    )]);
    let grades: Vec<Grade> = report.checklist.iter().map(|item| item.grade).collect();
    assert_eq!(grades[4], Grade::Met);
    assert_eq!(grades[2], Grade::Broken);
    assert_eq!(grades[0], Grade::NotChecked);
}

/// A case of the API, or of a client, with these verdicts on a point.
fn tried(item: &str, client: bool, verdicts: &[Verdict]) -> CaseReport {
    let findings = verdicts
        .iter()
        .map(|verdict| finding(item, *verdict))
        .collect();
    let mut report = graded(vec![case("replay/test", findings)]);
    let mut case = report.scenarios.remove(0);
    case.client = client.then(ClientTranscript::default);
    case
}

#[test]
fn a_point_is_graded_by_its_side_and_by_what_is_broken_on_the_other() {
    let (pass, fail, open) = (Verdict::Pass, Verdict::Fail, Verdict::Inconclusive);
    let bearing = |item: &str, client: &[Verdict], api: &[Verdict]| {
        let cases = [tried(item, true, client), tried(item, false, api)];
        let item = ItemId::from_name(item).expect("an item");
        let bearing = sides::bearing(item, &cases);
        bearing.iter().map(|own| own.verdict).collect::<Vec<_>>()
    };
    // A client decides what a key is, and the API what one does.
    assert_eq!(bearing("item-1", &[pass], &[open, fail]), [pass, fail]);
    assert_eq!(bearing("item-5", &[open, fail], &[pass]), [pass, fail]);
    assert_eq!(bearing("item-1", &[], &[open]), [open]);
    assert_eq!(bearing("item-5", &[pass], &[]), [pass]);
}

/// The headlines of a case whose repeats may mean this, in two rounds.
fn headlines(id: &str, repeated: Finding, repeats: [Outcome; 2]) -> Vec<String> {
    let exchange = |step: &str, outcome: Outcome| Exchange {
        outcome,
        ..crate::judge::sample::paid(step, "pay_1")
    };
    let other = finding("item-3", Verdict::Pass);
    let mut case = case(id, vec![other, repeated]);
    case.transcript.rounds = repeats
        .into_iter()
        .map(|outcome| Round {
            exchanges: vec![
                exchange("again", Meaning::Executed.into()),
                exchange("later", outcome),
            ],
            ..Round::default()
        })
        .collect();
    let (about, none) = (RunInfo::default(), Vec::new());
    let all = grade(about, vec![case], &contracts("extends: generic"), none).headlines;
    all.into_iter()
        .filter(|line| line.contains("every repeat"))
        .collect()
}

#[test]
fn only_an_api_that_executes_each_repeat_is_said_to_do_so() {
    let executed = || [Outcome::from(Meaning::Executed), Outcome::SUCCESS];
    let broken = |id: &str, verdict: Verdict| Finding {
        id: id.to_owned(),
        ..finding("item-5", verdict)
    };
    let twice = || broken("effects-at-most", Verdict::Fail);
    assert_eq!(headlines("replay/exact", twice(), executed()).len(), 1);
    let none: [String; 0] = [];
    assert_eq!(headlines("replay/other", twice(), executed()), none);
    let once = broken("effects-at-most", Verdict::Pass);
    assert_eq!(headlines("replay/exact", once, executed()), none);
    let other = broken("one-resource", Verdict::Fail);
    assert_eq!(headlines("replay/exact", other, executed()), none);
    let remembered = [Meaning::Executed, Meaning::Replayed].map(Outcome::from);
    assert_eq!(headlines("replay/exact", twice(), remembered), none);
}

#[test]
fn only_a_probe_of_effects_of_the_operation_itself_counts_them() {
    let told = |change: fn(&mut crate::grade::Judged)| {
        let mut case = case("replay/test", vec![finding("item-5", Verdict::Pass)]);
        change(&mut case);
        let headlines = graded(vec![case]).headlines;
        headlines
            .iter()
            .any(|line| line.contains("cannot be counted"))
    };
    assert!(!told(|_| {}));
    assert!(told(|case| case.transcript.probes[0].is_state = true));
    assert!(told(
        |case| case.transcript.probes[0].operation = OperationRole::Other
    ));
    let nothing_ran = |case: &mut crate::grade::Judged| {
        case.transcript.probes.clear();
        case.transcript.rounds.clear();
    };
    assert!(!told(nothing_ran), "nobody looked");
}

#[test]
fn of_several_grades_of_a_statement_the_gravest_stands() {
    let graded_as = |grades: &[Documented]| {
        let findings = grades.iter().map(|grade| Finding {
            documented: Some(Graded {
                about: "retention".to_owned(),
                grade: *grade,
            }),
            ..finding("item-5", Verdict::Pass)
        });
        let report = graded(vec![case("replay/test", findings.collect())]);
        let statements = crate::grade::documents::collect(&report.scenarios).statements;
        statements.iter().map(|own| own.grade).collect::<Vec<_>>()
    };
    let (yes, no) = (Documented::True, Documented::False);
    assert_eq!(graded_as(&[yes, no]), [no]);
    assert_eq!(graded_as(&[no, yes]), [no]);
}

#[test]
fn a_case_that_was_skipped_after_it_had_failed_has_failed() {
    let mut skipped = case("replay/test", vec![finding("item-5", Verdict::Fail)]);
    skipped.skipped = Some("the budget is spent".to_owned());
    assert_eq!(graded(vec![skipped]).verdict, Some(Verdict::Fail));
}

#[test]
fn a_promise_is_kept_where_it_passed_and_nothing_broke_it() {
    let kept = |verdicts: &[Verdict]| {
        let findings = verdicts.iter().map(|verdict| Finding {
            promise: Some(Promise::Mismatch),
            ..finding("item-3", *verdict)
        });
        graded(vec![case("replay/test", findings.collect())]).promises[0].kept
    };
    let (pass, fail, open) = (Verdict::Pass, Verdict::Fail, Verdict::Inconclusive);
    assert_eq!(kept(&[pass, open]), Some(true));
    assert_eq!(kept(&[pass, fail]), Some(false));
    assert_eq!(kept(&[open]), None);
}

#[test]
fn counts_name_what_is_known_to_fail_only_where_there_is_some() {
    let written = |known: u32| {
        let counts = Counts {
            known,
            ..Counts::default()
        };
        serde_json::to_value(counts)
            .expect("it is written")
            .get("known")
            .is_some()
    };
    assert!(written(1));
    assert!(!written(0));
}
