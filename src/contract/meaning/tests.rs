//! The decision table on cases from field reports: each is a short transcript, and the meaning of
//! its last response is what is asked for.

mod precedence;
pub(in crate::contract) mod sample;

use super::meaning;
use crate::hook::HookName;
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{
    BurstFacts, Delivery, Exchange, HookFacts, Reading, ReadingKind, Shown, Technique,
};
use sample::{Told, contract, during, got, last, lost, means, named, paid, round};
use std::time::Duration;

const GENERIC: &str = "extends: generic";
const IETF: &str = "extends: ietf-draft-07";
const DEMO: &str = "extends: demo";
const EITHER: &[Meaning] = &[Meaning::Executed, Meaning::Replayed];

#[test]
fn a_303_after_a_lost_response_may_point_at_its_result() {
    let there = || got(303).header("Location", "/payments/p1");
    let declared = "extends: demo\non: { replay: { outcome: conflict-ref, status: 303, header: { Location: ^/ } } }";
    let cases: [(&str, Vec<Exchange>, &[Meaning]); 4] = [
        (declared, vec![lost(), there()], &[Meaning::Replayed]),
        (
            GENERIC,
            vec![lost(), there()],
            &[Meaning::Replayed, Meaning::Unknown],
        ),
        (GENERIC, vec![there()], &[Meaning::Unknown]),
        (GENERIC, vec![paid("p2"), there()], &[Meaning::Unknown]),
    ];
    for (lines, exchanges, wanted) in cases {
        let outcome = last(&contract(lines), round(exchanges));
        assert_eq!(outcome, Outcome::of(wanted), "{lines}");
    }
}

#[test]
fn what_a_proxy_says_in_the_apis_place_is_no_failure_of_the_api() {
    let page = |status: u16| got(status).body("<html><hr><center>nginx</center></html>");
    let untold = [
        Meaning::Executed,
        Meaning::Replayed,
        Meaning::InFlight,
        Meaning::ServerError,
    ];
    for (status, wanted) in [
        (503, &[Meaning::RateLimited][..]),
        (429, &[Meaning::RateLimited]),
        (502, &untold),
        (504, &untold),
        (500, &[Meaning::ServerError]),
    ] {
        let outcome = last(&contract(GENERIC), round(vec![page(status)]));
        assert_eq!(outcome, Outcome::of(wanted), "{status}");
    }
    let own = last(&contract(GENERIC), round(vec![got(503).body("{}")]));
    assert_eq!(own, Meaning::ServerError.into());
}

#[test]
fn a_conflict_that_names_what_is_there_is_a_replay() {
    let seen = |id: &str, at: u64| {
        let mut round = round(vec![lost(), named(409, "pay_1")]);
        round.readings.push(Reading {
            kind: ReadingKind::Early,
            probe: "payments".to_owned(),
            operation: OperationRole::Subject,
            principal: PrincipalRole::Owner,
            marker: "m".to_owned(),
            marker_name: "main".to_owned(),
            at: Duration::from_millis(at),
            shows: Ok(Shown::Ids(vec![id.to_owned()])),
        });
        last(&contract(GENERIC), round)
    };
    assert_eq!(seen("pay_1", 0), Meaning::Replayed.into());
    assert_eq!(seen("pay_2", 0), Meaning::InFlight.into());
    // What was seen later may be what the first one had yet to do.
    assert_eq!(seen("pay_1", 900_000), Meaning::InFlight.into());
}

