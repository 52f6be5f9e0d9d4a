//! From a response on the wire to what is written down of it.

use super::mask::Masker;
use crate::contract;
use crate::target::operation::Operation;
use crate::target::selector::{Answer, Selector};
use crate::target::volatile::is_volatile_header;
use crate::transcript::{Response, Token};
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Read;

/// The most that a compressed body may grow to, in bytes: 64 MiB. A longer one is left as it came.
const LARGEST: u64 = 64 * 1024 * 1024;

/// How many characters of a body reports show.
const SHOWN: usize = 4096;

/// What is written down of a response.
pub(super) fn record(
    status: u16,
    headers: &[(String, Vec<u8>)],
    body: &[u8],
    operation: &Operation,
    mask: &[Selector],
    masker: &Masker,
) -> Response {
    let decoded = decoded(headers, body);
    let body: &[u8] = &decoded;
    let answer = Answer {
        status,
        headers,
        body,
    };
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let identity = operation.identity.iter().find_map(|selector| {
        selector
            .select(&answer)
            .into_iter()
            .find_map(|value| plain(&value))
            .map(|identity| masker.mask(&identity))
    });
    let mut stable_json = json.clone();
    if let Some(json) = &mut stable_json {
        for selector in &operation.volatile {
            if let Selector::Json(path) = selector {
                contract::remove(json, path);
            }
        }
    }
    let mut volatile_headers: BTreeSet<String> = headers
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase())
        .filter(|name| is_volatile_header(name))
        .collect();
    volatile_headers.extend(
        operation
            .volatile
            .iter()
            .filter_map(|selector| match selector {
                Selector::Header(name) => Some(name.to_ascii_lowercase()),
                _ => None,
            }),
    );
    let secrets: Vec<String> = mask
        .iter()
        .flat_map(|selector| selector.select(&answer))
        .filter_map(|value| plain(&value))
        .collect();
    let hide = |text: &str| {
        let mut text = masker.mask(text);
        for secret in &secrets {
            text = text.replace(secret.as_str(), &masker.pseudonym(secret));
        }
        text
    };
    let is_in_a_secret =
        |text: &str| masker.is_in_a_secret(text) || secrets.iter().any(|own| own.contains(text));
    let text = String::from_utf8_lossy(body);
    let mut shown: String = hide(&text).chars().take(SHOWN).collect();
    if shown.len() < text.len() && text.chars().count() > SHOWN {
        shown.push('…');
    }
    Response {
        status,
        headers: headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value);
                (name.clone(), hide(&masker.mask_header(name, &value)))
            })
            .collect(),
        body: shown,
        body_length: body.len(),
        body_digest: digest(body),
        tokens: tokens(
            &answer,
            json.as_ref(),
            identity.as_deref(),
            masker,
            &|text| {
                if is_in_a_secret(text) {
                    masker.pseudonym(text)
                } else {
                    hide(text)
                }
            },
        ),
        json: json.map(|json| masked(json, &hide)),
        stable_json: stable_json.map(|json| masked(json, &hide)),
        volatile_headers,
        success: operation.success.holds(&answer),
        identity,
    }
}

/// The body without the compression that its headers tell of (RFC 9110, section 8.4). One that is
/// not what its headers say stays as it came.
fn decoded<'a>(headers: &[(String, Vec<u8>)], body: &'a [u8]) -> Cow<'a, [u8]> {
    let is_gzip = |(name, value): &(String, Vec<u8>)| {
        name.eq_ignore_ascii_case("content-encoding")
            && [&b"gzip"[..], b"x-gzip"]
                .iter()
                .any(|coding| value.trim_ascii().eq_ignore_ascii_case(coding))
    };
    if !headers.iter().any(is_gzip) {
        return Cow::Borrowed(body);
    }
    let mut plain = Vec::new();
    let mut decoder = MultiGzDecoder::new(body).take(LARGEST + 1);
    match decoder.read_to_end(&mut plain) {
        Ok(length) if length as u64 <= LARGEST => Cow::Owned(plain),
        _ => Cow::Borrowed(body),
    }
}

/// JSON without secrets in its names, texts and numbers.
fn masked(json: Value, hide: &dyn Fn(&str) -> String) -> Value {
    match json {
        Value::String(text) => Value::String(hide(&text)),
        Value::Number(number) => {
            let text = number.to_string();
            let hidden = hide(&text);
            if hidden == text {
                Value::Number(number)
            } else {
                Value::String(hidden)
            }
        }
        Value::Array(list) => list.into_iter().map(|leaf| masked(leaf, hide)).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(name, value)| (hide(&name), masked(value, hide)))
            .collect(),
        Value::Null | Value::Bool(_) => json,
    }
}

