//! The stream above TLS, between hyper and the line. Reads are followed and timed, and cut at the
//! exact byte. For HTTP/1.1 hyper's own writes are swallowed: the request is written by us, so
//! that it stands on the wire exactly as it was given. HTTP/2 frames pass, and are followed.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio_rustls::client::TlsStream;

use crate::runner::wire::flight::Moment;
use crate::runner::wire::frames::Frames;
use crate::runner::wire::line::{Line, LineIo};
use crate::runner::wire::request::Fault;
use crate::runner::wire::scan::Scan;
use crate::runner::wire::story::Story;

/// With or without TLS.
pub(super) enum Stream {
    Plain(LineIo),
    Tls(Box<TlsStream<LineIo>>),
}

/// One connection's bytes above TLS.
pub(super) struct Tap {
    pub(super) line: Arc<Line>,
    state: Mutex<State>,
    /// Told when hyper has written, or what it reads has come to a stop.
    changed: Notify,
}

struct State {
    stream: Stream,
    flight: Option<Tapped>,
    swallowed: bool,
    /// HTTP/1.1 only: a `100 Continue` came.
    told_to_continue: bool,
    /// HTTP/2 only.
    frames: Option<Frames>,
    /// HTTP/2 only: what was read and not handed up yet, and who waits for it.
    backlog: BytesMut,
    stopped: Option<Waker>,
    last_read: Option<Instant>,
    /// The stream ended by the peer's doing.
    ended: Option<PeerEnd>,
}

