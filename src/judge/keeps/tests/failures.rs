//! Tests of what a retry does after a failure.

use super::keeps;
use crate::judge::Finding;
use crate::judge::sample::{answered, contract, demo, paid, round, sent};
use crate::scenario::OperationRole;
use crate::transcript::Exchange;
use crate::verdict::Verdict;

fn after(first: Exchange, again: Exchange, lines: &str) -> Finding {
    let again = again.at(60_000, 60_005);
    keeps("after-failure", &contract(lines), round([first, again]))
}

/// After a 500 this is promised, and nothing else is.
fn promised(fate: &str) -> String {
    format!("extends: generic\nafter: {{ server-5xx: {{ is: {fate}, strength: must }} }}")
}

#[test]
fn the_answer_of_the_first_says_which_failure_it_was() {
    for (first, class) in [
        (
            answered("first", 422).variant("invalid"),
            "pre-execution-validation",
        ),
        (
            answered("first", 402).variant("declined"),
            "business-declined",
        ),
        (answered("first", 401), "auth"),
        (answered("first", 404), "executed-4xx"),
        (answered("first", 500), "server-5xx"),
        (answered("first", 429), "rate-limited"),
        (sent("first"), "connection-dropped"),
    ] {
        let finding = after(first, paid("again", "pay_00000001"), "extends: demo");
        let says = format!("after {class} ");
        assert!(
            finding.reason.contains(&says),
            "{class}: {}",
            finding.reason
        );
        assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    }
}

#[test]
fn each_declared_fate_is_kept_by_what_it_says_and_by_nothing_else() {
    let once = |step: &str| answered(step, 500).variant("fails-once");
    let executed = || (once("first"), paid("again", "pay_00000001"));
    let stored = || (once("first"), once("again"));
    let open = || (answered("first", 500), answered("again", 500));
    let blocked = || (once("first"), answered("again", 409));
    let (pass, fail, unknown) = (Verdict::Pass, Verdict::Fail, Verdict::Inconclusive);
    for (fate, [ran, kept, either, refused]) in [
        ("not-consumed", [pass, fail, unknown, fail]),
        ("reexecuted", [pass, fail, unknown, fail]),
        ("resumed", [pass, fail, unknown, fail]),
        // What the contract says of the second answer is believed; effects tell whether it ran again.
        ("stored", [fail, pass, pass, fail]),
        ("stored-or-reexecuted", [pass, pass, pass, fail]),
        ("consumed-blocked", [fail, fail, unknown, pass]),
    ] {
        for ((first, again), wanted) in [
            (executed(), ran),
            (stored(), kept),
            (open(), either),
            (blocked(), refused),
        ] {
            let finding = after(first, again, &promised(fate));
            assert_eq!(finding.verdict, wanted, "{fate}: {}", finding.reason);
        }
    }
}

#[test]
fn a_failure_of_another_operation_or_of_another_keyless_request_is_not_its_own() {
    let elsewhere = answered("first", 500).on(OperationRole::Other);
    let again = || paid("again", "pay_00000001");
    assert_eq!(
        after(elsewhere, again(), "extends: demo").verdict,
        Verdict::Inconclusive
    );
    let marked = |marker: &str, exchange: Exchange, key: Option<&str>| {
        let mut exchange = exchange.key(key);
        exchange.marker = marker.to_owned();
        exchange
    };
    let judged = |marker: &str, key: Option<&str>| {
        let first = marked(marker, answered("first", 500), key);
        after(first, marked("m", again(), key), "extends: demo").verdict
    };
    assert_eq!(
        judged("m", None),
        Verdict::Pass,
        "keyless, and for the same thing"
    );
    assert_eq!(judged("n", None), Verdict::Inconclusive);
    assert_eq!(
        judged("n", Some("k")),
        Verdict::Pass,
        "the key makes them one"
    );
}

#[test]
fn of_two_failures_the_earlier_one_decides() {
    let finding = keeps(
        "after-failure",
        &demo(),
        round([
            answered("first", 401).at(0, 5),
            answered("first", 500).copy(1).at(10, 15),
            paid("again", "pay_00000001").at(60_000, 60_005),
        ]),
    );
    assert!(finding.reason.contains("after auth "), "{}", finding.reason);
}

#[test]
fn only_a_failure_is_marked_as_passing_and_only_where_something_is_promised_of_it() {
    let marked = |exchange: Exchange| exchange.header("transient-error", "true");
    let again = || paid("again", "pay_00000001");
    let success = after(
        marked(paid("first", "pay_00000001")),
        paid("again", "pay_00000002"),
        "extends: adyen",
    );
    assert_eq!(success.verdict, Verdict::Inconclusive, "{}", success.reason);
    let signal = "transient: { header: transient-error, value: ^true$, strength: must }";
    let unpromised = format!("{}\n{signal}", promised("stored"));
    let failed = after(marked(answered("first", 500)), again(), &unpromised);
    assert!(
        failed.reason.contains("after server-5xx"),
        "{}",
        failed.reason
    );
    assert_eq!(failed.verdict, Verdict::Fail);
    let unsigned = "extends: generic\nafter: { transient-marked: { is: stored, strength: must }, server-5xx: { is: reexecuted, strength: must } }";
    let failed = after(marked(answered("first", 500)), again(), unsigned);
    assert!(
        failed.reason.contains("after server-5xx"),
        "{}",
        failed.reason
    );
    assert_eq!(failed.verdict, Verdict::Pass);
}

