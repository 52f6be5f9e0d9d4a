//! The surface of the API apart from keys.

use super::*;

#[tokio::test]
async fn payments_can_be_made_read_listed_and_deleted_with_their_receipts() {
    let subject = Subject::correct().await;
    let body = json!({
        "amount": i64::MAX, "currency": "USD", "reference": "r", "memo": "m",
        "card": {"brand": "visa"}, "id": "mine",
    });
    let made = subject.send(&Send::payment("k", "r").json(&body)).await;
    let payment = made.json();
    assert_eq!(payment["amount"], i64::MAX);
    assert_eq!(payment["card"], json!({"brand": "visa"}));
    assert_ne!(payment["id"], "mine");
    assert_eq!(
        subject.get("/payments?reference=r").await.json(),
        json!({"data": [payment]})
    );
    let path = format!("/payments/{}", made.id());
    assert_eq!(
        subject.send(&Send::new(Method::DELETE, &path)).await.status,
        204
    );
    assert_eq!(
        subject.send(&Send::new(Method::DELETE, &path)).await.status,
        404
    );
    assert_eq!(subject.get(&path).await.status, 404);
    assert_eq!(
        (subject.payments("r").await, subject.receipts("r").await),
        (0, 0)
    );
}

#[tokio::test]
async fn each_wrong_request_gets_its_own_refusal() {
    let subject = Subject::correct().await;
    let good = Send::payment("k", "r");
    let huge = format!(
        r#"{{"amount":1,"reference":"{}"}}"#,
        "x".repeat(1024 * 1024)
    );
    let cases = [
        ("unauthorized", good.clone().token("nobody")),
        (
            "unauthorized",
            Send::new(Method::GET, "/payments").without("authorization"),
        ),
        ("forbidden", good.clone().token("tenant-a-reader")),
        (
            "unsupported-media-type",
            good.clone().without("content-type"),
        ),
        ("malformed", good.clone().raw("{\"amount\":")),
        ("malformed", good.clone().behaviour("dance")),
        ("malformed", Send::new(Method::GET, "/payments?ref=r")),
        ("malformed", Send::new(Method::GET, "/payments?key=a&key=b")),
        (
            "malformed",
            Send {
                path: "/payments?dry=maybe".to_owned(),
                ..good.clone()
            },
        ),
        ("too-large", good.clone().raw(&huge)),
        ("invalid", good.clone().raw("[]")),
        (
            "invalid",
            good.clone()
                .json(&json!({"amount": "2000", "reference": "r"})),
        ),
        ("invalid", good.clone().json(&json!({"amount": 2000}))),
        ("key-missing", good.clone().without("idempotency-key")),
        ("key-missing", good.clone().set("idempotency-key", "")),
        (
            "key-malformed",
            good.clone().add("idempotency-key", "other"),
        ),
        ("not-found", Send::new(Method::GET, "/nothing")),
        ("method-not-allowed", Send::new(Method::PUT, "/payments")),
    ];
    for (problem, send) in cases {
        let reply = subject.send(&send).await;
        assert_eq!(reply.problem(), problem, "{} {}", send.method, send.path);
    }
    assert_eq!(subject.count("/payments").await, 0);
}

#[tokio::test]
async fn a_reader_may_read() {
    let subject = Subject::correct().await;
    subject.send(&Send::payment("k", "r")).await;
    let list = Send::new(Method::GET, "/payments").token("tenant-a-reader");
    let listed = subject.send(&list).await;
    assert_eq!(listed.json()["data"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn both_listeners_say_that_they_are_up() {
    let subject = Subject::correct().await;
    assert_eq!(subject.get("/healthz").await.status, 200);
    let stream = TcpStream::connect(subject.demo.admin)
        .await
        .expect("a connection");
    let health = exchange(stream, &Send::new(Method::GET, "/healthz")).await;
    assert_eq!(health.status, 200);
}

#[tokio::test]
async fn a_taken_port_is_an_error_that_says_what_to_do() {
    let subject = Subject::correct().await;
    let options = Options {
        listen: subject.demo.address,
        ..Options::default()
    };
    let error = start(options).await.expect_err("the port is taken");
    assert!(error.to_string().contains("choose another port"), "{error}");
}

#[tokio::test]
async fn the_admin_listener_stays_on_loopback() {
    let admin = "0.0.0.0:0".parse().expect("an address");
    let error = start(Options {
        admin,
        ..Options::default()
    })
    .await;
    assert!(error.is_err());
}

#[tokio::test]
async fn a_database_file_keeps_effects_and_keys_over_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options {
        database: Some(folder.path().join("demo.sqlite")),
        ..Options::default()
    };
    let send = Send::payment("k", "r");
    let subject = Subject::new(options.clone()).await;
    let first = subject.send(&send).await;
    subject.demo.stop().await;
    let subject = Subject::new(options).await;
    let again = subject.send(&send).await;
    assert!(again.is_replay());
    assert_eq!(again.body, first.body);
}

#[tokio::test]
async fn stopping_answers_what_is_open_and_removes_the_temporary_database() {
    let subject = Subject::slow(None, 100).await;
    let folder = subject.api().store.folder().to_owned();
    assert!(folder.exists());
    let stream = subject.send_and_wait(&Send::payment("k", "r")).await;
    subject.demo.stop().await;
    let mut answer = vec![0; 12];
    let mut stream = stream;
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer)
        .await
        .expect("an answer");
    assert_eq!(answer, b"HTTP/1.1 201");
    assert!(!folder.exists());
}
