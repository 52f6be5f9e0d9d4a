//! What a run that was killed has left is removed as its ledger says.

use super::server::{Asked, Payments, Reply, Server};
use super::tool::Tool;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn what_a_killed_run_has_left_is_removed_later() {
    let payments = Payments::default();
    let removed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&removed);
    let server = Server::start(move |asked: &Asked| {
        if asked.method == "DELETE" {
            count.fetch_add(1, Ordering::SeqCst);
            return Reply::Bytes(b"HTTP/1.1 204 Gone\r\nContent-Length: 0\r\n\r\n".to_vec());
        }
        payments.serve(asked)
    });
    let arguments = ["--scenario", "replay/exact", "--ledger", "ledger.jsonl"];
    let tool = Tool::at(server.address).with(&arguments);
    let file = tool.path("target.yaml");
    let target = std::fs::read_to_string(&file).expect("it was written");
    let with_cleanup = "    identity: $.id\n    cleanup: DELETE /payments/${identity}\n";
    let target = target.replace("    identity: $.id\n", with_cleanup);
    std::fs::write(&file, target).expect("it is written");
    tool.run();
    let made = removed.load(Ordering::SeqCst);
    assert!(made > 1, "the run itself cleans up");

    let ledger = std::fs::read_to_string(tool.path("ledger.jsonl")).expect("it was written");
    let mut killed: String = ledger
        .lines()
        .filter(|line| line.contains("\"made\""))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(killed.lines().count(), made, "{ledger}");
    killed.push_str("{\"operation\": \"create-pay");
    std::fs::write(tool.path("killed.jsonl"), killed).expect("it is written");
    let cleanup = || {
        let output = tool
            .other(&["cleanup", "target.yaml", "killed.jsonl"])
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    assert_eq!(
        cleanup(),
        (Some(0), format!("{made} resources removed, 0 left\n"))
    );
    assert_eq!(removed.load(Ordering::SeqCst), 2 * made);
    assert_eq!(
        cleanup(),
        (Some(0), "0 resources removed, 0 left\n".to_owned())
    );
    assert_eq!(removed.load(Ordering::SeqCst), 2 * made, "nothing is left");
}
