//! Selectors: one string that says which part of a response is meant.

use std::fmt;

use serde_json::Value;
use serde_json_path::JsonPath;

use super::placeholder::Template;
use crate::xml::XmlPath;

/// Which part of a response is meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// `$…`: a JSONPath of RFC 9535 into the body.
    Json(JsonPath),
    /// `/…` or `//…`: a path into an XML body.
    Xml(XmlPath),
    /// `header.NAME`, in any case.
    Header(String),
    /// `cookie.NAME`: the value that a `Set-Cookie` gives it.
    Cookie(String),
    /// `status`: the status code.
    Status,
    /// `text`: the body as trimmed text.
    Text,
    /// `lines`: the lines of the body that are not empty.
    Lines,
}

/// A selector whose JSONPath may hold placeholders, such as
/// `$.data[?@.name == '${marker}'].id`.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectorTemplate {
    /// It holds none.
    Fixed(Selector),
    /// The path is known only when the placeholders are.
    Json(Template),
}

/// A response, as far as selectors look at it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The headers as received, in order.
    pub headers: &'a [(String, Vec<u8>)],
    /// The body after transfer and content decoding.
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// What a command wrote, seen as a response: its body is the output.
    pub fn of_output(output: &'a [u8]) -> Answer<'a> {
        Answer {
            status: 0,
            headers: &[],
            body: output,
        }
    }
}

impl Selector {
    /// Parses a selector without placeholders. The error is a message and, where there is one, what
    /// to write instead.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        if text.starts_with('$') {
            return parse_json_path(text).map(Selector::Json);
        }
        if text.starts_with('/') {
            let path = XmlPath::parse(text);
            return path.map(Selector::Xml).map_err(|why| {
                SelectorError::new(format!("the XML path `{text}` is not understood: {why}"))
                    .help("/a/b, //b, b[2], * for any name, and text() or @name at the end")
            });
        }
        let named = |name: &str| (!name.is_empty()).then(|| name.to_string());
        match text {
            "status" => return Ok(Selector::Status),
            "text" => return Ok(Selector::Text),
            "lines" => return Ok(Selector::Lines),
            _ => {}
        }
        if let Some(name) = text.strip_prefix("header.").and_then(named) {
            return Ok(Selector::Header(name));
        }
        if let Some(name) = text.strip_prefix("cookie.").and_then(named) {
            return Ok(Selector::Cookie(name));
        }
        Err(SelectorError::new(format!("unknown selector `{text}`"))
            .help("selectors are $… (JSONPath), /… (XML), header.NAME, cookie.NAME, status, text and lines"))
    }

    /// Everything in the answer that the selector matches, in order; nothing where the body is no
    /// JSON or the header is missing.
    pub fn select(&self, answer: &Answer<'_>) -> Vec<Value> {
        match self {
            Selector::Json(path) => match serde_json::from_slice(answer.body) {
                Ok(body) => path.query(&body).into_iter().cloned().collect(),
                Err(_) => Vec::new(),
            },
            Selector::Xml(path) => {
                let found = path.find(&String::from_utf8_lossy(answer.body));
                found.into_iter().map(Value::String).collect()
            }
            Selector::Header(name) => header_values(answer, name).map(Value::String).collect(),
            Selector::Cookie(name) => header_values(answer, "set-cookie")
                .filter_map(|line| cookie_value(&line, name))
                .collect(),
            Selector::Status => vec![Value::from(answer.status)],
            Selector::Text => vec![Value::String(body_text(answer).trim().to_string())],
            Selector::Lines => body_text(answer)
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(|line| Value::String(line.to_string()))
                .collect(),
        }
    }

    /// Everything that the selector matches in a JSON value, such as the body of a request; only
    /// `$…` selectors match there.
    pub fn select_in(&self, body: &Value) -> Vec<Value> {
        match self {
            Selector::Json(path) => path.query(body).into_iter().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

impl SelectorTemplate {
    /// The selector, once `fill` has turned the path's placeholders into text.
    pub fn resolve(
        &self,
        fill: impl FnOnce(&Template) -> Result<String, String>,
    ) -> Result<Selector, String> {
        match self {
            SelectorTemplate::Fixed(selector) => Ok(selector.clone()),
            SelectorTemplate::Json(template) => {
                Selector::parse(&fill(template)?).map_err(|error| error.message)
            }
        }
    }
}

/// Why a selector is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl SelectorError {
    fn new(message: impl Into<String>) -> Self {
        SelectorError {
            message: message.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The selector as it is written.
impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Json(path) => write!(out, "{path}"),
            Selector::Xml(path) => write!(out, "{path}"),
            Selector::Header(name) => write!(out, "header.{name}"),
            Selector::Cookie(name) => write!(out, "cookie.{name}"),
            Selector::Status => out.write_str("status"),
            Selector::Text => out.write_str("text"),
            Selector::Lines => out.write_str("lines"),
        }
    }
}

fn parse_json_path(text: &str) -> Result<JsonPath, SelectorError> {
    JsonPath::parse(text).map_err(|error| {
        let position = error.position();
        let refused = SelectorError::new(format!(
            "`{text}` is no JSONPath (RFC 9535): {} at character {position}",
            error.message()
        ));
        if text.contains(".[") {
            return refused.help(format!("RFC 9535: write `{}`", text.replace(".[", "[")));
        }
        if text.contains("[?(@") && JsonPath::parse(&text.replace(".length", "")).is_ok() {
            return refused.help("RFC 9535: write `length(@.x)`");
        }
        if text.contains('-') && !text.contains('[') {
            return refused.help("RFC 9535: names with a hyphen are written `$['a-b']`");
        }
        refused
    })
}

fn header_values<'a>(answer: &'a Answer<'_>, name: &'a str) -> impl Iterator<Item = String> + 'a {
    answer
        .headers
        .iter()
        .filter(move |(header, _)| header.eq_ignore_ascii_case(name))
        .map(|(_, value)| String::from_utf8_lossy(value).trim().to_string())
}

