//! A server that answers at once, and the clients to compare with.

use std::convert::Infallible;
use std::error::Error;
use std::sync::mpsc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

const BODY: &str = r#"{"amount":2000,"reference":"0123456789abcdef"}"#;
const ANSWER: &str = r#"{"id":"pay_1","amount":2000,"currency":"EUR","status":"succeeded"}"#;

/// The server, on a thread of this process.
pub struct Peer {
    pub url: String,
    stop: oneshot::Sender<()>,
}

impl Peer {
    pub fn start() -> Result<Peer, Box<dyn Error>> {
        let (told, bound) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || -> std::io::Result<()> {
            runtime()?.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                let url = format!("http://{}", listener.local_addr()?);
                // Whoever started us waits for it.
                let _ = told.send(url);
                tokio::select! {
                    result = accept(listener) => result,
                    _ = stopped => Ok(()),
                }
            })
        });
        let url = bound.recv()?;
        Ok(Peer { url, stop })
    }

    pub fn stop(self) {
        // It may have ended by itself.
        let _ = self.stop.send(());
    }
}

async fn accept(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (tcp, _) = listener.accept().await?;
        tcp.set_nodelay(true)?;
        let service = service_fn(|request: http::Request<Incoming>| async move {
            // A body that breaks off is answered like any other.
            let _ = request.into_body().collect().await;
            let answer = http::Response::builder()
                .status(201)
                .header("Content-Type", "application/json")
                .body(Full::new(Bytes::from_static(ANSWER.as_bytes())));
            Ok::<_, Infallible>(answer.unwrap_or_default())
        });
        let builder = hyper::server::conn::http1::Builder::new();
        tokio::spawn(builder.serve_connection(TokioIo::new(tcp), service));
    }
}

/// Sends so many requests with reqwest, one after another.
pub fn with_reqwest(url: &str, count: u32) -> Result<(), Box<dyn Error>> {
    // Whoever built the TLS of reqwest left the choice to us.
    let _ = rustls::crypto::ring::default_provider().install_default();
    runtime()?.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build()?;
        for _ in 0..count {
            let request = client
                .post(format!("{url}/pay"))
                .header("Idempotency-Key", "k")
                .header("Content-Type", "application/json")
                .body(BODY);
            request.send().await?.bytes().await?;
        }
        Ok(())
    })
}

/// Sends so many requests with hyper, on one connection.
pub fn with_hyper(url: &str, count: u32) -> Result<(), Box<dyn Error>> {
    runtime()?.block_on(async {
        let address = url.trim_start_matches("http://");
        let tcp = TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(tcp)).await?;
        tokio::spawn(connection);
        for _ in 0..count {
            let request = http::Request::post("/pay")
                .header("Host", address)
                .header("Idempotency-Key", "k")
                .header("Content-Type", "application/json")
                .body(Full::new(Bytes::from_static(BODY.as_bytes())))?;
            sender.ready().await?;
            sender
                .send_request(request)
                .await?
                .into_body()
                .collect()
                .await?;
        }
        Ok(())
    })
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
}
