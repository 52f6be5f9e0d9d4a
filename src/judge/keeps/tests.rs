//! Tests of every promise: kept, broken, not shown, and observed where nothing is promised.

mod ages;
mod answers;
mod failures;
mod marks;
mod ways;

use crate::contract::Contract;
use crate::judge::Finding;
use crate::judge::sample::{answered, contract, demo, expecting, judged, paid, round, sent};
use crate::promise::Level;
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{Delivery, Exchange, Round};
use crate::verdict::Verdict;
use std::time::Duration;

fn keeps(promise: &str, contract: &Contract, round: Round) -> Finding {
    let claim = format!("keeps: {{ promise: {promise}, of: again }}");
    judged(&expecting(&claim), contract, vec![round])
}

/// Under the demo contract, and what is observed under the generic one, which never judges.
fn both(promise: &str, round: Round) -> (Verdict, String) {
    let observed = keeps(promise, &contract(""), round.clone());
    assert_eq!(
        observed.verdict,
        Verdict::Skip,
        "{promise}: {}",
        observed.reason
    );
    assert!(observed.reason.starts_with("observed, nothing is promised"));
    let declared = keeps(promise, &demo(), round);
    (declared.verdict, observed.observed[0].says.clone())
}

fn pair(again: Exchange) -> Round {
    round([paid("first", "pay_00000001"), again.at(60_000, 60_005)])
}

fn changed(status: u16) -> Exchange {
    answered("again", status).intent("changed")
}

#[test]
fn a_mismatch_is_refused_replayed_or_executed() {
    let replayed = || paid("again", "pay_00000001").intent("changed");
    for (again, wanted, says) in [
        (changed(422), Verdict::Pass, "422"),
        (changed(400), Verdict::Fail, "400"),
        (
            changed(409),
            Verdict::Fail,
            "409, as if it only had to wait",
        ),
        (changed(500), Verdict::Fail, "failed with 500"),
        (replayed(), Verdict::Fail, "replayed silently"),
        (
            paid("again", "pay_00000002").intent("changed"),
            Verdict::Fail,
            "executed",
        ),
    ] {
        let round = pair(again);
        let got = keeps("mismatch", &demo(), round.clone());
        assert_eq!(got.verdict, wanted, "{says}: {}", got.reason);
        assert_eq!(got.observed[0].says, says);
        let generic = keeps("mismatch", &contract(""), round);
        assert_eq!(generic.verdict, Verdict::Skip);
    }
    let lost = pair(sent("again").intent("changed"));
    assert_eq!(
        keeps("mismatch", &demo(), lost).verdict,
        Verdict::Inconclusive
    );
}

#[test]
fn a_page_of_what_stands_in_front_says_nothing_of_a_promise() {
    for (status, page, wanted) in [
        (504, "upstream request timeout", Verdict::Inconclusive),
        (502, "<center>nginx</center>", Verdict::Inconclusive),
        (504, "the API's own words", Verdict::Fail),
    ] {
        let got = keeps("mismatch", &demo(), pair(changed(status).body(page)));
        assert_eq!(got.verdict, wanted, "{page}: {}", got.reason);
    }
}

#[test]
fn any_of_several_declared_ways_keeps_a_promise() {
    let lines = "extends: generic\non: { mismatch: { any-of: [ { outcome: reject, status: 409 }, { outcome: replay-stored } ], strength: must } }";
    let replayed = pair(paid("again", "pay_00000001").intent("changed"));
    assert_eq!(
        keeps("mismatch", &contract(lines), replayed).verdict,
        Verdict::Pass
    );
    let refused = pair(changed(422));
    assert_eq!(
        keeps("mismatch", &contract(lines), refused).verdict,
        Verdict::Fail
    );
}

#[test]
fn the_strength_of_a_promise_is_the_level_of_its_break() {
    let under = |strength: &str| {
        let lines = format!(
            "extends: generic\non: {{ mismatch: {{ outcome: reject, status: 409, strength: {strength} }} }}"
        );
        keeps("mismatch", &contract(&lines), pair(changed(422)))
    };
    assert_eq!(
        (under("must").verdict, under("must").level),
        (Verdict::Fail, Level::Must)
    );
    assert_eq!(
        (under("should").verdict, under("should").level),
        (Verdict::Fail, Level::Should)
    );
    assert_eq!(under("may").verdict, Verdict::Skip);
}

