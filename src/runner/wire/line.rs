//! The TCP connection, below TLS: the place where bytes are held back, released and cut off,
//! whoever owns the streams above.

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use socket2::{SockRef, Socket};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::runner::wire::request::Close;
use crate::runner::wire::socket;

/// One TCP connection.
pub(super) struct Line {
    state: Mutex<State>,
    local_port: u16,
}

struct State {
    /// Taken when we close.
    tcp: Option<TcpStream>,
    /// Writes are collected instead of sent.
    holding: bool,
    held: Vec<u8>,
    /// When the kernel had the last byte that was written. Stamped under the lock, so that what
    /// is read in answer to it is later for sure.
    last_write: Option<Instant>,
    /// Nothing is read, not even what is there.
    read_shut: bool,
    written: u64,
    reader: Option<Waker>,
    writer: Option<Waker>,
    closed: Option<Closed>,
}

/// How and when we closed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed {
    pub(super) at: Instant,
    pub(super) close: Close,
    /// Bytes from the peer that had come and were not read.
    pub(super) unread: usize,
}

/// What a release did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// Everything held is with the kernel.
    Gone(Instant),
    /// The kernel did not take everything; a flush will finish it.
    Stuck,
    /// Nothing was held, or the line is closed.
    Nothing,
}

/// What was held on a line, on its way in a batch of sends.
#[derive(Debug)]
pub(super) struct Taken {
    /// The line's socket, which stays open for as long as this lives.
    pub(super) socket: Socket,
    pub(super) bytes: Vec<u8>,
}

/// What a look at an idle line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Quiet,
    BytesWaiting,
    Closed,
}

/// A peer that keeps sending cannot keep us from closing: at most so many unread bytes are thrown
/// away so that a FIN does not become a reset.
const MOST_DRAINED: usize = 1024 * 1024;

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("local_port", &self.local_port)
            .finish_non_exhaustive()
    }
}

