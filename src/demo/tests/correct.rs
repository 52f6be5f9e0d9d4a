//! What the correct API promises about keys.

use futures::future::join_all;

use super::*;

#[tokio::test]
async fn a_retry_gets_the_first_answer_and_makes_no_second_effect() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    let first = subject.send(&send).await;
    let again = subject.send(&send).await;
    assert_eq!(first.status, 201);
    assert!(!first.is_replay() && again.is_replay());
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    for header in ["location", "content-type"] {
        assert_eq!(again.header(header), first.header(header));
    }
    let location = format!("/payments/{}", first.id());
    assert_eq!(first.header("location"), Some(&*location));
    assert_eq!(subject.get(&location).await.json(), first.json());
    assert_eq!(
        (subject.payments("r").await, subject.receipts("r").await),
        (1, 1)
    );
    assert_eq!(subject.count("/payments?key=k").await, 1);
}

#[tokio::test]
async fn a_changed_payload_under_a_used_key_is_refused_without_effect() {
    let subject = Subject::correct().await;
    subject.send(&Send::payment("k", "r")).await;
    let refused = subject.send(&Send::payment("k", "other")).await;
    assert_eq!(
        (refused.status.as_u16(), &*refused.problem()),
        (422, "key-reused")
    );
    assert_eq!(subject.payments("other").await, 0);
}

#[tokio::test]
async fn a_payload_that_means_the_same_is_replayed() {
    let subject = Subject::correct().await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let body = r#" {"reference":"\u0072", "amount":2e3,"currency":"EUR"}"#;
    let again = subject.send(&Send::payment("k", "r").raw(body)).await;
    assert!(again.is_replay());
    assert_eq!(again.body, first.body);
}

#[tokio::test]
async fn twenty_concurrent_duplicates_make_one_payment_and_one_receipt() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    let replies = join_all((0..20).map(|_| subject.send(&send))).await;
    let mut executed = 0;
    for reply in &replies {
        match reply.status.as_u16() {
            201 if !reply.is_replay() => executed += 1,
            201 => {}
            409 => {
                assert_eq!(reply.problem(), "in-progress");
                assert_eq!(reply.header("retry-after"), Some("1"));
            }
            other => panic!("{other}: {}", reply.text()),
        }
    }
    assert_eq!(executed, 1);
    assert_eq!(
        (subject.payments("r").await, subject.receipts("r").await),
        (1, 1)
    );
}

#[tokio::test]
async fn the_store_alone_lets_one_of_many_duplicates_win() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    // Claims that were lost, as with a second process: only the transaction is left.
    let keep_losing = async {
        loop {
            subject.api().in_flight.forget();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let burst = join_all((0..20).map(|_| subject.send(&send)));
    let replies = tokio::select! {
        replies = burst => replies,
        () = keep_losing => unreachable!("it never ends"),
    };
    let executed = replies
        .iter()
        .filter(|reply| reply.status == 201 && !reply.is_replay());
    assert_eq!(executed.count(), 1);
    assert_eq!(
        (subject.payments("r").await, subject.receipts("r").await),
        (1, 1)
    );
}

#[tokio::test]
async fn a_duplicate_in_flight_is_told_to_wait_and_another_payload_is_refused() {
    let subject = Subject::slow(None, 300).await;
    let send = Send::payment("k", "r");
    let (first, duplicate, changed) = tokio::join!(
        subject.send(&send),
        async {
            subject.wait_for(&send, true).await;
            subject.send(&send).await
        },
        async {
            subject.wait_for(&send, true).await;
            subject.send(&Send::payment("k", "other")).await
        },
    );
    assert_eq!(first.status, 201);
    assert_eq!(
        (duplicate.status.as_u16(), &*duplicate.problem()),
        (409, "in-progress")
    );
    assert_eq!(duplicate.header("retry-after"), Some("1"));
    assert_eq!(
        (changed.status.as_u16(), &*changed.problem()),
        (422, "key-reused")
    );
}

#[tokio::test]
async fn a_client_that_hangs_up_loses_only_its_answer() {
    let subject = Subject::slow(None, 200).await;
    let send = Send::payment("k", "r");
    subject.hang_up(&send).await;
    assert_eq!(
        (subject.payments("r").await, subject.receipts("r").await),
        (1, 1)
    );
    let again = subject.send(&send).await;
    assert!(again.is_replay());
    assert_eq!(subject.payments("r").await, 1);
}

#[tokio::test]
async fn half_a_body_leaves_the_key_free() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    let mut stream = TcpStream::connect(subject.demo.address)
        .await
        .expect("a connection");
    let bytes = send.bytes();
    stream
        .write_all(&bytes[..bytes.len() - 5])
        .await
        .expect("the demo reads");
    drop(stream);
    assert_eq!(subject.send(&send).await.status, 201);
}

