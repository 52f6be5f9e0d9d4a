use std::time::Instant;

use http_body_util::BodyExt;

use crate::runner::wire::tests::http2::{get, pair, start};
use crate::runner::wire::tests::peer::SOON;
use crate::runner::wire::tests::*;
use crate::runner::wire::*;

const HOLDS: [Hold; 2] = [Hold::LastByte, Hold::Everything];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_release_completes_all_requests_of_a_volley_with_one_send() {
    for scheme in BOTH {
        let server = start(scheme).await;
        let (connection, mut handler) = pair(&server).await;
        assert_eq!(connection.most_at_once(), 100);
        let requests = vec![post("first"), post("other"), post("third")];
        let flights = connection
            .prepare_volley(requests, Hold::LastByte, SOON)
            .await;
        let mut calls = Vec::new();
        for expected in ["firs", "othe", "thir"] {
            let mut call = handler.call().await;
            let frame = call.body.frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), expected);
            calls.push(call);
        }
        assert!(flights.iter().all(|flight| flight.sent_at().is_none()));
        let releasers: Vec<_> = flights.iter().map(Flight::releaser).collect();
        let before = Instant::now();
        let spread = release_together(&releasers);
        assert!(spread.first >= before);
        let sent: Vec<_> = flights.iter().map(|flight| flight.sent_at()).collect();
        assert!(sent[0].unwrap() >= before);
        assert!(sent.iter().all(|at| *at == sent[0]), "{sent:?}");
        // The last is answered first, and each response finds its request.
        for (call, body) in calls.into_iter().zip(["1", "2", "3"]).rev() {
            call.answer(body).await;
        }
        let mut connections = 0;
        for (flight, body) in flights.into_iter().zip(["1", "2", "3"]) {
            let done = flight.done().await;
            assert_eq!(done.ending, Ending::Answered);
            assert_eq!(done.delivery, Delivery::ResponseSeen);
            assert_eq!(done.response.unwrap().body, body);
            assert!(done.times.sent <= done.times.first_byte);
            assert!(done.times.first_byte <= done.times.last_byte);
            connections += usize::from(done.connection.is_some());
        }
        assert!(connections <= 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn volleys_on_several_connections_are_released_by_one_call() {
    let server = start(Scheme::Http).await;
    let (one, mut first) = pair(&server).await;
    let (two, mut second) = pair(&server).await;
    let mut flights = one
        .prepare_volley(vec![post("aa"), post("bb")], Hold::LastByte, SOON)
        .await;
    flights.extend(
        two.prepare_volley(vec![post("cc"), post("dd")], Hold::LastByte, SOON)
            .await,
    );
    let releasers: Vec<_> = flights.iter().map(Flight::releaser).collect();
    let spread = release_together(&releasers);
    for flight in &flights {
        let sent = flight.sent_at().unwrap();
        assert!(spread.first <= sent && sent <= spread.last);
    }
    for handler in [&mut first, &mut second] {
        for _ in 0..2 {
            let call = handler.call().await;
            call.answer("done").await;
        }
    }
    for flight in flights {
        assert_eq!(flight.done().await.response.unwrap().body, "done");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_of_a_volley_that_is_held_whole_arrives_before_its_release() {
    for hold in HOLDS {
        let server = start(Scheme::Https).await;
        let (connection, mut handler) = pair(&server).await;
        // Without a body the headers are the last frame.
        let flights = connection
            .prepare_volley(vec![get(), get()], hold, SOON)
            .await;
        assert!(handler.calls.try_recv().is_err());
        flights[1].release();
        for _ in 0..2 {
            handler.call().await.answer("ok").await;
        }
        for flight in flights {
            assert_eq!(flight.done().await.ending, Ending::Answered);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_before_the_release_is_told_and_holds_nobody_up() {
    let server = start(Scheme::Http).await;
    let (connection, mut handler) = pair(&server).await;
    let flights = connection
        .prepare_volley(vec![post("first"), post("other")], Hold::LastByte, SOON)
        .await;
    let early = handler.call().await;
    let answer = http::Response::new(http_body_util::Full::from("no").boxed());
    early.reply.send(answer).unwrap();
    let mut flights = flights.into_iter();
    let done = flights.next().unwrap().done().await;
    assert_eq!(done.times.sent, None);
    assert_eq!(done.response.unwrap().body, "no");
    let other = flights.next().unwrap();
    other.release();
    handler.call().await.answer("yes").await;
    assert_eq!(other.done().await.response.unwrap().body, "yes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_cannot_go_out_does_not_hold_up_the_others() {
    let server = start(Scheme::Http).await;
    let (connection, mut handler) = pair(&server).await;
    let impossible = Outgoing {
        upper_case_headers: true,
        ..post("a")
    };
    let flights = connection
        .prepare_volley(vec![impossible, post("b")], Hold::LastByte, SOON)
        .await;
    for flight in &flights {
        flight.release();
    }
    handler.call().await.answer("ok").await;
    let mut endings = Vec::new();
    for flight in flights {
        endings.push(flight.done().await.ending);
    }
    assert!(matches!(endings[0], Ending::Broken { .. }));
    assert_eq!(endings[1], Ending::Answered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_peer_that_goes_away_ends_every_request_of_a_volley() {
    let server = start(Scheme::Http).await;
    let (connection, mut handler) = pair(&server).await;
    let flights = connection
        .prepare_volley(vec![post("a"), post("b")], Hold::Everything, SOON)
        .await;
    flights[0].release();
    for _ in 0..2 {
        drop(handler.call().await);
    }
    handler.stop();
    for flight in flights {
        let done = flight.done().await;
        assert!(matches!(
            done.ending,
            Ending::ClosedByPeer { .. } | Ending::Broken { .. }
        ));
        assert_eq!(done.delivery, Delivery::Delivered);
    }
}
