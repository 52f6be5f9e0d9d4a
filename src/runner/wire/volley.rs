//! Several requests on one HTTP/2 connection, all but their last frames sent ahead, so that a single
//! send completes them all: they arrive in one packet, or as near to it as their number allows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::runner::wire::account::{self, Over};
use crate::runner::wire::connect::{Connection, Sender};
use crate::runner::wire::done::{Delivery, Done, Times};
use crate::runner::wire::drive::{self, Inbound};
use crate::runner::wire::flight::{Flight, Moment, Shared};
use crate::runner::wire::http2::{GatedBody, Streamed, streamed};
use crate::runner::wire::receive::{Inbox, receive};
use crate::runner::wire::request::{Hold, Outgoing};
use crate::runner::wire::story::Story;
use crate::runner::wire::tap::Tap;

/// What a connection carries if the peer has set no limit of its own.
const MOST: usize = 100;

impl Connection {
    /// How many requests one volley on this connection may have: what the peer allows (its setting
    /// `MAX_CONCURRENT_STREAMS`, RFC 9113, section 5.1.2) and never more than 100; 1 over HTTP/1.1.
    pub fn most_at_once(&self) -> usize {
        let Some(limit) = self.tap.frames(|frames| frames.most_streams) else {
            return 1;
        };
        let limit = limit.map_or(MOST, |limit| usize::try_from(limit).unwrap_or(MOST));
        limit.clamp(1, MOST)
    }

    /// Puts requests on this HTTP/2 connection, each as far as `hold` says, and returns when the
    /// kernel has what goes ahead. Releasing any of the flights releases all of them, in one send;
    /// cutting one closes the connection, and so cuts them all. Faults are not for volleys.
    ///
    /// `patience` is for each: from the release to the last byte of its response.
    ///
    /// # Panics
    /// If the connection does not speak HTTP/2, or has room for fewer ([`Self::most_at_once`]).
    pub async fn prepare_volley(
        self,
        requests: Vec<Outgoing>,
        hold: Hold,
        patience: Duration,
    ) -> Vec<Flight> {
        assert!(self.is_http2(), "a volley goes over HTTP/2");
        assert!(requests.len() <= self.most_at_once(), "too large a volley");
        let tap = Arc::clone(&self.tap);
        tap.follow_all();
        let everything = hold == Hold::Everything;
        if everything {
            tap.line.hold();
        }
        let scheme = self.scheme;
        let connection = Arc::new(self);
        let (ended, mut has_ended) = watch::channel(false);
        let begun = Instant::now();
        let mut flights = Vec::new();
        let mut ahead = Expected::default();
        let mut whole = Expected::default();
        let mut gates = Vec::new();
        let mut last_headers = Vec::new();
        for (index, request) in requests.into_iter().enumerate() {
            let story = Arc::new(Story::new(connection.connected));
            let line = Arc::clone(&tap.line);
            let payload = streamed(&request, scheme, None);
            let held = hold != Hold::Nothing;
            let shared = Shared::in_volley(story, line, payload.is_ok(), held);
            let rider = Rider {
                connection: Arc::clone(&connection),
                shared: Arc::clone(&shared),
                inbox: Inbox::default(),
                begun,
                patience,
                ended: ended.clone(),
            };
            match payload {
                Err(says) => {
                    let done = async move { rider.close(Over::Impossible(says)).await };
                    flights.push((index, Flight::new(shared, tokio::spawn(done))));
                }
                Ok(Streamed { request, stages }) => {
                    whole.add(stages.kept);
                    if stages.is_headers_only() {
                        // Its headers are its last frame: they go into what is held.
                        last_headers.push((index, request, rider, shared));
                        continue;
                    }
                    ahead.add(stages.first);
                    gates.push(stages.open);
                    flights.push((index, rider.start(request, shared)));
                }
            }
        }
        if !everything {
            ahead.reach(&tap, false, &mut has_ended, patience).await;
            tap.line.hold();
        }
        for (index, request, rider, shared) in last_headers {
            flights.push((index, rider.start(request, shared)));
        }
        for gate in gates {
            // The body is gone if its exchange is over, which its flight tells.
            let _ = gate.send(());
        }
        whole.reach(&tap, true, &mut has_ended, patience).await;
        for (_, flight) in &flights {
            flight.handed_over();
        }
        if hold == Hold::Nothing {
            tap.line.release();
        }
        flights.sort_by_key(|(index, _)| *index);
        flights.into_iter().map(|(_, flight)| flight).collect()
    }
}

