//! Tests of rounds, assumptions and what was recorded under another contract.

mod weights;

use crate::contract::Contract;
use crate::judge::sample::{
    answered, contract, demo, expecting, judged, judged_again, judged_with, paid, round, scenario,
    transcript,
};
use crate::outcome::{Meaning, Outcome};
use crate::promise::Level;
use crate::scenario::Scenario;
use crate::transcript::Round;
use crate::verdict::Verdict;

fn bursts(expectation: &str) -> Scenario {
    scenario(&format!(
        "rounds: {{ count: 5, valid: 3 }}\nsteps:\n  - burst: {{ as: burst, key: fresh, copies: 2 }}\n  - send: {{ as: later, like: burst }}\nassume:\n  - outcome: {{ of: later, is: success }}\nexpect:\n  item-5:\n    - {expectation}\n"
    ))
}

/// A round of two copies with these payments in the end.
fn pair(number: u32, payments: &[&str]) -> Round {
    round([
        paid("burst", "pay_1").at(0, 10),
        paid("burst", "pay_1").copy(1).at(0, 11),
        paid("later", "pay_1").at(20, 25),
    ])
    .numbered(number)
    .burst("burst", 2, 2)
    .late(payments)
}

const AT_MOST: &str = "effects: { at-most: 1 }";
const AT_LEAST: &str = "effects: { at-least: 1 }";

#[test]
fn one_broken_round_fails_and_says_which() {
    let rounds = (1..=5)
        .map(|number| match number {
            2 => pair(number, &["pay_1", "pay_2"]),
            4 => pair(number, &["pay_1", "pay_2", "pay_3"]),
            _ => pair(number, &["pay_1"]),
        })
        .collect();
    let finding = judged(&bursts(AT_MOST), &contract(""), rounds);
    assert_eq!(finding.verdict, Verdict::Fail);
    assert_eq!(
        finding.reason,
        "in 2 of 5 rounds, first: round 2: two payments for one key: pay_1 and pay_2"
    );
    assert_eq!(
        finding.name,
        "create-payment/replay/test/item-5/effects-at-most"
    );
    assert_eq!(
        (finding.rounds.failed, finding.rounds.first_failed),
        (2, Some(2))
    );
    let shown: Vec<u32> = finding.evidence.iter().map(|one| one.round).collect();
    assert!(
        shown.contains(&2) && shown.contains(&4),
        "the first and the worst: {shown:?}"
    );
}

#[test]
fn enough_valid_rounds_pass_and_too_few_show_nothing() {
    let void = |number| pair(number, &["pay_1"]).broken("the moment never came");
    let three = (1..=5)
        .map(|number| {
            if number <= 3 {
                pair(number, &["pay_1"])
            } else {
                void(number)
            }
        })
        .collect();
    let finding = judged(&bursts(AT_MOST), &contract(""), three);
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    assert_eq!((finding.rounds.ran, finding.rounds.valid), (5, 3));
    let two = (1..=5)
        .map(|number| {
            if number <= 2 {
                pair(number, &["pay_1"])
            } else {
                void(number)
            }
        })
        .collect();
    let finding = judged(&bursts(AT_MOST), &contract(""), two);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
    assert!(
        finding.reason.ends_with("the moment never came"),
        "{}",
        finding.reason
    );
}

#[test]
fn a_burst_that_did_not_overlap_proves_nothing() {
    let alone = |number| {
        let mut round = pair(number, &["pay_1"]);
        round.bursts[0].in_flight = 1;
        round
    };
    let finding = judged(
        &bursts(AT_MOST),
        &contract(""),
        (1..=5).map(alone).collect(),
    );
    assert_eq!(finding.verdict, Verdict::Inconclusive);
    assert!(
        finding.reason.contains("did not overlap"),
        "{}",
        finding.reason
    );
}

#[test]
fn a_broken_assumption_hides_no_harm_and_voids_the_rest() {
    let refused = |payments: &[&str]| {
        round([
            paid("burst", "pay_1").at(0, 10),
            paid("burst", "pay_1").copy(1).at(0, 11),
            answered("later", 429).at(20, 25),
        ])
        .burst("burst", 2, 2)
        .late(payments)
    };
    let doubled = vec![refused(&["pay_1", "pay_2"])];
    let finding = judged(&bursts(AT_MOST), &contract(""), doubled);
    assert_eq!(finding.verdict, Verdict::Fail);
    let missing = vec![refused(&[])];
    let finding = judged(&bursts(AT_LEAST), &contract(""), missing);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
    assert!(
        finding.reason.contains("assumed, but not so"),
        "{}",
        finding.reason
    );
}

