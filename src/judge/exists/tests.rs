//! Tests of successes and the effects that they claim.

use crate::judge::sample::{
    answered, contract, expecting, judged_with, paid, probe, reading, round, sent, transcript,
    verdict,
};
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{Reading, ReadingKind};
use crate::verdict::Verdict;

const CLAIM: &str = "exists: { of: again }";

#[test]
fn a_success_has_its_effect_or_breaks_it() {
    let honest = round([paid("again", "pay_1")]).late(&["pay_1"]);
    assert_eq!(verdict(CLAIM, honest).0, Verdict::Pass);
    let lie = round([paid("again", "pay_9")]).late(&[]);
    let (verdict, reason) = verdict(CLAIM, lie);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        reason.contains("given pay_9, but `payments` shows no such"),
        "{reason}"
    );
}

#[test]
fn the_named_resource_must_be_the_one_that_is_there() {
    let other = round([paid("again", "pay_9")]).late(&["pay_1"]);
    assert_eq!(verdict(CLAIM, other).0, Verdict::Fail);
    let receipts = round([paid("again", "pay_9")]).late(&["rcpt_4"]);
    assert_eq!(
        verdict(CLAIM, receipts).0,
        Verdict::Pass,
        "ids of another kind are only counted"
    );
}

#[test]
fn a_refusal_is_void_and_never_a_pass() {
    let refused = round([answered("again", 409)]).late(&[]);
    let (verdict, reason) = verdict(CLAIM, refused);
    assert_eq!(verdict, Verdict::Skip);
    assert!(reason.contains("not a success"), "{reason}");
}

#[test]
fn without_a_response_or_a_reading_nothing_is_shown() {
    let lost = round([sent("again")]).late(&["pay_1"]);
    assert_eq!(verdict(CLAIM, lost).0, Verdict::Inconclusive);
    let unread = round([paid("again", "pay_1")]);
    assert_eq!(verdict(CLAIM, unread).0, Verdict::Inconclusive);
    let mut blind = transcript(vec![round([paid("again", "pay_1")])]);
    blind.probes.clear();
    let finding = judged_with(&expecting(CLAIM), &contract(""), &blind);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
}

#[test]
fn anothers_eyes_and_anothers_operation_do_not_count() {
    let theirs = || paid("again", "pay_1").by(PrincipalRole::OtherTenant);
    let hidden = round([theirs()])
        .late(&["pay_1"])
        .read(reading(ReadingKind::Late, &[]).seen_by(PrincipalRole::OtherTenant));
    assert_eq!(verdict(CLAIM, hidden).0, Verdict::Fail);
    let unread = round([theirs()]).late(&["pay_1"]);
    assert_eq!(verdict(CLAIM, unread).0, Verdict::Inconclusive);
    let refund = round([paid("again", "pay_1").on(OperationRole::Other)]).late(&["pay_1"]);
    assert_eq!(verdict(CLAIM, refund).0, Verdict::Inconclusive);
}

#[test]
fn only_settled_readings_of_its_own_show_it() {
    let read = |change: fn(&mut Reading)| {
        let mut other = reading(ReadingKind::Late, &[]);
        change(&mut other);
        // It stands behind the one that shows the effect.
        let round = round([paid("again", "pay_1")]).late(&["pay_1"]).read(other);
        verdict(CLAIM, round).0
    };
    assert_eq!(read(|_| {}), Verdict::Fail, "the last one stands");
    let pass = Verdict::Pass;
    assert_eq!(read(|other| other.probe = "receipts".to_owned()), pass);
    assert_eq!(read(|other| other.operation = OperationRole::Other), pass);
    assert_eq!(read(|other| other.marker = "o".to_owned()), pass);
    let theirs = PrincipalRole::OtherTenant;
    assert_eq!(
        read(|other| other.principal = PrincipalRole::OtherTenant),
        pass,
        "{theirs:?}"
    );
    assert_eq!(read(|other| other.kind = ReadingKind::Poll), pass);
    assert_eq!(
        read(|other| other.kind = ReadingKind::Early),
        pass,
        "a late one is there"
    );
}

