//! One way in which a target may answer, and how it is recognised.

use crate::transcript::Response;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;
use std::fmt;

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
    /// A pattern for the media type.
    pub content_type: Option<Regex>,
}

impl Behaviour {
    /// Whether it says more than a plain status, so that it can tell answers apart by itself.
    pub fn is_specific(&self) -> bool {
        !self.headers.is_empty() || !self.json.is_empty()
    }

    /// Whether a response looks like it.
    pub fn fits(&self, response: &Response, first: Option<u16>) -> bool {
        let status = self.status.is_empty()
            || self
                .status
                .iter()
                .any(|pattern| pattern.fits(response.status, first));
        let headers = self
            .headers
            .iter()
            .all(|(name, value)| response.header(name).any(|own| value.is_match(own)));
        let media = self.content_type.as_ref().is_none_or(|media| {
            response
                .header("content-type")
                .any(|own| media.is_match(own))
        });
        let json = self.json.iter().all(|(path, value)| {
            response.json.as_ref().is_some_and(|json| {
                path.query(json).all().into_iter().any(|found| match found {
                    serde_json::Value::String(text) => value.is_match(text),
                    other => value.is_match(&other.to_string()),
                })
            })
        });
        status && headers && media && json
    }

    /// Whether it promises this very status, not merely a class.
    pub fn names_status(&self, status: u16) -> bool {
        self.status.contains(&StatusPattern::Exact(status))
    }
}

impl fmt::Display for Behaviour {
    /// `reject with 409`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        for (index, status) in self.status.iter().enumerate() {
            f.write_str(if index == 0 { " with " } else { " or " })?;
            write!(f, "{status}")?;
        }
        Ok(())
    }
}
