//! A connection, with or without TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

/// A connection to a client or to the API.
#[derive(Debug)]
pub(super) enum Line {
    /// Plain.
    Plain(TcpStream),
    /// Over TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Line {
    /// Closes the connection abruptly, with a RST.
    pub(super) fn reset(self) {
        let tcp = match &self {
            Line::Plain(tcp) => tcp,
            Line::Tls(tls) => tls.get_ref().0,
        };
        // A connection that is gone already cannot be reset.
        let _ = socket2::SockRef::from(tcp).set_linger(Some(Duration::ZERO));
    }

    /// Whether both sides agreed on HTTP/2 as TLS was begun (RFC 7301).
    pub(super) fn agreed_on_http2(&self) -> bool {
        match self {
            Line::Plain(_) => false,
            Line::Tls(tls) => tls.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }

    /// Reads more into a buffer; `false` at the end.
    pub(super) async fn more(&mut self, buffer: &mut bytes::BytesMut) -> io::Result<bool> {
        Ok(self.read_buf(buffer).await? > 0)
    }
}

impl AsyncRead for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Line::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Line::Tls(tls) => Pin::new(tls).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Line::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Line::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Line::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Line::Tls(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Line::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Line::Tls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
