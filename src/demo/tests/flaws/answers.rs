//! Flaws of replays and of retention.

use super::super::*;

#[tokio::test]
async fn ignores_keys_executes_every_request() {
    let subject = Subject::with(Flaw::IgnoresKeys).await;
    for _ in 0..3 {
        assert!(!subject.send(&Send::payment("k", "r")).await.is_replay());
    }
    assert_eq!(subject.payments("r").await, 3);
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
async fn never_expires_replays_after_the_retention() {
    let subject = Subject::with(Flaw::NeverExpires).await;
    subject.send(&Send::payment("k", "r")).await;
    subject.advance(48 * 60 * 60).await;
    assert!(subject.send(&Send::payment("k", "r")).await.is_replay());
}

#[tokio::test]
async fn forgets_early_executes_before_the_retention_has_passed() {
    let subject = Subject::with(Flaw::ForgetsEarly).await;
    let send = Send::payment("k", "r");
    subject.send(&send).await;
    subject.advance(5 * 60 * 60).await;
    assert!(subject.send(&send).await.is_replay());
    subject.advance(2 * 60 * 60).await;
    assert!(!subject.send(&send).await.is_replay());
}

#[tokio::test]
async fn counts_retention_from_claim_forgets_a_slow_request_early() {
    for (flaw, replays) in [(None, true), (Some(Flaw::CountsRetentionFromClaim), false)] {
        let subject = Subject::slow(flaw, 100).await;
        let send = Send::payment("k", "r").slow();
        let (_, ()) = tokio::join!(subject.send(&send), async {
            subject.wait_for(&send, true).await;
            subject.advance(60).await;
        });
        subject.advance(24 * 60 * 60 - 30).await;
        assert_eq!(subject.send(&send).await.is_replay(), replays);
    }
}

#[tokio::test]
async fn flawed_replays_differ_from_the_first_answer_in_one_thing() {
    for flaw in [
        Flaw::FlattensStatusTo200,
        Flaw::DropsLocation,
        Flaw::ReplaysAsText,
    ] {
        let subject = Subject::with(flaw).await;
        let send = Send::payment("k", "r");
        let first = subject.send(&send).await;
        let again = subject.send(&send).await;
        assert!(again.is_replay());
        assert_eq!(again.body, first.body);
        let same = |name: &str| again.header(name) == first.header(name);
        assert_eq!(again.status == 200, flaw == Flaw::FlattensStatusTo200);
        assert_eq!(!same("location"), flaw == Flaw::DropsLocation);
        assert_eq!(!same("content-type"), flaw == Flaw::ReplaysAsText);
        assert_eq!(subject.payments("r").await, 1);
    }
}

#[tokio::test]
async fn flaws_of_one_answer_all_show_in_it() {
    let flaws = [
        Flaw::FlattensStatusTo200,
        Flaw::DropsLocation,
        Flaw::ReplaysAsText,
        Flaw::RunsAgainBehindStoredAnswer,
    ];
    let subject = Subject::new(Options {
        flaws: Flaws::plant(&flaws).expect("they go together"),
        ..Options::default()
    })
    .await;
    let send = Send::payment("k", "r");
    let first = subject.send(&send).await;
    let again = subject.send(&send).await;
    assert_eq!(again.body, first.body);
    assert_eq!(again.status, 200);
    assert_eq!(again.header("location"), None);
    assert_eq!(again.header("content-type"), Some("text/plain"));
    assert_eq!(subject.payments("r").await, 2);
}

#[tokio::test]
async fn server_errors_for_retries_and_mismatches_make_no_effect() {
    let send = Send::payment("k", "r");
    let changed = Send::payment("k", "other");
    for (flaw, retry, mismatch) in [
        (Flaw::ReplaysWith500, 500, 422),
        (Flaw::AnswersMismatchWith500, 201, 500),
    ] {
        let subject = Subject::with(flaw).await;
        subject.send(&send).await;
        assert_eq!(subject.send(&send).await.status.as_u16(), retry);
        assert_eq!(subject.send(&changed).await.status.as_u16(), mismatch);
        assert_eq!(subject.count("/payments").await, 1);
    }
}
