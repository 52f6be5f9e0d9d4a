//! From a curl command to a target file that `check` finds right.

use super::{Done, Folder};
use idemspec::demo;
use std::io::Write;
use std::process::Stdio;

fn init(folder: &Folder, curl: &str, arguments: &[&str]) -> Done {
    let mut command = folder.idemspec(&["init", "--from-curl", "-"]);
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(curl.as_bytes()).expect("it is read");
    drop(stdin);
    Done::of(child.wait_with_output().expect("it ends"))
}

fn curl(address: &str) -> String {
    format!(
        "curl -X POST http://{address}/payments \\\n  -H 'Authorization: Bearer tenant-a' -H 'Idempotency-Key: x' -H 'Content-Type: application/json' \\\n  -d '{{\"amount\":2000,\"currency\":\"EUR\",\"reference\":\"order-1\"}}'\n"
    )
}

#[test]
fn a_curl_command_becomes_a_file_that_describes_its_api() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let demo = runtime
        .block_on(demo::start(demo::Options::default()))
        .expect("the demo starts");
    let folder = Folder::new();
    let effects = "GET /payments?reference=${marker}";
    let command = curl(&demo.address.to_string());
    let done = init(
        &folder,
        &command,
        &["-o", "acme.yaml", "--effects", effects],
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.says.contains("secret     Authorization: Bearer …"),
        "{done:?}"
    );
    assert!(
        done.says
            .contains("export API_TOKEN='…' && idemspec check acme.yaml"),
        "{done:?}"
    );
    assert!(!folder.read("acme.yaml").contains("tenant-a"));
    let lint = folder.run(&["lint", "acme.yaml"]);
    assert_eq!(lint.says, "1 file: 0 errors, 0 warnings\n");
    let check = folder.run(&["check", "acme.yaml"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    assert!(!check.says.contains('✗'), "{check:?}");
    assert!(check.line("invalid").contains("refused: 422"), "{check:?}");
    runtime.block_on(demo.stop());
}

#[test]
fn a_file_that_is_there_is_not_replaced() {
    let folder = Folder::new();
    folder.write("api.yaml", "mine");
    let command = curl("127.0.0.1:1");
    let done = init(&folder, &command, &[]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.remarks.contains("--force"), "{done:?}");
    assert_eq!(folder.read("api.yaml"), "mine");
    let done = init(&folder, &command, &["--force"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(folder.read("api.yaml").contains("create-payment"));
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let folder = Folder::new();
    let done = init(&folder, &curl("127.0.0.1:1"), &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.says.contains("How can we see"), "{done:?}");
    assert!(done.says.contains("--effects"), "{done:?}");
    assert!(!folder.read("api.yaml").contains("effects:"));
}

#[test]
fn effects_that_are_no_request_are_refused_with_their_place() {
    let folder = Folder::new();
    let effects = ["--effects", "GET /payments?x=${nobody}"];
    let done = init(&folder, &curl("127.0.0.1:1"), &effects);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.remarks.contains("nobody"), "{done:?}");
    assert!(!folder.path("api.yaml").exists());
}

#[test]
fn what_is_no_curl_command_is_a_usage_error() {
    let folder = Folder::new();
    for (command, says) in [
        ("wget http://127.0.0.1:1/x", "no curl command"),
        ("curl http://127.0.0.1:1/x", "GET"),
        ("curl 'http://127.0.0.1:1/x", "never closed"),
    ] {
        let done = init(&folder, command, &[]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.remarks.contains(says), "{done:?}");
    }
}
