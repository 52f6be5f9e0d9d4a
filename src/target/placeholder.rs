//! Templates: text with `${…}` in it. Parsing knows the grammar only; which names are allowed
//! where is decided by `context.rs`, and values are handed in at render time.

use std::fmt;
use std::time::Duration;
use std::time::SystemTime;

use super::duration;
use super::secret::SecretValue;
use super::selector::Selector;

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
    /// `${key}`: the idempotency key.
    Key,
    /// `${uuid}`: one per transmission.
    Uuid,
    /// `${now+1h}`, `${today-7d}`: frozen per key.
    Time(TimeShift),
    /// `${run}`: the run's name.
    Run,
    /// `${run.started}`: when the run began, RFC 3339.
    RunStarted,
    /// `${port}`: the port that the tool chose for the server.
    Port,
    /// `${seconds}`: how far `advance-clock` moves the clock.
    Seconds,
    /// `${identity}`: the identity of what was made.
    Identity,
    /// `${given.identity}`: the identity of the resource that the operation works on.
    GivenIdentity,
    /// `${request:SEL}`: from the request as sent.
    Request(Selector),
    /// `${response:SEL}`: from the response.
    Response(Selector),
    /// `${filler:N}`: that many letters.
    Filler(usize),
}

/// A time relative to now, or a date relative to today, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeShift {
    /// Whether only the date is wanted.
    pub date_only: bool,
    /// Whether the shift goes back.
    pub back: bool,
    /// How far.
    pub by: Duration,
}

impl TimeShift {
    /// The text for a given now: `2026-01-31T12:00:00Z`, or the date alone.
    pub fn text(&self, now: SystemTime) -> String {
        let shifted = if self.back {
            now.checked_sub(self.by)
        } else {
            now.checked_add(self.by)
        };
        // Past the ends of the clock's range the unshifted time is the only sensible answer.
        let text = humantime::format_rfc3339_seconds(shifted.unwrap_or(now)).to_string();
        match self.date_only {
            true => text.chars().take_while(|c| *c != 'T').collect(),
            false => text,
        }
    }
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
            .any(|placeholder| matches!(placeholder, Placeholder::Secret(_)))
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
        let (at, text, byte) = self.parts.iter().enumerate().find_map(|(at, part)| match part {
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
            Placeholder::Run => out.write_str("run"),
            Placeholder::RunStarted => out.write_str("run.started"),
            Placeholder::Port => out.write_str("port"),
            Placeholder::Seconds => out.write_str("seconds"),
            Placeholder::Identity => out.write_str("identity"),
            Placeholder::GivenIdentity => out.write_str("given.identity"),
            Placeholder::Request(selector) => write!(out, "request:{selector}"),
            Placeholder::Response(selector) => write!(out, "response:{selector}"),
            Placeholder::Filler(length) => write!(out, "filler:{length}"),
        }
    }
}

/// The names that are built in, for messages and for the environment of commands.
pub const BUILT_IN: [&str; 13] = [
    "marker",
    "unique",
    "key",
    "uuid",
    "now",
    "today",
    "run",
    "run.started",
    "port",
    "seconds",
    "identity",
    "given.identity",
    "token",
];

/// A piece of a string before its names are looked up.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it is; `$${` has become `${`.
    Text(&'a str),
    /// What stands between `${` and `}`.
    Name(&'a str),
}

/// Splits a string into text and names. The error is a message and the byte where it applies.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, (String, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('$').map(|found| at + found) {
        let rest = &text[found..];
        if rest.starts_with("$${") {
            pieces.push(Piece::Text(&text[start..found]));
            start = found + 1;
            at = found + 3;
            continue;
        }
        if rest.starts_with("${{") {
            return Err((wrong_style(rest), found));
        }
        if !rest.starts_with("${") {
            at = found + 1;
            continue;
        }
        let end = closing_brace(&rest[2..]).ok_or_else(|| {
            let message = "a placeholder without its closing brace: write ${name}, or $${ for the text itself";
            (message.to_string(), found)
        })?;
        pieces.push(Piece::Text(&text[start..found]));
        pieces.push(Piece::Name(&rest[2..2 + end]));
        start = found + 2 + end + 1;
        at = start;
    }
    pieces.push(Piece::Text(&text[start..]));
    pieces.retain(|piece| *piece != Piece::Text(""));
    Ok(pieces)
}

/// Where the brace stands that ends a placeholder: selectors may hold braces in quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut quote = None;
    let selects = text.starts_with("request:") || text.starts_with("response:");
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') if selects => quote = Some(letter),
            (None, '}') => return Some(at),
            (None, _) => {}
        }
    }
    None
}

fn wrong_style(text: &str) -> String {
    let inner = text
        .trim_start_matches(['$', '{'])
        .split('}')
        .next()
        .unwrap_or_default()
        .trim();
    format!("placeholders are ${{{inner}}}, not ${{{{{inner}}}}}")
}