#[tokio::test]
async fn tenants_and_operations_have_keys_of_their_own() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    let first = subject.send(&send).await;
    let other_tenant = subject.send(&send.clone().token("tenant-b")).await;
    let other_session = subject.send(&send.clone().token("tenant-a-other")).await;
    let refund = subject.send(&Send::refund("k", "r")).await;
    let rehearsal = Send {
        path: "/payments?dry=1".to_owned(),
        ..send.clone()
    };
    let rehearsed = subject.send(&rehearsal).await;
    assert_eq!(
        (other_tenant.status.as_u16(), refund.status.as_u16()),
        (201, 201)
    );
    assert_ne!(other_tenant.id(), first.id());
    assert!(other_session.is_replay());
    assert!(refund.id().starts_with("ref_"));
    assert_eq!(
        (rehearsed.status.as_u16(), rehearsed.is_replay()),
        (200, false)
    );
    assert_eq!(
        (
            subject.payments("r").await,
            subject.count("/refunds?reference=r").await
        ),
        (1, 1)
    );
    let foreign = subject
        .get(&format!("/payments/{}", other_tenant.id()))
        .await;
    assert_eq!(foreign.status, 404);
}

#[tokio::test]
async fn what_was_not_executed_leaves_the_key_free() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    let refusals = [
        (401, send.clone().without("authorization")),
        (401, send.clone().token("tenant-a-expired")),
        (403, send.clone().token("tenant-a-reader")),
        (415, send.clone().set("content-type", "text/plain")),
        (400, send.clone().raw("{")),
        (
            422,
            send.clone().json(&json!({"amount": 0, "reference": "r"})),
        ),
        (402, send.clone().behaviour("decline")),
        (500, send.clone().behaviour("fail-before")),
        (500, send.clone().behaviour("fail-after")),
        (500, send.clone().behaviour("fail-once")),
        (500, send.clone().behaviour("fail-after-once")),
    ];
    for (status, refused) in refusals {
        assert_eq!(subject.send(&refused).await.status.as_u16(), status);
        assert_eq!(
            (subject.payments("r").await, subject.receipts("r").await),
            (0, 0)
        );
    }
    let done = subject.send(&send.behaviour("fail-once")).await;
    assert_eq!((done.status.as_u16(), done.is_replay()), (201, false));
    assert_eq!(subject.payments("r").await, 1);
}

#[tokio::test]
async fn an_expired_key_executes_anew() {
    let subject = Subject::correct().await;
    let send = Send::payment("k", "r");
    let first = subject.send(&send).await;
    subject.advance(23 * 60 * 60).await;
    assert!(subject.send(&send).await.is_replay());
    subject.advance(2 * 60 * 60).await;
    let anew = subject.send(&send).await;
    assert_eq!((anew.status.as_u16(), anew.is_replay()), (201, false));
    assert_ne!(anew.id(), first.id());
    assert_eq!(subject.send(&send).await.body, anew.body);
}

#[tokio::test]
async fn a_change_needs_a_key_and_happens_once() {
    let subject = Subject::correct().await;
    let id = subject.send(&Send::payment("k", "r")).await.id();
    let change = Send::new(Method::PATCH, &format!("/payments/{id}")).json(&json!({"memo": "new"}));
    assert_eq!(subject.send(&change).await.problem(), "key-missing");
    let change = change.set("idempotency-key", "k");
    let first = subject.send(&change).await;
    let again = subject.send(&change).await;
    assert_eq!((first.status.as_u16(), first.is_replay()), (200, false));
    assert!(again.is_replay());
    assert_eq!(first.json()["memo"], "new");
    assert_eq!(
        subject.get(&format!("/payments/{id}")).await.json()["memo"],
        "new"
    );
    assert_eq!(subject.count(&format!("/changes?payment={id}")).await, 1);
    assert_eq!(subject.count("/changes?reference=r").await, 1);
    let unknown = Send {
        path: "/payments/none".to_owned(),
        ..change
    };
    assert_eq!(subject.send(&unknown).await.status, 404);
}

#[tokio::test]
async fn every_kind_of_answer_is_replayed_as_it_was() {
    let subject = Subject::slow(None, 5).await;
    for (behaviour, status) in [
        ("linger", 201),
        ("no-content", 204),
        ("large", 201),
        ("accepted", 202),
    ] {
        let send = Send::payment(behaviour, behaviour).behaviour(behaviour);
        let first = subject.send(&send).await;
        let again = subject.send(&send).await;
        assert_eq!(first.status.as_u16(), status);
        assert!(again.is_replay());
        assert_eq!((again.status, &again.body), (first.status, &first.body));
        assert_eq!(subject.payments(behaviour).await, 1);
        match behaviour {
            "no-content" => assert!(first.body.is_empty()),
            "large" => assert!(first.body.len() > 300 * 1024),
            "accepted" => {
                let link = first.json()["status_link"]
                    .as_str()
                    .expect("a link")
                    .to_owned();
                assert_eq!(subject.get(&link).await.status, 200);
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_lingering_request_is_replayed_before_it_is_answered() {
    let subject = Subject::slow(None, 200).await;
    let send = Send::payment("k", "r").behaviour("linger");
    let stream = subject.send_and_wait(&send).await;
    while subject.payments("r").await == 0 {}
    let again = subject.send(&send).await;
    assert!(again.is_replay());
    drop(stream);
}
