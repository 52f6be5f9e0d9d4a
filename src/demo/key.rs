//! The `Idempotency-Key` header: its syntax, and nothing about what is stored under it.

use axum::http::HeaderMap;

use super::answer::{Answer, Problem};
use super::flaw::Flaw;

/// The header that carries the key.
pub const HEADER: &str = "idempotency-key";

/// The longest key, in characters.
const LONGEST: usize = 255;

/// Reads the key of a request. `None` is a request that runs without protection, and an empty key
/// one that has none; only flaws allow either.
pub fn read(headers: &HeaderMap, flaw: Option<Flaw>) -> Result<Option<String>, Answer> {
    if flaw == Some(Flaw::IgnoresKeys) {
        return Ok(None);
    }
    let mut lines = Vec::new();
    for value in headers.get_all(HEADER) {
        let line = value.to_str().map_err(|_| malformed("it is not ASCII"))?;
        lines.push(line.trim());
    }
    let blank = lines.iter().all(|line| line.is_empty());
    if blank && flaw == Some(Flaw::AcceptsMissingKey) {
        return Ok(None);
    }
    if blank && !lines.is_empty() && flaw == Some(Flaw::LeavesEmptyKeyUnprotected) {
        return Ok(None);
    }
    if lines.is_empty() && flaw == Some(Flaw::TakesPayloadForKey) {
        return Ok(Some(String::new()));
    }
    if blank {
        let detail = "Send an Idempotency-Key header of 1 to 255 visible ASCII characters.";
        return Err(Answer::problem(Problem::KeyMissing, detail));
    }
    if lines.len() > 1 && flaw == Some(Flaw::JoinsDoubledKeys) {
        return Ok(Some(lines.join(", ")));
    }
    let [key] = lines[..] else {
        return Err(malformed("the header was sent more than once"));
    };
    if key.contains(',') {
        return Err(malformed(
            "it has a comma, as when two headers are joined to one",
        ));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(malformed("it has characters other than visible ASCII ones"));
    }
    if key.len() > LONGEST {
        return Err(malformed("it is longer than 255 characters"));
    }
    Ok(Some(key.to_owned()))
}

/// The form in which a key is compared with others: the key itself.
pub fn compared(key: &str, flaw: Option<Flaw>) -> String {
    match flaw {
        Some(Flaw::TruncatesKeysTo64) => key.chars().take(64).collect(),
        Some(Flaw::FoldsKeyCase) => key.to_ascii_lowercase(),
        _ => key.to_owned(),
    }
}

fn malformed(why: &str) -> Answer {
    let detail = format!("The Idempotency-Key cannot be used: {why}.");
    Answer::problem(Problem::KeyMalformed, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, StatusCode};

    use super::*;

    fn read_lines(lines: &[&str], flaw: Option<Flaw>) -> Result<Option<String>, StatusCode> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                HEADER,
                HeaderValue::from_bytes(line.as_bytes()).expect("a value"),
            );
        }
        read(&headers, flaw).map_err(|answer| answer.status)
    }

    #[test]
    fn a_key_is_trimmed_and_kept_as_it_is() {
        assert_eq!(
            read_lines(&[" Order-7 "], None),
            Ok(Some("Order-7".to_owned()))
        );
        let longest = "k".repeat(255);
        assert_eq!(read_lines(&[&longest], None), Ok(Some(longest.clone())));
    }

    #[test]
    fn what_is_not_one_good_key_is_refused() {
        let too_long = "k".repeat(256);
        let cases: [&[&str]; 8] = [
            &[],
            &[""],
            &["  "],
            &["a", "b"],
            &["a, b"],
            &["a b"],
            &["clé"],
            &[&too_long],
        ];
        for lines in cases {
            assert_eq!(
                read_lines(lines, None),
                Err(StatusCode::BAD_REQUEST),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn a_missing_key_is_accepted_only_by_the_flaws_that_say_so() {
        assert_eq!(read_lines(&[], Some(Flaw::AcceptsMissingKey)), Ok(None));
        let taken = Some(Flaw::TakesPayloadForKey);
        assert_eq!(read_lines(&[], taken), Ok(Some(String::new())));
        assert_eq!(read_lines(&[""], taken), Err(StatusCode::BAD_REQUEST));
        assert_eq!(read_lines(&[" "], Some(Flaw::AcceptsMissingKey)), Ok(None));
        assert_eq!(read_lines(&["k"], Some(Flaw::IgnoresKeys)), Ok(None));
    }
}
