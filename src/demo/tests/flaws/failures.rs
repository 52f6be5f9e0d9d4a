//! Flaws that show when a client hangs up or a request fails.

use super::super::*;

#[tokio::test]
async fn drops_claim_on_hang_up_pays_the_retry_again() {
    let subject = Subject::slow(Some(Flaw::DropsClaimOnHangUp), 200).await;
    let send = Send::payment("k", "r");
    subject.hang_up(&send).await;
    assert_eq!(subject.payments("r").await, 1);
    assert!(!subject.send(&send).await.is_replay());
    assert_eq!(subject.payments("r").await, 2);
    assert!(subject.send(&send).await.is_replay());
}

#[tokio::test]
async fn what_is_given_up_is_carried_out_and_only_one_of_two_flaws_tells_it() {
    for (flaw, tells) in [
        (Flaw::GivesSlowRequestsUp, true),
        (Flaw::KeepsGivingUp, false),
    ] {
        let subject = Subject::slow(Some(flaw), 20).await;
        let send = Send::payment("k", "r").slow();
        let first = subject.send(&send).await;
        assert_eq!(first.status, StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(first.text(), "upstream request timeout");
        subject.wait_for(&send, false).await;
        assert_eq!(subject.payments("r").await, 1);
        for _ in 0..2 {
            let again = subject.send(&send).await;
            assert_eq!(again.is_replay(), tells, "{}", flaw.name());
            assert_eq!(again.status == StatusCode::GATEWAY_TIMEOUT, !tells);
        }
        let quick = subject.send(&Send::payment("quick", "quick")).await;
        assert_eq!(quick.status, StatusCode::CREATED);
        assert_eq!(subject.payments("r").await, 1);
    }
}

#[tokio::test]
async fn stores_validation_failures_refuses_the_corrected_payload() {
    let subject = Subject::with(Flaw::StoresValidationFailures).await;
    let send = Send::payment("k", "r");
    let wrong = send.clone().json(&json!({"amount": 0, "reference": "r"}));
    assert_eq!(subject.send(&wrong).await.problem(), "invalid");
    assert_eq!(subject.send(&send).await.problem(), "key-reused");
}

#[tokio::test]
async fn keeps_claim_on_hang_up_blocks_the_key_and_writes_nothing() {
    let subject = Subject::slow(Some(Flaw::KeepsClaimOnHangUp), 100).await;
    let send = Send::payment("k", "r");
    let stream = subject.send_and_wait(&send).await;
    drop(stream);
    let other = Send::payment("other", "other");
    // By the time that another payment is through, the first would be as well.
    subject.send(&other).await;
    subject.send(&Send::payment("third", "other")).await;
    assert_eq!(subject.send(&send).await.problem(), "in-progress");
    assert_eq!(subject.payments("r").await, 0);
}

#[tokio::test]
async fn cancels_between_effects_charges_the_retry_again() {
    let subject = Subject::slow(Some(Flaw::CancelsBetweenEffects), 400).await;
    let send = Send::payment("k", "r");
    let stream = subject.send_and_wait(&send).await;
    while subject.payments("r").await == 0 {}
    drop(stream);
    subject.wait_for(&send, false).await;
    assert_eq!(subject.receipts("r").await, 0);
    assert_eq!(subject.send(&send).await.status, 201);
    assert_eq!(
        (subject.payments("r").await, subject.receipts("r").await),
        (2, 1)
    );
    assert!(subject.send(&send).await.is_replay());
}

#[tokio::test]
async fn leaves_gap_after_effect_pays_again_after_a_hang_up_in_the_gap() {
    let subject = Subject::slow(Some(Flaw::LeavesGapAfterEffect), 50).await;
    let send = Send::payment("k", "r");
    let stream = subject.send_and_wait(&send).await;
    while subject.payments("r").await == 0 {}
    drop(stream);
    subject.wait_for(&send, false).await;
    assert!(!subject.send(&send).await.is_replay());
    assert_eq!(subject.payments("r").await, 2);
    assert!(subject.send(&send).await.is_replay());
}

#[tokio::test]
async fn claims_at_headers_lets_half_a_body_consume_the_key() {
    let subject = Subject::with(Flaw::ClaimsAtHeaders).await;
    let send = Send::payment("k", "r");
    let mut stream = TcpStream::connect(subject.demo.address)
        .await
        .expect("a connection");
    let bytes = send.bytes();
    stream
        .write_all(&bytes[..bytes.len() - 5])
        .await
        .expect("the demo reads");
    subject.wait_for(&send, true).await;
    drop(stream);
    assert_eq!(subject.send(&send).await.problem(), "in-progress");
    let other = Send::payment("other", "r");
    assert_eq!(subject.send(&other).await.status, 201);
    assert!(subject.send(&other).await.is_replay());
}

#[tokio::test]
async fn keeps_claim_on_error_blocks_the_retry() {
    let subject = Subject::with(Flaw::KeepsClaimOnError).await;
    for behaviour in ["fail-once", "fail-after-once"] {
        let send = Send::payment(behaviour, behaviour).behaviour(behaviour);
        assert_eq!(subject.send(&send).await.status, 500);
        assert_eq!(subject.send(&send).await.problem(), "in-progress");
        assert_eq!(subject.payments(behaviour).await, 0);
    }
    let declined = Send::payment("k", "r").behaviour("decline");
    assert_eq!(subject.send(&declined).await.status, 402);
    assert_eq!(subject.send(&Send::payment("k", "r")).await.status, 201);
}

#[tokio::test]
async fn forgets_key_after_effect_pays_the_retry_again() {
    let subject = Subject::with(Flaw::ForgetsKeyAfterEffect).await;
    let send = Send::payment("k", "r").behaviour("fail-after-once");
    assert_eq!(subject.send(&send).await.status, 500);
    assert_eq!(subject.payments("r").await, 1);
    assert_eq!(subject.send(&send).await.status, 201);
    assert_eq!(subject.payments("r").await, 2);
}

#[tokio::test]
async fn keeps_key_of_rolled_back_write_replays_what_does_not_exist() {
    let subject = Subject::with(Flaw::KeepsKeyOfRolledBackWrite).await;
    let send = Send::payment("k", "r").behaviour("fail-after-once");
    assert_eq!(subject.send(&send).await.status, 500);
    let again = subject.send(&send).await;
    assert_eq!((again.status.as_u16(), again.is_replay()), (201, true));
    let payment = subject.get(&format!("/payments/{}", again.id())).await;
    assert_eq!(payment.status, 404);
}

#[tokio::test]
async fn stores_server_errors_answers_the_retry_with_them_unmarked() {
    let subject = Subject::with(Flaw::StoresServerErrors).await;
    for behaviour in ["fail-once", "fail-after-once"] {
        let send = Send::payment(behaviour, behaviour).behaviour(behaviour);
        assert_eq!(subject.send(&send).await.status, 500);
        let again = subject.send(&send).await;
        assert_eq!((again.status.as_u16(), again.is_replay()), (500, false));
        assert_eq!(subject.payments(behaviour).await, 0);
    }
}

#[tokio::test]
async fn stores_unauthorized_refuses_good_credentials() {
    let subject = Subject::with(Flaw::StoresUnauthorized).await;
    let send = Send::payment("k", "r");
    let anyone = send.clone().without("authorization");
    assert_eq!(subject.send(&anyone).await.status, 401);
    assert_eq!(subject.send(&send).await.status, 401);
    let used = Send::payment("used", "r");
    subject.send(&used).await;
    assert_eq!(
        subject
            .send(&used.clone().without("authorization"))
            .await
            .status,
        401
    );
    assert!(subject.send(&used).await.is_replay());
}
