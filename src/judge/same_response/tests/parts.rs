//! Tests of what counts of an answer, by what the contract promises of replays.

use super::{CLAIM, under};
use crate::judge::Finding;
use crate::judge::sample::{answered, contract, expecting, judged, paid, round, scenario};
use crate::transcript::Exchange;
use crate::verdict::Verdict;

fn pair(lines: &str, first: Exchange, again: Exchange) -> Finding {
    judged(
        &expecting(CLAIM),
        &contract(lines),
        vec![round([first, again])],
    )
}

fn promising(way: &str) -> String {
    format!("extends: generic\non: {{ replay: {way} }}")
}

const CURRENT: &str = "{ outcome: replay-current, strength: must }";

#[test]
fn a_first_answer_that_was_itself_a_refusal_naming_the_resource_is_no_measure() {
    let finding = judged(
        &expecting(CLAIM),
        &contract(""),
        vec![round([
            paid("earlier", "pay_00000001"),
            answered("first", 409).body(r#"{"of":"pay_00000001"}"#),
            paid("again", "pay_00000001"),
        ])],
    );
    assert_eq!(finding.verdict, Verdict::Skip, "{}", finding.reason);
    let named = judged(
        &expecting(CLAIM),
        &contract(""),
        vec![round([
            paid("first", "pay_00000001"),
            paid("first", "pay_00000001").copy(1),
            paid("again", "pay_00000002"),
        ])],
    );
    assert_eq!(named.verdict, Verdict::Fail, "a replay is a measure");
    let refused = pair("", answered("first", 404), paid("again", "pay_1"));
    assert_eq!(refused.verdict, Verdict::Inconclusive, "{}", refused.reason);
}

#[test]
fn where_one_of_two_ways_gives_the_resource_as_it_is_nothing_more_is_compared() {
    let either = promising(
        "{ any-of: [ { outcome: replay-stored }, { outcome: replay-current } ], strength: must }",
    );
    let grown = paid("again", "pay_1").body(r#"{"id":"pay_1","state":"done"}"#);
    let named = |mut exchange: Exchange| {
        if let Some(response) = &mut exchange.response {
            response.identity = Some("pay_1".to_owned());
        }
        exchange
    };
    assert_eq!(under(&either, named(grown.clone())).verdict, Verdict::Pass);
    let stored = promising("{ outcome: replay-stored, strength: must }");
    assert_eq!(under(&stored, named(grown)).verdict, Verdict::Fail);
}

#[test]
fn what_is_not_promised_with_any_strength_is_no_promise() {
    let unpromised = promising("{ outcome: replay-current, strength: unspecified }");
    let bare = |body: &str| answered("again", 201).body(body);
    let first = answered("first", 201).body(r#"{"a":1}"#);
    let finding = pair(&unpromised, first.clone(), bare(r#"{"a":2}"#));
    assert_eq!(
        finding.verdict,
        Verdict::Fail,
        "without identities the body decides"
    );
    let current = pair(&promising(CURRENT), first, bare(r#"{"a":2}"#));
    assert_eq!(current.verdict, Verdict::Inconclusive, "{}", current.reason);
}

#[test]
fn a_body_without_the_resource_cannot_be_told_from_it_where_it_may_have_changed() {
    let first = || paid("first", "pay_1");
    let other = || answered("again", 201).body(r#"{"state":"done"}"#);
    let generic = pair("", first(), other());
    assert_eq!(generic.verdict, Verdict::Fail);
    assert!(
        generic.reason.contains("names no resource"),
        "{}",
        generic.reason
    );
    let current = pair(&promising(CURRENT), first(), other());
    assert_eq!(current.verdict, Verdict::Inconclusive, "{}", current.reason);
    let empty = pair(&promising(CURRENT), first(), answered("again", 201));
    assert_eq!(empty.verdict, Verdict::Fail, "{}", empty.reason);
}

#[test]
fn without_identities_only_the_whole_answer_shows_the_same_resource() {
    let bare = |step: &str, status: u16, body: &str| answered(step, status).body(body);
    let current = |again: Exchange| {
        pair(&promising(CURRENT), bare("first", 201, r#"{"a":1}"#), again).verdict
    };
    assert_eq!(current(bare("again", 201, r#"{"a":1}"#)), Verdict::Pass);
    assert_eq!(
        current(bare("again", 200, r#"{"a":1}"#)),
        Verdict::Inconclusive
    );
    let any = promising("{ outcome: replay-current, body: any, strength: must }");
    let loose = pair(
        &any,
        bare("first", 201, r#"{"a":1}"#),
        bare("again", 201, r#"{"a":2}"#),
    );
    assert_eq!(loose.verdict, Verdict::Inconclusive, "{}", loose.reason);
    let generic = pair("", answered("first", 201), answered("again", 200));
    assert_eq!(generic.verdict, Verdict::Pass, "only the status differs");
}

#[test]
fn a_status_that_is_declared_for_replays_is_no_difference() {
    let declared = promising("{ outcome: replay-stored, status: 200, strength: must }");
    let again = || {
        answered("again", 200)
            .naming("pay_1")
            .header("ETag", "\"1\"")
    };
    let finding = under(&declared, again());
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    assert!(
        finding.reason.ends_with("is the first answer again"),
        "{}",
        finding.reason
    );
    let same = promising("{ outcome: replay-stored, strength: must }");
    assert_eq!(under(&same, again()).verdict, Verdict::Fail);
    let told = under("", again()).reason;
    assert!(
        told.ends_with("names the first one's resource (200 after 201)"),
        "{told}"
    );
}

#[test]
fn a_recheck_is_held_against_the_first_answer_and_not_against_a_later_one() {
    let ledger = scenario(
        "runs: at-end\nsteps:\n  - recheck: { as: ledger, keys: all, at-most: 500 }\nexpect:\n  item-5:\n    - same-response: { of: ledger, as: earliest }\n",
    );
    let grown = |step: &str| {
        let mut exchange = paid(step, "pay_1").body(r#"{"id":"pay_1","state":"done"}"#);
        if let Some(response) = &mut exchange.response {
            response.identity = Some("pay_1".to_owned());
        }
        exchange
    };
    let judged = |last: Exchange| {
        let round = round([paid("first", "pay_1"), grown("again"), last]);
        judged(&ledger, &contract("extends: demo"), vec![round]).verdict
    };
    assert_eq!(judged(paid("ledger", "pay_1")), Verdict::Pass);
    assert_eq!(judged(grown("ledger")), Verdict::Fail);
}
