//! The body of a request on a stream of HTTP/2: what is let through goes on as it comes, and what
//! meets a fault is whole before it goes on.

use super::content::Content;
use bytes::Bytes;
use h2::RecvStream;
use http::HeaderMap;
use http_body::{Body, Frame};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// The content of a request, which is looked at while it passes.
pub(super) type Watched = Arc<Mutex<Content>>;

/// A body on its way to the API.
#[derive(Debug)]
pub(super) enum Sent {
    /// As it comes.
    Stream {
        stream: RecvStream,
        content: Watched,
    },
    /// All of it.
    Whole {
        data: Bytes,
        trailers: Option<HeaderMap>,
    },
}

impl Body for Sent {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        Poll::Ready(match self.get_mut() {
            Sent::Whole { data, trailers } => match (data.is_empty(), trailers.take()) {
                (false, kept) => {
                    *trailers = kept;
                    Some(Ok(Frame::data(std::mem::take(data))))
                }
                (true, Some(trailers)) => Some(Ok(Frame::trailers(trailers))),
                (true, None) => None,
            },
            Sent::Stream { stream, content } => match ready!(stream.poll_data(context)) {
                Some(Ok(bytes)) => {
                    take(stream, content, &bytes)?;
                    Some(Ok(Frame::data(bytes)))
                }
                Some(Err(problem)) => Some(Err(problem)),
                None => match ready!(stream.poll_trailers(context)) {
                    Ok(Some(trailers)) => Some(Ok(Frame::trailers(trailers))),
                    Ok(None) => None,
                    Err(problem) => Some(Err(problem)),
                },
            },
        })
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Sent::Stream { stream, .. } => stream.is_end_stream(),
            Sent::Whole { data, trailers } => data.is_empty() && trailers.is_none(),
        }
    }
}

/// Looks at bytes, and lets the client send as many more.
fn take(stream: &mut RecvStream, content: &Watched, bytes: &[u8]) -> Result<(), h2::Error> {
    let mut content = content.lock().unwrap_or_else(PoisonError::into_inner);
    content.take(bytes);
    stream.flow_control().release_capacity(bytes.len())
}

impl Sent {
    /// All of it, read as far as it was not yet.
    pub(super) async fn collected(self) -> Result<Sent, h2::Error> {
        let Sent::Stream {
            mut stream,
            content,
        } = self
        else {
            return Ok(self);
        };
        let mut data = Vec::new();
        while let Some(bytes) = stream.data().await {
            let bytes = bytes?;
            take(&mut stream, &content, &bytes)?;
            data.extend_from_slice(&bytes);
        }
        Ok(Sent::Whole {
            data: data.into(),
            trailers: stream.trailers().await?,
        })
    }
}
