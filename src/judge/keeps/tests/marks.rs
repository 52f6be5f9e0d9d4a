//! Tests of what tells a replay from a first answer.

use super::{keeps, pair};
use crate::judge::sample::{answered, contract, demo, paid, round};
use crate::transcript::Exchange;
use crate::verdict::Verdict;

/// What is said of the marker where none is declared.
fn seen(first: Exchange, again: Exchange) -> String {
    let finding = keeps("replay-marker", &contract(""), round([first, again]));
    assert_eq!(finding.verdict, Verdict::Skip, "{}", finding.reason);
    finding.observed[0].says.clone()
}

fn first() -> Exchange {
    paid("first", "pay_00000001")
}

fn again() -> Exchange {
    paid("again", "pay_00000001")
}

#[test]
fn a_header_tells_a_replay_if_it_is_new_or_says_the_opposite() {
    for (before, now, says) in [
        (None, ("X-Copy-Of", "req_7"), "x-copy-of: req_7"),
        (Some(("X-Copy-Of", "req_6")), ("X-Copy-Of", "req_7"), "none"),
        (Some(("X-Fresh", "yes")), ("X-Fresh", "no"), "x-fresh: no"),
        (Some(("X-Fresh", "no")), ("X-Fresh", "no"), "none"),
        (None, ("X-RateLimit-Remaining", "9"), "none"),
        (None, ("X-Amzn-Trace-Id", "9"), "none"),
        (None, ("Date", "now"), "none"),
    ] {
        let first = before.map_or_else(first, |(name, value)| first().header(name, value));
        assert_eq!(seen(first, again().header(now.0, now.1)), says);
    }
    let of_two = first().header("X-Cache", "MISS").header("X-Cache", "HIT");
    assert_eq!(seen(of_two, again().header("X-Cache", "HIT")), "none");
    let mut ignored = again().header("X-Served-By", "9");
    if let Some(response) = &mut ignored.response {
        response.volatile_headers.insert("x-served-by".to_owned());
    }
    assert_eq!(
        seen(first(), ignored),
        "none",
        "the target file says that it varies"
    );
}

#[test]
fn of_several_new_headers_the_one_that_speaks_of_replays_is_told() {
    let both = again().header("A-Node", "7").header("Was-Repeated", "yes");
    assert_eq!(seen(first(), both), "was-repeated: yes");
}

#[test]
fn a_refusal_that_names_the_resource_tells_itself_unless_a_marker_is_promised() {
    let naming = || answered("again", 409).body(r#"{"of":"pay_00000001"}"#);
    assert_eq!(seen(first(), naming()), "a refusal that names the resource");
    let promised = keeps("replay-marker", &demo(), pair(naming()));
    assert_eq!(promised.verdict, Verdict::Inconclusive);
    assert!(
        promised.reason.contains("not a replay"),
        "{}",
        promised.reason
    );
    let other = keeps("replay-marker", &contract(""), pair(answered("again", 404)));
    assert_eq!(other.verdict, Verdict::Inconclusive, "{}", other.reason);
}

#[test]
fn a_second_execution_bears_no_mark_and_breaks_no_promise_about_one() {
    let second = || paid("again", "pay_00000002");
    assert_eq!(seen(first(), second()), "none");
    let promised = keeps("replay-marker", &demo(), pair(second()));
    assert_eq!(
        promised.verdict,
        Verdict::Inconclusive,
        "{}",
        promised.reason
    );
}

#[test]
fn a_marker_that_was_found_is_told_as_it_is_declared() {
    let lines = "extends: generic\nreplay-marker: { status: 200 }";
    let replayed = pair(answered("again", 200).naming("pay_00000001"));
    let finding = keeps("replay-marker", &contract(lines), replayed);
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    assert!(
        finding.observed[0].says.contains("200"),
        "{}",
        finding.observed[0].says
    );
}
