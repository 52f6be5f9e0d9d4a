//! How a replay can be told from a first answer.

use super::behaviour::text_of;
use crate::transcript::Response;
use serde_json_path::JsonPath;

/// How a replay can be told from a first answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayMarker {
    /// By this header with this value, without regard to case.
    Header {
        /// The header's name.
        name: String,
        /// The value that a replay has.
        value: String,
        /// The value that a first answer has; `None` where a first answer has no such value.
        first: Option<String>,
    },
    /// By a value in the JSON body, without regard to case.
    Json {
        /// Where it is.
        path: JsonPath,
        /// The value that a replay has.
        value: String,
        /// The value that a first answer has; `None` where a first answer has no such value.
        first: Option<String>,
    },
    /// By this status, where the first answer had another.
    Status(u16),
    /// Not at all, but every answer bears the key in this header.
    KeyEcho(String),
    /// Not at all.
    None,
}

impl ReplayMarker {
    /// Whether a replay bears what no first answer does.
    pub fn tells(&self) -> bool {
        match self {
            ReplayMarker::Header { value, first, .. } | ReplayMarker::Json { value, first, .. } => {
                first
                    .as_ref()
                    .is_none_or(|first| !first.eq_ignore_ascii_case(value))
            }
            ReplayMarker::Status(_) => true,
            ReplayMarker::KeyEcho(_) | ReplayMarker::None => false,
        }
    }

    /// Whether a replayed failure bears it as well: a changed status marks successes only.
    pub fn marks_failures(&self) -> bool {
        self.tells() && !matches!(self, ReplayMarker::Status(_))
    }

    /// Whether a response bears what a replay bears; `first` is the first success, `key` the key.
    pub fn is_on(&self, response: &Response, first: Option<&Response>, key: Option<&str>) -> bool {
        match self {
            ReplayMarker::Header { value, .. } | ReplayMarker::Json { value, .. } => {
                self.bears(response, value)
            }
            ReplayMarker::Status(status) => {
                response.status == *status && first.is_some_and(|first| first.status != *status)
            }
            ReplayMarker::KeyEcho(name) => key.is_some_and(|key| {
                response
                    .header(name)
                    .any(|own| own.trim().trim_matches('"') == key)
            }),
            ReplayMarker::None => true,
        }
    }

    /// Whether a first answer bears what it must bear.
    pub fn suits_first(&self, response: &Response) -> bool {
        match self {
            ReplayMarker::Header { value, first, .. } | ReplayMarker::Json { value, first, .. } => {
                match first {
                    Some(first) => self.bears(response, first),
                    None => !self.bears(response, value),
                }
            }
            ReplayMarker::Status(_) | ReplayMarker::KeyEcho(_) | ReplayMarker::None => true,
        }
    }

    fn bears(&self, response: &Response, value: &str) -> bool {
        match self {
            ReplayMarker::Header { name, .. } => response
                .header(name)
                .any(|own| own.trim().eq_ignore_ascii_case(value)),
            ReplayMarker::Json { path, .. } => response.json.as_ref().is_some_and(|json| {
                path.query(json)
                    .all()
                    .into_iter()
                    .any(|found| text_of(found).eq_ignore_ascii_case(value))
            }),
            ReplayMarker::Status(_) | ReplayMarker::KeyEcho(_) | ReplayMarker::None => false,
        }
    }
}