impl Line {
    pub(super) fn new(tcp: TcpStream) -> io::Result<Arc<Line>> {
        tcp.set_nodelay(true)?;
        let local_port = tcp.local_addr()?.port();
        Ok(Arc::new(Line {
            state: Mutex::new(State {
                tcp: Some(tcp),
                holding: false,
                held: Vec::new(),
                last_write: None,
                read_shut: false,
                written: 0,
                reader: None,
                writer: None,
                closed: None,
            }),
            local_port,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn local_port(&self) -> u16 {
        self.local_port
    }

    /// Bytes handed to the kernel, ever.
    pub(super) fn written(&self) -> u64 {
        self.state().written
    }

    /// When the kernel had the last byte, unless some are still held.
    pub(super) fn all_written(&self) -> Option<Instant> {
        let state = self.state();
        let all = !state.holding && state.held.is_empty();
        state.last_write.filter(|_| all)
    }

    pub(super) fn closed(&self) -> Option<Closed> {
        self.state().closed
    }

    /// From now on writes are collected.
    pub(super) fn hold(&self) {
        self.state().holding = true;
    }

    /// Whether writes are collected.
    pub(super) fn is_holding(&self) -> bool {
        self.state().holding
    }

    /// From now on nothing is read.
    pub(super) fn shut_reading(&self) {
        self.state().read_shut = true;
    }

    /// Undoes `shut_reading`.
    pub(super) fn open_reading(&self) {
        let reader = {
            let mut state = self.state();
            state.read_shut = false;
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Sends what is held, straight to the socket. Needs no runtime and does not block.
    pub(super) fn release(&self) -> Release {
        let mut state = self.state();
        let State {
            tcp: Some(tcp),
            held,
            holding,
            ..
        } = &mut *state
        else {
            return Release::Nothing;
        };
        if !std::mem::take(holding) {
            return Release::Nothing;
        }
        let socket = SockRef::from(&*tcp);
        let mut sent = 0;
        while sent < held.len() {
            match socket.send(&held[sent..]) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Also a broken connection: the flush that follows meets the same error.
                Err(_) => break,
            }
        }
        let at = Instant::now();
        state.wrote(sent, at);
        if state.held.is_empty() {
            Release::Gone(at)
        } else {
            Release::Stuck
        }
    }

    /// Takes what is held, for somebody who sends it and then [`settle`](Self::settle)s. Until then
    /// writes are still collected. `None` if nothing is held, or the line is closed.
    pub(super) fn take_held(&self) -> Option<Taken> {
        let mut state = self.state();
        let tcp = state.tcp.as_ref().filter(|_| state.holding)?;
        if state.held.is_empty() {
            return None;
        }
        let socket = SockRef::from(tcp).try_clone().ok()?;
        let bytes = std::mem::take(&mut state.held);
        Some(Taken { socket, bytes })
    }

    /// So many of the bytes that were taken went out, the last of them at `at`; the rest, and what
    /// was written since, is released.
    pub(super) fn settle(&self, taken: Taken, sent: usize, at: Instant) -> Release {
        {
            let mut state = self.state();
            let mut held = taken.bytes;
            held.append(&mut state.held);
            state.held = held;
            state.wrote(sent, at);
            if state.held.is_empty() {
                state.holding = false;
                return Release::Gone(at);
            }
        }
        self.release()
    }

    /// Bytes that the peer's kernel has not acknowledged, where the system can tell.
    pub(super) fn unacknowledged(&self) -> Option<usize> {
        self.state().tcp.as_ref().and_then(socket::unacknowledged)
    }

    /// Waits until the peer's kernel has everything, at most `at_most`, and all of that where the
    /// system cannot tell; a delayed acknowledgement takes about 40 ms. Says whether the kernel is
    /// known to have it.
    pub(super) async fn acknowledged(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        while self.closed().is_none() && Instant::now() < until {
            if self.unacknowledged() == Some(0) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        false
    }

    /// Closes now, and wakes whoever reads or writes. Only the first call counts. A whole
    /// connection cannot be closed like a stream: that is a FIN.
    pub(super) fn close(&self, close: Close) -> Option<Closed> {
        let (closed, reader, writer) = {
            let mut state = self.state();
            let tcp = state.tcp.take()?;
            let socket = SockRef::from(&tcp);
            let unread = match close {
                Close::Rst => {
                    // A failure leaves an orderly close, which is the best that is left.
                    let _ = socket.set_linger(Some(Duration::ZERO));
                    waiting(&socket)
                }
                // Closing with unread bytes sends a reset: they are taken out first.
                Close::Fin | Close::RstStream => drain(&socket),
            };
            let close = if close == Close::Rst {
                close
            } else {
                Close::Fin
            };
            let closed = Closed {
                at: Instant::now(),
                close,
                unread,
            };
            drop(tcp);
            state.closed = Some(closed);
            (closed, state.reader.take(), state.writer.take())
        };
        for waker in [reader, writer].into_iter().flatten() {
            waker.wake();
        }
        Some(closed)
    }

    /// Looks whether the peer sent or closed, without reading.
    pub(super) fn look(&self) -> Look {
        let state = self.state();
        let Some(tcp) = state.tcp.as_ref() else {
            return Look::Closed;
        };
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(tcp).peek(&mut byte) {
            Ok(0) => Look::Closed,
            Ok(_) => Look::BytesWaiting,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Look::Quiet,
            Err(_) => Look::Closed,
        }
    }

    /// Sends what a release could not.
    fn poll_held(state: &mut State, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let State {
            tcp, held, written, ..
        } = state;
        let tcp = tcp.as_mut().ok_or_else(gone)?;
        while !held.is_empty() {
            let sent = ready!(Pin::new(&mut *tcp).poll_write(cx, held))?;
            held.drain(..sent);
            *written += sent as u64;
        }
        Poll::Ready(Ok(()))
    }
}

impl State {
    /// So many of the held bytes went out.
    fn wrote(&mut self, sent: usize, at: Instant) {
        self.held.drain(..sent);
        self.written += sent as u64;
        self.last_write = Some(at);
    }
}

/// How many bytes lie unread, as far as a first look shows.
fn waiting(socket: &SockRef<'_>) -> usize {
    let mut bytes = [MaybeUninit::uninit(); 4096];
    socket.peek(&mut bytes).unwrap_or(0)
}

fn drain(socket: &SockRef<'_>) -> usize {
    let mut drained = 0;
    let mut bytes = [MaybeUninit::uninit(); 4096];
    while drained < MOST_DRAINED {
        match socket.recv(&mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(count) => drained += count,
        }
    }
    drained
}

/// The error that streams above see after we closed.
fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "closed by us")
}

/// The stream that TLS, or HTTP without TLS, stands on.
#[derive(Debug)]
pub(super) struct LineIo(pub(super) Arc<Line>);

impl AsyncRead for LineIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        remember(&mut state.reader, cx);
        if state.read_shut && state.tcp.is_some() {
            return Poll::Pending;
        }
        let tcp = state.tcp.as_mut().ok_or_else(gone)?;
        Pin::new(tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for LineIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.state();
        remember(&mut state.writer, cx);
        if state.holding && state.tcp.is_some() {
            state.held.extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        ready!(Line::poll_held(&mut state, cx))?;
        let tcp = state.tcp.as_mut().ok_or_else(gone)?;
        let written = ready!(Pin::new(tcp).poll_write(cx, bytes))?;
        state.written += written as u64;
        state.last_write = Some(Instant::now());
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        remember(&mut state.writer, cx);
        if state.holding && state.tcp.is_some() {
            return Poll::Ready(Ok(()));
        }
        Line::poll_held(&mut state, cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        match state.tcp.as_mut() {
            Some(tcp) => Pin::new(tcp).poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}

/// A later poll replaces the waker of an earlier one.
fn remember(place: &mut Option<Waker>, cx: &Context<'_>) {
    if !place
        .as_ref()
        .is_some_and(|waker| waker.will_wake(cx.waker()))
    {
        *place = Some(cx.waker().clone());
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (Arc<Line>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (ours, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
        (Line::new(ours.unwrap()).unwrap(), theirs.unwrap().0)
    }

    #[tokio::test]
    async fn a_release_that_the_kernel_does_not_take_is_finished_by_a_flush() {
        let (line, mut peer) = pair().await;
        let mut io = LineIo(Arc::clone(&line));
        let block = vec![b'x'; 64 * 1024];
        let mut written = 0;
        // Nobody reads, so the kernel stops taking bytes: a zero timeout polls once.
        while let Ok(result) = tokio::time::timeout(Duration::ZERO, io.write(&block)).await {
            written += result.unwrap();
        }
        line.hold();
        io.write_all(&block).await.unwrap();
        assert!(line.is_holding());
        assert_eq!(line.all_written(), None);
        assert_eq!(line.release(), Release::Stuck);
        assert_eq!(line.release(), Release::Nothing);
        assert_eq!(line.all_written(), None);
        let mut got = vec![0; written + block.len()];
        let (flushed, read) = tokio::join!(io.flush(), peer.read_exact(&mut got));
        flushed.unwrap();
        read.unwrap();
        assert!(line.all_written().is_some());
        assert!(got.iter().all(|byte| *byte == b'x'));
    }

    #[tokio::test]
    async fn what_is_taken_and_not_sent_goes_before_what_was_written_since() {
        for sent in [0, 3, 6] {
            let (line, mut peer) = pair().await;
            let mut io = LineIo(Arc::clone(&line));
            assert!(line.take_held().is_none(), "nothing is held");
            line.hold();
            assert!(line.take_held().is_none(), "nothing was written");
            io.write_all(b"taken ").await.unwrap();
            let taken = line.take_held().unwrap();
            assert_eq!(line.all_written(), None);
            io.write_all(b"later").await.unwrap();
            taken.socket.send(&taken.bytes[..sent]).unwrap();
            let before = Instant::now();
            let Release::Gone(at) = line.settle(taken, sent, before) else {
                panic!("the kernel has room");
            };
            assert!(at >= before);
            assert_eq!((line.written(), line.all_written()), (11, Some(at)));
            let mut got = [0; 11];
            peer.read_exact(&mut got).await.unwrap();
            assert_eq!(&got, b"taken later");
        }
    }

    #[tokio::test]
    async fn a_line_that_closes_while_its_bytes_are_sent_stays_closed() {
        let (line, mut peer) = pair().await;
        let mut io = LineIo(Arc::clone(&line));
        line.hold();
        io.write_all(b"x").await.unwrap();
        let taken = line.take_held().unwrap();
        line.close(Close::Fin);
        assert_eq!(
            line.settle(taken, 0, Instant::now()),
            Release::Nothing,
            "nothing more goes out"
        );
        assert_eq!(peer.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn what_is_read_and_written_after_a_close_is_an_error() {
        let (line, _peer) = pair().await;
        let mut io = LineIo(Arc::clone(&line));
        assert!(
            line.close(Close::RstStream)
                .is_some_and(|closed| closed.close == Close::Fin)
        );
        assert!(line.close(Close::Rst).is_none());
        assert!(io.read_u8().await.is_err());
        assert!(io.write_u8(0).await.is_err());
        assert_eq!(line.look(), Look::Closed);
    }

    #[tokio::test]
    async fn a_close_wakes_a_reader_that_waits() {
        let (line, _peer) = pair().await;
        let mut io = LineIo(Arc::clone(&line));
        let (read, closed) = tokio::join!(io.read_u8(), async { line.close(Close::Fin) });
        assert!(read.is_err() && closed.is_some());
    }
}
