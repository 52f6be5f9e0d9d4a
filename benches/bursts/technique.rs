//! The ways to let requests go together.

use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use idemspec::runner::wire::{
    Connection, Controls, Endpoint, Flight, Hold, Outgoing, Scheme, TlsOptions, Version, Wire,
    release_together,
};
use rustls::pki_types::CertificateDer;

const PATIENCE: Duration = Duration::from_secs(20);
/// What was sent ahead gets so long to be taken in.
const STILL: Duration = Duration::from_millis(3);

/// A protocol, and whether it is encrypted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Http1,
    Http2,
    Https1,
    Https2,
}

impl Way {
    pub const ALL: [Way; 4] = [Way::Http1, Way::Http2, Way::Https1, Way::Https2];

    pub fn is_tls(self) -> bool {
        matches!(self, Way::Https1 | Way::Https2)
    }

    pub fn is_http2(self) -> bool {
        matches!(self, Way::Http2 | Way::Https2)
    }

    pub fn name(self) -> &'static str {
        match self {
            Way::Http1 => "HTTP/1.1",
            Way::Http2 => "HTTP/2",
            Way::Https1 => "HTTP/1.1, TLS",
            Way::Https2 => "HTTP/2, TLS",
        }
    }
}

/// How requests are let go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Technique {
    ReqwestCold,
    ReqwestWarm,
    WholeRequests,
    LastByte,
    SinglePacket,
    /// What a run does: the tightest of the protocol and whole requests in turn.
    Auto,
}

impl Technique {
    pub fn name(self) -> &'static str {
        match self {
            Technique::ReqwestCold => "reqwest, cold",
            Technique::ReqwestWarm => "reqwest, warm",
            Technique::WholeRequests => "whole requests",
            Technique::LastByte => "last byte",
            Technique::SinglePacket => "single packet",
            Technique::Auto => "as in a run",
        }
    }

    /// Whether the engine of idemspec lets it go.
    pub fn is_ours(self) -> bool {
        !matches!(self, Technique::ReqwestCold | Technique::ReqwestWarm)
    }

    /// All that can be done over a protocol; the plain one is the one to compare with.
    pub fn over(way: Way) -> Vec<Technique> {
        let tightest = if way.is_http2() {
            Technique::SinglePacket
        } else {
            Technique::LastByte
        };
        vec![
            Technique::ReqwestWarm,
            Technique::ReqwestCold,
            Technique::WholeRequests,
            tightest,
            Technique::Auto,
        ]
    }
}

/// What came of a burst.
pub struct Burst {
    /// The bodies of the responses.
    pub bodies: Vec<String>,
    /// How long the sending took that let it go, as far as that is known.
    pub sending: Option<Duration>,
}

/// Where to send, and with what.
pub struct Place {
    pub way: Way,
    endpoint: Endpoint,
    wire: Wire,
    cold: reqwest::Client,
    warm: reqwest::Client,
}

impl Place {
    pub fn new(
        way: Way,
        port: u16,
        certificate: &[u8],
    ) -> Result<Place, Box<dyn std::error::Error>> {
        let root = CertificateDer::from(certificate.to_vec());
        let version = if way.is_http2() {
            Version::Http2
        } else {
            Version::Http1
        };
        let tls = TlsOptions {
            extra_roots: vec![root],
            identity: None,
            further: Vec::new(),
            verify: true,
        };
        let client = |idle: usize| {
            let builder = reqwest::Client::builder()
                .tls_certs_only([reqwest::Certificate::from_der(certificate)?])
                .pool_max_idle_per_host(idle)
                .no_proxy()
                .retry(reqwest::retry::never());
            if way.is_http2() {
                builder.http2_prior_knowledge()
            } else {
                builder.http1_only()
            }
            .build()
        };
        Ok(Place {
            way,
            endpoint: Endpoint {
                address: None,
                scheme: if way.is_tls() {
                    Scheme::Https
                } else {
                    Scheme::Http
                },
                host: "127.0.0.1".to_owned(),
                port,
                certificate: None,
            },
            wire: Wire::new(tls, version)?,
            cold: client(0)?,
            warm: client(usize::MAX)?,
        })
    }