#[test]
fn a_replay_is_told_by_the_identity_or_the_marker() {
    use Meaning::{Executed, Replayed};
    let cases: [(&str, &str, Vec<Exchange>, &[Meaning]); 12] = [
        (
            "plain replay",
            GENERIC,
            vec![paid("p1"), paid("p1")],
            &[Replayed],
        ),
        (
            "200 with another body and the same id",
            GENERIC,
            vec![paid("p1"), named(200, "p1").body("wrapped")],
            &[Replayed],
        ),
        (
            "runs again",
            GENERIC,
            vec![paid("p1"), paid("p2")],
            &[Executed],
        ),
        ("first", GENERIC, vec![paid("p1")], &[Executed]),
        (
            "retry after loss",
            GENERIC,
            vec![lost(), paid("p1")],
            EITHER,
        ),
        (
            "a marker that says false",
            DEMO,
            vec![paid("p1").header("Idempotency-Replayed", "false")],
            &[Executed],
        ),
        (
            "a stored answer with a marker",
            DEMO,
            vec![got(204), got(204).header("idempotency-replayed", "TRUE")],
            &[Replayed],
        ),
        (
            "409 with a link",
            GENERIC,
            vec![
                paid("p1"),
                got(409).header("Link", "</payments/p1>; rel=\"original\""),
            ],
            &[Replayed],
        ),
        (
            "409 with the id in its body",
            GENERIC,
            vec![
                paid("p1"),
                got(409).json(serde_json::json!({"links": {"conflicting": "p1"}})),
            ],
            &[Replayed],
        ),
        (
            "303 to the first",
            GENERIC,
            vec![paid("p1"), got(303).header("Location", "/payments/p1")],
            &[Replayed],
        ),
        ("204 twice", GENERIC, vec![got(204), got(204)], EITHER),
        (
            "204 in a burst",
            GENERIC,
            during(got(204), got(204)),
            EITHER,
        ),
    ];
    for (name, text, exchanges, wanted) in cases {
        means(name, text, exchanges, wanted);
    }
}

#[test]
fn a_duplicate_in_flight_is_told_to_wait_or_fails() {
    use Meaning::{InFlight, Refused, ServerError};
    let late =
        "extends: generic\non: { in-progress: { outcome: reject, status: 503, strength: must } }";
    let cases: [(&str, &str, Vec<Exchange>, &[Meaning]); 9] = [
        ("409", GENERIC, during(paid("p1"), got(409)), &[InFlight]),
        ("423", GENERIC, during(paid("p1"), got(423)), &[InFlight]),
        ("500", GENERIC, during(paid("p1"), got(500)), &[ServerError]),
        (
            "202 and a place to ask",
            GENERIC,
            during(paid("p1"), got(202)),
            &[InFlight],
        ),
        (
            "503 after waiting",
            late,
            during(paid("p1"), got(503)),
            &[InFlight],
        ),
        ("503 without a first", late, vec![got(503)], &[ServerError]),
        (
            "409 for a moment after completion",
            GENERIC,
            vec![paid("p1").at(0, 10), got(409).at(12, 20)],
            &[InFlight],
        ),
        (
            "409 long after",
            GENERIC,
            vec![paid("p1"), got(409)],
            &[Refused],
        ),
        (
            "409 after a lost one",
            GENERIC,
            vec![lost(), got(409)],
            &[InFlight],
        ),
    ];
    for (name, text, exchanges, wanted) in cases {
        means(name, text, exchanges, wanted);
    }
}

#[test]
fn another_payload_is_refused_answered_or_executed() {
    use Meaning::{Executed, InFlight, Mismatch, Replayed};
    let shopify = "extends: generic\non: { mismatch: { outcome: reject, status: 200, json: { $.code: KEY_PARAMETER_MISMATCH }, strength: must } }";
    let declined = || got(402).variant("declined");
    let cases: [(&str, &str, Vec<Exchange>, &[Meaning]); 13] = [
        (
            "417",
            GENERIC,
            vec![paid("p1"), got(417).changed()],
            &[Mismatch],
        ),
        (
            "409",
            GENERIC,
            vec![paid("p1"), got(409).changed()],
            &[Mismatch],
        ),
        (
            "answered silently",
            GENERIC,
            vec![paid("p1"), paid("p1").changed()],
            &[Replayed],
        ),
        (
            "executed",
            GENERIC,
            vec![paid("p1"), paid("p2").changed()],
            &[Executed],
        ),
        (
            "409 in flight",
            GENERIC,
            during(paid("p1"), got(409).changed()),
            &[InFlight, Mismatch],
        ),
        (
            "422 in flight",
            GENERIC,
            during(paid("p1"), got(422).changed()),
            &[Mismatch],
        ),
        (
            "409 in flight, declared",
            IETF,
            during(paid("p1"), got(409).changed()),
            &[InFlight],
        ),
        (
            "422 in flight, declared",
            IETF,
            during(paid("p1"), got(422).changed()),
            &[Mismatch],
        ),
        (
            "corrected, and told to wait",
            IETF,
            vec![declined(), got(409)],
            &[InFlight],
        ),
        (
            "refused again, and told to wait",
            GENERIC,
            vec![got(402).body("x"), got(409).body("y")],
            &[InFlight],
        ),
        (
            "corrected, and given the stored refusal",
            GENERIC,
            vec![got(422).variant("invalid"), got(422)],
            &[Mismatch],
        ),
        (
            "reworded",
            GENERIC,
            vec![paid("p1"), got(422).reworded()],
            &[Mismatch],
        ),
        (
            "200 with an error code",
            shopify,
            vec![
                paid("p1"),
                got(200)
                    .changed()
                    .json(serde_json::json!({"code": "KEY_PARAMETER_MISMATCH"})),
            ],
            &[Mismatch],
        ),
    ];
    for (name, text, exchanges, wanted) in cases {
        means(name, text, exchanges, wanted);
    }
}