#[test]
fn a_replay_is_described_by_status_and_body() {
    let marked = |again: Exchange| pair(again.header("Idempotency-Replayed", "true"));
    let (kept, says) = both("replay", marked(paid("again", "pay_00000001")));
    assert_eq!((kept, says.as_str()), (Verdict::Pass, "201, same body"));
    let (kept, says) = both(
        "replay",
        marked(answered("again", 200).naming("pay_00000001")),
    );
    assert_eq!(
        (kept, says.as_str()),
        (Verdict::Fail, "200 after 201, same body")
    );
    let (kept, says) = both("replay", pair(paid("again", "pay_00000002")));
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "executed"));
    let lost = keeps("replay", &demo(), pair(sent("again")));
    assert_eq!(lost.verdict, Verdict::Inconclusive);
}

#[test]
fn a_marker_is_found_by_what_only_the_replay_has() {
    let plain = || paid("again", "pay_00000001");
    let marked = pair(plain().header("Idempotency-Replayed", "true"));
    let (kept, says) = both("replay-marker", marked);
    assert_eq!(
        (kept, says.as_str()),
        (Verdict::Pass, "idempotency-replayed: true")
    );
    let unmarked = pair(plain().header("X-Request-Id", "7").header("Date", "now"));
    let (kept, says) = both("replay-marker", unmarked);
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "none"));
    let flipped = round([
        paid("first", "pay_00000001").header("X-Cache", "MISS"),
        plain().header("X-Cache", "HIT"),
    ]);
    let (kept, says) = both("replay-marker", flipped);
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "x-cache: HIT"));
    let both_true = round([
        paid("first", "pay_00000001").header("Idempotency-Replayed", "true"),
        plain().header("Idempotency-Replayed", "true"),
    ]);
    assert_eq!(
        keeps("replay-marker", &demo(), both_true).verdict,
        Verdict::Fail
    );
    let refused = keeps("replay-marker", &demo(), pair(answered("again", 404)));
    assert_eq!(refused.verdict, Verdict::Inconclusive);
}

#[test]
fn a_duplicate_in_progress_is_refused_or_waits() {
    let first = || paid("first", "pay_00000001").at(0, 100);
    let refused = answered("again", 409).header("Retry-After", "1").at(10, 20);
    let (kept, says) = both("in-progress", round([first(), refused]));
    assert_eq!(
        (kept, says.as_str()),
        (Verdict::Pass, "409 with Retry-After")
    );
    let waited = paid("again", "pay_00000001").at(10, 101);
    let (kept, says) = both("in-progress", round([first(), waited]));
    assert_eq!(
        (kept, says.as_str()),
        (Verdict::Pass, "waited, then replayed")
    );
    let refuses = "extends: generic\non: { in-progress: { outcome: reject, status: 409 } }";
    for (began, wanted) in [(10, Verdict::Fail), (90, Verdict::Inconclusive)] {
        // One that is sent as the first one ends may arrive after that.
        let replayed = paid("again", "pay_00000001").at(began, 101);
        let pair = round([first(), replayed]);
        assert_eq!(
            keeps("in-progress", &contract(refuses), pair).verdict,
            wanted
        );
    }
    // On a busy machine one that is sent early may arrive then as well.
    for (late, wanted) in [(4, Verdict::Fail), (5, Verdict::Inconclusive)] {
        let replayed = paid("again", "pay_00000001").at(10, 101);
        let busy = round([first(), replayed]).busy(late);
        let judged = keeps("in-progress", &contract(refuses), busy);
        assert_eq!(judged.verdict, wanted, "{late}: {}", judged.reason);
    }
    // What is no refusal of one in progress is judged only where the first one surely still ran.
    for (answer, wanted) in [(50, Verdict::Fail), (51, Verdict::Inconclusive)] {
        for status in [500, 404] {
            let failed = answered("again", status).at(10, answer);
            let judged = keeps("in-progress", &contract(refuses), round([first(), failed]));
            assert_eq!(
                judged.verdict, wanted,
                "{status} {answer}: {}",
                judged.reason
            );
        }
    }
    let told = answered("again", 409).at(10, 20);
    let late = paid("again", "pay_00000001").at(10, 101);
    let siblings = keeps(
        "in-progress",
        &contract(refuses),
        round([first(), told, late]),
    );
    assert_eq!(siblings.verdict, Verdict::Inconclusive);
    let failed = answered("again", 500).at(10, 20);
    let (kept, says) = both("in-progress", round([first(), failed]));
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "failed with 500"));
    let second = paid("again", "pay_00000002").at(10, 101);
    let (kept, says) = both("in-progress", round([first(), second]));
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "executed"));
    let later = paid("again", "pay_00000001").at(200, 205);
    let nobody = keeps("in-progress", &demo(), round([first(), later]));
    assert_eq!(nobody.verdict, Verdict::Inconclusive);
}