/// A message about placeholders of other tools, with the byte where they stand: `{{x}}` of Postman,
/// Bruno and Hurl, `$response.body#/x` of Arazzo and OpenAPI links.
pub fn foreign_style(text: &str) -> Option<(String, usize)> {
    if let Some(at) = text.find("{{")
        && let Some(length) = text[at..].find("}}")
    {
        let inner = text[at + 2..at + length].trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !inner.is_empty() && inner.chars().all(plain) {
            return Some((format!("placeholders are ${{{inner}}}, not {{{{{inner}}}}}"), at));
        }
    }
    for side in ["response", "request"] {
        let body = format!("${side}.body");
        if let Some(at) = text.find(&body) {
            let rest = &text[at + body.len()..];
            let pointer: String = rest
                .strip_prefix('#')
                .unwrap_or_default()
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-'))
                .collect();
            let path = pointer.replace('/', ".");
            return Some((format!("here: ${{{side}:${path}}}"), at));
        }
        let header = format!("${side}.header.");
        if let Some(at) = text.find(&header) {
            let name: String = text[at + header.len()..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '-')
                .collect();
            return Some((format!("here: ${{{side}:header.{name}}}"), at));
        }
    }
    None
}

/// Parses `now`, `now+1h`, `today-7d`; `None` if it is none of these at all.
pub fn time_shift(name: &str) -> Option<Result<TimeShift, String>> {
    let (date_only, rest) = match (name.strip_prefix("now"), name.strip_prefix("today")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    let shift = |back, by| TimeShift {
        date_only,
        back,
        by,
    };
    match rest.split_at_checked(1) {
        None => Some(Ok(shift(false, Duration::ZERO))),
        Some(("+", by)) => Some(duration::parse(by).map(|by| shift(false, by))),
        Some(("-", by)) => Some(duration::parse(by).map(|by| shift(true, by))),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Piece<'_>> {
        pieces(text).expect("well formed")
    }

    #[test]
    fn text_and_names_alternate() {
        assert_eq!(
            names("a-${unique}/${env.X:-d}!"),
            [
                Piece::Text("a-"),
                Piece::Name("unique"),
                Piece::Text("/"),
                Piece::Name("env.X:-d"),
                Piece::Text("!")
            ]
        );
        assert_eq!(names("$5 and $.a"), [Piece::Text("$5 and $.a")]);
        assert_eq!(names(""), []);
    }

    #[test]
    fn a_doubled_dollar_is_literal() {
        let text: String = names("a $${b} c")
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Name(_) => panic!("no placeholder here"),
            })
            .collect();
        assert_eq!(text, "a ${b} c");
    }

    #[test]
    fn braces_in_quotes_of_a_selector_do_not_end_it() {
        assert_eq!(
            names("${request:$['a}b']}x"),
            [Piece::Name("request:$['a}b']"), Piece::Text("x")]
        );
    }

    #[test]
    fn an_open_placeholder_is_refused_at_its_place() {
        assert_eq!(pieces("ab${c").expect_err("open").1, 2);
    }

    #[test]
    fn placeholders_of_other_tools_get_ours() {
        let (message, at) = pieces("x ${{ env.host }}").expect_err("foreign");
        assert_eq!((message.as_str(), at), ("placeholders are ${env.host}, not ${{env.host}}", 2));
        assert_eq!(
            foreign_style("a {{token}}"),
            Some(("placeholders are ${token}, not {{token}}".to_string(), 2))
        );
        assert_eq!(
            foreign_style("$response.body#/data/id"),
            Some(("here: ${response:$.data.id}".to_string(), 0))
        );
        assert_eq!(
            foreign_style("$response.header.Location"),
            Some(("here: ${response:header.Location}".to_string(), 0))
        );
        assert_eq!(foreign_style("{ locations(first: 1) { nodes { id } } }"), None);
        assert_eq!(foreign_style("mutation {{ a b }}"), None);
    }

    #[test]
    fn times_are_shifted_in_both_directions() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(12 * 3600);
        let text = |name| {
            time_shift(name)
                .expect("a time")
                .expect("a good one")
                .text(noon)
        };
        assert_eq!(text("now"), "1970-01-01T12:00:00Z");
        assert_eq!(text("now+1h"), "1970-01-01T13:00:00Z");
        assert_eq!(text("today+7d"), "1970-01-08");
        assert_eq!(text("today"), "1970-01-01");
        assert_eq!(text("now-13h"), "1969-12-31T23:00:00Z".replace("1969-12-31T23", "1969-12-31T23"));
        assert!(time_shift("now+1").expect("a time").is_err());
        assert!(time_shift("nowhere").is_none());
    }

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
