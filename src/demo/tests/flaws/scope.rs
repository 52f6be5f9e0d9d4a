//! Flaws of what a key is, and of whom it belongs to.

use super::super::*;

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
async fn takes_payload_for_key_gives_one_tenant_the_result_of_another() {
    let subject = Subject::with(Flaw::TakesPayloadForKey).await;
    let keyless = |reference: &str| Send::payment("", reference).without("idempotency-key");
    let first = subject.send(&keyless("r")).await;
    assert!(!first.is_replay());
    let theirs = subject.send(&keyless("r").token("tenant-b")).await;
    assert_eq!(theirs.body, first.body);
    assert_ne!(subject.send(&keyless("other")).await.id(), first.id());
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
async fn refuses_key_of_other_tenant_without_a_leak() {
    let subject = Subject::with(Flaw::RefusesKeyOfOtherTenant).await;
    let send = Send::payment("k", "r");
    subject.send(&send).await;
    let other = subject.send(&send.clone().token("tenant-b")).await;
    assert_eq!(other.problem(), "key-reused");
    assert!(subject.send(&send).await.is_replay());
}

#[tokio::test]
async fn shares_keys_between_methods_answers_a_patch_with_the_payment() {
    let subject = Subject::with(Flaw::SharesKeysBetweenMethods).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let path = format!("/payments/{}", first.id());
    let change = Send::new(Method::PATCH, &path)
        .set("idempotency-key", "k")
        .json(&json!({"memo": "new"}));
    let changed = subject.send(&change).await;
    assert_eq!((changed.status, &changed.body), (first.status, &first.body));
    assert_eq!(subject.count("/changes").await, 0);
    assert_eq!(
        subject.send(&Send::refund("k", "r")).await.json()["payment_id"],
        "pay_1"
    );
}

#[tokio::test]
async fn ignores_key_on_refunds_but_requires_it() {
    let subject = Subject::with(Flaw::IgnoresKeyOnRefunds).await;
    let refund = Send::refund("k", "r");
    assert_eq!(
        subject
            .send(&refund.clone().without("idempotency-key"))
            .await
            .status,
        400
    );
    for _ in 0..2 {
        assert_eq!(subject.send(&refund).await.status, 201);
    }
    assert_eq!(subject.count("/refunds?key=k").await, 2);
    subject.send(&Send::payment("k", "r")).await;
    assert!(subject.send(&Send::payment("k", "r")).await.is_replay());
}

#[tokio::test]
async fn confused_keys_get_the_result_of_another() {
    let long = "k".repeat(64);
    for (flaw, one, two) in [
        (
            Flaw::TruncatesKeysTo64,
            format!("{long}1"),
            format!("{long}2"),
        ),
        (Flaw::FoldsKeyCase, "key".to_owned(), "KEY".to_owned()),
    ] {
        let subject = Subject::with(flaw).await;
        let first = subject.send(&Send::payment(&one, "r")).await;
        let other = subject.send(&Send::payment(&two, "r")).await;
        assert_eq!(other.body, first.body, "{}", flaw.name());
        let distinct = subject.send(&Send::payment("x", "r")).await;
        assert_ne!(distinct.body, first.body, "{}", flaw.name());
    }
}

#[tokio::test]
async fn joins_doubled_keys_executes_the_retry_with_one() {
    let subject = Subject::with(Flaw::JoinsDoubledKeys).await;
    let send = Send::payment("k", "r");
    let doubled = send.clone().add("idempotency-key", "k");
    assert_eq!(subject.send(&doubled).await.status, 201);
    assert!(subject.send(&doubled).await.is_replay());
    assert!(!subject.send(&send).await.is_replay());
    assert_eq!(subject.payments("r").await, 2);
}

#[tokio::test]
async fn leaves_empty_key_unprotected_but_refuses_a_missing_one() {
    let subject = Subject::with(Flaw::LeavesEmptyKeyUnprotected).await;
    let send = Send::payment("", "r");
    subject.send(&send).await;
    assert_eq!(subject.send(&send).await.status, 201);
    assert_eq!(subject.payments("r").await, 2);
    let missing = send.without("idempotency-key");
    assert_eq!(subject.send(&missing).await.problem(), "key-missing");
}
