//! One request on a stream of HTTP/2, and what befalls it.

use super::answer::Given;
use super::api::{Api, Busy};
use super::body::{Sent, Watched};
use super::book::Book;
use super::connection::House;
use super::subject::Seen;
use crate::scenario::Close;
use crate::scenario::client::{ClientFault, DropAt};
use crate::transcript::client::{Attempt, AttemptRequest};
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::ext::on_informational;
use std::future::poll_fn;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What only concerns one connection of HTTP/1.1 (RFC 9113, section 8.2.2).
const OF_ONE_CONNECTION: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Where a stream belongs.
pub(super) struct Place {
    pub(super) house: Arc<House>,
    pub(super) api: Arc<Api>,
    /// The number of its connection.
    pub(super) connection: u32,
    /// Whether the connection had a request before.
    pub(super) reused: bool,
    pub(super) protocol: String,
    /// The client took us for a proxy, so what it calls the API is right.
    pub(super) keeps_host: bool,
    /// Ends the whole connection.
    pub(super) end: UnboundedSender<()>,
}

/// A stream while its request is served.
struct Stream {
    place: Place,
    /// The book of its operation.
    book: Arc<Book>,
    attempt: usize,
    parts: http::request::Parts,
    headers: Vec<(String, String)>,
    content: Watched,
    respond: SendResponse<Bytes>,
}

/// Serves one request.
pub(super) async fn serve(
    place: Place,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let house = Arc::clone(&place.house);
    let mut book = Arc::clone(&house.book);
    let began = book.now();
    let (parts, body) = request.into_parts();
    if parts.method == Method::CONNECT {
        // A tunnel in a stream is beyond what clients of an API ask for.
        respond.send_reset(Reason::REFUSED_STREAM);
        return;
    }
    let target = parts.uri.path_and_query();
    let target = target.map_or("/", |target| target.as_str());
    let operation = house.subject.operation(parts.method.as_str(), target);
    let mut attempt = Attempt {
        connection: place.connection,
        reused: place.reused,
        protocol: place.protocol.clone(),
        operation: operation.map(str::to_owned),
        looks_up: house.subject.looks_up(parts.method.as_str(), target),
        ..book.blank(began)
    };
    if operation.is_some()
        && let Some(fault) = book.take_unread()
    {
        attempt.fault = fault;
        book.enter(attempt);
        // The one reset that says that nothing was done (RFC 9113, section 8.7).
        respond.send_reset(Reason::REFUSED_STREAM);
        book.fired();
        return;
    }
    let operation = operation.map(str::to_owned);
    let content = Watched::default();
    let mut stream = Stream {
        attempt: 0,
        headers: in_words(&parts.headers),
        content: Arc::clone(&content),
        book: Arc::clone(&book),
        place,
        parts,
        respond,
    };
    let mut body = Sent::Stream {
        stream: body,
        content,
    };
    if let (Some(dealer), Some(operation)) = (&house.dealer, &operation) {
        // What it names its operation by may stand anywhere in it.
        body = match stream.collect(body).await {
            Ok(body) => body,
            Err(_) => return,
        };
        if let Some(own) = dealer.book(operation, &stream.read()) {
            book = own;
        }
        stream.book = Arc::clone(&book);
        attempt.run = book.run_name();
    }
    let fault = match operation {
        Some(_) => book.take_next(),
        None => ClientFault::Pass,
    };
    attempt.fault = fault;
    attempt.request = Some(stream.read());
    stream.attempt = book.enter(attempt);
    stream.befall(fault, body).await;
    let request = stream.read();
    house.conclude(&book, stream.attempt, request, fault).await;
    // Either way the client cannot know whether the work was done.
    match fault {
        ClientFault::Drop {
            close: Close::Fin, ..
        } => {
            // The connection may have ended already.
            let _ = stream.place.end.send(());
            // Whoever lets go of a stream resets it: it shall end with its connection.
            std::future::pending::<()>().await;
        }
        ClientFault::Drop {
            close: Close::Rst | Close::RstStream,
            ..
        } => stream.respond.send_reset(Reason::INTERNAL_ERROR),
        _ => {}
    }
}

