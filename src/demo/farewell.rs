//! Serving by connections that end after so many requests, as servers do that are about to restart or
//! balance their load: over HTTP/2 with GOAWAY (RFC 9113, section 6.8).

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::seats::{Peer, Seated, Seats};

/// What has come over a connection.
#[derive(Debug, Default)]
struct Come {
    requests: AtomicUsize,
    enough: Notify,
}

/// Serves until it is told to stop, `most` requests on each connection.
pub async fn serve(
    mut listener: Seats,
    router: Router,
    most: usize,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let stop = stopped.clone();
        tokio::select! {
            (stream, from) = listener.accept() => {
                connections.spawn(carry(stream, from, router.clone(), most, stop));
            }
            Some(_) = connections.join_next() => {}
            // An error is a demo that was dropped, which stops it as well.
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    while connections.join_next().await.is_some() {}
}

async fn carry(
    stream: Seated,
    from: SocketAddr,
    router: Router,
    most: usize,
    mut stopped: watch::Receiver<bool>,
) {
    let come = Arc::new(Come::default());
    let told = Arc::clone(&come);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        if told.requests.fetch_add(1, Ordering::SeqCst) + 1 >= most {
            told.enough.notify_one();
        }
        answer(router.clone(), request, from)
    });
    let server = Builder::new(TokioExecutor::new());
    let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = come.enough.notified() => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
    // What is open is answered; an error is a client that has gone.
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

async fn answer(
    router: Router,
    request: hyper::Request<Incoming>,
    from: SocketAddr,
) -> Result<Response, Infallible> {
    let mut request: Request<Incoming> = request;
    request.extensions_mut().insert(ConnectInfo(Peer(from)));
    TowerToHyperService::new(router).call(request).await
}
