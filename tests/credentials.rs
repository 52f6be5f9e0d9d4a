//! Credentials of real APIs: tokens that are asked for, signatures, and client certificates, each
//! tried on an API that insists on them. No report holds a secret.

#[path = "credentials/server.rs"]
mod server;

use assert_cmd::Command;
use axum::body::Bytes;
use axum::http::request::Parts;
use hmac::{KeyInit, Mac};
use idemspec::target::render::sigv4::{AwsRequest, AwsSigner, signed};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use serde_json::Value;
use server::{Api, bearer, header};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const PASSWORD: &str = "the-password-of-ada";
const SECRET: &str = "sec/ret-of-the-app";
const SCENARIOS: [&str; 3] = [
    "replay/exact#plain",
    "auth/credentials",
    "lost/response#reset",
];

/// What came of a run.
struct Ran {
    code: Option<i32>,
    said: String,
    report: Value,
    /// All that was written down.
    written: String,
}

impl Ran {
    fn verdicts(&self, scenario: &str) -> Vec<(String, String)> {
        let cases = self.report["scenarios"].as_array().into_iter().flatten();
        let own = cases.filter(|case| case["scenario"] == scenario);
        own.flat_map(|case| case["findings"].as_array().into_iter().flatten())
            .map(|finding| {
                let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
                (text("name"), text("verdict"))
            })
            .collect()
    }

    /// Everything passed, or did not apply.
    fn is_sound(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
        for scenario in SCENARIOS {
            let scenario = scenario.split('#').next().unwrap_or_default();
            let verdicts = self.verdicts(scenario);
            let passed = verdicts.iter().any(|(_, verdict)| verdict == "pass");
            assert!(passed, "{scenario}: {verdicts:?}\n{}", self.said);
        }
    }

    fn holds_none_of<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        for secret in secrets {
            assert!(!self.written.contains(secret), "{secret} was written down");
            assert!(!self.said.contains(secret), "{secret} was printed");
        }
    }
}

fn run(base: &str, top: &str, owner: &str, scenarios: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    run_in(folder.path(), base, top, owner, scenarios)
}

fn run_in(folder: &Path, base: &str, top: &str, owner: &str, scenarios: &[&str]) -> Ran {
    let target = format!(
        r#"
target: An API with credentials
base-url: {base}
key: Idempotency-Key
{top}
principals: {{ owner: {{ {owner} }} }}
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, reference: "${{marker}}" }} }}
    identity: $.id
    effects:
      payments: {{ request: "GET /payments?reference=${{marker}}", ids: "$.data[*].id" }}
settle: 100ms
"#
    );
    let file = folder.join("target.yaml");
    std::fs::write(&file, target).expect("written");
    let mut command = Command::cargo_bin("idemspec").expect("built");
    command.current_dir(folder).arg("run").arg(&file);
    command.args(["--report", "json=run.json", "--report", "html=run.html"]);
    command.args(["--report", "har=run.har", "--record", "record.json"]);
    for scenario in scenarios {
        command.args(["--scenario", scenario]);
    }
    command.env("PASSWORD", PASSWORD).env("SECRET", SECRET);
    command.env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    command.env("AWS_SECRET_ACCESS_KEY", SECRET);
    let output = command.output().expect("it runs");
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let names = ["run.json", "run.html", "run.har", "record.json"];
    Ran {
        code: output.status.code(),
        said: String::from_utf8_lossy(&said).into_owned(),
        report: serde_json::from_str(&read("run.json")).unwrap_or_default(),
        written: names.map(read).concat(),
    }
}

fn serving(api: Api) -> (Runtime, Arc<Api>, String) {
    let runtime = Runtime::new().expect("threads");
    let api = Arc::new(api);
    let address = runtime.block_on(Arc::clone(&api).serve());
    (runtime, api, format!("http://{address}"))
}

const LOGIN: &str = r#"token: { request: { method: POST, path: /login, json: { user: ada, password: "${secret.PASSWORD}" } } }"#;

