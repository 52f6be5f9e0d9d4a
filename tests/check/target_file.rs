//! Right and wrong target files, held against the demo and against odd APIs.

use super::api::{Habits, serve};
use super::{Done, Folder};
use idemspec::demo;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A demo API that ends with the test.
struct Demo {
    runtime: tokio::runtime::Runtime,
    running: Option<demo::Demo>,
}

impl Demo {
    fn start() -> (Demo, SocketAddr) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let running = runtime
            .block_on(demo::start(demo::Options::default()))
            .expect("the demo starts");
        let address = running.address;
        let running = Some(running);
        (Demo { runtime, running }, address)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

fn target(address: SocketAddr, rest: &str) -> String {
    format!(
        r#"target: T
base-url: http://{address}
key: Idempotency-Key
principals: {{ owner: {{ bearer: "${{secret.API_TOKEN}}" }} }}
settle: 300ms
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, currency: EUR, reference: "${{marker}}" }} }}
{rest}"#
    )
}

const REST: &str = r#"    identity: $.id
    effects: { payments: { request: "GET /payments?reference=${marker}", ids: "$.data[*].id" } }
"#;

/// Checks a file with the demo's address.
fn check_demo(rest: &str) -> Done {
    let (_demo, address) = Demo::start();
    let folder = Folder::new();
    folder.write("t.yaml", &target(address, rest));
    folder.run(&["check", "t.yaml"])
}

/// Checks a file against an odd API.
fn check_odd(habits: Habits, rest: &str) -> Done {
    let (_runtime, address) = serve(habits);
    let folder = Folder::new();
    folder.write("t.yaml", &target(address, rest));
    folder.run(&["check", "t.yaml"])
}

#[test]
fn a_file_that_describes_its_api_is_right_line_by_line() {
    let rest = format!(
        "    change: {{ json: {{ amount: 2001 }} }}\n    invalid: {{ json: {{ amount: -1 }} }}\n    declined: {{ headers: {{ Demo-Behaviour: decline }} }}\n    failing: {{ headers: {{ Demo-Behaviour: fail-before }} }}\n    read: GET /payments/${{identity}}\n{REST}"
    );
    let done = check_demo(&rest);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.says.contains('✗'), "{done:?}");
    for name in [
        "owner",
        "request",
        "key",
        "identity",
        "effects.payments",
        "fresh key, same body",
        "same key again",
        "change",
        "invalid",
        "declined",
        "failing",
        "volatile",
    ] {
        assert!(done.line(name).contains('✓'), "{}", done.line(name));
    }
    assert!(
        done.line("identity").ends_with(":14"),
        "{}",
        done.line("identity")
    );
    assert!(
        done.line("effects.payments").contains("0 before, 1 after"),
        "{done:?}"
    );
    assert!(
        done.line("effects.payments").contains("; contains pay_"),
        "{done:?}"
    );
    assert!(done.line("same key again").contains("same id"), "{done:?}");
    assert!(done.line("same key again").contains("still 1"), "{done:?}");
    assert!(done.says.contains("scenarios can run"), "{done:?}");
    assert!(done.says.contains("other-tenant ("), "{done:?}");
}

#[test]
fn a_wrong_identity_is_said_with_the_place_of_the_right_one() {
    for (written, says) in [
        ("$.uuid", "`$.uuid` is not in the answer 201"),
        (
            "\"$[*]\"",
            "`$[*]` matched 6 nodes: an identity is one value",
        ),
        ("$.currency", "`$.currency` = EUR, which no probe shows"),
        (
            "$.reference",
            "`$.reference` is what was sent, not what was made",
        ),
    ] {
        let done = check_demo(&REST.replace("$.id\n", &format!("{written}\n")));
        assert_eq!(done.code, Some(1), "{done:?}");
        let line = done.line("identity");
        assert!(line.contains('✗') && line.contains(says), "{line}");
        assert!(done.says.contains("stands at `$.id`"), "{done:?}");
    }
}

#[test]
fn what_should_be_refused_and_is_not_is_said() {
    let rest = format!("    invalid: {{ json: {{ amount: 7 }} }}\n{REST}");
    let done = check_demo(&rest);
    assert_eq!(done.code, Some(1), "{done:?}");
    let invalid = done.line("invalid");
    assert!(invalid.contains("201: {\"amount\":7,"), "{invalid}");
    assert!(invalid.contains("was accepted and made pay_"), "{invalid}");
    assert!(invalid.ends_with(":9"), "{invalid}");
}

