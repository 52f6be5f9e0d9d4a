//! The decision table on cases from field reports: each is a short transcript, and the meaning of
//! its last response is what is asked for.

use super::meaning;
use crate::contract::{Contract, resolve};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{HookName, OperationRole, PrincipalRole};
use crate::transcript::{
    Delivery, Ending, Exchange, HookFacts, KeyUsed, Response, Round, SentRequest, Times,
};
use crate::yaml::{self, Source};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const GENERIC: &str = "extends: generic";
const IETF: &str = "extends: ietf-draft-07";
const DEMO: &str = "extends: demo";
const EITHER: &[Meaning] = &[Meaning::Executed, Meaning::Replayed];

fn contract(text: &str) -> Contract {
    let source = Source {
        name: "contract.yaml".to_owned(),
        text: text.to_owned(),
    };
    let node = yaml::parse(Arc::new(source)).unwrap_or_else(|problem| panic!("{problem}"));
    resolve(Some(&node)).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A request of the owner with one key that got no response.
fn lost() -> Exchange {
    Exchange {
        step: "step".to_owned(),
        copy: 0,
        attempt: 0,
        operation: OperationRole::Subject,
        principal: PrincipalRole::Owner,
        marker: "m".to_owned(),
        marker_name: "main".to_owned(),
        key: KeyUsed {
            value: Some("k".to_owned()),
            malformed: false,
        },
        variants: Vec::new(),
        forms: Vec::new(),
        request: SentRequest {
            method: "POST".to_owned(),
            url: "http://127.0.0.1/payments".to_owned(),
            headers: Vec::new(),
            body: None,
            intent: "plain".to_owned(),
            reworded: false,
        },
        times: Times::default(),
        ending: Ending::TimedOut,
        delivery: Delivery::Delivered,
        fault: None,
        response: None,
        late: None,
        outcome: Outcome::NONE,
    }
}

fn got(status: u16) -> Exchange {
    let response = Response {
        status,
        headers: Vec::new(),
        body: String::new(),
        body_length: 0,
        body_digest: format!("digest of {status}"),
        json: None,
        stable_json: None,
        volatile_headers: BTreeSet::new(),
        success: (200..300).contains(&status),
        identity: None,
        tokens: Vec::new(),
    };
    Exchange {
        ending: Ending::Answered,
        delivery: Delivery::ResponseSeen,
        response: Some(response),
        ..lost()
    }
}

/// A 201 that names this payment.
fn paid(id: &str) -> Exchange {
    named(201, id)
}

fn named(status: u16, id: &str) -> Exchange {
    let mut exchange = got(status).body(id);
    exchange.answer().identity = Some(id.to_owned());
    exchange
}

/// What makes a request another one, or its answer.
trait Told: Sized {
    fn answer(&mut self) -> &mut Response;
    fn body(self, text: &str) -> Self;
    fn json(self, json: serde_json::Value) -> Self;
    fn header(self, name: &str, value: &str) -> Self;
    fn changed(self) -> Self;
    fn reworded(self) -> Self;
    fn variant(self, name: &str) -> Self;
    fn by(self, principal: PrincipalRole) -> Self;
    fn on_other(self) -> Self;
    fn key(self, key: Option<&str>) -> Self;
    fn malformed(self) -> Self;
    /// Sent and over at these times, in milliseconds.
    fn at(self, sent: u64, over: u64) -> Self;
}

impl Told for Exchange {
    fn answer(&mut self) -> &mut Response {
        self.response.as_mut().expect("it was answered")
    }

    fn body(mut self, text: &str) -> Exchange {
        self.answer().body_digest = text.to_owned();
        self
    }

    fn json(mut self, json: serde_json::Value) -> Exchange {
        self.answer().json = Some(json.clone());
        self.answer().stable_json = Some(json);
        self
    }

    fn header(mut self, name: &str, value: &str) -> Exchange {
        let header = (name.to_owned(), value.to_owned());
        self.answer().headers.push(header);
        self
    }

    fn changed(mut self) -> Exchange {
        self.request.intent = "changed".to_owned();
        self
    }

    fn reworded(mut self) -> Exchange {
        self.request.reworded = true;
        self
    }

    fn variant(mut self, name: &str) -> Exchange {
        self.variants.push(name.to_owned());
        self.request.intent = name.to_owned();
        self
    }

    fn by(mut self, principal: PrincipalRole) -> Exchange {
        self.principal = principal;
        self
    }

    fn on_other(mut self) -> Exchange {
        self.operation = OperationRole::Other;
        self
    }

    fn key(mut self, key: Option<&str>) -> Exchange {
        self.key.value = key.map(str::to_owned);
        self
    }

    fn malformed(mut self) -> Exchange {
        self.key.malformed = true;
        self
    }

    fn at(mut self, sent: u64, over: u64) -> Exchange {
        let over = Duration::from_millis(over);
        let seen = self.response.is_some().then_some(over);
        self.times = Times {
            sent: Some(Duration::from_millis(sent)),
            first_byte: seen,
            last_byte: seen,
            ended: over,
        };
        self
    }
}

/// Requests a minute apart, unless they say when they were sent; all are given their meaning.
fn round(exchanges: Vec<Exchange>) -> Round {
    let exchanges = exchanges
        .into_iter()
        .zip(0..)
        .map(|(exchange, minute)| {
            if exchange.times == Times::default() {
                exchange.at(minute * 60_000, minute * 60_000 + 10)
            } else {
                exchange
            }
        })
        .collect();
    Round {
        number: 1,
        exchanges,
        ..Round::default()
    }
}

fn last(contract: &Contract, mut round: Round) -> Outcome {
    for index in 0..round.exchanges.len() {
        round.exchanges[index].outcome = meaning(contract, &round, index);
    }
    round.exchanges.last().expect("it is not empty").outcome
}

fn means(name: &str, text: &str, exchanges: Vec<Exchange>, wanted: &[Meaning]) {
    let outcome = last(&contract(text), round(exchanges));
    assert_eq!(outcome, Outcome::of(wanted), "{name}");
}

/// The first request still runs while the second is sent and answered.
fn during(first: Exchange, second: Exchange) -> Vec<Exchange> {
    vec![first.at(0, 100), second.at(10, 20)]
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
    use Meaning::{Executed, InFlight, Invalid, ReplayedFailure, ServerError, Unauthorized};
    let stored = "extends: generic\nafter: { server-5xx: { is: stored, strength: must } }";
    let nobody = || got(401).by(PrincipalRole::Nobody);
    let cases: [(&str, &str, Vec<Exchange>, &[Meaning]); 9] = [
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
            "another 500",
            GENERIC,
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
fn other_stored_failures_do_not_make_a_500_a_stored_one() {
    let text = "extends: generic\nafter: { business-declined: { is: stored, strength: must } }";
    let exchanges = vec![got(500), got(500)];
    means(
        "5xx are not stored",
        text,
        exchanges,
        &[Meaning::ServerError],
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