#[test]
fn equal_json_in_other_words_is_replayed_refused_or_executed() {
    let reworded = |mut exchange: Exchange| {
        exchange.request.reworded = true;
        pair(exchange)
    };
    for (again, wanted, says) in [
        (paid("again", "pay_00000001"), Verdict::Pass, "replayed"),
        (answered("again", 422), Verdict::Fail, "refused with 422"),
        (paid("again", "pay_00000002"), Verdict::Fail, "executed"),
    ] {
        let (kept, seen) = both("equality", reworded(again));
        assert_eq!((kept, seen.as_str()), (wanted, says));
    }
    let bytes = contract("extends: demo\nfingerprint: { equality: { is: bytes, strength: must } }");
    let refused = keeps("equality", &bytes, reworded(answered("again", 422)));
    assert_eq!(refused.verdict, Verdict::Pass);
}

#[test]
fn a_missing_key_is_refused_or_taken_for_an_ordinary_request() {
    let keyless = |exchange: Exchange| round([exchange.key(None)]);
    let (kept, says) = both("missing-key", keyless(answered("again", 400)));
    assert_eq!((kept, says.as_str()), (Verdict::Pass, "refused with 400"));
    let (kept, says) = both("missing-key", keyless(paid("again", "pay_00000001")));
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "executed"));
}

#[test]
fn only_a_key_that_the_contract_calls_malformed_is_judged() {
    let key = |malformed: bool, exchange: Exchange| {
        let mut exchange = exchange;
        exchange.key.malformed = malformed;
        round([exchange])
    };
    let sound = keeps(
        "malformed-key",
        &demo(),
        key(false, paid("again", "pay_00000001")),
    );
    assert_eq!(sound.verdict, Verdict::Skip);
    assert!(sound.reason.contains("does not call this key malformed"));
    let refused = key(true, answered("again", 400));
    assert_eq!(both("malformed-key", refused).0, Verdict::Pass);
    let taken = key(true, paid("again", "pay_00000001"));
    assert_eq!(both("malformed-key", taken).0, Verdict::Fail);
}

#[test]
fn a_key_belongs_to_its_principal_and_operation() {
    let theirs = |exchange: Exchange| pair(exchange.by(PrincipalRole::OtherTenant));
    for (again, wanted, says) in [
        (
            paid("again", "pay_00000002"),
            Verdict::Pass,
            "a key space of its own",
        ),
        (
            paid("again", "pay_00000001"),
            Verdict::Fail,
            "answered with the other's",
        ),
        (answered("again", 409), Verdict::Fail, "refused with 409"),
    ] {
        let (kept, seen) = both("other-principal", theirs(again));
        assert_eq!((kept, seen.as_str()), (wanted, says));
    }
    let elsewhere = |id: &str| {
        let mut exchange = paid("again", id);
        exchange.request.url = "http://127.0.0.1:2/payments/pay_00000009?a=1".to_owned();
        keeps("other-principal", &demo(), theirs(exchange)).verdict
    };
    assert_eq!(elsewhere("pay_00000002"), Verdict::Skip);
    assert_eq!(elsewhere("pay_00000001"), Verdict::Fail);
    let other = |exchange: Exchange| pair(exchange.on(OperationRole::Other));
    for (again, wanted, says) in [
        (
            paid("again", "ref_00000002"),
            Verdict::Pass,
            "a key of its own",
        ),
        (
            paid("again", "pay_00000001"),
            Verdict::Fail,
            "answered with the other operation's",
        ),
        (answered("again", 422), Verdict::Fail, "refused with 422"),
    ] {
        let (kept, seen) = both("other-operation", other(again));
        assert_eq!((kept, seen.as_str()), (wanted, says));
    }
}

