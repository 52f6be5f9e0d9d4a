//! Tests of counted effects: what holds, what breaks, and what shows nothing.

mod whose;

use crate::judge::sample::{
    answered, contract, demo, expecting, judged, judged_with, paid, probe, reading, round,
    scenario, sent, transcript, verdict,
};
use crate::scenario::OperationRole;
use crate::transcript::{ReadingKind, Shown};
use crate::verdict::Verdict;

const AT_MOST: &str = "effects: { at-most: 1 }";

fn twice() -> crate::transcript::Round {
    round([paid("first", "pay_1"), paid("again", "pay_1")])
}

#[test]
fn one_effect_for_one_key_holds() {
    let (verdict, reason) = verdict(AT_MOST, twice().late(&["pay_1"]));
    assert_eq!(verdict, Verdict::Pass, "{reason}");
}

#[test]
fn two_effects_break_it_and_are_named() {
    let (verdict, reason) = verdict(AT_MOST, twice().late(&["pay_1", "pay_2"]));
    assert_eq!(verdict, Verdict::Fail);
    assert_eq!(reason, "two payments for one key: pay_1 and pay_2");
}

#[test]
fn an_effect_that_was_seen_and_vanished_still_counts() {
    let round = twice()
        .read(reading(ReadingKind::Poll, &["pay_1", "pay_2"]))
        .late(&["pay_1"]);
    assert_eq!(verdict(AT_MOST, round).0, Verdict::Fail);
}

#[test]
fn zero_effects_are_no_pass_of_at_most() {
    let (verdict, reason) = verdict(AT_MOST, twice().late(&[]));
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(reason.contains("no effect at all"), "{reason}");
}

#[test]
fn zero_effects_of_requests_that_were_all_refused_are_void() {
    let refused = round([answered("first", 400), answered("again", 400)]).late(&[]);
    assert_eq!(verdict(AT_MOST, refused).0, Verdict::Skip);
    let lost = round([sent("first"), answered("again", 400)]).late(&[]);
    assert_eq!(verdict(AT_MOST, lost).0, Verdict::Inconclusive);
}

#[test]
fn a_failed_reading_is_no_reading_and_never_zero() {
    let failed = reading(ReadingKind::Late, &[]).failed("GET answered 500");
    let early = reading(ReadingKind::Early, &["pay_1"]);
    let (verdict, reason) = verdict(AT_MOST, twice().read(early).read(failed));
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(reason.contains("GET answered 500"), "{reason}");
}

#[test]
fn an_early_reading_alone_is_not_settled() {
    let early = reading(ReadingKind::Early, &["pay_1"]);
    assert_eq!(
        verdict(AT_MOST, twice().read(early)).0,
        Verdict::Inconclusive
    );
}

#[test]
fn what_was_there_before_is_nobodys_effect() {
    let round = twice()
        .read(reading(ReadingKind::Before, &[]).shows(Shown::Count(7.0)))
        .read(reading(ReadingKind::Late, &[]).shows(Shown::Count(8.0)));
    assert_eq!(verdict(AT_MOST, round).0, Verdict::Pass);
}

#[test]
fn each_probe_is_counted_on_its_own_in_its_own_units() {
    let mut transcript =
        transcript(vec![twice().late(&["pay_1"]).read(
            reading(ReadingKind::Late, &["r1", "r2", "r3"]).of("receipts"),
        )]);
    let mut receipts = probe("receipts");
    receipts.per_execution = 2.0;
    transcript.probes.push(receipts);
    let finding = judged_with(&expecting(AT_MOST), &contract(""), &transcript);
    assert_eq!(
        finding.verdict,
        Verdict::Fail,
        "three of two each are a part of a second"
    );
    assert!(finding.reason.contains("receipts"), "{}", finding.reason);
    let finding = judged_with(
        &expecting("effects: { at-most: 1, probe: payments }"),
        &contract(""),
        &transcript,
    );
    assert_eq!(finding.verdict, Verdict::Pass);
}

#[test]
fn at_most_none_needs_a_probe_that_has_been_seen_to_count() {
    let claim = "effects: { at-most: 0 }";
    let unsent = || round([answered("first", 400)]).late(&[]);
    assert_eq!(verdict(claim, unsent()).0, Verdict::Pass);
    let mut transcript = transcript(vec![unsent()]);
    transcript.probes[0].live = false;
    let finding = judged_with(&expecting(claim), &contract(""), &transcript);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
}

