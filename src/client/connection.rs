//! One connection of a client: what it turns out to speak, and what befalls each of its requests.

use super::answer::{Answers, Given};
use super::book::Book;
use super::content::Content;
use super::dealer::Dealer;
use super::http2::{self, Known, PREFACE};
use super::line::Line;
use super::message::Head;
use super::primed::Primed;
use super::relay::{Sides, collect, exchange, pass};
use super::subject::{Seen, Subject, origin_form};
use super::tls::Authority;
use super::upstream::Upstream;
use crate::scenario::Close;
use crate::scenario::client::{ClientFault, DropAt};
use crate::transcript::client::{Attempt, AttemptRequest};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::TcpStream;

/// The first byte of a TLS handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;

/// What every connection of a run shares.
#[derive(Debug)]
pub(super) struct House {
    /// The book of the run, or of what belongs to no operation where these are dealt.
    pub(super) book: Arc<Book>,
    /// Who tells operations apart, where clients were started elsewhere.
    pub(super) dealer: Option<Arc<Dealer>>,
    pub(super) subject: Arc<Subject>,
    pub(super) upstream: Upstream,
    pub(super) answers: Answers,
    pub(super) authority: Arc<Authority>,
    /// How long a slow answer is held back.
    pub(super) hold: Duration,
}

impl House {
    /// Where the command is ended as soon as a fault has fired, it learns of none before its end.
    async fn outlive(&self, book: &Book) {
        if book.ends_command() {
            tokio::time::sleep(self.hold).await;
        }
    }

    /// Completes what is written down of an attempt when all was done to it.
    pub(super) async fn conclude(
        &self,
        book: &Book,
        place: usize,
        request: AttemptRequest,
        fault: ClientFault,
    ) {
        let now = book.now();
        book.amend(place, |attempt| {
            attempt.request = Some(request);
            if attempt.ended == attempt.began {
                attempt.ended = now;
            }
        });
        if fault != ClientFault::Pass {
            book.fired();
            self.outlive(book).await;
        }
    }

    /// What is written down of a request.
    fn read(&self, head: &Head, content: &Content) -> AttemptRequest {
        self.subject.read(Seen {
            method: head.method(),
            target: origin_form(head),
            headers: &head.headers,
            content,
        })
    }
}

/// One connection.
pub(super) struct Connection {
    house: Arc<House>,
    /// The book of the request that is served.
    book: Arc<Book>,
    number: u32,
    requests: u32,
    /// The host that the client asked a proxy for.
    host: Option<String>,
    line: Line,
    buffer: BytesMut,
    api: Option<(Line, BytesMut)>,
}

/// What becomes of the connection after a request.
enum Next {
    /// It is used again.
    Keep,
    /// It is closed.
    Close,
    /// It is closed abruptly.
    Reset,
}

/// Serves a connection to its end.
pub(super) async fn serve(tcp: TcpStream, house: Arc<House>) {
    let number = house.book.connection();
    // It makes answers faster; where it cannot be had they still come.
    let _ = tcp.set_nodelay(true);
    let mut connection = Connection {
        book: Arc::clone(&house.book),
        house,
        number,
        requests: 0,
        host: None,
        line: Line::Plain(tcp),
        buffer: BytesMut::new(),
        api: None,
    };
    let mut stage = connection.house.book.watch();
    loop {
        let first = tokio::select! {
            first = connection.first_bytes() => first,
            // Nothing idle may outlive the moment from which connections are refused.
            _ = stage.wait_for(|stage| stage.refuses) => return,
        };
        let Some(first) = first else {
            return;
        };
        if first[0] == HANDSHAKE && matches!(connection.line, Line::Plain(_)) {
            match connection.begin_tls().await {
                Some(secured) => connection = secured,
                None => return,
            }
            continue;
        }
        if !first.is_empty() && PREFACE.starts_with(&first) {
            return connection.speak_http2().await;
        }
        match connection.request(&first).await {
            Next::Keep => {}
            Next::Close => {
                // The client may have closed before us.
                let _ = connection.line.shutdown().await;
                return;
            }
            Next::Reset => {
                connection.line.reset();
                return;
            }
        }
    }
}

