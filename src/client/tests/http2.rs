//! The same over HTTP/2: what is let through is the same on both sides, and a stream or its
//! connection ends where the scenario says.

use super::{Stage, stage};
use crate::scenario::Close;
use crate::scenario::client::{ClientFault, DropAt, Pause, PauseForm, Says};
use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream, client, server};
use http::{HeaderMap, HeaderValue, Request, Response};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

type Client = client::SendRequest<Bytes>;

fn value(text: &'static str) -> HeaderValue {
    HeaderValue::from_static(text)
}

impl Stage {
    async fn client2(&self) -> Client {
        let (sender, connection) = client::Builder::new()
            .initial_window_size(1 << 20)
            .handshake(self.client().await)
            .await
            .expect("it shakes hands");
        tokio::spawn(connection);
        sender.ready().await.expect("it is ready")
    }

    /// The API over HTTP/2; the first connection only asks whether it speaks that.
    async fn api2(&self) -> server::Connection<TcpStream, Bytes> {
        let mut asked = server::handshake(self.api().await).await.expect("a hand");
        assert!(asked.accept().await.is_none_or(|other| other.is_err()));
        server::handshake(self.api().await).await.expect("a hand")
    }

    fn post(&self) -> Request<()> {
        let mut request = Request::post(format!("http://{}/pay?a=b%20c", self.door.address))
            .body(())
            .expect("a request");
        let headers = request.headers_mut();
        headers.append("x-odd", value("a"));
        headers.append("idempotency-key", value("k-1"));
        headers.append("x-odd", value("b "));
        headers.append("cookie", value("c=1"));
        headers.append("cookie", value("d=2"));
        request
    }
}

async fn send(to: &mut SendStream<Bytes>, mut data: Bytes) {
    while !data.is_empty() {
        to.reserve_capacity(data.len());
        let free = poll_fn(|context| to.poll_capacity(context)).await;
        let free = free.expect("open").expect("no error");
        let part = data.split_to(free.min(data.len()));
        to.send_data(part, false).expect("sent");
    }
}

/// As many bytes as are wanted, or all until the end.
async fn read(from: &mut RecvStream, wanted: usize) -> Vec<u8> {
    let mut got = Vec::new();
    while got.len() < wanted {
        let Some(data) = from.data().await else {
            break;
        };
        let data = data.expect("no reset");
        from.flow_control()
            .release_capacity(data.len())
            .expect("open");
        got.extend_from_slice(&data);
    }
    got
}

fn listed(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let all = headers.iter();
    all.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect()
}

#[tokio::test]
async fn headers_streams_and_trailers_pass_unchanged_both_ways() {
    let stage = stage(&[]).await;
    let sent = stage.post();
    let wanted = listed(sent.headers());
    let mut client = stage.client2().await;
    let (answer, mut up) = client.send_request(sent, false).expect("sent");
    let mut api = stage.api2().await;
    let (request, mut respond) = api.accept().await.expect("one").expect("whole");
    tokio::spawn(async move { while api.accept().await.is_some() {} });
    assert_eq!(listed(request.headers()), wanted);
    let at = stage.api.local_addr().expect("an address");
    assert_eq!(
        request.uri().to_string(),
        format!("http://{at}/pay?a=b%20c")
    );
    let mut body = request.into_body();
    // Each part arrives before the next one is written, and the answer may begin in between.
    send(&mut up, Bytes::from_static(b"abcd")).await;
    assert_eq!(read(&mut body, 4).await, b"abcd");
    let mut head = Response::builder()
        .status(201)
        .body(())
        .expect("a response");
    head.headers_mut().append("set-cookie", value("a"));
    head.headers_mut().append("server", value("s"));
    head.headers_mut().append("set-cookie", value("b"));
    let answered = listed(head.headers());
    let mut down = respond.send_response(head, false).expect("answered");
    let response = answer.await.expect("it comes");
    assert_eq!(response.status(), 201);
    assert_eq!(listed(response.headers()), answered);
    let mut answer = response.into_body();
    send(&mut down, Bytes::from_static(b"one")).await;
    assert_eq!(read(&mut answer, 3).await, b"one");
    send(&mut up, Bytes::from_static(b"efg")).await;
    let mut trailers = HeaderMap::new();
    trailers.insert("digest", value("x"));
    up.send_trailers(trailers.clone()).expect("sent");
    assert_eq!(read(&mut body, 99).await, b"efg");
    assert_eq!(
        body.trailers().await.expect("whole"),
        Some(trailers.clone())
    );
    send(&mut down, Bytes::from_static(b"two")).await;
    down.send_trailers(trailers.clone()).expect("sent");
    assert_eq!(read(&mut answer, 99).await, b"two");
    assert_eq!(answer.trailers().await.expect("whole"), Some(trailers));
    let attempt = &stage.attempts(1).await[0];
    assert_eq!(attempt.key(), Some("k-1"));
    assert_eq!(
        (attempt.status, attempt.protocol.as_str()),
        (Some(201), "HTTP/2")
    );
    let request = attempt.request.as_ref().expect("it was read");
    assert_eq!(request.body, "abcdefg");
}

