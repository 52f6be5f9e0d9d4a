//! Tests of which answers are the declared ones, and of whose key is whose.

use super::{keeps, pair};
use crate::contract::Contract;
use crate::judge::sample::{answered, contract, demo, expecting, judged, paid, round, sent};
use crate::scenario::{LookupBy, OperationRole, PrincipalRole};
use crate::transcript::{Exchange, Round};
use crate::verdict::Verdict;

fn under(promise: &str, lines: &str, round: Round) -> Verdict {
    keeps(
        promise,
        &contract(&format!("extends: generic\n{lines}")),
        round,
    )
    .verdict
}

fn reworded(mut exchange: Exchange) -> Round {
    exchange.request.reworded = true;
    pair(exchange)
}

#[test]
fn an_answer_that_may_be_a_replay_neither_keeps_nor_breaks_the_promise_of_one() {
    let open = || round([sent("first"), paid("again", "pay_00000001")]);
    let stored = "on: { replay: { outcome: replay-stored, strength: must } }";
    assert_eq!(under("replay", stored, open()), Verdict::Inconclusive);
    let says = |round: Round| {
        keeps("deleted", &contract(""), round).observed[0]
            .says
            .clone()
    };
    assert_eq!(says(open()), "201: executed or replayed");
    let changed = answered("again", 409).intent("changed").at(10, 20);
    let during = round([paid("first", "pay_00000001").at(0, 100), changed]);
    assert_eq!(says(during), "refused with 409");
}

#[test]
fn a_replay_is_compared_with_the_earliest_success() {
    let finding = keeps(
        "replay",
        &contract(""),
        round([
            paid("first", "pay_00000001").at(0, 5),
            answered("first", 200)
                .naming("pay_00000001")
                .copy(1)
                .at(10, 15),
            paid("again", "pay_00000001").at(60_000, 60_005),
        ]),
    );
    assert_eq!(finding.observed[0].says, "201, same body");
}

#[test]
fn a_marked_answer_is_a_replay_of_the_resource_only_if_it_names_the_same_one() {
    let lines = "on: { replay: { outcome: replay-current, body: same-resource, strength: must } }\nreplay-marker: { header: Replayed, value: true }";
    let marked = |exchange: Exchange| exchange.header("Replayed", "true");
    let after = |first: Exchange, again: Exchange| {
        under(
            "replay",
            lines,
            round([first, marked(again).at(60_000, 60_005)]),
        )
    };
    let first = || paid("first", "pay_00000001");
    assert_eq!(after(first(), paid("again", "pay_00000001")), Verdict::Pass);
    assert_eq!(after(first(), paid("again", "pay_00000002")), Verdict::Fail);
    let nameless = answered("first", 201);
    assert_eq!(
        after(nameless, paid("again", "pay_00000001")),
        Verdict::Pass,
        "the first one named none"
    );
}

