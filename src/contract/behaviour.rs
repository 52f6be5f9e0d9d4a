//! One way in which a target may answer, and how it is recognised.

use super::xml::XmlPath;
use crate::transcript::Response;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;
use std::fmt;
use std::time::Duration;

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

impl fmt::Display for Behaviour {
    /// `reject with 409 and header X-Code: in_use`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        for (index, status) in self.status.iter().enumerate() {
            f.write_str(if index == 0 { " with " } else { " or " })?;
            write!(f, "{status}")?;
        }
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"));
        let json = self
            .json
            .iter()
            .map(|(path, value)| format!("{path} = {value}"));
        let xml = self
            .xml
            .iter()
            .map(|(path, value)| format!("{path} = {value}"));
        let media = self
            .content_type
            .iter()
            .map(|media| format!("type {media}"));
        let body = self.body.iter().filter_map(|body| match body {
            BodyRelation::Identical => Some("the same bytes".to_owned()),
            BodyRelation::JsonEqual => Some("the same JSON".to_owned()),
            BodyRelation::SameResource => Some("the same resource".to_owned()),
            BodyRelation::Any => None,
        });
        let pause = self.retry_after.iter().map(|place| match place {
            RetryAfter::Header => "Retry-After".to_owned(),
            RetryAfter::Json(path) => format!("a pause at {path}"),
        });
        let wait = self
            .max_wait
            .iter()
            .map(|time| format!("within {}", humantime::format_duration(*time)));
        let more = headers.chain(json).chain(xml).chain(media);
        for (index, part) in more.chain(body).chain(pause).chain(wait).enumerate() {
            f.write_str(if index == 0 { ", " } else { " and " })?;
            f.write_str(&part)?;
        }
        Ok(())
    }
}
