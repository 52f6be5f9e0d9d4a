use crate::judge::sample::{delivered, paid, round, verdict};
use crate::scenario::Receiving;
use crate::transcript::{EventDelivery, Round};
use crate::verdict::Verdict;

const TAKEN: &str = "events: { taken: { at-least: 1 } }";
const ONE_ID: &str = "events: { ids: { at-most: 1 } }";
const SAME_ID: &str = "events: { stable: id }";
const SAME_BODY: &str = "events: { stable: body }";

fn after(deliveries: Vec<EventDelivery>) -> Round {
    let mut round = round([paid("first", "pay_1"), paid("again", "pay_1")]).late(&["pay_1"]);
    round.deliveries = deliveries;
    round
}

fn judged(expectation: &str, deliveries: Vec<EventDelivery>) -> (Verdict, String) {
    verdict(expectation, after(deliveries))
}

#[test]
fn repeated_deliveries_of_one_id_are_no_second_event() {
    let twice = || vec![delivered("evt_1"), delivered("evt_1"), delivered("evt_1")];
    let (verdict, reason) = judged(ONE_ID, twice());
    assert_eq!(verdict, Verdict::Pass);
    assert_eq!(reason, "one event id in three deliveries");
    assert_eq!(judged(SAME_ID, twice()).0, Verdict::Pass);
}

#[test]
fn another_id_is_another_event() {
    let two = || vec![delivered("evt_1"), delivered("evt_2")];
    let (verdict, reason) = judged(ONE_ID, two());
    assert_eq!(verdict, Verdict::Fail);
    assert_eq!(
        reason,
        "two different event ids in two deliveries where one is allowed: evt_1 and evt_2"
    );
    assert_eq!(judged(SAME_ID, two()).0, Verdict::Fail);
    assert_eq!(
        judged("events: { ids: { at-most: 2 } }", two()).0,
        Verdict::Pass
    );
    assert_eq!(
        judged("events: { ids: { at-least: 3 } }", two()).0,
        Verdict::Fail
    );
}

#[test]
fn nothing_that_came_shows_nothing() {
    assert_eq!(judged(ONE_ID, vec![]).0, Verdict::Inconclusive);
    assert_eq!(
        judged(SAME_ID, vec![delivered("evt_1")]).0,
        Verdict::Inconclusive
    );
    assert_eq!(
        judged(SAME_BODY, vec![delivered("evt_1")]).0,
        Verdict::Inconclusive
    );
    let nameless = EventDelivery {
        event: None,
        ..delivered("evt_1")
    };
    assert_eq!(judged(ONE_ID, vec![nameless]).0, Verdict::Inconclusive);
}

#[test]
fn an_event_of_somebody_else_is_not_counted() {
    let other = EventDelivery {
        marker: "another".to_owned(),
        ..delivered("evt_2")
    };
    assert_eq!(
        judged(ONE_ID, vec![delivered("evt_1"), other]).0,
        Verdict::Pass
    );
}

#[test]
fn an_event_that_was_never_taken_is_lost() {
    let refused = || EventDelivery {
        received: Receiving::Error,
        ..delivered("evt_1")
    };
    assert_eq!(
        judged(TAKEN, vec![refused(), delivered("evt_1")]).0,
        Verdict::Pass
    );
    let (verdict, reason) = judged(TAKEN, vec![refused()]);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        reason.starts_with(
            "no event was taken, and 1 must be: one delivery came, and none again within"
        ),
        "{reason}"
    );
    let twice = vec![delivered("evt_1"), delivered("evt_1")];
    assert_eq!(
        judged("events: { taken: { at-most: 1 } }", twice).0,
        Verdict::Pass
    );
}

#[test]
fn deliveries_are_counted_as_they_come() {
    let two = || vec![delivered("evt_1"), delivered("evt_1")];
    assert_eq!(
        judged("events: { deliveries: { at-least: 2 } }", two()).0,
        Verdict::Pass
    );
    assert_eq!(
        judged("events: { deliveries: { at-least: 3 } }", two()).0,
        Verdict::Fail
    );
    assert_eq!(
        judged("events: { deliveries: { at-most: 1 } }", two()).0,
        Verdict::Fail
    );
}

#[test]
fn a_body_that_changes_under_one_id_is_seen() {
    let changed = EventDelivery {
        body_digest: "another".to_owned(),
        ..delivered("evt_1")
    };
    assert_eq!(
        judged(SAME_BODY, vec![delivered("evt_1"), delivered("evt_1")]).0,
        Verdict::Pass
    );
    assert_eq!(
        judged(SAME_BODY, vec![delivered("evt_1"), changed]).0,
        Verdict::Fail
    );
    let two = vec![delivered("evt_1"), delivered("evt_2")];
    assert_eq!(judged(SAME_BODY, two).0, Verdict::Inconclusive);
}

#[test]
fn a_signature_that_changes_under_one_id_is_seen() {
    let signed = |signature: Option<&str>| EventDelivery {
        signature_digest: signature.map(str::to_owned),
        ..delivered("evt_1")
    };
    let told = |first, again| {
        judged(
            "events: { stable: signature }",
            vec![signed(first), signed(again)],
        )
    };
    assert_eq!(told(Some("s1"), Some("s1")).0, Verdict::Pass);
    assert_eq!(told(Some("s1"), Some("s2")).0, Verdict::Fail);
    assert_eq!(told(Some("s1"), None).0, Verdict::Inconclusive);
}

#[test]
fn an_order_is_that_of_the_requests() {
    let of = |marker: &str, event: &str| EventDelivery {
        marker: marker.to_owned(),
        ..delivered(event)
    };
    let judged = |came: Vec<EventDelivery>| {
        let one = paid("first", "pay_1").at(0, 10);
        let mut round = round([one, paid("again", "pay_2").at(20, 30)]);
        for (exchange, marker) in round.exchanges.iter_mut().zip(["m1", "m2"]) {
            exchange.marker = marker.to_owned();
            exchange.marker_name = "main".to_owned();
        }
        round.deliveries = came;
        verdict("events: { ordered: true }", round)
    };
    let in_order = vec![of("m1", "e1"), of("m2", "e2"), of("m1", "e1")];
    assert_eq!(judged(in_order).0, Verdict::Pass);
    let (broken, reason) = judged(vec![of("m2", "e2"), of("m1", "e1")]);
    assert_eq!(broken, Verdict::Fail);
    assert_eq!(reason, "the events of the requests came in the order 2, 1");
    assert_eq!(judged(vec![of("m1", "e1")]).0, Verdict::Inconclusive);
}
