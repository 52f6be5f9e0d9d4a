//! The API as the streams of one HTTP/2 connection reach it: over HTTP/2 if it speaks that, else over
//! HTTP/1.1, one connection for each request that runs.

use super::body::Sent;
use super::upstream::Upstream;
use http::{HeaderValue, Request, Response, Uri, Version, header};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::sync::{Mutex, PoisonError};

/// Connections to the API that belong to one connection of the client.
#[derive(Debug)]
pub(super) struct Api {
    upstream: Upstream,
    /// One, once it is known that the API speaks HTTP/2.
    shared: tokio::sync::Mutex<Option<http2::SendRequest<Sent>>>,
    /// Those over HTTP/1.1 that nobody uses now.
    idle: Mutex<Vec<http1::SendRequest<Sent>>>,
}

/// The connection that an answer still comes over, if nobody else may use it until then.
pub(super) type Busy = Option<http1::SendRequest<Sent>>;

/// A connection that is free.
enum Free {
    One(http1::SendRequest<Sent>),
    Two(http2::SendRequest<Sent>),
}

impl Api {
    pub(super) fn new(upstream: Upstream) -> Api {
        Api {
            upstream,
            shared: tokio::sync::Mutex::default(),
            idle: Mutex::default(),
        }
    }

    /// Sends a request as the client wrote it, and gives the beginning of the answer. The client's
    /// own address for the API is replaced by the right one, unless it took us for a proxy.
    pub(super) async fn send(
        &self,
        mut request: Request<Sent>,
        keeps_host: bool,
    ) -> Result<(Response<Incoming>, Busy), String> {
        let failed = |problem: hyper::Error| match std::error::Error::source(&problem) {
            Some(source) => format!("{problem}: {source}"),
            None => problem.to_string(),
        };
        let named = request.uri().authority().map(ToString::to_string);
        let authority = match named.filter(|_| keeps_host) {
            Some(named) => named,
            None => self.upstream.authority(),
        };
        match self.free().await? {
            Free::Two(mut sender) => {
                *request.uri_mut() = self.whole(request.uri(), &authority)?;
                *request.version_mut() = Version::HTTP_2;
                if request.headers().contains_key(header::HOST) {
                    let host = HeaderValue::try_from(authority).map_err(|why| why.to_string())?;
                    request.headers_mut().insert(header::HOST, host);
                }
                let response = sender.send_request(request).await.map_err(failed)?;
                Ok((response, None))
            }
            Free::One(mut sender) => {
                as_http1(&mut request, &authority)?;
                let response = sender.send_request(request).await.map_err(failed)?;
                Ok((response, Some(sender)))
            }
        }
    }

    /// The answer is through: its connection may serve the next request.
    pub(super) fn is_done_with(&self, busy: Busy) {
        if let Some(sender) = busy.filter(http1::SendRequest::is_ready) {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(sender);
        }
    }

    async fn free(&self) -> Result<Free, String> {
        let mut shared = self.shared.lock().await;
        if let Some(sender) = shared.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(Free::Two(sender.clone()));
        }
        {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(http1::SendRequest::is_ready);
            if let Some(sender) = idle.pop() {
                return Ok(Free::One(sender));
            }
        }
        let failed = |problem: hyper::Error| format!("{}: {problem}", self.upstream);
        let (line, is_http2) = self.upstream.best().await?;
        let io = TokioIo::new(line);
        if is_http2 {
            let (sender, carrier) = http2::Builder::new(TokioExecutor::new())
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW)
                .handshake(io)
                .await
                .map_err(failed)?;
            tokio::spawn(carrier);
            *shared = Some(sender.clone());
            return Ok(Free::Two(sender));
        }
        let (sender, carrier) = http1::handshake(io).await.map_err(failed)?;
        tokio::spawn(carrier);
        Ok(Free::One(sender))
    }

    fn whole(&self, uri: &Uri, authority: &str) -> Result<Uri, String> {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Uri::builder()
            .scheme(self.upstream.scheme())
            .authority(authority)
            .path_and_query(path)
            .build()
            .map_err(|why| why.to_string())
    }
}

/// Bytes that may be under way before anybody has read them.
pub(super) const WINDOW: u32 = 1024 * 1024;

/// The request as HTTP/1.1 writes it (RFC 9113, sections 8.2.3 and 8.3.1): the authority is the
/// host, and the parts of a cookie are one line.
fn as_http1(request: &mut Request<Sent>, authority: &str) -> Result<(), String> {
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = match path {
        Some(path) => Uri::from(path),
        None => Uri::from_static("/"),
    };
    *request.version_mut() = Version::HTTP_11;
    let host = HeaderValue::try_from(authority).map_err(|why| why.to_string())?;
    let headers = request.headers_mut();
    headers.insert(header::HOST, host);
    let cookies: Vec<&[u8]> = headers
        .get_all(header::COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if cookies.len() > 1 {
        let joined = HeaderValue::from_bytes(&cookies.join(&b"; "[..]));
        headers.insert(header::COOKIE, joined.map_err(|why| why.to_string())?);
    }
    Ok(())
}
