//! A listener that serves so many connections at once, and closes what comes beyond.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The listener.
#[derive(Debug)]
pub struct Seats {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Seats {
    /// With so many seats; `None` is no limit.
    pub fn new(listener: TcpListener, most: Option<usize>) -> Seats {
        Seats {
            listener,
            free: Arc::new(Semaphore::new(most.unwrap_or(Semaphore::MAX_PERMITS))),
        }
    }
}

impl Listener for Seats {
    type Io = Seated;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Seated, SocketAddr) {
        loop {
            let (stream, from) = Listener::accept(&mut self.listener).await;
            // Without it answers may wait; a socket that refuses still works.
            let _ = stream.set_nodelay(true);
            if let Ok(seat) = Arc::clone(&self.free).try_acquire_owned() {
                return (
                    Seated {
                        stream,
                        _seat: seat,
                    },
                    from,
                );
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Where a connection comes from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl Connected<IncomingStream<'_, Seats>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Seats>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

/// A connection that has a seat, and frees it when it ends.
#[derive(Debug)]
pub struct Seated {
    stream: TcpStream,
    _seat: OwnedSemaphorePermit,
}

impl AsyncRead for Seated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Seated {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
