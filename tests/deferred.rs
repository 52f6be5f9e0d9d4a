//! A run in two halves with a day between them: real processes, a demo whose clock is moved, and the
//! file between the halves set back by as much.

use idemspec::demo::{self, Demo, Flaw, Options};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// A target without a clock that could be moved.
fn target(port: u16) -> String {
    format!(
        "target: Payments\nbase-url: http://127.0.0.1:{port}\ncontract: demo\nsettle: 100ms\nprincipals:\n  owner: {{ bearer: \"${{secret.DAY_TOKEN}}\" }}\noperations:\n  create-payment:\n    request: {{ method: POST, path: /payments, json: {{ amount: 2000, currency: EUR, reference: \"${{marker}}\" }} }}\n    identity: $.id\n    effects: {{ payments: {{ request: \"GET /payments?reference=${{marker}}\", ids: \"$.data[*].id\" }} }}\n    cleanup: \"DELETE /payments/${{identity}}\"\n"
    )
}

struct Bench {
    runtime: tokio::runtime::Runtime,
    demo: Demo,
    folder: tempfile::TempDir,
}

impl Bench {
    fn with(flaw: Option<&str>) -> Bench {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let options = Options {
            flaws: flaw.map(|name| Flaw::from_name(name).expect(name)).into(),
            ..Options::default()
        };
        let demo = runtime.block_on(demo::start(options)).expect("it starts");
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Bench {
            runtime,
            demo,
            folder,
        };
        bench.write("t.yaml", &target(bench.demo.address.port()));
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("it is written");
    }

    fn idemspec(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.idemspec_as(Some("tenant-a"), arguments)
    }

    fn idemspec_as(&self, token: Option<&str>, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idemspec"));
        command.current_dir(self.folder.path()).args(arguments);
        command.env_remove("DAY_TOKEN");
        command.envs(token.map(|token| ("DAY_TOKEN", token)));
        let output = command.output().expect("it starts");
        let said =
            [output.stdout, output.stderr].map(|out| String::from_utf8_lossy(&out).into_owned());
        (output.status.code(), said.concat())
    }

    fn first_half(&self) -> (Option<i32>, String) {
        self.idemspec(&[
            "run",
            "t.yaml",
            "--scenario",
            "expiry/kept",
            "--scenario",
            "expiry/over",
            "--defer",
            "state.json",
        ])
    }

    fn resume(&self) -> (Option<i32>, String) {
        self.idemspec(&["resume", "state.json"])
    }

    /// Lets time pass: the demo's clock moves, and the first half lies so much further back.
    fn pass(&self, time: Duration) {
        let moved = self
            .runtime
            .block_on(advance(self.demo.admin, time.as_secs()));
        assert!(moved.starts_with("HTTP/1.1 200"), "{moved}");
        let mut state = self.state();
        set_back(&mut state, time);
        self.write("state.json", &state.to_string());
    }

    fn state(&self) -> Value {
        let text = std::fs::read_to_string(self.path("state.json")).expect("it is there");
        serde_json::from_str(&text).expect("it is JSON")
    }
}

async fn advance(admin: SocketAddr, seconds: u64) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(admin)
        .await
        .expect("it listens");
    let request = format!(
        "POST /clock/advance?seconds={seconds} HTTP/1.1\r\nHost: demo\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it is sent");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("it is answered");
    answer
}

/// Sets back every time that the file says outside of the record.
fn set_back(value: &mut Value, time: Duration) {
    match value {
        Value::String(text) => {
            if let Ok(at) = humantime::parse_rfc3339(text) {
                *text = humantime::format_rfc3339_micros(at - time).to_string();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| set_back(value, time)),
        Value::Object(map) => map
            .iter_mut()
            .filter(|(name, _)| *name != "record")
            .for_each(|(_, value)| set_back(value, time)),
        _ => {}
    }
}

#[test]
fn keys_are_made_today_and_judged_tomorrow() {
    let bench = Bench::with(None);
    let (code, text) = bench.first_half();
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("`idemspec resume` goes on with them"),
        "{text}"
    );
    let (code, again) = bench.first_half();
    assert_eq!(code, Some(2), "keys that wait are not given up: {again}");

    let (code, text) = bench.resume();
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("too early: the keys of one case wait for 21h"),
        "{text}"
    );
    assert!(
        text.contains("too early: the keys of one case wait for 1day 2h"),
        "{text}"
    );

    bench.pass(22 * HOUR);
    let (code, text) = bench.resume();
    assert_eq!(code, Some(3), "one case still waits: {text}");
    assert!(
        text.contains("expiry/kept") && text.contains("3 held"),
        "{text}"
    );
    assert!(
        text.contains("its keys are not old enough: resume after"),
        "{text}"
    );

    bench.pass(5 * HOUR);
    let (code, text) = bench.resume();
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("0 failed, 8 passed, 0 inconclusive"),
        "{text}"
    );

    let (code, again) = bench.resume();
    assert_eq!(
        code,
        Some(0),
        "nothing is left, and the report is the same: {again}"
    );
    assert!(again.contains("0 failed, 8 passed"), "{again}");
    let (code, text) = bench.first_half();
    assert_eq!(code, Some(0), "a new day begins: {text}");
}

