//! Tests of replays, part by part and contract by contract.

mod parts;

use crate::judge::Finding;
use crate::judge::sample::{
    answered, contract, demo, expecting, judged, paid, round, scenario, sent, verdict,
};
use crate::promise::Level;
use crate::transcript::Exchange;
use crate::verdict::Verdict;

const CLAIM: &str = "same-response: { of: again, as: first }";

fn under(lines: &str, again: Exchange) -> Finding {
    let round = round([paid("first", "pay_1").header("ETag", "\"1\""), again]);
    judged(&expecting(CLAIM), &contract(lines), vec![round])
}

fn ok_200() -> Exchange {
    answered("again", 200)
        .naming("pay_1")
        .header("ETag", "\"1\"")
}

#[test]
fn the_first_answer_again_holds() {
    let same = paid("again", "pay_1").header("ETag", "\"1\"");
    assert_eq!(under("extends: demo", same.clone()).verdict, Verdict::Pass);
    assert_eq!(under("extends: generic", same).verdict, Verdict::Pass);
}

#[test]
fn a_200_after_a_201_is_an_observation_where_nothing_is_promised() {
    let finding = under("extends: generic", ok_200());
    assert_eq!(finding.verdict, Verdict::Pass);
    assert_eq!(finding.observed[0].says, "200 after 201");
    let finding = under("extends: demo", ok_200());
    assert_eq!(finding.verdict, Verdict::Fail);
    assert_eq!(finding.level, Level::Must);
}

#[test]
fn a_page_of_what_stands_in_front_is_no_other_answer() {
    for (page, wanted) in [
        ("upstream request timeout", Verdict::Inconclusive),
        ("the API's own words", Verdict::Fail),
    ] {
        let again = answered("again", 504).body(page);
        let finding = under("extends: demo", again);
        assert_eq!(finding.verdict, wanted, "{page}: {}", finding.reason);
    }
}

