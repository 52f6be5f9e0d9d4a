//! A run that was written down: judged again it says the same, without a request and without a
//! secret; and what it shows can be written as a contract that the API then keeps.

use axum::http::HeaderMap;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// What the tool says on the screen and beside it, and its exit code.
fn idemspec(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_idemspec"))
        .current_dir(folder)
        .env("SHOP_TOKEN", TOKEN)
        .args(arguments)
        .output()
        .expect("it runs");
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    (output.status.code(), said)
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("it was written")
}

fn json_of(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&text(folder, name)).expect("it is JSON")
}

/// The names and verdicts of all findings of a JSON report.
fn verdicts(report: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let cases = report["scenarios"].as_array().expect("a list");
    cases
        .iter()
        .flat_map(|case| case["findings"].as_array().expect("a list"))
        .map(|finding| (word(&finding["name"]), word(&finding["verdict"])))
        .collect()
}

fn failed(report: &Value) -> Vec<String> {
    verdicts(report)
        .into_iter()
        .filter_map(|(name, verdict)| (verdict == "fail").then_some(name))
        .collect()
}

/// A record of a short run.
fn recorded(folder: &Path) -> Value {
    let run = ["demo", "--no-check", "-q", "--record", "record.json"];
    let wanted = ["--scenario", "scope/fresh-key", "--report", "json=run.json"];
    let (code, said) = idemspec(folder, &[run.as_slice(), &wanted].concat());
    assert_eq!(code, Some(0), "{said}");
    json_of(folder, "record.json")
}

#[test]
fn a_record_has_the_same_report_as_its_run() {
    for (flaw, exit) in [(None, 0), (Some("stores-no-fingerprint"), 1)] {
        let folder = folder();
        let folder = folder.path();
        let mut run = vec!["demo", "--no-check", "-q", "--record", "record.json"];
        run.extend(["--report", "json=run.json"]);
        for scenario in ["replay/exact", "race/during", "payload/", "expiry/kept"] {
            run.extend(["--scenario", scenario]);
        }
        run.extend(flaw.map(|flaw| ["--flaw", flaw]).into_iter().flatten());
        let (code, said) = idemspec(folder, &run);
        assert_eq!(code, Some(exit), "{said}");
        let again = ["report", "record.json", "-q", "--report", "json=again.json"];
        assert_eq!(idemspec(folder, &again), (Some(exit), said));
        assert!(
            text(folder, "run.json") == text(folder, "again.json"),
            "the report of the record differs from that of the run"
        );

        let (_, said) = idemspec(
            folder,
            &[&again[..], &["--contract", "ietf-draft-07"]].concat(),
        );
        let (run, other) = (json_of(folder, "run.json"), json_of(folder, "again.json"));
        assert_eq!(other["about"]["contract"], "ietf-draft-07", "{said}");
        assert_ne!(verdicts(&run), verdicts(&other), "another contract");
        assert_eq!(run["about"]["requests"], other["about"]["requests"]);
    }
}

#[test]
fn a_record_is_judged_with_its_own_scenarios() {
    let folder = folder();
    let folder = folder.path();
    let mut record = recorded(folder);
    let scenario = &mut record["scenarios"]["scope/fresh-key"];
    let old = scenario["text"].as_str().expect("a text").to_owned();
    let title = old.lines().find(|line| line.starts_with("title:"));
    let new = old.replace(
        title.expect("a title"),
        "title: As it was in another version",
    );
    scenario["text"] = new.clone().into();
    let write = |record: &Value| {
        std::fs::write(folder.join("record.json"), record.to_string()).expect("it is written");
    };
    write(&record);
    let report = ["report", "record.json", "--report", "json=again.json"];
    let (code, said) = idemspec(folder, &report);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("scope/fresh-key was changed"), "{said}");

    let digest: String = Sha256::digest(&new)[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    record["scenarios"]["scope/fresh-key"]["digest"] = digest.into();
    write(&record);
    let (code, said) = idemspec(folder, &report);
    assert_eq!(code, Some(0), "{said}");
    let again = json_of(folder, "again.json");
    let title = &again["scenarios"][0]["title"];
    assert_eq!(title, "As it was in another version");
}