impl Connection {
    /// The first bytes of what comes next, without taking them; `None` at the end.
    async fn first_bytes(&mut self) -> Option<Vec<u8>> {
        if self.buffer.is_empty() {
            match &self.line {
                Line::Plain(tcp) => {
                    let mut first = [0; 8];
                    tcp.ready(Interest::READABLE).await.ok()?;
                    let length = tcp.peek(&mut first).await.ok()?;
                    return (length > 0).then(|| first[..length].to_vec());
                }
                Line::Tls(_) => {
                    if !self.line.more(&mut self.buffer).await.ok()? {
                        return None;
                    }
                }
            }
        }
        Some(self.buffer[..self.buffer.len().min(8)].to_vec())
    }

    async fn begin_tls(self) -> Option<Connection> {
        let Line::Plain(tcp) = self.line else {
            return None;
        };
        let tls = self
            .house
            .authority
            .accept(tcp, self.host.as_deref())
            .await?;
        Some(Connection {
            line: Line::Tls(Box::new(tls.into())),
            ..self
        })
    }

    fn protocol(&self, version: &str) -> String {
        match self.line {
            Line::Plain(_) => version.to_owned(),
            Line::Tls(_) => format!("{version} over TLS"),
        }
    }

    /// One request.
    async fn request(&mut self, first: &[u8]) -> Next {
        let house = Arc::clone(&self.house);
        self.book = Arc::clone(&house.book);
        let began = self.book.now();
        let mut attempt = Attempt {
            connection: self.number,
            reused: self.requests > 0,
            protocol: self.protocol("HTTP/1.1"),
            ..self.book.blank(began)
        };
        let method: String = first.iter().map(|byte| char::from(*byte)).collect();
        let method = method.split(' ').next().unwrap_or_default();
        if house.subject.has_method(method)
            && let Some(fault) = self.book.take_unread()
        {
            attempt.fault = fault;
            self.book.enter(attempt);
            self.book.fired();
            return closing(fault);
        }
        let head = loop {
            match Head::take(&mut self.buffer) {
                Ok(Some(head)) => break head,
                Ok(None) => {}
                Err(_) => return Next::Close,
            }
            match self.line.more(&mut self.buffer).await {
                Ok(true) => {}
                Ok(false) | Err(_) => return Next::Close,
            }
        };
        if head.method() == "CONNECT" {
            return self.become_proxy(&head).await;
        }
        self.requests += 1;
        let target = origin_form(&head);
        let operation = house.subject.operation(head.method(), target);
        attempt.operation = operation.map(str::to_owned);
        attempt.looks_up = house.subject.looks_up(head.method(), target);
        if let (Some(dealer), Some(operation)) = (&house.dealer, operation) {
            match self.read_ahead(&head).await {
                Ok(request) => self.take_book(dealer.book(operation, &request)),
                Err(_) => return Next::Close,
            }
            attempt.run = self.book.run_name();
        }
        let book = Arc::clone(&self.book);
        let fault = match operation {
            Some(_) => book.take_next(),
            None => ClientFault::Pass,
        };
        attempt.fault = fault;
        let mut content = Content::default();
        attempt.request = Some(house.read(&head, &content));
        let place = book.enter(attempt);
        let done = self.befall(fault, &head, place, &mut content).await;
        let request = house.read(&head, &content);
        house.conclude(&book, place, request, fault).await;
        done
    }

    /// Reads a whole request, and puts its body back: what it names its operation by may stand
    /// anywhere in it.
    async fn read_ahead(&mut self, head: &Head) -> std::io::Result<AttemptRequest> {
        let mut content = Content::default();
        let body = collect(&mut self.line, &mut self.buffer, head, &mut content).await?;
        let mut buffer = BytesMut::from(&body[..]);
        buffer.unsplit(std::mem::take(&mut self.buffer));
        self.buffer = buffer;
        Ok(self.house.read(head, &content))
    }