#[test]
fn what_should_do_otherwise_than_it_does_is_said() {
    let rest = format!(
        "    declined: {{ json: {{ amount: 8 }} }}\n    failing: {{ json: {{ amount: -1 }} }}\n    change: {{ json: {{ amount: -2 }} }}\n{REST}"
    );
    let done = check_demo(&rest);
    assert_eq!(done.code, Some(1), "{done:?}");
    let declined = done.line("declined");
    assert!(declined.contains("succeeded: 201"), "{declined}");
    assert!(done.line("failing").contains("answered 422"), "{done:?}");
    let change = done.line("change");
    assert!(
        change.contains("refused under a fresh key (422"),
        "{change}"
    );
}

#[test]
fn no_more_than_five_effects_are_made_whatever_the_file_says() {
    let (_demo, address) = Demo::start();
    let folder = Folder::new();
    let fields = ["change", "invalid", "declined"];
    let accepted: String = (0..3)
        .map(|at| format!("    {}: {{ json: {{ amount: {} }} }}\n", fields[at], at + 7))
        .collect();
    let rest = format!(
        "{accepted}    failing: [{{ json: {{ amount: 11 }} }}, {{ json: {{ amount: 12 }} }}]\n{REST}"
    );
    folder.write("t.yaml", &target(address, &rest));
    let done = folder.run(&["check", "t.yaml"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let says = "not checked: 5 effects were made already";
    assert!(done.line("failing").contains(says), "{done:?}");
    let answer = listed(address);
    assert_eq!(answer["data"].as_array().map(Vec::len), Some(5), "{answer}");
}

/// What a list shows to the owner.
fn listed(address: SocketAddr) -> serde_json::Value {
    let mut peer = TcpStream::connect(address).expect("it listens");
    let request = "GET /payments HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer tenant-a\r\nConnection: close\r\n\r\n";
    peer.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    peer.read_to_string(&mut answer).expect("it answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("it is JSON")
}

#[test]
fn a_wrong_token_is_found_by_a_read() {
    let (_demo, address) = Demo::start();
    let folder = Folder::new();
    folder.write("t.yaml", &target(address, REST));
    let mut command = folder.idemspec(&["check", "t.yaml"]);
    let output = command.env("API_TOKEN", "s3cr3t-nobody").output();
    let done = Done::of(output.expect("it runs"));
    assert_eq!(done.code, Some(1), "{done:?}");
    let line = done.line("owner");
    assert!(line.contains("GET /payments was answered 401"), "{line}");
    assert!(line.contains("t.yaml:4") || line.ends_with(":4"), "{line}");
    assert!(!done.says.contains("s3cr3t"), "{done:?}");
}

#[test]
fn a_port_where_nothing_listens_is_no_fault_of_the_file() {
    let free = idemspec::runner::free_port().expect("a port");
    let folder = Folder::new();
    let address = SocketAddr::from(([127, 0, 0, 1], free));
    folder.write("t.yaml", &target(address, REST));
    for command in ["check", "run"] {
        let done = folder.run(&[command, "t.yaml"]);
        assert_eq!(done.code, Some(4), "{done:?}");
        assert!(done.says.contains("cannot be reached"), "{done:?}");
    }
}

#[test]
fn a_filter_that_the_api_ignores_is_found_on_an_empty_one_too() {
    let habits = Habits {
        ignores_filters: true,
        ..Habits::default()
    };
    let done = check_odd(habits, REST);
    assert_eq!(done.code, Some(1), "{done:?}");
    let line = done.line("effects.payments");
    let says = "2 before anything was sent: GET /payments ignores \"reference\"";
    assert!(line.contains(says), "{line}");
}

#[test]
fn an_effect_that_shows_late_is_measured() {
    let habits = Habits {
        shows_after: Duration::from_millis(900),
        ..Habits::default()
    };
    let done = check_odd(habits, REST);
    assert_eq!(done.code, Some(1), "{done:?}");
    let line = done.line("effects.payments");
    assert!(
        line.contains("seen after 0.9 s, settle is 300ms: set settle: 3s"),
        "{line}"
    );
}

#[test]
fn an_effect_that_is_read_at_the_wrong_place_is_found() {
    let done = check_demo(&REST.replace("data[*].id", "items[*].id"));
    let line = done.line("effects.payments");
    assert!(line.contains("0 before, 0 after"), "{line}");
    assert!(
        line.contains("though the response was 201 with id pay_"),
        "{line}"
    );
    assert!(done.says.contains("stands at `$.data[0].id`"), "{done:?}");
}

#[test]
fn a_key_that_must_be_quoted_is_found_out() {
    let habits = Habits {
        wants_quoted_keys: true,
        ..Habits::default()
    };
    let done = check_odd(habits, REST);
    assert_eq!(done.code, Some(1), "{done:?}");
    let line = done.line("key");
    assert!(
        line.contains("sent bare, the API refused it (400); sent quoted, it took it"),
        "{line}"
    );
    assert!(done.says.contains("quoted: true"), "{done:?}");
}

#[test]
fn duplicates_that_the_data_prevents_are_a_note() {
    let habits = Habits {
        refuses_equal_payloads: true,
        ..Habits::default()
    };
    let done = check_odd(habits, REST);
    assert_eq!(done.code, Some(0), "{done:?}");
    let line = done.line("fresh key, same body");
    assert!(line.contains("also prevented by the data"), "{line}");
}

#[test]
fn a_success_that_is_none_is_shown_by_its_condition() {
    let habits = Habits {
        answers_200_with_errors: true,
        ..Habits::default()
    };
    let rest = format!("    success: {{ status: 2xx, $.errors: absent }}\n{REST}");
    let done = check_odd(habits, &rest);
    assert_eq!(done.code, Some(1), "{done:?}");
    let line = done.line("success");
    assert!(line.contains("`success` does not hold: $.errors"), "{line}");
}

#[test]
fn what_differs_between_two_reads_is_volatile() {
    let rest = format!("    read: GET /payments/${{identity}}\n{REST}");
    let done = check_odd(Habits::default(), &rest);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.line("volatile")
            .contains("$.age differs between two reads"),
        "{done:?}"
    );
    let rest = format!("    volatile: $.age\n{rest}");
    let done = check_odd(Habits::default(), &rest);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn a_useless_file_ends_a_run_with_one_message() {
    let (_demo, address) = Demo::start();
    let folder = Folder::new();
    folder.write(
        "t.yaml",
        &target(address, &REST.replace("$.id\n", "$.uuid\n")),
    );
    let done = folder.run(&[
        "run",
        "t.yaml",
        "--report",
        "junit=r.xml",
        "--report",
        "json=r.json",
    ]);
    assert_eq!(done.code, Some(4), "{done:?}");
    let json: serde_json::Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
    let stopped = json["about"]["stopped"].as_str().expect("a reason");
    assert!(
        stopped.starts_with("the target file does not describe the API: t.yaml:9: create-payment, identity: `$.uuid`"),
        "{stopped}"
    );
    assert_eq!(json["scenarios"].as_array().map(Vec::len), Some(0));
    let lines = json["about"]["check"].as_array().expect("lines");
    let identity = lines.iter().find(|line| line["name"] == "identity");
    assert_eq!(identity.expect("a line")["mark"], "useless");
    let xml = folder.read("r.xml");
    assert_eq!(xml.matches("<error").count(), 1, "{xml}");
    assert!(xml.contains("<testsuite name=\"target\""), "{xml}");
}

#[test]
fn a_run_begins_with_the_check_unless_it_is_told_not_to() {
    let (_demo, address) = Demo::start();
    let folder = Folder::new();
    folder.write("t.yaml", &target(address, REST));
    let run = [
        "run",
        "t.yaml",
        "--scenario",
        "scope/fresh-key",
        "--report",
        "json=r.json",
    ];
    let done = folder.run(&run);
    assert_eq!(done.code, Some(0), "{done:?}");
    let checked = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).expect("JSON");
        json["about"]["check"].as_array().map_or(0, Vec::len)
    };
    assert!(checked(&folder.read("r.json")) > 5);
    let done = folder.run(&[&run[..], &["--no-check"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(checked(&folder.read("r.json")), 0);
}
