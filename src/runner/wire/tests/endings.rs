use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::runner::wire::tests::peer::{End, SOON, Server};
use crate::runner::wire::tests::*;
use crate::runner::wire::*;

/// Waits until an idle connection is seen to be closed.
async fn closed(connection: &Connection) {
    let until = Instant::now() + SOON;
    while connection.is_open() {
        assert!(Instant::now() < until, "the connection still looks open");
        tokio::task::yield_now().await;
    }
}

fn says(ending: &Ending) -> &str {
    match ending {
        Ending::ClosedByPeer { says } | Ending::Broken { says } => says,
        other => panic!("not broken: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_a_timeout_the_late_response_is_recorded() {
    for scheme in BOTH {
        let server = Server::start(scheme).await;
        let (connection, mut peer) = server.pair().await;
        let after = Duration::from_millis(15);
        let flight = connection
            .prepare(post("hello"), with(Fault::Timeout { after }))
            .await;
        take(&mut peer, "hello").await;
        let done = flight.done().await;
        assert!(fired(&done));
        assert_eq!(done.ending, Ending::TimedOut);
        assert_eq!(done.delivery, Delivery::Delivered);
        assert!(done.times.ended >= done.times.sent.unwrap() + after);
        assert_eq!(done.response, None);
        let before = Instant::now();
        let late = done.late.unwrap();
        peer.write(OK).await;
        let (at, response) = late.wait(SOON).await.unwrap();
        assert!(at >= before);
        assert_eq!((response.status, response.complete), (200, true));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_late_response_that_nobody_wants_closes_the_connection() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let fault = Fault::Timeout {
        after: Duration::ZERO,
    };
    let flight = connection.prepare(post("a"), with(fault)).await;
    take(&mut peer, "a").await;
    let done = flight.done().await;
    assert!(peer.is_silent().await, "the connection is left open");
    drop(done.late);
    assert_eq!(peer.end().await, (String::new(), End::Fin));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_timeout_that_the_response_forestalls_is_not_fired() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let fault = Fault::Timeout { after: SOON };
    let flight = connection.prepare(post("a"), with(fault)).await;
    take(&mut peer, "a").await;
    peer.write(OK).await;
    let done = flight.done().await;
    assert!(!fired(&done) && done.late.is_none());
    assert_eq!(done.ending, Ending::Answered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn patience_ends_an_exchange_and_keeps_what_had_come() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let controls = Controls {
        patience: Duration::from_millis(200),
        ..plain()
    };
    let flight = connection.prepare(post("a"), controls).await;
    take(&mut peer, "a").await;
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012")
        .await;
    let done = flight.done().await;
    assert_eq!(done.ending, Ending::TimedOut);
    let response = done.response.unwrap();
    assert_eq!(
        (response.body, response.complete),
        (Bytes::from("012"), false)
    );
    assert_eq!(peer.end().await, (String::new(), End::Fin));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn waiting_for_the_release_costs_no_patience() {
    let server = Server::start(Scheme::Http).await;
    for patience in [30, 120, 480, 1_920, 7_680].map(Duration::from_millis) {
        let (connection, mut peer) = server.pair().await;
        let controls = Controls { patience, ..held() };
        let flight = connection.prepare(post("a"), controls).await;
        peer.read_until("\r\n\r\n").await;
        // Longer than the patience, on purpose: this is what must not matter.
        tokio::time::sleep(patience * 2).await;
        let released = Instant::now();
        flight.release();
        assert_eq!(peer.read(1).await, "a");
        peer.write(OK).await;
        let ending = flight.done().await.ending;
        // A busy machine may need longer than the patience for this itself: then it gets more.
        if released.elapsed() < patience {
            assert_eq!(ending, Ending::Answered);
            return;
        }
    }
    panic!("this machine is too busy to answer within seconds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_peer_that_closes_or_resets_is_an_ending_with_words() {
    for scheme in BOTH {
        for (answer, words) in [
            ("", "before any byte"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012",
                "after 42 bytes",
            ),
        ] {
            for reset in [false, true] {
                let server = Server::start(scheme).await;
                let (connection, mut peer) = server.pair().await;
                let flight = connection.prepare(post("hello"), plain()).await;
                take(&mut peer, "hello").await;
                if !answer.is_empty() {
                    let (told, hears) = tokio::sync::oneshot::channel();
                    flight.watch(Moment::FirstByte, Box::new(move |_| told.send(()).unwrap()));
                    peer.write(answer).await;
                    hears.await.unwrap();
                }
                if reset {
                    peer.reset();
                } else {
                    peer.close().await;
                }
                let done = flight.done().await;
                assert!(
                    matches!(done.ending, Ending::ClosedByPeer { .. }),
                    "{:?}",
                    done.ending
                );
                assert!(says(&done.ending).contains(words), "{:?}", done.ending);
                assert_eq!(
                    says(&done.ending).contains("reset"),
                    reset,
                    "{:?}",
                    done.ending
                );
                let delivery = if answer.is_empty() {
                    Delivery::Delivered
                } else {
                    Delivery::ResponseSeen
                };
                assert_eq!(done.delivery, delivery);
                assert!(done.connection.is_none());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_not_http_is_broken_and_never_a_panic() {
    for scheme in BOTH {
        for garbage in [
            &b"SSH-2.0-OpenSSH_9.6\r\n"[..],
            b"\0\xff\xfe\x01garbage\r\n\r\n",
            b"HTTP/1.1 abc\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        ] {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let flight = connection.prepare(post("hello"), plain()).await;
            take(&mut peer, "hello").await;
            peer.write(garbage).await;
            let done = flight.done().await;
            assert!(
                matches!(done.ending, Ending::Broken { .. }),
                "{:?}",
                done.ending
            );
            assert!(says(&done.ending).contains("not HTTP"), "{:?}", done.ending);
            assert_eq!(done.delivery, Delivery::ResponseSeen);
            assert!(done.response.is_none() && done.connection.is_none());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn chunks_that_are_none_break_a_response_that_had_begun() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("a"), plain()).await;
    take(&mut peer, "a").await;
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzzz\r\n")
        .await;
    let done = flight.done().await;
    assert!(
        matches!(done.ending, Ending::Broken { .. }),
        "{:?}",
        done.ending
    );
    let response = done.response.unwrap();
    assert_eq!(
        (response.body, response.complete),
        (Bytes::from("x"), false)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_to_a_request_that_is_still_held_is_data() {
    for scheme in BOTH {
        let server = Server::start(scheme).await;
        let (connection, mut peer) = server.pair().await;
        let flight = connection.prepare(post("hello"), held()).await;
        peer.read_until("\r\n\r\n").await;
        peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            .await;
        let releaser = flight.releaser();
        let done = flight.done().await;
        assert_eq!(done.ending, Ending::Answered);
        assert_eq!(done.response.unwrap().status, 413);
        assert_eq!((done.times.sent, done.times.released), (None, None));
        assert!(done.connection.is_none(), "half a request stands on it");
        releaser.release();
        assert_eq!(peer.end().await, ("hell".to_owned(), End::Fin));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_early_answer_is_kept_although_the_request_cannot_be_written() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let request = post(&"x".repeat(20_000_000));
    let (flight, ()) = tokio::join!(connection.prepare(request, plain()), async {
        peer.read_until("\r\n\r\n").await;
        peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            .await;
    });
    let done = flight.done().await;
    assert_eq!(done.ending, Ending::Answered);
    assert_eq!(done.response.unwrap().status, 413);
    assert_eq!(done.times.sent, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn informational_responses_do_not_confuse() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let mut request = post("a");
    request
        .headers
        .push(("Expect".into(), b"100-continue".to_vec()));
    let flight = connection.prepare(request, plain()).await;
    peer.read_until("\r\n\r\na").await;
    peer.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        .await;
    peer.write(OK).await;
    let done = flight.done().await;
    assert_eq!(done.response.unwrap().status, 200);
    assert!(done.connection.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn head_has_no_body_whatever_its_length_says() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let request = Outgoing {
        method: http::Method::HEAD,
        body: None,
        ..post("")
    };
    let flight = connection.prepare(request, plain()).await;
    peer.read_until("\r\n\r\n").await;
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        .await;
    let done = flight.done().await;
    assert_eq!(done.ending, Ending::Answered);
    assert!(done.response.unwrap().complete && done.connection.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_huge_response_eight_mebibytes_are_kept() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("a"), plain()).await;
    take(&mut peer, "a").await;
    let length = Response::MOST_KEPT + 1000;
    peer.write(format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"
    ))
    .await;
    peer.write(vec![b'x'; length]).await;
    let done = flight.done().await;
    assert_eq!(done.ending, Ending::Answered);
    let response = done.response.unwrap();
    assert_eq!(response.body.len(), Response::MOST_KEPT);
    assert_eq!(
        (response.body_len, response.complete),
        (length as u64, false)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_idle_connection_that_the_server_closed_is_not_open() {
    for scheme in BOTH {
        for reset in [false, true] {
            let server = Server::start(scheme).await;
            let (connection, peer) = server.pair().await;
            assert!(connection.is_open());
            if reset {
                peer.reset();
            } else {
                peer.close().await;
            }
            closed(&connection).await;
            let done = connection.prepare(post("a"), plain()).await.done().await;
            assert!(
                matches!(done.ending, Ending::ClosedByPeer { .. }),
                "{:?}",
                done.ending
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_to_no_question_makes_a_connection_useless() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    peer.write("HTTP/1.1 408 Request Timeout\r\n\r\n").await;
    closed(&connection).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dropped_flight_closes_its_connection() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("hello"), held()).await;
    drop(flight);
    assert_eq!(peer.end().await, (head(5) + "hell", End::Fin));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_would_be_two_is_not_sent() {
    let server = Server::start(Scheme::Http).await;
    let (connection, _peer) = server.pair().await;
    let mut request = post("a");
    request.headers.push(("X".into(), b"1\r\nY: 2".to_vec()));
    let done = connection.prepare(request, held()).await.done().await;
    assert!(says(&done.ending).contains("line break"));
    assert_eq!(done.delivery, Delivery::NotSent);
    assert!(done.connection.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn where_nothing_listens_the_connection_is_refused() {
    let server = Server::start(Scheme::Http).await;
    let (wire, endpoint) = (server.wire.clone(), server.endpoint.clone());
    drop(server);
    let unreachable = wire.connect(&endpoint, SOON).await.unwrap_err();
    assert!(unreachable.refused, "{unreachable}");
    assert!(unreachable.says.contains(&endpoint.to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_certificate_of_nobody_is_refused_unless_nothing_is_verified() {
    let server = Server::start(Scheme::Https).await;
    for verify in [true, false] {
        let options = TlsOptions {
            extra_roots: Vec::new(),
            identity: None,
            further: Vec::new(),
            verify,
        };
        let wire = Wire::new(options, Version::Auto).unwrap();
        let (connection, _) =
            tokio::join!(wire.connect(&server.endpoint, SOON), server.try_accept());
        assert_eq!(connection.is_ok(), !verify);
        if let Err(unreachable) = connection {
            assert!(unreachable.says.contains("certificate"), "{unreachable}");
        }
    }
}

#[tokio::test]
async fn a_connection_goes_to_the_address_that_was_chosen_whatever_the_name() {
    let server = Server::start(Scheme::Http).await;
    // A name that surely has no address (RFC 2606).
    let chosen = Endpoint {
        host: "nobody.invalid".into(),
        address: Some("127.0.0.1".parse().unwrap()),
        ..server.endpoint.clone()
    };
    let (connection, _) = tokio::join!(server.wire.connect(&chosen, SOON), server.accept());
    assert!(connection.is_ok());
    assert_eq!(
        chosen.to_string(),
        format!("http://nobody.invalid:{} (127.0.0.1)", server.endpoint.port)
    );
}

#[test]
fn an_endpoint_reads_like_a_url() {
    let mut endpoint = Endpoint {
        scheme: Scheme::Https,
        host: "::1".into(),
        port: 8443,
        address: None,
        certificate: None,
    };
    assert_eq!(endpoint.to_string(), "https://[::1]:8443");
    endpoint.host = "shop.test".into();
    assert_eq!(endpoint.to_string(), "https://shop.test:8443");
}
