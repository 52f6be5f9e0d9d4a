//! Tests of how grave a finding is, which round it shows, and how far a case has come.

use super::{AT_MOST, bursts, pair};
use crate::judge::sample::{
    answered, contract, demo, expecting, judged, judged_again, judged_with, paid, reading, round,
    scenario, sent, transcript,
};
use crate::judge::{Documented, so_far};
use crate::outcome::Meaning;
use crate::promise::Level;
use crate::transcript::{DocumentFacts, Exchange, ReadingKind, Round};
use crate::verdict::Verdict;

#[test]
fn a_pass_about_a_race_says_how_small_a_race_would_have_shown() {
    let claim = scenario(
        "steps:\n  - burst: { as: burst, key: fresh, copies: 5 }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n",
    );
    let at_pace = |payments: &[&str]| {
        let copies = (0..5u64).map(|copy| paid("burst", "pay_1").at(0, 50 + copy * 4));
        let round = round(copies).burst("burst", 5, 5).late(payments);
        judged(&claim, &contract(""), vec![round]).reason
    };
    let says = "would have shown a race window";
    assert!(
        at_pace(&["pay_1"]).contains(says),
        "{}",
        at_pace(&["pay_1"])
    );
    let broken = at_pace(&["pay_1", "pay_2"]);
    assert!(!broken.contains(says), "{broken}");
}

#[test]
fn only_what_is_promised_with_a_must_raises_a_second_effect_to_one() {
    let level = |claim: &str, lines: &str| {
        let round =
            round([paid("first", "pay_1"), paid("again", "pay_2")]).late(&["pay_1", "pay_2"]);
        let lines = format!("extends: generic\n{lines}");
        let finding = judged(&expecting(claim), &contract(&lines), vec![round]);
        assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
        finding.level
    };
    let at_most = "effects: { at-most: 1, level: should }";
    for (lines, wanted) in [
        ("atomic: { is: true, strength: must }", Level::Must),
        ("atomic: { is: true, strength: should }", Level::Should),
        ("atomic: { is: false, strength: must }", Level::Should),
        (
            "after: { server-5xx: { is: stored, strength: must } }",
            Level::Must,
        ),
        (
            "after: { server-5xx: { is: stored, strength: should } }",
            Level::Should,
        ),
        (
            "after: { server-5xx: { is: reexecuted, strength: must } }",
            Level::Should,
        ),
        ("", Level::Should),
    ] {
        assert_eq!(level(at_most, lines), wanted, "{lines}");
    }
    let other = "one-resource: { of: [first, again], level: should }";
    assert_eq!(
        level(other, "atomic: { is: true, strength: must }"),
        Level::Should
    );
}

#[test]
fn the_first_round_that_shows_anything_is_shown() {
    let claim = scenario(
        "rounds: { count: 2, valid: 1 }\nsteps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first }\nexpect:\n  item-5:\n    - one-resource: { of: [first, again] }\n",
    );
    let blind = round([answered("first", 204), answered("again", 204)]).numbered(1);
    let shown = round([paid("first", "pay_1"), paid("again", "pay_1")]).numbered(2);
    let finding = judged(&claim, &contract(""), vec![blind, shown]);
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    let rounds: Vec<u32> = finding.evidence.iter().map(|own| own.round).collect();
    assert_eq!(rounds, [2, 2]);
}

#[test]
fn the_commonest_reason_is_told_and_of_equal_ones_the_earliest() {
    let unread = |number: u32, why: &str| pair(number, &[]).broken(why);
    let reason = |rounds: Vec<Round>| judged(&bursts(AT_MOST), &contract(""), rounds).reason;
    let told = reason(vec![
        unread(1, "a"),
        unread(2, "b"),
        unread(3, "b"),
        unread(4, "c"),
    ]);
    assert!(told.ends_with("most often: b"), "{told}");
    let told = reason(vec![unread(1, "a"), unread(2, "b")]);
    assert!(told.ends_with("most often: a"), "{told}");
}

