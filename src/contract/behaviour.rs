//! One way in which a target may answer, and how it is recognised.

use crate::transcript::Response;
use crate::xml::XmlPath;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;
use std::fmt;
use std::time::Duration;

/// A text that only a pattern for any text matches.
const ANYTHING: &str = "\u{7}";

/// What the target does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It gives the stored answer again.
    ReplayStored,
    /// It gives the resource as it is now.
    ReplayCurrent,
    /// It refuses and names the resource.
    ConflictRef,
    /// It refuses.
    Reject,
    /// It carries the operation out again.
    Reexecute,
    /// It carries the operation out as a new one.
    ExecuteNew,
    /// It waits for the first request and gives its answer.
    WaitThenReplay,
    /// It accepts and names a place to ask.
    Accepted,
    /// It takes no notice of the key.
    Ignore,
}

impl Kind {
    /// The name in YAML and reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ReplayStored => "replay-stored",
            Kind::ReplayCurrent => "replay-current",
            Kind::ConflictRef => "conflict-ref",
            Kind::Reject => "reject",
            Kind::Reexecute => "reexecute",
            Kind::ExecuteNew => "execute-new",
            Kind::WaitThenReplay => "wait-then-replay",
            Kind::Accepted => "accepted",
            Kind::Ignore => "ignore",
        }
    }
}

/// A status code, a class of them, or the first answer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPattern {
    /// This one.
    Exact(u16),
    /// `2xx`: the hundreds digit.
    Class(u16),
    /// That of the first answer.
    SameAsFirst,
}

impl StatusPattern {
    /// Whether a status fits; `first` is the first answer's.
    pub fn fits(self, status: u16, first: Option<u16>) -> bool {
        match self {
            StatusPattern::Exact(wanted) => status == wanted,
            StatusPattern::Class(hundreds) => status / 100 == hundreds,
            StatusPattern::SameAsFirst => first.is_none_or(|first| status == first),
        }
    }
}

impl fmt::Display for StatusPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusPattern::Exact(status) => write!(f, "{status}"),
            StatusPattern::Class(hundreds) => write!(f, "{hundreds}xx"),
            StatusPattern::SameAsFirst => f.write_str("the first status"),
        }
    }
}

/// How the body of an answer relates to the first one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyRelation {
    /// The same bytes.
    Identical,
    /// The same JSON, what the target calls volatile apart.
    JsonEqual,
    /// It names the same resource.
    SameResource,
    /// It may have anything.
    Any,
}

/// Where an answer says when to come again.
#[derive(Clone, Debug)]
pub enum RetryAfter {
    /// In the header `Retry-After`.
    Header,
    /// In the JSON body.
    Json(JsonPath),
}

/// One way in which a target may answer.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// What it does.
    pub kind: Kind,
    /// With which status; empty where none is promised.
    pub status: Vec<StatusPattern>,
    /// Headers that the answer has, each with a pattern for its value.
    pub headers: Vec<(String, Regex)>,
    /// JSON values that the answer has, each with a pattern for its text.
    pub json: Vec<(JsonPath, Regex)>,
    /// XML texts that the answer has, each with a pattern.
    pub xml: Vec<(XmlPath, Regex)>,
    /// A pattern for the media type.
    pub content_type: Option<Regex>,
    /// How its body relates to the first one's, where that is promised.
    pub body: Option<BodyRelation>,
    /// Where it says when to come again, where that is promised.
    pub retry_after: Option<RetryAfter>,
    /// For how long a duplicate waits at most.
    pub max_wait: Option<Duration>,
}

impl Behaviour {
    /// Whether it says more than a plain status, so that it can tell answers apart by itself.
    pub fn is_specific(&self) -> bool {
        !self.headers.is_empty() || !self.json.is_empty() || !self.xml.is_empty()
    }

