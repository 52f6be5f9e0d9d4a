//! The same truths over TLS: the demo API behind a TLS front, tried by the real command.

use std::net::SocketAddr;
use std::sync::Arc;

use assert_cmd::Command;
use idemspec::demo;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Accepts TLS and passes the bytes on; a connection that is cut on one side is cut on the other.
async fn front(
    api: SocketAddr,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the certificate fits its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let (Ok(mut outside), Ok(mut inside)) =
                    (acceptor.accept(stream).await, TcpStream::connect(api).await)
                else {
                    return;
                };
                // A client that hangs up ends the copy with an error, as it should.
                let _ = copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    address
}

#[test]
fn faults_and_bursts_work_over_tls() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let demo = runtime
        .block_on(demo::start(demo::Options::default()))
        .expect("the demo starts");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ca.pem"), made.cert.pem()).expect("written");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let address = runtime.block_on(front(demo.address, made.cert.der().clone(), key));
    let target = format!(
        r#"
target: Demo behind TLS
base-url: https://localhost:{}
contract: demo
tls: {{ ca: ca.pem }}
principals: {{ owner: {{ bearer: "${{secret.DEMO_OWNER:-tenant-a}}" }} }}
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, currency: USD, reference: "${{marker}}" }} }}
    slow: {{ headers: {{ Demo-Pace: slow }} }}
    identity: $.id
    effects:
      payments: {{ request: "GET /payments?reference=${{marker}}", ids: "$.data[*].id" }}
settle: 200ms
"#,
        address.port()
    );
    let file = folder.path().join("target.yaml");
    std::fs::write(&file, target).expect("written");
    let report = folder.path().join("run.json");
    let output = Command::cargo_bin("idemspec")
        .expect("built")
        .arg("run")
        .arg(&file)
        .args([
            "--scenario",
            "lost/response",
            "--scenario",
            "lost/half-request",
            "--scenario",
            "race/burst",
        ])
        .arg("--report")
        .arg(format!("json={}", report.display()))
        .output()
        .expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&report).expect("a report")).expect("JSON");
    let exchanges = report["scenarios"]
        .as_array()
        .expect("cases")
        .iter()
        .flat_map(|case| {
            let rounds = case["rounds"].as_array().cloned().unwrap_or_default();
            rounds
                .into_iter()
                .flat_map(|round| round["exchanges"].as_array().cloned().unwrap_or_default())
        });
    let fired: Vec<String> = exchanges
        .filter(|exchange| exchange["fault"]["fired"] == true)
        .filter_map(|exchange| exchange["fault"]["name"].as_str().map(str::to_owned))
        .collect();
    for fault in [
        "drop-response",
        "mid-response",
        "timeout",
        "mid-body",
        "before-request",
    ] {
        assert!(
            fired.iter().any(|name| name == fault),
            "{fault} did not fire: {fired:?}"
        );
    }
    runtime.block_on(demo.stop());
}
