//! What is let through is the same on both sides, byte for byte, and what is not is cut where the
//! scenario says.

mod http2;

use super::answer::Answers;
use super::book::Book;
use super::clock::Clock;
use super::connection::House;
use super::door::Door;
use super::subject::Subject;
use super::tls::Authority;
use super::upstream::Upstream;
use crate::contract;
use crate::scenario::Close;
use crate::scenario::client::{ClientFault, CommandRun, DropAt, Says, Then};
use crate::target::parse::{Environment, Options, load};
use crate::transcript::client::Attempt;
use crate::yaml::Source;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TARGET: &str = "target: T\nbase-url: http://127.0.0.1:1\nkey: Idempotency-Key\noperations:\n  pay: { request: { method: POST, path: /pay, json: {} } }\n";

struct Nowhere;

impl Environment for Nowhere {
    fn var(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &Path, _: &str) -> Result<Source, String> {
        Err("there is none".to_owned())
    }
}

/// An API that takes one connection at a time, and the door before it.
struct Stage {
    api: TcpListener,
    book: Arc<Book>,
    authority: Arc<Authority>,
    door: Door,
}

async fn stage(faults: &[ClientFault]) -> Stage {
    let source = Source {
        name: "t.yaml".to_owned(),
        text: TARGET.to_owned(),
    };
    let loaded = load(Arc::new(source), &Options::default(), &Nowhere);
    let target = loaded.expect("it is a target").target;
    let generic = contract::resolve(None).expect("generic");
    let api = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let url = format!("http://{}", api.local_addr().expect("an address"));
    let run = CommandRun {
        name: "one".to_owned(),
        faults: faults.to_vec(),
        then: Then::Pass,
        killed: false,
        resumes: None,
    };
    let book = Arc::new(Book::new(Clock::start(), run, 40));
    let authority = Arc::new(Authority::new().expect("an authority"));
    let house = House {
        book: Arc::clone(&book),
        dealer: None,
        subject: Arc::new(Subject::new(&target, |_| Some(&generic))),
        upstream: Upstream::at(&url, || Err(String::new())).expect("it is a URL"),
        answers: Answers::of(&generic),
        authority: Arc::clone(&authority),
        hold: Duration::from_secs(5),
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let door = Door::open(address, Arc::new(house), false).expect("a door");
    Stage {
        api,
        book,
        authority,
        door,
    }
}

impl Stage {
    async fn client(&self) -> TcpStream {
        TcpStream::connect(self.door.address)
            .await
            .expect("the door is open")
    }

    async fn api(&self) -> TcpStream {
        self.api.accept().await.expect("it is let through").0
    }

    /// A request with our address in it, and as the API must get it.
    fn request(&self, rest: &str) -> (String, String) {
        let api = self.api.local_addr().expect("an address");
        let with =
            |host: SocketAddr| format!("POST /pay?a=b%20c HTTP/1.1\r\nhOST: {host}\r\n{rest}");
        (with(self.door.address), with(api))
    }

    async fn attempts(&self, number: usize) -> Vec<Attempt> {
        loop {
            let attempts = self.book.attempts();
            let read = attempts
                .iter()
                .filter(|attempt| attempt.ended > attempt.began);
            if read.count() >= number {
                return attempts;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Reads exactly as many bytes as are expected, and compares them.
async fn expect(from: &mut TcpStream, bytes: &[u8]) {
    let mut got = vec![0; bytes.len()];
    from.read_exact(&mut got).await.expect("they come");
    assert!(
        got == bytes,
        "{}\nis not\n{}",
        String::from_utf8_lossy(&got[..got.len().min(400)]),
        String::from_utf8_lossy(&bytes[..bytes.len().min(400)])
    );
}

#[tokio::test]
async fn headers_chunks_and_trailers_pass_unchanged_both_ways() {
    let stage = stage(&[]).await;
    let mut client = stage.client().await;
    let (sent, wanted) = stage.request(
        "X-odd:  a \r\nx-Odd: b\r\nIdempotency-Key: k-1\r\nTransfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n4;ext=\"1\"\r\nabcd\r\n00003\r\nefg\r\n0\r\nDigest: x\r\n\r\n",
    );
    let answer = b"HTTP/1.1 201 Very Created\r\nset-COOKIE: a\r\nSet-Cookie: b\r\nTransfer-Encoding: chunked\r\n\r\n2;q=1\r\nhi\r\n0\r\nServer-Timing: t\r\n\r\n";
    client.write_all(sent.as_bytes()).await.expect("sent");
    let mut api = stage.api().await;
    expect(&mut api, wanted.as_bytes()).await;
    api.write_all(answer).await.expect("answered");
    expect(&mut client, answer).await;
    // The same connections serve the next request.
    client.write_all(sent.as_bytes()).await.expect("sent");
    expect(&mut api, wanted.as_bytes()).await;
    api.write_all(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
        .await
        .expect("answered");
    expect(
        &mut client,
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    )
    .await;
    let attempts = stage.attempts(2).await;
    assert_eq!(attempts[0].key(), Some("k-1"));
    assert_eq!(attempts[0].status, Some(201));
    assert!(attempts[1].reused);
    let body = |attempt: &Attempt| attempt.request.clone().map(|request| request.body);
    assert_eq!(body(&attempts[0]).as_deref(), Some("abcdefg"));
}

#[tokio::test]
async fn a_large_body_and_a_stream_pass_as_they_come() {
    let stage = stage(&[]).await;
    let mut client = stage.client().await;
    let large: Vec<u8> = (0..6_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let (head, wanted) = stage.request(&format!("Content-Length: {}\r\n\r\n", large.len()));
    let sending = large.clone();
    let writer = tokio::spawn(async move {
        client.write_all(head.as_bytes()).await.expect("sent");
        client.write_all(&sending).await.expect("sent");
        client
    });
    let mut api = stage.api().await;
    expect(&mut api, wanted.as_bytes()).await;
    expect(&mut api, &large).await;
    let mut client = writer.await.expect("it ends");
    // Each part of a stream arrives before the next one is written.
    for part in [&b"HTTP/1.1 200 OK\r\n\r\n"[..], b"one", b"two"] {
        api.write_all(part).await.expect("answered");
        expect(&mut client, part).await;
    }
    drop(api);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.expect("an end");
    assert!(rest.is_empty());
}

#[tokio::test]
async fn an_answer_that_is_dropped_is_dropped_after_the_work_and_before_its_first_byte() {
    let fault = ClientFault::Drop {
        at: DropAt::Processed,
        close: Close::Fin,
    };
    let stage = stage(&[fault]).await;
    let mut client = stage.client().await;
    let (sent, wanted) = stage.request("Content-Length: 2\r\n\r\n{}");
    client.write_all(sent.as_bytes()).await.expect("sent");
    let mut api = stage.api().await;
    expect(&mut api, wanted.as_bytes()).await;
    api.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx")
        .await
        .expect("answered");
    let mut got = Vec::new();
    client.read_to_end(&mut got).await.expect("closed in order");
    assert!(got.is_empty());
    let attempts = stage.attempts(1).await;
    assert_eq!((attempts[0].fault, attempts[0].status), (fault, None));
}

#[tokio::test]
async fn half_of_an_answer_is_half_of_its_body() {
    let fault = ClientFault::Drop {
        at: DropAt::HalfAnswered,
        close: Close::Fin,
    };
    let stage = stage(&[fault]).await;
    let mut client = stage.client().await;
    let (sent, _) = stage.request("Content-Length: 0\r\n\r\n");
    client.write_all(sent.as_bytes()).await.expect("sent");
    let mut api = stage.api().await;
    let mut some = [0; 64];
    assert!(api.read(&mut some).await.expect("it comes") > 0);
    api.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n0123456789")
        .await
        .expect("answered");
    let mut got = Vec::new();
    client.read_to_end(&mut got).await.expect("closed in order");
    assert_eq!(
        got,
        b"HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n01234"
    );
}

#[tokio::test]
async fn an_answer_of_ours_never_reaches_the_api_and_other_requests_meet_no_fault() {
    let fault = ClientFault::Answer {
        says: Says::Status(503),
        pause: None,
    };
    let stage = stage(&[fault]).await;
    let mut client = stage.client().await;
    let other = "GET /other HTTP/1.1\r\nHost: x\r\n\r\n";
    client.write_all(other.as_bytes()).await.expect("sent");
    let mut api = stage.api().await;
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    api.write_all(answer).await.expect("answered");
    expect(&mut client, answer).await;
    let (sent, _) = stage.request("Content-Length: 0\r\n\r\n");
    client.write_all(sent.as_bytes()).await.expect("sent");
    expect(&mut client, b"HTTP/1.1 503 Service Unavailable\r\n").await;
    let attempts = stage.attempts(1).await;
    assert_eq!(attempts[0].operation, None);
    assert_eq!(attempts[0].fault, ClientFault::Pass);
    assert_eq!(attempts[1].fault, fault);
}

#[tokio::test]
async fn a_connection_is_reset_before_its_request_is_read() {
    let fault = ClientFault::Drop {
        at: DropAt::Unread,
        close: Close::Rst,
    };
    let stage = stage(&[fault]).await;
    let mut client = stage.client().await;
    let (sent, _) = stage.request("Content-Length: 0\r\n\r\n");
    client.write_all(sent.as_bytes()).await.expect("sent");
    let mut got = Vec::new();
    let ended = client.read_to_end(&mut got).await;
    assert!(ended.is_err() && got.is_empty(), "{ended:?}");
    let attempts = stage.book.attempts();
    assert_eq!((attempts[0].fault, &attempts[0].request), (fault, &None));
}