/// A digest of bytes, short enough to read.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A value that can be an identity: text or a number.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The strings of a response that could give its owner away.
fn tokens(
    answer: &Answer<'_>,
    json: Option<&Value>,
    identity: Option<&str>,
    masker: &Masker,
    hide: &dyn Fn(&str) -> String,
) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut add = |text: &str, place: &str, secret: bool, identity: bool| {
        let digest = masker.digest(text);
        match found.iter_mut().find(|token| token.digest == digest) {
            Some(token) => {
                token.secret |= secret;
                token.identity |= identity;
            }
            None => found.push(Token {
                digest,
                place: place.to_owned(),
                shown: if secret {
                    masker.pseudonym(text)
                } else {
                    hide(text)
                },
                secret,
                identity,
            }),
        }
    };
    if let Some(identity) = identity {
        add(identity, "body", false, true);
    }
    for (name, value) in answer.headers {
        let value = String::from_utf8_lossy(value);
        let name = name.to_ascii_lowercase();
        if name == "set-cookie" {
            let cookie = value.split(';').next().unwrap_or_default();
            if let Some((_, value)) = cookie.split_once('=').filter(|(_, value)| value.len() >= 4) {
                add(value, "header set-cookie", true, false);
            }
            continue;
        }
        if name == "www-authenticate" {
            add(&value, "header www-authenticate", true, false);
        }
        if is_volatile_header(&name) {
            continue;
        }
        for word in telling_words(&value) {
            add(word, &format!("header {name}"), false, false);
        }
    }
    match json {
        Some(json) => each_leaf(json, &mut |leaf| {
            for word in telling_words(leaf) {
                add(word, "body", false, false);
            }
            // An identity may be short: every leaf that could be one is kept whole.
            if leaf.len() <= 64
                && leaf.chars().any(|c| c.is_ascii_digit())
                && leaf.chars().any(char::is_alphabetic)
            {
                add(leaf, "body", false, false);
            }
        }),
        None => {
            for word in telling_words(&String::from_utf8_lossy(answer.body)) {
                add(word, "body", false, false);
            }
        }
    }
    found
}

fn each_leaf(json: &Value, visit: &mut dyn FnMut(&str)) {
    match json {
        Value::String(text) => visit(text),
        Value::Array(list) => list.iter().for_each(|leaf| each_leaf(leaf, visit)),
        Value::Object(map) => map.values().for_each(|leaf| each_leaf(leaf, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Words that can hardly occur by chance: long, with letters and digits, and no date.
fn telling_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .filter(|word| {
            word.len() >= 12
                && word.chars().any(|c| c.is_ascii_digit())
                && word.chars().filter(|c| c.is_ascii_alphabetic()).count() >= 2
                && !looks_like_a_date(word)
        })
}

fn looks_like_a_date(word: &str) -> bool {
    let digits = |range: &str| range.chars().all(|c| c.is_ascii_digit());
    word.len() >= 10
        && word.is_char_boundary(10)
        && digits(&word[..4])
        && &word[4..5] == "-"
        && digits(&word[5..7])
        && &word[7..8] == "-"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::secret::SecretValue;
    use std::io::Write;

    #[test]
    fn a_body_is_decoded_where_its_headers_say_that_it_is_compressed_and_it_is() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"{\"id\":7}").expect("memory");
        let gzip = encoder.finish().expect("memory");
        let headers =
            |coding: &str| vec![("Content-Encoding".to_owned(), coding.as_bytes().to_vec())];
        assert_eq!(&*decoded(&headers("GZip"), &gzip), b"{\"id\":7}");
        assert_eq!(&*decoded(&[], &gzip), &gzip[..]);
        assert_eq!(&*decoded(&headers("identity"), &gzip), &gzip[..]);
        assert_eq!(&*decoded(&headers("gzip"), b"{}"), b"{}");
        assert_eq!(&*decoded(&headers("gzip"), &gzip[..8]), &gzip[..8]);
    }

    #[test]
    fn telling_words_are_ids_and_no_dates() {
        let text = "see /payments/pay_0123456789ab, made 2026-11-30T10:00:00Z as application/json";
        assert_eq!(
            telling_words(text).collect::<Vec<_>>(),
            ["pay_0123456789ab"]
        );
    }

    #[test]
    fn json_keeps_its_shape_and_loses_its_secrets() {
        let secrets = [
            SecretValue::new("A", "sk_test.abcdefghij0123"),
            SecretValue::new("PIN", "73310"),
        ];
        let masker = Masker::new(&secrets, &[]);
        let json = serde_json::json!({
            "who": "Bearer sk_test.abcdefghij0123",
            "sk_test.abcdefghij0123": [73310, 7331, true],
        });
        let masked = masked(json, &|text| masker.mask(text));
        let name = masker.pseudonym("sk_test.abcdefghij0123");
        assert_eq!(masked["who"], format!("Bearer {name}"));
        assert_eq!(masked[name][0], masker.pseudonym("73310"));
        assert!(!masked.to_string().contains("abcdefghij0123"));
        assert!(masked.to_string().contains("7331,true"));
        // A token is a word, and a word may be a part of a secret.
        assert!(masker.is_in_a_secret("abcdefghij0123"));
        assert!(!masker.is_in_a_secret("pay_0123456789ab"));
    }
}
