//! Tests of what a round shows: whose eyes, which bursts were any, and when a key had outlived.

use super::{key_space, reads_for, same_key, succeeded};
use crate::judge::sample::{
    answered, contract, expecting, judged, judged_with, paid, probe, round, scenario, sent,
    transcript, verdict,
};
use crate::outcome::Meaning;
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{Exchange, Round};
use crate::verdict::Verdict;

#[test]
fn the_owner_sees_for_those_without_eyes_and_everybody_for_himself() {
    let owner = PrincipalRole::Owner;
    for blind in [
        PrincipalRole::Nobody,
        PrincipalRole::Wrong,
        PrincipalRole::Expired,
        PrincipalRole::ReadOnly,
    ] {
        assert!(reads_for(owner, blind), "{}", blind.name());
        assert!(
            !reads_for(PrincipalRole::OtherTenant, blind),
            "{}",
            blind.name()
        );
        assert!(!reads_for(blind, owner), "{}", blind.name());
    }
    assert!(!reads_for(owner, PrincipalRole::OtherTenant));
    assert!(reads_for(
        PrincipalRole::OtherTenant,
        PrincipalRole::OtherTenant
    ));
    assert!(reads_for(owner, PrincipalRole::OtherSession));
    assert_eq!(key_space(PrincipalRole::OtherSession), owner);
    assert_eq!(
        key_space(PrincipalRole::OtherTenant),
        PrincipalRole::OtherTenant
    );
}

/// A liveness claim about a burst that is let go as this says, of copies that were answered so.
fn burst(step: &str, statuses: &[u16], in_flight: u32, in_turn: Option<&str>) -> Verdict {
    let scenario = scenario(&format!(
        "steps:\n  - send: {{ as: first, key: fresh }}\n  - burst: {{ as: burst, like: first, {step} }}\nexpect:\n  item-5:\n    - answered: {{ of: burst, within: 1s }}\n"
    ));
    let copies = statuses
        .iter()
        .zip(0..)
        .map(|(status, copy)| answered("burst", *status).copy(copy).at(10, 20));
    let copies = std::iter::once(paid("first", "pay_1")).chain(copies);
    let number = u32::try_from(statuses.len()).unwrap();
    let mut transcript = transcript(vec![round(copies).burst("burst", number, in_flight)]);
    transcript.in_turn = in_turn.map(str::to_owned);
    judged_with(&scenario, &contract(""), &transcript).verdict
}

#[test]
fn a_burst_of_which_most_was_turned_away_is_none() {
    let of = |reached: usize, away: usize| {
        let statuses: Vec<u16> = std::iter::repeat_n(201, reached)
            .chain(std::iter::repeat_n(429, away))
            .collect();
        burst("copies: 4", &statuses, 2, None)
    };
    assert_eq!(of(4, 0), Verdict::Pass);
    assert_eq!(of(2, 2), Verdict::Pass);
    assert_eq!(of(2, 3), Verdict::Inconclusive);
    assert_eq!(of(1, 1), Verdict::Inconclusive);
    assert_eq!(of(0, 2), Verdict::Inconclusive);
    assert_eq!(of(0, 1), Verdict::Pass, "one request is no burst");
    let flood = burst("copies: 4, release: loose", &[201, 429, 429, 429], 1, None);
    assert_eq!(flood, Verdict::Pass, "a flood is to be turned away");
}

#[test]
fn copies_that_came_one_after_another_are_no_burst_unless_they_were_to_be_spread() {
    let two = [201, 201];
    assert_eq!(burst("copies: 2", &two, 2, None), Verdict::Pass);
    assert_eq!(burst("copies: 2", &two, 1, None), Verdict::Inconclusive);
    assert_eq!(burst("copies: 2", &[201], 1, None), Verdict::Pass);
    let later = "copies: 2, at: { when: ended, of: first, plus: 5ms }";
    assert_eq!(burst(later, &two, 1, None), Verdict::Inconclusive);
    let spread = "copies: 2, at: { when: ended, of: first, spread: [0ms, 5ms] }";
    assert_eq!(burst(spread, &two, 1, None), Verdict::Pass);
    let loose = "copies: 2, release: loose";
    assert_eq!(burst(loose, &two, 1, None), Verdict::Pass);
}

#[test]
fn where_the_target_takes_requests_in_turn_no_burst_shows_anything() {
    let turns = Some("the API takes one request at a time");
    assert_eq!(
        burst("copies: 2", &[201, 201], 2, turns),
        Verdict::Inconclusive
    );
    assert_eq!(burst("copies: 2", &[201], 1, turns), Verdict::Pass);
    let loose = "copies: 2, release: loose";
    assert_eq!(burst(loose, &[201, 201], 2, turns), Verdict::Pass);
}

#[test]
fn copies_that_were_not_sent_were_not_turned_away() {
    let claim = scenario(
        "steps:\n  - burst: { as: burst, key: fresh, copies: 3 }\nexpect:\n  item-5:\n    - answered: { of: burst, within: 1s }\n",
    );
    let one = round([answered("burst", 201).at(10, 20)]).burst("burst", 3, 3);
    let finding = judged(&claim, &contract(""), vec![one]);
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
}

