//! The server of the receiver: takes deliveries over HTTP/1.1 and treats them as it is told.

use super::received::Log;
use crate::scenario::Receiving;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// The largest body that is taken, in bytes: 1 MiB.
const LARGEST: usize = 1024 * 1024;
/// How long a stalled delivery is held at most; senders give up sooner.
const STALL: Duration = Duration::from_secs(90);
/// The pause after a connection that could not be taken.
const PAUSE: Duration = Duration::from_millis(10);

/// The connection is closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("hung up")]
struct HungUp;

/// Takes connections for as long as it is let.
pub(super) async fn serve(listener: TcpListener, log: Arc<Log>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(connection(stream, Arc::clone(&log)));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn connection(stream: TcpStream, log: Arc<Log>) {
    let service = service_fn(move |request| receive(request, Arc::clone(&log)));
    // An error is a sender that left, or one that was left.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn receive(
    request: Request<Incoming>,
    log: Arc<Log>,
) -> Result<Response<Empty<Bytes>>, HungUp> {
    let (head, body) = request.into_parts();
    // What does not arrive in full is no delivery.
    let body = Limited::new(body, LARGEST).collect().await;
    let body = body.map_err(|_| HungUp)?.to_bytes();
    let path = head
        .uri
        .path_and_query()
        .map_or_else(|| "/".to_owned(), ToString::to_string);
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect();
    let status = match log.note(path, headers, body) {
        Receiving::Ok => StatusCode::NO_CONTENT,
        Receiving::Error => StatusCode::INTERNAL_SERVER_ERROR,
        Receiving::HangUp => return Err(HungUp),
        Receiving::Stall => {
            tokio::time::sleep(STALL).await;
            return Err(HungUp);
        }
    };
    let mut response = Response::new(Empty::new());
    *response.status_mut() = status;
    Ok(response)
}