#[test]
fn a_key_is_remembered_for_its_retention_and_then_does_what_was_promised() {
    let after =
        |seconds: u64, again: Exchange| pair(again).moved(1_000, Duration::from_secs(seconds));
    let aged = |again: Exchange| after(80_000, again);
    let kept = keeps("retention", &demo(), aged(paid("again", "pay_00000001")));
    assert_eq!(kept.verdict, Verdict::Pass);
    assert!(
        kept.observed[0]
            .says
            .starts_with("replayed at the age of 22h")
    );
    let forgotten = keeps("retention", &demo(), aged(paid("again", "pay_00000002")));
    assert_eq!(forgotten.verdict, Verdict::Fail);
    for (again, wanted, says) in [
        (
            paid("again", "pay_00000002"),
            Verdict::Pass,
            "executed anew",
        ),
        (answered("again", 410), Verdict::Fail, "refused with 410"),
        (paid("again", "pay_00000001"), Verdict::Fail, "replayed"),
    ] {
        let (kept, seen) = both("expired", after(100_000, again));
        assert_eq!((kept, seen.as_str()), (wanted, says));
    }
    let verdict = |promise: &str, contract: &Contract, round: Round| {
        let finding = keeps(promise, contract, round);
        (finding.verdict, finding.reason)
    };
    let anew = || paid("again", "pay_00000002");
    let replayed = || paid("again", "pay_00000001");
    let (early, why) = verdict("expired", &demo(), aged(anew()));
    assert_eq!(early, Verdict::Inconclusive, "{why}");
    let (young, why) = verdict("retention", &demo(), after(3_600, replayed()));
    assert_eq!(young, Verdict::Inconclusive, "{why}");
    let (over, why) = verdict("retention", &demo(), after(100_000, anew()));
    assert_eq!(over, Verdict::Skip, "{why}");
    let longer = contract("extends: demo\nretention: { min: 30d, max: 30d }");
    let (forgotten, why) = verdict("retention", &longer, after(100_000, anew()));
    assert_eq!(forgotten, Verdict::Fail, "{why}");
    let endless = contract("extends: demo\nretention: { min: 24h }");
    let (kept_on, why) = verdict("expired", &endless, after(100_000, replayed()));
    assert_eq!(kept_on, Verdict::Inconclusive, "{why}");
    let good = contract("extends: demo\nretention: { forever: true }");
    let (lost, why) = verdict("retention", &good, after(100_000, anew()));
    assert_eq!(lost, Verdict::Fail, "{why}");
}

#[test]
fn after_a_failure_the_class_of_the_first_decides() {
    let after = |first: Exchange, again: Exchange| round([first, again.at(60_000, 60_005)]);
    let refused = || answered("first", 422).variant("invalid").intent("invalid");
    let corrected = keeps(
        "after-failure",
        &demo(),
        after(refused(), paid("again", "pay_00000001")),
    );
    assert_eq!(corrected.verdict, Verdict::Pass, "{}", corrected.reason);
    assert!(
        corrected
            .reason
            .contains("after pre-execution-validation not consumed")
    );
    let kept_for_good = keeps(
        "after-failure",
        &demo(),
        after(refused(), answered("again", 422)),
    );
    assert_eq!(
        kept_for_good.verdict,
        Verdict::Fail,
        "{}",
        kept_for_good.reason
    );
    let seen = keeps(
        "after-failure",
        &contract(""),
        after(refused(), answered("again", 422)),
    );
    assert_eq!(seen.verdict, Verdict::Skip);
    assert!(seen.observed[0].says.starts_with("stored"));

    let failed = || answered("first", 500);
    let ran = keeps(
        "after-failure",
        &demo(),
        after(failed(), paid("again", "pay_00000001")),
    );
    assert_eq!(ran.verdict, Verdict::Pass, "{}", ran.reason);
    let blocked = keeps(
        "after-failure",
        &demo(),
        after(failed(), answered("again", 409)),
    );
    assert_eq!(blocked.verdict, Verdict::Fail, "{}", blocked.reason);
    assert_eq!(blocked.observed[0].says, "blocked: 409");
    let done = keeps(
        "after-failure",
        &demo(),
        after(paid("first", "pay_00000001"), paid("again", "pay_00000001")),
    );
    assert_eq!(done.verdict, Verdict::Inconclusive, "nothing failed");
}

