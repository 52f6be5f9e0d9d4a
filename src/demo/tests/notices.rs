//! Notices of a bank: the demo as a receiver of events.

use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::join_all;

use super::super::signature::of_the_bank;
use super::*;

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("now");
    i64::try_from(now.as_secs()).expect("a time")
}

/// A notice of version 1, signed so many seconds ago.
fn notice(event: &str, account: &str, version: i64, ago: i64) -> Send {
    let body = json!({"data": {"account": account, "version": version, "status": "open"}});
    let timestamp = now() - ago;
    let signature = of_the_bank(event, timestamp, body.to_string().as_bytes());
    Send::new(Method::POST, "/notices")
        .json(&body)
        .set("webhook-id", event)
        .set("webhook-timestamp", &timestamp.to_string())
        .set("webhook-signature", &signature)
}

async fn credits(subject: &Subject, account: &str) -> usize {
    subject.count(&format!("/credits?account={account}")).await
}

#[tokio::test]
async fn a_notice_is_handled_once_however_often_it_comes() {
    let subject = Subject::correct().await;
    let one = notice("evt_1", "a", 1, 0);
    let replies = join_all((0..10).map(|_| subject.send(&one))).await;
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!(credits(&subject, "a").await, 1);
    let flawed = Subject::with(Flaw::HandlesEveryDelivery).await;
    for _ in 0..3 {
        flawed.send(&one).await;
    }
    assert_eq!(credits(&flawed, "a").await, 3);
}

#[tokio::test]
async fn a_bad_signature_is_refused_and_does_not_use_up_the_id() {
    let subject = Subject::correct().await;
    for forged in [
        notice("evt_1", "a", 1, 600),
        notice("evt_1", "a", 1, 0).set("webhook-signature", "v1,AAAA"),
        notice("evt_2", "a", 1, 0).set("webhook-id", "evt_1"),
    ] {
        assert_eq!(subject.send(&forged).await.status, 401);
    }
    assert_eq!(credits(&subject, "a").await, 0);
    assert_eq!(subject.send(&notice("evt_1", "a", 1, 0)).await.status, 200);
    assert_eq!(credits(&subject, "a").await, 1);
}

#[tokio::test]
async fn what_failed_is_handled_when_it_comes_again_unless_it_was_marked_before() {
    for (flaw, handled) in [
        (None, 1),
        (Some(Flaw::MarksNoticeBeforeHandling), 0),
        (Some(Flaw::FreesNoticeAfterEffect), 2),
    ] {
        let subject = Subject::slow(flaw, 1).await;
        let failing = match flaw {
            Some(Flaw::MarksNoticeBeforeHandling) => "fail-once",
            _ => "fail-after-once",
        };
        let one = notice("evt_1", "a", 1, 0).behaviour(failing);
        assert_eq!(subject.send(&one).await.status, 500);
        assert_eq!(subject.send(&one).await.status, 200);
        assert_eq!(credits(&subject, "a").await, handled, "{flaw:?}");
    }
}

#[tokio::test]
async fn an_older_notice_does_not_undo_a_newer_one() {
    for (flaw, version) in [(None, 2), (Some(Flaw::AppliesOlderNotices), 1)] {
        let subject = Subject::slow(flaw, 1).await;
        subject.send(&notice("evt_2", "a", 2, 0)).await;
        subject.send(&notice("evt_1", "a", 1, 0)).await;
        let shown = subject.get("/credits?account=a").await.json();
        assert_eq!(shown["account"]["version"], version, "{flaw:?}");
    }
}