#[test]
fn another_refusal_than_the_first_blocks_the_key_and_one_for_the_rate_shows_nothing() {
    let then = |status: u16| {
        after(
            answered("first", 500),
            answered("again", status),
            "extends: demo",
        )
    };
    let blocked = then(404);
    assert_eq!(blocked.verdict, Verdict::Fail, "{}", blocked.reason);
    assert_eq!(blocked.observed[0].says, "refused with 404");
    assert_eq!(then(429).verdict, Verdict::Inconclusive);
    let after_loss = after(sent("first"), answered("again", 404), "extends: demo");
    assert_eq!(after_loss.verdict, Verdict::Fail, "{}", after_loss.reason);
    assert_eq!(after_loss.observed[0].says, "refused with 404");
}

#[test]
fn another_failure_of_the_server_blocks_no_key_where_its_cause_may_be_another() {
    let verdict = |first: Exchange, again: Exchange| {
        let finding = after(first, again, "extends: demo");
        (finding.verdict, finding.reason)
    };
    let (open, why) = verdict(answered("first", 500), answered("again", 503));
    assert_eq!(open, Verdict::Inconclusive, "{why}");
    let once = |step: &str, status: u16| answered(step, status).variant("fails-once");
    let (blocked, why) = verdict(once("first", 500), once("again", 503));
    assert_eq!(blocked, Verdict::Fail, "{why}");
    let (blocked, why) = verdict(answered("first", 422), answered("again", 500));
    assert_eq!(blocked, Verdict::Fail, "{why}");
    let mut page = answered("again", 502);
    if let Some(response) = &mut page.response {
        response.json = None;
        response.body = "<center>nginx</center>".to_owned();
    }
    let (hidden, why) = verdict(answered("first", 422), page);
    assert_eq!(hidden, Verdict::Inconclusive, "{why}");
}

#[test]
fn the_same_failure_comes_from_memory_where_its_cause_is_gone() {
    let judged = |before: &[&str], now: &[&str]| {
        let failed = |step: &str, variants: &[&str]| {
            variants
                .iter()
                .fold(answered(step, 500), |exchange, name| exchange.variant(name))
        };
        let finding = after(
            failed("first", before),
            failed("again", now),
            &promised("reexecuted"),
        );
        finding.verdict
    };
    for gone in [
        "invalid",
        "declined",
        "fails",
        "fails-after",
        "fails-commit",
    ] {
        assert_eq!(judged(&[gone], &[]), Verdict::Fail, "{gone}");
        assert_eq!(judged(&[gone], &[gone]), Verdict::Inconclusive, "{gone}");
    }
    for healed in ["fails-once", "fails-after-once"] {
        assert_eq!(judged(&[healed], &[healed]), Verdict::Fail, "{healed}");
    }
    assert_eq!(
        judged(&["slow"], &[]),
        Verdict::Inconclusive,
        "its cause is not known"
    );
    assert_eq!(judged(&["slow"], &["slow"]), Verdict::Inconclusive);
}

#[test]
fn a_failure_without_the_mark_ran_again_where_failures_bear_it() {
    let twice = |marker: &str| {
        let lines = format!("{}\nreplay-marker: {marker}", promised("reexecuted"));
        after(answered("first", 500), answered("again", 500), &lines).verdict
    };
    assert_eq!(
        twice("{ header: Replayed, value: true, strength: must }"),
        Verdict::Pass
    );
    assert_eq!(
        twice("{ header: Replayed, value: true, strength: unspecified }"),
        Verdict::Inconclusive,
        "it is not promised"
    );
    assert_eq!(
        twice("{ status: 200, strength: must }"),
        Verdict::Inconclusive,
        "a failure has another status in any case"
    );
}

#[test]
fn a_refusal_that_bears_the_mark_is_the_stored_one() {
    let declined = |step: &str| answered(step, 402).variant("declined");
    let again = |lines: &str, again: Exchange| {
        let finding = after(declined("first"), again, lines);
        (finding.verdict, finding.observed[0].says.clone())
    };
    let anew = again("extends: demo", declined("again"));
    assert_eq!(anew, (Verdict::Pass, "failed anew with 402".to_owned()));
    let stored = (Verdict::Fail, "stored: 402".to_owned());
    let marked = declined("again").header("Idempotency-Replayed", "true");
    assert_eq!(again("extends: demo", marked), stored);
    let echoing = "extends: demo\nreplay-marker: { key-echo: idempotency-key, strength: must }";
    let echoed = declined("again").header("Idempotency-Key", "k");
    let open = "402 again: stored or run again".to_owned();
    assert_eq!(
        again(echoing, echoed),
        (Verdict::Inconclusive, open),
        "every answer bears it"
    );
}
