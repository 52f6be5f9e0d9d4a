//! An API that speaks XML, in which what is wanted is told by where it stands.

use assert_cmd::Command;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// For each payment its key, its reference and its number.
type Payments = Arc<Mutex<Vec<(String, String)>>>;

/// A payment, whose second id alone is its own: the first is that of the account.
fn payment(number: usize) -> String {
    format!("<payment><id>account-1</id><id>pay_{number}</id></payment>")
}

async fn handle(
    State(payments): State<Payments>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut payments = payments.lock().expect("the payments");
    if method == Method::GET {
        let wanted = uri
            .query()
            .and_then(|query| query.strip_prefix("reference="));
        let own = payments.iter().enumerate();
        let own = own.filter(|(_, (_, name))| Some(name.as_str()) == wanted);
        let all: String = own.map(|(number, _)| payment(number)).collect();
        return answer(200, format!("<payments>{all}</payments>"));
    }
    let key = headers
        .get("idempotency-key")
        .and_then(|key| key.to_str().ok());
    let Some(key) = key else {
        return answer(400, "<error/>".to_owned());
    };
    let known = payments.iter().position(|(own, _)| own == key);
    let number = known.unwrap_or_else(|| {
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        let name = sent["reference"].as_str().unwrap_or_default();
        payments.push((key.to_owned(), name.to_owned()));
        payments.len() - 1
    });
    answer(201, payment(number))
}

fn answer(status: u16, body: String) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/xml")
        .body(Body::from(body))
        .expect("an answer")
}

fn run(identity: &str) -> (Option<i32>, String) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let router = Router::new().fallback(handle);
    let router = router.with_state(Payments::default());
    runtime.spawn(async move { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("target.yaml");
    let target = format!(
        r#"
target: An API that speaks XML
base-url: http://{address}
key: Idempotency-Key
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, reference: "${{marker}}" }} }}
    identity: "{identity}"
    effects:
      payments: {{ request: "GET /payments?reference=${{marker}}", ids: "//payment/id[2]" }}
settle: 100ms
"#
    );
    std::fs::write(&file, target).expect("written");
    let mut command = Command::cargo_bin("idemspec").expect("built");
    command.current_dir(folder.path()).arg("run").arg(&file);
    for scenario in ["replay/exact#plain", "scope/fresh-key"] {
        command.args(["--scenario", scenario]);
    }
    let output = command.output().expect("it runs");
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.code(), said)
}

#[test]
fn an_element_is_told_by_its_number() {
    let (code, said) = run("/payment/id[2]");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run("/payment/id[1]");
    assert_ne!(code, Some(0), "all have the account's id: {said}");
}