fn cookie_value(line: &str, name: &str) -> Option<Value> {
    let (cookie, value) = line.split(';').next()?.split_once('=')?;
    (cookie.trim() == name).then(|| Value::String(value.trim().to_string()))
}

fn body_text<'a>(answer: &Answer<'a>) -> std::borrow::Cow<'a, str> {
    String::from_utf8_lossy(answer.body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn select(selector: &str, body: &str) -> Vec<Value> {
        let headers = [
            ("Location".to_string(), b"/payments/1".to_vec()),
            ("Set-Cookie".to_string(), b"sid=abc=; Path=/".to_vec()),
            ("set-cookie".to_string(), b"other=1".to_vec()),
        ];
        Selector::parse(selector)
            .expect("a selector")
            .select(&Answer {
                status: 201,
                headers: &headers,
                body: body.as_bytes(),
            })
    }

    #[test]
    fn every_kind_selects() {
        let body = r#"{"data":[{"id":"a"},{"id":2}]}"#;
        assert_eq!(select("$.data[*].id", body), [json!("a"), json!(2)]);
        assert_eq!(select("header.location", body), [json!("/payments/1")]);
        assert_eq!(select("cookie.sid", body), [json!("abc=")]);
        assert_eq!(select("status", body), [json!(201)]);
        let xml = r#"<list><p id="a"/><p id="b">7</p></list>"#;
        assert_eq!(select("//p/@id", xml), [json!("a"), json!("b")]);
        assert_eq!(select("/list/p/text()", xml), [json!(""), json!("7")]);
        assert_eq!(select("text", " 7\n"), [json!("7")]);
        assert_eq!(select("lines", "a\n\n b \r\n"), [json!("a"), json!("b")]);
    }

    #[test]
    fn odd_answers_match_nothing_and_do_not_fail() {
        assert!(select("$.id", "").is_empty());
        assert!(select("$.id", "<html>").is_empty());
        assert!(select("$.id", "[1]").is_empty());
        assert!(select("//id", "{}").is_empty());
        assert!(select("header.ETag", "").is_empty());
        assert!(select("cookie.none", "").is_empty());
        assert!(select("lines", "\n").is_empty());
        let bytes = Answer::of_output(&[0xff, b'1']);
        assert_eq!(Selector::Text.select(&bytes).len(), 1);
    }

    #[test]
    fn the_old_dialect_gets_the_new_form() {
        let error = Selector::parse("$.[*].id").expect_err("old dialect");
        assert_eq!(error.help.as_deref(), Some("RFC 9535: write `$[*].id`"));
        assert!(Selector::parse("$.a[?@.b == 'x'].c").is_ok());
        assert!(Selector::parse("$.a-b").expect_err("hyphen").help.is_some());
    }

    #[test]
    fn what_is_no_selector_is_refused_by_name() {
        assert_eq!(
            Selector::parse("//a[last()]").expect_err("XPath").message,
            "the XML path `//a[last()]` is not understood: `[last()]` is no number from 1 on"
        );
        assert!(Selector::parse("body").expect_err("unknown").help.is_some());
        assert!(Selector::parse("header.").is_err());
    }

    #[test]
    fn a_template_is_resolved_before_it_selects() {
        let template = SelectorTemplate::Json(Template::literal("$.x"));
        let path = template.resolve(|_| Ok("$[?@.n == 'm'].id".to_string()));
        let body = json!([{"n": "m", "id": 1}, {"n": "o", "id": 2}]);
        assert_eq!(path.expect("a path").select_in(&body), [json!(1)]);
        assert!(template.resolve(|_| Ok("$.".to_string())).is_err());
    }
}
