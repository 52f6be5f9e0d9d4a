//! Credentials of real APIs: tokens that are asked for, signatures, and client certificates, each
//! tried on an API that insists on them. No report holds a secret.

#[path = "credentials/server.rs"]
mod server;

use assert_cmd::Command;
use axum::body::Bytes;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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
/// As Standard Webhooks writes secrets.
const WEBHOOKS: &str = "whsec_dGhlIHNlY3JldCBvZiB0aGUgd2ViaG9va3M=";
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
    command.env("WEBHOOKS", WEBHOOKS);
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

/// The HMAC of Standard Webhooks 1.0, made of its text alone: `v1,` and the base64 of the digest of
/// `id.timestamp.body`, in which the secret behind `whsec_` is base64 too.
fn is_webhook(_: &Api, parts: &Parts, body: &Bytes) -> bool {
    let (Some(id), Some(time), Some(claimed)) = (
        header(parts, "webhook-id"),
        header(parts, "webhook-timestamp"),
        header(parts, "webhook-signature"),
    ) else {
        return false;
    };
    let key = STANDARD.decode(WEBHOOKS.trim_start_matches("whsec_"));
    let key = key.expect("the secret is base64");
    let mut code = hmac::Hmac::<Sha256>::new_from_slice(&key).expect("a key");
    code.update(format!("{id}.{time}.").as_bytes());
    code.update(body);
    let is_now = time.parse::<u64>().is_ok_and(|time| {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        now.as_secs().abs_diff(time) < 300
    });
    let signature = STANDARD.encode(code.finalize().into_bytes());
    is_now && claimed == format!("v1,{signature}")
}

#[test]
fn requests_are_signed_as_standard_webhooks_wants_them() {
    let (_runtime, api, base) = serving(Api::new(Box::new(is_webhook)));
    let owner = r#"sign: { standard-webhooks: "${secret.WEBHOOKS}" }"#;
    let ran = run(&base, "", owner, &SCENARIOS);
    ran.is_sound();
    ran.holds_none_of([WEBHOOKS]);
    assert!(api.book.lock().expect("the book").refused > 0, "intruders");
    let other = r#"sign: { standard-webhooks: "whsec_YW5vdGhlciBzZWNyZXQgb2Ygb3Vycw==" }"#;
    let ran = run(&base, "", other, &["replay/exact#plain"]);
    assert_eq!(ran.code, Some(4), "by another secret: {}", ran.said);
}

