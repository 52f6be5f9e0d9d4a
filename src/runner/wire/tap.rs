//! The stream above TLS, between hyper and the line. Reads are followed and timed, and cut at the
//! exact byte. For HTTP/1.1 hyper's own writes are swallowed: the request is written by us, so
//! that it stands on the wire exactly as it was given.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio_rustls::client::TlsStream;

use crate::runner::wire::flight::Moment;
use crate::runner::wire::line::{Line, LineIo};
use crate::runner::wire::scan::Scan;
use crate::runner::wire::story::Story;

/// With or without TLS.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(LineIo),
    Tls(Box<TlsStream<LineIo>>),
}

/// One connection's bytes above TLS.
#[derive(Debug)]
pub(super) struct Tap {
    pub(super) line: Arc<Line>,
    state: Mutex<State>,
    /// Told when hyper has begun with a request.
    begun: Notify,
}

#[derive(Debug)]
struct State {
    stream: Stream,
    flight: Option<Tapped>,
    swallowed: bool,
    last_read: Option<Instant>,
    /// The stream ended by the peer's doing.
    ended: Option<PeerEnd>,
}

#[derive(Debug)]
struct Tapped {
    story: Arc<Story>,
    scan: Scan,
}

/// How the peer ended the stream.
#[derive(Clone, Debug)]
pub(super) enum PeerEnd {
    Closed,
    Reset,
    /// Something that TLS or the system could not make sense of.
    Error(String),
}

impl PeerEnd {
    fn of(error: &io::Error) -> PeerEnd {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => PeerEnd::Closed,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected => PeerEnd::Reset,
            _ => PeerEnd::Error(error.to_string()),
        }
    }
}

impl Tap {
    pub(super) fn new(line: Arc<Line>, stream: Stream) -> Arc<Tap> {
        Arc::new(Tap {
            line,
            state: Mutex::new(State {
                stream,
                flight: None,
                swallowed: false,
                last_read: None,
                ended: None,
            }),
            begun: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// From now on reads belong to this flight.
    pub(super) fn follow(&self, story: Arc<Story>, scan: Scan) {
        let mut state = self.state();
        state.flight = Some(Tapped { story, scan });
        state.swallowed = false;
        state.last_read = None;
    }

    /// Waits until hyper has written its request, which is when it will take a response.
    pub(super) async fn hyper_listens(&self) {
        loop {
            let begun = self.begun.notified();
            if self.state().swallowed {
                return;
            }
            begun.await;
        }
    }

    pub(super) fn last_read(&self) -> Option<Instant> {
        self.state().last_read
    }

    /// Bytes of response that were read, informational ones not counted.
    pub(super) fn response_seen(&self) -> u64 {
        self.state()
            .flight
            .as_ref()
            .map_or(0, |tapped| tapped.scan.seen)
    }

    pub(super) fn ended(&self) -> Option<PeerEnd> {
        self.state().ended.clone()
    }

    pub(super) fn is_tls(&self) -> bool {
        matches!(self.state().stream, Stream::Tls(_))
    }

    /// Writes all of it and flushes it to the line.
    pub(super) async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        std::future::poll_fn(|cx| {
            let mut state = self.state();
            while !bytes.is_empty() {
                let written = ready!(state.stream.pinned_write(cx, bytes))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                bytes = &bytes[written..];
            }
            state.stream.pinned_flush(cx)
        })
        .await
    }

    /// Finishes what a release could not hand over.
    pub(super) async fn flush(&self) -> io::Result<()> {
        self.write(&[]).await
    }
}

impl Stream {
    fn pinned_read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(io) => Pin::new(io).poll_read(cx, buf),
            Stream::Tls(io) => Pin::new(io).poll_read(cx, buf),
        }
    }

    fn pinned_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Plain(io) => Pin::new(io).poll_write(cx, bytes),
            Stream::Tls(io) => Pin::new(io).poll_write(cx, bytes),
        }
    }

    fn pinned_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(io) => Pin::new(io).poll_flush(cx),
            Stream::Tls(io) => Pin::new(io).poll_flush(cx),
        }
    }

    fn pinned_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(io) => Pin::new(io).poll_shutdown(cx),
            Stream::Tls(io) => Pin::new(io).poll_shutdown(cx),
        }
    }
}

/// What hyper is given.
#[derive(Debug)]
pub(super) struct TapIo(pub(super) Arc<Tap>);

impl AsyncRead for TapIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let tap = &self.0;
        let before = buf.filled().len();
        let (story, seen, at) = {
            let mut state = tap.state();
            let result = ready!(state.stream.pinned_read(cx, buf));
            let at = Instant::now();
            if let Err(error) = result {
                if tap.line.closed().is_none() {
                    state.ended.get_or_insert(PeerEnd::of(&error));
                }
                return Poll::Ready(Err(error));
            }
            if buf.filled().len() == before {
                state.ended.get_or_insert(PeerEnd::Closed);
                return Poll::Ready(Ok(()));
            }
            state.last_read = Some(at);
            let Some(tapped) = state.flight.as_mut() else {
                return Poll::Ready(Ok(()));
            };
            let seen = tapped.scan.feed(&buf.filled()[before..]);
            (Arc::clone(&tapped.story), seen, at)
        };
        if let Some(close) = seen.cut {
            tap.line.close(close);
        }
        if seen.first {
            story.happen(Moment::FirstByte, at);
        }
        buf.set_filled(before + seen.allowed);
        if seen.cut.is_some() && seen.allowed == 0 {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if seen.last && seen.cut.is_none() {
            story.happen(Moment::LastByte, at);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TapIo {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.state().swallowed = true;
        self.0.begun.notify_waiters();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.state().stream.pinned_shutdown(cx)
    }
}
