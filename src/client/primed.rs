//! A connection of which some bytes were read already.

use super::line::Line;
use bytes::{Buf, BytesMut};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection, and what was read of it before.
#[derive(Debug)]
pub(super) struct Primed {
    pub(super) read: BytesMut,
    pub(super) line: Line,
}

impl AsyncRead for Primed {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        if own.read.is_empty() {
            return Pin::new(&mut own.line).poll_read(context, buffer);
        }
        let length = own.read.len().min(buffer.remaining());
        buffer.put_slice(&own.read[..length]);
        own.read.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Primed {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().line).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().line).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().line).poll_shutdown(context)
    }
}
