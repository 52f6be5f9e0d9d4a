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
fn a_conflict_with_a_sign_of_its_own_is_a_replay_also_while_the_first_answer_is_not_there() {
    let lines = "extends: generic\non: { replay: { outcome: conflict-ref, status: 409, json: { $.id: . } } }";
    let contract = contract(lines);
    let named = got(409).json(serde_json::json!({ "id": "p1" }));
    let exchanges = during(paid("p1"), named);
    assert_eq!(last(&contract, round(exchanges)), Meaning::Replayed.into());
    let plain = during(paid("p1"), got(409));
    assert_eq!(last(&contract, round(plain)), Meaning::InFlight.into());
}

#[test]
fn a_status_that_comes_with_a_sign_means_nothing_without_it() {
    let lines = "extends: generic\non: { in-progress: { outcome: reject, status: 422, json: { $.code: '^704$' } } }";
    let means = |code: &str| {
        let refused = got(422).json(serde_json::json!({ "code": code }));
        last(&contract(lines), round(during(paid("p1"), refused)))
    };
    assert_eq!(means("704"), Meaning::InFlight.into());
    assert_eq!(means("100"), Meaning::Refused.into());
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
