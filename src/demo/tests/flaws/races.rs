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

/// Sends a slow payment, and another one after it once the lease of its claim is over.
async fn overtaken(subject: &Subject, first: &Send) -> (Reply, Reply) {
    let lease = subject.api().work * 3;
    tokio::join!(subject.send(first), async {
        subject.wait_for(first, true).await;
        // The lease is real time, and this waits for it, not for anything that races.
        tokio::time::sleep(lease).await;
        subject.send(first).await
    })
}

#[tokio::test]
async fn a_claim_that_runs_out_lets_a_second_request_in() {
    let subject = Subject::slow(Some(Flaw::LetsClaimRunOut), 40).await;
    let send = Send::payment("k", "r").slow();
    let (first, second) = overtaken(&subject, &send).await;
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (201, 201));
    assert_ne!(first.id(), second.id());
    assert_eq!(subject.payments("r").await, 2);
    assert_eq!(subject.send(&send).await.id(), first.id());
}

#[tokio::test]
async fn a_request_that_was_overtaken_replaces_its_successors_record() {
    let subject = Subject::slow(Some(Flaw::OverwritesRecordOfSuccessor), 40).await;
    let send = Send::payment("k", "r").slow();
    let (first, second) = overtaken(&subject, &send).await;
    assert_ne!(first.id(), second.id());
    assert_eq!(subject.send(&send).await.id(), first.id());
}

#[tokio::test]
async fn a_failed_request_frees_the_claim_of_its_successor() {
    for (flaw, frees) in [
        (Flaw::LetsClaimRunOut, false),
        (Flaw::FreesClaimOfSuccessor, true),
    ] {
        let subject = Subject::slow(Some(flaw), 40).await;
        let send = Send::payment("k", "r").slow().behaviour("fail-once");
        let lease = subject.api().work * 3;
        let (first, held) = tokio::join!(subject.send(&send), async {
            subject.wait_for(&send, true).await;
            tokio::time::sleep(lease * 2).await;
            let successor = subject.send(&send);
            tokio::pin!(successor);
            // The first one ends before the second.
            let _ = tokio::time::timeout(lease, &mut successor).await;
            let slot = Slot {
                tenant: "tenant-a".to_owned(),
                operation: "POST /payments".to_owned(),
                key: "k".to_owned(),
            };
            let held = subject.api().in_flight.holder(&slot).is_some();
            assert_eq!(successor.await.status, 201);
            held
        });
        assert_eq!(first.status, 500);
        assert_eq!(held, !frees, "{}", flaw.name());
    }
}

#[tokio::test]
async fn the_oldest_key_is_evicted_by_as_many_others_as_are_kept() {
    let subject = Subject::slow(Some(Flaw::EvictsOldestKeys), 1).await;
    let oldest = Send::payment("oldest", "r");
    subject.send(&oldest).await;
    let fill = |from: usize, to: usize| {
        let subject = &subject;
        join_all((from..to).map(move |at| async move {
            subject
                .send(&Send::payment(&format!("k{at}"), "filler"))
                .await
        }))
    };
    fill(0, 200).await;
    assert!(subject.send(&oldest).await.is_replay());
    fill(200, 256).await;
    assert!(!subject.send(&oldest).await.is_replay());
}

#[tokio::test]
async fn workers_of_their_own_execute_what_comes_on_another_connection() {
    let subject = Subject::with(Flaw::ClaimsPerWorker).await;
    let send = Send::payment("k", "r");
    join_all((0..16).map(|_| subject.send(&send))).await;
    assert!(subject.payments("r").await > 1);
    assert!(subject.send(&send).await.is_replay());
}
