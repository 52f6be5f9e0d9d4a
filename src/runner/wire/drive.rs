//! Takes one request through its life: writes it, holds it, waits for what comes back, and does
//! to it what was asked for.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body_util::Empty;
use tokio::sync::oneshot;

use crate::runner::wire::account::{self, Over};
use crate::runner::wire::connect::{Connection, Sender};
use crate::runner::wire::done::Done;
use crate::runner::wire::encode::encode;
use crate::runner::wire::flight::{Flight, Moment, Shared};
use crate::runner::wire::frames::Frames;
use crate::runner::wire::http2::{Streamed, streamed};
use crate::runner::wire::receive::{Inbox, receive};
use crate::runner::wire::request::{Close, Controls, Fault, Hold, Outgoing};
use crate::runner::wire::scan::share_of;
use crate::runner::wire::story::Story;

/// How long we wait for the peer's kernel to acknowledge before a close. A delayed
/// acknowledgement takes about 40 ms.
pub(super) const ACKNOWLEDGEMENT: Duration = Duration::from_millis(100);

/// What comes back, as far as it has come.
pub(super) type Inbound = BoxFuture<'static, Result<(), hyper::Error>>;

/// Starts a request, and returns once it is on its way as far as it shall go for now.
pub(super) async fn launch(
    connection: Connection,
    request: Outgoing,
    controls: Controls,
) -> Flight {
    let http2 = connection.is_http2();
    let payload = if http2 {
        streamed(&request, connection.scheme, controls.fault)
            .map(|streamed| Payload::Stream(Box::new(streamed)))
    } else {
        payload(&request, controls.fault)
    };
    let story = Arc::new(Story::new(connection.connected));
    let shared = Shared::new(
        Arc::clone(&story),
        Arc::clone(&connection.tap.line),
        payload.as_ref().is_ok_and(Payload::is_whole),
        http2,
        controls.hold != Hold::Nothing,
    );
    let (prepared, is_prepared) = oneshot::channel();
    let drive = Drive {
        headers_only: false,
        written_before: connection.tap.line.written(),
        connection,
        shared: Arc::clone(&shared),
        controls,
        inbox: Inbox::default(),
        begun: Instant::now(),
    };
    let driver = tokio::spawn(drive.run(request, payload, prepared));
    // An error means that the exchange is over already, which `done` will tell.
    let _ = is_prepared.await;
    Flight::new(shared, driver)
}

/// What shall go out.
enum Payload {
    Bytes {
        bytes: Vec<u8>,
        /// They are the whole request.
        whole: bool,
        /// What goes out after a stall.
        rest: Vec<u8>,
    },
    Stream(Box<Streamed>),
}

impl Payload {
    fn is_whole(&self) -> bool {
        match self {
            Payload::Bytes { whole, .. } => *whole,
            Payload::Stream(streamed) => streamed.is_whole(),
        }
    }
}

/// # Errors
/// In words, if this request cannot be sent, or not with this fault.
fn payload(request: &Outgoing, fault: Option<Fault>) -> Result<Payload, String> {
    if fault.and_then(Fault::close) == Some(Close::RstStream) {
        return Err("only HTTP/2 can cancel a stream and keep the connection".into());
    }
    let mut encoded = encode(request)?;
    let mut whole = true;
    let mut rest = Vec::new();
    let share = match fault {
        Some(Fault::MidBody { share, .. } | Fault::Stall { share, .. }) => Some(share),
        Some(Fault::AwaitContinue { .. }) => Some(0.0),
        _ => None,
    };
    if let Some(share) = share {
        let length = request.body.as_ref().map_or(0, Bytes::len);
        if length == 0 {
            return Err("a request without a body cannot be cut in its body".into());
        }
        let kept = usize::try_from(share_of(length as u64, share)).unwrap_or(length);
        rest = encoded.bytes.split_off(encoded.body_start + kept);
        whole = false;
    }
    if let Some(Fault::MidBody { .. }) = fault {
        rest.clear();
    }
    Ok(Payload::Bytes {
        bytes: encoded.bytes,
        whole,
        rest,
    })
}

/// One exchange, from its first byte to its end.
pub(super) struct Drive {
    pub(super) connection: Connection,
    pub(super) shared: Arc<Shared>,
    pub(super) controls: Controls,
    pub(super) inbox: Inbox,
    pub(super) begun: Instant,
    pub(super) written_before: u64,
    /// The frame with the headers is all that is sent, and is what is held.
    headers_only: bool,
}

