//! Tests of one round that several places ran.

use super::meetings;
use crate::judge::reclassify;
use crate::judge::sample::{
    answered, contract, demo, expecting, judged, judged_with, millis, paid, reading, round,
    scenario, transcript,
};
use crate::outcome::Meaning;
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{Reading, ReadingKind, Round, Shown, Vantage};
use crate::verdict::Verdict;

/// A round as a place saw it whose own clock began so many milliseconds before the agreed start.
fn seen(place: &str, number: u32, start: u64, mut round: Round) -> Round {
    round.number = number;
    round.vantage = Some(Vantage {
        same: "r1".to_owned(),
        place: place.to_owned(),
        start: millis(start),
    });
    round
}

fn paying(id: &str, from: u64) -> Round {
    round([
        paid("first", id).at(from, from + 50),
        paid("again", id).at(from + 60, from + 65),
    ])
}

#[test]
fn two_resources_are_seen_where_each_place_saw_one() {
    let claims = expecting("one-resource: { of: [first, again] }");
    let finding = |rounds: Vec<Round>| judged(&claims, &contract(""), rounds);
    let here = seen("a", 1, 1000, paying("pay_1", 1000));
    let there = seen("b", 2, 5000, paying("pay_2", 5010));
    let both = finding(vec![here.clone(), there]);
    assert_eq!(both.verdict, Verdict::Fail);
    assert!(both.reason.contains("pay_1, pay_2"), "{}", both.reason);
    assert_eq!((both.rounds.ran, both.rounds.failed), (1, 1));
    let places: Vec<u32> = both.evidence.iter().map(|seen| seen.round).collect();
    assert_eq!(places, [1, 2], "each is shown where it was recorded");
    let same = seen("b", 2, 5000, paying("pay_1", 5010));
    assert_eq!(finding(vec![here.clone(), same]).verdict, Verdict::Pass);
    let alone = finding(vec![here]);
    assert_eq!(alone.verdict, Verdict::Inconclusive);
    assert!(alone.reason.contains("--merge"), "{}", alone.reason);
}

#[test]
fn an_effect_that_two_places_list_counts_once_and_one_that_one_lists_counts_too() {
    let claims = expecting("effects: { at-most: 1 }");
    let finding = |one: &[&str], other: &[&str]| {
        let here = seen("a", 1, 0, paying("pay_1", 0).late(one));
        let there = seen("b", 2, 0, paying("pay_1", 0).late(other));
        judged(&claims, &contract(""), vec![here, there])
    };
    assert_eq!(finding(&["pay_1"], &["pay_1"]).verdict, Verdict::Pass);
    let two = finding(&["pay_1"], &["pay_2"]);
    assert_eq!(two.verdict, Verdict::Fail);
    assert!(
        two.reason.contains("two payments for one key"),
        "{}",
        two.reason
    );
}

#[test]
fn a_place_that_was_told_to_wait_for_another_one_is_no_fault_of_the_target() {
    let claims = scenario(
        "steps:\n  - send: { as: first, key: fresh }\n  - retry: { as: again, like: first }\nassume:\n  - outcome: { of: first, is: success }\nexpect:\n  item-5:\n    - keeps: { promise: in-progress, of: first }\n    - outcome: { of: again, is: replayed }\n",
    );
    let here = seen("a", 1, 0, paying("pay_1", 0));
    let refused = round([
        answered("first", 409).at(10, 12),
        paid("again", "pay_1").at(60, 65),
    ]);
    let there = seen("b", 2, 0, refused);
    let mut all = transcript(vec![here, there]);
    for round in &mut all.rounds {
        round.readings = paying("pay_1", 0).late(&["pay_1"]).readings;
    }
    let findings = super::super::judge("create-payment", &claims, &claims.cases[0], &demo(), &all);
    for finding in findings {
        assert_ne!(
            finding.verdict,
            Verdict::Fail,
            "{}: {}",
            finding.id,
            finding.reason
        );
    }
    let whole = reclassify::rounds(&demo(), &claims.cases[0], &all);
    assert_eq!(
        whole[0].round.exchanges[0].outcome,
        Meaning::Executed.into(),
        "all others had made nothing"
    );
    let mut other = all.clone();
    let elsewhere = paid("other", "pay_9").key(Some("o")).at(5, 8);
    other.rounds[0].exchanges.push(elsewhere);
    let whole = reclassify::rounds(&demo(), &claims.cases[0], &other);
    assert_eq!(
        whole[0].round.exchanges[0].outcome,
        Meaning::Executed.into()
    );
    for payments in [&[][..], &["pay_1", "pay_2"][..]] {
        let mut uncertain = all.clone();
        for round in &mut uncertain.rounds {
            round.readings = paying("pay_1", 0).late(payments).readings;
        }
        let whole = reclassify::rounds(&demo(), &claims.cases[0], &uncertain);
        let open = whole[0].round.exchanges[0].outcome;
        assert!(open.may_be(Meaning::Replayed), "{payments:?}: {open}");
    }
    let once = expecting("effects: { at-most: 1 }");
    assert_eq!(judged_with(&once, &demo(), &all).verdict, Verdict::Pass);
}