#[test]
fn another_contract_has_its_own_idea_of_a_malformed_key() {
    let folder = folder();
    let folder = folder.path();
    let run = ["demo", "--no-check", "-q", "--record", "record.json"];
    let wanted = ["--scenario", "key/odd#at-256", "--report", "json=run.json"];
    let (code, said) = idemspec(folder, &[run.as_slice(), &wanted].concat());
    assert_eq!(code, Some(0), "{said}");
    let longer = "extends: demo\nkey: { max: 2000 }\n";
    std::fs::write(folder.join("longer.yaml"), longer).expect("it is written");
    let again = ["report", "record.json", "--contract", "longer.yaml", "-q"];
    idemspec(
        folder,
        &[&again[..], &["--report", "json=again.json"]].concat(),
    );
    let malformed = |name: &str| {
        let report = json_of(folder, name);
        let case = &report["scenarios"][0];
        let exchange = &case["rounds"][0]["exchanges"][0];
        assert_eq!(exchange["step"], "first");
        exchange["key"]["malformed"].as_bool().expect("yes or no")
    };
    assert!(
        malformed("run.json"),
        "the demo's keys have 255 characters at most"
    );
    assert!(!malformed("again.json"), "these have 2000");
}

#[test]
fn what_is_no_record_of_this_format_is_refused_in_words() {
    let folder = folder();
    let folder = folder.path();
    let record = recorded(folder);
    let refused = |text: &str| {
        std::fs::write(folder.join("other.json"), text).expect("it is written");
        let (code, said) = idemspec(folder, &["report", "other.json"]);
        assert_eq!(code, Some(2), "{said}");
        said
    };
    let mut newer = record.clone();
    newer["record"] = 7.into();
    newer["idemspec"] = "9.1.0".into();
    newer["cases"] = "something else".into();
    let said = refused(&newer.to_string());
    assert!(
        said.contains("format 7, written by idemspec 9.1.0"),
        "{said}"
    );
    assert!(refused(&text(folder, "run.json")).contains("a JSON report is none"));
    let whole = record.to_string();
    let said = refused(&whole[..whole.len() / 2]);
    assert!(said.contains("no recorded run"), "{said}");
    let mut damaged = record;
    damaged["cases"][0]["transcript"]["rounds"] = 3.into();
    assert!(refused(&damaged.to_string()).contains("damaged"));
    let (code, said) = idemspec(folder, &["report", "nowhere.json"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("cannot read nowhere.json"), "{said}");
}

#[test]
fn an_observed_contract_is_kept_by_the_api_that_it_was_observed_on() {
    let folder = folder();
    let folder = folder.path();
    let mut scenarios = vec!["-q", "--no-check"];
    for scenario in [
        "replay/exact",
        "replay/reworded",
        "payload/changed",
        "key/missing",
        "scope/",
        "auth/other-tenant",
        "failure/refused",
    ] {
        scenarios.extend(["--scenario", scenario]);
    }
    let demo = |more: &[&str]| idemspec(folder, &[&["demo"], more, &scenarios].concat());
    let (code, said) = demo(&["--contract", "generic", "--write-contract", "observed.yaml"]);
    assert_eq!(code, Some(0), "{said}");
    let contract = text(folder, "observed.yaml");
    for line in [
        "contract: observed",
        "is: per-endpoint",
        "is: json-canonical",
        "header: idempotency-replayed",
        "status: same-as-first",
        "status: 422",
        "is: not-consumed",
        "scenario payload/changed",
        "retention: unspecified",
        "in-progress: unspecified",
    ] {
        assert!(contract.contains(line), "{line}:\n{contract}");
    }
    let (code, said) = demo(&["--contract", "observed.yaml", "--report", "json=held.json"]);
    assert_eq!(code, Some(0), "{said}");
    let held = json_of(folder, "held.json");
    assert_eq!(held["about"]["contract"], "observed");
    let kept: Vec<&str> = held["promises"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|promise| promise["kept"] == true)
        .map(|promise| promise["promise"].as_str().expect("a name"))
        .collect();
    for promise in [
        "replay",
        "replay-marker",
        "mismatch",
        "equality",
        "missing-key",
    ] {
        assert!(kept.contains(&promise), "{promise}: {kept:?}");
    }
}

#[test]
fn a_broken_invariant_is_no_promise() {
    let folder = folder();
    let folder = folder.path();
    let mut run = vec!["demo", "--no-check", "-q", "--contract", "generic"];
    run.extend([
        "--flaw",
        "stores-no-fingerprint",
        "--scenario",
        "payload/changed",
    ]);
    run.extend(["--scenario", "replay/exact", "--record", "record.json"]);
    run.extend([
        "--report",
        "json=run.json",
        "--write-contract",
        "observed.yaml",
    ]);
    let (code, said) = idemspec(folder, &run);
    assert_eq!(code, Some(1), "{said}");
    let contract = text(folder, "observed.yaml");
    assert!(contract.contains("mismatch: unspecified"), "{contract}");
    assert!(contract.contains("# mismatch is not here"), "{contract}");
    assert!(contract.contains("outcome: replay-stored"), "{contract}");
    let again = ["report", "record.json", "-q", "--contract", "observed.yaml"];
    let (code, said) = idemspec(
        folder,
        &[&again[..], &["--report", "json=again.json"]].concat(),
    );
    assert_eq!(code, Some(1), "{said}");
    let run = failed(&json_of(folder, "run.json"));
    assert!(!run.is_empty());
    assert_eq!(run, failed(&json_of(folder, "again.json")));
}

/// Only the words between its dots look like tokens by themselves.
const TOKEN: &str = "sk_test.0123456789abcdef.fedcba9876543210";

/// A shop that tells everybody the credentials that it was called with.
async fn echo() -> String {
    let made: Arc<Mutex<Vec<String>>> = Arc::default();
    let list = Arc::clone(&made);
    let pay = move |headers: HeaderMap| async move {
        let key = headers
            .get("idempotency-key")
            .and_then(|key| key.to_str().ok());
        let key = key.unwrap_or_default().to_owned();
        let mut made = made.lock().expect("nobody panics");
        if !made.contains(&key) {
            made.push(key.clone());
        }
        let sent = headers
            .get("authorization")
            .and_then(|sent| sent.to_str().ok());
        let sent = sent.unwrap_or_default();
        let token = sent.trim_start_matches("Bearer ").to_owned();
        let body = json!({
            "id": format!("pay_{key}"),
            "debug": { "authorization": sent, "list": [token.clone(), 1] },
            token: true,
        });
        ([("x-called-with", sent.to_owned())], Json(body))
    };
    let payments = move || async move {
        let made = list.lock().expect("nobody panics").clone();
        Json(json!({ "data": made, "secret": TOKEN }))
    };
    let router = Router::new().route("/payments", get(payments).post(pay));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_gets_into_a_record() {
    let folder = folder();
    let target = format!(
        r#"target: Shop
base-url: http://{}
key: Idempotency-Key
principals: {{ owner: {{ bearer: "${{secret.SHOP_TOKEN}}" }} }}
operations:
  pay:
    request: {{ method: POST, path: /payments, json: {{ reference: "${{marker}}" }} }}
    identity: $.id
    effects: {{ payments: {{ request: "GET /payments", state: "$" }} }}
settle: 50ms
"#,
        echo().await
    );
    std::fs::write(folder.path().join("target.yaml"), target).expect("it is written");
    let (code, said) = idemspec(
        folder.path(),
        &[
            "run",
            "target.yaml",
            "--no-check",
            "--scenario",
            "replay/exact#plain",
            "--record",
            "record.json",
            "--report",
            "json=run.json",
        ],
    );
    assert!(matches!(code, Some(0 | 1 | 3)), "{said}");
    let record = json_of(folder.path(), "record.json");
    let response = &record["cases"][0]["transcript"]["rounds"][0]["exchanges"][0]["response"];
    let masked = response["json"]["debug"]["list"][0].as_str();
    assert!(
        masked.is_some_and(|word| word.starts_with("‹secret ")),
        "{response}"
    );
    assert_eq!(response["json"], response["stable_json"]);
    assert!(!response["tokens"].as_array().expect("a list").is_empty());
    for text in [
        text(folder.path(), "record.json"),
        text(folder.path(), "run.json"),
        said,
    ] {
        for part in TOKEN.split('.').skip(1).chain([TOKEN]) {
            let place = text.find(part);
            let around =
                place.map(|place| text[..place].chars().rev().take(80).collect::<String>());
            assert_eq!(
                around.map(|text| text.chars().rev().collect::<String>()),
                None
            );
        }
    }
}

#[test]
fn a_clients_record_has_the_same_report_as_its_run_and_is_as_the_schema_says() {
    let folder = folder();
    let folder = folder.path();
    let run = ["client", "--habit", "no-key", "-q"];
    let wanted = [
        "--scenario",
        "client/lost#closed",
        "--scenario",
        "client/retry-after#date",
    ];
    let kept = ["--record", "record.json", "--report", "json=run.json"];
    let page = ["--report", "html=run.html"];
    let (code, said) = idemspec(folder, &[&run[..], &wanted, &kept, &page].concat());
    assert_eq!(code, Some(1), "{said}");
    let page = text(folder, "run.html");
    for shown in [
        "lost: 2 attempts",
        "connection closed after the work was done",
        "asked: 2 attempts",
        "answered 503 with Retry-After 3s as a date",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let again = ["report", "record.json", "-q", "--report", "json=again.json"];
    assert_eq!(idemspec(folder, &again), (Some(1), said));
    assert!(text(folder, "run.json") == text(folder, "again.json"));

    let schema = include_str!("../docs/report.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let mut report = json_of(folder, "run.json");
    let problems = validator.iter_errors(&report);
    let problems: Vec<String> = problems.map(|problem| problem.to_string()).collect();
    assert_eq!(problems, [] as [String; 0]);
    let attempts = &mut report["scenarios"][0]["client"]["rounds"][0]["attempts"];
    assert!(attempts.as_array().is_some_and(|all| all.len() == 2));
    attempts[0]["fault"] = "forgotten".into();
    assert!(
        !validator.is_valid(&report),
        "the schema takes no other fault"
    );

    let demanding = "extends: demo\nkey: { required: required }\n";
    std::fs::write(folder.join("demanding.yaml"), demanding).expect("it is written");
    let other = ["--contract", "demanding.yaml"];
    idemspec(folder, &[&again[..], &other].concat());
    let (run, other) = (
        failed(&json_of(folder, "run.json")),
        failed(&json_of(folder, "again.json")),
    );
    let sent = "create-payment/client/lost#closed/item-1/key-sent".to_owned();
    assert!(!run.contains(&sent) && other.contains(&sent), "{other:?}");
}

#[test]
fn joined_runs_are_shown_again_by_the_command_of_the_run_that_a_finding_is_of() {
    let folder = folder();
    let folder = folder.path();
    let run = |seed: &str, flaw: Option<&str>, more: &[&str]| {
        let case = [
            "--scenario",
            "replay/exact#plain",
            "--operation",
            "create-payment",
        ];
        let always = ["demo", "--no-check", "-q", "--record", seed, "--seed", seed];
        let flaw = flaw.map_or(vec![], |flaw| vec!["--flaw", flaw]);
        idemspec(folder, &[&always[..], &flaw, &case, more].concat())
    };
    // Beside it, what has events and counts of the API's own: the schema knows those too.
    let other = [
        "payload/changed#value",
        "run/signals",
        "webhook/silent-replay",
    ]
    .map(|id| ["--scenario", id])
    .concat();
    run("1", None, &[]);
    run("2", Some("drops-location"), &[]);
    run("3", Some("stores-no-fingerprint"), &other);
    let (code, said) = idemspec(
        folder,
        &[
            "report",
            "--merge",
            "1",
            "2",
            "3",
            "--report",
            "json=all.json",
            "--bundle",
            "all.zip",
        ],
    );
    assert_eq!(code, Some(1), "{said}");
    let again: Vec<&str> = said
        .lines()
        .filter_map(|line| {
            line.split_once("see it again:")
                .map(|(_, command)| command.trim())
        })
        .collect();
    assert_eq!(
        again,
        [
            "idemspec demo --flaw drops-location --scenario 'replay/exact#plain' --operation create-payment --seed 2",
            "idemspec demo --flaw stores-no-fingerprint --scenario 'payload/changed#value' --operation create-payment --seed 3",
        ]
    );
    let report = json_of(folder, "all.json");
    let cases = report["scenarios"].as_array().expect("a list");
    let plain = cases.iter().find(|case| case["case"] == "plain");
    let runs = plain.expect("it ran")["runs"].as_array().expect("a list");
    let seeds: Vec<_> = runs.iter().map(|run| run["seed"].as_u64()).collect();
    assert_eq!(seeds, [Some(1), Some(2), Some(3)]);
    let schema = include_str!("../docs/report.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let problems: Vec<String> = validator
        .iter_errors(&report)
        .map(|problem| format!("{}: {problem}", problem.instance_path()))
        .collect();
    assert_eq!(problems, [] as [String; 0]);
    for what in ["signals", "deliveries"] {
        let has = |case: &Value| !case["rounds"][0][what].is_null();
        assert!(cases.iter().any(has), "no case has {what}");
    }
}

#[test]
fn both_sides_have_one_report_and_each_point_is_graded_on_its_own_side() {
    let folder = folder();
    let folder = folder.path();
    let target = include_str!("../src/cli/demo-target.yaml");
    std::fs::write(folder.join("target.yaml"), target).expect("it is written");
    let server = ["demo", "--no-check", "-q", "--record", "server.json"];
    let wanted = [
        "--scenario",
        "replay/exact",
        "--operation",
        "create-payment",
    ];
    let (code, said) = idemspec(folder, &[&server[..], &wanted].concat());
    assert_eq!(code, Some(0), "{said}");
    let client = |habit: &str| {
        let audit = ["client", "--target", "target.yaml", "-q", "--record"];
        let wanted = ["client.json", "--scenario", "client/lost#closed"];
        let more = ["--scenario", "client/intents", "--"];
        let command = [env!("CARGO_BIN_EXE_idemspec"), "demo-client", habit];
        idemspec(folder, &[&audit[..], &wanted, &more, &command].concat())
    };
    let joined = || {
        let records = ["server.json", "client.json"];
        let merge = ["report", "--merge", "-q", "--report", "json=both.json"];
        let (code, said) = idemspec(folder, &[&merge[..], &records].concat());
        (code, said, json_of(folder, "both.json"))
    };
    let grade = |report: &Value, item: usize| report["checklist"][item - 1]["grade"].clone();

    assert_eq!(client("correct").0, Some(0));
    let (code, said, both) = joined();
    assert_eq!(code, Some(0), "{said}");
    let target = "Demo payments API and a client of it";
    assert_eq!(both["about"]["target"], target);
    let grades = [1, 5].map(|item| grade(&both, item));
    assert_eq!(grades, ["met", "met"], "{said}");

    assert_eq!(client("new-key-per-attempt").0, Some(1));
    let (code, said, both) = joined();
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(grade(&both, 1), "broken", "{said}");
    assert_eq!(grade(&both, 5), "met", "{said}");
    let found = failed(&both);
    assert_eq!(found, ["create-payment/client/lost#closed/item-1/same-key"]);

    let other = [
        "client",
        "--habit",
        "correct",
        "-q",
        "--record",
        "client.json",
    ];
    idemspec(
        folder,
        &[&other[..], &["--scenario", "client/intents"]].concat(),
    );
    let merge = ["report", "--merge", "server.json", "client.json"];
    let (code, said) = idemspec(folder, &merge);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("two targets"), "{said}");
}