impl Drive {
    async fn run(
        mut self,
        request: Outgoing,
        payload: Result<Payload, String>,
        prepared: oneshot::Sender<()>,
    ) -> Done {
        let tap = Arc::clone(&self.connection.tap);
        let head_only = request.method == http::Method::HEAD;
        let story = Arc::clone(&self.shared.story);
        tap.follow(story, head_only, self.controls.fault);
        let payload = match payload {
            Ok(payload) => payload,
            Err(says) => return account::close(self, Over::Impossible(says), None).await,
        };
        if let Some(Fault::BeforeRequest { close }) = self.controls.fault {
            let over = self.before_request(close, prepared).await;
            return account::close(self, over, None).await;
        }
        if let Err(error) = self.connection.sender.ready().await {
            return account::close(self, Over::Received(Err(error)), None).await;
        }
        let inbox = self.inbox.clone();
        let mut inbound: Inbound;
        let Err(over) = match (payload, &mut self.connection.sender) {
            (Payload::Bytes { bytes, rest, .. }, Sender::Http1(sender)) => {
                inbound = receive(sender.send_request(asked(&request)), inbox)
                    .fuse()
                    .boxed();
                self.send(&bytes, &rest, &mut inbound, prepared).await
            }
            (Payload::Stream(streamed), Sender::Http2(sender)) => {
                let Streamed { request, stages } = *streamed;
                self.headers_only = stages.is_headers_only();
                if self.headers_only || self.controls.hold == Hold::Everything {
                    tap.line.hold();
                }
                inbound = receive(sender.send_request(request), inbox).fuse().boxed();
                self.send_stream(stages, &mut inbound, prepared).await
            }
            _ => unreachable!("the payload was made for this connection"),
        };
        account::close(self, over, Some(inbound)).await
    }

    /// Nothing is sent, not even when released.
    async fn before_request(&self, close: Close, prepared: oneshot::Sender<()>) -> Over {
        let _ = prepared.send(());
        tokio::select! {
            biased;
            close = self.shared.cut_asked() => Over::Cut(close),
            () = self.shared.released() => {
                self.shared.story.set_released(Instant::now());
                Over::Fault(close)
            }
        }
    }

    /// Runs until the exchange is over.
    async fn send(
        &mut self,
        bytes: &[u8],
        rest: &[u8],
        inbound: &mut Inbound,
        prepared: oneshot::Sender<()>,
    ) -> Result<Infallible, Over> {
        let tap = Arc::clone(&self.connection.tap);
        let patience = self.controls.patience;
        let deadline = Some(self.begun + patience);
        self.race(tap.hyper_listens(), inbound, deadline).await?;
        if self.controls.fault == Some(Fault::HangUp) {
            tap.line.shut_reading();
        }
        let hold = self.controls.hold != Hold::Nothing;
        if !hold {
            self.shared.story.set_released(Instant::now());
        }
        let (first, last) = bytes.split_at(match self.controls.hold {
            Hold::Nothing => bytes.len(),
            Hold::LastByte => bytes.len() - 1,
            Hold::Everything => 0,
        });
        let mut written = self.race(tap.write(first), inbound, deadline).await?;
        if hold && written.is_ok() {
            tap.line.hold();
            written = self.race(tap.write(last), inbound, deadline).await?;
        }
        if written.is_ok() {
            self.shared.handed_over();
            self.shared.note_sent();
        }
        let _ = prepared.send(());
        self.race(self.shared.released(), inbound, None).await?;
        let released = self.shared.story.released().unwrap_or(self.begun);
        let deadline = Some(released + patience);
        if hold && written.is_ok() {
            written = self.race(tap.flush(), inbound, deadline).await?;
        }
        match written {
            Ok(()) => self.shared.note_sent(),
            Err(error) if self.controls.fault == Some(Fault::HangUp) => {
                return Err(Over::WriteFailed(error));
            }
            // The peer may have answered before it closed; if not, reading will tell.
            Err(_) => return self.race(pending(), inbound, deadline).await,
        }
        match self.controls.fault {
            Some(Fault::MidBody { close, .. }) => {
                self.race(tap.line.acknowledged(ACKNOWLEDGEMENT), inbound, deadline)
                    .await?;
                Err(Over::Fault(close))
            }
            Some(Fault::Timeout { after }) => self.give_up(after, inbound).await,
            Some(Fault::Stall { time, .. }) => {
                let deadline = deadline.map(|deadline| deadline + time);
                let stalled = tokio::time::sleep(time);
                self.race(stalled, inbound, deadline).await?;
                self.send_rest(rest, inbound, deadline).await
            }
            Some(Fault::AwaitContinue { at_most, close }) => {
                self.until_told(at_most, inbound, deadline).await?;
                let deadline = deadline.map(|deadline| deadline + at_most);
                match close {
                    Some(close) => Err(Over::Fault(close)),
                    None => self.send_rest(rest, inbound, deadline).await,
                }
            }
            _ => self.race(pending(), inbound, deadline).await,
        }
    }

