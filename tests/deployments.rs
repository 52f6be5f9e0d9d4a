//! Codes of `deployments/codes.tsv` that none of the deployments has, tried on an API that has them.

use assert_cmd::Command;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is wrong with the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// One request makes two payments.
    PaysTwice,
    /// Every second answer to a reader knows nothing of the payments.
    Wavers,
}

/// The API.
struct Api {
    wrong: Wrong,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    /// The reference of each payment.
    payments: Vec<String>,
    /// The payment of each key.
    keys: HashMap<String, usize>,
    reads: HashMap<String, usize>,
}

async fn handle(
    State(api): State<Arc<Api>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut book = api.book.lock().expect("the book");
    if method == Method::GET {
        let wanted = uri.query().unwrap_or_default();
        let wanted = wanted.trim_start_matches("reference=").to_owned();
        let numbers = book.payments.iter().enumerate();
        let own = numbers.filter(|(_, name)| **name == wanted);
        let data: Vec<Value> = own.map(|(number, _)| payment(number)).collect();
        let reads = book.reads.entry(wanted).or_default();
        *reads += usize::from(!data.is_empty());
        return match api.wrong == Wrong::Wavers && *reads % 2 == 0 {
            true => answer(200, &json!({ "data": [] })),
            false => answer(200, &json!({ "data": data })),
        };
    }
    let Some(key) = headers
        .get("idempotency-key")
        .and_then(|key| key.to_str().ok())
    else {
        return answer(400, &json!({ "error": "no key" }));
    };
    if let Some(number) = book.keys.get(key) {
        return answer(201, &payment(*number));
    }
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = sent["reference"].as_str().unwrap_or_default().to_owned();
    let number = book.payments.len();
    book.keys.insert(key.to_owned(), number);
    if api.wrong == Wrong::PaysTwice {
        book.payments.push(name.clone());
    }
    book.payments.push(name);
    answer(201, &payment(number))
}

fn payment(number: usize) -> Value {
    json!({ "id": format!("pay_{number}") })
}

fn answer(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("an answer")
}

/// The case that decides a code, and what the report's head says if it is found.
fn rule(code: &str) -> (String, Regex) {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deployments/codes.tsv");
    let table = std::fs::read_to_string(table).expect("the table");
    let row = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .find(|row| row[0] == code)
        .unwrap_or_else(|| panic!("no code {code}"));
    let pattern = row[2].strip_prefix("headline /").expect("a headline");
    let pattern = pattern.strip_suffix('/').expect("a headline");
    (row[1].to_owned(), Regex::new(pattern).expect("a pattern"))
}

/// The head of the report of a run of one case.
fn headlines(wrong: Wrong, case: &str) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let api = Arc::new(Api {
        wrong,
        book: Mutex::default(),
    });
    let router = Router::new().fallback(handle).with_state(api);
    runtime.spawn(async move { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!(
        r#"
target: Payments
base-url: http://{address}
key: Idempotency-Key
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, reference: "${{marker}}" }} }}
    identity: $.id
    effects:
      payments: {{ request: "GET /payments?reference=${{marker}}", ids: "$.data[*].id" }}
settle: 200ms
"#
    );
    let file = folder.path().join("target.yaml");
    std::fs::write(&file, target).expect("written");
    let mut command = Command::cargo_bin("idemspec").expect("built");
    command.current_dir(folder.path()).arg("run").arg(&file);
    command.args([
        "--no-check",
        "--scenario",
        case,
        "--report",
        "json=run.json",
    ]);
    command.timeout(Duration::from_secs(60));
    let output = command.output().expect("it runs");
    let report = std::fs::read_to_string(folder.path().join("run.json"));
    let said = String::from_utf8_lossy(&output.stderr);
    let report = report.unwrap_or_else(|_| panic!("no report: {said}"));
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let headlines = report["headlines"].as_array().expect("headlines");
    let texts = headlines.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn is_found_where_it_is(code: &str, wrong: Wrong) {
    let (case, says) = rule(code);
    let found = headlines(wrong, &case);
    assert!(
        found.iter().any(|headline| says.is_match(headline)),
        "{code}: {found:#?}"
    );
    let control = headlines(Wrong::Nothing, &case);
    assert!(
        !control.iter().any(|headline| says.is_match(headline)),
        "{code}, though nothing is wrong: {control:#?}"
    );
}

#[test]
fn one_request_with_two_effects_is_told() {
    is_found_where_it_is("Q", Wrong::PaysTwice);
}

#[test]
fn a_count_that_contradicts_itself_is_told() {
    is_found_where_it_is("F", Wrong::Wavers);
}
