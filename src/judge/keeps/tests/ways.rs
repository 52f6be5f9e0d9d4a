//! Tests of the ways in which a contract may declare a promise.

use super::{both, keeps, pair};
use crate::judge::sample::{answered, contract, demo, paid, round};
use crate::transcript::{Exchange, Round};
use crate::verdict::Verdict;
use std::time::Duration;

#[test]
fn a_marker_may_be_a_value_a_status_or_on_every_answer() {
    let under = |marker: &str, round: Round| {
        let lines = format!("extends: generic\nreplay-marker: {marker}");
        keeps("replay-marker", &contract(&lines), round).verdict
    };
    let told = |step: &str, replayed: bool| {
        let body = format!("{{\"id\":\"pay_00000001\",\"replayed\":{replayed}}}");
        let mut exchange = paid(step, "pay_00000001").body(&body);
        if let Some(response) = &mut exchange.response {
            response.identity = Some("pay_00000001".to_owned());
        }
        exchange
    };
    let json = "{ json: $.replayed, value: true, first: false }";
    let kept = round([told("first", false), told("again", true)]);
    assert_eq!(under(json, kept), Verdict::Pass);
    let untold = round([told("first", false), told("again", false)]);
    assert_eq!(under(json, untold), Verdict::Fail);

    let with_200 = pair(answered("again", 200).naming("pay_00000001"));
    assert_eq!(under("{ status: 200 }", with_200), Verdict::Pass);
    let with_201 = pair(paid("again", "pay_00000001"));
    assert_eq!(under("{ status: 200 }", with_201), Verdict::Fail);
    let changed = |step: &str| answered(step, 200).naming("pay_00000001");
    let both_200 = round([changed("first"), changed("again")]);
    assert_eq!(under("{ status: 200 }", both_200), Verdict::Skip);

    let accepted =
        |step: &str| paid(step, "pay_00000001").header("Repeatability-Result", "Accepted");
    let always = "{ header: Repeatability-Result, value: accepted, first: accepted }";
    let both = round([accepted("first"), accepted("again")]);
    assert_eq!(under(always, both), Verdict::Pass);
    let only_then = round([paid("first", "pay_00000001"), accepted("again")]);
    assert_eq!(under(always, only_then), Verdict::Fail);

    let echoed = pair(paid("again", "pay_00000001").header("Idempotency-Key", "k"));
    assert_eq!(
        under("{ key-echo: idempotency-key }", echoed),
        Verdict::Pass
    );
    let other = pair(paid("again", "pay_00000001").header("Idempotency-Key", "other"));
    assert_eq!(under("{ key-echo: idempotency-key }", other), Verdict::Fail);
}

#[test]
fn a_replayed_body_relates_to_the_first_as_declared() {
    let under = |body: &str, again: Exchange| {
        let lines = format!(
            "extends: generic\non: {{ replay: {{ outcome: replay-current, body: {body} }} }}"
        );
        keeps("replay", &contract(&lines), pair(again)).verdict
    };
    let same = || paid("again", "pay_00000001");
    let grown = || {
        let mut exchange = same().body("{\"id\":\"pay_00000001\",\"state\":\"done\"}");
        if let Some(response) = &mut exchange.response {
            response.identity = Some("pay_00000001".to_owned());
        }
        exchange
    };
    for body in ["identical", "json-equal", "same-resource", "any"] {
        assert_eq!(under(body, same()), Verdict::Pass, "{body}");
    }
    assert_eq!(under("identical", grown()), Verdict::Fail);
    assert_eq!(under("json-equal", grown()), Verdict::Fail);
    assert_eq!(under("same-resource", grown()), Verdict::Pass);
    assert_eq!(under("any", grown()), Verdict::Pass);
}

#[test]
fn an_error_in_a_success_is_a_refusal_where_the_contract_says_how_it_looks() {
    let lines = "extends: generic\non: { mismatch: { outcome: reject, status: 200, json: { '$.errors[*].code': ^KEY_PARAMETER_MISMATCH$ } } }";
    let told = |code: &str| {
        let body = format!("{{\"errors\":[{{\"code\":\"{code}\"}}]}}");
        pair(answered("again", 200).body(&body).intent("changed"))
    };
    let refused = keeps("mismatch", &contract(lines), told("KEY_PARAMETER_MISMATCH"));
    assert_eq!(refused.verdict, Verdict::Pass, "{}", refused.reason);
    let other = keeps("mismatch", &contract(lines), told("SHOP_CLOSED"));
    assert_eq!(other.verdict, Verdict::Fail, "{}", other.reason);
}

#[test]
fn an_error_code_in_xml_is_a_refusal_as_well() {
    let malformed = |text: &str| {
        let body = format!("<reply><error code=\"9\">{text}</error></reply>");
        let mut exchange = answered("again", 200).body(&body);
        exchange.key.malformed = true;
        round([exchange])
    };
    let worldpay = contract("extends: worldpay");
    let invalid = keeps(
        "malformed-key",
        &worldpay,
        malformed("Invalid idempotency-key"),
    );
    assert_eq!(invalid.verdict, Verdict::Pass, "{}", invalid.reason);
    let other = keeps("malformed-key", &worldpay, malformed("Request in progress"));
    assert_eq!(other.verdict, Verdict::Fail, "{}", other.reason);
}