#[test]
fn failures_and_refusals_are_remembered_or_not() {
    use Meaning::{
        Executed, InFlight, Invalid, RateLimited, ReplayedFailure, ServerError, Unauthorized,
    };
    let stored = "extends: generic\nafter: { server-5xx: { is: stored, strength: must } }";
    let keeps_429 = "extends: generic\nafter: { rate-limited: { is: stored, strength: must } }";
    let nobody = || got(401).by(PrincipalRole::Nobody);
    let cases: [(&str, &str, Vec<Exchange>, &[Meaning]); 14] = [
        (
            "the stored 429",
            keeps_429,
            vec![got(429), got(429)],
            &[ReplayedFailure],
        ),
        ("the first 429", keeps_429, vec![got(429)], &[RateLimited]),
        (
            "another 429",
            GENERIC,
            vec![got(429), got(429)],
            &[RateLimited],
        ),
        (
            "a 429 with the marker of replays",
            DEMO,
            vec![got(429), got(429).header("Idempotency-Replayed", "true")],
            &[ReplayedFailure],
        ),
        (
            "500, then told to wait",
            GENERIC,
            vec![got(500), got(409)],
            &[InFlight],
        ),
        (
            "the stored 422",
            GENERIC,
            vec![got(422).variant("invalid"), got(422).variant("invalid")],
            &[Invalid],
        ),
        (
            "the stored 401",
            GENERIC,
            vec![nobody(), got(401)],
            &[Unauthorized],
        ),
        (
            "good after 401",
            GENERIC,
            vec![nobody(), paid("p1")],
            &[Executed],
        ),
        (
            "the stored 500",
            stored,
            vec![got(500), got(500)],
            &[ReplayedFailure],
        ),
        (
            "another 500, or the stored one",
            GENERIC,
            vec![got(500), got(500)],
            &[ReplayedFailure, ServerError],
        ),
        (
            "another 500 where they are not stored",
            DEMO,
            vec![got(500), got(500)],
            &[ServerError],
        ),
        (
            "a 500 with the marker of replays",
            DEMO,
            vec![got(500), got(500).header("Idempotency-Replayed", "true")],
            &[ReplayedFailure],
        ),
        (
            "a success after a 500",
            GENERIC,
            vec![got(500), paid("p1")],
            EITHER,
        ),
        (
            "a success after a refusal",
            GENERIC,
            vec![got(422).variant("invalid"), paid("p1")],
            &[Executed],
        ),
    ];
    for (name, text, exchanges, wanted) in cases {
        means(name, text, exchanges, wanted);
    }
}