#[test]
fn a_wrapped_body_that_names_the_same_resource_is_an_observation() {
    let mut wrapped = paid("again", "pay_1").body(r#"{"data":{"id":"pay_1"}}"#);
    wrapped = wrapped.header("ETag", "\"1\"");
    assert_eq!(
        under("extends: generic", wrapped.clone()).verdict,
        Verdict::Pass
    );
    assert_eq!(under("extends: demo", wrapped).verdict, Verdict::Fail);
}

#[test]
fn the_same_json_in_another_notation_is_the_first_answer_again() {
    let round = |amount: &str| {
        let body = |amount: &str| format!(r#"{{"id":"pay_1","amount":{amount}}}"#);
        round([
            paid("first", "pay_1").body(&body("2000")),
            paid("again", "pay_1").body(&body(amount)),
        ])
    };
    let judged = |amount| {
        judged(
            &expecting(CLAIM),
            &contract("extends: demo"),
            vec![round(amount)],
        )
    };
    assert_eq!(judged("2000.0").verdict, Verdict::Pass);
    assert_eq!(judged("2000.5").verdict, Verdict::Fail);
}

#[test]
fn the_mark_of_a_replay_in_the_body_is_no_difference() {
    let marked = paid("again", "pay_1").body(r#"{"id":"pay_1","replayed":true}"#);
    let marked = marked.header("ETag", "\"1\"");
    let marker = "extends: demo\nreplay-marker: { json: $.replayed, value: true }";
    assert_eq!(under(marker, marked.clone()).verdict, Verdict::Pass);
    assert_eq!(under("extends: demo", marked).verdict, Verdict::Fail);
}

#[test]
fn a_contract_that_promises_the_resource_only_gets_no_more() {
    let bare = paid("again", "pay_1").body(r#"{"id":"pay_1","short":1}"#);
    let bare = bare.header("ETag", "\"1\"");
    let loose = "extends: demo\non: { replay: { outcome: replay-stored, body: same-resource } }";
    assert_eq!(under(loose, bare.clone()).verdict, Verdict::Pass);
    let strict = "extends: demo\non: { replay: { outcome: replay-stored, body: json-equal } }";
    assert_eq!(under(strict, bare).verdict, Verdict::Fail);
}

#[test]
fn a_header_that_is_gone_is_not_another_one() {
    let bare = under("extends: demo", paid("again", "pay_1"));
    assert!(bare.reason.ends_with(": no etag"), "{}", bare.reason);
    let other = paid("again", "pay_1").header("ETag", "\"2\"");
    let other = under("extends: demo", other);
    assert!(other.reason.ends_with(": another etag"), "{}", other.reason);
}

#[test]
fn another_resource_and_no_resource_break_it_under_any_contract() {
    let other = paid("again", "pay_2").header("ETag", "\"1\"");
    let empty = answered("again", 200);
    for lines in [
        "extends: generic",
        "extends: demo",
        "extends: generic\non: { replay: { outcome: replay-current, strength: must } }",
    ] {
        assert_eq!(
            under(lines, other.clone()).verdict,
            Verdict::Fail,
            "{lines}"
        );
        assert_eq!(
            under(lines, empty.clone()).verdict,
            Verdict::Fail,
            "{lines}"
        );
    }
}

#[test]
fn only_headers_that_mean_something_are_compared() {
    let again = |name: &str, value: &str| {
        let again = paid("again", "pay_1").header(name, value);
        under("extends: demo", again.header("ETag", "\"1\"")).verdict
    };
    assert_eq!(
        again("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        Verdict::Pass
    );
    assert_eq!(again("X-Request-Id", "7"), Verdict::Pass);
    assert_eq!(again("Location", "/payments/2"), Verdict::Fail);
}

#[test]
fn a_promise_that_only_should_be_kept_warns() {
    let finding = under("extends: ietf-draft-07", ok_200());
    assert_eq!(finding.verdict, Verdict::Fail);
    assert_eq!(finding.level, Level::Should);
}

#[test]
fn the_current_resource_needs_only_its_identity() {
    let lines = "extends: generic\non: { replay: { outcome: replay-current, strength: must } }";
    let current = answered("again", 200)
        .naming("pay_1")
        .body(r#"{"id":"pay_1","state":"settled"}"#);
    assert_eq!(under(lines, current).verdict, Verdict::Pass);
}

#[test]
fn the_whole_answer_again_is_the_current_resource_though_nothing_names_it() {
    let lines = "extends: generic\non: { replay: { outcome: replay-current, strength: must } }";
    let bodies = |one: &str, other: &str| {
        let round = round([
            answered("first", 200).body(one),
            answered("again", 200).body(other),
        ]);
        judged(&expecting(CLAIM), &contract(lines), vec![round]).verdict
    };
    assert_eq!(bodies("done 1", "done 1"), Verdict::Pass);
    assert_eq!(bodies("", ""), Verdict::Pass);
    assert_eq!(bodies("done 1", "done 2"), Verdict::Inconclusive);
}

#[test]
fn without_identities_the_body_decides() {
    let bodies = |one: &str, other: &str| {
        let round = round([
            answered("first", 200).body(one),
            answered("again", 200).body(other),
        ]);
        verdict(CLAIM, round).0
    };
    assert_eq!(bodies("done 1", "done 1"), Verdict::Pass);
    assert_eq!(bodies("done 1", "done 2"), Verdict::Fail);
    assert_eq!(bodies("", ""), Verdict::Pass);
}

#[test]
fn copies_in_flight_are_left_out_and_none_left_shows_nothing() {
    let running = round([
        paid("first", "pay_1").at(0, 100),
        answered("again", 409).at(10, 20),
    ]);
    let (verdict_of, reason) = verdict(CLAIM, running);
    assert_eq!(verdict_of, Verdict::Inconclusive);
    assert!(reason.contains("in-flight"), "{reason}");
    let lost = round([paid("first", "pay_1"), sent("again")]);
    assert_eq!(verdict(CLAIM, lost).0, Verdict::Inconclusive);
    let unknown = round([sent("first"), paid("again", "pay_1")]);
    assert_eq!(verdict(CLAIM, unknown).0, Verdict::Inconclusive);
}

#[test]
fn a_refusal_instead_of_a_replay_is_observed_or_breaks_the_promise() {
    let refused = || {
        round([
            paid("first", "pay_1"),
            answered("again", 409).at(60_000, 60_005),
        ])
    };
    assert_eq!(verdict(CLAIM, refused()).0, Verdict::Skip);
    let finding = judged(&expecting(CLAIM), &demo(), vec![refused()]);
    assert_eq!(finding.verdict, Verdict::Fail);
    let failed = round([paid("first", "pay_1"), answered("again", 500)]);
    assert_eq!(verdict(CLAIM, failed).0, Verdict::Fail);
}

#[test]
fn a_recheck_is_held_against_the_first_success_of_its_own_key() {
    let ledger = scenario(
        "runs: at-end\nsteps:\n  - recheck: { as: ledger, keys: all, at-most: 500 }\nexpect:\n  item-5:\n    - same-response: { of: ledger, as: earliest }\n",
    );
    let held = |exchanges: Vec<Exchange>| {
        judged(&ledger, &contract("extends: demo"), vec![round(exchanges)]).verdict
    };
    let other = || paid("other", "pay_9").key(Some("other"));
    let failed = || answered("first", 500);
    let own = || paid("first", "pay_1").copy(1);
    let again = |id: &str| paid("ledger", id);
    assert_eq!(
        held(vec![other(), failed(), own(), again("pay_1")]),
        Verdict::Pass
    );
    assert_eq!(
        held(vec![other(), failed(), own(), again("pay_9")]),
        Verdict::Fail
    );
    // Nothing but itself to be compared with.
    assert_eq!(held(vec![other(), again("pay_1")]), Verdict::Inconclusive);
}

#[test]
fn a_refusal_holds_for_a_replay_only_where_it_names_the_first_result() {
    let current = "extends: generic\non: { replay: { outcome: replay-current, strength: must } }";
    let naming = answered("again", 409).body(r#"{"of":"pay_1"}"#);
    assert_eq!(under(current, naming).verdict, Verdict::Pass);
    let silent = under(current, answered("again", 404));
    assert_eq!(silent.verdict, Verdict::Skip, "{}", silent.reason);
}

#[test]
fn a_resource_that_only_one_of_them_names_does_not_excuse_another_body() {
    let first = answered("first", 201).body(r#"{"state":"new"}"#);
    let again = paid("again", "pay_1");
    let judged = judged(
        &expecting(CLAIM),
        &contract(""),
        vec![round([first, again])],
    );
    assert_eq!(judged.verdict, Verdict::Fail, "{}", judged.reason);
}
