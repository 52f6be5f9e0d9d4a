//! Each flaw does what its sentence says, and a plain first payment works under every flaw.

use futures::future::join_all;

use super::*;

#[tokio::test]
async fn a_plain_first_payment_works_under_every_flaw() {
    for flaw in Flaw::ALL {
        let subject = Subject::with(*flaw).await;
        let made = subject.send(&Send::payment("k", "r")).await;
        assert_eq!(made.status, 201, "{}", flaw.name());
        assert!(!made.is_replay(), "{}", flaw.name());
        assert_eq!(subject.payments("r").await, 1, "{}", flaw.name());
        assert_eq!(subject.receipts("r").await, 1, "{}", flaw.name());
    }
}

#[tokio::test]
async fn ignores_keys_executes_every_request() {
    let subject = Subject::with(Flaw::IgnoresKeys).await;
    for _ in 0..3 {
        assert!(!subject.send(&Send::payment("k", "r")).await.is_replay());
    }
    assert_eq!(subject.payments("r").await, 3);
}

#[tokio::test]
async fn checks_then_sets_lets_a_burst_through_but_replays_later() {
    let subject = Subject::with(Flaw::ChecksThenSets).await;
    let send = Send::payment("k", "r");
    join_all((0..10).map(|_| subject.send(&send))).await;
    let made = subject.payments("r").await;
    assert!(made > 1, "{made}");
    assert!(subject.send(&send).await.is_replay());
    assert_eq!(subject.payments("r").await, made);
}

#[tokio::test]
async fn stores_no_fingerprint_replays_a_changed_payload() {
    let subject = Subject::with(Flaw::StoresNoFingerprint).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let other = subject.send(&Send::payment("k", "other")).await;
    assert_eq!(other.body, first.body);
    assert_eq!(subject.payments("other").await, 0);
}

#[tokio::test]
async fn executes_changed_payload_under_a_used_key() {
    let subject = Subject::with(Flaw::ExecutesChangedPayload).await;
    subject.send(&Send::payment("k", "r")).await;
    let other = subject.send(&Send::payment("k", "other")).await;
    assert_eq!((other.status.as_u16(), other.is_replay()), (201, false));
    assert!(subject.send(&Send::payment("k", "r")).await.is_replay());
}

#[tokio::test]
async fn shares_keys_between_tenants_leaks_the_first_result() {
    let subject = Subject::with(Flaw::SharesKeysBetweenTenants).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let leaked = subject
        .send(&Send::payment("k", "r").token("tenant-b"))
        .await;
    assert_eq!(leaked.body, first.body);
}

#[tokio::test]
async fn shares_keys_between_operations_answers_a_refund_with_the_payment() {
    let subject = Subject::with(Flaw::SharesKeysBetweenOperations).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let refund = subject.send(&Send::refund("k", "r")).await;
    assert_eq!(refund.body, first.body);
    assert_eq!(subject.count("/refunds?reference=r").await, 0);
    let changed = subject.send(&Send::payment("k", "other")).await;
    assert_eq!(changed.problem(), "key-reused");
}

#[tokio::test]
async fn guesses_intent_from_payload_for_five_minutes() {
    let subject = Subject::with(Flaw::GuessesIntentFromPayload).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let other = subject.send(&Send::payment("other", "r")).await;
    assert_eq!(other.body, first.body);
    subject.advance(301).await;
    let later = subject.send(&Send::payment("third", "r")).await;
    assert_ne!(later.body, first.body);
}

#[tokio::test]
async fn looks_up_before_authentication_answers_anyone() {
    let subject = Subject::with(Flaw::LooksUpBeforeAuthentication).await;
    let send = Send::payment("k", "r");
    let unused = subject.send(&send.clone().without("authorization")).await;
    assert_eq!(unused.status, 401);
    let first = subject.send(&send).await;
    let anyone = subject.send(&send.clone().without("authorization")).await;
    assert_eq!(anyone.body, first.body);
    let other_tenant = subject.send(&send.token("tenant-b")).await;
    assert_ne!(other_tenant.id(), first.id());
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
async fn runs_again_behind_stored_answer_pays_each_time() {
    let subject = Subject::with(Flaw::RunsAgainBehindStoredAnswer).await;
    let send = Send::payment("k", "r");
    let first = subject.send(&send).await;
    let again = subject.send(&send).await;
    assert!(again.is_replay());
    assert_eq!(again.body, first.body);
    assert_eq!(subject.payments("r").await, 2);
}

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
async fn accepts_missing_key_executes_unprotected() {
    let subject = Subject::with(Flaw::AcceptsMissingKey).await;
    let send = Send::payment("k", "r");
    for send in [
        send.clone().without("idempotency-key"),
        send.set("idempotency-key", ""),
    ] {
        assert_eq!(subject.send(&send).await.status, 201);
        assert_eq!(subject.send(&send).await.status, 201);
    }
    assert_eq!(subject.payments("r").await, 4);
}

#[tokio::test]
async fn never_expires_replays_after_the_retention() {
    let subject = Subject::with(Flaw::NeverExpires).await;
    subject.send(&Send::payment("k", "r")).await;
    subject.advance(48 * 60 * 60).await;
    assert!(subject.send(&Send::payment("k", "r")).await.is_replay());
}