#[test]
fn a_conflict_that_names_the_resource_is_a_replay_where_it_is_declared() {
    let lines = "extends: generic\non: { replay: { outcome: conflict-ref, status: 409, json: { $.reason: ^conflict$ } } }";
    let conflict = |reason: &str| {
        let body = format!("{{\"reason\":\"{reason}\",\"link\":\"PM1\"}}");
        pair(answered("again", 409).body(&body))
    };
    let named = keeps("replay", &contract(lines), conflict("conflict"));
    assert_eq!(named.verdict, Verdict::Pass, "{}", named.reason);
    let other = keeps("replay", &contract(lines), conflict("closed"));
    assert_eq!(other.verdict, Verdict::Fail, "{}", other.reason);
    let replayed = pair(paid("again", "pay_00000001"));
    assert_eq!(
        keeps("replay", &contract(lines), replayed).verdict,
        Verdict::Fail
    );
}

#[test]
fn a_refusal_in_progress_says_when_to_come_again_and_a_wait_ends_as_declared() {
    let first = || paid("first", "pay_00000001").at(0, 5_000);
    let paused = contract(
        "extends: generic\non: { in-progress: { outcome: reject, status: 409, retry-after: header } }",
    );
    let refused = answered("again", 409).at(10, 20);
    let told = refused.clone().header("Retry-After", "1");
    assert_eq!(
        keeps("in-progress", &paused, round([first(), told])).verdict,
        Verdict::Pass
    );
    assert_eq!(
        keeps("in-progress", &paused, round([first(), refused])).verdict,
        Verdict::Fail
    );

    let waits = contract(
        "extends: generic\non: { in-progress: { outcome: wait-then-replay, max-wait: 2s } }",
    );
    let late = paid("again", "pay_00000001").at(10, 5_001);
    let late = keeps("in-progress", &waits, round([first(), late]));
    assert_eq!(late.verdict, Verdict::Fail, "{}", late.reason);
    let soon = paid("again", "pay_00000001").at(4_000, 5_001);
    let soon = keeps("in-progress", &waits, round([first(), soon]));
    assert_eq!(soon.verdict, Verdict::Pass, "{}", soon.reason);
}

#[test]
fn the_date_of_the_first_sending_is_wanted_and_read() {
    let oasis = contract("extends: oasis-repeatable-1.0");
    let dated = |date: Option<&str>, exchange: Exchange| {
        let mut exchange = exchange;
        if let Some(date) = date {
            let header = ("repeatability-first-sent".to_owned(), date.to_owned());
            exchange.request.headers.push(header);
        }
        round([exchange])
    };
    let rejected = || answered("again", 400).header("Repeatability-Result", "rejected");
    let kept = |date: Option<&str>, exchange: Exchange| {
        keeps("first-sent", &oasis, dated(date, exchange)).verdict
    };
    assert_eq!(kept(None, rejected()), Verdict::Pass);
    assert_eq!(kept(None, answered("again", 400)), Verdict::Fail);
    assert_eq!(kept(None, paid("again", "pay_00000001")), Verdict::Fail);
    assert_eq!(
        kept(Some("2026-11-30T10:00:00Z"), rejected()),
        Verdict::Pass
    );
    let sound = Some("Mon, 30 Nov 2026 10:00:00 GMT");
    assert_eq!(kept(sound, paid("again", "pay_00000001")), Verdict::Skip);
    let undeclared = keeps(
        "first-sent",
        &contract("extends: azure"),
        dated(None, answered("again", 400)),
    );
    assert_eq!(undeclared.verdict, Verdict::Skip, "{}", undeclared.reason);
    let keyless = dated(sound, rejected().key(None));
    assert_eq!(
        keeps("first-sent", &oasis, keyless).verdict,
        Verdict::Pass,
        "a date without its key"
    );
}