    /// Whether a response looks like it; `first` is the first answer's status.
    pub fn fits(&self, response: &Response, first: Option<u16>) -> bool {
        let status = self.status.is_empty()
            || self
                .status
                .iter()
                .any(|pattern| pattern.fits(response.status, first));
        let bears =
            |name: &str, value: &Regex| response.header(name).any(|own| value.is_match(own));
        let headers = self.headers.iter().all(|(name, value)| bears(name, value));
        let media = self
            .content_type
            .as_ref()
            .is_none_or(|media| bears("content-type", media));
        let json = self.json.iter().all(|(path, value)| {
            response.json.as_ref().is_some_and(|json| {
                path.query(json)
                    .all()
                    .into_iter()
                    .any(|found| value.is_match(&text_of(found)))
            })
        });
        let xml = self.xml.iter().all(|(path, value)| {
            path.find(&response.body)
                .iter()
                .any(|text| value.is_match(text))
        });
        let pause = match &self.retry_after {
            None => true,
            Some(RetryAfter::Header) => response.header("retry-after").next().is_some(),
            Some(RetryAfter::Json(path)) => response
                .json
                .as_ref()
                .is_some_and(|json| !path.query(json).all().is_empty()),
        };
        status && headers && media && json && xml && pause
    }

    /// The resource that a refusal names: the text at the place where it may have any.
    pub fn named<'a>(&self, response: &'a Response) -> Option<&'a str> {
        let json = response.json.as_ref()?;
        let (path, _) = self
            .json
            .iter()
            .find(|(_, value)| value.is_match(ANYTHING))?;
        path.query(json)
            .all()
            .into_iter()
            .find_map(|id| id.as_str())
    }

    /// Whether it promises this very status, not merely a class.
    pub fn names_status(&self, status: u16) -> bool {
        self.status.contains(&StatusPattern::Exact(status))
    }
}

/// The text of a JSON value, without quotes.
pub(super) fn text_of(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Kind {
    /// What the target does, in words.
    fn says(self) -> &'static str {
        match self {
            Kind::ReplayStored => "the stored answer again",
            Kind::ReplayCurrent => "the resource as it is now",
            Kind::ConflictRef => "a refusal that names the resource",
            Kind::Reject => "refused",
            Kind::Reexecute => "executed again",
            Kind::ExecuteNew => "executed as a new one",
            Kind::WaitThenReplay => "a wait, then the first one's answer",
            Kind::Accepted => "accepted, with a place to ask",
            Kind::Ignore => "the key is ignored",
        }
    }
}

impl Behaviour {
    /// `refused with 409, with Retry-After`.
    pub fn says(&self) -> String {
        format!("{}{}", self.kind.says(), self.looks())
    }

    /// What the answer looks like, with what leads to it from what it is.
    fn looks(&self) -> String {
        let mut text = String::new();
        for (index, status) in self.status.iter().enumerate() {
            text.push_str(if index == 0 { " with " } else { " or " });
            text.push_str(&status.to_string());
        }
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", plain(value)));
        let json = self
            .json
            .iter()
            .map(|(path, value)| format!("{} = {}", written(path), plain(value)));
        let xml = self
            .xml
            .iter()
            .map(|(path, value)| format!("{path} = {}", plain(value)));
        let media = self.content_type.iter().map(|media| media.to_string());
        let body = self.body.iter().filter_map(|body| match body {
            BodyRelation::Identical => Some("the same bytes".to_owned()),
            BodyRelation::JsonEqual => Some("the same JSON".to_owned()),
            BodyRelation::SameResource => Some("the same resource".to_owned()),
            BodyRelation::Any => None,
        });
        let pause = self.retry_after.iter().map(|place| match place {
            RetryAfter::Header => "Retry-After".to_owned(),
            RetryAfter::Json(path) => format!("a pause at {}", written(path)),
        });
        let more = headers.chain(json).chain(xml).chain(media).chain(body);
        for (index, part) in more.chain(pause).enumerate() {
            text.push_str(if index == 0 { ", with " } else { " and " });
            text.push_str(&part);
        }
        if let Some(time) = self.max_wait {
            text.push_str(", within ");
            text.push_str(&humantime::format_duration(time).to_string());
        }
        text
    }
}

impl fmt::Display for Behaviour {
    /// `reject with 409`: in the words of YAML, for reports.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        f.write_str(&self.looks())
    }
}

/// A path as it is written; its own `Display` gives one dot too many before a descendant.
pub fn written(path: &JsonPath) -> String {
    path.to_string().replace("...", "..")
}

/// A pattern for people: without what only says that it is the whole text, in any case.
pub(super) fn plain(pattern: &Regex) -> String {
    let text = pattern.as_str();
    let text = text.strip_prefix("(?i)").unwrap_or(text);
    let text = text.strip_prefix('^').unwrap_or(text);
    match text.strip_suffix('$').unwrap_or(text) {
        "." => "anything".to_owned(),
        text => text.to_owned(),
    }
}
