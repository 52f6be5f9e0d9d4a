//! A small payments API that works, and whatever a test makes of it: it may answer nonsense, or
//! nothing, or stop to be. It knows nothing of the tool.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How many requests arrived before it.
    pub number: usize,
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// What is done about it.
pub enum Reply {
    /// These bytes, and the connection stays open.
    Bytes(Vec<u8>),
    /// These bytes, then the end of the connection.
    Last(Vec<u8>),
    /// These bytes, one at a time with this pause, and then nothing more.
    Trickle(Vec<u8>, Duration),
    /// The first bytes, and then the others over and over again.
    Endless(&'static [u8], Vec<u8>),
    /// Nothing, and the connection stays open.
    Silence,
    /// The end of the connection.
    Close,
    /// The abrupt end of the connection.
    Reset,
    /// The end of the connection and of the server.
    Die,
}

/// An answer in JSON.
pub fn answer(status: u16, body: &Value) -> Reply {
    bytes(status, "application/json", body.to_string().as_bytes())
}

/// An answer with any body.
pub fn bytes(status: u16, media_type: &str, body: &[u8]) -> Reply {
    let mut response = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    response.extend_from_slice(body);
    Reply::Bytes(response)
}

/// A running server. It ends with the test.
pub struct Server {
    pub address: SocketAddr,
    arrived: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    _runtime: Runtime,
}

impl Server {
    /// Starts a server on a free port of the loopback.
    pub fn start(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Server {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("threads");
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        let arrived = Arc::new(AtomicUsize::new(0));
        let connections = Arc::new(AtomicUsize::new(0));
        let (counted, seen) = (Arc::clone(&arrived), Arc::clone(&connections));
        let reply = Arc::new(reply);
        runtime.spawn(async move {
            let (ended, mut end) = tokio::sync::mpsc::channel::<()>(1);
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    _ = end.recv() => break,
                };
                let Ok((stream, _)) = accepted else { continue };
                seen.fetch_add(1, Ordering::Relaxed);
                let (reply, counted, ended) =
                    (Arc::clone(&reply), Arc::clone(&counted), ended.clone());
                tokio::spawn(async move {
                    // The other side may go away at any time.
                    let _ = converse(stream, &*reply, &counted, &ended).await;
                });
            }
        });
        Server {
            address,
            arrived,
            connections,
            _runtime: runtime,
        }
    }

    /// Requests that arrived whole.
    pub fn arrived(&self) -> usize {
        self.arrived.load(Ordering::Relaxed)
    }

    /// Connections that were made.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

async fn converse(
    mut stream: TcpStream,
    reply: &(impl Fn(&Asked) -> Reply + Send + Sync),
    arrived: &AtomicUsize,
    ended: &tokio::sync::mpsc::Sender<()>,
) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(asked) = request(&mut stream, &mut buffer, arrived).await? {
        match reply(&asked) {
            Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
            Reply::Last(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            Reply::Trickle(bytes, pause) => {
                for byte in bytes {
                    stream.write_all(&[byte]).await?;
                    tokio::time::sleep(pause).await;
                }
                std::future::pending().await
            }
            Reply::Endless(first, again) => {
                stream.write_all(first).await?;
                loop {
                    stream.write_all(&again).await?;
                }
            }
            Reply::Silence => std::future::pending().await,
            Reply::Close => return stream.shutdown().await,
            Reply::Reset => {
                return socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            }
            Reply::Die => {
                let _ = ended.try_send(());
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Reads one request; `None` when the connection ended before one.
async fn request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    arrived: &AtomicUsize,
) -> std::io::Result<Option<Asked>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let mut lines = head.split("\r\n");
            let mut words = lines.next().unwrap_or_default().split(' ');
            let (method, path) = (words.next(), words.next());
            let headers: BTreeMap<String, String> = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect();
            let length: usize = headers
                .get("content-length")
                .and_then(|length| length.parse().ok())
                .unwrap_or_default();
            if buffer.len() >= end + 4 + length {
                let body = buffer[end + 4..end + 4 + length].to_vec();
                buffer.drain(..end + 4 + length);
                return Ok(Some(Asked {
                    number: arrived.fetch_add(1, Ordering::Relaxed),
                    method: method.unwrap_or_default().to_owned(),
                    path: path.unwrap_or_default().to_owned(),
                    headers,
                    body,
                }));
            }
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// Payments that are made once for each key, as they should be.
#[derive(Default)]
pub struct Payments {
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    /// The reference of each payment; its id is its place.
    references: Vec<String>,
    /// The body and the payment of each key.
    keys: BTreeMap<String, (Vec<u8>, usize)>,
}

impl Payments {
    /// What a good server does.
    pub fn serve(&self, asked: &Asked) -> Reply {
        match asked.method.as_str() {
            "POST" => self.pay(asked),
            "GET" => {
                let reference = asked.path.split_once("reference=").map(|(_, value)| value);
                answer(200, &json!({ "data": self.list(reference) }))
            }
            _ => answer(204, &Value::Null),
        }
    }

    /// Whether it is a request of the operation, and not of the probe.
    pub fn is_operation(asked: &Asked) -> bool {
        asked.method == "POST"
    }

    /// The payments with a reference, or all.
    pub fn list(&self, reference: Option<&str>) -> Vec<Value> {
        let made = self.made.lock().expect("nobody panicked");
        let listed = made.references.iter().enumerate();
        listed
            .filter(|(_, known)| reference.is_none_or(|wanted| wanted == *known))
            .map(|(id, _)| json!({ "id": format!("pay_{id}") }))
            .collect()
    }

    fn pay(&self, asked: &Asked) -> Reply {
        let Ok(body) = serde_json::from_slice::<Value>(&asked.body) else {
            return answer(400, &json!({ "error": "no JSON" }));
        };
        let reference = body["reference"].as_str().unwrap_or_default().to_owned();
        let mut made = self.made.lock().expect("nobody panicked");
        let key = asked.headers.get("idempotency-key").cloned();
        if let Some((first, id)) = key.as_ref().and_then(|key| made.keys.get(key)) {
            return match *first == asked.body {
                true => answer(201, &json!({ "id": format!("pay_{id}") })),
                false => answer(422, &json!({ "error": "another payload" })),
            };
        }
        let id = made.references.len();
        made.references.push(reference);
        if let Some(key) = key {
            made.keys.insert(key, (asked.body.clone(), id));
        }
        answer(201, &json!({ "id": format!("pay_{id}") }))
    }
}
