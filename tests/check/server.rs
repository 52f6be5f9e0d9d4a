//! Servers that the tool starts itself: they are ready before anything is sent, and gone afterwards,
//! with all that they started.
#![cfg(unix)]

use super::{Done, Folder};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The demo, started by the tool; `script` comes before it.
fn target(script: &str, ready: &str) -> String {
    let tool = assert_cmd::cargo::cargo_bin!("idemspec");
    format!(
        r#"target: T
base-url: http://127.0.0.1:${{port}}
key: Idempotency-Key
principals: {{ owner: {{ bearer: "${{secret.API_TOKEN}}" }} }}
settle: 300ms
server:
  command: |
    {script}
    exec "{}" serve --port "$port" --admin-port 0 --database "$DATABASE"
  env: {{ DATABASE: demo.sqlite }}
  {ready}
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, currency: EUR, reference: "${{marker}}" }} }}
    identity: $.id
    effects: {{ payments: {{ request: "GET /payments?reference=${{marker}}", ids: "$.data[*].id" }} }}
"#,
        tool.display()
    )
}

const READY: &str = "ready: GET /healthz";

/// Notes the shell's number and that of a child, which the server then runs beside.
const NOTES: &str = "sleep 600 & echo $! >child; echo $$ >shell";

/// Whether the process whose number stands in a file still runs.
fn lives(folder: &Folder, file: &str) -> bool {
    let number = folder.read(file);
    let status = std::fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    // A zombie has ended; somebody else has to collect it.
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// Waits for something that another process does.
fn eventually(what: &str, happens: impl Fn() -> bool) {
    let began = Instant::now();
    while !happens() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn nothing_is_left(folder: &Folder) {
    for file in ["shell", "child"] {
        eventually(&format!("the {file} has ended"), || !lives(folder, file));
    }
}

#[test]
fn a_server_is_started_for_a_check_and_ended_after_it() {
    let folder = Folder::new();
    folder.write("t.yaml", &target(NOTES, READY));
    let done = folder.run(&["check", "t.yaml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        folder.path("demo.sqlite").exists(),
        "it runs beside the target file"
    );
    nothing_is_left(&folder);
}

#[test]
fn a_server_without_ready_is_ready_when_it_takes_connections() {
    let folder = Folder::new();
    folder.write("t.yaml", &target(NOTES, "within: 30s"));
    let done = folder.run(&["check", "t.yaml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    nothing_is_left(&folder);
}

#[test]
fn a_server_that_ends_by_itself_is_shown_with_its_last_lines() {
    let folder = Folder::new();
    folder.write(
        "t.yaml",
        &target("echo no database there >&2; exit 3", READY),
    );
    for command in ["check", "run"] {
        let done = folder.run(&[command, "t.yaml"]);
        assert_eq!(done.code, Some(4), "{done:?}");
        assert!(
            done.remarks.contains("the server ended (exit status: 3)"),
            "{done:?}"
        );
        assert!(done.remarks.contains("no database there"), "{done:?}");
    }
}

#[test]
fn a_server_that_does_not_get_ready_is_ended() {
    let folder = Folder::new();
    folder.write(
        "t.yaml",
        &target(NOTES, "ready: GET /nowhere\n  within: 1s"),
    );
    let done = folder.run(&["run", "t.yaml"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(
        done.remarks
            .contains("was not ready within 1s: /nowhere was answered 404"),
        "{done:?}"
    );
    nothing_is_left(&folder);
}

const KILL: &str = r#"title: A crash between two requests with one key makes no second effect
severity: critical
needs: [key]
steps:
  - send: { as: first, key: fresh }
  - hook: { run: kill }
  - hook: { run: start }
  - send: { as: again, like: first }
  - wait: settled
expect:
  item-5:
    - effects: { at-most: 1 }
    - one-resource: { of: [first, again] }
"#;

#[test]
fn a_scenario_kills_and_starts_the_server_without_hooks() {
    let folder = Folder::new();
    folder.write("t.yaml", &target(NOTES, READY));
    std::fs::create_dir(folder.path("own")).expect("a folder");
    folder.write("own/restarted.yaml", KILL);
    let done = folder.run(&[
        "run",
        "t.yaml",
        "--scenarios",
        "own",
        "--scenario",
        "restarted",
        "--report",
        "json=r.json",
    ]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let json: serde_json::Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
    let hooks = &json["scenarios"][0]["rounds"][0]["hooks"];
    let worked = hooks.as_array().expect("hooks").iter();
    assert_eq!(
        worked.filter(|hook| hook["worked"] == true).count(),
        2,
        "{hooks}"
    );
    nothing_is_left(&folder);
}

/// A run that is under way, with its server.
fn under_way(folder: &Folder) -> Child {
    folder.write("t.yaml", &target(NOTES, READY));
    let child = folder
        .idemspec(&["run", "t.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    eventually("the server has started", || {
        folder.path("demo.sqlite").exists()
    });
    child
}

fn signal(child: &Child, name: &str) {
    let number = child.id().to_string();
    let sent = Command::new("kill").args([name, &number]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn a_run_that_is_interrupted_ends_its_server() {
    for name in ["-INT", "-TERM"] {
        let folder = Folder::new();
        let child = under_way(&folder);
        signal(&child, name);
        let done = Done::of(child.wait_with_output().expect("it ends"));
        assert!(done.code.is_some(), "{done:?}");
        assert!(done.remarks.contains("stopping"), "{done:?}");
        nothing_is_left(&folder);
    }
}