impl Stream {
    /// What is written down of the request.
    fn read(&self) -> AttemptRequest {
        let target = self.parts.uri.path_and_query();
        self.place.house.subject.read(Seen {
            method: self.parts.method.as_str(),
            target: target.map_or("/", |target| target.as_str()),
            headers: &self.headers,
            content: &self.content.lock().unwrap_or_else(PoisonError::into_inner),
        })
    }

    fn amend(&self, amend: impl FnOnce(&mut Attempt)) {
        self.book.amend(self.attempt, amend);
    }

    /// Reads all of the request that was not read yet.
    async fn collect(&mut self, body: Sent) -> Result<Sent, h2::Error> {
        if matches!(body, Sent::Stream { .. }) && expects_continue(&self.parts.headers) {
            let mut go_on = Response::new(());
            *go_on.status_mut() = StatusCode::CONTINUE;
            // A client that has gone on already takes no harm.
            let _ = self.respond.send_informational(go_on);
        }
        body.collected().await
    }

    /// Does to the request what its fault says.
    async fn befall(&mut self, fault: ClientFault, body: Sent) {
        if fault == ClientFault::Pass {
            return self.let_through(body).await;
        }
        let Ok(body) = self.collect(body).await else {
            return;
        };
        // What comes now may be cut short by the end of the command.
        let request = self.read();
        self.amend(|attempt| attempt.request = Some(request));
        if let Some(given) = self.place.house.answers.given(fault) {
            return self.answer(&given).await;
        }
        let answer = self.carry_out(body).await;
        match fault {
            ClientFault::Slow => self.hold().await,
            ClientFault::Drop {
                at: DropAt::HalfAnswered,
                ..
            } => {
                if let Some((head, data)) = answer {
                    self.send_half(head, data).await;
                }
            }
            _ => {}
        }
    }

    /// Lets the API do the work; what it answers stays here.
    async fn carry_out(&mut self, body: Sent) -> Option<(Response<()>, Bytes)> {
        let answered = match Stream::ask(&self.place, &self.parts, body, |_| {}).await {
            Ok((response, busy)) => {
                let (head, body) = response.into_parts();
                let collected = body.collect().await;
                self.place.api.is_done_with(busy);
                collected
                    .map(|body| (Response::from_parts(head, ()), body.to_bytes()))
                    .map_err(|problem| problem.to_string())
            }
            Err(why) => Err(why),
        };
        match answered {
            Ok(answer) => Some(answer),
            Err(why) => {
                self.amend(|attempt| attempt.trouble = Some(why));
                None
            }
        }
    }

    /// Sends the request on. Answers of the API that only go before the one (RFC 9110, section
    /// 15.2) are handed to `before`.
    async fn ask(
        place: &Place,
        parts: &http::request::Parts,
        body: Sent,
        before: impl Fn(Response<()>) + Send + Sync + 'static,
    ) -> Result<(Response<Incoming>, Busy), String> {
        let mut request = Request::new(body);
        on_informational(&mut request, move |early| {
            let mut copy = Response::new(());
            *copy.status_mut() = early.status();
            copy.headers_mut().clone_from(early.headers());
            before(copy);
        });
        request.method_mut().clone_from(&parts.method);
        request.uri_mut().clone_from(&parts.uri);
        request.headers_mut().clone_from(&parts.headers);
        place.api.send(request, place.keeps_host).await
    }

    async fn let_through(&mut self, body: Sent) {
        let (response, busy) = match self.answered(body).await {
            Ok(answered) => answered,
            Err(why) => {
                self.amend(|attempt| attempt.trouble = Some(why));
                self.respond.send_reset(Reason::INTERNAL_ERROR);
                return;
            }
        };
        let status = response.status().as_u16();
        self.amend(|attempt| attempt.status = Some(status));
        match self.pass(response).await {
            Ok(()) => self.place.api.is_done_with(busy),
            Err(why) => self.amend(|attempt| attempt.trouble = Some(why)),
        }
    }

    /// The answer of the API; what goes before it is passed on as it comes.
    async fn answered(&mut self, body: Sent) -> Result<(Response<Incoming>, Busy), String> {
        let (sender, mut early) = unbounded_channel();
        let asked = Stream::ask(&self.place, &self.parts, body, move |response| {
            // We listen as long as the answer has not come.
            let _ = sender.send(response);
        });
        let mut asked = std::pin::pin!(asked);
        loop {
            let (response, answered) = tokio::select! {
                biased;
                Some(response) = early.recv() => (Some(response), None),
                answered = &mut asked => (early.try_recv().ok(), Some(answered)),
            };
            if let Some(response) = response {
                // That a client has gone shows when the answer is passed on.
                let _ = self.respond.send_informational(response);
            }
            if let Some(answered) = answered {
                return answered;
            }
        }
    }

