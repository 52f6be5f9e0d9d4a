use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::stream;
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::runner::wire::tests::peer::{End, SOON, Server};
use crate::runner::wire::tests::*;
use crate::runner::wire::*;

pub(super) type Body = BoxBody<Bytes, Infallible>;

/// A request that reached the handler, which answers when the test says so.
pub(super) struct Call {
    pub(super) head: http::request::Parts,
    pub(super) body: Incoming,
    pub(super) reply: oneshot::Sender<http::Response<Body>>,
}

/// An HTTP/2 server whose handler is the test.
pub(super) struct Handler {
    pub(super) calls: mpsc::UnboundedReceiver<Call>,
    carrier: JoinHandle<Result<(), hyper::Error>>,
}

impl Handler {
    pub(super) async fn call(&mut self) -> Call {
        tokio::time::timeout(SOON, self.calls.recv())
            .await
            .unwrap()
            .unwrap()
    }

    /// Ends the connection, whatever is under way.
    pub(super) fn stop(self) {
        self.carrier.abort();
    }

    /// How the connection ended. Nobody may have called since the last call.
    async fn end(mut self) -> End {
        let result = tokio::time::timeout(SOON, self.carrier)
            .await
            .unwrap()
            .unwrap();
        assert!(self.calls.recv().await.is_none(), "the handler ran");
        let Err(error) = result else { return End::Fin };
        match io_kind(&error) {
            Some(io::ErrorKind::ConnectionReset) => End::Rst,
            _ => End::Fin,
        }
    }
}

fn io_kind(error: &hyper::Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

impl Call {
    async fn whole_body(self) -> (Bytes, oneshot::Sender<http::Response<Body>>) {
        let body = tokio::time::timeout(SOON, self.body.collect())
            .await
            .unwrap();
        (body.unwrap().to_bytes(), self.reply)
    }

    /// Takes the whole body and answers it.
    pub(super) async fn answer(self, body: &'static str) {
        let (_, reply) = self.whole_body().await;
        let body = Full::new(Bytes::from(body)).boxed();
        reply.send(http::Response::new(body)).unwrap();
    }
}

pub(super) async fn start(scheme: Scheme) -> Server {
    let version = match scheme {
        Scheme::Http => Version::Http2,
        Scheme::Https => Version::Auto,
    };
    Server::start_with(scheme, version, &["h2", "http/1.1"]).await
}

pub(super) async fn pair(server: &Server) -> (Connection, Handler) {
    let (told, calls) = mpsc::unbounded_channel();
    let serve = async {
        let io = TokioIo::new(server.accept().await.into_io());
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (head, body) = request.into_parts();
            let (reply, answer) = oneshot::channel();
            told.send(Call { head, body, reply }).unwrap();
            // A test that drops the reply wants the stream to be reset.
            async move { answer.await.map_err(io::Error::other) }
        });
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let carrier = tokio::spawn(server.serve_connection(io, service));
        Handler { calls, carrier }
    };
    let (connection, handler) = tokio::join!(server.wire.connect(&server.endpoint, SOON), serve);
    (connection.unwrap(), handler)
}

