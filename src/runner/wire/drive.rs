//! Takes one request through its life: writes it, holds it, waits for what comes back, and does
//! to it what was asked for.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Empty;
use tokio::sync::oneshot;

use crate::runner::wire::account::{self, Over};
use crate::runner::wire::connect::{Connection, Sender};
use crate::runner::wire::done::Done;
use crate::runner::wire::encode::encode;
use crate::runner::wire::flight::{Flight, Moment, Shared};
use crate::runner::wire::receive::{Inbox, receive};
use crate::runner::wire::request::{Close, Controls, Fault, Outgoing};
use crate::runner::wire::scan::{Scan, share_of};
use crate::runner::wire::story::Story;

/// How long we wait for the peer's kernel to acknowledge before a close. A delayed
/// acknowledgement takes about 40 ms.
pub(super) const ACKNOWLEDGEMENT: Duration = Duration::from_millis(100);

/// What comes back, as far as it has come.
pub(super) type Inbound = Pin<Box<dyn Future<Output = Result<(), hyper::Error>> + Send>>;

/// Starts a request, and returns once it is on its way as far as it shall go for now.
pub(super) async fn launch(
    connection: Connection,
    request: Outgoing,
    controls: Controls,
) -> Flight {
    let payload = payload(&request, controls.fault);
    let story = Arc::new(Story::new(connection.connected));
    let shared = Shared::new(
        Arc::clone(&story),
        Arc::clone(&connection.tap.line),
        payload.as_ref().is_ok_and(|payload| payload.whole),
        controls.hold,
    );
    let (prepared, is_prepared) = oneshot::channel();
    let drive = Drive {
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

/// The bytes that shall go out.
struct Payload {
    bytes: Vec<u8>,
    /// They are the whole request.
    whole: bool,
}

/// # Errors
/// In words, if this request cannot be sent, or not with this fault.
fn payload(request: &Outgoing, fault: Option<Fault>) -> Result<Payload, String> {
    if fault.and_then(Fault::close) == Some(Close::RstStream) {
        return Err("only HTTP/2 can cancel a stream and keep the connection".into());
    }
    let mut encoded = encode(request)?;
    let mut whole = true;
    if let Some(Fault::MidBody { share, .. }) = fault {
        let length = request.body.as_ref().map_or(0, Bytes::len);
        if length == 0 {
            return Err("a request without a body cannot be cut in its body".into());
        }
        let kept = usize::try_from(share_of(length as u64, share)).unwrap_or(length);
        encoded.bytes.truncate(encoded.body_start + kept);
        whole = false;
    }
    Ok(Payload {
        bytes: encoded.bytes,
        whole,
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
}

impl Drive {
    async fn run(
        mut self,
        request: Outgoing,
        payload: Result<Payload, String>,
        prepared: oneshot::Sender<()>,
    ) -> Done {
        let payload = match payload {
            Ok(payload) => payload,
            Err(says) => return account::close(self, Over::Impossible(says), None).await,
        };
        if let Some(Fault::BeforeRequest { close }) = self.controls.fault {
            let over = self.before_request(close, prepared).await;
            return account::close(self, over, None).await;
        }
        let tap = Arc::clone(&self.connection.tap);
        let head_only = request.method == http::Method::HEAD;
        tap.follow(
            Arc::clone(&self.shared.story),
            Scan::new(head_only, self.controls.fault),
        );
        let mut inbound = match self.listen(&request).await {
            Ok(inbound) => inbound,
            Err(error) => return account::close(self, Over::Received(Err(error)), None).await,
        };
        let Err(over) = self.send(&payload, &mut inbound, prepared).await;
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
                self.wait_and_close(close).await;
                Over::Fault
            }
        }
    }

    /// Makes hyper take a response to this request. It believes that it wrote the request.
    async fn listen(&mut self, request: &Outgoing) -> Result<Inbound, hyper::Error> {
        let Sender::Http1(sender) = &mut self.connection.sender;
        sender.ready().await?;
        let mut asked = http::Request::new(Empty::new());
        *asked.method_mut() = request.method.clone();
        for (name, value) in &request.headers {
            // The only header that says something about the connection itself.
            if name.eq_ignore_ascii_case("connection")
                && let Ok(value) = http::HeaderValue::from_bytes(value)
            {
                asked.headers_mut().append(http::header::CONNECTION, value);
            }
        }
        let answer = sender.send_request(asked);
        Ok(Box::pin(receive(answer, self.inbox.clone())))
    }

    /// Runs until the exchange is over.
    async fn send(
        &mut self,
        payload: &Payload,
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
        let hold = self.controls.hold;
        if !hold {
            self.shared.story.set_released(Instant::now());
        }
        let (first, last) = payload
            .bytes
            .split_at(payload.bytes.len() - usize::from(hold));
        let mut written = self.race(tap.write(first), inbound, deadline).await?;
        if hold && written.is_ok() {
            tap.line.hold();
            written = self.race(tap.write(last), inbound, deadline).await?;
        }
        let _ = prepared.send(());
        self.race(self.shared.released(), inbound, None).await?;
        let released = self.shared.story.released().unwrap_or(self.begun);
        let deadline = Some(released + patience);
        if written.is_ok() {
            written = self.race(tap.flush(), inbound, deadline).await?;
        }
        match written {
            Ok(()) if payload.whole => self.shared.story.happen(Moment::Sent, Instant::now()),
            Ok(()) => {}
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
                tap.line.close(close);
                Err(Over::Fault)
            }
            Some(Fault::Timeout { after }) => {
                let sent = self.shared.story.at(Moment::Sent).unwrap_or(released);
                let over = self.race(pending(), inbound, Some(sent + after)).await;
                match over {
                    Err(Over::OutOfPatience) => Err(Over::GaveUp),
                    other => other,
                }
            }
            _ => self.race(pending(), inbound, deadline).await,
        }
    }

    /// Does one step, unless the exchange ends before it is done.
    async fn race<T>(
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

    /// Closes. A reset throws away what the peer has not got: it waits for that a little.
    pub(super) async fn wait_and_close(&self, close: Close) {
        let line = &self.connection.tap.line;
        if close == Close::Rst {
            line.acknowledged(ACKNOWLEDGEMENT).await;
        }
        line.close(close);
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}