#[test]
fn a_second_500_is_stored_or_run_again_unless_replays_are_marked() {
    let twice = || round([answered("first", 500), answered("again", 500)]);
    let again =
        contract("extends: generic\nafter: { server-5xx: { is: reexecuted, strength: must } }");
    let open = keeps("after-failure", &again, twice());
    assert_eq!(open.verdict, Verdict::Inconclusive, "{}", open.reason);
    assert_eq!(open.observed[0].says, "500 again: stored or run again");
    let told = keeps("after-failure", &demo(), twice());
    assert_eq!(told.verdict, Verdict::Pass, "{}", told.reason);
    let either = contract(
        "extends: generic\nafter: { server-5xx: { is: stored-or-reexecuted, strength: must } }",
    );
    assert_eq!(
        keeps("after-failure", &either, twice()).verdict,
        Verdict::Pass
    );
}

#[test]
fn without_its_store_the_api_does_what_was_promised() {
    let (kept, says) = both("store-unavailable", pair(answered("again", 503)));
    assert_eq!((kept, says.as_str()), (Verdict::Pass, "failed with 503"));
    let (kept, says) = both("store-unavailable", pair(paid("again", "pay_00000002")));
    assert_eq!((kept, says.as_str()), (Verdict::Fail, "executed"));
}

#[test]
fn a_failure_that_should_have_healed_comes_from_memory() {
    let once = |step: &str| answered(step, 500).variant("fails-once");
    let stored = keeps(
        "after-failure",
        &demo(),
        round([once("first"), once("again")]),
    );
    assert_eq!(stored.verdict, Verdict::Fail, "{}", stored.reason);
    assert_eq!(stored.observed[0].says, "stored: 500");
    let declined = answered("first", 402).variant("declined");
    let kept = keeps(
        "after-failure",
        &contract("extends: brandur"),
        round([declined, answered("again", 402)]),
    );
    assert_eq!(kept.verdict, Verdict::Pass, "{}", kept.reason);
    assert_eq!(kept.observed[0].says, "stored: 402");
}

#[test]
fn without_the_declared_marker_nothing_tells_a_replay() {
    let lines = "extends: generic\nreplay-marker: { header: Replayed, value: true }";
    let bare = keeps(
        "replay-marker",
        &contract(lines),
        pair(paid("again", "pay_00000001")),
    );
    assert_eq!(bare.verdict, Verdict::Fail, "{}", bare.reason);
    assert_eq!(bare.observed[0].says, "none");
    let none = "extends: generic\nreplay-marker: none";
    let unmarked = keeps(
        "replay-marker",
        &contract(none),
        pair(paid("again", "pay_00000001")),
    );
    assert_eq!(unmarked.verdict, Verdict::Pass, "{}", unmarked.reason);
    assert_eq!(unmarked.observed[0].says, "none");
    let marked = keeps(
        "replay-marker",
        &contract(none),
        pair(paid("again", "pay_00000001").header("Idempotency-Replayed", "true")),
    );
    assert_eq!(
        marked.verdict,
        Verdict::Pass,
        "nothing says that it is alone"
    );
    assert_eq!(
        marked.observed[0].says, "idempotency-replayed: true",
        "what is there is said, although none is declared"
    );
}