#[test]
fn a_memory_that_is_too_short_or_too_long_shows_after_the_day() {
    for (flaw, caught) in [
        ("forgets-early", "expiry/kept"),
        ("never-expires", "expiry/over"),
    ] {
        let bench = Bench::with(Some(flaw));
        let (code, text) = bench.first_half();
        assert_eq!(code, Some(0), "{flaw}: {text}");
        bench.pass(22 * HOUR);
        let (_, first) = bench.resume();
        bench.pass(5 * HOUR);
        let (code, text) = bench.resume();
        assert_eq!(code, Some(1), "{flaw}: {text}\n{first}");
        assert!(
            text.contains(&format!("create-payment/{caught}\n    ×")),
            "{flaw}: {text}"
        );
    }
}

#[test]
fn who_comes_too_late_is_told_so_and_blames_nobody() {
    let bench = Bench::with(None);
    bench.first_half();
    bench.pass(30 * HOUR);
    let (code, text) = bench.resume();
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("may have been forgotten by right: resume between"),
        "{text}"
    );
    assert!(text.contains("0 failed"), "{text}");
}

#[test]
fn the_file_holds_no_secret_and_says_what_is_wrong_with_it() {
    let bench = Bench::with(None);
    bench.first_half();
    let whole = std::fs::read_to_string(bench.path("state.json")).expect("it is there");
    assert!(!whole.contains("tenant-a"), "the secret is in it");
    let (code, text) = bench.idemspec_as(None, &["resume", "state.json"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("DAY_TOKEN is not set"), "{text}");

    let newer = whole.replacen("\"deferred\":1", "\"deferred\":7", 1);
    let lost = whole.replacen("\"case\":0,\"rest\"", "\"case\":9,\"rest\"", 1);
    for (state, says) in [
        (&whole[..whole.len() / 2], "it ends in the middle"),
        (&whole[..20], "it ends in the middle"),
        ("", "it is no run that goes on another day"),
        ("{\"record\":1}", "it is no run that goes on another day"),
        (&newer, "it is of format 7, written by idemspec"),
        (&lost, "a case that waits is not in it"),
    ] {
        bench.write("state.json", state);
        let (code, text) = bench.resume();
        assert_eq!(code, Some(2), "{says}: {text}");
        assert!(text.contains(says), "{says}: {text}");
        let (code, text) = bench.first_half();
        assert_eq!(code, Some(2), "it is not written over: {text}");
    }

    bench.write("state.json", &whole);
    let changed = target(bench.demo.address.port()).replace("2000", "2001");
    bench.write("t.yaml", &changed);
    let (code, text) = bench.resume();
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("t.yaml is not the target file"), "{text}");
    std::fs::create_dir(bench.path("elsewhere")).expect("it is made");
    bench.write("elsewhere/t.yaml", &target(bench.demo.address.port()));
    let (code, text) = bench.idemspec(&["resume", "state.json", "--target", "elsewhere/t.yaml"]);
    assert_eq!(
        code,
        Some(3),
        "it is found elsewhere, and too early: {text}"
    );
}

#[test]
fn what_has_to_grow_old_points_to_the_other_way() {
    let bench = Bench::with(None);
    let (_, text) = bench.idemspec(&[
        "run",
        "t.yaml",
        "--scenario",
        "expiry",
        "--scenario",
        "key/missing",
    ]);
    assert!(text.contains("`run --defer"), "{text}");
    assert!(!Path::new(&bench.path("state.json")).exists());
}