/// Where a client is led by the certificate that it shows; `None` is one that shows none.
type Doors = Vec<(Option<CertificateDer<'static>>, SocketAddr)>;

/// TLS in front of addresses. A client that fits no door is not let in.
async fn front(own: (CertificateDer<'static>, PrivateKeyDer<'static>), doors: Doors) -> SocketAddr {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in doors
        .iter()
        .filter_map(|(certificate, _)| certificate.clone())
    {
        roots.add(certificate).expect("a root");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    if doors.iter().any(|(certificate, _)| certificate.is_none()) {
        clients = clients.allow_unauthenticated();
    }
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
    let doors = Arc::new(doors);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, doors) = (acceptor.clone(), Arc::clone(&doors));
            tokio::spawn(async move {
                let Ok(mut outside) = acceptor.accept(stream).await else {
                    return;
                };
                let shown = outside.get_ref().1.peer_certificates();
                let shown = shown.and_then(|chain| chain.first()).cloned();
                let Some((_, api)) = doors.iter().find(|(own, _)| *own == shown) else {
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

/// APIs behind TLS, with a folder that holds `ca.pem` and each client's `NAME.pem` and `NAME.key`.
struct Certified {
    folder: tempfile::TempDir,
    base: String,
    apis: Vec<Arc<Api>>,
    _runtime: Runtime,
}

/// Leads each client to an API of its own; one without a name shows no certificate.
fn certified(doors: Vec<(Option<&str>, Api)>) -> Certified {
    let runtime = Runtime::new().expect("threads");
    let folder = tempfile::tempdir().expect("a folder");
    let made =
        |name: &str| rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let own = made("localhost");
    write("ca.pem", own.cert.pem());
    let (mut apis, mut led) = (Vec::new(), Vec::new());
    for (client, api) in doors {
        let api = Arc::new(api);
        let address = runtime.block_on(Arc::clone(&api).serve());
        let certificate = client.map(|name| {
            let client = made(name);
            write(&format!("{name}.pem"), client.cert.pem());
            write(&format!("{name}.key"), client.signing_key.serialize_pem());
            client.cert.der().clone()
        });
        apis.push(api);
        led.push((certificate, address));
    }
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
    let address = runtime.block_on(front((own.cert.der().clone(), key), led));
    Certified {
        folder,
        base: format!("https://localhost:{}", address.port()),
        apis,
        _runtime: runtime,
    }
}

impl Certified {
    fn run(&self, tls: &str, owner: &str, scenarios: &[&str]) -> Ran {
        run_in(self.folder.path(), &self.base, tls, owner, scenarios)
    }
}

fn open() -> Api {
    Api::new(Box::new(|_: &Api, _: &Parts, _: &Bytes| true))
}

const TRUSTED: &str = "tls: { ca: ca.pem }";
const APP: &str = "tls: { cert: app.pem, key: app.key }";

#[test]
fn a_client_certificate_is_shown_by_probes_too() {
    let apis = certified(vec![(Some("app"), open())]);
    let scenarios = ["replay/exact#plain", "lost/response#reset"];
    let shown = "tls: { ca: ca.pem, cert: app.pem, key: app.key }";
    let ran = apis.run(shown, "", &scenarios);
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    let stranger = apis.run(TRUSTED, "", &scenarios);
    assert_ne!(stranger.code, Some(0), "nobody else is let in");
}

#[test]
fn each_caller_shows_its_own_certificate() {
    let refusing = Api::new(Box::new(|_: &Api, _: &Parts, _: &Bytes| false));
    let apis = certified(vec![
        (Some("app"), open()),
        (Some("other"), open()),
        (None, refusing),
    ]);
    let callers = format!("{APP} }}, other-tenant: {{ tls: {{ cert: other.pem, key: other.key }}");
    let scenarios = [
        "replay/exact#plain",
        "auth/credentials",
        "auth/other-tenant#same-body",
        "lost/response#reset",
    ];
    let ran = apis.run(TRUSTED, &callers, &scenarios);
    ran.is_sound();
    let passed = |scenario: &str, case: &str| {
        let verdicts = ran.verdicts(scenario);
        let own = verdicts.iter().filter(|(name, _)| name.contains(case));
        own.filter(|(_, verdict)| verdict == "pass").count()
    };
    assert!(passed("auth/credentials", "#none") > 0, "{}", ran.said);
    assert_eq!(passed("auth/credentials", "#wrong"), 0, "{}", ran.said);
    assert!(
        passed("auth/other-tenant", "#same-body") > 0,
        "{}",
        ran.said
    );
    let paid = |api: &Api| api.book.lock().expect("the book").paid();
    assert!(paid(&apis.apis[0]) > 0 && paid(&apis.apis[1]) > 0);
    let refused = apis.apis[2].book.lock().expect("the book").refused;
    assert!(refused > 0, "nobody came without a certificate");
}

#[test]
fn a_certificate_may_stand_for_the_secret_of_a_client() {
    let api = Api::new(Box::new(bearer)).certified();
    let apis = certified(vec![(Some("app"), api)]);
    let grant = format!(
        r#"oauth2: {{ token-url: "{}/oauth/token", client-id: app, in: tls }}"#,
        apis.base
    );
    let scenarios = ["replay/exact#plain", "lost/response#reset"];
    let ran = apis.run(TRUSTED, &format!("{APP}, {grant}"), &scenarios);
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    let tokens = apis.apis[0].given();
    assert_eq!(tokens.len(), 1, "one is enough for a minute");
    ran.holds_none_of(tokens.iter().map(String::as_str));
    let stranger = apis.run(TRUSTED, &grant, &scenarios);
    assert_eq!(stranger.code, Some(4), "{}", stranger.said);
    assert_eq!(
        apis.apis[0].given().len(),
        1,
        "no token without a certificate"
    );
}
