//! A connection of a client that speaks HTTP/2 (RFC 9113): its streams, and its end.

use super::api::{Api, WINDOW};
use super::book::Stage;
use super::connection::House;
use super::primed::Primed;
use super::stream::{Place, serve};
use h2::Reason;
use h2::server::{Builder, Connection};
use std::future::poll_fn;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// What every client that speaks HTTP/2 sends first (RFC 9113, section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What is known of the connection before its first stream.
pub(super) struct Known {
    pub(super) house: Arc<House>,
    /// Its number.
    pub(super) number: u32,
    /// It is over TLS.
    pub(super) is_secure: bool,
    /// The client took us for a proxy.
    pub(super) keeps_host: bool,
}

/// Serves the connection to its end.
pub(super) async fn run(io: Primed, known: Known) {
    let shaken = Builder::new()
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .handshake(io)
        .await;
    let Ok(mut connection) = shaken else {
        return;
    };
    let mut stage = known.house.book.watch();
    let api = Arc::new(Api::new(known.house.upstream.clone()));
    let (end, mut ended) = mpsc::unbounded_channel();
    let mut streams = JoinSet::new();
    let mut requests = 0;
    loop {
        tokio::select! {
            accepted = connection.accept() => {
                let Some(Ok((request, respond))) = accepted else {
                    return;
                };
                let place = Place {
                    house: Arc::clone(&known.house),
                    api: Arc::clone(&api),
                    connection: known.number,
                    reused: requests > 0,
                    protocol: match known.is_secure {
                        true => "HTTP/2 over TLS".to_owned(),
                        false => "HTTP/2".to_owned(),
                    },
                    keeps_host: known.keeps_host,
                    end: end.clone(),
                };
                requests += 1;
                streams.spawn(serve(place, request, respond));
            }
            _ = streams.join_next(), if !streams.is_empty() => {}
            Some(()) = ended.recv() => return close(connection).await,
            // Nothing idle may outlive the moment from which connections are refused.
            true = refuses(&mut stage), if streams.is_empty() => return close(connection).await,
        }
    }
}

/// Waits until connections are refused; `false` if that will not be.
async fn refuses(stage: &mut watch::Receiver<Stage>) -> bool {
    stage.wait_for(|stage| stage.refuses).await.is_ok()
}

/// Says that no more will be answered, with what was begun counted as begun (RFC 9113, section 6.8),
/// and closes.
async fn close(mut connection: Connection<Primed, bytes::Bytes>) {
    connection.abrupt_shutdown(Reason::NO_ERROR);
    // The client may be gone already.
    let _ = poll_fn(|context| connection.poll_closed(context)).await;
}