#[test]
fn a_named_reading_is_judged_apart_from_what_came_later() {
    let named = || {
        scenario(
            "steps:\n  - send: { as: first, key: fresh }\n  - read: { as: between }\n  - send: { as: again, like: first }\nexpect:\n  item-5:\n    - effects: { at-most: 1, reading: between }\n",
        )
    };
    let between = |ids: &[&str]| reading(ReadingKind::Named("between".to_owned()), ids);
    let later = twice().read(between(&["pay_1"])).late(&["pay_1", "pay_2"]);
    assert_eq!(
        judged(&named(), &contract(""), vec![later]).verdict,
        Verdict::Pass
    );
    let early = twice().read(between(&["pay_1", "pay_2"])).late(&["pay_1"]);
    assert_eq!(
        judged(&named(), &contract(""), vec![early]).verdict,
        Verdict::Fail
    );
    let missing = twice().late(&["pay_1"]);
    assert_eq!(
        judged(&named(), &contract(""), vec![missing]).verdict,
        Verdict::Inconclusive
    );
}

#[test]
fn at_least_stands_on_the_last_settled_reading() {
    let claim = "effects: { at-least: 1 }";
    assert_eq!(verdict(claim, twice().late(&["pay_1"])).0, Verdict::Pass);
    assert_eq!(verdict(claim, twice().late(&[])).0, Verdict::Fail);
    assert_eq!(verdict(claim, twice()).0, Verdict::Inconclusive);
    let late = twice()
        .read(reading(ReadingKind::Early, &[]))
        .late(&["pay_1"]);
    assert_eq!(verdict(claim, late).0, Verdict::Pass);
}

#[test]
fn without_probes_identities_show_a_break_and_never_its_absence() {
    let blind = |ids: [&str; 2]| {
        let mut transcript =
            transcript(vec![round([paid("first", ids[0]), paid("again", ids[1])])]);
        transcript.probes.clear();
        judged_with(&expecting(AT_MOST), &contract(""), &transcript)
    };
    assert_eq!(blind(["pay_1", "pay_2"]).verdict, Verdict::Fail);
    let same = blind(["pay_1", "pay_1"]);
    assert_eq!(same.verdict, Verdict::Inconclusive);
    assert!(same.reason.contains("cannot be counted"), "{}", same.reason);
}

#[test]
fn a_repeat_after_the_retention_proves_nothing() {
    let contract = contract("extends: generic\nretention: { min: 1s, max: 1s }");
    let late = round([
        paid("first", "pay_1").at(0, 5),
        paid("again", "pay_2").at(1_500, 1_505),
    ])
    .late(&["pay_1", "pay_2"]);
    let finding = judged(&expecting(AT_MOST), &contract, vec![late]);
    assert_eq!(finding.verdict, Verdict::Inconclusive, "{}", finding.reason);
    let slow = round([
        paid("first", "pay_1").at(0, 2_000),
        paid("again", "pay_2").at(2_001, 2_005),
    ])
    .late(&["pay_1", "pay_2"]);
    let finding = judged(&expecting(AT_MOST), &contract, vec![slow]);
    assert_eq!(
        finding.verdict,
        Verdict::Fail,
        "it counts from the end of the first"
    );
}

#[test]
fn a_promise_that_allows_it_voids_it() {
    let claim = "effects: { at-most: 1, unless: mismatch }";
    let round = twice().late(&["pay_1", "pay_2"]);
    let lenient =
        contract("extends: generic\non: { mismatch: { outcome: execute-new, strength: must } }");
    let finding = judged(&expecting(claim), &lenient, vec![round.clone()]);
    assert_eq!(finding.verdict, Verdict::Skip);
    assert!(finding.reason.starts_with("void: the contract declares"));
    let finding = judged(&expecting(claim), &demo(), vec![round]);
    assert_eq!(finding.verdict, Verdict::Fail);
}

