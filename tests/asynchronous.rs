//! An API that only begins the work with its answer: the result is asked for, and names what was made.

use assert_cmd::Command;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long the work takes.
const WORK: Duration = Duration::from_millis(150);

/// The jobs: when each began, what it makes, and for whom; and whose key began which.
#[derive(Default)]
struct Jobs {
    begun: Vec<(Instant, String, String)>,
    by_key: HashMap<String, usize>,
    /// A defect: a repeat begins a job of its own, which pays again.
    repeats: bool,
}

type Shared = Arc<Mutex<Jobs>>;

fn answer(status: u16, location: Option<String>, body: &Value) -> Response {
    let answer = Response::builder().status(status);
    let answer = match location {
        Some(location) => answer.header("Location", location),
        None => answer,
    };
    let body = Body::from(body.to_string());
    answer.body(body).expect("an answer")
}

async fn begin(State(jobs): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let mut jobs = jobs.lock().expect("the jobs");
    let key = headers["idempotency-key"].to_str().unwrap_or_default();
    let known = jobs.by_key.get(key).copied().filter(|_| !jobs.repeats);
    let number = known.unwrap_or_else(|| {
        let number = jobs.begun.len();
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        let reference = sent["reference"].as_str().unwrap_or_default().to_owned();
        let id = format!("pay_{number:08}");
        jobs.begun.push((Instant::now(), id, reference));
        jobs.by_key.insert(key.to_owned(), number);
        number
    });
    let at = format!("/jobs/{number}");
    answer(202, Some(at), &json!({ "status": "queued" }))
}

async fn job(State(jobs): State<Shared>, Path(number): Path<usize>) -> Response {
    let jobs = jobs.lock().expect("the jobs");
    let (begun, id, _) = &jobs.begun[number];
    let body = match begun.elapsed() > WORK {
        true => json!({ "status": "done", "payment": id }),
        false => json!({ "status": "queued" }),
    };
    answer(200, None, &body)
}

async fn payments(
    State(jobs): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let jobs = jobs.lock().expect("the jobs");
    let done = jobs.begun.iter();
    let done = done.filter(|(begun, ..)| begun.elapsed() > WORK);
    let own = done.filter(|(_, _, reference)| Some(reference) == query.get("reference"));
    let data: Vec<Value> = own.map(|(_, id, _)| json!({ "id": id })).collect();
    answer(200, None, &json!({ "data": data }))
}

/// The exit code, the report, and what was printed.
fn run(repeats: bool) -> (Option<i32>, Value, String) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let jobs = Jobs {
        repeats,
        ..Jobs::default()
    };
    let router = Router::new()
        .route("/payments", post(begin).get(payments))
        .route("/jobs/{number}", get(job))
        .with_state(Arc::new(Mutex::new(jobs)));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    runtime.spawn(async move { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!(
        r#"
target: An API that takes its time
base-url: http://{address}
key: Idempotency-Key
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, reference: "${{marker}}" }} }}
    result:
      request: GET ${{response:header.Location}}
      until: {{ $.status: [done, failed] }}
      success: {{ $.status: done }}
      identity: $.payment
      every: 20ms
      timeout: 10s
    effects:
      payments: {{ request: "GET /payments?reference=${{marker}}", ids: "$.data[*].id" }}
settle: 400ms
"#
    );
    let file = folder.path().join("target.yaml");
    std::fs::write(&file, target).expect("written");
    let mut command = Command::cargo_bin("idemspec").expect("built");
    command.current_dir(folder.path()).arg("run").arg(&file);
    command.args(["--scenario", "replay/exact#plain"]);
    command.args([
        "--scenario",
        "lost/response#reset",
        "--report",
        "json=run.json",
    ]);
    let output = command.output().expect("it runs");
    let report = std::fs::read(folder.path().join("run.json")).unwrap_or_default();
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    (
        output.status.code(),
        serde_json::from_slice(&report).unwrap_or_default(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn the_result_of_an_accepted_request_names_what_was_made() {
    let (code, report, said) = run(false);
    assert_eq!(code, Some(0), "{said}");
    let cases = report["scenarios"].as_array().expect("cases");
    let answers = cases
        .iter()
        .flat_map(|case| case["rounds"].as_array().into_iter().flatten())
        .flat_map(|round| round["exchanges"].as_array().into_iter().flatten())
        .filter(|exchange| exchange["response"]["status"] == 202);
    let mut named = 0;
    for exchange in answers {
        let identity = exchange["response"]["identity"].as_str();
        assert!(
            identity.is_some_and(|id| id.starts_with("pay_")),
            "{exchange}"
        );
        named += 1;
    }
    assert!(named > 2, "{said}");
}

#[test]
fn a_repeat_with_a_result_of_its_own_is_found() {
    let (code, report, said) = run(true);
    assert_eq!(code, Some(1), "{said}");
    let cases = report["scenarios"].as_array().expect("cases");
    let failed: Vec<&str> = cases
        .iter()
        .flat_map(|case| case["findings"].as_array().into_iter().flatten())
        .filter(|finding| finding["verdict"] == "fail")
        .filter_map(|finding| finding["id"].as_str())
        .collect();
    assert!(failed.contains(&"effects-at-most"), "{failed:?}");
    let names = failed.iter().any(|id| id.starts_with("one-resource"));
    assert!(names, "the results name two payments: {failed:?}");
}
