//! Requests that ask whether their body may come (RFC 9110, section 10.1.1).

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::runner::wire::tests::http2::start;
use crate::runner::wire::tests::peer::{SOON, Server};
use crate::runner::wire::tests::*;
use crate::runner::wire::*;

/// A cut before the body: when the target says 100, or where it does not, soon.
fn cut_before_body(close: Close, says: bool) -> Fault {
    Fault::AwaitContinue {
        at_most: if says {
            SOON
        } else {
            Duration::from_millis(40)
        },
        close: Some(close),
    }
}

fn was_cut_before_its_body(done: Done, says: bool) {
    assert_eq!(
        (done.ending, done.delivery, done.times.sent),
        (Ending::HungUp, Delivery::Partial, None)
    );
    let report = done.fault.unwrap();
    assert!(report.fired, "{report:?}");
    assert_eq!(report.says.contains("had said 100 Continue"), says);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_body_waits_for_100_continue_and_then_comes() {
    for scheme in BOTH {
        let server = Server::start(scheme).await;
        let (connection, mut peer) = server.pair().await;
        let fault = Fault::AwaitContinue {
            at_most: SOON,
            close: None,
        };
        let flight = connection.prepare(asking("hello"), with(fault)).await;
        let head = peer.read_until("\r\n\r\n").await;
        assert!(head.contains("Expect: 100-continue\r\n"), "{head}");
        assert!(peer.is_silent().await, "{scheme:?}");
        assert_eq!(flight.sent_at(), None);
        // Another informational answer is none to go on by.
        peer.write("HTTP/1.1 102 Processing\r\n\r\n").await;
        assert!(peer.is_silent().await, "{scheme:?}");
        peer.write("HTTP/1.1 100 Continue\r\n\r\n").await;
        assert_eq!(peer.read(5).await, "hello");
        peer.write(OK).await;
        let done = flight.done().await;
        assert_eq!(done.ending, Ending::Answered);
        assert!(done.times.sent < done.times.first_byte);
        let report = done.fault.unwrap();
        assert!(report.fired && report.says.ends_with("had said 100 Continue"));
        assert!(done.connection.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_body_that_nobody_asks_for_comes_after_its_time() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let at_most = Duration::from_millis(40);
    let fault = Fault::AwaitContinue {
        at_most,
        close: None,
    };
    let flight = connection.prepare(asking("hello"), with(fault)).await;
    peer.read_until("\r\n\r\nhello").await;
    peer.write(OK).await;
    let done = flight.done().await;
    assert!(done.times.sent.unwrap() >= done.times.released.unwrap() + at_most);
    let report = done.fault.unwrap();
    assert!(report.fired && report.says.ends_with("40ms without a 100 Continue"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_may_be_cut_before_its_body_and_after_100_continue() {
    for says in [true, false] {
        for (close, end) in CLOSES {
            let server = Server::start(Scheme::Http).await;
            let (connection, mut peer) = server.pair().await;
            let fault = cut_before_body(close, says);
            let flight = connection.prepare(asking("hello"), with(fault)).await;
            peer.read_until("\r\n\r\n").await;
            if says {
                peer.write("HTTP/1.1 100 Continue\r\n\r\n").await;
            }
            assert_eq!(peer.end().await, (String::new(), end), "{says}");
            was_cut_before_its_body(flight.done().await, says);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_to_the_headers_alone_spares_the_body() {
    for close in [None, Some(Close::Fin)] {
        let server = Server::start(Scheme::Http).await;
        let (connection, mut peer) = server.pair().await;
        let fault = Fault::AwaitContinue {
            at_most: SOON,
            close,
        };
        let flight = connection.prepare(asking("hello"), with(fault)).await;
        peer.read_until("\r\n\r\n").await;
        peer.write("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
            .await;
        let done = flight.done().await;
        assert_eq!(fired(&done), close.is_none());
        assert_eq!(done.response.unwrap().status, 417);
        assert_eq!((done.ending, done.times.sent), (Ending::Answered, None));
        assert!(done.connection.is_none(), "the body is still owed");
    }
}

/// The other end of an HTTP/2 connection, which may say more than hyper's server does.
struct Streams {
    calls: mpsc::UnboundedReceiver<Call>,
}

type Call = (
    http::Request<h2::RecvStream>,
    h2::server::SendResponse<Bytes>,
);

impl Streams {
    async fn pair(server: &Server) -> (Connection, Streams) {
        let (told, calls) = mpsc::unbounded_channel();
        let serve = async {
            let io = server.accept().await.into_io();
            let mut carrier = h2::server::handshake(io).await.unwrap();
            tokio::spawn(async move {
                while let Some(Ok(call)) = carrier.accept().await {
                    told.send(call).unwrap();
                }
            });
            Streams { calls }
        };
        let (connection, streams) =
            tokio::join!(server.wire.connect(&server.endpoint, SOON), serve);
        (connection.unwrap(), streams)
    }

    async fn call(&mut self) -> (h2::RecvStream, h2::server::SendResponse<Bytes>) {
        let call = tokio::time::timeout(SOON, self.calls.recv()).await;
        let (request, respond) = call.unwrap().unwrap();
        assert_eq!(request.headers()["expect"], "100-continue");
        (request.into_body(), respond)
    }
}

fn interim(status: u16) -> http::Response<()> {
    http::Response::builder().status(status).body(()).unwrap()
}

/// Whether nothing comes for a while.
async fn is_silent(body: &mut h2::RecvStream) -> bool {
    let soon = Duration::from_millis(50);
    tokio::time::timeout(soon, body.data()).await.is_err()
}

/// All that comes, or `None` if the stream does not end well.
async fn whole(mut body: h2::RecvStream) -> Option<Vec<u8>> {
    let mut got = Vec::new();
    let all = async {
        while let Some(data) = body.data().await {
            got.extend_from_slice(&data.ok()?);
        }
        Some(())
    };
    tokio::time::timeout(SOON, all).await.unwrap()?;
    Some(got)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_body_waits_for_100_continue_over_http2_and_then_comes() {
    for scheme in BOTH {
        let server = start(scheme).await;
        let (connection, mut streams) = Streams::pair(&server).await;
        let fault = Fault::AwaitContinue {
            at_most: SOON,
            close: None,
        };
        let flight = connection.prepare(asking("hello"), with(fault)).await;
        let (mut body, mut respond) = streams.call().await;
        assert!(is_silent(&mut body).await, "{scheme:?}");
        assert_eq!(flight.sent_at(), None);
        // Another informational answer is none to go on by.
        respond.send_informational(interim(103)).unwrap();
        assert!(is_silent(&mut body).await, "{scheme:?}");
        respond.send_informational(interim(100)).unwrap();
        assert_eq!(whole(body).await.as_deref(), Some(&b"hello"[..]));
        respond.send_response(interim(201), true).unwrap();
        let done = flight.done().await;
        assert_eq!(done.ending, Ending::Answered);
        assert_eq!(done.response.unwrap().status, 201);
        assert!(done.times.sent.unwrap() < done.times.first_byte.unwrap());
        let report = done.fault.unwrap();
        assert!(report.fired && report.says.ends_with("had said 100 Continue"));
        assert!(done.connection.is_none(), "its table is not known");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_body_that_nobody_asks_for_comes_after_its_time_over_http2() {
    let server = start(Scheme::Http).await;
    let (connection, mut streams) = Streams::pair(&server).await;
    let at_most = Duration::from_millis(40);
    let fault = Fault::AwaitContinue {
        at_most,
        close: None,
    };
    let flight = connection.prepare(asking("hello"), with(fault)).await;
    let (body, mut respond) = streams.call().await;
    assert_eq!(whole(body).await.as_deref(), Some(&b"hello"[..]));
    respond.send_response(interim(200), true).unwrap();
    let done = flight.done().await;
    assert!(done.times.sent.unwrap() >= done.times.released.unwrap() + at_most);
    let report = done.fault.unwrap();
    assert!(report.fired && report.says.ends_with("40ms without a 100 Continue"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stream_may_be_cut_before_its_body_and_after_100_continue() {
    for says in [true, false] {
        for close in [Close::Fin, Close::Rst, Close::RstStream] {
            let server = start(Scheme::Http).await;
            let (connection, mut streams) = Streams::pair(&server).await;
            let fault = cut_before_body(close, says);
            let flight = connection.prepare(asking("hello"), with(fault)).await;
            let (body, mut respond) = streams.call().await;
            if says {
                respond.send_informational(interim(100)).unwrap();
            }
            assert_eq!(whole(body).await, None, "{close:?}");
            was_cut_before_its_body(flight.done().await, says);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_to_the_headers_alone_spares_the_body_over_http2() {
    let server = start(Scheme::Http).await;
    let (connection, mut streams) = Streams::pair(&server).await;
    let fault = Fault::AwaitContinue {
        at_most: SOON,
        close: None,
    };
    let flight = connection.prepare(asking("hello"), with(fault)).await;
    let (_body, mut respond) = streams.call().await;
    respond.send_response(interim(417), true).unwrap();
    let done = flight.done().await;
    assert!(fired(&done));
    assert_eq!(done.response.unwrap().status, 417);
    assert_eq!((done.ending, done.times.sent), (Ending::Answered, None));
    assert!(done.connection.is_none(), "the body is still owed");
}