    /// Sends so many copies.
    pub async fn burst(
        &self,
        technique: Technique,
        copies: usize,
        path: &str,
        key: &str,
        round: usize,
    ) -> Result<Burst, Box<dyn std::error::Error>> {
        let hold = match technique {
            Technique::ReqwestCold => return self.reqwest(&self.cold, copies, path, key).await,
            Technique::ReqwestWarm => {
                // The connections of the burst are opened, and used once.
                self.reqwest(&self.warm, copies, "/warm", "warm").await?;
                return self.reqwest(&self.warm, copies, path, key).await;
            }
            Technique::SinglePacket => return self.volley(copies, path, key).await,
            Technique::Auto if round.is_multiple_of(2) && self.way.is_http2() => {
                return self.volley(copies, path, key).await;
            }
            Technique::Auto if round.is_multiple_of(2) => Hold::LastByte,
            Technique::LastByte => Hold::LastByte,
            Technique::WholeRequests | Technique::Auto => Hold::Everything,
        };
        let flights = join_all((0..copies).map(|_| async {
            let connection = self.warm_connection().await?;
            let controls = Controls {
                hold,
                fault: None,
                patience: PATIENCE,
            };
            let flight = connection.prepare(self.request(path, key), controls).await;
            Ok::<Flight, Box<dyn std::error::Error>>(flight)
        }))
        .await;
        let flights: Vec<Flight> = flights.into_iter().collect::<Result<_, _>>()?;
        self.let_go(flights).await
    }

    async fn warm_connection(&self) -> Result<Connection, Box<dyn std::error::Error>> {
        let connection = self.wire.connect(&self.endpoint, PATIENCE).await?;
        let controls = Controls {
            hold: Hold::Nothing,
            fault: None,
            patience: PATIENCE,
        };
        let done = connection
            .prepare(self.request("/warm", "warm"), controls)
            .await
            .done()
            .await;
        done.connection
            .ok_or_else(|| format!("the connection was lost: {:?}", done.ending).into())
    }

    async fn volley(
        &self,
        copies: usize,
        path: &str,
        key: &str,
    ) -> Result<Burst, Box<dyn std::error::Error>> {
        let mut flights = Vec::new();
        let mut left = copies;
        while left > 0 {
            let connection = self.warm_connection().await?;
            let now = left.min(connection.most_at_once());
            let requests = (0..now).map(|_| self.request(path, key)).collect();
            flights.extend(
                connection
                    .prepare_volley(requests, Hold::LastByte, PATIENCE)
                    .await,
            );
            left -= now;
        }
        self.let_go(flights).await
    }

    async fn let_go(&self, flights: Vec<Flight>) -> Result<Burst, Box<dyn std::error::Error>> {
        tokio::time::sleep(STILL).await;
        let releasers = flights.iter().map(Flight::releaser).collect::<Vec<_>>();
        let spread = tokio::task::spawn_blocking(move || release_together(&releasers)).await?;
        let mut bodies = Vec::new();
        for done in join_all(flights.into_iter().map(Flight::done)).await {
            let response = done
                .response
                .ok_or_else(|| format!("no response: {:?}", done.ending))?;
            bodies.push(String::from_utf8_lossy(&response.body).into_owned());
        }
        Ok(Burst {
            bodies,
            sending: Some(spread.last - spread.first),
        })
    }

    fn request(&self, path: &str, key: &str) -> Outgoing {
        Outgoing {
            method: http::Method::POST,
            target: path.to_owned(),
            authority: format!("127.0.0.1:{}", self.endpoint.port),
            headers: vec![
                ("Idempotency-Key".to_owned(), key.as_bytes().to_vec()),
                ("Content-Type".to_owned(), b"application/json".to_vec()),
            ],
            body: Some(Bytes::from_static(BODY.as_bytes())),
            chunked: false,
            upper_case_headers: false,
        }
    }

    async fn reqwest(
        &self,
        client: &reqwest::Client,
        copies: usize,
        path: &str,
        key: &str,
    ) -> Result<Burst, Box<dyn std::error::Error>> {
        let url = format!("{}{path}", self.endpoint);
        let sent = (0..copies).map(|_| {
            let request = client
                .post(&url)
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .body(BODY);
            async move { request.send().await?.text().await }
        });
        let bodies = join_all(sent).await.into_iter();
        Ok(Burst {
            bodies: bodies.collect::<Result<Vec<_>, reqwest::Error>>()?,
            sending: None,
        })
    }
}

const BODY: &str = r#"{"amount":2000,"currency":"EUR","reference":"a burst"}"#;
