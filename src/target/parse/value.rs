//! Scalars and templates: text, numbers, durations, selectors, matchers, placeholders, trees.

use std::time::Duration;

use crate::yaml::Diagnostic;
use crate::yaml::Node;
use crate::yaml::Span;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::context::Site;
use super::reader::Reader;
use crate::target::duration;
use crate::target::matcher::Condition;
use crate::target::matcher::Match;
use crate::target::matcher::Wants;
use crate::target::placeholder::Part;
use crate::target::selector::Selector;
use crate::target::selector::SelectorTemplate;
use crate::target::syntax;

impl Reader<'_> {
    /// The text of a scalar, numbers as they are written.
    pub(super) fn scalar_text(&self, node: &Node, what: &str) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) => {
                let written = node.span.text();
                let same = written.parse::<f64>().ok() == number.as_f64();
                Some(if same {
                    written.to_string()
                } else {
                    number.to_string()
                })
            }
            Value::Null | Value::List(_) | Value::Map(_) => {
                let found = match node.value {
                    Value::List(_) => "a list",
                    Value::Map(_) => "a map",
                    _ => "nothing",
                };
                self.error(
                    &node.span,
                    format!("{what} is one value, and this is {found}"),
                );
                None
            }
        }
    }

    /// Text that is needed when the file is loaded; only `${env.X}` may stand in it.
    pub(super) fn text(&self, node: &Node, what: &str) -> Option<String> {
        let text = self.scalar_text(node, what)?;
        let template = self.template_of(&text, &node.span, PartOfFile::Loading.site());
        template.as_literal().map(str::to_string)
    }

    /// `true` or `false`.
    pub(super) fn truth(&self, node: &Node, what: &str) -> Option<bool> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => {
                self.error(&node.span, format!("{what} is true or false"));
                None
            }
        }
    }

    /// A whole number from zero.
    pub(super) fn count(&self, node: &Node, what: &str) -> Option<u64> {
        let count = match &node.value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        };
        if count.is_none() {
            self.error(&node.span, format!("{what} is a whole number"));
        }
        count
    }

    /// Any number.
    pub(super) fn number(&self, node: &Node, what: &str) -> Option<f64> {
        let number = match &node.value {
            Value::Number(number) => number.as_f64(),
            _ => None,
        };
        if number.is_none() {
            self.error(&node.span, format!("{what} is a number"));
        }
        number
    }

    /// A duration with its unit.
    pub(super) fn duration(&self, node: &Node, what: &str) -> Option<Duration> {
        let text = self.scalar_text(node, what)?;
        duration::parse(&text)
            .map_err(|message| self.error(&node.span, message))
            .ok()
    }

    /// One item or a list of them.
    pub(super) fn one_or_many<'n>(&self, node: &'n Node) -> Vec<&'n Node> {
        match &node.value {
            Value::List(items) => items.iter().collect(),
            _ => vec![node],
        }
    }

    /// A selector without placeholders.
    pub(super) fn selector(&self, node: &Node) -> Option<Selector> {
        let text = self.scalar_text(node, "a selector")?;
        self.selector_of(&text, &node.span)
    }

    pub(super) fn selector_of(&self, text: &str, span: &Span) -> Option<Selector> {
        if text.contains("${") {
            self.error(
                span,
                "placeholders in selectors have a value in `effects` only",
            );
            return None;
        }
        if let Some((message, _)) = syntax::foreign_style(text) {
            self.error(span, message);
            return None;
        }
        Selector::parse(text)
            .map_err(|error| {
                let problem = Diagnostic::error(error.message).at(span.clone());
                self.report(match error.help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
            })
            .ok()
    }

    /// One selector or a list of them.
    pub(super) fn selectors(&self, node: &Node) -> Vec<Selector> {
        if node.as_list().is_some_and(<[Node]>::is_empty) {
            self.error(&node.span, "the list is empty: leave the line out");
        }
        self.one_or_many(node)
            .into_iter()
            .filter_map(|item| self.selector(item))
            .collect()
    }

    /// A selector whose JSONPath may hold placeholders. It is tried with a stand-in for each.
    pub(super) fn selector_template(&self, node: &Node, site: Site) -> Option<SelectorTemplate> {
        let text = self.scalar_text(node, "a selector")?;
        if !text.contains("${") {
            return self
                .selector_of(&text, &node.span)
                .map(SelectorTemplate::Fixed);
        }
        let template = self.template_of(&text, &node.span, site);
        let tried: String = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Placeholder(_) => "x",
            })
            .collect();
        match self.selector_of(&tried, &node.span)? {
            Selector::Json(_) => Some(SelectorTemplate::Json(template)),
            fixed => Some(SelectorTemplate::Fixed(fixed)),
        }
    }

    /// Conditions on a response.
    pub(super) fn matcher(&self, node: &Node, what: &str) -> Option<Match> {
        if node.as_map().is_none() {
            let written = node.span.text();
            self.report(
                Diagnostic::error(format!(
                    "{what} is a map from what is looked at to what it is"
                ))
                .at(node.span.first_line())
                .help(match written.parse::<u16>() {
                    Ok(status) => format!("{what}: {{ status: {status} }}"),
                    Err(_) => format!("such as {what}: {{ status: 201, $.state: done }}"),
                }),
            );
            return None;
        }
        let entries = self.entries(node, what);
        let conditions: Vec<Condition> = entries
            .iter()
            .filter_map(|entry| {
                let selector = self.selector_of(&entry.key, &entry.key_span)?;
                if selector == Selector::Status {
                    self.check_statuses(&entry.value);
                }
                Some(Condition {
                    selector,
                    wants: self.wants(&entry.value)?,
                })
            })
            .collect();
        (!conditions.is_empty()).then_some(Match { conditions })
    }

    /// Refuses numbers that no status can be.
    fn check_statuses(&self, node: &Node) {
        for item in self.one_or_many(node) {
            if let Value::Number(number) = &item.value
                && !number
                    .as_u64()
                    .is_some_and(|status| (100..600).contains(&status))
            {
                let message = format!("{number} is no status: they are 100 to 599");
                self.error(&item.span, message);
            }
        }
    }

    pub(super) fn wants(&self, node: &Node) -> Option<Wants> {
        match &node.value {
            Value::Bool(_) | Value::Number(_) => Some(Wants::Equal(node.to_json())),
            Value::Text(_) => {
                let text = self.text(node, "a matcher")?;
                Wants::parse(&text)
                    .map_err(|message| self.error(&node.span, message))
                    .ok()
            }
            Value::List(items) if !items.is_empty() => items
                .iter()
                .map(|item| self.wants(item))
                .collect::<Option<Vec<Wants>>>()
                .map(Wants::AnyOf),
            Value::Null | Value::List(_) | Value::Map(_) => {
                self.error(
                    &node.span,
                    "unknown matcher: values are a scalar, a list (any of), /regex/, present, absent, or 2xx",
                );
                None
            }
        }
    }
}