#[test]
fn somebody_elses_result_is_foreign() {
    use Meaning::{Executed, Foreign, Refused};
    let id = "pay_00000001";
    let tenant = PrincipalRole::OtherTenant;
    let cases: [(&str, Vec<Exchange>, &[Meaning]); 9] = [
        (
            "the payment for a refund",
            vec![paid(id), paid(id).on_other()],
            &[Foreign],
        ),
        (
            "a refund that is refused",
            vec![paid(id), got(417).on_other()],
            &[Refused],
        ),
        (
            "ours to another tenant",
            vec![paid(id), paid(id).by(tenant)],
            &[Foreign],
        ),
        (
            "their own",
            vec![paid(id), paid("pay_00000009").by(tenant)],
            &[Executed],
        ),
        (
            "ours under another key",
            vec![paid(id), paid(id).key(Some("l"))],
            &[Foreign],
        ),
        (
            "a natural resource without keys",
            vec![paid(id).key(None), named(200, id).key(None)],
            &[Meaning::Replayed],
        ),
        (
            "a small number in both scopes",
            vec![paid("17"), paid("17").by(tenant)],
            &[Executed, Foreign],
        ),
        (
            "the same words without a resource",
            vec![got(200).body("done"), got(200).body("done").by(tenant)],
            &[Executed, Foreign],
        ),
        (
            "other words without a resource",
            vec![got(200).body("done 1"), got(200).body("done 2").by(tenant)],
            &[Executed],
        ),
    ];
    for (name, exchanges, wanted) in cases {
        means(name, GENERIC, exchanges, wanted);
    }
}

#[test]
fn one_answer_to_two_operations_is_foreign_though_each_names_something_else_in_it() {
    let told = |id: &str, digest: &str| {
        let mut exchange = paid(id);
        if let Some(response) = &mut exchange.response {
            response.body_digest = digest.to_owned();
        }
        exchange
    };
    let other = |digest: &str| Exchange {
        operation: OperationRole::Other,
        ..told("pay_00000002", digest)
    };
    let first = || told("chg_00000001", "one");
    means(
        "the same",
        GENERIC,
        vec![first(), other("one")],
        &[Meaning::Foreign],
    );
    means(
        "another",
        GENERIC,
        vec![first(), other("two")],
        &[Meaning::Executed],
    );
}

#[test]
fn keys_and_everything_else() {
    use Meaning::{MalformedKey, MissingKey, PreconditionFailed, RateLimited, Refused, Unknown};
    let cases: [(&str, Vec<Exchange>, &[Meaning]); 8] = [
        ("no key", vec![got(400).key(None)], &[MissingKey]),
        (
            "an empty key",
            vec![got(400).key(Some("")).malformed()],
            &[MalformedKey],
        ),
        ("no response", vec![paid("p1"), lost()], &[]),
        ("a teapot", vec![got(418)], &[Refused]),
        ("too many", vec![got(429)], &[RateLimited]),
        ("412", vec![got(412)], &[PreconditionFailed]),
        (
            "a redirect elsewhere",
            vec![paid("p1"), got(302)],
            &[Unknown],
        ),
        (
            "200 that the target calls no success",
            vec![unsuccessful()],
            &[Unknown],
        ),
    ];
    for (name, exchanges, wanted) in cases {
        means(name, GENERIC, exchanges, wanted);
    }
}

fn unsuccessful() -> Exchange {
    let mut exchange = got(200);
    exchange.answer().success = false;
    exchange
}

#[test]
fn a_refusal_after_the_targets_time_moved_is_expired() {
    let mut round = round(vec![paid("p1"), got(410)]);
    round.hooks.push(HookFacts {
        name: HookName::AdvanceClock,
        at: Duration::from_secs(1),
        due: None,
        over: None,
        worked: true,
        output: String::new(),
        moved: Some(Duration::from_secs(90_000)),
    });
    let outcome = last(&contract(GENERIC), round);
    assert_eq!(outcome, Outcome::from(Meaning::Expired));
}

#[test]
fn an_earlier_failure_is_not_forgotten_over_a_later_refusal() {
    let exchanges = vec![got(500), got(429), paid("p1")];
    means("the 500 may have paid", GENERIC, exchanges, EITHER);
}

