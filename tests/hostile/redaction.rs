//! Secrets that a target sends back in every way in which they can be written: not a byte of them on
//! any stream or in any file, however it is decoded.

use super::server::{Asked, Payments, Reply, Server};
use super::tool::{PASSWORD, TOKEN, Tool};
use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::io::Read;

/// The formats, with the files that they are written to.
const REPORTS: [&str; 6] = [
    "html=out/report.html",
    "markdown=out/report.md",
    "github=out/annotations.txt",
    "sarif=out/report.sarif",
    "har=out/exchanges.har",
    "curl=out/again.sh",
];

/// A part of a longer text may end in the middle of a byte.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    NO_PAD.with_decode_allow_trailing_bits(true),
);

/// The secret in every way in which a target may write it.
fn ways(secret: &str) -> Vec<String> {
    let percent = |upper: bool| -> String {
        secret
            .bytes()
            .map(|byte| match upper {
                true => format!("%{byte:02X}"),
                false => format!("%{byte:02x}"),
            })
            .collect()
    };
    let mut ways = vec![
        secret.to_owned(),
        percent(true),
        percent(false),
        format!("token={secret}&x=1"),
    ];
    for before in ["", "a", "ab", "user:"] {
        let text = format!("{before}{secret}");
        ways.push(STANDARD.encode(&text));
        ways.push(URL_SAFE_NO_PAD.encode(&text));
        ways.push(STANDARD.encode(format!("{text} and more")));
    }
    ways
}

/// What a text says in any of the encodings.
fn decoded(text: &str) -> Vec<Vec<u8>> {
    let mut all = vec![text.as_bytes().to_vec(), percent_decoded(text)];
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+/-_".contains(letter);
    for run in text
        .split(|letter| !is_letter(letter))
        .filter(|run| run.len() >= 12)
    {
        let run = run.replace('-', "+").replace('_', "/");
        for from in 0..4 {
            let part = &run[from..];
            let whole = part.len() - usize::from(part.len() % 4 == 1);
            all.extend(LENIENT.decode(&part[..whole]).ok());
        }
    }
    all
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let value = bytes
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        decoded.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    decoded
}

fn shows(text: &str, secret: &str) -> bool {
    let secret = secret.as_bytes();
    decoded(text)
        .iter()
        .any(|bytes| bytes.windows(secret.len()).any(|part| part == secret))
}

fn echo() -> Value {
    json!([ways(TOKEN), ways(PASSWORD)])
}

/// A response whose every place holds a secret.
fn response(status: u16, body: &Value) -> Reply {
    let body = body.to_string();
    let mut head = format!(
        "HTTP/1.1 {status} {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Set-Cookie: sid={TOKEN}\r\nLocation: /payments?token={TOKEN}\r\n",
        body.len()
    );
    for way in ways(TOKEN).iter().chain(&ways(PASSWORD)) {
        head.push_str(&format!("X-Echo: {way}\r\n"));
    }
    Reply::Bytes(format!("{head}\r\n{body}").into_bytes())
}

#[test]
fn the_test_finds_a_secret_however_it_is_written() {
    for way in ways(TOKEN) {
        assert!(shows(&format!("<p>{way}</p>"), TOKEN), "{way}");
    }
    assert!(!shows("nothing of it", TOKEN));
}

#[test]
fn no_byte_that_is_written_gives_a_secret_away() {
    let payments = Payments::default();
    let server = Server::start(move |asked: &Asked| {
        if Payments::is_operation(asked) {
            payments.serve(asked);
            let id = format!("pay_{}", asked.number);
            return response(201, &json!({ "id": id, "echo": echo() }));
        }
        let reference = asked.path.split_once("reference=").map(|(_, own)| own);
        response(
            200,
            &json!({ "data": payments.list(reference), "echo": echo() }),
        )
    });
    let mut arguments = vec![
        "-v",
        "--scenario",
        "replay/exact",
        "--scenario",
        "auth/",
        "--scenario",
        "lost/response",
    ];
    for report in REPORTS {
        arguments.extend(["--report", report]);
    }
    arguments.extend(["--record", "out/run.record.json", "--bundle", "out/all.zip"]);
    arguments.extend(["--write-contract", "out/observed.yaml"]);
    arguments.extend(["--ledger", "out/ledger.jsonl"]);
    let tool = Tool::at(server.address).with(&arguments);
    let seen = tool.run();
    let mut written = vec![
        ("the screen".to_owned(), seen.screen),
        ("remarks".to_owned(), seen.remarks),
    ];
    for entry in std::fs::read_dir(tool.path("out")).expect("reports were written") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if name.ends_with(".zip") {
            let file = std::fs::File::open(&path).expect("it can be read");
            let mut archive = zip::ZipArchive::new(file).expect("it is an archive");
            for index in 0..archive.len() {
                let mut entry = archive.by_index(index).expect("an entry");
                let mut text = String::new();
                entry.read_to_string(&mut text).expect("it is text");
                written.push((format!("{name}, {index}"), text));
            }
        } else {
            written.push((name, std::fs::read_to_string(&path).expect("it is text")));
        }
    }
    assert!(written.len() > 19, "{} files", written.len());
    for (name, text) in &written {
        for secret in [TOKEN, PASSWORD] {
            assert!(!shows(text, secret), "{secret} can be read in {name}");
        }
    }
    let json = written
        .iter()
        .find(|(name, _)| name.ends_with("out/report.json"));
    let (_, json) = json.expect("the JSON report");
    assert!(
        json.matches("‹secret").count() > 100,
        "what came back is in the report, masked"
    );
}