#[test]
fn an_early_reading_counts_from_the_end_of_the_request_on() {
    let at = |at: u64| {
        let early = reading(ReadingKind::Early, &["pay_1"]).taken(at);
        verdict(CLAIM, round([paid("again", "pay_1").at(0, 20)]).read(early)).0
    };
    assert_eq!(at(20), Verdict::Pass);
    assert_eq!(at(19), Verdict::Inconclusive);
}

#[test]
fn what_cannot_be_read_or_never_showed_anything_shows_nothing() {
    let failed = reading(ReadingKind::Late, &[]).failed("GET answered 500");
    let unread = round([paid("again", "pay_1")]).read(failed);
    assert_eq!(verdict(CLAIM, unread).0, Verdict::Inconclusive);
    let mut dead = transcript(vec![round([paid("again", "pay_1")]).late(&[])]);
    dead.probes[0].live = false;
    let judged = judged_with(&expecting(CLAIM), &contract(""), &dead);
    assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
    // A quantity with a bound is no list of effects.
    let mut bounded = transcript(vec![round([paid("again", "pay_1")]).late(&[])]);
    bounded.probes[0].bound = Some(1.0);
    let judged = judged_with(&expecting(CLAIM), &contract(""), &bounded);
    assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
    let never = verdict(CLAIM, round([paid("first", "pay_1")]).late(&["pay_1"]));
    assert_eq!(never.0, Verdict::Inconclusive, "it was never sent");
}

#[test]
fn ids_are_comparable_if_they_begin_alike_or_ever_matched() {
    let judged = |identity: &str, shown: &[&str], earlier: Option<&str>| {
        let mut rounds = vec![round([paid("again", identity)]).late(shown)];
        if let Some(id) = earlier {
            rounds.push(round([paid("again", id)]).late(&[id]));
        }
        let judged = judged_with(&expecting(CLAIM), &contract(""), &transcript(rounds));
        judged.rounds.failed
    };
    assert_eq!(
        judged("pay_9", &["rcpt_1", "pay_1"], None),
        1,
        "one begins alike"
    );
    assert_eq!(
        judged("pay_9", &["pay_1", "pay_9"], None),
        0,
        "it is among them"
    );
    // Without a prefix only an earlier match tells.
    assert_eq!(judged("9", &["1"], None), 0);
    assert_eq!(judged("9", &["1"], Some("5")), 1);
    assert_eq!(judged("a1_9", &["a1_1"], None), 0, "no prefix of letters");
}

#[test]
fn a_probe_whose_ids_are_of_another_kind_is_not_made_comparable_by_another_one() {
    let judged = |change: fn(&mut Reading)| {
        let mut receipt = reading(ReadingKind::Late, &["7"]);
        receipt.probe = "receipts".to_owned();
        let mut listed = reading(ReadingKind::Poll, &["9"]).of("receipts");
        change(&mut listed);
        let exchanges = [paid("again", "9"), sent("first")];
        let round = round(exchanges).late(&["9"]).read(receipt).read(listed);
        let mut transcript = transcript(vec![round]);
        transcript.probes.push(probe("receipts"));
        judged_with(&expecting(CLAIM), &contract(""), &transcript).verdict
    };
    assert_eq!(judged(|_| {}), Verdict::Fail, "its ids are the identities");
    let pass = Verdict::Pass;
    assert_eq!(judged(|listed| listed.probe = "payments".to_owned()), pass);
    assert_eq!(
        judged(|listed| listed.operation = OperationRole::Other),
        pass
    );
    assert_eq!(judged(|listed| listed.shows = Err("none".to_owned())), pass);
}

#[test]
fn one_match_of_many_makes_ids_comparable() {
    let rounds = vec![
        round([paid("again", "9")]).late(&["1"]),
        round([paid("first", "4"), paid("again", "5")]).late(&["3", "5"]),
    ];
    let finding = judged_with(&expecting(CLAIM), &contract(""), &transcript(rounds));
    assert_eq!(finding.rounds.failed, 1);
}

#[test]
fn a_reading_on_the_way_is_not_settled() {
    let named = reading(ReadingKind::Named("between".to_owned()), &["pay_1"]);
    let round = round([paid("again", "pay_1")]).read(named);
    assert_eq!(verdict(CLAIM, round).0, Verdict::Inconclusive);
}