#[test]
fn a_failure_is_that_of_the_earliest_request_that_arrived() {
    let reason =
        |exchanges: Vec<Exchange>| keeps("after-failure", &demo(), round(exchanges)).reason;
    let again = || paid("again", "pay_00000001").at(60_000, 60_005);
    let lost = reason(vec![sent("first"), again()]);
    assert!(lost.contains("after connection-dropped"), "{lost}");
    // One that never arrived is no failure of the key.
    let mut cut = sent("first");
    cut.delivery = Delivery::NotSent;
    let failed = answered("first", 500).copy(1);
    let ran = reason(vec![cut.clone(), failed, again()]);
    assert!(ran.contains("after server-5xx"), "{ran}");
    let observed = |exchanges: Vec<Exchange>| {
        let judged = keeps("after-failure", &contract(""), round(exchanges));
        judged.observed.first().map(|seen| seen.says.clone())
    };
    assert_eq!(observed(vec![cut, again()]), None);
    assert_eq!(observed(vec![again()]), None, "it is none of itself");
    let failing = answered("again", 500);
    assert_eq!(
        observed(vec![failing]),
        None,
        "it did not fail before itself"
    );
    let other = answered("first", 500).key(Some("other"));
    assert_eq!(observed(vec![other, again()]), None);
}

#[test]
fn the_first_success_is_an_earlier_one_of_the_same_key() {
    let replay = |first: Exchange| {
        let again = answered("again", 200)
            .naming("pay_00000001")
            .at(60_000, 60_005);
        let judged = keeps("replay", &contract(""), round([first, again]));
        judged.observed[0].says.clone()
    };
    let first = || paid("first", "pay_00000001");
    assert_eq!(replay(first().at(0, 5)), "200 after 201, same body");
    assert_eq!(replay(first().at(70_000, 70_005)), "executed");
    assert_eq!(
        replay(first().at(0, 5).key(Some("other"))),
        "answered with another one's result"
    );
    assert_eq!(replay(answered("first", 409).at(0, 5)), "executed");
}

#[test]
fn only_an_earlier_success_of_the_key_has_a_marker_to_be_told_from() {
    let told = |first: Exchange| {
        let again = paid("again", "pay_00000001").header("Idempotency-Replayed", "true");
        keeps(
            "replay-marker",
            &contract(""),
            round([first, again.at(60_000, 60_005)]),
        )
        .verdict
    };
    let first = || paid("first", "pay_00000001").at(0, 5);
    assert_eq!(told(first()), Verdict::Skip, "it is observed");
    let none = Verdict::Inconclusive;
    assert_eq!(told(first().at(70_000, 70_005)), none);
    assert_eq!(
        told(paid("first", "pay_2").at(0, 5).key(Some("other"))),
        none
    );
    assert_eq!(told(answered("first", 500).at(0, 5)), none);
}

#[test]
fn a_duplicate_is_judged_by_what_it_surely_met() {
    let first = || paid("first", "pay_00000001").at(0, 100);
    let refuses =
        contract("extends: generic\non: { in-progress: { outcome: reject, status: 409 } }");
    let judged = |first: Exchange, again: Exchange| {
        keeps("in-progress", &refuses, round([first, again])).verdict
    };
    // Sent when half of the time was over, it may have come after the end.
    let waited = |began| paid("again", "pay_00000001").at(began, 101);
    assert_eq!(judged(first(), waited(50)), Verdict::Fail);
    assert_eq!(judged(first(), waited(51)), Verdict::Inconclusive);
    // What names the first one's result came after it, however early.
    let names = answered("again", 409)
        .body(r#"{"of":"pay_00000001"}"#)
        .at(10, 20);
    assert_eq!(judged(first(), names), Verdict::Inconclusive);
    // One that was over before the first one began has met nobody.
    let before = answered("again", 500).at(0, 10);
    let later = paid("first", "pay_00000001").at(20, 50);
    assert_eq!(judged(later, before), Verdict::Inconclusive);
    // Where nothing is declared, what surely waited is told, and nothing else.
    let told = |began| {
        keeps(
            "in-progress",
            &contract(""),
            round([first(), waited(began)]),
        )
        .verdict
    };
    assert_eq!(told(50), Verdict::Skip);
    assert_eq!(told(51), Verdict::Inconclusive);
    let waits = contract(
        "extends: generic\non: { in-progress: { outcome: wait-then-replay, max-wait: 2s } }",
    );
    let long = |began| {
        let first = paid("first", "pay_00000001").at(0, 5_000);
        let again = paid("again", "pay_00000001").at(began, 5_001);
        keeps("in-progress", &waits, round([first, again])).verdict
    };
    assert_eq!(long(2_981), Verdict::Pass);
    assert_eq!(long(2_980), Verdict::Fail);
}
