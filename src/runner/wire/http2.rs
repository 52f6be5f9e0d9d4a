//! HTTP/2: hyper writes the frames, and the last of them is held on the line.

use std::convert::Infallible;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::oneshot;

use crate::runner::wire::account::Over;
use crate::runner::wire::connect::Scheme;
use crate::runner::wire::drive::{ACKNOWLEDGEMENT, Drive, Inbound};
use crate::runner::wire::encode::check;
use crate::runner::wire::flight::Moment;
use crate::runner::wire::frames::Frames;
use crate::runner::wire::line::Release;
use crate::runner::wire::request::{Close, Fault, Hold, Outgoing, ResponsePart};
use crate::runner::wire::scan::share_of;

/// How long hyper may take to hand up what it was given.
const HANDED_UP: Duration = Duration::from_millis(200);

/// A request, ready for hyper, and how it goes out.
pub(super) struct Streamed {
    pub(super) request: http::Request<GatedBody>,
    pub(super) stages: Stages,
}

/// What goes out when.
pub(super) struct Stages {
    /// Data that goes out at once.
    pub(super) first: u64,
    /// All data that goes out.
    pub(super) kept: u64,
    /// The end of the stream goes out as well.
    whole: bool,
    /// Data that goes out once the target has said that it may.
    after_asking: u64,
    /// Lets the last byte out.
    pub(super) open: oneshot::Sender<()>,
}

impl Streamed {
    pub(super) fn is_whole(&self) -> bool {
        self.stages.whole
    }
}

impl Stages {
    /// The frame with the headers is the last one, and must be held itself.
    pub(super) fn is_headers_only(&self) -> bool {
        self.kept == 0
    }
}

/// # Errors
/// In words, if this request cannot be sent over HTTP/2, or not with this fault.
pub(super) fn streamed(
    request: &Outgoing,
    scheme: Scheme,
    fault: Option<Fault>,
) -> Result<Streamed, String> {
    check(request)?;
    if request.chunked {
        return Err("HTTP/2 has no chunked bodies".into());
    }
    if request.upper_case_headers {
        return Err("HTTP/2 has no capital letters in header names".into());
    }
    if let Some(Fault::Stall { .. }) = fault {
        return Err("a request over HTTP/2 cannot be stalled".into());
    }
    let body = request.body.clone().unwrap_or_default();
    let total = body.len() as u64;
    let mut kept = body;
    let whole = match fault {
        Some(Fault::BeforeRequest {
            close: Close::RstStream,
        }) => {
            return Err("before the request there is no stream to cancel".into());
        }
        Some(Fault::MidBody { .. } | Fault::AwaitContinue { .. }) if total == 0 => {
            return Err("a request without a body cannot be cut in its body".into());
        }
        Some(Fault::MidBody { share, .. }) => {
            kept.truncate(usize::try_from(share_of(total, share)).unwrap_or(usize::MAX));
            false
        }
        _ => true,
    };
    let length = kept.len() as u64;
    let asks = matches!(fault, Some(Fault::AwaitContinue { .. }));
    let last = kept.split_off(if asks {
        0
    } else {
        kept.len().saturating_sub(1)
    });
    let first = kept.len() as u64;
    let (open, gate) = oneshot::channel();
    let body = GatedBody {
        first: Some(kept).filter(|bytes| !bytes.is_empty()),
        last: Some(last).filter(|bytes| !bytes.is_empty()),
        whole,
        total,
        gate,
    };
    let host = request
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = match host {
        Some((_, value)) => String::from_utf8_lossy(value).into_owned(),
        None => request.authority.clone(),
    };
    let mut builder = http::Request::builder()
        .method(request.method.clone())
        .uri(format!("{}://{authority}{}", scheme.name(), request.target));
    for (name, value) in &request.headers {
        if !name.eq_ignore_ascii_case("host") {
            builder = builder.header(name, value.as_slice());
        }
    }
    Ok(Streamed {
        request: builder
            .body(body)
            .map_err(|error| format!("not a request: {error}"))?,
        stages: Stages {
            first,
            kept: if asks { 0 } else { length },
            whole: whole && !asks,
            after_asking: if asks { length } else { 0 },
            open,
        },
    })
}

/// A body whose last part, mostly a byte, waits for a gate, and whose end may never come.
#[derive(Debug)]
pub(super) struct GatedBody {
    first: Option<Bytes>,
    last: Option<Bytes>,
    whole: bool,
    total: u64,
    gate: oneshot::Receiver<()>,
}

impl Body for GatedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if self.last.is_some() {
            // A gate that is lost stays shut: the exchange is over, and hyper drops this body.
            if ready!(Pin::new(&mut self.gate).poll(cx)).is_err() {
                return Poll::Pending;
            }
            return Poll::Ready(self.last.take().map(|last| Ok(Frame::data(last))));
        }
        if self.whole {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    fn is_end_stream(&self) -> bool {
        self.whole && self.first.is_none() && self.last.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.total)
    }
}

/// What of a stream must have gone out.
struct Out {
    data: u64,
    end: bool,
}

impl Out {
    fn is_reached(&self, frames: &Frames) -> bool {
        let now = &frames.now;
        frames.flushed && now.headers_out && now.data_out >= self.data && (now.end_out || !self.end)
    }
}