/// What must have gone out of all streams together.
#[derive(Default)]
struct Expected {
    streams: usize,
    data: u64,
}

impl Expected {
    fn add(&mut self, data: u64) {
        self.streams += 1;
        self.data += data;
    }

    /// Waits for it, unless a response comes early (then some of it never goes out) or it takes too
    /// long, which the flights themselves will show.
    async fn reach(
        &self,
        tap: &Tap,
        ends: bool,
        has_ended: &mut watch::Receiver<bool>,
        patience: Duration,
    ) {
        let reached = tap.frames_until(|frames| {
            frames.flushed
                && frames.all.headers_out >= self.streams
                && frames.all.data_out >= self.data
                && (!ends || frames.all.ends_out >= self.streams)
        });
        tokio::select! {
            () = reached => {}
            _ = has_ended.wait_for(|ended| *ended) => {}
            () = tokio::time::sleep(patience) => {}
        }
    }
}

/// One request of a volley, from its first byte to its end.
struct Rider {
    connection: Arc<Connection>,
    shared: Arc<Shared>,
    inbox: Inbox,
    begun: Instant,
    patience: Duration,
    /// Told when an exchange has ended.
    ended: watch::Sender<bool>,
}

impl Rider {
    fn start(self, request: http::Request<GatedBody>, shared: Arc<Shared>) -> Flight {
        let Sender::Http2(sender) = &self.connection.sender else {
            unreachable!("a volley goes over HTTP/2");
        };
        // Streams are numbered as they are asked for, so this happens here and not in the task.
        let answer = sender.clone().send_request(request);
        let story = Arc::clone(&self.shared.story);
        let answer = async move {
            let head = answer.await;
            if head.is_ok() {
                story.happen(Moment::FirstByte, Instant::now());
            }
            head
        };
        let inbound: Inbound = Box::pin(receive(answer, self.inbox.clone()));
        Flight::new(shared, tokio::spawn(self.run(inbound)))
    }

    async fn run(self, mut inbound: Inbound) -> Done {
        let over = tokio::select! {
            biased;
            close = self.shared.cut_asked() => Over::Cut(close),
            result = &mut inbound => Over::Received(result),
            over = self.patience() => over,
        };
        self.close(over).await
    }

    async fn patience(&self) -> Over {
        self.shared.released().await;
        let released = self.shared.story.released().unwrap_or(self.begun);
        let deadline = released + self.patience;
        // What the kernel did not take at once still has to go out.
        let flushed = self.connection.tap.flush();
        match tokio::time::timeout_at(deadline.into(), flushed).await {
            Ok(Ok(())) => self.shared.note_sent(),
            Ok(Err(error)) => return Over::WriteFailed(error),
            Err(_) => return Over::OutOfPatience,
        }
        drive::until(Some(deadline)).await;
        Over::OutOfPatience
    }

    async fn close(self, over: Over) -> Done {
        let tap = Arc::clone(&self.connection.tap);
        let story = &self.shared.story;
        self.shared.release_told().await;
        self.shared.note_sent();
        if let Over::Cut(close) = over {
            tap.line.close(close);
        }
        let ended = tap
            .line
            .closed()
            .map_or_else(Instant::now, |closed| closed.at);
        let answered = matches!(over, Over::Received(Ok(()))) && tap.line.closed().is_none();
        if answered {
            story.happen(Moment::LastByte, ended);
        }
        let times = Times {
            connected: self.connection.connected,
            released: story.released(),
            sent: story.at(Moment::Sent),
            first_byte: story.at(Moment::FirstByte),
            last_byte: story.at(Moment::LastByte),
            ended,
        };
        let delivery = match (times.first_byte, times.sent) {
            (Some(_), _) => Delivery::ResponseSeen,
            (None, Some(_)) => Delivery::Delivered,
            (None, None) if self.shared.was_handed_over() => Delivery::Partial,
            (None, None) => Delivery::NotSent,
        };
        self.shared.over();
        story.happen(Moment::Ended, ended);
        let ending = account::ending(&over, &tap);
        self.ended.send_replace(true);
        Done {
            times,
            ending,
            delivery,
            response: self.inbox.response(),
            fault: None,
            unread: None,
            late: None,
            connection: match Arc::into_inner(self.connection) {
                // The last one hands it back.
                Some(connection) if answered => account::idle(connection).await,
                _ => None,
            },
        }
    }
}