#[tokio::test]
async fn large_bodies_pass_both_ways_at_once_with_others_beside_them() {
    let stage = stage(&[]).await;
    let large: Bytes = (0..6_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let client = stage.client2().await;
    let exchange = async |mut client: Client, part: Bytes| {
        let (answer, mut up) = client.send_request(stage.post(), false).expect("sent");
        let sending = part.clone();
        let sent = async {
            send(&mut up, sending).await;
            up.send_data(Bytes::new(), true).expect("sent");
        };
        let got = async {
            let mut body = answer.await.expect("it comes").into_body();
            assert!(
                read(&mut body, usize::MAX).await == part,
                "the same comes back"
            );
        };
        tokio::join!(sent, got);
    };
    let api = async {
        let mut api = stage.api2().await;
        loop {
            let Some(Ok((request, mut respond))) = api.accept().await else {
                return;
            };
            tokio::spawn(async move {
                let mut body = request.into_body();
                let mut down = respond
                    .send_response(Response::new(()), false)
                    .expect("open");
                while let Some(Ok(data)) = body.data().await {
                    body.flow_control()
                        .release_capacity(data.len())
                        .expect("open");
                    send(&mut down, data).await;
                }
                down.send_data(Bytes::new(), true).expect("open");
            });
        }
    };
    tokio::select! {
        () = api => panic!("the API goes on for ever"),
        _ = futures::future::join(
            exchange(client.clone(), large.clone()),
            exchange(client.clone(), large.slice(1..999)),
        ) => {}
    }
    assert_eq!(stage.attempts(2).await.len(), 2);
}

#[tokio::test]
async fn an_api_that_speaks_http_1_only_gets_the_same_request_in_its_words() {
    let stage = stage(&[]).await;
    let mut client = stage.client2().await;
    let (answer, mut up) = client.send_request(stage.post(), false).expect("sent");
    up.send_data(Bytes::from_static(b"abc"), true)
        .expect("sent");
    drop(stage.api().await);
    let mut api = stage.api().await;
    let at = stage.api.local_addr().expect("an address");
    let wanted = format!(
        "POST /pay?a=b%20c HTTP/1.1\r\nx-odd: a\r\nx-odd: b \r\nidempotency-key: k-1\r\ncookie: c=1; d=2\r\nhost: {at}\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    );
    super::expect(&mut api, wanted.as_bytes()).await;
    let text = b"HTTP/1.1 201 Created\r\nSet-Cookie: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nServer-Timing: t\r\n\r\n";
    api.write_all(text).await.expect("answered");
    let response = answer.await.expect("it comes");
    assert_eq!(response.status(), 201);
    assert_eq!(
        listed(response.headers()),
        [("set-cookie".to_owned(), b"a".to_vec())]
    );
    let mut body = response.into_body();
    assert_eq!(read(&mut body, 99).await, b"hi");
    let trailers = body.trailers().await.expect("whole").expect("some");
    assert_eq!(trailers["server-timing"], "t");
    // The connection serves the next request.
    let (_, mut up) = client.send_request(stage.post(), false).expect("sent");
    up.send_data(Bytes::from_static(b"abc"), true)
        .expect("sent");
    super::expect(&mut api, wanted.as_bytes()).await;
    assert!(stage.attempts(1).await[1].reused);
}

#[tokio::test]
async fn what_an_api_says_before_its_answer_passes() {
    let stage = stage(&[]).await;
    let mut client = stage.client2().await;
    let (mut answer, mut up) = client.send_request(stage.post(), false).expect("sent");
    drop(stage.api().await);
    let mut api = stage.api().await;
    let early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nLink: </b>\r\n\r\n";
    api.write_all(early).await.expect("it goes on");
    let mut before = Vec::new();
    while before.len() < 2 {
        let early = poll_fn(|context| answer.poll_informational(context)).await;
        let early = early.expect("more of it").expect("no error");
        before.push((early.status().as_u16(), listed(early.headers())));
    }
    let link = |value: &str| ("link".to_owned(), value.as_bytes().to_vec());
    let links = vec![link("</a>; rel=preload"), link("</b>")];
    assert_eq!(before, [(100, Vec::new()), (103, links)]);
    // Only now the client goes on, as it may that waits for leave.
    up.send_data(Bytes::from_static(b"abc"), true)
        .expect("sent");
    api.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi")
        .await
        .expect("answered");
    let response = answer.await.expect("it comes");
    assert_eq!(response.status(), 201);
    assert_eq!(read(&mut response.into_body(), 2).await, b"hi");
    assert_eq!(stage.attempts(1).await[0].status, Some(201));
}

/// What a client sees of the first request, and how the API was reached, under a fault.
async fn under(fault: ClientFault) -> (Result<(u16, Vec<u8>), h2::Error>, Stage) {
    let stage = stage(&[fault]).await;
    let mut client = stage.client2().await;
    let (answer, mut up) = client.send_request(stage.post(), false).expect("sent");
    // The stream may be over by then.
    let _ = up.send_data(Bytes::from_static(b"{}"), true);
    let seen = async {
        let response = answer.await?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let mut got = Vec::new();
        while let Some(data) = body.data().await {
            match data {
                Ok(data) => got.extend_from_slice(&data),
                Err(_) => return Ok((status, [&got[..], b" cut"].concat())),
            }
        }
        Ok((status, got))
    };
    let api = async {
        drop(stage.api().await);
        let mut api = stage.api().await;
        let mut some = [0; 1024];
        while !some.windows(2).any(|two| two == b"{}") {
            assert!(api.read(&mut some).await.expect("it comes") > 0);
        }
        let answer = b"HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n0123456789";
        api.write_all(answer).await.expect("answered");
        std::future::pending::<()>().await;
    };
    let seen = tokio::select! {
        seen = seen => seen,
        () = api => unreachable!("it is pending"),
    };
    (seen, stage)
}

#[tokio::test]
async fn a_stream_is_reset_after_the_work_and_before_its_first_byte() {
    let fault = ClientFault::Drop {
        at: DropAt::Processed,
        close: Close::Rst,
    };
    let (seen, stage) = under(fault).await;
    let problem = seen.expect_err("it is dropped");
    assert!(problem.is_reset() && problem.reason() == Some(Reason::INTERNAL_ERROR));
    let attempt = &stage.attempts(1).await[0];
    assert_eq!((attempt.fault, attempt.status), (fault, None));
    assert_eq!(attempt.trouble, None, "the API answered");
}

#[tokio::test]
async fn a_connection_is_closed_in_good_order_after_the_work() {
    let fault = ClientFault::Drop {
        at: DropAt::Processed,
        close: Close::Fin,
    };
    let (seen, stage) = under(fault).await;
    let problem = seen.expect_err("it is dropped");
    assert!(!problem.is_reset(), "{problem:?}");
    assert_eq!(stage.attempts(1).await[0].trouble, None, "the API answered");
}

#[tokio::test]
async fn a_stream_that_is_not_read_says_that_nothing_was_done() {
    let fault = ClientFault::Drop {
        at: DropAt::Unread,
        close: Close::Rst,
    };
    let (seen, stage) = under(fault).await;
    let problem = seen.expect_err("it is dropped");
    assert_eq!(problem.reason(), Some(Reason::REFUSED_STREAM));
    assert_eq!(stage.book.attempts()[0].request, None);
}

#[tokio::test]
async fn half_of_an_answer_and_an_answer_of_ours_come_over_a_stream() {
    let (seen, _) = under(ClientFault::Drop {
        at: DropAt::HalfAnswered,
        close: Close::Rst,
    })
    .await;
    assert_eq!(seen.expect("it begins"), (201, b"01234 cut".to_vec()));
    let pause = Pause {
        time: Duration::from_secs(2),
        form: PauseForm::Seconds,
    };
    let (seen, stage) = under(ClientFault::Answer {
        says: Says::Status(503),
        pause: Some(pause),
    })
    .await;
    assert_eq!(seen.expect("it comes").0, 503);
    let attempt = &stage.attempts(1).await[0];
    assert!(attempt.asked_back.is_some_and(|back| back >= pause.time));
}

#[tokio::test]
async fn http_2_is_agreed_on_over_tls() {
    let stage = stage(&[ClientFault::Answer {
        says: Says::Status(500),
        pause: None,
    }])
    .await;
    let mut roots = rustls::RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(stage.authority.certificate().as_bytes());
    roots.add(certificate.expect("PEM")).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("localhost").expect("a name");
    let tls = TlsConnector::from(Arc::new(config))
        .connect(name, stage.client().await)
        .await
        .expect("it is trusted");
    assert_eq!(tls.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) = client::handshake(tls).await.expect("it shakes hands");
    tokio::spawn(connection);
    let mut sender = sender.ready().await.expect("it is ready");
    let (answer, mut up) = sender.send_request(stage.post(), false).expect("sent");
    up.send_data(Bytes::new(), true).expect("sent");
    assert_eq!(answer.await.expect("it comes").status(), 500);
    assert_eq!(stage.attempts(1).await[0].protocol, "HTTP/2 over TLS");
}
