use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::runner::wire::batch::Batch;
use crate::runner::wire::tests::peer::Server;
use crate::runner::wire::tests::*;
use crate::runner::wire::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_response_is_recorded_as_it_came_and_the_connection_can_be_used_again() {
    for scheme in BOTH {
        let server = Server::start(scheme).await;
        let (connection, mut peer) = server.pair().await;
        assert!(connection.is_open() && !connection.is_http2());
        assert_eq!(connection.local_port(), peer.port);
        let flight = connection.prepare(post("hello"), plain()).await;
        take(&mut peer, "hello").await;
        peer.write("HTTP/1.1 409 Conflict\r\nX-A: 1\r\nX-A: 2\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").await;
        let done = flight.done().await;
        assert_eq!(done.ending, Ending::Answered);
        assert_eq!(done.delivery, Delivery::ResponseSeen);
        let response = done.response.unwrap();
        assert_eq!((response.status, response.complete), (409, true));
        assert_eq!(response.body, "abc");
        assert_eq!(response.headers[0], ("x-a".into(), b"1".to_vec()));
        assert_eq!(response.headers[1], ("x-a".into(), b"2".to_vec()));
        let times = done.times;
        assert!(times.connected <= times.released.unwrap());
        assert!(times.released <= times.sent && times.sent <= times.first_byte);
        assert!(times.first_byte <= times.last_byte);
        assert!(times.last_byte.unwrap() <= times.ended);

        let connection = done.connection.expect("the connection is kept alive");
        let flight = connection.prepare(post("again"), plain()).await;
        take(&mut peer, "again").await;
        peer.write(OK).await;
        let done = flight.done().await;
        assert_eq!(done.response.unwrap().body, "0123456789");
        assert!(done.connection.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_connection_that_the_peer_closes_is_not_kept() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("a"), plain()).await;
    take(&mut peer, "a").await;
    peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        .await;
    let done = flight.done().await;
    assert_eq!(done.ending, Ending::Answered);
    assert!(done.connection.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn headers_keep_their_order_their_case_and_their_repetitions_on_the_wire() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let request = Outgoing {
        headers: vec![
            ("b-Key".into(), b"1".to_vec()),
            ("A".into(), "ü".into()),
            ("b-Key".into(), b"2".to_vec()),
        ],
        upper_case_headers: true,
        chunked: true,
        ..post("hello")
    };
    let flight = connection.prepare(request, plain()).await;
    assert_eq!(
        peer.read_until("0\r\n\r\n").await,
        "POST /pay HTTP/1.1\r\nHOST: shop.test\r\nB-KEY: 1\r\nA: ü\r\nB-KEY: 2\r\nTRANSFER-ENCODING: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    );
    peer.write(OK).await;
    assert_eq!(flight.done().await.ending, Ending::Answered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_request_lacks_its_last_byte_until_it_is_released() {
    for scheme in BOTH {
        let get = Outgoing {
            method: http::Method::GET,
            body: None,
            ..post("")
        };
        let chunked = Outgoing {
            chunked: true,
            ..post("hello")
        };
        for (request, all_but_last) in [
            (post("hello"), head(5) + "hell"),
            (get, "GET /pay HTTP/1.1\r\nHost: shop.test\r\nIdempotency-Key: k1\r\n\r".to_owned()),
            (chunked, "POST /pay HTTP/1.1\r\nHost: shop.test\r\nIdempotency-Key: k1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r".to_owned()),
        ] {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let flight = connection.prepare(request, held()).await;
            assert_eq!(peer.read(all_but_last.len()).await, all_but_last);
            assert!(peer.is_silent().await);
            assert_eq!(flight.sent_at(), None);
            assert_eq!(flight.acknowledged(SOON).await, cfg!(target_os = "linux"));
            let releaser = flight.releaser();
            let before = Instant::now();
            std::thread::spawn(move || releaser.release()).join().unwrap();
            assert!(flight.sent_at().unwrap() >= before);
            flight.release();
            peer.read(1).await;
            peer.write(OK).await;
            let done = flight.done().await;
            assert_eq!(done.ending, Ending::Answered);
            assert!(done.times.released.unwrap() >= before);
            assert!(done.connection.is_some());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_flights_are_released_by_one_call() {
    for scheme in BOTH {
        let server = Server::start(scheme).await;
        let mut flights = Vec::new();
        let mut peers = Vec::new();
        for _ in 0..20 {
            let (connection, peer) = server.pair().await;
            flights.push(connection.prepare(post("hello"), held()).await);
            peers.push(peer);
        }
        for peer in &mut peers {
            peer.read(head(5).len() + 4).await;
        }
        let releasers: Vec<_> = flights.iter().map(Flight::releaser).collect();
        let spread = tokio::task::spawn_blocking(move || release_together(&releasers))
            .await
            .unwrap();
        assert!(spread.first <= spread.last);
        for flight in &flights {
            let sent = flight.sent_at().unwrap();
            assert!(spread.first <= sent && sent <= spread.last);
        }
        for (flight, mut peer) in flights.into_iter().zip(peers) {
            assert_eq!(peer.read(1).await, "o");
            peer.write(OK).await;
            assert_eq!(flight.done().await.ending, Ending::Answered);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_that_is_quicker_than_the_word_of_what_was_sent_waits_for_it() {
    // Only where one system call can send on several connections.
    let Some(mut batch) = Batch::with_room_for(2) else {
        return;
    };
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("hello"), held()).await;
    let shared = flight.releaser().shared;
    let (came, first_byte) = tokio::sync::oneshot::channel();
    flight.watch(Moment::FirstByte, Box::new(move |_| came.send(()).unwrap()));
    assert!(shared.begin_release(Instant::now()));
    let taken = shared.line.take_held().expect("a byte is held");
    let sent = batch.send(&[(taken.socket.as_raw_fd(), &*taken.bytes)]);
    let at = Instant::now();
    peer.read(head(5).len() + 5).await;
    peer.write(OK).await;
    first_byte.await.unwrap();
    let mut done = tokio::spawn(flight.done());
    let soon = Duration::from_millis(50);
    assert!(tokio::time::timeout(soon, &mut done).await.is_err());
    let release = shared
        .line
        .settle(taken, sent.into_iter().next().unwrap(), at);
    shared.tell_released(release);
    let done = done.await.unwrap();
    assert_eq!(done.ending, Ending::Answered);
    assert_eq!(done.times.sent, Some(at));
    assert!(done.times.sent < done.times.first_byte);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_schedule_releases_each_flight_at_its_time_and_none_before() {
    let server = Server::start(Scheme::Http).await;
    let (one, mut first) = server.pair().await;
    let (two, mut second) = server.pair().await;
    let one = one.prepare(post("a"), held()).await;
    let two = two.prepare(post("b"), held()).await;
    let start = Instant::now();
    let later = start + Duration::from_millis(30);
    let sooner = start + Duration::from_millis(10);
    let schedule = vec![(later, one.releaser()), (sooner, two.releaser())];
    let times = tokio::task::spawn_blocking(move || release_at(schedule))
        .await
        .unwrap();
    assert!(times[0] >= later && times[1] >= sooner && times[1] < times[0]);
    take(&mut first, "a").await;
    take(&mut second, "b").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_byte_of_one_response_releases_another_request() {
    for (scheme, answer) in [
        (Scheme::Http, OK),
        (Scheme::Https, OK),
        (
            Scheme::Http,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        ),
        (Scheme::Http, "HTTP/1.1 204 No Content\r\n\r\n"),
    ] {
        let server = Server::start(scheme).await;
        let (one, mut first) = server.pair().await;
        let (two, mut second) = server.pair().await;
        let one = one.prepare(post("a"), plain()).await;
        let two = two.prepare(post("b"), held()).await;
        let releaser = two.releaser();
        one.watch(Moment::LastByte, Box::new(move |_| releaser.release()));
        take(&mut first, "a").await;
        second.read_until("\r\n\r\n").await;
        assert!(second.is_silent().await);
        first.write(answer).await;
        assert_eq!(second.read(1).await, "b");
        let last_byte = one.done().await.times.last_byte.unwrap();
        assert!(last_byte <= two.sent_at().unwrap());
        second.write(OK).await;
        assert_eq!(two.done().await.ending, Ending::Answered);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn watchers_of_past_moments_are_called_at_once_and_those_of_moments_that_never_come_never() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("a"), with(Fault::HangUp)).await;
    take(&mut peer, "a").await;
    let (told, hears) = mpsc::channel();
    for moment in [
        Moment::Connected,
        Moment::Sent,
        Moment::FirstByte,
        Moment::LastByte,
        Moment::Ended,
    ] {
        let told = told.clone();
        flight.watch(moment, Box::new(move |_| told.send(moment).unwrap()));
    }
    drop(told);
    assert_eq!(hears.try_recv(), Ok(Moment::Connected));
    assert_eq!(hears.try_recv(), Ok(Moment::Sent));
    flight.cut(Close::Fin);
    flight.done().await;
    assert_eq!(hears.recv(), Ok(Moment::Ended));
    assert!(hears.recv().is_err(), "the other watchers are dropped");
}