#[test]
fn a_token_is_asked_for_by_a_request_and_renewed_before_it_ends() {
    let api = Api::new(Box::new(bearer)).giving_for(Duration::from_millis(200));
    let (_runtime, api, base) = serving(api);
    let ran = run(&base, "", LOGIN, &SCENARIOS);
    ran.is_sound();
    let tokens = api.given();
    assert!(tokens.len() > 1, "it was renewed: {tokens:?}");
    ran.holds_none_of(tokens.iter().map(String::as_str).chain([PASSWORD]));
    let intruders = ran.verdicts("auth/credentials");
    let shown = |case: &str| {
        let own = intruders.iter().filter(|(name, _)| name.contains(case));
        own.filter(|(_, verdict)| verdict == "pass").count()
    };
    assert!(shown("#none") > 0 && shown("#wrong") > 0, "{intruders:?}");
}

#[test]
fn a_token_that_ends_without_notice_is_asked_for_again_and_fails_nobody() {
    let api = Api::new(Box::new(bearer)).giving_silently(9);
    let (_runtime, api, base) = serving(api);
    let ran = run(&base, "", LOGIN, &SCENARIOS);
    let tokens = api.given();
    assert!(
        tokens.len() > 1,
        "it was asked for again: {tokens:?}\n{}",
        ran.said
    );
    for scenario in ["replay/exact", "auth/credentials", "lost/response"] {
        for (name, verdict) in ran.verdicts(scenario) {
            assert_ne!(verdict, "fail", "{name}: {}", ran.said);
        }
    }
    ran.holds_none_of(tokens.iter().map(String::as_str));
}

#[test]
fn a_command_may_write_the_token_and_a_header_may_hold_it() {
    let admits = |_: &Api, parts: &Parts, _: &Bytes| {
        header(parts, "x-session") == Some("s-written-by-a-command")
    };
    let (_runtime, _api, base) = serving(Api::new(Box::new(admits)));
    let owner = r#"token: { command: "echo written-by-a-command", expires-in: 10m }, headers: { X-Session: "s-${token}" }"#;
    let ran = run(&base, "", owner, &SCENARIOS);
    ran.is_sound();
    ran.holds_none_of(["written-by-a-command\""]);
    let masked = ran.report.to_string().contains("written-by-a-command");
    assert!(!masked, "the token stands in the report");
}

#[test]
fn a_client_of_an_authorization_server_gets_its_token() {
    let (_runtime, api, base) = serving(Api::new(Box::new(bearer)));
    let owner = |secret: &str| {
        format!(
            r#"oauth2: {{ token-url: "{base}/oauth/token", client-id: app, client-secret: "{secret}", scope: payments }}"#
        )
    };
    let ran = run(&base, "", &owner("${secret.SECRET}"), &SCENARIOS);
    ran.is_sound();
    let tokens = api.given();
    assert_eq!(tokens.len(), 1, "one is enough for a minute");
    ran.holds_none_of(tokens.iter().map(String::as_str).chain([SECRET]));
    let refused = run(&base, "", &owner("${secret.PASSWORD}"), &SCENARIOS);
    assert_eq!(refused.code, Some(4), "{}", refused.said);
    let said = "/oauth/token answered 401 {\"error\":\"invalid_client\"}";
    assert!(refused.said.contains(said), "{}", refused.said);
    refused.holds_none_of([PASSWORD]);
}

