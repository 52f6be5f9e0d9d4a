//! What an answer gets on its way out and no record keeps: compression, where the client asks for it.

use std::io::Write;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::answer::Answer;

/// Whether a client takes gzip (RFC 9110, section 12.5.3).
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.trim().eq_ignore_ascii_case("gzip"))
}

/// The answer with its body compressed, and with the header that says so.
pub fn compressed(mut answer: Answer) -> Answer {
    if answer.body.is_empty() {
        return answer;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let Ok(bytes) = encoder
        .write_all(&answer.body)
        .and_then(|()| encoder.finish())
    else {
        return answer;
    };
    answer.body = bytes.into();
    for (name, value) in [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")] {
        answer.headers.push((name.to_owned(), value.to_owned()));
    }
    answer
}
