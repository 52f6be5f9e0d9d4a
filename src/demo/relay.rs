//! The relay: delivers the events of the outbox to whoever has subscribed, each until it is taken.
//! An event keeps its id, its body and the signature over its body alone in every attempt; the one that
//! is also over the time of the attempt is made anew (Standard Webhooks 1.0).

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::{Request, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use url::Url;
use uuid::Uuid;

use super::clock::Timestamp;
use super::flaw::Flaw;
use super::flaws::{Flaws, Matter};
use super::outbox::{self, Event};
use super::signature;
use super::store::{Store, StoreError};

/// Time between two looks at the outbox, for events that are due again.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a receiver may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long an event that was taken from the outbox is left to whoever took it.
const LEASE: Duration = Duration::from_secs(3);
/// The pause before the second attempt; it doubles with each, up to a minute.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// After so many attempts `gives-events-up-soon` does.
const MOST_ATTEMPTS: u32 = 3;
/// How late `delivers-events-out-of-order` delivers every second event.
const LATE: Duration = Duration::from_millis(1500);
/// Events that are delivered at once.
const AT_ONCE: u32 = 16;

/// Delivers events until it is stopped.
#[derive(Clone, Debug)]
pub struct Relay {
    /// Where the events are.
    pub store: Store,
    /// Told when there is a new event.
    pub news: Arc<Notify>,
    /// The planted defects.
    pub flaws: Flaws,
    /// What was taken is delivered once more.
    pub twice: bool,
    /// Each attempt has words and a signature of its own.
    pub anew: bool,
    /// Nobody waits for an event that comes before.
    pub unordered: bool,
}

impl Relay {
    /// Runs until `stopped` says so.
    pub async fn run(self, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = self.news.notified() => {}
                () = tokio::time::sleep(PAUSE) => {}
                // An error is a demo that was dropped, which stops it as well.
                _ = stopped.wait_for(|stop| *stop) => return,
            }
            // What could not be read now is read again a moment later.
            let _ = self.look().await;
        }
    }

    /// Delivers what is due. First attempts are made one after another, so that events come in the order
    /// of what they announce; what comes again is delivered in a task of its own, for a receiver that
    /// refuses one event must not hold up the others.
    async fn look(&self) -> Result<(), StoreError> {
        let Some(url) = self.store.read(outbox::subscriber).await? else {
            return Ok(());
        };
        let Ok(url) = Url::parse(&url) else {
            return Ok(());
        };
        let (now, until) = (now(), now() + millis(LEASE));
        let due = self
            .store
            .change(move |connection| outbox::take(connection, now, until, AT_ONCE))
            .await?;
        for event in due {
            let delivered = self.clone().deliver(event.clone(), url.clone());
            match event.attempts == 1 && self.is_ordered() {
                true => delivered.await,
                false => drop(tokio::spawn(delivered)),
            }
        }
        Ok(())
    }

    /// Whether an event waits until the one before it was tried.
    fn is_ordered(&self) -> bool {
        let endless = self.flaws.has(Flaw::RetriesFromMemory);
        !endless && !self.unordered && !self.flaws.has(Flaw::DeliversEventsOutOfOrder)
    }

    async fn deliver(self, event: Event, url: Url) {
        let number = event.number;
        if self.flaws.has(Flaw::DeliversEventsOutOfOrder) && number % 2 == 1 {
            tokio::time::sleep(LATE).await;
        }
        let marks_first = matches!(
            self.flaws.of(Matter::Delivery),
            Some(Flaw::MarksEventBeforeDelivery | Flaw::RetriesFromMemory)
        );
        if marks_first {
            let marked = self
                .store
                .change(move |connection| outbox::delivered(connection, number))
                .await;
            if marked.is_err() {
                return;
            }
        }
        let mut taken = self.attempt(&event, &url).await;
        if self.flaws.has(Flaw::RetriesFromMemory) {
            let mut pause = FIRST_PAUSE;
            while !taken {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(5));
                taken = self.attempt(&event, &url).await;
            }
        }
        if self.flaws.has(Flaw::GivesEventsUpSoon) && event.attempts >= MOST_ATTEMPTS {
            taken = true;
        }
        if taken && self.twice {
            // Whatever comes of it: the event was taken.
            let _ = tokio::time::timeout(PATIENCE, self.post(&event, &url)).await;
        }
        let pause = FIRST_PAUSE * 2u32.pow(event.attempts.saturating_sub(1).min(9));
        let due = now() + millis(pause.min(Duration::from_secs(60)));
        // What cannot be written down is delivered again when the lease is over.
        let _ = self
            .store
            .change(move |connection| match taken {
                true => outbox::delivered(connection, number),
                false => outbox::postpone(connection, number, due),
            })
            .await;
    }

    /// One attempt; whether the event was taken.
    async fn attempt(&self, event: &Event, url: &Url) -> bool {
        let posted = tokio::time::timeout(PATIENCE, self.post(event, url)).await;
        matches!(posted, Ok(Ok(true)))
    }

    /// Posts an event; whether it was taken.
    async fn post(
        &self,
        event: &Event,
        url: &Url,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        let id = match self.flaws.has(Flaw::MintsEventIdPerAttempt) {
            true => format!("evt_{}", Uuid::new_v4().simple()),
            false => event.id.clone(),
        };
        let mut body = event.body(&id);
        if self.anew || self.flaws.has(Flaw::ChangesEventBody) {
            body["attempt"] = event.attempts.into();
        }
        let body = body.to_string();
        let salt = match self.anew || self.flaws.has(Flaw::SaltsEventSignature) {
            true => Uuid::new_v4().simple().to_string(),
            false => String::new(),
        };
        let timestamp = now() / 1000;
        let host = url.host_str().ok_or("the URL has no host")?;
        let port = url.port_or_known_default().ok_or("the URL has no port")?;
        let stream = TcpStream::connect((host, port)).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        let path = url.query().map_or_else(
            || url.path().to_owned(),
            |query| format!("{}?{query}", url.path()),
        );
        let request = Request::post(path)
            .header(header::HOST, format!("{host}:{port}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", timestamp)
            .header(
                "webhook-signature",
                signature::sign(&id, timestamp, body.as_bytes()),
            )
            .header("demo-signature", signature::of_body(&salt, body.as_bytes()))
            .body(Full::new(Bytes::from(body)))?;
        let answered = async {
            let response = sender.send_request(request).await?;
            let taken = response.status().is_success();
            response.into_body().collect().await?;
            Ok(taken)
        };
        let answered = answered.await;
        driver.abort();
        answered
    }
}

/// The time, which no tester moves: pauses between deliveries are real.
fn now() -> Timestamp {
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    millis(wall)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
