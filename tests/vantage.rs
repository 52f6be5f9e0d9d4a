//! The same run from several places: real processes with the same keys at the same time, each against
//! an instance of its own, judged as one.

use idemspec::demo::{self, Demo, Flaw, Options};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// What the places need to get ready on a busy machine.
const READY: Duration = Duration::from_secs(6);

/// A target file. Without probes a place sees nothing but its own responses.
fn target(port: u16, probes: bool) -> String {
    let effects = match probes {
        true => {
            "    effects: { payments: { request: \"GET /payments?reference=${marker}\", ids: \"$.data[*].id\" } }\n"
        }
        false => "",
    };
    format!(
        "target: Payments\nbase-url: http://127.0.0.1:{port}\nkey: Idempotency-Key\nsettle: 100ms\nprincipals:\n  owner: {{ bearer: tenant-a }}\noperations:\n  create-payment:\n    request: {{ method: POST, path: /payments, json: {{ amount: 2000, currency: EUR, reference: \"${{marker}}\" }} }}\n    change: {{ json: {{ amount: 2001 }} }}\n    identity: $.id\n{effects}"
    )
}

fn idemspec(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idemspec"));
    command
        .current_dir(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Two places, one at each instance of the demo.
fn places(demo: &Demo, probes: bool, folder: &Path, at: &str) -> Vec<Child> {
    let ports = [demo.address, demo.replica.expect("a second instance")];
    let mut places = Vec::new();
    for (place, address) in ports.iter().enumerate() {
        let file = format!("{place}.yaml");
        std::fs::write(folder.join(&file), target(address.port(), probes)).expect("it is written");
        let record = format!("{place}.record.json");
        let arguments = [
            "run",
            &file,
            "--scenario",
            "replay/exact#plain",
            "--scenario",
            "payload/changed#value",
            "--seed",
            "7",
            "--start-at",
            at,
            "--pace",
            "1s",
            "--record",
            &record,
        ];
        let place = idemspec(folder, &arguments).spawn().expect("it starts");
        places.push(place);
    }
    places
}

async fn demo(flaw: Option<Flaw>) -> Demo {
    demo::start(Options {
        flaws: flaw.into(),
        replica: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        ..Options::default()
    })
    .await
    .expect("it starts")
}

#[test]
fn two_places_that_saw_one_success_each_are_judged_as_one() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let flawed = runtime.block_on(demo(Flaw::from_name("keeps-keys-per-instance")));
    let sound = runtime.block_on(demo(None));
    let (bad, good) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let at = humantime::format_rfc3339_millis(SystemTime::now() + READY).to_string();
    let mut running = places(&flawed, false, bad.path(), &at);
    running.extend(places(&sound, true, good.path(), &at));
    for place in running {
        let output = place.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains("recorded 1 round as one of several places"));
    }

    let report = |folder: &Path, arguments: &[&str]| {
        let mut all = vec!["report"];
        all.extend(arguments);
        let output = idemspec(folder, &all).output().expect("it starts");
        (output.status.code(), said(&output))
    };
    for place in ["0.record.json", "1.record.json"] {
        let (code, text) = report(bad.path(), &[place]);
        assert_eq!(code, Some(3), "one place shows nothing: {text}");
    }
    let both = ["--merge", "0.record.json", "1.record.json"];
    let (code, text) = report(bad.path(), &both);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("two resources for one key"), "{text}");
    for target in ["0.yaml", "1.yaml"] {
        let start = "\"${START:?an instant to come, the same in all places}\"";
        let again = format!("idemspec run {target} --pace 1s --start-at {start} --record");
        assert!(text.contains(&again), "{text}");
    }
    assert!(text.contains("round 1, place 1:"), "{text}");
    assert!(text.contains("round 2, place 2:"), "{text}");
    let (code, text) = report(good.path(), &both);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("met in 1 of 1 rounds"), "{text}");
    assert!(
        text.contains("0 failed, 5 passed, 0 inconclusive"),
        "{text}"
    );
    assert!(
        text.contains("several places cannot run it at once: `changed`"),
        "{text}"
    );
}

#[test]
fn one_of_several_places_only_records() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.yaml"), target(9, false)).expect("it is written");
    let later = humantime::format_rfc3339_seconds(SystemTime::now() + Duration::from_secs(600));
    let later = later.to_string();
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "t.yaml", "--seed", "7"];
        arguments.extend(more);
        let output = idemspec(folder.path(), &arguments).output();
        let output = output.expect("it starts");
        (output.status.code(), said(&output))
    };
    let (code, text) = run(&["--start-at", &later]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("give --record FILE"), "{text}");
    let (code, text) = run(&["--start-at", &later, "--record", "r", "--report", "json=-"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("report --merge"), "{text}");
    let (code, text) = run(&["--start-at", "2026-01-01T00:00:00Z", "--record", "r"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("agree on a later one"), "{text}");
}
