//! Matchers: what selected parts of a response must be.

use std::fmt;

use regex::Regex;
use serde_json::Value;

use super::selector::Answer;
use super::selector::Selector;
use crate::yaml::in_one_line;

/// Conditions on a response; all must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The conditions, in the order of the file.
    pub conditions: Vec<Condition>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// What is looked at.
    pub selector: Selector,
    /// What it must be.
    pub wants: Wants,
}

/// What a selected part must be.
#[derive(Clone, Debug)]
pub enum Wants {
    /// This scalar.
    Equal(Value),
    /// Any of these.
    AnyOf(Vec<Wants>),
    /// Text that the expression matches somewhere.
    Pattern(Regex),
    /// There must be something.
    Present,
    /// There must be nothing; null counts as nothing.
    Absent,
    /// A status of this hundred: `2` is `2xx`.
    Class(u16),
}

impl Match {
    /// `{status: 2xx}`, what success is where the target says nothing else.
    pub fn success() -> Match {
        Match {
            conditions: vec![Condition {
                selector: Selector::Status,
                wants: Wants::Class(2),
            }],
        }
    }

    /// Whether all conditions hold.
    pub fn holds(&self, answer: &Answer<'_>) -> bool {
        self.conditions
            .iter()
            .all(|condition| condition.holds(answer))
    }
}

impl Condition {
    /// Whether the condition holds.
    pub fn holds(&self, answer: &Answer<'_>) -> bool {
        self.wants.met_by(&self.selector.select(answer))
    }
}

impl Wants {
    /// Parses a text of a matcher: a class, `present`, `absent`, `/regex/`, or the text itself.
    pub fn parse(text: &str) -> Result<Wants, String> {
        match text {
            "present" => return Ok(Wants::Present),
            "absent" => return Ok(Wants::Absent),
            _ => {}
        }
        if let Some(hundred) = text.strip_suffix("xx")
            && let Ok(hundred @ 1..=5) = hundred.parse()
        {
            return Ok(Wants::Class(hundred));
        }
        let inside = text
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
            .filter(|inside| !inside.is_empty());
        match inside {
            Some(expression) => Regex::new(expression).map(Wants::Pattern).map_err(|error| {
                let why = in_one_line(&error);
                format!("`{text}` is no regular expression: {why}")
            }),
            None => Ok(Wants::Equal(Value::String(text.to_string()))),
        }
    }

    fn met_by(&self, found: &[Value]) -> bool {
        match self {
            Wants::Equal(wanted) => found.iter().any(|value| same(wanted, value)),
            Wants::AnyOf(options) => options.iter().any(|option| option.met_by(found)),
            Wants::Pattern(expression) => found
                .iter()
                .any(|value| expression.is_match(&text_of(value))),
            Wants::Present => found.iter().any(|value| !value.is_null()),
            Wants::Absent => found.iter().all(Value::is_null),
            Wants::Class(hundred) => found
                .iter()
                .filter_map(Value::as_u64)
                .any(|status| status / 100 == u64::from(*hundred)),
        }
    }
}

/// Expressions are compared by their text, since compiled ones cannot be.
impl PartialEq for Wants {
    fn eq(&self, other: &Wants) -> bool {
        match (self, other) {
            (Wants::Equal(a), Wants::Equal(b)) => a == b,
            (Wants::AnyOf(a), Wants::AnyOf(b)) => a == b,
            (Wants::Pattern(a), Wants::Pattern(b)) => a.as_str() == b.as_str(),
            (Wants::Class(a), Wants::Class(b)) => a == b,
            (Wants::Present, Wants::Present) | (Wants::Absent, Wants::Absent) => true,
            _ => false,
        }
    }
}

/// The match as `status: 2xx, $.errors: absent`.
impl fmt::Display for Match {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, condition) in self.conditions.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(
                out,
                "{separator}{}: {}",
                condition.selector, condition.wants
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Wants {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wants::Equal(value) => out.write_str(&text_of(value)),
            Wants::AnyOf(options) => {
                let options: Vec<String> = options.iter().map(Wants::to_string).collect();
                write!(out, "[{}]", options.join(", "))
            }
            Wants::Pattern(expression) => write!(out, "/{expression}/"),
            Wants::Present => out.write_str("present"),
            Wants::Absent => out.write_str("absent"),
            Wants::Class(hundred) => write!(out, "{hundred}xx"),
        }
    }
}

/// Whether a response's value is the wanted one: numbers by value, and a text that stands for a
/// number or a truth value (headers are always text) by what it says.
fn same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Number(_) | Value::Bool(_), Value::String(text)) => text_of(wanted) == *text,
        _ => wanted == found,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(selector: &str, wants: Wants, body: &str) -> bool {
        let headers = [("X-Count".to_string(), b"5".to_vec())];
        Condition {
            selector: Selector::parse(selector).expect("a selector"),
            wants,
        }
        .holds(&Answer {
            status: 202,
            headers: &headers,
            body: body.as_bytes(),
        })
    }

    fn wants(text: &str) -> Wants {
        Wants::parse(text).expect("a matcher")
    }

    #[test]
    fn every_kind_of_matcher_decides() {
        let body = r#"{"status":"done","n":2.0,"nil":null}"#;
        assert!(holds("status", wants("2xx"), body));
        assert!(!holds("status", wants("4xx"), body));
        assert!(holds("$.status", wants("done"), body));
        assert!(holds("$.status", wants("/^d.n/"), body));
        assert!(holds("$.n", Wants::Equal(json!(2)), body));
        assert!(holds("header.x-count", Wants::Equal(json!(5)), body));
        assert!(holds(
            "$.status",
            Wants::AnyOf(vec![wants("failed"), wants("done")]),
            body
        ));
        assert!(!holds(
            "$.status",
            Wants::AnyOf(vec![wants("failed")]),
            body
        ));
    }

    #[test]
    fn null_counts_as_absent() {
        let body = r#"{"errors":null,"id":"x"}"#;
        assert!(holds("$.errors", Wants::Absent, body));
        assert!(holds("$.nothing", Wants::Absent, body));
        assert!(!holds("$.errors", Wants::Present, body));
        assert!(holds("$.id", Wants::Present, body));
        assert!(!holds("$.id", Wants::Absent, body));
    }

    #[test]
    fn a_broken_expression_is_refused() {
        assert!(Wants::parse("/(/").is_err());
        assert_eq!(wants("/"), Wants::Equal(json!("/")));
        assert_eq!(wants("9xx"), Wants::Equal(json!("9xx")));
    }
}