pub(super) fn get() -> Outgoing {
    Outgoing {
        method: http::Method::GET,
        body: None,
        ..post("")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_goes_over_http2_and_the_connection_can_be_used_again() {
    for scheme in BOTH {
        let server = start(scheme).await;
        let (mut connection, mut handler) = pair(&server).await;
        assert!(connection.is_http2() && connection.is_open());
        for body in ["hello", "", "again"] {
            let mut request = post(body);
            request.headers.push(("X-A".into(), b"1".to_vec()));
            request.headers.push(("X-A".into(), b"2".to_vec()));
            let flight = connection.prepare(request, plain()).await;
            let call = handler.call().await;
            assert_eq!(call.head.uri.path(), "/pay");
            assert_eq!(call.head.uri.authority().unwrap(), "shop.test");
            assert_eq!(call.head.headers.get_all("x-a").iter().count(), 2);
            let (got, reply) = call.whole_body().await;
            assert_eq!(got, body);
            let answer = http::Response::builder().status(201);
            reply
                .send(answer.body(Full::from("yes").boxed()).unwrap())
                .unwrap();
            let done = flight.done().await;
            assert_eq!(done.ending, Ending::Answered);
            assert_eq!(done.delivery, Delivery::ResponseSeen);
            let response = done.response.unwrap();
            assert_eq!((response.status, response.body), (201, "yes".into()));
            assert_eq!(response.version, http::Version::HTTP_2);
            assert!(done.times.sent <= done.times.first_byte);
            assert!(done.times.first_byte <= done.times.last_byte);
            connection = done.connection.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_end_of_the_stream_is_held_until_the_release() {
    for scheme in BOTH {
        let server = start(scheme).await;
        let (connection, mut handler) = pair(&server).await;
        let flight = connection.prepare(post("hello"), held()).await;
        let mut call = handler.call().await;
        let got = call
            .body
            .frame()
            .await
            .unwrap()
            .unwrap()
            .into_data()
            .unwrap();
        assert_eq!(got, "hell");
        assert_eq!(flight.sent_at(), None);
        let releaser = flight.releaser();
        let before = Instant::now();
        std::thread::spawn(move || releaser.release())
            .join()
            .unwrap();
        assert!(flight.sent_at().unwrap() >= before);
        call.answer("ok").await;
        let done = flight.done().await;
        assert_eq!(done.ending, Ending::Answered);
        assert!(done.connection.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_a_body_the_headers_are_held() {
    for scheme in BOTH {
        let server = start(scheme).await;
        let (connection, mut handler) = pair(&server).await;
        let flight = connection.prepare(get(), held()).await;
        let early = tokio::time::timeout(Duration::from_millis(20), handler.calls.recv()).await;
        assert!(early.is_err(), "the handler ran before the release");
        flight.release();
        handler.call().await.answer("ok").await;
        assert_eq!(flight.done().await.ending, Ending::Answered);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_body_beyond_the_window_arrives_whole() {
    let server = start(Scheme::Https).await;
    let (connection, mut handler) = pair(&server).await;
    let body = "x".repeat(3_000_000);
    let (flight, (got, reply)) = tokio::join!(connection.prepare(post(&body), plain()), async {
        handler.call().await.whole_body().await
    });
    assert_eq!(got.len(), body.len());
    let answer = Full::from("y".repeat(2_000_000)).boxed();
    reply.send(http::Response::new(answer)).unwrap();
    let done = flight.done().await;
    assert_eq!(done.response.unwrap().body.len(), 2_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn before_the_request_no_stream_is_opened() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            let server = start(scheme).await;
            let (connection, handler) = pair(&server).await;
            let fault = Fault::BeforeRequest { close };
            let done = connection
                .prepare(post("a"), with(fault))
                .await
                .done()
                .await;
            assert!(fired(&done));
            assert_eq!(
                (done.ending, done.delivery),
                (Ending::HungUp, Delivery::NotSent)
            );
            assert_eq!(handler.end().await, end);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_body_the_handler_gets_a_share_and_then_an_error() {
    for scheme in BOTH {
        for close in [Close::Fin, Close::Rst, Close::RstStream] {
            for (share, sent) in [(0.0, 0), (0.5, 5), (1.0, 9)] {
                let server = start(scheme).await;
                let (connection, mut handler) = pair(&server).await;
                let fault = Fault::MidBody { share, close };
                let controls = Controls {
                    hold: Hold::LastByte,
                    ..with(fault)
                };
                let flight = connection.prepare(post("0123456789"), controls).await;
                let mut got = Bytes::new();
                let mut call = None;
                if sent > 1 {
                    call = Some(handler.call().await);
                    let body = &mut call.as_mut().unwrap().body;
                    got = body.frame().await.unwrap().unwrap().into_data().unwrap();
                }
                assert_eq!(got.len(), sent.max(1) - 1);
                flight.release();
                let done = flight.done().await;
                assert!(fired(&done), "{:?}", done.fault);
                assert_eq!(
                    (done.ending, done.delivery),
                    (Ending::HungUp, Delivery::Partial)
                );
                assert_eq!(done.connection.is_some(), close == Close::RstStream);
                if let Some(mut call) = call {
                    // A reset may overtake the last byte in the peer's own buffers.
                    while let Some(frame) = call.body.frame().await {
                        let Ok(frame) = frame else { break };
                        assert!(got.len() < sent && frame.into_data().unwrap().len() == 1);
                    }
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hang_up_runs_the_handler_and_reads_nothing() {
    for scheme in BOTH {
        for close in [Close::Fin, Close::Rst, Close::RstStream] {
            let server = start(scheme).await;
            let (connection, mut handler) = pair(&server).await;
            let flight = connection.prepare(post("hello"), with(Fault::HangUp)).await;
            let (got, mut reply) = handler.call().await.whole_body().await;
            assert_eq!(got, "hello");
            flight.cut(close);
            let done = flight.done().await;
            assert!(fired(&done), "{:?}", done.fault);
            assert_eq!(
                (done.ending, done.delivery),
                (Ending::HungUp, Delivery::Delivered)
            );
            // The handler is cancelled, whichever way we went.
            tokio::time::timeout(SOON, reply.closed()).await.unwrap();
            assert_eq!(done.connection.is_some(), close == Close::RstStream);
            if let Some(connection) = done.connection {
                let flight = connection.prepare(post("more"), plain()).await;
                handler.call().await.answer("ok").await;
                assert_eq!(flight.done().await.response.unwrap().body, "ok");
            } else {
                let end = if close == Close::Rst {
                    End::Rst
                } else {
                    End::Fin
                };
                assert_eq!(handler.end().await, end);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_response_is_dropped_at_its_first_byte_or_after_its_headers() {
    for scheme in BOTH {
        for close in [Close::Fin, Close::Rst, Close::RstStream] {
            for after in [ResponsePart::FirstByte, ResponsePart::Headers] {
                for body in ["", "0123456789"] {
                    let server = start(scheme).await;
                    let (connection, mut handler) = pair(&server).await;
                    let fault = Fault::DropResponse { after, close };
                    let flight = connection.prepare(post("hello"), with(fault)).await;
                    handler.call().await.answer(body).await;
                    let done = flight.done().await;
                    assert!(fired(&done), "{:?}", done.fault);
                    assert_eq!(done.ending, Ending::HungUp);
                    assert_eq!(done.delivery, Delivery::ResponseSeen);
                    assert!(done.times.first_byte.is_some());
                    match after {
                        ResponsePart::FirstByte => assert_eq!(done.response, None),
                        ResponsePart::Headers => {
                            let response = done.response.unwrap();
                            assert_eq!((response.status, response.body_len), (200, 0));
                        }
                    }
                    if close != Close::RstStream {
                        let end = if close == Close::Rst {
                            End::Rst
                        } else {
                            End::Fin
                        };
                        assert_eq!(handler.end().await, end);
                    }
                }
            }
        }
    }
}

/// A body in these pieces, of no known length, that does not end.
fn endless(pieces: &[&'static str]) -> Body {
    let frames: Vec<_> = pieces
        .iter()
        .map(|piece| Ok(Frame::data(Bytes::from(*piece))))
        .collect();
    let frames = stream::StreamExt::chain(stream::iter(frames), stream::pending());
    BoxBody::new(StreamBody::new(frames))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_response_what_is_read_of_the_body_is_no_more_than_its_share() {
    for scheme in BOTH {
        for close in [Close::Fin, Close::Rst, Close::RstStream] {
            for (length, share, read) in [
                (Some("10"), 0.5, "0123"),
                (Some("10"), 0.0, ""),
                (None, 0.5, ""),
            ] {
                let server = start(scheme).await;
                let (connection, mut handler) = pair(&server).await;
                let fault = Fault::MidResponse { share, close };
                let flight = connection.prepare(post("hello"), with(fault)).await;
                let (_, reply) = handler.call().await.whole_body().await;
                let mut answer = http::Response::builder();
                if let Some(length) = length {
                    answer = answer.header("content-length", length);
                }
                let answer = answer.body(endless(&["0123", "456789"])).unwrap();
                reply.send(answer).unwrap();
                let done = flight.done().await;
                assert!(fired(&done), "{:?}", done.fault);
                assert_eq!(done.ending, Ending::HungUp);
                let response = done.response.unwrap();
                // Hyper hands up whole frames only.
                assert_eq!((response.body, response.complete), (read.into(), false));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_response_without_a_body_is_not_fired() {
    let server = start(Scheme::Https).await;
    let (connection, mut handler) = pair(&server).await;
    let fault = Fault::MidResponse {
        share: 0.5,
        close: Close::Rst,
    };
    let flight = connection.prepare(post("hello"), with(fault)).await;
    handler.call().await.answer("").await;
    let done = flight.done().await;
    assert!(!fired(&done));
    assert_eq!(done.ending, Ending::Answered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_a_timeout_the_late_response_is_recorded_over_http2_too() {
    for scheme in BOTH {
        let server = start(scheme).await;
        let (connection, mut handler) = pair(&server).await;
        let after = Duration::from_millis(10);
        let flight = connection
            .prepare(post("hello"), with(Fault::Timeout { after }))
            .await;
        let call = handler.call().await;
        let done = flight.done().await;
        assert!(fired(&done));
        call.answer("late").await;
        let (_, response) = done.late.unwrap().wait(SOON).await.unwrap();
        assert_eq!(response.body, "late");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stream_that_the_peer_resets_is_closed_by_the_peer() {
    let server = start(Scheme::Http).await;
    let (connection, mut handler) = pair(&server).await;
    let flight = connection.prepare(post("hello"), plain()).await;
    let (_, reply) = handler.call().await.whole_body().await;
    drop(reply);
    let done = flight.done().await;
    let Ending::ClosedByPeer { says } = done.ending else {
        panic!("{:?}", done.ending);
    };
    assert!(says.contains("reset the stream"), "{says}");
    assert_eq!(done.delivery, Delivery::Delivered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_byte_of_one_response_releases_another_stream() {
    let server = start(Scheme::Https).await;
    let (one, mut first) = pair(&server).await;
    let (two, mut second) = pair(&server).await;
    let one = one.prepare(post("a"), plain()).await;
    let two = two.prepare(get(), held()).await;
    let releaser = two.releaser();
    one.watch(Moment::LastByte, Box::new(move |_| releaser.release()));
    first.call().await.answer("ok").await;
    second.call().await.answer("ok").await;
    let last_byte = one.done().await.times.last_byte.unwrap();
    assert!(last_byte <= two.sent_at().unwrap());
    assert_eq!(two.done().await.ending, Ending::Answered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_without_http2_is_unreachable_if_http2_is_asked_for() {
    let server = Server::start_with(Scheme::Https, Version::Http2, &[]).await;
    let (connection, _) = tokio::join!(
        server.wire.connect(&server.endpoint, SOON),
        server.try_accept()
    );
    assert!(
        connection
            .unwrap_err()
            .says
            .contains("does not speak HTTP/2")
    );
}
