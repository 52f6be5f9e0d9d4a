//! Flaws that show when requests overlap, or follow at once.

use futures::future::join_all;

use super::super::*;

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
async fn shorter_windows_replay_what_does_not_overlap() {
    for flaw in [Flaw::ChecksThenSets1Ms, Flaw::ChecksThenSets100Us] {
        let subject = Subject::with(flaw).await;
        let send = Send::payment("k", "r");
        subject.send(&send).await;
        assert!(subject.send(&send).await.is_replay());
        assert_eq!(subject.payments("r").await, 1);
    }
}

#[tokio::test]
async fn shorter_windows_let_some_of_many_bursts_through() {
    for flaw in [Flaw::ChecksThenSets1Ms, Flaw::ChecksThenSets100Us] {
        let subject = Subject::slow(Some(flaw), 5).await;
        let mut shown = false;
        for round in 0..200 {
            let send = Send::payment(&format!("k{round}"), &format!("r{round}"));
            join_all((0..10).map(|_| subject.send(&send))).await;
            shown = subject.payments(&format!("r{round}")).await > 1;
            if shown {
                break;
            }
        }
        assert!(shown, "{}", flaw.name());
    }
}

#[tokio::test]
async fn last_writer_wins_replaces_the_first_answer() {
    let subject = Subject::slow(Some(Flaw::LastWriterWins), 5).await;
    for round in 0..200 {
        let send = Send::payment(&format!("k{round}"), &format!("r{round}"));
        let replies = join_all((0..10).map(|_| subject.send(&send))).await;
        let made: Vec<_> = replies.iter().filter(|reply| reply.status == 201).collect();
        if made.len() < 2 {
            continue;
        }
        let later = subject.send(&send).await;
        assert!(later.is_replay());
        assert!(made.iter().any(|reply| reply.body != later.body));
        return;
    }
    panic!("no burst of 200 met the window");
}

#[tokio::test]
async fn records_only_completed_executes_a_duplicate_in_flight() {
    let subject = Subject::with(Flaw::RecordsOnlyCompleted).await;
    let send = Send::payment("k", "r");
    let replies = join_all((0..2).map(|_| subject.send(&send))).await;
    assert_eq!(replies[1].status, 201);
    assert_eq!(subject.payments("r").await, 2);
    assert!(subject.send(&send).await.is_replay());
}

#[tokio::test]
async fn records_after_response_executes_a_quick_retry() {
    let subject = Subject::slow(Some(Flaw::RecordsAfterResponse), 1).await;
    let send = Send::payment("k", "r");
    subject.send(&send).await;
    assert!(!subject.send(&send).await.is_replay());
    let replayed = async { while !subject.send(&send).await.is_replay() {} };
    tokio::time::timeout(Duration::from_secs(10), replayed)
        .await
        .expect("the record comes");
}

#[tokio::test]
async fn records_late_keeps_the_record_in_the_end() {
    let subject = Subject::slow(Some(Flaw::RecordsLate), 1).await;
    let send = Send::payment("k", "r");
    let replayed = async { while !subject.send(&send).await.is_replay() {} };
    tokio::time::timeout(Duration::from_secs(10), replayed)
        .await
        .expect("the record comes");
}

#[tokio::test]
async fn records_late_executes_some_instant_retry() {
    let subject = Subject::slow(Some(Flaw::RecordsLate), 1).await;
    for round in 0..200 {
        let send = Send::payment(&format!("k{round}"), "r");
        subject.send(&send).await;
        if !subject.send(&send).await.is_replay() {
            return;
        }
    }
    panic!("no instant retry of 200 met the gap");
}

#[tokio::test]
async fn waiter_runs_again_after_the_first_completes() {
    let subject = Subject::slow(Some(Flaw::WaiterRunsAgain), 100).await;
    let send = Send::payment("k", "r");
    let (first, waiter) = tokio::join!(subject.send(&send), async {
        subject.wait_for(&send, true).await;
        subject.send(&send).await
    });
    assert_eq!((first.status.as_u16(), waiter.status.as_u16()), (201, 201));
    assert_ne!(first.id(), waiter.id());
    let later = subject.send(&send).await;
    assert!(later.is_replay());
    assert_eq!(later.body, first.body);
}

#[tokio::test]
async fn skips_fingerprint_in_flight_gives_a_changed_payload_the_first_result() {
    let subject = Subject::slow(Some(Flaw::SkipsFingerprintInFlight), 100).await;
    let send = Send::payment("k", "r");
    let changed = Send::payment("k", "other");
    let (first, waiter) = tokio::join!(subject.send(&send), async {
        subject.wait_for(&send, true).await;
        subject.send(&changed).await
    });
    assert_eq!(waiter.body, first.body);
    assert_eq!(subject.send(&changed).await.problem(), "key-reused");
    assert_eq!(subject.payments("other").await, 0);
}

#[tokio::test]
async fn answers_race_losers_with_500_but_replays_later() {
    let subject = Subject::slow(Some(Flaw::AnswersRaceLosersWith500), 100).await;
    let send = Send::payment("k", "r");
    let (_, loser) = tokio::join!(subject.send(&send), async {
        subject.wait_for(&send, true).await;
        subject.send(&send).await
    });
    assert_eq!(loser.status, 500);
    assert!(subject.send(&send).await.is_replay());
    assert_eq!(subject.payments("r").await, 1);
}
