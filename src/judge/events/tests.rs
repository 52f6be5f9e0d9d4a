use crate::judge::sample::{delivered, millis, paid, reading, round, sent, verdict};
use crate::scenario::{OperationRole, Receiving};
use crate::transcript::{EventDelivery, ReadingKind, Round};
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

#[test]
fn an_event_of_another_operation_is_not_counted() {
    let other = || EventDelivery {
        operation: OperationRole::Other,
        ..delivered("evt_2")
    };
    assert_eq!(
        judged(ONE_ID, vec![delivered("evt_1"), other()]).0,
        Verdict::Pass
    );
    assert_eq!(judged(TAKEN, vec![other()]).0, Verdict::Fail);
}

#[test]
fn a_bound_is_kept_by_just_as_many_and_broken_by_one_more_or_less() {
    let two = || vec![delivered("evt_1"), delivered("evt_2")];
    for (what, least, most) in [("ids", 3, 1), ("deliveries", 3, 1), ("taken", 3, 1)] {
        let of = |bound: &str| judged(&format!("events: {{ {what}: {{ {bound} }} }}"), two()).0;
        assert_eq!(of("at-least: 2"), Verdict::Pass, "{what}");
        assert_eq!(of("at-most: 2"), Verdict::Pass, "{what}");
        assert_eq!(of(&format!("at-least: {least}")), Verdict::Fail, "{what}");
        assert_eq!(of(&format!("at-most: {most}")), Verdict::Fail, "{what}");
    }
}

#[test]
fn how_long_nothing_came_again_is_told_up_to_the_last_reading() {
    let refused = EventDelivery {
        received: Receiving::Error,
        ..delivered("evt_1")
    };
    let early = reading(ReadingKind::Early, &["pay_1"]).taken(100);
    let mut round = after(vec![refused]).read(early);
    let (_, reason) = verdict(TAKEN, round.clone());
    assert!(reason.ends_with("and none again within 60 s"), "{reason}");
    round.deliveries[0].at = millis(60_000);
    let (_, reason) = verdict(TAKEN, round);
    assert!(reason.ends_with("one delivery came"), "{reason}");
}

#[test]
fn the_order_is_judged_by_the_events_of_requests_that_were_answered() {
    let requests = |answered_second: bool| {
        let one = paid("first", "pay_1").at(0, 10);
        let two = if answered_second {
            paid("again", "pay_2").at(20, 30)
        } else {
            sent("again").at(20, 30)
        };
        let mut again = paid("again", "pay_1").copy(1).at(40, 50);
        again.marker = "m1".to_owned();
        let mut round = round([one, two, again]);
        for (exchange, marker) in round.exchanges.iter_mut().zip(["m1", "m2", "m1"]) {
            exchange.marker = marker.to_owned();
            exchange.marker_name = "main".to_owned();
        }
        round
    };
    let of = |marker: &str, operation: OperationRole| EventDelivery {
        marker: marker.to_owned(),
        operation,
        ..delivered("e")
    };
    let (own, other) = (OperationRole::Subject, OperationRole::Other);
    let judged = |mut round: Round, came: Vec<EventDelivery>| {
        round.deliveries = came;
        verdict("events: { ordered: true }", round).0
    };
    let in_order = || vec![of("m1", own), of("m2", own)];
    assert_eq!(judged(requests(true), in_order()), Verdict::Pass);
    let mut more = requests(true);
    let mut elsewhere = paid("other", "pay_9").at(60, 70);
    elsewhere.marker = "o".to_owned();
    elsewhere.marker_name = "other".to_owned();
    more.exchanges.push(elsewhere);
    assert_eq!(
        judged(more, in_order()),
        Verdict::Pass,
        "nobody waits for its event"
    );
    assert_eq!(
        judged(
            requests(true),
            vec![of("m2", other), of("m1", own), of("m2", own)]
        ),
        Verdict::Pass,
        "an event of another operation has no place in it"
    );
    assert_eq!(
        judged(requests(true), vec![of("m2", own), of("m1", own)]),
        Verdict::Fail,
        "the repeat of the first one does not make it the later one"
    );
    assert_eq!(
        judged(requests(false), vec![of("m2", own), of("m1", own)]),
        Verdict::Inconclusive,
        "one of the two was not answered"
    );
}

#[test]
fn without_a_request_nothing_is_said_of_events() {
    let mut round = round([]);
    round.deliveries = vec![delivered("evt_1")];
    assert_eq!(verdict(ONE_ID, round).0, Verdict::Inconclusive);
}