    /// Passes an answer on as it comes.
    async fn pass(&mut self, response: Response<Incoming>) -> Result<(), String> {
        let (mut head, mut body) = response.into_parts();
        for name in OF_ONE_CONNECTION {
            head.headers.remove(name);
        }
        let is_over = body.is_end_stream();
        let head = Response::from_parts(head, ());
        let gone = |problem: h2::Error| problem.to_string();
        let mut to = self.respond.send_response(head, is_over).map_err(gone)?;
        if is_over {
            return Ok(());
        }
        while let Some(frame) = body.frame().await {
            let frame = match frame {
                Ok(frame) => frame,
                Err(problem) => {
                    to.send_reset(Reason::INTERNAL_ERROR);
                    return Err(problem.to_string());
                }
            };
            match frame.into_data() {
                Ok(data) => send(&mut to, data).await.map_err(gone)?,
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        return to.send_trailers(trailers).map_err(gone);
                    }
                }
            }
        }
        to.send_data(Bytes::new(), true).map_err(gone)
    }

    /// An answer of ours.
    async fn answer(&mut self, given: &Given) {
        let sent = self.send_given(given).await;
        let now = self.book.now();
        self.amend(|attempt| {
            attempt.ended = now;
            attempt.status = sent.is_ok().then_some(given.status);
            attempt.asked_back = given.back.as_ref().map(|back| now + back.time);
        });
    }

    async fn send_given(&mut self, given: &Given) -> Result<(), h2::Error> {
        let mut head = Response::new(());
        *head.status_mut() =
            StatusCode::from_u16(given.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = head.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(header::CONTENT_LENGTH, given.body.len().into());
        if let Some(back) = &given.back
            && let Ok(value) = HeaderValue::try_from(&back.header)
        {
            headers.insert(header::RETRY_AFTER, value);
        }
        let mut to = self.respond.send_response(head, false)?;
        send(&mut to, given.body.clone().into()).await?;
        to.send_data(Bytes::new(), true)
    }

    /// Sends the head of an answer and half of its body.
    async fn send_half(&mut self, mut head: Response<()>, data: Bytes) {
        for name in OF_ONE_CONNECTION {
            head.headers_mut().remove(name);
        }
        let status = head.status().as_u16();
        let Ok(mut to) = self.respond.send_response(head, false) else {
            return;
        };
        let half = data.slice(..data.len() / 2);
        if send(&mut to, half).await.is_ok() {
            self.amend(|attempt| attempt.status = Some(status));
        }
        // What was written shall be read before the end is.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    /// Holds an answer back until the client has given up, or for long enough.
    async fn hold(&mut self) {
        let hold = self.place.house.hold;
        let gone = poll_fn(|context| self.respond.poll_reset(context));
        let gave_up = tokio::time::timeout(hold, gone).await.is_ok();
        let now = self.book.now();
        self.amend(|attempt| {
            attempt.ended = now;
            if !gave_up {
                attempt.trouble = Some("the client waited longer than its time limit".to_owned());
            }
        });
        if !gave_up {
            self.respond.send_reset(Reason::CANCEL);
        }
    }
}

/// Sends data as fast as the client takes it.
async fn send(to: &mut SendStream<Bytes>, mut data: Bytes) -> Result<(), h2::Error> {
    while !data.is_empty() {
        to.reserve_capacity(data.len());
        let free = match poll_fn(|context| to.poll_capacity(context)).await {
            Some(free) => free?,
            None => return Err(Reason::CANCEL.into()),
        };
        let part = data.split_to(free.min(data.len()));
        to.send_data(part, false)?;
    }
    Ok(())
}

fn expects_continue(headers: &HeaderMap) -> bool {
    let value = headers.get(header::EXPECT);
    value.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// The headers as text, each byte a character.
fn in_words(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| {
        value
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect()
    };
    headers
        .iter()
        .map(|(name, value): (&HeaderName, &HeaderValue)| (name.as_str().to_owned(), text(value)))
        .collect()
}