#[test]
fn waiting_for_a_request_that_never_arrived_ends_in_an_execution() {
    let mut cut = lost();
    cut.delivery = Delivery::NotSent;
    let exchanges = vec![cut, got(409), paid("p1")];
    means(
        "only this one was whole",
        GENERIC,
        exchanges,
        &[Meaning::Executed],
    );
    let mut cut = lost();
    cut.delivery = Delivery::NotSent;
    let exchanges = vec![cut, got(409), got(409)];
    means(
        "half of it has taken the key",
        GENERIC,
        exchanges,
        &[Meaning::InFlight],
    );
}

#[test]
fn a_replayed_refusal_means_what_its_own_first_answer_meant() {
    let invalid = || got(422).variant("invalid");
    let exchanges = vec![invalid(), got(429).variant("invalid"), invalid()];
    means(
        "not what came between",
        GENERIC,
        exchanges,
        &[Meaning::Invalid],
    );
}

#[test]
fn other_stored_failures_do_not_make_a_500_surely_a_stored_one() {
    let text = "extends: generic\nafter: { business-declined: { is: stored, strength: must } }";
    let exchanges = vec![got(500), got(500)];
    means(
        "nothing is said of 5xx",
        text,
        exchanges,
        &[Meaning::ReplayedFailure, Meaning::ServerError],
    );
}

#[test]
fn a_request_sent_after_the_answer_was_there_was_in_nobodys_way() {
    let mut first = paid("p1").at(0, 100);
    first.times.ended = Duration::from_millis(105);
    let mut round = round(vec![first, paid("p1").at(101, 110)]);
    let contract = contract(GENERIC);
    round.exchanges[0].outcome = meaning(&contract, &round, 0);
    assert_eq!(round.exchanges[0].outcome, Outcome::from(Meaning::Executed));
    assert_eq!(last(&contract, round), Outcome::from(Meaning::Replayed));
}

#[test]
fn under_one_key_space_for_all_the_others_result_is_a_replay() {
    let text = "extends: generic\nscope: { principal: { is: global, strength: must } }";
    let exchanges = vec![
        paid("pay_00000001"),
        paid("pay_00000001").by(PrincipalRole::OtherTenant),
    ];
    means("declared", text, exchanges, &[Meaning::Replayed]);
}

#[test]
fn the_copy_that_was_sent_first_need_not_have_arrived_first() {
    let contract = contract(GENERIC);
    let mut burst = round(vec![got(409).at(0, 5), paid("p1").at(6, 30)]);
    for index in [0, 1] {
        burst.exchanges[index].outcome = meaning(&contract, &burst, index);
    }
    assert_eq!(burst.exchanges[0].outcome, Outcome::from(Meaning::InFlight));
    means("alone", GENERIC, vec![got(409)], &[Meaning::Refused]);

    // Copies that were let go at once, one of which our clock noted much too late.
    let mut late = round(vec![got(409).at(0, 5), paid("p1").at(600, 700)]);
    assert_eq!(meaning(&contract, &late, 0), Meaning::Refused.into());
    late.bursts.push(BurstFacts {
        step: late.exchanges[0].step.clone(),
        technique: Technique::LastByte,
        copies: 2,
        release_spread: Duration::ZERO,
        in_flight: 1,
        backends: 1,
    });
    assert_eq!(meaning(&contract, &late, 0), Meaning::InFlight.into());
    late.exchanges[1].step = "later".to_owned();
    assert_eq!(meaning(&contract, &late, 0), Meaning::Refused.into());
}

#[test]
fn a_look_up_finds_the_operation_or_not_whatever_its_key() {
    use crate::scenario::LookupBy;
    let asked = |mut exchange: Exchange| {
        exchange.lookup = Some(LookupBy::Key);
        exchange.key.value = None;
        last(&contract(GENERIC), round(vec![paid("p1"), exchange]))
    };
    for (exchange, meaning) in [
        (named(200, "p1"), Meaning::Found),
        (got(200), Meaning::NotFound),
        (got(404), Meaning::NotFound),
        (got(403), Meaning::Unauthorized),
        (got(400), Meaning::Refused),
        (got(503), Meaning::ServerError),
    ] {
        let status = exchange.response.as_ref().map(|response| response.status);
        assert_eq!(asked(exchange), meaning.into(), "{status:?}");
    }
}