#[test]
fn a_contract_makes_a_must_of_no_second_effect_after_an_error() {
    let claim = expecting("effects: { at-most: 1, level: should }");
    let doubled = || {
        let rounds = [answered("first", 500), paid("again", "pay_2")];
        vec![round(rounds).late(&["pay_1", "pay_2"])]
    };
    let level = |contract: &Contract| {
        let finding = judged(&claim, contract, doubled());
        assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
        finding.level
    };
    assert_eq!(level(&contract("")), Level::Should);
    assert_eq!(
        level(&contract("extends: generic\natomic: true")),
        Level::Must
    );
    let stored = "extends: generic\nafter: { server-5xx: { is: stored, strength: must } }";
    assert_eq!(level(&contract(stored)), Level::Must);
    assert_eq!(level(&demo()), Level::Must);
}

#[test]
fn nothing_ran_is_never_a_pass() {
    let finding = judged(&bursts(AT_MOST), &contract(""), Vec::new());
    assert_eq!(finding.verdict, Verdict::Inconclusive);
    assert_eq!(finding.reason, "nothing ran");
    let mut broken = transcript((1..=5).map(|number| pair(number, &["pay_1"])).collect());
    broken.broken.push("the baseline is broken".to_owned());
    let finding = judged_with(&bursts(AT_MOST), &contract(""), &broken);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
    assert_eq!(finding.reason, "the baseline is broken");
    broken.rounds[0] = pair(1, &["pay_1", "pay_2"]);
    let finding = judged_with(&bursts(AT_MOST), &contract(""), &broken);
    assert_eq!(finding.verdict, Verdict::Fail, "harm was seen all the same");
}

#[test]
fn what_was_observed_is_counted_over_the_rounds() {
    let claim = "keeps: { promise: in-progress, of: burst }";
    let refused = |number| {
        round([
            paid("burst", "pay_1").at(0, 10),
            answered("burst", 409).copy(1).at(1, 5),
            paid("later", "pay_1").at(20, 25),
        ])
        .numbered(number)
        .burst("burst", 2, 2)
    };
    let rounds = vec![refused(1), refused(2), pair(3, &["pay_1"])];
    let finding = judged(&bursts(claim), &contract(""), rounds.clone());
    assert_eq!(finding.verdict, Verdict::Skip);
    assert!(finding.reason.starts_with("observed, nothing is promised"));
    let observed: Vec<(&str, u32)> = finding
        .observed
        .iter()
        .map(|one| (one.says.as_str(), one.times))
        .collect();
    assert_eq!(observed, [("409", 2), ("waited, then replayed", 1)]);
    let finding = judged(&bursts(claim), &demo(), rounds);
    assert_eq!(finding.verdict, Verdict::Pass, "either way is declared");
}

#[test]
fn a_retry_that_would_have_stopped_elsewhere_shows_nothing() {
    let claim = expecting("outcome: { of: again, is: success }");
    let mut round = round([answered("first", 500), answered("again", 422)]);
    round.exchanges[0].outcome = Meaning::ServerError.into();
    round.exchanges[1].outcome = Outcome::from(Meaning::Refused);
    let recorded = transcript(vec![round]);
    let own = judged_again(&claim, &contract(""), &recorded);
    assert_eq!(own.verdict, Verdict::Fail, "{}", own.reason);
    let waiting = contract(
        "extends: generic\non: { in-progress: { outcome: reject, status: 422, strength: must } }",
    );
    let other = judged_again(&claim, &waiting, &recorded);
    assert_eq!(other.verdict, Verdict::Inconclusive, "{}", other.reason);
    assert!(
        other.reason.contains("stopped under another contract"),
        "{}",
        other.reason
    );
}

#[test]
fn an_open_replay_is_settled_by_the_only_effect() {
    let claim = expecting("outcome: { of: again, never: executed }");
    let silent =
        |effects: &[&str]| round([answered("first", 204), answered("again", 204)]).late(effects);
    let finding = judged(&claim, &contract(""), vec![silent(&["a"])]);
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    let finding = judged(&claim, &contract(""), vec![silent(&["a", "b"])]);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
}

#[test]
fn an_expectation_with_a_condition_is_about_the_rounds_that_meet_it() {
    let scenario = scenario(
        "steps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first, times: 2 }\nexpect:\n  item-5:\n    - outcome: { of: first, is: success, if: { of: again, is: success } }\n",
    );
    let judged = |first: u16, again: &[u16]| {
        let first = answered("first", first).at(0, 5);
        let again = again.iter().zip(0..);
        let again = again.map(|(status, copy)| answered("again", *status).copy(copy).at(10, 15));
        judged(
            &scenario,
            &contract(""),
            vec![round([first].into_iter().chain(again))],
        )
        .verdict
    };
    assert_eq!(judged(201, &[201, 201]), Verdict::Pass);
    assert_eq!(judged(500, &[201, 201]), Verdict::Fail);
    assert_eq!(judged(500, &[201, 500]), Verdict::Skip, "all its answers");
    assert_eq!(judged(500, &[]), Verdict::Skip, "it was not sent");
}
