//! Flaws of the fingerprint.

use super::super::*;

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
async fn guesses_intent_from_payload_for_five_minutes() {
    let subject = Subject::with(Flaw::GuessesIntentFromPayload).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let other = subject.send(&Send::payment("other", "r")).await;
    assert_eq!(other.body, first.body);
    subject.advance(301).await;
    let later = subject.send(&Send::payment("third", "r")).await;
    assert_ne!(later.body, first.body);
}

/// Sends two payloads under one key, and says whether the second was taken for the first.
async fn confuses(flaw: Option<Flaw>, first: &Value, second: &Value) -> bool {
    let subject = Subject::slow(flaw, 1).await;
    let send = Send::payment("k", "r");
    let first = subject.send(&send.clone().json(first)).await;
    assert_eq!(first.status, 201);
    let second = subject.send(&send.json(second)).await;
    if !second.is_replay() {
        assert_eq!(second.problem(), "key-reused");
    }
    second.is_replay()
}

#[tokio::test]
async fn partial_fingerprints_confuse_what_they_leave_out_and_nothing_else() {
    let long = "x".repeat(5000);
    let plain = json!({"amount": 2000, "reference": "r", "memo": long, "card": {"brand": "visa"}});
    let with = |name: &str, value: Value| {
        let mut changed = plain.clone();
        changed[name] = value;
        changed
    };
    let amount = with("amount", json!(9_007_199_254_740_993_i64));
    let changes = [
        (
            Flaw::FingerprintsTopLevelOnly,
            &plain,
            with("card", json!({"brand": "amex"})),
        ),
        (
            Flaw::FingerprintsFirst4Kib,
            &plain,
            with("memo", json!(format!("{long}y"))),
        ),
        (
            Flaw::FingerprintsThroughFloats,
            &amount,
            with("amount", json!(9_007_199_254_740_992_i64)),
        ),
    ];
    for (flaw, first, second) in changes {
        assert!(
            confuses(Some(flaw), first, &second).await,
            "{}",
            flaw.name()
        );
        assert!(!confuses(None, first, &second).await, "{}", flaw.name());
        let other = with("amount", json!(1));
        assert!(
            !confuses(Some(flaw), first, &other).await,
            "{}",
            flaw.name()
        );
    }
}

#[tokio::test]
async fn executes_refused_change_refuses_but_pays() {
    let subject = Subject::with(Flaw::ExecutesRefusedChange).await;
    subject.send(&Send::payment("k", "r")).await;
    let refused = subject.send(&Send::payment("k", "other")).await;
    assert_eq!(refused.problem(), "key-reused");
    assert_eq!(subject.payments("other").await, 1);
}

#[tokio::test]
async fn poisons_cache_on_mismatch_refuses_only_once() {
    let subject = Subject::with(Flaw::PoisonsCacheOnMismatch).await;
    let first = subject.send(&Send::payment("k", "r")).await;
    let changed = Send::payment("k", "other");
    assert_eq!(subject.send(&changed).await.problem(), "key-reused");
    assert_eq!(subject.send(&changed).await.body, first.body);
}

#[tokio::test]
async fn fingerprints_raw_bytes_into_key_executes_reordered_json() {
    let subject = Subject::with(Flaw::FingerprintsRawBytesIntoKey).await;
    let send = Send::payment("k", "r");
    let reordered = send
        .clone()
        .raw(r#"{"reference":"r","currency":"EUR","amount":2000}"#);
    let first = subject.send(&send).await;
    let second = subject.send(&reordered).await;
    assert_ne!(first.id(), second.id());
    assert_eq!(subject.count("/payments?key=k").await, 2);
    assert_eq!(subject.send(&send).await.body, first.body);
    assert_eq!(subject.send(&reordered).await.body, second.body);
    assert_eq!(
        subject.send(&Send::payment("k", "other")).await.problem(),
        "key-reused"
    );
}

#[tokio::test]
async fn fingerprints_of_volatile_parts_refuse_an_honest_retry() {
    let subject = Subject::with(Flaw::FingerprintsServerSecond).await;
    let send = Send::payment("k", "r");
    subject.send(&send).await;
    subject.advance(2).await;
    assert_eq!(subject.send(&send).await.problem(), "key-reused");

    let subject = Subject::with(Flaw::HashesUserAgent).await;
    let send = send.set("user-agent", "one/1");
    subject.send(&send).await;
    assert!(subject.send(&send).await.is_replay());
    let other = send.set("user-agent", "one/2");
    assert_eq!(subject.send(&other).await.problem(), "key-reused");
    assert_eq!(subject.payments("r").await, 1);
}
