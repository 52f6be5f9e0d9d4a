use std::time::Duration;

use crate::runner::wire::tests::peer::{End, Server};
use crate::runner::wire::tests::*;
use crate::runner::wire::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn before_the_request_nothing_is_sent() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let controls = Controls {
                hold: Hold::LastByte,
                ..with(Fault::BeforeRequest { close })
            };
            let flight = connection.prepare(post("hello"), controls).await;
            assert!(peer.is_silent().await, "{close:?}");
            flight.release();
            assert_eq!(peer.end().await, (String::new(), end), "{scheme:?}");
            let done = flight.done().await;
            assert!(fired(&done));
            assert_eq!(
                (done.ending, done.delivery),
                (Ending::HungUp, Delivery::NotSent)
            );
            assert_eq!(done.times.sent, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_an_earlier_flight_saw_does_not_count_for_a_later_one() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let flight = connection.prepare(post("a"), plain()).await;
    take(&mut peer, "a").await;
    peer.write(OK).await;
    let connection = flight.done().await.connection.unwrap();
    let close = Close::RstStream;
    let impossible = connection
        .prepare(post("b"), with(Fault::BeforeRequest { close }))
        .await;
    let done = impossible.done().await;
    assert!(!fired(&done) && done.fault.unwrap().says.contains("only HTTP/2"));
    assert_eq!(done.delivery, Delivery::NotSent);
    let fault = Fault::BeforeRequest { close: Close::Fin };
    let done = done
        .connection
        .unwrap()
        .prepare(post("b"), with(fault))
        .await
        .done()
        .await;
    assert!(fired(&done));
    assert_eq!(
        (done.delivery, done.times.first_byte),
        (Delivery::NotSent, None)
    );
    assert_eq!(peer.end().await, (String::new(), End::Fin));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_body_a_share_of_the_body_arrives_and_no_more() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            for (share, sent) in [(0.0, ""), (0.5, "01234"), (1.0, "012345678")] {
                let server = Server::start(scheme).await;
                let (connection, mut peer) = server.pair().await;
                let fault = Fault::MidBody { share, close };
                let (flight, seen) =
                    tokio::join!(connection.prepare(post("0123456789"), with(fault)), async {
                        let seen = peer.read(head(10).len() + sent.len()).await;
                        (seen, peer.end().await)
                    });
                assert_eq!(seen, (head(10) + sent, (String::new(), end)), "{scheme:?}");
                let done = flight.done().await;
                assert!(fired(&done));
                assert_eq!(
                    (done.ending, done.delivery),
                    (Ending::HungUp, Delivery::Partial)
                );
                assert!(done.connection.is_none());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_held_mid_body_fault_waits_for_its_release() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let fault = Fault::MidBody {
        share: 0.5,
        close: Close::Fin,
    };
    let controls = Controls {
        hold: Hold::LastByte,
        ..with(fault)
    };
    let flight = connection.prepare(post("0123456789"), controls).await;
    assert_eq!(peer.read(head(10).len() + 4).await, head(10) + "0123");
    assert!(peer.is_silent().await);
    flight.release();
    assert_eq!(peer.end().await, ("4".to_owned(), End::Fin));
    let done = flight.done().await;
    assert!(fired(&done));
    assert_eq!(done.times.sent, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_body_without_a_body_sends_nothing_and_does_not_count_as_fired() {
    let server = Server::start(Scheme::Http).await;
    let (connection, _peer) = server.pair().await;
    let fault = Fault::MidBody {
        share: 0.5,
        close: Close::Fin,
    };
    let request = Outgoing {
        body: None,
        ..post("")
    };
    let done = connection.prepare(request, with(fault)).await.done().await;
    assert!(!fired(&done));
    assert_eq!(done.delivery, Delivery::NotSent);
    assert!(done.fault.unwrap().says.contains("without a body"));
    assert!(done.connection.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hang_up_delivers_everything_and_reads_nothing() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            for answered in [false, true] {
                let server = Server::start(scheme).await;
                let (connection, mut peer) = server.pair().await;
                let flight = connection.prepare(post("hello"), with(Fault::HangUp)).await;
                take(&mut peer, "hello").await;
                if answered {
                    peer.write(OK).await;
                }
                flight.cut(close);
                let done = flight.done().await;
                assert_eq!(
                    peer.end().await,
                    (String::new(), end),
                    "{scheme:?} {answered}"
                );
                assert!(fired(&done));
                assert_eq!(
                    (done.ending, done.delivery),
                    (Ending::HungUp, Delivery::Delivered)
                );
                assert_eq!((done.response, done.times.first_byte), (None, None));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hang_up_from_the_watch_of_its_own_sending_loses_no_byte() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let body = "x".repeat(100_000);
            let controls = Controls {
                hold: Hold::LastByte,
                ..with(Fault::HangUp)
            };
            let (flight, text) = tokio::join!(
                connection.prepare(post(&body), controls),
                peer.read(head(body.len()).len() + body.len() - 1)
            );
            assert!(text.ends_with('x'));
            let cutter = flight.cutter();
            flight.watch(Moment::Sent, Box::new(move |_| cutter.cut(close)));
            flight.release();
            assert_eq!(peer.read(1).await, "x");
            assert_eq!(peer.end().await, (String::new(), end));
            assert!(fired(&flight.done().await));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hang_up_whose_moment_never_comes_ends_with_our_patience() {
    let server = Server::start(Scheme::Http).await;
    let (connection, _peer) = server.pair().await;
    let controls = Controls {
        patience: Duration::from_millis(20),
        ..with(Fault::HangUp)
    };
    let done = connection.prepare(post("a"), controls).await.done().await;
    assert!(!fired(&done));
    assert_eq!(done.ending, Ending::TimedOut);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_response_is_dropped_at_its_first_byte_with_nothing_handed_up() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let fault = Fault::DropResponse {
                after: ResponsePart::FirstByte,
                close,
            };
            let flight = connection.prepare(post("hello"), with(fault)).await;
            take(&mut peer, "hello").await;
            peer.write("HTTP/1.1 100 Continue\r\n\r\n").await;
            assert!(
                peer.is_silent().await,
                "an informational response is not the response"
            );
            peer.write("HTTP/1.1 201 Created\r\n").await;
            assert_eq!(peer.end().await, (String::new(), end), "{scheme:?}");
            let done = flight.done().await;
            assert!(fired(&done));
            assert_eq!(
                (done.ending, done.delivery),
                (Ending::HungUp, Delivery::ResponseSeen)
            );
            assert_eq!(done.response, None);
            assert!(done.times.first_byte.is_some());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_response_is_dropped_after_its_headers() {
    for scheme in BOTH {
        for (close, end) in CLOSES {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let fault = Fault::DropResponse {
                after: ResponsePart::Headers,
                close,
            };
            let flight = connection.prepare(post("hello"), with(fault)).await;
            take(&mut peer, "hello").await;
            peer.write(OK).await;
            assert_eq!(peer.end().await, (String::new(), end), "{scheme:?}");
            let done = flight.done().await;
            assert!(fired(&done));
            assert_eq!(
                (done.ending, done.delivery),
                (Ending::HungUp, Delivery::ResponseSeen)
            );
            let response = done.response.unwrap();
            assert_eq!(
                (response.status, response.body_len, response.complete),
                (200, 0, false)
            );
            assert_eq!(done.times.last_byte, None);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_response_exactly_a_share_of_the_body_is_read() {
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n";
    let unknown = "HTTP/1.1 200 OK\r\n\r\n0123456789";
    for scheme in BOTH {
        for (close, end) in CLOSES {
            for (answer, share, read) in [
                (OK, 0.0, ""),
                (OK, 0.5, "01234"),
                (OK, 1.0, "012345678"),
                (chunked, 0.5, "0"),
                (unknown, 0.5, "0"),
            ] {
                let server = Server::start(scheme).await;
                let (connection, mut peer) = server.pair().await;
                let fault = Fault::MidResponse { share, close };
                let flight = connection.prepare(post("hello"), with(fault)).await;
                take(&mut peer, "hello").await;
                peer.write(answer).await;
                assert_eq!(
                    peer.end().await,
                    (String::new(), end),
                    "{scheme:?} {answer}"
                );
                let done = flight.done().await;
                assert!(fired(&done), "{answer}");
                assert_eq!(done.ending, Ending::HungUp);
                let response = done.response.unwrap();
                assert_eq!(
                    (response.body, response.complete),
                    (read.into(), false),
                    "{answer}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mid_response_without_a_body_is_answered_and_not_fired() {
    for answer in [
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let server = Server::start(Scheme::Http).await;
        let (connection, mut peer) = server.pair().await;
        let fault = Fault::MidResponse {
            share: 0.5,
            close: Close::Rst,
        };
        let flight = connection.prepare(post("a"), with(fault)).await;
        take(&mut peer, "a").await;
        peer.write(answer).await;
        let done = flight.done().await;
        assert!(!fired(&done), "{answer}");
        assert_eq!(done.ending, Ending::Answered);
        assert!(done.response.unwrap().complete);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_stalled_goes_on_later_and_is_answered() {
    for scheme in BOTH {
        for hold in [Hold::Nothing, Hold::LastByte, Hold::Everything] {
            let server = Server::start(scheme).await;
            let (connection, mut peer) = server.pair().await;
            let time = Duration::from_millis(40);
            let controls = Controls {
                hold,
                ..with(Fault::Stall { share: 0.6, time })
            };
            let flight = connection.prepare(post("hello"), controls).await;
            flight.release();
            peer.read_until("\r\n\r\nhel").await;
            assert_eq!(flight.sent_at(), None, "{hold:?}");
            assert_eq!(peer.read(2).await, "lo");
            peer.write(OK).await;
            let done = flight.done().await;
            assert!(fired(&done), "{scheme:?} {hold:?}: {:?}", done.fault);
            assert_eq!(done.ending, Ending::Answered);
            let sent = done.times.sent.unwrap();
            assert!(sent >= done.times.released.unwrap() + time);
            assert!(done.response.unwrap().complete && done.connection.is_some());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stall_that_the_answer_forestalls_is_not_fired() {
    let server = Server::start(Scheme::Http).await;
    let (connection, mut peer) = server.pair().await;
    let controls = with(Fault::Stall {
        share: 0.5,
        time: Duration::from_secs(60),
    });
    let flight = connection.prepare(post("hello"), controls).await;
    peer.read_until("\r\n\r\nhe").await;
    peer.write(OK).await;
    let done = flight.done().await;
    assert!(!fired(&done));
    assert_eq!((done.ending, done.times.sent), (Ending::Answered, None));
}