/// Opens the gate of a body, which is gone if the exchange is over: the race that follows tells.
fn let_out(open: Option<oneshot::Sender<()>>) {
    if let Some(open) = open {
        let _ = open.send(());
    }
}

impl Drive {
    /// Runs until the exchange is over.
    pub(super) async fn send_stream(
        &mut self,
        stages: Stages,
        inbound: &mut Inbound,
        prepared: oneshot::Sender<()>,
    ) -> Result<Infallible, Over> {
        let tap = Arc::clone(&self.connection.tap);
        let deadline = Some(self.begun + self.controls.patience);
        let headers_only = stages.is_headers_only();
        let mut open = Some(stages.open);
        if !headers_only {
            let out = Out {
                data: stages.first,
                end: false,
            };
            self.race(
                tap.frames_until(|frames| out.is_reached(frames)),
                inbound,
                deadline,
            )
            .await?;
            tap.line.hold();
            let_out(open.take());
        }
        let out = Out {
            data: stages.kept,
            end: stages.whole,
        };
        self.race(
            tap.frames_until(|frames| out.is_reached(frames)),
            inbound,
            deadline,
        )
        .await?;
        if self.controls.fault == Some(Fault::HangUp) {
            tap.line.shut_reading();
        }
        self.shared.handed_over();
        let mut stuck = self.controls.hold != Hold::Nothing;
        if !stuck {
            self.shared.story.set_released(Instant::now());
            stuck = tap.line.release() == Release::Stuck;
            self.shared.note_sent();
        }
        let _ = prepared.send(());
        self.race(self.shared.released(), inbound, None).await?;
        let released = self.shared.story.released().unwrap_or(self.begun);
        let deadline = Some(released + self.controls.patience);
        if stuck && let Err(error) = self.race(tap.flush(), inbound, deadline).await? {
            return Err(Over::WriteFailed(error));
        }
        self.shared.note_sent();
        match self.controls.fault {
            Some(Fault::MidBody { close, .. }) => {
                self.race(tap.line.acknowledged(ACKNOWLEDGEMENT), inbound, deadline)
                    .await?;
                Err(Over::Fault(close))
            }
            Some(Fault::Timeout { after }) => self.give_up(after, inbound).await,
            Some(Fault::AwaitContinue { at_most, close }) => {
                self.until_told(at_most, inbound, deadline).await?;
                if let Some(close) = close {
                    return Err(Over::Fault(close));
                }
                let_out(open.take());
                let out = Out {
                    data: stages.after_asking,
                    end: true,
                };
                let deadline = deadline.map(|deadline| deadline + at_most);
                self.race(
                    tap.frames_until(|frames| out.is_reached(frames)),
                    inbound,
                    deadline,
                )
                .await?;
                if let Some(at) = tap.line.all_written() {
                    self.shared.story.happen(Moment::Sent, at);
                }
                self.race(pending(), inbound, deadline).await
            }
            Some(Fault::DropResponse { after, close }) => {
                self.stopped(inbound, deadline).await?;
                if after == ResponsePart::Headers {
                    self.handed_up(inbound, |_| true).await?;
                }
                Err(Over::Fault(close))
            }
            Some(Fault::MidResponse { share, close }) => {
                self.mid_response(share, inbound, deadline).await?;
                Err(Over::Fault(close))
            }
            _ => self.race(pending(), inbound, deadline).await,
        }
    }

    /// Reads a share of the response's body, if it has one.
    async fn mid_response(
        &self,
        share: f64,
        inbound: &mut Inbound,
        deadline: Option<Instant>,
    ) -> Result<(), Over> {
        let tap = &self.connection.tap;
        self.stopped(inbound, deadline).await?;
        self.handed_up(inbound, |_| true).await?;
        let bytes = match self.inbox.content_length() {
            Some(0) => {
                tap.frames(Frames::resume);
                return self.race(pending(), inbound, deadline).await;
            }
            Some(length) => share_of(length, share),
            None => 1,
        };
        if bytes > 0 {
            tap.frames(|frames| frames.permit_data(bytes));
            self.stopped(inbound, deadline).await?;
            let whole = tap.frames(|frames| frames.now.whole_data_in).unwrap_or(0);
            self.handed_up(inbound, |got| got >= whole).await?;
        }
        Ok(())
    }

    /// Waits until the response stops where the fault wants it.
    async fn stopped(&self, inbound: &mut Inbound, deadline: Option<Instant>) -> Result<(), Over> {
        let tap = &self.connection.tap;
        let stopped = tap.frames_until(|frames| frames.now.stopped);
        self.race(stopped, inbound, deadline).await
    }

    /// Lets hyper hand up what it was given, until so much body has come.
    async fn handed_up(
        &self,
        inbound: &mut Inbound,
        enough: impl Fn(u64) -> bool,
    ) -> Result<(), Over> {
        let soon = Some(Instant::now() + HANDED_UP);
        match self.race(self.inbox.until(enough), inbound, soon).await {
            // It is handed up, or never will be: the cut follows in any case.
            Err(Over::Received(Ok(())) | Over::OutOfPatience) => Ok(()),
            other => other,
        }
    }
}
