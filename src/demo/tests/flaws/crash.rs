//! Flaws that show when the process dies, or when there are several. The process that takes over is
//! another demo on the same database; what the first one does from then on is of no account.

use super::super::*;

/// Two demos on one database, one after the other.
struct Crash {
    folder: tempfile::TempDir,
    flaw: Option<Flaw>,
}

impl Crash {
    fn new(flaw: Option<Flaw>) -> Crash {
        let folder = tempfile::tempdir().expect("a folder");
        Crash { folder, flaw }
    }

    async fn demo(&self) -> Subject {
        Subject::new(Options {
            database: Some(self.folder.path().join("demo.sqlite")),
            flaws: self.flaw.into(),
            work: Duration::from_millis(200),
            ..Options::default()
        })
        .await
    }
}

#[tokio::test]
async fn a_correct_demo_takes_over_records_and_no_claims() {
    let crash = Crash::new(None);
    let before = crash.demo().await;
    let first = before.send(&Send::payment("done", "done")).await;
    let cut = Send::payment("cut", "cut");
    let _line = before.send_and_wait(&cut).await;
    let after = crash.demo().await;
    let again = after.send(&Send::payment("done", "done")).await;
    assert!(again.is_replay());
    assert_eq!(again.id(), first.id());
    assert_eq!(after.send(&cut).await.status, 201);
    assert_eq!(after.payments("cut").await, 1, "whoever was first");
}

#[tokio::test]
async fn keeps_claim_on_crash_blocks_what_was_being_worked_on() {
    let crash = Crash::new(Some(Flaw::KeepsClaimOnCrash));
    let before = crash.demo().await;
    assert_eq!(before.send(&Send::payment("k", "r")).await.status, 201);
    let cut = Send::payment("cut", "cut").set("demo-pace", "slow");
    let _line = before.send_and_wait(&cut).await;
    // The claim is written down a moment after it is made.
    before.send(&Send::payment("k2", "r2")).await;
    let after = crash.demo().await;
    assert_eq!(after.send(&cut).await.problem(), "in-progress");
    assert!(after.send(&Send::payment("k", "r")).await.is_replay());
}

#[tokio::test]
async fn records_outside_transaction_writes_again_after_a_crash_in_between() {
    let crash = Crash::new(Some(Flaw::RecordsOutsideTransaction));
    let before = crash.demo().await;
    let cut = Send::payment("k", "r").behaviour("linger");
    let _line = before.send_and_wait(&cut).await;
    while before.payments("r").await == 0 {}
    let after = crash.demo().await;
    assert!(!after.send(&cut).await.is_replay());
    assert_eq!(after.payments("r").await, 2);
}

#[tokio::test]
async fn forgets_keys_on_restart_pays_again() {
    let crash = Crash::new(Some(Flaw::ForgetsKeysOnRestart));
    let before = crash.demo().await;
    let send = Send::payment("k", "r");
    before.send(&send).await;
    assert!(before.send(&send).await.is_replay());
    let after = crash.demo().await;
    assert!(!after.send(&send).await.is_replay());
    assert_eq!(after.payments("r").await, 2);
}
