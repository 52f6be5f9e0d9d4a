//! Templates: text with `${…}` in it. Which names are allowed where is decided when
//! the file is parsed; values are handed in at render time.

use std::fmt;

use super::secret::SecretValue;
use super::selector::Selector;
pub use super::time_shift::TimeShift;

/// Text with placeholders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// Its parts, in order; neighbouring texts are joined.
    pub parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// Something that is filled in.
    Placeholder(Placeholder),
}

/// Something that is filled in.
#[derive(Clone, Debug, PartialEq)]
pub enum Placeholder {
    /// A value of the environment that must never be printed; resolved when the file was loaded.
    Secret(SecretValue),
    /// One of the target's `vars`.
    Var(String),
    /// One of the target's `fixtures`.
    Fixture(String),
    /// `${marker}`: one per scenario, case, round and named marker.
    Marker,
    /// `${unique}`: one per key.
    Unique,
    /// `${name}`: what the client calls the resource; one per key unless the scenario chooses it.
    Name,
    /// `${key}`: the idempotency key.
    Key,
    /// `${uuid}`: one per transmission.
    Uuid,
    /// `${now+1h}`, `${today-7d}`: frozen per key.
    Time(TimeShift),
    /// `${token}`: the token that the principal has asked for.
    Token,
    /// `${run}`: the run's name.
    Run,
    /// `${run.started}`: when the run began, RFC 3339.
    RunStarted,
    /// `${port}`, `${port.admin}`: a port that the tool chose for the server.
    Port(Option<String>),
    /// `${sink.url}`: where the target delivers its events.
    SinkUrl,
    /// `${seconds}`: how far `advance-clock` moves the clock.
    Seconds,
    /// `${identity}`: the identity of what was made.
    Identity,
    /// `${given.identity}`: the identity of the resource that the operation works on.
    GivenIdentity,
    /// `${prepared:SEL}`: from the response to `prepare`.
    Prepared(Selector),
    /// `${request:SEL}`: from the request as sent.
    Request(Selector),
    /// `${response:SEL}`: from the response.
    Response(Selector),
    /// `${filler:N}`: that many letters.
    Filler(usize),
}

/// Gives the values of placeholders when something is rendered. Variables, secrets and fillers are
/// filled in by this module and never asked for.
pub trait Values {
    /// The value; the error says why there is none.
    fn get(&self, placeholder: &Placeholder) -> Result<serde_json::Value, String>;
}

impl Template {
    /// A template without placeholders.
    pub fn literal(text: impl Into<String>) -> Template {
        let text = text.into();
        Template {
            parts: match text.is_empty() {
                true => Vec::new(),
                false => vec![Part::Text(text)],
            },
        }
    }

    /// The placeholders, in order.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Placeholder(placeholder) => Some(placeholder),
        })
    }

    /// The placeholder, if the template is nothing else.
    pub fn sole(&self) -> Option<&Placeholder> {
        match self.parts.as_slice() {
            [Part::Placeholder(placeholder)] => Some(placeholder),
            _ => None,
        }
    }

    /// The text, if there is no placeholder in it.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether a secret stands in it.
    pub fn holds_secret(&self) -> bool {
        self.placeholders()
            .any(|placeholder| matches!(placeholder, Placeholder::Secret(_) | Placeholder::Token))
    }

    /// Whether a token stands in it.
    pub fn holds_token(&self) -> bool {
        self.placeholders()
            .any(|placeholder| *placeholder == Placeholder::Token)
    }

    /// Appends text, joining it with text before it.
    pub fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_string())),
        }
    }

    /// Splits at the first `separator` in the template's own text, never inside a placeholder.
    pub fn split_once(&self, separator: char) -> Option<(Template, Template)> {
        let (at, text, byte) = self
            .parts
            .iter()
            .enumerate()
            .find_map(|(at, part)| match part {
                Part::Text(text) => text.find(separator).map(|byte| (at, text, byte)),
                Part::Placeholder(_) => None,
            })?;
        let mut before = Template {
            parts: self.parts[..at].to_vec(),
        };
        before.push_text(&text[..byte]);
        let mut after = Template::literal(&text[byte + separator.len_utf8()..]);
        after.parts.extend_from_slice(&self.parts[at + 1..]);
        Some((before, after))
    }
}

/// The template as it is written, secrets by their names.
impl fmt::Display for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.write_str(text)?,
                Part::Placeholder(placeholder) => write!(out, "${{{placeholder}}}")?,
            }
        }
        Ok(())
    }
}

/// The placeholder's name, as it stands between the braces.
impl fmt::Display for Placeholder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placeholder::Secret(secret) => write!(out, "secret.{}", secret.name),
            Placeholder::Var(name) | Placeholder::Fixture(name) => out.write_str(name),
            Placeholder::Marker => out.write_str("marker"),
            Placeholder::Unique => out.write_str("unique"),
            Placeholder::Name => out.write_str("name"),
            Placeholder::Key => out.write_str("key"),
            Placeholder::Uuid => out.write_str("uuid"),
            Placeholder::Time(shift) => {
                out.write_str(if shift.date_only { "today" } else { "now" })?;
                if shift.by.is_zero() {
                    return Ok(());
                }
                let sign = if shift.back { '-' } else { '+' };
                write!(out, "{sign}{}s", shift.by.as_secs())
            }
            Placeholder::Token => out.write_str("token"),
            Placeholder::Run => out.write_str("run"),
            Placeholder::RunStarted => out.write_str("run.started"),
            Placeholder::Port(None) => out.write_str("port"),
            Placeholder::Port(Some(name)) => write!(out, "port.{name}"),
            Placeholder::SinkUrl => out.write_str("sink.url"),
            Placeholder::Seconds => out.write_str("seconds"),
            Placeholder::Identity => out.write_str("identity"),
            Placeholder::GivenIdentity => out.write_str("given.identity"),
            Placeholder::Prepared(selector) => write!(out, "prepared:{selector}"),
            Placeholder::Request(selector) => write!(out, "request:{selector}"),
            Placeholder::Response(selector) => write!(out, "response:{selector}"),
            Placeholder::Filler(length) => write!(out, "filler:{length}"),
        }
    }
}

/// The names that are built in, for messages and for the environment of commands.
pub const BUILT_IN: [&str; 15] = [
    "marker",
    "unique",
    "name",
    "key",
    "uuid",
    "now",
    "today",
    "run",
    "run.started",
    "port",
    "sink.url",
    "seconds",
    "identity",
    "given.identity",
    "token",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_never_looks_into_placeholders() {
        let template = Template {
            parts: vec![
                Part::Text("/a".to_string()),
                Part::Placeholder(Placeholder::Marker),
                Part::Text("?b=".to_string()),
                Part::Placeholder(Placeholder::Unique),
            ],
        };
        let (before, after) = template.split_once('?').expect("a question mark");
        assert_eq!(before.to_string(), "/a${marker}");
        assert_eq!(after.to_string(), "b=${unique}");
        assert_eq!(template.split_once('#'), None);
    }
}