#[test]
fn a_success_is_no_conflict_and_an_acceptance_no_refusal() {
    let conflict = "on: { replay: { outcome: conflict-ref, strength: must } }";
    let named = answered("again", 409).body(r#"{"of":"pay_00000001"}"#);
    let finding = keeps(
        "replay",
        &contract(&format!("extends: generic\n{conflict}")),
        pair(named),
    );
    assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
    assert_eq!(finding.observed[0].says, "409 that names the first result");
    let replayed = pair(paid("again", "pay_00000001"));
    assert_eq!(under("replay", conflict, replayed), Verdict::Fail);

    let accepted = "on: { in-progress: { outcome: accepted, strength: must }, mismatch: { outcome: reject, strength: must } }";
    let during = |again: Exchange| {
        let first = paid("first", "pay_00000001").at(0, 100);
        round([first, again.at(10, 20)])
    };
    let answer = |status: u16| during(answered("again", status));
    assert_eq!(under("in-progress", accepted, answer(202)), Verdict::Pass);
    assert_eq!(under("in-progress", accepted, answer(409)), Verdict::Fail);
    let changed = during(answered("again", 202).intent("changed"));
    assert_eq!(under("mismatch", accepted, changed), Verdict::Fail);
}

#[test]
fn a_payload_that_differs_in_bytes_only_is_another_one_where_bytes_count() {
    let bytes = "fingerprint: { equality: { is: bytes, strength: must } }";
    let refused = || reworded(answered("again", 422));
    let replayed = || reworded(paid("again", "pay_00000001"));
    let executed = || reworded(paid("again", "pay_00000002"));
    assert_eq!(under("equality", bytes, refused()), Verdict::Pass);
    assert_eq!(under("equality", bytes, replayed()), Verdict::Fail);
    assert_eq!(under("equality", bytes, executed()), Verdict::Fail);
    let anew = format!("{bytes}\non: {{ mismatch: {{ outcome: execute-new, strength: must }} }}");
    assert_eq!(under("equality", &anew, executed()), Verdict::Pass);
    assert_eq!(under("equality", &anew, replayed()), Verdict::Fail);
}

#[test]
fn what_is_promised_after_a_failure_does_not_weaken_another_promise() {
    let failed = answered("first", 500);
    let changed = answered("again", 422).intent("changed").at(60_000, 60_005);
    let lines = "on: { mismatch: { outcome: reject, status: 422, strength: must } }";
    assert_eq!(
        under("mismatch", lines, round([failed, changed])),
        Verdict::Pass
    );
}

#[test]
fn a_look_up_finds_what_was_made_where_it_is_promised() {
    let looked = |status: u16, id: Option<&str>| {
        let mut exchange = match id {
            Some(id) => answered("again", status).naming(id),
            None => answered("again", status),
        };
        exchange.lookup = Some(LookupBy::Key);
        exchange
    };
    let found = || looked(200, Some("pay_00000001"));
    let none = contract("extends: generic\nlookup: { is: none, strength: must }");
    let judged =
        |contract: &Contract, again: Exchange| keeps("lookup", contract, pair(again)).verdict;
    assert_eq!(judged(&demo(), found()), Verdict::Pass);
    assert_eq!(judged(&demo(), looked(404, None)), Verdict::Fail);
    assert_eq!(judged(&demo(), looked(500, None)), Verdict::Inconclusive);
    assert_eq!(judged(&none, found()), Verdict::Fail, "more than was said");
    assert_eq!(judged(&none, looked(404, None)), Verdict::Pass);
    let observed = keeps("lookup", &contract(""), pair(found()));
    assert_eq!(observed.observed[0].says, "found by key");
    assert_eq!(
        judged(&demo(), paid("again", "pay_00000001")),
        Verdict::Skip
    );
}

#[test]
fn a_control_character_excuses_a_refusal_only_if_it_stood_in_a_header() {
    let azure = contract("extends: azure");
    let judged = |headers: &[(&str, &str)]| {
        let mut exchange = answered("again", 400).key(Some("a\u{1}b"));
        exchange.key.malformed = true;
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        exchange.request.headers = headers.collect();
        keeps("malformed-key", &azure, round([exchange])).verdict
    };
    let other = ("Content-Type", "application/json");
    let key = ("Repeatability-Request-ID", "a\u{1}b");
    assert_eq!(judged(&[other]), Verdict::Fail, "it was sent elsewhere");
    assert_eq!(judged(&[other, key]), Verdict::Skip);
    let mut dull = answered("again", 400).key(Some("no-uuid"));
    dull.key.malformed = true;
    dull.request.headers = vec![("Repeatability-Request-ID".to_owned(), "no-uuid".to_owned())];
    assert_eq!(
        keeps("malformed-key", &azure, round([dull])).verdict,
        Verdict::Fail
    );
}

#[test]
fn whose_key_it_is_depends_on_the_declared_scope() {
    let (own, shared) = ("pay_00000002", "pay_00000001");
    let judged = |scope: &str, role: PrincipalRole, id: &str| {
        let lines = format!("scope: {{ principal: {{ is: {scope}, strength: must }} }}");
        under("other-principal", &lines, pair(paid("again", id).by(role)))
    };
    let (pass, fail) = (Verdict::Pass, Verdict::Fail);
    for (scope, role, with_own, with_shared) in [
        ("global", PrincipalRole::OtherTenant, fail, pass),
        ("tenant", PrincipalRole::OtherTenant, pass, fail),
        ("tenant", PrincipalRole::SameTenant, fail, pass),
        ("company-account", PrincipalRole::SameTenant, fail, pass),
        ("user", PrincipalRole::SameTenant, pass, fail),
        ("user", PrincipalRole::OtherSession, fail, pass),
        ("api-key", PrincipalRole::OtherSession, pass, fail),
    ] {
        assert_eq!(
            judged(scope, role, own),
            with_own,
            "{scope} {} own",
            role.name()
        );
        assert_eq!(
            judged(scope, role, shared),
            with_shared,
            "{scope} {} shared",
            role.name()
        );
    }
}

#[test]
fn one_key_on_two_operations_is_one_or_two_as_declared() {
    let judged = |scope: &str, again: Exchange| {
        let lines = format!("scope: {{ operation: {{ is: {scope}, strength: must }} }}");
        under(
            "other-operation",
            &lines,
            pair(again.on(OperationRole::Other)),
        )
    };
    let answers = || {
        [
            paid("again", "ref_00000002"),
            paid("again", "pay_00000001"),
            answered("again", 422),
        ]
    };
    let (pass, fail) = (Verdict::Pass, Verdict::Fail);
    for (scope, wanted) in [
        ("per-endpoint", [pass, fail, fail]),
        ("ignores-route", [fail, pass, fail]),
        ("global-key", [fail, fail, pass]),
    ] {
        let got = answers().map(|again| judged(scope, again));
        assert_eq!(got, wanted, "{scope}");
    }
}

#[test]
fn a_path_of_its_own_excuses_only_where_nobody_else_sent_the_key_there() {
    let elsewhere = |mut exchange: Exchange| {
        exchange.request.url = "http://127.0.0.1/payments/7".to_owned();
        exchange
    };
    let theirs = || elsewhere(paid("again", "pay_00000002").by(PrincipalRole::OtherTenant));
    let judged = |further: Exchange| {
        let rest = [
            paid("first", "pay_00000001"),
            further,
            theirs().at(60_000, 60_005),
        ];
        keeps("other-principal", &demo(), round(rest)).verdict
    };
    let other_key = elsewhere(paid("first", "pay_00000003"))
        .copy(1)
        .key(Some("o"));
    assert_eq!(judged(other_key), Verdict::Skip);
    let same_place = elsewhere(paid("first", "pay_00000001")).copy(1);
    assert_eq!(judged(same_place), Verdict::Pass);
}

#[test]
fn keys_that_are_the_same_or_wholly_different_say_nothing_of_their_case() {
    let judged = |one: &str, other: &str| {
        let first = paid("first", "pay_00000001").key(Some(one));
        let again = paid("again", "pay_00000002").key(Some(other));
        keeps("key-case", &demo(), round([first, again])).verdict
    };
    assert_eq!(judged("abc", "ABC"), Verdict::Pass);
    assert_eq!(judged("abc", "abc"), Verdict::Skip);
    assert_eq!(judged("xyz", "ABC"), Verdict::Skip);
}

#[test]
fn a_duplicate_that_met_nobody_shows_nothing_of_one_in_progress() {
    let refuses = "on: { in-progress: { outcome: reject, status: 409 } }";
    let waits = "on: { in-progress: { outcome: wait-then-replay } }";
    let first = |began, ended| paid("first", "pay_00000001").at(began, ended);
    let failed = || answered("again", 500).at(10, 20);
    let elsewhere = first(0, 100).key(Some("o"));
    assert_eq!(
        under("in-progress", refuses, round([elsewhere, failed()])),
        Verdict::Inconclusive,
        "it ran with another key"
    );
    let replayed = |began, ended| paid("again", "pay_00000001").at(began, ended);
    assert_eq!(
        under(
            "in-progress",
            waits,
            round([first(0, 100), replayed(10, 50)])
        ),
        Verdict::Inconclusive,
        "it was answered before the other, and so is the first"
    );
    assert_eq!(
        under(
            "in-progress",
            waits,
            round([first(0, 100), replayed(100, 105)])
        ),
        Verdict::Inconclusive,
        "it was sent when the first one was over"
    );
    assert_eq!(
        under(
            "in-progress",
            waits,
            round([first(0, 100), replayed(10, 101)])
        ),
        Verdict::Pass
    );
    let lost = || sent("first").at(0, 5_000);
    let told = answered("again", 409).at(10, 20);
    assert_eq!(
        under("in-progress", refuses, round([lost(), told])),
        Verdict::Pass
    );
    assert_eq!(
        under("in-progress", refuses, round([lost(), failed()])),
        Verdict::Inconclusive
    );
}

#[test]
fn siblings_of_another_key_and_declared_repeats_do_not_excuse() {
    let first = || paid("first", "pay_00000001").at(0, 100);
    let refuses = "on: { in-progress: { outcome: reject, status: 409 } }";
    let waited = || paid("again", "pay_00000001").at(10, 101);
    let other = |exchange: Exchange| exchange.key(Some("o"));
    let others = [
        other(sent("first").copy(1).at(0, 90)),
        other(answered("first", 409).copy(2).at(5, 10)),
    ];
    let exchanges = [first(), waited()].into_iter().chain(others);
    assert_eq!(
        under("in-progress", refuses, round(exchanges)),
        Verdict::Fail
    );

    let twice = || round([first(), paid("again", "pay_00000002").at(10, 101)]);
    assert_eq!(under("in-progress", refuses, twice()), Verdict::Fail);
    let runs = "on: { in-progress: { any-of: [ { outcome: reject, status: 409 }, { outcome: reexecute } ], strength: must } }";
    assert_eq!(under("in-progress", runs, twice()), Verdict::Pass);
}

#[test]
fn a_promise_of_which_nothing_was_sent_is_not_kept() {
    let claim = expecting("keeps: { promise: replay, of: again }");
    let only_first = round([paid("first", "pay_00000001")]);
    let finding = judged(&claim, &demo(), vec![only_first]);
    assert_eq!(finding.verdict, Verdict::Inconclusive);
}
