//! Letting a message through: bytes go on as they come, and are only looked at.

use super::content::Content;
use super::line::Line;
use super::message::{Body, Head};
use bytes::{Bytes, BytesMut};
use std::io;
use std::sync::atomic::{AtomicU16, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// What came of a request that was let through.
#[derive(Debug)]
pub(super) struct Passed {
    /// The status, once its head came.
    pub(super) status: Option<u16>,
    /// Whether both connections may be used again.
    pub(super) keeps_alive: bool,
    /// What went wrong.
    pub(super) trouble: Option<String>,
}

/// Both sides of a request that is let through.
pub(super) struct Sides<'a> {
    pub(super) client: &'a mut Line,
    /// What was read of the client and not yet used.
    pub(super) from_client: &'a mut BytesMut,
    pub(super) api: &'a mut Line,
    /// What was read of the API and not yet used.
    pub(super) from_api: &'a mut BytesMut,
}

/// Lets a request and its answer through. Both directions run at once, so that streams and early
/// answers pass.
pub(super) async fn pass(
    sides: Sides<'_>,
    head: &Head,
    raw: &Bytes,
    content: &mut Content,
) -> Passed {
    let Sides {
        client,
        from_client,
        api,
        from_api,
    } = sides;
    let (mut client_read, mut client_write) = tokio::io::split(client);
    let (mut api_read, mut api_write) = tokio::io::split(api);
    let method = head.method().to_owned();
    let mut body = head.request_body();
    let status = AtomicU16::new(0);
    let mut sent = false;
    let ended = {
        let up = async {
            api_write.write_all(raw).await?;
            copy(
                &mut client_read,
                from_client,
                &mut api_write,
                &mut body,
                &mut |part| content.take(part),
            )
            .await
        };
        let down = async {
            loop {
                let answer = read_head(&mut api_read, from_api).await?;
                client_write.write_all(&answer.raw).await?;
                client_write.flush().await?;
                match answer.status() {
                    101 => {
                        status.store(101, Ordering::Relaxed);
                        return Ok((false, true));
                    }
                    100..=199 => {}
                    number => {
                        status.store(number, Ordering::Relaxed);
                        let mut body = answer.response_body(&method);
                        copy(
                            &mut api_read,
                            from_api,
                            &mut client_write,
                            &mut body,
                            &mut |_| {},
                        )
                        .await?;
                        return Ok((answer.keeps_alive() && body.is_over(), false));
                    }
                }
            }
        };
        tokio::pin!(up, down);
        loop {
            tokio::select! {
                ended = &mut down => break io::Result::<(bool, bool)>::from(ended),
                whole = &mut up, if !sent => match whole {
                    Ok(()) => sent = true,
                    // The API may have answered before it closed.
                    Err(problem) => break (&mut down).await.map_err(|_| problem),
                },
            }
        }
    };
    let (keeps_alive, tunnel, trouble) = match ended {
        Ok((keeps_alive, tunnel)) => (keeps_alive, tunnel, None),
        Err(problem) => (false, false, Some(problem.to_string())),
    };
    if tunnel {
        tunnel_through(
            client_read,
            client_write,
            api_read,
            api_write,
            from_client,
            from_api,
        )
        .await;
    }
    Passed {
        status: Some(status.into_inner()).filter(|status| *status > 0),
        keeps_alive: keeps_alive && sent && head.keeps_alive(),
        trouble,
    }
}

/// After `101 Switching Protocols` bytes are bytes.
async fn tunnel_through(
    mut client_read: impl AsyncRead + Unpin,
    mut client_write: impl AsyncWrite + Unpin,
    mut api_read: impl AsyncRead + Unpin,
    mut api_write: impl AsyncWrite + Unpin,
    from_client: &BytesMut,
    from_api: &BytesMut,
) {
    let up = async {
        api_write.write_all(from_client).await?;
        tokio::io::copy(&mut client_read, &mut api_write).await?;
        api_write.shutdown().await
    };
    let down = async {
        client_write.write_all(from_api).await?;
        tokio::io::copy(&mut api_read, &mut client_write).await?;
        client_write.shutdown().await
    };
    // An end of either side is an end of the tunnel, and nobody is left to be told of it.
    let _ = tokio::join!(up, down);
}

/// Copies a body, what is in the buffer first, until it is over.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut BytesMut,
    to: &mut (impl AsyncWrite + Unpin),
    body: &mut Body,
    content: &mut (dyn FnMut(&[u8]) + Send),
) -> io::Result<()> {
    loop {
        if !buffer.is_empty() {
            let taken = body.feed(buffer, content);
            to.write_all(&buffer.split_to(taken)).await?;
            to.flush().await?;
        }
        if body.is_over() {
            return to.flush().await;
        }
        if from.read_buf(buffer).await? == 0 {
            return match body {
                Body::UntilClose => to.flush().await,
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
    }
}

async fn read_head(from: &mut (impl AsyncRead + Unpin), buffer: &mut BytesMut) -> io::Result<Head> {
    loop {
        if let Some(head) = Head::take(buffer).map_err(io::Error::other)? {
            return Ok(head);
        }
        if from.read_buf(buffer).await? == 0 {
            return Err(io::Error::other(
                "the API closed the connection without an answer",
            ));
        }
    }
}

/// Reads the rest of a request: its bytes as they came, and its content.
pub(super) async fn collect(
    client: &mut Line,
    buffer: &mut BytesMut,
    head: &Head,
    content: &mut Content,
) -> io::Result<Vec<u8>> {
    if head.lists("expect", "100-continue") {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let mut raw = Vec::new();
    let mut body = head.request_body();
    copy(client, buffer, &mut raw, &mut body, &mut |part| {
        content.take(part);
    })
    .await?;
    Ok(raw)
}

/// Sends a whole request to the API, and reads its whole answer: the bytes of head and body, with
/// the status.
pub(super) async fn exchange(
    api: &mut Line,
    head: &Head,
    request: &[&[u8]],
) -> io::Result<(u16, Bytes, Vec<u8>)> {
    for part in request {
        api.write_all(part).await?;
    }
    api.flush().await?;
    let mut buffer = BytesMut::new();
    loop {
        let answer = read_head(api, &mut buffer).await?;
        if answer.status() >= 200 {
            let mut raw = Vec::new();
            let mut body = answer.response_body(head.method());
            copy(api, &mut buffer, &mut raw, &mut body, &mut |_| {}).await?;
            return Ok((answer.status(), answer.raw, raw));
        }
    }
}
