//! Closes the books of an exchange: how it ended, what the peer can know, and whether the fault
//! did its thing.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::runner::wire::connect::Connection;
use crate::runner::wire::done::{
    Delivery, Done, Ending, FaultReport, LateResponse, Response, Times,
};
use crate::runner::wire::drive::{Drive, Inbound};
use crate::runner::wire::flight::Moment;
use crate::runner::wire::line::Closed;
use crate::runner::wire::receive::Inbox;
use crate::runner::wire::request::{Close, Fault, ResponsePart};
use crate::runner::wire::tap::{PeerEnd, Tap};

/// Why the driver stopped.
#[derive(Debug)]
pub(super) enum Over {
    /// The request cannot be sent like this; nothing was.
    Impossible(String),
    /// The response is complete, or will never be.
    Received(Result<(), hyper::Error>),
    /// The owner cut it off.
    Cut(Close),
    /// The fault's time has come: it is cut off like this.
    Fault(Close),
    /// The request could not be written, and nobody reads.
    WriteFailed(io::Error),
    /// The patience of every exchange is over.
    OutOfPatience,
    /// The patience of a timeout fault is over.
    GaveUp,
}

/// How long a connection may take to become idle after its response.
const IDLE: Duration = Duration::from_millis(50);

/// Ends the exchange.
pub(super) async fn close(drive: Drive, over: Over, inbound: Option<Inbound>) -> Done {
    let tap = Arc::clone(&drive.connection.tap);
    let story = Arc::clone(&drive.shared.story);
    let over = match (drive.shared.cut_as(), over) {
        // What the cut did to the streams can be seen before the cut itself.
        (Some(close), Over::Received(_) | Over::WriteFailed(_)) => Over::Cut(close),
        // HTTP/2 was stopped after the headers, and they were all there was.
        (None, Over::Received(_)) if tap.frames(|frames| frames.now.stopped) == Some(true) => {
            let close = drive.controls.fault.and_then(Fault::close);
            Over::Fault(close.unwrap_or(Close::Fin))
        }
        (_, over) => over,
    };
    drive.shared.release_told().await;
    drive.shared.note_sent();
    let mut inbound = inbound;
    if let Over::Cut(close) | Over::Fault(close) = over
        && tap.line.closed().is_none()
    {
        drive.cut(close, inbound.take()).await;
    }
    let closed = tap.line.closed();
    let ended = closed.map_or_else(Instant::now, |closed| closed.at);
    if matches!(over, Over::Received(Ok(()))) && closed.is_none() {
        story.happen(Moment::LastByte, tap.last_read().unwrap_or(ended));
    }
    let ending = ending(&over, &tap);
    let response = drive.inbox.response();
    let times = Times {
        connected: drive.connection.connected,
        released: story.released(),
        sent: story.at(Moment::Sent),
        first_byte: story.at(Moment::FirstByte),
        last_byte: story.at(Moment::LastByte),
        ended,
    };
    let delivery = if times.first_byte.is_some() || tap.response_seen() > 0 {
        Delivery::ResponseSeen
    } else if times.sent.is_some() {
        Delivery::Delivered
    } else if drive.has_sent_some() {
        Delivery::Partial
    } else {
        Delivery::NotSent
    };
    let fault = drive.controls.fault.map(|fault| {
        let told = tap.was_told_to_continue();
        report(fault, &over, closed, &times, response.as_ref(), told)
    });
    let unread = closed
        .filter(|_| !tap.is_tls() && !drive.connection.is_http2())
        .map(|closed| closed.unread);
    drive.shared.over();
    story.happen(Moment::Ended, ended);
    let mut late = None;
    let mut connection = None;
    match over {
        Over::GaveUp => {
            late = inbound.map(|inbound| park(inbound, drive.inbox, drive.connection));
        }
        Over::Impossible(_) => connection = Some(drive.connection),
        // The next 100 over HTTP/2 might be told by its place in a table that nobody keeps here.
        Over::Received(Ok(()))
            if times.sent.is_some() && closed.is_none() && !asked_over_http2(&drive) =>
        {
            connection = idle(drive.connection).await;
        }
        Over::Cut(Close::RstStream) | Over::Fault(Close::RstStream) if closed.is_none() => {
            connection = idle(drive.connection).await;
        }
        _ => {
            tap.line.close(Close::Fin);
        }
    }
    Done {
        times,
        ending,
        delivery,
        response,
        fault,
        unread,
        late,
        connection,
    }
}

pub(super) fn ending(over: &Over, tap: &Tap) -> Ending {
    match over {
        Over::Received(_) if tap.line.closed().is_some() => Ending::HungUp,
        Over::Received(Ok(())) => Ending::Answered,
        Over::Received(Err(error)) => failure(error, tap),
        Over::Cut(_) | Over::Fault(_) => Ending::HungUp,
        Over::OutOfPatience | Over::GaveUp => Ending::TimedOut,
        Over::Impossible(says) => Ending::Broken { says: says.clone() },
        Over::WriteFailed(error) => Ending::ClosedByPeer {
            says: format!("the request could not be written to its end: {error}"),
        },
    }
}

