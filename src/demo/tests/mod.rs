//! Tests of the whole API over loopback.

mod correct;
mod events;
mod flaws;
mod manners;
mod notices;
mod policy;
mod shop;
mod surface;

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::call::Slot;
use super::keyed::Keyed;
use super::{Demo, Flaw, Flaws, Options, start};

/// A demo to be tested.
struct Subject {
    demo: Demo,
}

impl Subject {
    async fn correct() -> Subject {
        Subject::new(Options::default()).await
    }

    async fn with(flaw: Flaw) -> Subject {
        Subject::slow(Some(flaw), 50).await
    }

    /// A demo whose work takes so many milliseconds that something can happen meanwhile.
    async fn slow(flaw: Option<Flaw>, milliseconds: u64) -> Subject {
        Subject::new(Options {
            flaws: flaw.into(),
            work: Duration::from_millis(milliseconds),
            ..Options::default()
        })
        .await
    }

    async fn new(options: Options) -> Subject {
        Subject {
            demo: start(options).await.expect("a demo on free ports"),
        }
    }

    async fn send(&self, send: &Send) -> Reply {
        let stream = TcpStream::connect(self.demo.address)
            .await
            .expect("the demo listens");
        exchange(stream, send).await
    }

    async fn get(&self, path: &str) -> Reply {
        self.send(&Send::new(Method::GET, path)).await
    }

    /// How many entries of the first tenant a list has.
    async fn count(&self, list: &str) -> usize {
        let reply = self.get(list).await;
        assert_eq!(reply.status, 200, "{list}: {}", reply.text());
        reply.json()["data"].as_array().expect("a list").len()
    }

    async fn payments(&self, reference: &str) -> usize {
        self.count(&format!("/payments?reference={reference}"))
            .await
    }

    async fn receipts(&self, reference: &str) -> usize {
        self.count(&format!("/receipts?reference={reference}"))
            .await
    }

    async fn advance(&self, seconds: u64) {
        self.admin(&format!("/clock/advance?seconds={seconds}"))
            .await;
    }

    /// Has the admin listener do something.
    async fn admin(&self, path: &str) {
        let stream = TcpStream::connect(self.demo.admin)
            .await
            .expect("the admin listener listens");
        let reply = exchange(stream, &Send::new(Method::POST, path)).await;
        assert!(reply.status.is_success(), "{path}: {}", reply.text());
    }

    /// Sends a request, hangs up once its key is in flight, and waits until it no longer is.
    async fn hang_up(&self, send: &Send) {
        let stream = self.send_and_wait(send).await;
        drop(stream);
        self.wait_for(send, false).await;
    }

    /// Sends a request and returns its connection once its key is in flight.
    async fn send_and_wait(&self, send: &Send) -> TcpStream {
        let mut stream = TcpStream::connect(self.demo.address)
            .await
            .expect("the demo listens");
        stream
            .write_all(&send.bytes())
            .await
            .expect("the demo reads");
        self.wait_for(send, true).await;
        stream
    }

    /// Waits until the key of a request is in flight, or no longer is.
    async fn wait_for(&self, send: &Send, in_flight: bool) {
        let api = self.api();
        let slot = Slot {
            tenant: "tenant-a".to_owned(),
            operation: format!("{} {}", send.method, send.path),
            key: send.key().expect("a key"),
        };
        let arrived = async {
            while api.in_flight.holder(&slot).is_some() != in_flight {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), arrived)
            .await
            .expect("the key comes into flight, or out of it");
    }

    fn api(&self) -> Arc<Keyed> {
        self.demo.instances[0].upgrade().expect("the demo runs")
    }
}

/// A request.
#[derive(Clone)]
struct Send {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Send {
    fn new(method: Method, path: &str) -> Send {
        Send {
            method,
            path: path.to_owned(),
            headers: vec![("authorization", "Bearer tenant-a".to_owned())],
            body: Vec::new(),
        }
    }

    /// A payment under a key.
    fn payment(key: &str, reference: &str) -> Send {
        Send::new(Method::POST, "/payments")
            .set("idempotency-key", key)
            .json(&json!({"amount": 2000, "currency": "EUR", "reference": reference}))
    }

    /// A refund under a key.
    fn refund(key: &str, reference: &str) -> Send {
        Send::new(Method::POST, "/refunds")
            .set("idempotency-key", key)
            .json(&json!({"payment_id": "pay_1", "amount": 500, "reference": reference}))
    }

    fn set(mut self, name: &'static str, value: &str) -> Send {
        self.headers.retain(|(other, _)| *other != name);
        self.add(name, value)
    }

    fn add(mut self, name: &'static str, value: &str) -> Send {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn without(mut self, name: &'static str) -> Send {
        self.headers.retain(|(other, _)| *other != name);
        self
    }

    fn token(self, token: &str) -> Send {
        self.set("authorization", &format!("Bearer {token}"))
    }

    fn behaviour(self, behaviour: &str) -> Send {
        self.set("demo-behaviour", behaviour)
    }

    fn slow(self) -> Send {
        self.set("demo-pace", "slow")
    }

    fn json(self, body: &Value) -> Send {
        self.raw(&body.to_string())
    }

    fn raw(mut self, body: &str) -> Send {
        self.body = body.as_bytes().to_vec();
        self.set("content-type", "application/json")
    }

    fn key(&self) -> Option<String> {
        let key = self
            .headers
            .iter()
            .find(|(name, _)| *name == "idempotency-key");
        key.map(|(_, value)| value.clone())
    }

    /// The request as it goes over an HTTP/1.1 connection.
    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: demo\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend(&self.body);
        bytes
    }
}

/// A response.
#[derive(Clone, Debug)]
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    fn id(&self) -> String {
        self.json()["id"].as_str().expect("an id").to_owned()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("text"))
    }

    fn is_replay(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }

    /// The problem, if the answer is one.
    fn problem_or_none(&self) -> Option<String> {
        let is_problem = self.header("content-type") == Some("application/problem+json");
        is_problem.then(|| self.problem())
    }

    fn problem(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{}",
            self.text()
        );
        let body = self.json();
        assert_eq!(body["status"], self.status.as_u16());
        let kind = body["type"].as_str().expect("a type");
        kind.trim_start_matches("/problems/").to_owned()
    }
}

async fn exchange(stream: TcpStream, send: &Send) -> Reply {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .expect("a connection");
    let driver = tokio::spawn(connection);
    let mut request = Request::builder()
        .method(send.method.clone())
        .uri(&send.path)
        .header("host", "demo");
    for (name, value) in &send.headers {
        request = request.header(*name, value);
    }
    let request = request
        .body(Full::new(Bytes::from(send.body.clone())))
        .expect("a request");
    let response = sender.send_request(request).await.expect("a response");
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    driver.abort();
    Reply {
        status: head.status,
        headers: head.headers,
        body,
    }
}
