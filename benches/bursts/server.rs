//! The other side, in a process of its own: it notes when each request came and when it was whole, and
//! can look a key up and take it a moment later.

use std::collections::HashSet;
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::stamp::{Stamp, Stamped};
use crate::technique::Way;

/// What the target does between looking a key up and taking it.
#[derive(Clone, Copy)]
pub enum Window {
    /// Lets others run for at least this long, on the same threads.
    Of(Duration),
    /// Holds its thread for this long, as a call to a database that blocks.
    Blocking(Duration),
    /// Lets others run once.
    Yield,
}

impl Window {
    /// As it stands in a path.
    pub fn name(self) -> String {
        match self {
            Window::Of(time) => format!("{}us", time.as_micros()),
            Window::Blocking(time) => format!("sleep-{}us", time.as_micros()),
            Window::Yield => "yield".to_owned(),
        }
    }

    fn parse(name: &str) -> Window {
        let (blocks, time) = match name.strip_prefix("sleep-") {
            Some(time) => (true, time),
            None => (false, name),
        };
        let micros = time.strip_suffix("us").and_then(|time| time.parse().ok());
        match micros.map(Duration::from_micros) {
            Some(time) if blocks => Window::Blocking(time),
            Some(time) => Window::Of(time),
            None => Window::Yield,
        }
    }

    async fn pass(self) {
        match self {
            Window::Yield => tokio::task::yield_now().await,
            Window::Blocking(time) => std::thread::sleep(time),
            Window::Of(time) if time >= Duration::from_millis(1) => tokio::time::sleep(time).await,
            // Timers are too coarse for less.
            Window::Of(time) => {
                let start = Instant::now();
                while start.elapsed() < time {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

struct State {
    started: Instant,
    keys: Mutex<HashSet<Vec<u8>>>,
}

/// Serves until standard input ends.
pub fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let state = Arc::new(State {
            started: Instant::now(),
            keys: Mutex::default(),
        });
        let (certificate, acceptor) = certificate()?;
        let mut ports = Vec::new();
        for way in Way::ALL {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            ports.push(listener.local_addr()?.port().to_string());
            let acceptor = acceptor.clone();
            tokio::spawn(accept(listener, way, acceptor, Arc::clone(&state)));
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", ports.join(" "))?;
        writeln!(out, "{}", hex(&certificate))?;
        out.flush()?;
        drop(out);
        let ended = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
        ended.await??;
        Ok(())
    })
}

fn certificate() -> Result<(Vec<u8>, TlsAcceptor), Box<dyn std::error::Error>> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let der = made.cert.der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![der.clone()], made.signing_key.into())?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((der.to_vec(), TlsAcceptor::from(Arc::new(config))))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn accept(listener: TcpListener, way: Way, acceptor: TlsAcceptor, state: Arc<State>) {
    while let Ok((tcp, _)) = listener.accept().await {
        let (acceptor, state) = (acceptor.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            // A connection that breaks is the client's to notice.
            let _ = tcp.set_nodelay(true);
            let Ok(tcp) = Stamped::new(tcp) else { return };
            let stamp = tcp.stamp();
            if way.is_tls() {
                if let Ok(stream) = acceptor.accept(tcp).await {
                    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    connection(TokioIo::new(stream), http2, stamp, state).await;
                }
            } else {
                connection(TokioIo::new(tcp), way.is_http2(), stamp, state).await;
            }
        });
    }
}

async fn connection<I>(io: I, http2: bool, stamp: Stamp, state: Arc<State>)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(request, stamp.clone(), Arc::clone(&state)));
    // A connection that breaks is the client's to notice.
    if http2 {
        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = builder.serve_connection(io, service).await;
    } else {
        let builder = hyper::server::conn::http1::Builder::new();
        let _ = builder.serve_connection(io, service).await;
    }
}

async fn answer(
    request: http::Request<Incoming>,
    stamp: Stamp,
    state: Arc<State>,
) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    if body.collect().await.is_err() {
        return Ok(http::Response::new(Full::from("half")));
    }
    let whole = state.started.elapsed().as_nanos();
    let came = stamp.nanos();
    let Some(window) = head.uri.path().strip_prefix("/race/") else {
        return Ok(http::Response::new(Full::from(format!("{came} {whole}"))));
    };
    let key = head.headers.get("idempotency-key");
    let key = key.map(|key| key.as_bytes().to_vec()).unwrap_or_default();
    let keys = || state.keys.lock().unwrap_or_else(PoisonError::into_inner);
    let known = keys().contains(&key);
    if !known {
        Window::parse(window).pass().await;
        keys().insert(key);
    }
    let says = if known { "replayed" } else { "executed" };
    Ok(http::Response::new(Full::from(says)))
}