#[test]
fn what_a_contract_allows_need_not_be_assumed() {
    let assuming = |lines: &str| {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: fresh }\n  - retry: { as: again, like: first }\nassume:\n  - outcome: { of: first, is: invalid, unless: mismatch }\nexpect:\n  item-5:\n    - answered: { of: again, within: 1s }\n",
        );
        let round = round([paid("first", "pay_1"), paid("again", "pay_1")]);
        judged(&scenario, &contract(lines), vec![round]).verdict
    };
    let replays = "extends: generic\non: { mismatch: { outcome: replay-stored, strength: must } }";
    assert_eq!(assuming(replays), Verdict::Pass);
    assert_eq!(assuming("extends: generic"), Verdict::Inconclusive);
}

const NEVER: &str = "outcome: { of: again, never: executed }";

fn within_a_second(clock: &str, round: Round) -> Verdict {
    let lines = format!("extends: generic\nretention: {{ min: 1s, clock: {clock} }}");
    judged(&expecting(NEVER), &contract(&lines), vec![round]).verdict
}

#[test]
fn a_retention_begins_with_the_first_request_of_the_key_that_was_answered() {
    let first = |at: u64| paid("first", "pay_1").at(at, at + 5);
    let again = |at: u64| paid("again", "pay_2").at(at, at + 5);
    for (clock, last) in [("first-request", 1_000), ("completion", 1_005)] {
        let sent_at = |at: u64| within_a_second(clock, round([first(0), again(at)]));
        assert_eq!(sent_at(last), Verdict::Fail, "{clock}");
        assert_eq!(sent_at(last + 1), Verdict::Inconclusive, "{clock}");
    }
    for before in [first(0).key(Some("o")), sent("first").at(0, 5)] {
        let own = round([before, first(1_400).copy(1), again(1_500)]);
        assert_eq!(within_a_second("first-request", own), Verdict::Fail);
    }
}

#[test]
fn requests_without_an_answer_outlived_nothing() {
    let contract = contract("extends: generic\nretention: { min: 1s }");
    let lost = round([sent("first"), sent("again").at(90_000, 90_005)]);
    let claim = expecting("effects: { at-most: 1 }");
    let two = judged(&claim, &contract, vec![lost.late(&["pay_1", "pay_2"])]);
    assert_eq!(two.verdict, Verdict::Fail, "{}", two.reason);
}

#[test]
fn only_what_counts_effects_of_the_operation_counts() {
    let round = round([paid("first", "pay_1"), paid("again", "pay_1")]).late(&["pay_1"]);
    let mut transcript = transcript(vec![round]);
    let mut refunds = probe("refunds");
    refunds.operation = OperationRole::Other;
    let mut stock = probe("stock");
    stock.is_state = true;
    transcript.probes.extend([refunds, stock]);
    let claim = expecting("effects: { at-most: 1 }");
    let finding = judged_with(&claim, &contract(""), &transcript);
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
}

#[test]
fn a_leak_is_none_where_everybody_is_let_in_and_one_leak_is_enough() {
    let claim = scenario(
        "steps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first, times: 2 }\nassume:\n  - outcome: { of: first, is: unauthorized }\nexpect:\n  item-5:\n    - outcome: { of: again, never: [executed, foreign] }\n",
    );
    let leak = |role: PrincipalRole| paid("again", "pay_00000001").by(role);
    let first = || paid("first", "pay_00000001");
    let of = |rest: Vec<crate::transcript::Exchange>| {
        let all = std::iter::once(first()).chain(rest);
        judged(&claim, &contract(""), vec![round(all)]).verdict
    };
    let wrong = PrincipalRole::Wrong;
    assert_eq!(of(vec![leak(wrong)]), Verdict::Fail);
    let fresh = paid("control", "pay_00000007").by(wrong).key(Some("f"));
    assert_eq!(of(vec![leak(wrong), fresh]), Verdict::Inconclusive);
    let own = paid("again", "pay_00000002").copy(1);
    assert_eq!(of(vec![leak(wrong), own]), Verdict::Fail);
    assert_eq!(verdict(NEVER, round([])).0, Verdict::Inconclusive);
}

#[test]
fn one_key_is_one_value_in_one_scope() {
    let own = || paid("first", "pay_1");
    let is_same = |other: Exchange| same_key(&own(), &other) && same_key(&other, &own());
    assert!(is_same(own()));
    assert!(is_same(own().by(PrincipalRole::OtherSession)));
    assert!(!is_same(own().key(Some("o"))));
    assert!(!is_same(own().key(None)));
    assert!(!is_same(own().on(OperationRole::Other)));
    assert!(!is_same(own().by(PrincipalRole::OtherTenant)));
    let keyless = |marker: &str| {
        let mut exchange = own().key(None);
        exchange.marker = marker.to_owned();
        exchange
    };
    assert!(same_key(&keyless("m"), &keyless("m")));
    assert!(
        !same_key(&keyless("m"), &keyless("n")),
        "each is of its own"
    );
}

#[test]
fn a_promise_of_a_success_and_a_success_that_may_be_a_refusal_are_none() {
    let told = |status: u16, outcome: Meaning| {
        let mut exchange = answered("first", status);
        exchange.outcome = outcome.into();
        succeeded(&exchange)
    };
    assert!(told(201, Meaning::Executed));
    assert!(told(200, Meaning::Replayed));
    assert!(!told(202, Meaning::InFlight), "it was only accepted");
    assert!(!told(200, Meaning::Mismatch), "it says so in its body");
    assert!(!told(409, Meaning::Replayed));
    assert!(!succeeded(&sent("first")));
}