#[test]
fn harm_in_any_expectation_counts_and_a_missing_effect_is_none_without_what_was_assumed() {
    let far = |rounds: Vec<Round>| {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: fresh }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n    - effects: { at-least: 1 }\n",
        );
        let so_far = so_far(
            &scenario,
            &scenario.cases[0],
            &contract(""),
            &transcript(rounds),
        );
        (so_far.shown, so_far.harmed)
    };
    let with = |payments: &[&str]| round([paid("first", "pay_1")]).late(payments);
    assert_eq!(far(vec![with(&["pay_1"])]), (1, false));
    assert_eq!(far(vec![with(&["pay_1", "pay_2"])]), (1, true));
    assert_eq!(
        far(vec![with(&["pay_1", "pay_2"]).broken("late")]),
        (1, true)
    );
    assert_eq!(
        far(vec![with(&[])]),
        (1, false),
        "too little is no harm that stops a run"
    );
    assert_eq!(far(vec![with(&[]).broken("late")]), (0, false));
}

#[test]
fn the_gravest_break_of_all_rounds_gives_the_level() {
    let claim = scenario(
        "rounds: { count: 2, valid: 1 }\nsteps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first }\nexpect:\n  item-3:\n    - same-response: { of: again, as: first }\n",
    );
    let lines = "extends: generic\non: { replay: { outcome: replay-stored, strength: should } }";
    let other_status = round([
        paid("first", "pay_1"),
        answered("again", 200).naming("pay_1"),
    ]);
    let other_resource = round([paid("first", "pay_1"), paid("again", "pay_2")]);
    let level = |rounds: [&Round; 2]| {
        let rounds = rounds.into_iter().cloned().zip(1..);
        let rounds = rounds
            .map(|(round, number)| round.numbered(number))
            .collect();
        judged(&claim, &contract(lines), rounds).level
    };
    assert_eq!(level([&other_status, &other_status]), Level::Should);
    assert_eq!(level([&other_status, &other_resource]), Level::Must);
    assert_eq!(level([&other_resource, &other_status]), Level::Must);
}

#[test]
fn rounds_at_one_place_of_a_spread_show_one_thing() {
    let judged = |steps: &str, numbers: [u32; 2]| {
        let claim = scenario(&format!(
            "rounds: {{ count: 2, valid: 2, up-to: 4 }}\nsteps:\n  - send: {{ as: first, key: fresh }}\n  - wait: settled\n  - {steps}\nexpect:\n  item-5:\n    - one-resource: {{ of: [first, again] }}\n"
        ));
        let rounds = numbers.map(|number| {
            let again = [
                paid("again", "pay_1").at(20, 30),
                paid("again", "pay_1").copy(1).at(20, 31),
            ];
            let all = std::iter::once(paid("first", "pay_1").at(0, 10)).chain(again);
            round(all).numbered(number).burst("again", 2, 2)
        });
        judged(&claim, &contract(""), rounds.to_vec()).verdict
    };
    let (enough, too_few) = (Verdict::Pass, Verdict::Inconclusive);
    let plain = "send: { as: again, like: first }";
    assert_eq!(
        judged(plain, [1, 3]),
        enough,
        "each round stands for itself"
    );
    let spread =
        "send: { as: again, like: first, at: { when: ended, of: first, spread: [0ms, 9ms] } }";
    assert_eq!(judged(spread, [1, 2]), enough);
    assert_eq!(
        judged(spread, [1, 3]),
        too_few,
        "both at the first of two places"
    );
    let fixed = "send: { as: again, like: first, at: { when: ended, of: first, plus: 2ms } }";
    assert_eq!(judged(fixed, [1, 3]), enough);
    let burst = "burst: { as: again, like: first, copies: 2, at: { when: ended, of: first, spread: [0ms, 9ms] } }";
    assert_eq!(
        judged(burst, [1, 3]),
        enough,
        "its copies are spread in each round"
    );
}

