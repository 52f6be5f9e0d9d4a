//! Which of two refusals comes first, and which refusals are replays.

use super::sample::{Told, contract, during, got, last, means, paid, round};
use crate::outcome::{Meaning, Outcome};

#[test]
fn which_refusal_comes_first_tells_what_a_shared_status_means() {
    let means = |precedence: &str| {
        let lines = format!(
            "extends: generic\nprecedence: {precedence}\non: {{ in-progress: {{ outcome: reject, status: 409 }}, mismatch: {{ outcome: reject, status: 409 }} }}"
        );
        let exchanges = during(paid("p1"), got(409).changed());
        last(&contract(&lines), round(exchanges))
    };
    assert_eq!(means("mismatch"), Meaning::Mismatch.into());
    assert_eq!(means("in-progress"), Meaning::InFlight.into());
    assert_eq!(
        means("unspecified"),
        Outcome::of(&[Meaning::InFlight, Meaning::Mismatch])
    );
}

#[test]
fn a_declared_conflict_after_a_success_is_a_replay_without_naming_the_resource() {
    let lines = "extends: generic\non: { replay: { outcome: conflict-ref, status: 409 } }";
    let refused = [Meaning::Replayed];
    means("declared", lines, vec![paid("p1"), got(409)], &refused);
    let undeclared = [Meaning::Refused];
    means(
        "undeclared",
        "extends: generic",
        vec![paid("p1"), got(409)],
        &undeclared,
    );
    means("first", lines, vec![got(409)], &[Meaning::Refused]);
}

#[test]
fn a_marker_in_the_body_or_the_status_tells_a_replay_without_an_identity() {
    let json = "extends: generic\nreplay-marker: { json: $.replayed, value: true }";
    let marked = got(201).json(serde_json::json!({ "replayed": true }));
    means("body", json, vec![got(201), marked], &[Meaning::Replayed]);
    let status = "extends: generic\nreplay-marker: { status: 200 }";
    means(
        "status",
        status,
        vec![got(201), got(200)],
        &[Meaning::Replayed],
    );
    means("first", status, vec![got(200)], &[Meaning::Executed]);
    let always = "extends: generic\nreplay-marker: { header: X, value: ok, first: ok }";
    let either = [Meaning::Executed, Meaning::Replayed];
    let on_every = || got(201).header("X", "ok");
    means(
        "on every answer",
        always,
        vec![on_every(), on_every()],
        &either,
    );
}
