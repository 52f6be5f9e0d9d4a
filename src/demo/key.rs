//! The idempotency key of a request: where it is and its syntax, and nothing about what is stored
//! under it.

use axum::http::HeaderMap;
use serde_json::Value;
use url::form_urlencoded;
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::flaw::Flaw;
use super::flaws::Flaws;
use super::policy::{Form, KeyKind, Place, Policy, Refusal, Unkeyed};

/// What of a request may carry a key.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its query.
    pub query: Option<&'a str>,
    /// Its body, once that is read.
    pub body: Option<&'a Value>,
}

/// Reads the key of a request. `None` is a request that runs without protection, and an empty key
/// one that has none; only flaws, and policies that want no key, allow either.
pub fn read(sent: Sent<'_>, policy: &Policy, flaws: Flaws) -> Result<Option<String>, Answer> {
    if flaws.has(Flaw::IgnoresKeys) || policy.key.place == Place::Nothing {
        return Ok(None);
    }
    let malformed = |why: &str| malformed(why, policy);
    let lines = lines(sent, &policy.key.place).map_err(malformed)?;
    let blank = lines.iter().all(String::is_empty);
    if blank && flaws.has(Flaw::AcceptsMissingKey) {
        return Ok(None);
    }
    if blank && !lines.is_empty() && flaws.has(Flaw::LeavesEmptyKeyUnprotected) {
        return Ok(None);
    }
    if lines.is_empty() && flaws.has(Flaw::TakesPayloadForKey) {
        return Ok(Some(String::new()));
    }
    if lines.is_empty() && matches!(policy.missing, Unkeyed::Execute) {
        return Ok(None);
    }
    if blank {
        return Err(missing(policy));
    }
    if lines.len() > 1 && flaws.has(Flaw::JoinsDoubledKeys) {
        return Ok(Some(lines.join(", ")));
    }
    let [line] = &lines[..] else {
        return Err(malformed("it was sent more than once"));
    };
    let key = plain(line, policy).map_err(malformed)?;
    check(&key, policy).map_err(|why| malformed(&why))?;
    Ok(Some(key))
}

/// The form in which a key is compared with others: the key itself.
pub fn compared(key: &str, policy: &Policy, flaws: Flaws) -> String {
    let most = match flaws.has(Flaw::TruncatesKeysTo64) {
        true => 64,
        false => usize::MAX,
    };
    let key: String = key.chars().take(most).collect();
    match policy.key.case_sensitive && !flaws.has(Flaw::FoldsKeyCase) {
        true => key,
        false => key.to_ascii_lowercase(),
    }
}

/// What stands where keys stand, once for each time that it was sent.
fn lines(sent: Sent<'_>, place: &Place) -> Result<Vec<String>, &'static str> {
    match place {
        Place::Header(name) => {
            let values = sent.headers.get_all(name.as_str()).iter();
            let text = |value: &axum::http::HeaderValue| {
                let line = value.to_str().map_err(|_| "it is not ASCII")?;
                Ok(line.trim().to_owned())
            };
            values.map(text).collect()
        }
        Place::Query(name) => {
            let query = sent.query.unwrap_or_default().as_bytes();
            let own = form_urlencoded::parse(query).filter(|(other, _)| other == name);
            Ok(own.map(|(_, value)| value.trim().to_owned()).collect())
        }
        Place::Member(name) => match sent.body.and_then(|body| body.get(name)) {
            None => Ok(Vec::new()),
            Some(Value::String(key)) => Ok(vec![key.trim().to_owned()]),
            Some(_) => Err("it is no string"),
        },
        Place::Nothing => Ok(Vec::new()),
    }
}

/// The key without what its place asks for around it.
fn plain(line: &str, policy: &Policy) -> Result<String, &'static str> {
    let in_header = matches!(policy.key.place, Place::Header(_));
    let quoted = match policy.key.form {
        Form::Raw => false,
        Form::Quoted => true,
        Form::Either => line.starts_with('"'),
    };
    if in_header && quoted {
        return unquoted(line).ok_or("it is not a quoted string (RFC 9651)");
    }
    if in_header && line.contains(',') {
        return Err("it has a comma, as when two headers are joined to one");
    }
    Ok(line.to_owned())
}

/// What is between the quotes of a string (RFC 9651, section 4.2.5).
fn unquoted(line: &str) -> Option<String> {
    let mut key = String::new();
    let mut characters = line.strip_prefix('"')?.strip_suffix('"')?.chars();
    while let Some(character) = characters.next() {
        key.push(match character {
            '"' => return None,
            '\\' => characters.next().filter(|next| "\"\\".contains(*next))?,
            other => other,
        });
    }
    Some(key)
}

/// Says what is wrong with a key.
fn check(key: &str, policy: &Policy) -> Result<(), String> {
    let rules = &policy.key;
    let permitted = match &rules.characters {
        Some(pattern) => pattern.is_match(key),
        // Between quotes a space is a character like any other.
        None => key
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || (byte == b' ' && rules.form != Form::Raw)),
    };
    if !permitted {
        return Err("it has characters other than those allowed".to_owned());
    }
    if key.chars().any(char::is_control) {
        return Err("it has control characters".to_owned());
    }
    if key.len() > rules.max {
        return Err(format!("it is longer than {} characters", rules.max));
    }
    if key.len() < rules.min {
        return Err(format!("it is shorter than {} characters", rules.min));
    }
    let KeyKind::Uuid(version) = rules.kind else {
        return Ok(());
    };
    let fits = |uuid: Uuid| version.is_none_or(|version| uuid.get_version_num() == version);
    if Uuid::try_parse(key).is_ok_and(fits) {
        return Ok(());
    }
    Err(match version {
        Some(version) => format!("it is no UUID of version {version}"),
        None => "it is no UUID".to_owned(),
    })
}

fn missing(policy: &Policy) -> Answer {
    let place = match &policy.key.place {
        Place::Header(name) => format!("header {name}"),
        Place::Member(name) => format!("member {name} of the body"),
        Place::Query(name) => format!("query parameter {name}"),
        Place::Nothing => "request".to_owned(),
    };
    let detail = format!(
        "Send an idempotency key of {} to {} characters in the {place}.",
        policy.key.min, policy.key.max
    );
    let bare = Refusal::of(400);
    let look = match &policy.missing {
        Unkeyed::Refuse(look) => look,
        // An empty key is none that can be left out.
        Unkeyed::Execute => &bare,
    };
    Answer::refusal(Problem::KeyMissing, detail, look, None)
}

fn malformed(why: &str, policy: &Policy) -> Answer {
    let detail = format!("The {} cannot be used: {why}.", policy.key.place.name());
    Answer::refusal(Problem::KeyMalformed, detail, &policy.malformed, None)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, StatusCode};

    use super::*;

    fn read_lines(lines: &[&str], flaw: Option<Flaw>) -> Result<Option<String>, StatusCode> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                "idempotency-key",
                HeaderValue::from_bytes(line.as_bytes()).expect("a value"),
            );
        }
        let sent = Sent {
            headers: &headers,
            query: None,
            body: None,
        };
        read(sent, &Policy::default(), flaw.into()).map_err(|answer| answer.status)
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