#[test]
fn what_cannot_be_told_from_others_of_its_key_is_not_settled_by_one_effect() {
    let claim = expecting("outcome: { of: again, is: executed }");
    let made = |others: Vec<Exchange>| {
        let open = answered("again", 204).at(10, 60);
        let round = round(others.into_iter().chain([open])).late(&["a"]);
        judged(&claim, &demo(), vec![round]).verdict
    };
    let told = |step: &str| answered(step, 409).at(20, 25);
    let lost = || sent("first").at(0, 5);
    assert_eq!(
        made(vec![lost(), told("first").copy(1)]),
        Verdict::Inconclusive
    );
    assert_eq!(made(vec![lost()]), Verdict::Inconclusive);
    let replayed = |step: &str| {
        paid(step, "pay_1")
            .header("Idempotency-Replayed", "true")
            .at(20, 25)
    };
    let unanswered = round([sent("again").at(0, 5), replayed("first")]).late(&["pay_1"]);
    let finding = judged(&claim, &demo(), vec![unanswered]);
    assert_eq!(finding.verdict, Verdict::Inconclusive, "{}", finding.reason);
}

#[test]
fn the_gravest_grade_of_all_rounds_is_that_of_the_statement() {
    let claim = scenario(
        "rounds: { count: 2, valid: 1 }\nsteps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first }\nexpect:\n  item-7:\n    - documented: { what: retryable, of: again }\n",
    );
    let graded = |second: u16| {
        let after = |status: u16, number: u32| {
            round([answered("first", 503), answered("again", status)]).numbered(number)
        };
        let mut transcript = transcript(vec![after(201, 1), after(second, 2)]);
        transcript.documents = Some(DocumentFacts {
            openapi: None,
            retention: None,
            scope: None,
            retryable: Some(["503".to_owned()].into()),
        });
        let finding = judged_with(&claim, &contract(""), &transcript);
        finding.documented.map(|own| own.grade)
    };
    assert_eq!(graded(201), Some(Documented::True));
    assert_eq!(graded(409), Some(Documented::False));
}

#[test]
fn harm_that_stands_by_itself_counts_although_something_else_broke() {
    let claim = scenario(
        "steps:\n  - send: { as: first, key: fresh }\nexpect:\n  item-5:\n    - told: { of: first }\n",
    );
    let hidden = |broken: bool| {
        let seen = reading(ReadingKind::Early, &["pay_1"]).taken(300);
        let round = round([answered("first", 504).at(0, 100)]).read(seen);
        let round = if broken {
            round.broken("it broke off")
        } else {
            round
        };
        let all = transcript(vec![round]);
        let so_far = so_far(&claim, &claim.cases[0], &contract(""), &all);
        (so_far.shown, so_far.harmed)
    };
    assert_eq!(hidden(false), (1, true));
    assert_eq!(hidden(true), (1, true));
}

#[test]
fn a_refusal_is_not_taken_for_what_made_the_one_effect() {
    let claim = expecting("outcome: { of: again, is: executed }");
    let replayed = paid("first", "pay_1").header("Idempotency-Replayed", "true");
    let round = round([answered("again", 404).at(0, 5), replayed.at(20, 25)]).late(&["pay_1"]);
    let finding = judged(&claim, &demo(), vec![round]);
    assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
}

#[test]
fn a_retry_was_not_stopped_elsewhere_by_what_another_step_means_now() {
    let claim = expecting("outcome: { of: again, is: replayed }");
    let mut round = round([paid("first", "pay_1"), paid("again", "pay_1")]);
    round.exchanges[0].outcome = Meaning::InFlight.into();
    round.exchanges[1].outcome = Meaning::Replayed.into();
    let finding = judged_again(&claim, &contract(""), &transcript(vec![round]));
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
}
