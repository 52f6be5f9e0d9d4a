//! Tests of promises about the age of a key and of its date.

use super::{keeps, pair};
use crate::judge::Finding;
use crate::judge::sample::{answered, contract, paid, round};
use crate::transcript::Exchange;
use crate::verdict::Verdict;
use std::time::Duration;

const DAY: u64 = 86_400;

/// The retry comes when the target's time has moved so far, in seconds.
fn aged(promise: &str, retention: &str, moved: u64, again: Exchange) -> Verdict {
    let lines = format!("extends: demo\nretention: {retention}");
    let round = pair(again).moved(1_000, Duration::from_secs(moved));
    keeps(promise, &contract(&lines), round).verdict
}

const ONE_DAY: &str = "{ min: 24h, max: 24h }";

fn replayed() -> Exchange {
    paid("again", "pay_00000001")
}

fn anew() -> Exchange {
    paid("again", "pay_00000002")
}

#[test]
fn the_last_moment_of_a_retention_is_still_part_of_it() {
    assert_eq!(aged("retention", ONE_DAY, DAY, anew()), Verdict::Fail);
    assert_eq!(aged("retention", ONE_DAY, DAY + 1, anew()), Verdict::Skip);
    assert_eq!(aged("expired", ONE_DAY, DAY, anew()), Verdict::Inconclusive);
    assert_eq!(
        aged("expired", ONE_DAY, DAY, replayed()),
        Verdict::Inconclusive
    );
    assert_eq!(aged("expired", ONE_DAY, DAY + 1, replayed()), Verdict::Fail);
}

#[test]
fn a_key_may_be_remembered_for_longer_and_need_not_be_answered_at_once() {
    assert_eq!(
        aged("retention", ONE_DAY, 2 * DAY, replayed()),
        Verdict::Pass
    );
    let nameless = || answered("again", 201);
    assert_eq!(
        aged("retention", ONE_DAY, DAY - 60, nameless()),
        Verdict::Inconclusive
    );
    let limited = || answered("again", 429);
    assert_eq!(
        aged("retention", ONE_DAY, DAY - 60, limited()),
        Verdict::Inconclusive
    );
}

#[test]
fn between_its_shortest_and_its_longest_time_a_key_may_be_forgotten() {
    let about = "{ min: 24h, max: 48h }";
    assert_eq!(aged("expired", about, DAY + 3_600, anew()), Verdict::Pass);
    assert_eq!(
        aged("expired", about, DAY + 3_600, replayed()),
        Verdict::Inconclusive
    );
    assert_eq!(aged("expired", about, 3 * DAY, replayed()), Verdict::Fail);
    let forever = "{ forever: true }";
    assert_eq!(
        aged("expired", forever, 300 * DAY, anew()),
        Verdict::Inconclusive
    );
}

#[test]
fn time_that_passed_after_the_retry_made_no_key_older() {
    let later = |at: u64| {
        let round = pair(replayed()).moved(at, Duration::from_secs(DAY - 60));
        keeps("retention", &contract("extends: demo"), round).verdict
    };
    assert_eq!(later(59_000), Verdict::Pass);
    assert_eq!(later(61_000), Verdict::Inconclusive);
}

/// Under `azure`, which remembers for five minutes; the date lies so far back, in seconds.
fn backdated(seconds: u64, mut exchange: Exchange) -> Finding {
    for (name, value) in [
        ("Content-Type", "application/json"),
        ("Repeatability-First-Sent", "Mon, 30 Nov 2026 10:00:00 GMT"),
    ] {
        exchange
            .request
            .headers
            .push((name.to_owned(), value.to_owned()));
    }
    exchange.key.backdated = Some(Duration::from_secs(seconds));
    keeps("first-sent", &contract("extends: azure"), round([exchange]))
}

#[test]
fn of_a_date_that_is_just_as_old_as_the_retention_nothing_is_promised() {
    let refused = || answered("again", 412);
    let edge = backdated(300, refused());
    assert_eq!(edge.verdict, Verdict::Skip, "{}", edge.reason);
    assert!(edge.reason.contains("of this age"), "{}", edge.reason);
    assert_eq!(backdated(301, refused()).verdict, Verdict::Pass);
    assert_eq!(backdated(299, refused()).verdict, Verdict::Fail);
    let limited = backdated(299, answered("again", 429));
    assert_eq!(limited.verdict, Verdict::Inconclusive, "{}", limited.reason);
}

#[test]
fn a_date_is_read_where_it_stands_and_may_be_left_out_where_it_is_not_required() {
    let mut undated = answered("again", 400).header("Repeatability-Result", "rejected");
    let other = ("Content-Type".to_owned(), "application/json".to_owned());
    undated.request.headers.push(other);
    let oasis = contract("extends: oasis-repeatable-1.0");
    let missing = keeps("first-sent", &oasis, round([undated.clone()]));
    let said = &missing.observed[0].says;
    assert!(said.starts_with("one without the other"), "{said}");
    let lines = "extends: azure\nkey: { companions: [ { header: Repeatability-First-Sent, form: first-sent, required: false } ] }";
    let optional = keeps("first-sent", &contract(lines), round([undated]));
    assert_eq!(optional.verdict, Verdict::Skip);
    assert!(
        optional.reason.contains("may be left out"),
        "{}",
        optional.reason
    );
}