#[test]
fn effects_of_another_marker_are_not_its_own() {
    let mut other = reading(ReadingKind::Late, &["pay_2", "pay_3"]);
    other.marker = "o".to_owned();
    other.marker_name = "other".to_owned();
    let round = twice().late(&["pay_1"]).read(other);
    assert_eq!(verdict(AT_MOST, round).0, Verdict::Pass);
    // Of a marker that nothing was sent with, readings alone tell.
    let mut own = reading(ReadingKind::Late, &["pay_1", "pay_2"]);
    own.marker = "n".to_owned();
    assert_eq!(
        verdict(AT_MOST, twice().late(&["pay_1"]).read(own)).0,
        Verdict::Fail
    );
}

#[test]
fn what_one_execution_shows_is_the_unit_beyond_what_was_there() {
    let shown = |before: f64, late: f64, claim: &str| {
        let round = twice()
            .read(reading(ReadingKind::Before, &[]).shows(Shown::Count(before)))
            .read(reading(ReadingKind::Late, &[]).shows(Shown::Count(late)));
        let mut transcript = transcript(vec![round]);
        transcript.probes[0].per_execution = 2.0;
        judged_with(&expecting(claim), &contract(""), &transcript).verdict
    };
    assert_eq!(shown(7.0, 9.0, AT_MOST), Verdict::Pass);
    assert_eq!(shown(7.0, 10.0, AT_MOST), Verdict::Fail);
    // What an effect takes away counts as well: a stock that falls.
    assert_eq!(shown(7.0, 5.0, AT_MOST), Verdict::Pass);
    assert_eq!(shown(7.0, 3.0, AT_MOST), Verdict::Fail);
    let at_least = "effects: { at-least: 1 }";
    assert_eq!(shown(7.0, 9.0, at_least), Verdict::Pass);
    assert_eq!(shown(7.0, 8.0, at_least), Verdict::Fail);
}

#[test]
fn at_least_takes_an_early_reading_for_the_last_one_only_where_none_is_named() {
    let claim = "effects: { at-least: 1 }";
    let early = || reading(ReadingKind::Early, &["pay_1"]);
    let poll = reading(ReadingKind::Poll, &["pay_1"]);
    assert_eq!(verdict(claim, twice().read(early())).0, Verdict::Pass);
    assert_eq!(verdict(claim, twice().read(poll)).0, Verdict::Inconclusive);
    let named = scenario(
        "steps:\n  - send: { as: first, key: fresh }\n  - read: { as: there }\nexpect:\n  item-5:\n    - effects: { reading: there, at-least: 1 }\n",
    );
    let unread = round([paid("first", "pay_1")]).read(early());
    let judged = judged(&named, &contract(""), vec![unread]);
    assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
}

#[test]
fn the_evidence_is_of_those_who_say_that_they_made_it() {
    let mut stranger = paid("first", "pay_9").copy(1);
    stranger.marker = "o".to_owned();
    stranger.marker_name = "other".to_owned();
    let elsewhere = paid("first", "pay_8").copy(2).on(OperationRole::Other);
    let round = round([
        stranger,
        elsewhere,
        answered("first", 409).copy(3),
        paid("first", "pay_1").copy(4),
        paid("again", "pay_2"),
    ])
    .late(&["pay_1", "pay_2"]);
    let finding = judged(&expecting(AT_MOST), &contract(""), vec![round]);
    assert_eq!(finding.verdict, Verdict::Fail);
    let places: Vec<usize> = finding.evidence.iter().map(|seen| seen.exchange).collect();
    assert_eq!(places, [3, 4]);
}

#[test]
fn what_was_not_sent_or_cannot_be_counted_shows_nothing() {
    let other = scenario(
        "steps:\n  - send: { as: first, key: fresh }\n  - send: { as: second, key: fresh, marker: other }\nexpect:\n  item-5:\n    - effects: { at-most: 1, marker: other }\n",
    );
    let one = round([paid("first", "pay_1")]).late(&["pay_1"]);
    let unsent = judged(&other, &contract(""), vec![one]);
    assert_eq!(unsent.verdict, Verdict::Inconclusive, "{}", unsent.reason);
    let unknown = "effects: { at-most: 1, probe: receipts }";
    assert_eq!(
        verdict(unknown, twice().late(&["pay_1"])).0,
        Verdict::Inconclusive
    );
    let mut dead = transcript(vec![twice().late(&[])]);
    dead.probes[0].live = false;
    let claim = |claim: &str| judged_with(&expecting(claim), &contract(""), &dead).verdict;
    assert_eq!(claim("effects: { at-least: 1 }"), Verdict::Inconclusive);
    assert_eq!(claim("effects: { at-most: 0 }"), Verdict::Inconclusive);
    let refused = round([answered("first", 400), answered("again", 400)]).late(&[]);
    let mut dead = transcript(vec![refused]);
    dead.probes[0].live = false;
    let judged = judged_with(&expecting(AT_MOST), &contract(""), &dead);
    assert_eq!(judged.verdict, Verdict::Inconclusive, "it may be blind");
}