impl State {
    fn was_told_to_continue(&self) -> bool {
        let by_frames = self.frames.as_ref();
        self.told_to_continue || by_frames.is_some_and(|frames| frames.now.told_to_continue)
    }
}

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
    pub(super) fn new(line: Arc<Line>, stream: Stream, http2: bool) -> Arc<Tap> {
        Arc::new(Tap {
            line,
            state: Mutex::new(State {
                stream,
                flight: None,
                swallowed: false,
                told_to_continue: false,
                frames: http2.then(Frames::new),
                backlog: BytesMut::new(),
                stopped: None,
                last_read: None,
                ended: None,
            }),
            changed: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// From now on reads belong to this flight.
    pub(super) fn follow(&self, story: Arc<Story>, head_only: bool, fault: Option<Fault>) {
        let scan = Scan::new(head_only, fault);
        let mut state = self.state();
        if let Some(frames) = state.frames.as_mut() {
            frames.follow(fault);
        }
        state.flight = Some(Tapped { story, scan });
        state.swallowed = false;
        state.told_to_continue = false;
        state.last_read = None;
    }

    /// From now on nothing that is read belongs to one flight alone (HTTP/2).
    pub(super) fn follow_all(&self) {
        let mut state = self.state();
        if let Some(frames) = state.frames.as_mut() {
            frames.follow_all();
        }
        state.flight = None;
        state.last_read = None;
    }

    /// Waits until hyper has written its request, which is when it will take a response.
    pub(super) async fn hyper_listens(&self) {
        self.until(|state| state.swallowed).await;
    }

    /// Waits for a `100 Continue`.
    pub(super) async fn continues(&self) {
        self.until(State::was_told_to_continue).await;
    }

    /// Whether a `100 Continue` came.
    pub(super) fn was_told_to_continue(&self) -> bool {
        self.state().was_told_to_continue()
    }

    /// Waits for something on an HTTP/2 connection.
    pub(super) async fn frames_until(&self, reached: impl Fn(&Frames) -> bool) {
        self.until(|state| state.frames.as_ref().is_some_and(&reached))
            .await;
    }

    async fn until(&self, reached: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            if reached(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    /// Looks at, or changes, where an HTTP/2 connection stops; `None` for HTTP/1.1.
    pub(super) fn frames<T>(&self, act: impl FnOnce(&mut Frames) -> T) -> Option<T> {
        let (result, reader) = {
            let mut state = self.state();
            (state.frames.as_mut().map(act), state.stopped.take())
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        result
    }

    pub(super) fn last_read(&self) -> Option<Instant> {
        self.state().last_read
    }

    /// Bytes of response that were read, informational ones not counted.
    pub(super) fn response_seen(&self) -> u64 {
        let state = self.state();
        match (&state.frames, &state.flight) {
            (Some(frames), _) => frames.now.seen,
            (None, Some(tapped)) => tapped.scan.seen,
            (None, None) => 0,
        }
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
pub(super) struct TapIo {
    tap: Arc<Tap>,
    http2: bool,
}

impl TapIo {
    pub(super) fn new(tap: Arc<Tap>) -> TapIo {
        let http2 = tap.state().frames.is_some();
        TapIo { tap, http2 }
    }
}

impl Tap {
    fn poll_raw(
        &self,
        state: &mut State,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = ready!(state.stream.pinned_read(cx, buf));
        match &result {
            Ok(()) if buf.filled().len() > before => state.last_read = Some(Instant::now()),
            Ok(()) => {
                state.ended.get_or_insert(PeerEnd::Closed);
            }
            Err(_) if self.line.closed().is_some() => {}
            Err(error) => {
                state.ended.get_or_insert(PeerEnd::of(error));
            }
        }
        Poll::Ready(result)
    }

    fn poll_http1(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let (story, seen, at) = {
            let mut state = self.state();
            ready!(self.poll_raw(&mut state, cx, buf))?;
            let at = state.last_read;
            let (Some(tapped), Some(at)) = (state.flight.as_mut(), at) else {
                return Poll::Ready(Ok(()));
            };
            let seen = tapped.scan.feed(&buf.filled()[before..]);
            let story = Arc::clone(&tapped.story);
            state.told_to_continue |= seen.told_to_continue;
            (story, seen, at)
        };
        if seen.told_to_continue {
            self.changed.notify_waiters();
        }
        if let Some(close) = seen.cut {
            self.line.close(close);
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

    fn poll_http2(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (story, passed, at) = {
            let mut state = self.state();
            if self.line.closed().is_some() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            if state.backlog.is_empty() {
                let mut bytes = [0; 16 * 1024];
                let mut read = ReadBuf::new(&mut bytes);
                ready!(self.poll_raw(&mut state, cx, &mut read))?;
                if read.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
                state.backlog.extend_from_slice(read.filled());
            }
            let State {
                frames: Some(frames),
                backlog,
                ..
            } = &mut *state
            else {
                return Poll::Ready(Ok(()));
            };
            let passed = frames.received(&backlog[..backlog.len().min(buf.remaining())]);
            buf.put_slice(&backlog.split_to(passed.count));
            if passed.count == 0 {
                state.stopped = Some(cx.waker().clone());
            }
            let story = state
                .flight
                .as_ref()
                .map(|tapped| Arc::clone(&tapped.story));
            (story, passed, state.last_read)
        };
        if let (Some(story), Some(at)) = (story, at) {
            if passed.first {
                story.happen(Moment::FirstByte, at);
            }
            if passed.last {
                story.happen(Moment::LastByte, at);
            }
        }
        self.changed.notify_waiters();
        if passed.count == 0 {
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for TapIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.http2 {
            self.tap.poll_http2(cx, buf)
        } else {
            self.tap.poll_http1(cx, buf)
        }
    }
}

impl AsyncWrite for TapIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.tap.state();
        let mut written = bytes.len();
        if self.http2 {
            written = ready!(state.stream.pinned_write(cx, bytes))?;
        }
        match state.frames.as_mut() {
            Some(frames) => frames.sent(&bytes[..written]),
            None => state.swallowed = true,
        }
        drop(state);
        self.tap.changed.notify_waiters();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.http2 {
            return Poll::Ready(Ok(()));
        }
        let mut state = self.tap.state();
        ready!(state.stream.pinned_flush(cx))?;
        if let Some(frames) = state.frames.as_mut() {
            frames.flushed = true;
        }
        drop(state);
        self.tap.changed.notify_waiters();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.tap.state().stream.pinned_shutdown(cx)
    }
}