fn failure(error: &hyper::Error, tap: &Tap) -> Ending {
    let place = match tap.response_seen() {
        0 => "before any byte of a response".to_owned(),
        bytes => format!("after {bytes} bytes of its response"),
    };
    if error.is_parse() {
        return Ending::Broken {
            says: format!("what came back is not HTTP: {}", words(error)),
        };
    }
    match tap.ended() {
        Some(PeerEnd::Closed) => Ending::ClosedByPeer {
            says: format!("the peer closed the connection {place}"),
        },
        Some(PeerEnd::Reset) => Ending::ClosedByPeer {
            says: format!("the peer reset the connection {place}"),
        },
        Some(PeerEnd::Error(says)) => Ending::Broken {
            says: format!("the connection broke {place}: {says}"),
        },
        None if tap.frames(|frames| frames.now.reset_in) == Some(true) => Ending::ClosedByPeer {
            says: format!("the peer reset the stream {place}: {}", words(error)),
        },
        None => Ending::Broken {
            says: format!("the exchange broke {place}: {}", words(error)),
        },
    }
}

/// An error and its causes.
fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a String cannot fail.
        let _ = write!(words, ": {error}");
        cause = error.source();
    }
    words
}

/// Whether the fault did its thing.
fn report(
    fault: Fault,
    over: &Over,
    closed: Option<Closed>,
    times: &Times,
    response: Option<&Response>,
    told_to_continue: bool,
) -> FaultReport {
    let not_fired = |says: String| FaultReport { fired: false, says };
    let fired = |says: String| FaultReport { fired: true, says };
    let how = match (closed, over) {
        (Some(closed), _) => name(closed.close),
        (None, Over::Cut(close) | Over::Fault(close)) => name(*close),
        _ => "",
    };
    // HTTP/1.1 is cut at the exact byte, before the driver knows.
    let cut =
        matches!(over, Over::Fault(_)) || closed.is_some() && matches!(over, Over::Received(_));
    match (fault, over) {
        (_, Over::Impossible(says)) => not_fired(says.clone()),
        (_, Over::WriteFailed(error)) => {
            not_fired(format!("the request could not be written: {error}"))
        }
        (_, Over::OutOfPatience) => not_fired("our patience was over before its time came".into()),
        (Fault::HangUp, Over::Cut(_)) => match (times.sent, closed) {
            (Some(sent), closed) => fired(format!(
                "closed by {how} {:?} after the request was sent; {}",
                times.ended.saturating_duration_since(sent),
                match closed.map_or(0, |closed| closed.unread) {
                    0 => "nothing had come back".to_owned(),
                    bytes => format!("at least {bytes} bytes lay unread"),
                },
            )),
            _ => not_fired("cut before the request was sent".into()),
        },
        (_, Over::Cut(_)) => not_fired("the exchange was cut off before its time came".into()),
        (Fault::BeforeRequest { .. }, _) if cut => {
            fired(format!("closed by {how} before any byte of the request"))
        }
        (Fault::MidBody { .. }, _) if cut => fired(format!(
            "closed by {how} in the middle of the request's body"
        )),
        (Fault::DropResponse { after, .. }, _) if cut => fired(match after {
            ResponsePart::FirstByte => {
                format!("closed by {how} when the response's first byte had come")
            }
            ResponsePart::Headers => {
                format!("closed by {how} when the response's headers had come")
            }
        }),
        (Fault::MidResponse { .. }, _) if cut => fired(format!(
            "closed by {how} after {} bytes of the response's body",
            response.map_or(0, |response| response.body_len)
        )),
        (Fault::Stall { time, .. }, Over::Received(_)) if times.sent.is_some() => fired(format!(
            "the rest of the request's body came {time:?} later"
        )),
        (Fault::AwaitContinue { at_most, close }, _)
            if cut || times.sent.is_some() && matches!(over, Over::Received(_)) =>
        {
            let what = match close {
                Some(_) => format!("closed by {how} before any byte of the body"),
                None => "sent the body".to_owned(),
            };
            fired(match told_to_continue {
                true => format!("{what} after the target had said 100 Continue"),
                false => format!("{what} after {at_most:?} without a 100 Continue"),
            })
        }
        (Fault::AwaitContinue { close: None, .. }, Over::Received(Ok(()))) => {
            fired("the target answered before it had any byte of the body".to_owned())
        }
        (Fault::Timeout { after }, Over::GaveUp) => fired(format!(
            "gave up {after:?} after the request was sent and left the connection open"
        )),
        (Fault::MidResponse { .. }, Over::Received(Ok(()))) => {
            not_fired("the response has no body that could be cut".into())
        }
        (_, Over::Received(Ok(()))) => {
            not_fired("the response was complete before the fault's time came".into())
        }
        _ => not_fired("the exchange broke before the fault's time came".into()),
    }
}

fn name(close: Close) -> &'static str {
    match close {
        Close::Fin => "FIN",
        Close::Rst => "RST",
        Close::RstStream => "RST_STREAM",
    }
}

/// Leaves the connection open for a late response, until that has come or nobody waits for it.
fn park(inbound: Inbound, inbox: Inbox, connection: Connection) -> LateResponse {
    let (mut arrived, parked) = oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            result = inbound => {
                if result.is_ok() && let Some(response) = inbox.response() {
                    let at = connection.tap.last_read().unwrap_or_else(Instant::now);
                    // Nobody may want it any more.
                    let _ = arrived.send((at, response));
                }
            }
            () = arrived.closed() => {}
        }
        connection.tap.line.close(Close::Fin);
    });
    LateResponse { parked }
}

/// Whether the headers asked, over HTTP/2, if the body may come.
fn asked_over_http2(drive: &Drive) -> bool {
    drive.connection.is_http2() && matches!(drive.controls.fault, Some(Fault::AwaitContinue { .. }))
}

/// The connection, if it can carry another request.
pub(super) async fn idle(mut connection: Connection) -> Option<Connection> {
    match tokio::time::timeout(IDLE, connection.sender.ready()).await {
        Ok(Ok(())) => Some(connection),
        _ => None,
    }
}