#[test]
fn places_that_did_not_meet_show_nothing() {
    let claims = expecting("one-resource: { of: [first, again] }");
    let here = seen("a", 1, 0, paying("pay_1", 0));
    let late = seen("b", 2, 0, paying("pay_1", 5000));
    let apart = transcript(vec![here.clone(), late]);
    let finding = judged_with(&claims, &contract(""), &apart);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
    assert!(finding.reason.contains("met"), "{}", finding.reason);
    assert_eq!(meetings([&apart]).met, 0);
    let there = seen("b", 2, 5000, paying("pay_1", 5000));
    let together = transcript(vec![here, there]);
    let met = meetings([&together]);
    assert_eq!((met.places, met.rounds, met.met), (2, 1, 1));
}

#[test]
fn one_request_of_another_place_is_enough_to_show_a_second_resource() {
    let claims = expecting("one-resource: { of: [first, again] }");
    let here = seen("a", 1, 0, paying("pay_1", 0));
    let there = || seen("b", 2, 0, round([paid("first", "pay_2").at(10, 60)]));
    let alone = seen("a", 1, 0, round([paid("first", "pay_1").at(0, 50)]));
    for here in [here, alone] {
        let finding = judged(&claims, &contract(""), vec![here, there()]);
        assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
    }
}

#[test]
fn of_two_counts_the_higher_one_stands() {
    let counting = |place: &str, number: u32, count: f64| {
        let late = reading(ReadingKind::Late, &[]).shows(Shown::Count(count));
        seen(place, number, 0, paying("pay_1", 0).read(late))
    };
    let judged = |claim: &str, one: f64, other: f64| {
        let rounds = vec![counting("a", 1, one), counting("b", 2, other)];
        judged(&expecting(claim), &contract(""), rounds).verdict
    };
    let at_most = "effects: { at-most: 1 }";
    assert_eq!(judged(at_most, 1.0, 1.0), Verdict::Pass);
    assert_eq!(judged(at_most, 1.0, 2.0), Verdict::Fail);
    assert_eq!(judged(at_most, 2.0, 1.0), Verdict::Fail);
    let at_least = "effects: { at-least: 1 }";
    assert_eq!(judged(at_least, 0.0, 0.0), Verdict::Fail);
    assert_eq!(judged(at_least, 0.0, 1.0), Verdict::Pass);
    assert_eq!(judged(at_least, 1.0, 0.0), Verdict::Pass);
}

#[test]
fn readings_of_different_things_are_not_put_together() {
    let claims = expecting("effects: { at-most: 1 }");
    let finding = |change: fn(&mut Reading)| {
        let here = seen("a", 1, 0, paying("pay_1", 0).late(&["pay_1"]));
        let mut there = paying("pay_1", 0).late(&["pay_1"]);
        let mut other = reading(ReadingKind::Late, &["pay_2"]);
        change(&mut other);
        there.readings.push(other);
        let there = seen("b", 2, 0, there);
        judged(&claims, &contract(""), vec![here, there]).verdict
    };
    assert_eq!(finding(|_| {}), Verdict::Fail);
    assert_eq!(
        finding(|other| other.probe = "refunds".to_owned()),
        Verdict::Pass
    );
    assert_eq!(
        finding(|other| other.operation = OperationRole::Other),
        Verdict::Pass
    );
    assert_eq!(
        finding(|other| other.principal = PrincipalRole::OtherTenant),
        Verdict::Pass
    );
    assert_eq!(
        finding(|other| other.marker = "o".to_owned()),
        Verdict::Pass
    );
}

#[test]
fn places_meet_in_one_round_with_one_key_at_one_time() {
    let one = || round([paid("first", "pay_1").at(0, 50)]);
    let met = |change: fn(&mut Round)| {
        let mut there = seen("b", 2, 0, one());
        change(&mut there);
        meetings([&transcript(vec![seen("a", 1, 0, one()), there])]).met
    };
    assert_eq!(met(|_| {}), 1);
    assert_eq!(met(|there| there.exchanges[0].key.value = None), 0);
    assert_eq!(met(|there| there.exchanges[0].times.sent = None), 0);
    assert_eq!(
        met(|there| there.exchanges[0].times.sent = Some(millis(50))),
        0
    );
    assert_eq!(
        met(|there| there.vantage.as_mut().unwrap().same = "r2".to_owned()),
        0
    );
    // What met nobody takes nothing away.
    let alone = |place: &str, number: u32, at: u64| {
        let mut both = one();
        both.exchanges.push(paid("again", "pay_1").at(at, at + 5));
        seen(place, number, 0, both)
    };
    let some = transcript(vec![alone("a", 1, 200), alone("b", 2, 300)]);
    assert_eq!(meetings([&some]).met, 1);
    let far = seen("c", 3, 0, round([paid("first", "pay_1").at(900, 950)]));
    let all = transcript(vec![seen("a", 1, 0, one()), seen("b", 2, 0, one()), far]);
    assert_eq!(meetings([&all]).met, 1);
    // A place that came as the other one's request ended met it no more.
    let mut early = seen("b", 2, 50, one());
    early.number = 2;
    assert_eq!(
        meetings([&transcript(vec![seen("a", 1, 0, one()), early])]).met,
        0
    );
}