    /// Waits for a 100 Continue, for so long at most.
    pub(super) async fn until_told(
        &self,
        at_most: Duration,
        inbound: &mut Inbound,
        deadline: Option<Instant>,
    ) -> Result<(), Over> {
        let deadline = deadline.map(|deadline| deadline + at_most);
        let told = tokio::time::timeout(at_most, self.connection.tap.continues());
        // That nothing came is said in the report.
        let _ = self.race(told, inbound, deadline).await?;
        Ok(())
    }

    /// Sends what was left of the body, and waits for the response.
    async fn send_rest(
        &self,
        rest: &[u8],
        inbound: &mut Inbound,
        deadline: Option<Instant>,
    ) -> Result<Infallible, Over> {
        let tap = &self.connection.tap;
        let written = self.race(tap.write(rest), inbound, deadline).await?;
        if let (Ok(()), Some(at)) = (written, tap.line.all_written()) {
            self.shared.story.happen(Moment::Sent, at);
        }
        self.race(pending(), inbound, deadline).await
    }

    /// Waits as long as a timeout fault does.
    pub(super) async fn give_up(
        &self,
        after: Duration,
        inbound: &mut Inbound,
    ) -> Result<Infallible, Over> {
        let sent = self.shared.story.at(Moment::Sent).unwrap_or(self.begun);
        match self.race(pending(), inbound, Some(sent + after)).await {
            Err(Over::OutOfPatience) => Err(Over::GaveUp),
            other => other,
        }
    }

    /// Does one step, unless the exchange ends before it is done.
    pub(super) async fn race<T>(
        &self,
        step: impl Future<Output = T>,
        inbound: &mut Inbound,
        deadline: Option<Instant>,
    ) -> Result<T, Over> {
        tokio::select! {
            biased;
            close = self.shared.cut_asked() => Err(Over::Cut(close)),
            result = inbound => Err(Over::Received(result)),
            value = step => Ok(value),
            () = until(deadline) => Err(Over::OutOfPatience),
        }
    }

    /// Whether the kernel was given any byte of the request.
    pub(super) fn has_sent_some(&self) -> bool {
        let tap = &self.connection.tap;
        match tap.frames(|frames| frames.now.headers_out) {
            Some(headers_out) => headers_out && !(self.headers_only && tap.line.is_holding()),
            None => tap.line.written() > self.written_before,
        }
    }

    /// Closes, or cancels the stream (unless a part of it is still held: then the connection
    /// goes with it). A reset throws away what the peer has not got: it waits for that a little.
    pub(super) async fn cut(&self, close: Close, inbound: Option<Inbound>) {
        let tap = &self.connection.tap;
        if close == Close::RstStream && self.connection.is_http2() && !tap.line.is_holding() {
            // Hyper cancels the stream of a response that nobody waits for.
            drop(inbound);
            tap.frames(Frames::resume);
            tap.line.open_reading();
            let cancelled = tap.frames_until(|frames| frames.now.reset_out && frames.flushed);
            // If it cannot be written the connection is broken, which its next user will see.
            let _ = tokio::time::timeout(ACKNOWLEDGEMENT, cancelled).await;
            return;
        }
        if close == Close::Rst {
            tap.line.acknowledged(ACKNOWLEDGEMENT).await;
        }
        tap.line.close(close);
    }
}

/// What hyper is to believe that it sends: of the request only what tells it how to read the
/// response and whether to keep the connection.
fn asked(request: &Outgoing) -> http::Request<Empty<Bytes>> {
    let mut asked = http::Request::new(Empty::new());
    *asked.method_mut() = request.method.clone();
    for (name, value) in &request.headers {
        if name.eq_ignore_ascii_case("connection")
            && let Ok(value) = http::HeaderValue::from_bytes(value)
        {
            asked.headers_mut().append(http::header::CONNECTION, value);
        }
    }
    asked
}

pub(super) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}
