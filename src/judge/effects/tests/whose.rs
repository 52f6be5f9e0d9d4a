//! Tests of whose effects are counted, and of which requests can have made them.

use super::AT_MOST;
use crate::judge::sample::{
    answered, contract, expecting, judged, judged_with, paid, reading, round, scenario, sent,
    transcript, verdict,
};
use crate::scenario::{LookupBy, OperationRole, PrincipalRole};
use crate::transcript::{Delivery, Exchange, ReadingKind, Round};
use crate::verdict::Verdict;

fn marked(marker: &str, mut exchange: Exchange) -> Exchange {
    exchange.marker = marker.to_owned();
    exchange
}

#[test]
fn of_markers_that_are_fresh_for_each_copy_each_is_counted() {
    let claim = scenario(
        "steps:\n  - send: { as: first, key: fresh, marker: other }\n  - burst: { as: burst, key: fresh-each, marker: fresh-each, copies: 2 }\nexpect:\n  item-5:\n    - effects: { at-most: 1, marker: fresh-each }\n",
    );
    let judged = |second: &[&str]| {
        let late = |marker: &str, ids: &[&str]| {
            let mut reading = reading(ReadingKind::Late, ids);
            reading.marker = marker.to_owned();
            reading.marker_name = "fresh-each".to_owned();
            reading
        };
        let round = round([
            marked("o", paid("first", "pay_9").at(0, 5)),
            marked("m1", paid("burst", "pay_1").at(10, 20)),
            marked("m2", paid("burst", "pay_2").copy(1).at(10, 20)),
        ])
        .burst("burst", 2, 2)
        .read(late("o", &["pay_8", "pay_9"]))
        .read(late("m1", &["pay_1"]))
        .read(late("m2", second));
        judged(&claim, &contract(""), vec![round]).verdict
    };
    assert_eq!(
        judged(&["pay_2"]),
        Verdict::Pass,
        "the other marker is not meant"
    );
    assert_eq!(judged(&["pay_2", "pay_3"]), Verdict::Fail);
}

#[test]
fn more_effects_than_requests_are_told_as_such() {
    let late = |round: Round| verdict(AT_MOST, round.late(&["pay_1", "pay_2"])).1;
    let plain = "two payments for one key: pay_1 and pay_2";
    let first = || paid("first", "pay_1");
    assert_eq!(late(round([first(), paid("again", "pay_1")])), plain);
    let more = |other: Exchange| {
        let says = late(round([first(), other]));
        assert!(says.starts_with(plain) && says.contains("(1)"), "{says}");
    };
    more(marked("o", paid("again", "pay_1")));
    more(paid("again", "pay_1").on(OperationRole::Other));
    let mut asked = paid("again", "pay_1");
    asked.lookup = Some(LookupBy::Key);
    more(asked);
    let mut unsent = sent("again");
    unsent.delivery = Delivery::NotSent;
    more(unsent);
}

#[test]
fn what_one_caller_saw_before_is_not_taken_from_what_another_made() {
    let tenant = |kind: ReadingKind| reading(kind, &["pay_8"]).seen_by(PrincipalRole::OtherTenant);
    let round = round([paid("first", "pay_1"), paid("again", "pay_1")])
        .read(reading(ReadingKind::Before, &[]))
        .read(tenant(ReadingKind::Before))
        .late(&["pay_1"])
        .read(tenant(ReadingKind::Late));
    let (judged, reason) = verdict("effects: { at-least: 1 }", round);
    assert_eq!(judged, Verdict::Pass, "{reason}");
}

#[test]
fn a_request_of_another_marker_or_operation_that_outlived_its_key_excuses_nothing() {
    let contract = contract("extends: generic\nretention: { min: 1s, clock: first-request }");
    let judged = |change: fn(Exchange) -> Exchange| {
        let first = || paid("first", "pay_1").at(0, 5);
        let late = paid("again", "pay_2").at(5_000, 5_005);
        let round = round([first(), change(first().copy(1)), change(late)]);
        let round = round.late(&["pay_1", "pay_2"]);
        self::judged(&expecting(AT_MOST), &contract, vec![round]).verdict
    };
    assert_eq!(judged(|own| own), Verdict::Inconclusive);
    assert_eq!(judged(|other| marked("o", other)), Verdict::Fail);
    assert_eq!(
        judged(|other| other.on(OperationRole::Other)),
        Verdict::Fail
    );
}

#[test]
fn identities_are_no_reading_and_prove_nothing_once_the_key_is_forgotten() {
    let blind = |claim: &str, lines: &str, again: Exchange| {
        let round = round([paid("first", "pay_1").at(0, 5), again.at(5_000, 5_005)]);
        let mut transcript = transcript(vec![round]);
        transcript.probes.clear();
        judged_with(&expecting(claim), &contract(lines), &transcript).verdict
    };
    let again = || paid("again", "pay_2");
    assert_eq!(blind(AT_MOST, "", again()), Verdict::Fail);
    let short = "extends: generic\nretention: { min: 1s, clock: first-request }";
    assert_eq!(blind(AT_MOST, short, again()), Verdict::Inconclusive);
    let refused = answered("again", 409).naming("pay_2");
    assert_eq!(blind(AT_MOST, "", refused), Verdict::Inconclusive);

    let claim = scenario(
        "steps:\n  - send: { as: first, key: fresh }\n  - read: { as: between }\n  - send: { as: again, like: first }\nexpect:\n  item-5:\n    - effects: { at-most: 1, reading: between }\n",
    );
    let round = round([paid("first", "pay_1"), paid("again", "pay_2")]);
    let mut transcript = transcript(vec![round]);
    transcript.probes.clear();
    let named = judged_with(&claim, &contract(""), &transcript);
    assert_eq!(named.verdict, Verdict::Inconclusive, "{}", named.reason);
}