/// `X-Signature: t=…,v=…` over time, method, path and body: by HMAC, or by a plain digest that begins
/// with the secret.
fn is_signed(_: &Api, parts: &Parts, body: &Bytes) -> bool {
    let claimed = header(parts, "x-signature").and_then(|value| value.strip_prefix("t="));
    let Some((time, signature)) = claimed.and_then(|claimed| claimed.split_once(",v=")) else {
        return false;
    };
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut signed = format!("{time}.{}.{path}.", parts.method).into_bytes();
    signed.extend_from_slice(body);
    let mut code = hmac::Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
    code.update(&signed);
    let plain = Sha256::digest([SECRET.as_bytes(), b".", &signed].concat());
    [hex(&code.finalize().into_bytes()), hex(&plain)].contains(&signature.to_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_request_of_a_principal_is_signed() {
    let (_runtime, api, base) = serving(Api::new(Box::new(is_signed)));
    let hmac = r#"sign: { hmac: { header: X-Signature, secret: "${secret.SECRET}", over: "${timestamp}.${method}.${path}.${body}", value: "t=${timestamp},v=${signature}" } }"#;
    let ran = run(&base, "", hmac, &SCENARIOS);
    ran.is_sound();
    ran.holds_none_of([SECRET]);
    assert!(api.book.lock().expect("the book").refused > 0, "intruders");
    let command = r#"sign: { command: 'v=$(printf "%s.%s.%s.%s.%s" "$SECRET" "$timestamp" "$method" "$path" "$body" | sha256sum); echo "X-Signature: t=$timestamp,v=${v%% *}"' }"#;
    let ran = run(&base, "", command, &["replay/exact#plain"]);
    assert_eq!(ran.code, Some(0), "by a command: {}", ran.said);
}

#[test]
fn requests_are_signed_as_aws_wants_them() {
    let admits = |_: &Api, parts: &Parts, body: &Bytes| {
        let signer = AwsSigner {
            service: "execute-api".to_owned(),
            region: "eu-central-1".to_owned(),
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: SECRET.to_owned(),
            session_token: None,
        };
        let date = header(parts, "x-amz-date").unwrap_or_default();
        let Some(now) = seconds(date) else {
            return false;
        };
        let claimed = header(parts, "authorization").unwrap_or_default();
        let names = claimed
            .split("SignedHeaders=")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap_or_default();
        let headers: Vec<(String, Vec<u8>)> = names
            .split(';')
            .filter(|name| !["host", "x-amz-date"].contains(name))
            .filter_map(|name| Some((name.to_owned(), header(parts, name)?.as_bytes().to_vec())))
            .collect();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = AwsRequest {
            method: parts.method.as_str(),
            host: header(parts, "host").unwrap_or_default(),
            path_and_query: path,
            headers: &headers,
            body,
        };
        let right = signed(&signer, &request, now);
        right
            .last()
            .is_some_and(|(_, value)| value == claimed.as_bytes())
    };
    let (_runtime, _api, base) = serving(Api::new(Box::new(admits)));
    let owner = "sign: { sigv4: { service: execute-api, region: eu-central-1 } }";
    let ran = run(&base, "", owner, &SCENARIOS);
    ran.is_sound();
    ran.holds_none_of([SECRET]);
}

/// The seconds since 1970 of `20150830T123600Z`.
fn seconds(date: &str) -> Option<u64> {
    let part = |from: usize, to: usize| date.get(from..to);
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(9, 11)?,
        part(11, 13)?,
        part(13, 15)?
    );
    let time = humantime::parse_rfc3339(&text).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}

/// TLS in front of an address, for clients with a certificate of `roots` only.
async fn front(
    api: SocketAddr,
    own: (CertificateDer<'static>, PrivateKeyDer<'static>),
    roots: rustls::RootCertStore,
) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS")
        .with_client_cert_verifier(clients.build().expect("a root"))
        .with_single_cert(vec![own.0], own.1)
        .expect("the certificate fits its key");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut outside) = acceptor.accept(stream).await else {
                    return;
                };
                let Ok(mut inside) = tokio::net::TcpStream::connect(api).await else {
                    return;
                };
                // A client that hangs up ends the copy with an error, as it should.
                let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    address
}

#[test]
fn a_client_certificate_is_shown_by_probes_too() {
    let runtime = Runtime::new().expect("threads");
    let api = Arc::new(Api::new(Box::new(|_: &Api, _: &Parts, _: &Bytes| true)));
    let behind = runtime.block_on(Arc::clone(&api).serve());
    let made =
        |name: &str| rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let (own, client) = (made("localhost"), made("client"));
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write("ca.pem", own.cert.pem());
    write("client.pem", client.cert.pem());
    write("client.key", client.signing_key.serialize_pem());
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(client.cert.der().clone()).expect("a root");
    let own = (own.cert.der().clone(), key);
    let address = runtime.block_on(front(behind, own, roots));
    let base = format!("https://localhost:{}", address.port());
    let scenarios = ["replay/exact#plain", "lost/response#reset"];
    let certified = "tls: { ca: ca.pem, cert: client.pem, key: client.key }";
    let ran = run_in(folder.path(), &base, certified, "", &scenarios);
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    let stranger = run_in(folder.path(), &base, "tls: { ca: ca.pem }", "", &scenarios);
    assert_ne!(stranger.code, Some(0), "nobody else is let in");
}