#[test]
fn a_date_that_lies_back_is_taken_within_the_retention_and_refused_beyond_it() {
    let azure = contract("extends: azure");
    let ago = |minutes: u64, mut exchange: Exchange| {
        let date = "Mon, 30 Nov 2026 10:00:00 GMT".to_owned();
        let header = ("Repeatability-First-Sent".to_owned(), date);
        exchange.request.headers.push(header);
        exchange.key.backdated = Some(Duration::from_secs(60 * minutes));
        keeps("first-sent", &azure, round([exchange]))
    };
    for (minutes, answer, wanted, says) in [
        (
            6,
            answered("again", 412),
            Verdict::Pass,
            "too old: refused with 412",
        ),
        (
            6,
            answered("again", 400),
            Verdict::Fail,
            "too old: refused with 400",
        ),
        (
            6,
            paid("again", "pay_00000001"),
            Verdict::Fail,
            "too old: executed",
        ),
        (
            4,
            paid("again", "pay_00000001"),
            Verdict::Pass,
            "old, and not too old: executed",
        ),
        (
            4,
            answered("again", 412),
            Verdict::Fail,
            "old, and not too old: refused with 412",
        ),
    ] {
        let kept = ago(minutes, answer);
        assert_eq!(kept.verdict, wanted, "{}", kept.reason);
        assert_eq!(kept.observed[0].says, says);
    }
    let windowless = contract("extends: oasis-repeatable-1.0");
    let mut unknown = answered("again", 412);
    unknown.key.backdated = Some(Duration::from_secs(600));
    unknown.request.headers.push((
        "Repeatability-First-Sent".to_owned(),
        "Mon, 30 Nov 2026 10:00:00 GMT".to_owned(),
    ));
    let open = keeps("first-sent", &windowless, round([unknown]));
    assert_eq!(open.verdict, Verdict::Skip, "{}", open.reason);
}

#[test]
fn an_empty_key_may_be_taken_for_none_and_a_control_character_for_no_request() {
    let azure = contract("extends: azure");
    let malformed = |key: &str, exchange: Exchange| {
        let mut exchange = exchange.key(Some(key));
        exchange.key.malformed = true;
        exchange
            .request
            .headers
            .push(("Repeatability-Request-ID".to_owned(), key.to_owned()));
        keeps("malformed-key", &azure, round([exchange])).verdict
    };
    let bare = || answered("again", 400);
    let rejected = || bare().header("Repeatability-Result", "rejected");
    let taken = || paid("again", "pay_00000001");
    assert_eq!(malformed("no-uuid", bare()), Verdict::Fail);
    assert_eq!(malformed("no-uuid", rejected()), Verdict::Pass);
    for key in ["", "a\u{1}b"] {
        assert_eq!(malformed(key, bare()), Verdict::Skip, "{key:?}");
        assert_eq!(malformed(key, rejected()), Verdict::Pass, "{key:?}");
        assert_eq!(malformed(key, taken()), Verdict::Fail, "{key:?}");
    }
    let brandur = contract("extends: brandur\non: { missing: { outcome: reject, status: 428 } }");
    let empty = |status: u16| {
        let mut exchange = answered("again", status).key(Some(""));
        exchange.key.malformed = true;
        keeps("malformed-key", &brandur, round([exchange])).verdict
    };
    assert_eq!(empty(428), Verdict::Pass, "as one that is missing");
    assert_eq!(empty(404), Verdict::Fail);
}

#[test]
fn a_failure_that_is_marked_as_passing_has_a_fate_of_its_own() {
    let adyen = contract("extends: adyen");
    let failed = || answered("first", 500);
    let passing = || failed().header("transient-error", "true");
    let ran = keeps(
        "after-failure",
        &adyen,
        round([passing(), paid("again", "pay_00000001")]),
    );
    assert_eq!(ran.verdict, Verdict::Pass, "{}", ran.reason);
    assert!(ran.reason.contains("after transient-marked executed again"));
    let ran = keeps(
        "after-failure",
        &adyen,
        round([failed(), paid("again", "pay_00000001")]),
    );
    assert_eq!(ran.verdict, Verdict::Fail, "{}", ran.reason);
    assert!(ran.reason.contains("after server-5xx stored"));
}

#[test]
fn keys_in_another_case_are_one_key_or_two_as_declared() {
    let other_case = |exchange: Exchange| {
        round([
            paid("first", "pay_00000001").key(Some("abc")),
            exchange.key(Some("ABC")),
        ])
    };
    let two = other_case(paid("again", "pay_00000002"));
    let one = other_case(paid("again", "pay_00000001"));
    let oasis = contract("extends: oasis-repeatable-1.0");
    assert_eq!(
        keeps("key-case", &demo(), two.clone()).verdict,
        Verdict::Pass
    );
    assert_eq!(
        keeps("key-case", &demo(), one.clone()).verdict,
        Verdict::Fail
    );
    assert_eq!(keeps("key-case", &oasis, two).verdict, Verdict::Fail);
    assert_eq!(keeps("key-case", &oasis, one).verdict, Verdict::Pass);
}

#[test]
fn a_deleted_resource_is_replayed_or_made_again_as_declared() {
    let (kept, says) = both("deleted", pair(paid("again", "pay_00000001")));
    assert_eq!((kept, says.as_str()), (Verdict::Pass, "replayed"));
    let (kept, says) = both("deleted", pair(paid("again", "pay_00000002")));
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "made again"));

    // Told to come again later: nothing is known yet.
    let too_soon = [
        paid("first", "pay_00000001"),
        answered("again", 409).at(10, 15),
    ];
    let waiting = keeps("deleted", &demo(), round(too_soon));
    assert_eq!(waiting.verdict, Verdict::Inconclusive, "{}", waiting.reason);
}
