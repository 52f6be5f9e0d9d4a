//! Collects a response as hyper reads it, so that what came before a cut is kept.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::Notify;

use crate::runner::wire::done::Response;

/// Where a response is collected.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    partial: Mutex<Option<Partial>>,
    changed: Notify,
}

#[derive(Debug)]
struct Partial {
    head: http::response::Parts,
    body: BytesMut,
    body_len: u64,
    ended: bool,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, Option<Partial>> {
        self.0
            .partial
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits for the head, and until so many bytes of the body have come.
    pub(super) async fn until(&self, enough: impl Fn(u64) -> bool) {
        loop {
            let changed = self.0.changed.notified();
            if self
                .state()
                .as_ref()
                .is_some_and(|partial| enough(partial.body_len))
            {
                return;
            }
            changed.await;
        }
    }

    /// The length that the head tells.
    pub(super) fn content_length(&self) -> Option<u64> {
        let state = self.state();
        let value = state
            .as_ref()?
            .head
            .headers
            .get(http::header::CONTENT_LENGTH)?;
        value.to_str().ok()?.parse().ok()
    }

    /// What has come, if its head has.
    pub(super) fn response(&self) -> Option<Response> {
        let state = self.state();
        let partial = state.as_ref()?;
        let headers = partial.head.headers.iter();
        Some(Response {
            version: partial.head.version,
            status: partial.head.status.as_u16(),
            headers: headers
                .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
                .collect(),
            body: Bytes::copy_from_slice(&partial.body),
            body_len: partial.body_len,
            complete: partial.ended && partial.body.len() as u64 == partial.body_len,
        })
    }
}

/// Waits for the response and reads it to its end.
pub(super) async fn receive(
    answer: impl Future<Output = Result<http::Response<Incoming>, hyper::Error>>,
    inbox: Inbox,
) -> Result<(), hyper::Error> {
    let (head, mut body) = answer.await?.into_parts();
    *inbox.state() = Some(Partial {
        head,
        body: BytesMut::new(),
        body_len: 0,
        ended: false,
    });
    inbox.0.changed.notify_waiters();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if let Some(partial) = inbox.state().as_mut() {
            let room = Response::MOST_KEPT - partial.body.len();
            partial
                .body
                .extend_from_slice(&data[..data.len().min(room)]);
            partial.body_len += data.len() as u64;
        }
        inbox.0.changed.notify_waiters();
    }
    if let Some(partial) = inbox.state().as_mut() {
        partial.ended = true;
    }
    Ok(())
}