    fn take_book(&mut self, own: Option<Arc<Book>>) {
        if let Some(own) = own {
            self.book = own;
        }
    }

    /// Does to a request what its fault says.
    async fn befall(
        &mut self,
        fault: ClientFault,
        head: &Head,
        place: usize,
        content: &mut Content,
    ) -> Next {
        if fault == ClientFault::Pass {
            return self.let_through(head, place, content).await;
        }
        let Ok(body) = collect(&mut self.line, &mut self.buffer, head, content).await else {
            return Next::Close;
        };
        // What comes now may be cut short by the end of the command.
        let request = self.house.read(head, content);
        self.book
            .amend(place, |attempt| attempt.request = Some(request));
        if let Some(given) = self.house.answers.given(fault) {
            return self.answer(&given, head, place).await;
        }
        let answer = self.carry_out(head, &body, place).await;
        match fault {
            ClientFault::Slow => self.hold(place).await,
            ClientFault::Drop {
                at: DropAt::HalfAnswered,
                ..
            } => {
                if let Some((status, answer_head, answer_body)) = answer {
                    let half = match answer_body.len() {
                        0 => answer_head.slice(..answer_head.len() / 2),
                        length => [&answer_head[..], &answer_body[..length / 2]]
                            .concat()
                            .into(),
                    };
                    let sent = self.line.write_all(&half).await;
                    self.book.amend(place, |attempt| {
                        attempt.status = sent.is_ok().then_some(status);
                    });
                    // What was written shall be read before the end is.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                closing(fault)
            }
            _ => closing(fault),
        }
    }

    /// Holds an answer back until the client has given up, or for long enough.
    async fn hold(&mut self, place: usize) -> Next {
        let mut ignored = BytesMut::new();
        let gone = tokio::time::timeout(self.house.hold, async {
            while self.line.more(&mut ignored).await.unwrap_or_default() {}
        });
        let gave_up = gone.await.is_ok();
        let now = self.book.now();
        self.book.amend(place, |attempt| {
            attempt.ended = now;
            if !gave_up {
                attempt.trouble = Some("the client waited longer than its time limit".to_owned());
            }
        });
        Next::Close
    }

    async fn answer(&mut self, given: &Given, head: &Head, place: usize) -> Next {
        let sent = self.line.write_all(&given.bytes()).await;
        let now = self.book.now();
        self.book.amend(place, |attempt| {
            attempt.ended = now;
            attempt.status = sent.is_ok().then_some(given.status);
            attempt.asked_back = given.back.as_ref().map(|back| now + back.time);
        });
        match sent {
            Ok(()) if head.keeps_alive() => Next::Keep,
            _ => Next::Close,
        }
    }

    /// Lets the API do the work; what it answers stays here.
    async fn carry_out(
        &mut self,
        head: &Head,
        body: &[u8],
        place: usize,
    ) -> Option<(u16, Bytes, Vec<u8>)> {
        let raw = self.forwarded(head);
        let answered = match self.house.upstream.connect(&[b"http/1.1"]).await {
            Ok(mut api) => exchange(&mut api, head, &[&raw, body])
                .await
                .map_err(|problem| problem.to_string()),
            Err(why) => Err(why),
        };
        match answered {
            Ok(answer) => Some(answer),
            Err(why) => {
                self.trouble(place, why);
                None
            }
        }
    }

    async fn let_through(&mut self, head: &Head, place: usize, content: &mut Content) -> Next {
        let raw = self.forwarded(head);
        let mut api = match self.reachable().await {
            Ok(api) => api,
            Err(why) => {
                self.trouble(place, why);
                return Next::Close;
            }
        };
        let sides = Sides {
            client: &mut self.line,
            from_client: &mut self.buffer,
            api: &mut api.0,
            from_api: &mut api.1,
        };
        let passed = pass(sides, head, &raw, content).await;
        self.book.amend(place, |attempt| {
            attempt.status = passed.status;
            attempt.trouble = passed.trouble;
        });
        if passed.keeps_alive {
            self.api = Some(api);
            Next::Keep
        } else {
            Next::Close
        }
    }

    /// The connection to the API that belongs to this one, or a new one.
    async fn reachable(&mut self) -> Result<(Line, BytesMut), String> {
        if let Some((line, buffer)) = self.api.take() {
            let is_open = match &line {
                Line::Plain(tcp) => {
                    let mut byte = [0];
                    let found = tcp.try_read(&mut byte);
                    matches!(found, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
                }
                // What lies ready on it may be a notice of its end.
                Line::Tls(_) => false,
            };
            if is_open {
                return Ok((line, buffer));
            }
        }
        let line = self.house.upstream.connect(&[b"http/1.1"]).await?;
        Ok((line, BytesMut::new()))
    }

    /// The head as it goes on to the API: as it came, but for our own address in it.
    fn forwarded(&self, head: &Head) -> Bytes {
        let is_whole_url = head.target().contains("://");
        if self.host.is_some() && !is_whole_url {
            return head.raw.clone();
        }
        let authority = self.house.upstream.authority();
        readdressed(head, &authority)
    }

    fn trouble(&self, place: usize, why: String) {
        self.book
            .amend(place, |attempt| attempt.trouble = Some(why));
    }

    /// The client takes us for a proxy (RFC 9110, section 9.3.6): what it wanted to send elsewhere
    /// comes here.
    async fn become_proxy(&mut self, head: &Head) -> Next {
        let host = head.target().rsplit_once(':');
        self.host = Some(host.map_or(head.target(), |(host, _)| host).to_owned());
        let agreed = b"HTTP/1.1 200 Connection established\r\n\r\n";
        match self.line.write_all(agreed).await {
            Ok(()) => Next::Keep,
            Err(_) => Next::Close,
        }
    }

    async fn speak_http2(self) {
        let known = Known {
            house: self.house,
            number: self.number,
            is_secure: matches!(self.line, Line::Tls(_)),
            keeps_host: self.host.is_some(),
        };
        let io = Primed {
            read: self.buffer,
            line: self.line,
        };
        http2::run(io, known).await;
    }
}

fn closing(fault: ClientFault) -> Next {
    match fault {
        ClientFault::Drop {
            close: Close::Rst, ..
        } => Next::Reset,
        _ => Next::Close,
    }
}

/// The head with the API's address where the client wrote ours; all other bytes stay.
fn readdressed(head: &Head, authority: &str) -> Bytes {
    let mut written = Vec::with_capacity(head.raw.len() + authority.len());
    for (index, line) in head.raw.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        if index == 0 && head.target().contains("://") {
            let text = head.line.replacen(head.target(), origin_form(head), 1);
            written.extend_from_slice(text.as_bytes());
            written.extend_from_slice(b"\r\n");
        } else if index > 0 && name.eq_ignore_ascii_case(b"host") {
            written.extend_from_slice(name);
            written.extend_from_slice(b": ");
            written.extend_from_slice(authority.as_bytes());
            written.extend_from_slice(b"\r\n");
        } else {
            written.extend_from_slice(line);
        }
    }
    written.into()
}

#[cfg(test)]
mod tests {
    use super::readdressed;
    use crate::client::message::Head;
    use bytes::BytesMut;

    #[test]
    fn only_our_address_is_changed_in_a_head() {
        let text = "POST http://127.0.0.1:1/a?b=c HTTP/1.1\r\nx-ODD:  v \r\nhOst: 127.0.0.1:1\r\nA:b\nC: d\r\n\r\n";
        let mut buffer = BytesMut::from(text);
        let head = Head::take(&mut buffer).expect("HTTP").expect("whole");
        let written = readdressed(&head, "api.test");
        assert_eq!(
            String::from_utf8_lossy(&written),
            "POST /a?b=c HTTP/1.1\r\nx-ODD:  v \r\nhOst: api.test\r\nA:b\nC: d\r\n\r\n"
        );
    }
}