#[test]
fn only_readings_of_the_same_probe_operation_and_marker_are_counted() {
    let with = |change: fn(&mut crate::transcript::Reading)| {
        let mut two = reading(ReadingKind::Late, &["pay_1", "pay_2"]);
        change(&mut two);
        verdict(AT_MOST, twice().late(&["pay_1"]).read(two)).0
    };
    assert_eq!(with(|_| {}), Verdict::Fail);
    assert_eq!(with(|two| two.probe = "other".to_owned()), Verdict::Pass);
    assert_eq!(
        with(|two| two.operation = OperationRole::Other),
        Verdict::Pass
    );
    let foreign = with(|two| {
        two.marker = "o".to_owned();
        two.marker_name = "other".to_owned();
    });
    assert_eq!(foreign, Verdict::Pass);
}

#[test]
fn what_was_there_before_is_not_ours() {
    let before = |ids: &[&str]| reading(ReadingKind::Before, ids);
    let round = |was: &[&str]| twice().read(before(was)).late(&["old", "pay_1"]);
    assert_eq!(verdict(AT_MOST, round(&["old"])).0, Verdict::Pass);
    assert_eq!(verdict(AT_MOST, round(&[])).0, Verdict::Fail);
    let unread = twice()
        .read(before(&[]).failed("GET answered 500"))
        .late(&["pay_1"]);
    assert_eq!(verdict(AT_MOST, unread).0, Verdict::Inconclusive);
}

#[test]
fn each_principal_is_counted_by_itself() {
    let theirs = reading(ReadingKind::Late, &["pay_2"]);
    let theirs = theirs.seen_by(crate::scenario::PrincipalRole::OtherTenant);
    let round = twice().late(&["pay_1"]).read(theirs);
    assert_eq!(verdict(AT_MOST, round).0, Verdict::Pass, "one each");
}

#[test]
fn requests_of_other_markers_and_operations_do_not_make_it_void() {
    let refused = || [answered("first", 400), answered("again", 400)];
    let with = |change: fn(&mut crate::transcript::Exchange)| {
        let mut other = paid("other", "pay_9");
        change(&mut other);
        let exchanges = refused().into_iter().chain([other]);
        verdict(AT_MOST, round(exchanges).late(&[])).0
    };
    assert_eq!(with(|_| {}), Verdict::Inconclusive);
    let foreign = with(|other| {
        other.marker = "o".to_owned();
        other.marker_name = "other".to_owned();
    });
    assert_eq!(foreign, Verdict::Skip);
    assert_eq!(
        with(|other| other.operation = OperationRole::Other),
        Verdict::Skip
    );
}

#[test]
fn successes_that_name_two_resources_break_it_where_nothing_counts() {
    let judged = |again: crate::transcript::Exchange, claim: &str| {
        let mut blind = transcript(vec![round([paid("first", "pay_1"), again])]);
        blind.probes.clear();
        judged_with(&expecting(claim), &contract(""), &blind).verdict
    };
    let again = || paid("again", "pay_2");
    assert_eq!(judged(again(), AT_MOST), Verdict::Fail);
    let none = Verdict::Inconclusive;
    assert_eq!(judged(paid("again", "pay_1"), AT_MOST), none);
    assert_eq!(judged(again().on(OperationRole::Other), AT_MOST), none);
    let refused = answered("again", 409).naming("pay_2");
    assert_eq!(judged(refused, AT_MOST), none, "a refusal makes nothing");
    assert_eq!(judged(again(), "effects: { at-least: 1 }"), none);
    let mut foreign = again();
    foreign.marker = "o".to_owned();
    foreign.marker_name = "other".to_owned();
    assert_eq!(judged(foreign, AT_MOST), none);
}
