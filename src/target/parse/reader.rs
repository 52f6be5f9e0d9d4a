//! What all parts of the parser share: the problems found so far, the names that are known, and a
//! reader of maps that refuses unknown fields.

use std::cell::RefCell;

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Severity;
use crate::yaml::Span;
use crate::yaml::Value;
use crate::yaml::nearest;

use super::Environment;
use super::Options;
use crate::target::secret::SecretValue;

/// The state of one parse. Problems are reported and parsing goes on.
pub(super) struct Reader<'a> {
    /// The whole document.
    pub(super) document: &'a Node,
    /// The command line.
    pub(super) options: &'a Options,
    /// The surroundings.
    pub(super) environment: &'a dyn Environment,
    problems: RefCell<Vec<Diagnostic>>,
    secrets: RefCell<Vec<SecretValue>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        document: &'a Node,
        options: &'a Options,
        environment: &'a dyn Environment,
    ) -> Self {
        Reader {
            document,
            options,
            environment,
            problems: RefCell::default(),
            secrets: RefCell::default(),
        }
    }

    /// Keeps a problem.
    pub(super) fn report(&self, problem: Diagnostic) {
        self.problems.borrow_mut().push(problem);
    }

    /// Keeps an error with its place.
    pub(super) fn error(&self, span: &Span, message: impl Into<String>) {
        self.report(Diagnostic::error(message).at(span.clone()));
    }

    /// Whether something within this place is wrong already, so that what follows from it need not
    /// be told.
    pub(super) fn is_wrong(&self, place: &Span) -> bool {
        self.problems.borrow().iter().any(|problem| {
            problem.severity == Severity::Error
                && problem.span.as_ref().is_some_and(|span| {
                    span.source == place.source
                        && span.start >= place.start
                        && span.end <= place.end
                })
        })
    }

    /// Keeps a warning with its place.
    pub(super) fn warning(&self, span: &Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(message).at(span.clone()));
    }

    /// Refuses a name that is none of the known ones.
    pub(super) fn unknown(&self, span: &Span, kind: &str, name: &str, known: &[&str]) {
        let problem = Diagnostic::error(format!("unknown {kind} `{name}`")).at(span.clone());
        self.report(match nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => problem,
            None => problem.help(format!("known: {}", known.join(", "))),
        });
    }

    /// Keeps a secret for masking.
    pub(super) fn keep_secret(&self, secret: &SecretValue) {
        let mut secrets = self.secrets.borrow_mut();
        // An empty default is nothing that could be masked.
        if !secret.reveal().is_empty() && !secrets.contains(secret) {
            secrets.push(secret.clone());
        }
    }

    /// All secrets met so far.
    pub(super) fn secrets(&self) -> Vec<SecretValue> {
        self.secrets.borrow().clone()
    }

    /// All problems, in the order in which they were found, each once.
    pub(super) fn into_problems(self) -> Vec<Diagnostic> {
        let mut problems: Vec<Diagnostic> = Vec::new();
        for problem in self.problems.into_inner() {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }

    /// The names below a top key, such as those of `vars`.
    pub(super) fn names(&self, section: &str) -> Vec<&'a str> {
        let section = self.document.get(section).and_then(Node::as_map);
        section
            .unwrap_or_default()
            .iter()
            .map(|entry| entry.key.as_str())
            .collect()
    }

    /// The entries of a map; anything else is refused.
    pub(super) fn entries<'n>(&self, node: &'n Node, what: &str) -> &'n [Entry] {
        match &node.value {
            Value::Map(entries) => entries,
            _ => {
                let found = match &node.value {
                    Value::Null => "nothing",
                    Value::Bool(_) | Value::Number(_) | Value::Text(_) => "a single value",
                    Value::List(_) | Value::Map(_) => "a list",
                };
                let problem = Diagnostic::error(format!("{what} is a map, and this is {found}"))
                    .at(node.span.first_line());
                let glued = node.as_text().and_then(|text| text.split_once(':'));
                self.report(match glued {
                    Some((key, value)) if !key.contains(' ') && !value.starts_with("//") => {
                        problem.help(format!("a blank belongs after the `:`: {key}: {value}"))
                    }
                    _ => problem,
                });
                &[]
            }
        }
    }

    /// Two fields of a map that both have to be there. Where a field was misspelled, `sound` is false
    /// and nothing is told of what is missing. `help` shows the whole; it may be empty.
    pub(super) fn both<'n>(
        &self,
        node: &Node,
        what: &str,
        [one, other]: [(&str, Option<&'n Node>); 2],
        sound: bool,
        help: &str,
    ) -> Option<(&'n Node, &'n Node)> {
        if let (Some(one), Some(other)) = (one.1, other.1) {
            return Some((one, other));
        }
        if sound {
            let message = format!("{what} needs `{}` and `{}`", one.0, other.0);
            let problem = Diagnostic::error(message).at(node.span.first_line());
            self.report(match help {
                "" => problem,
                help => problem.help(help),
            });
        }
        None
    }

    /// A reader of one map's fields.
    pub(super) fn fields<'r, 'n>(&'r self, node: &'n Node, what: &'r str) -> Fields<'r, 'n> {
        Fields {
            problems: &self.problems,
            what,
            entries: self.entries(node, what),
            is_map: matches!(node.value, Value::Map(_)),
            known: Vec::new(),
            refused: Vec::new(),
        }
    }
}

/// Takes fields of a map one by one; what is left is refused.
pub(super) struct Fields<'r, 'n> {
    problems: &'r RefCell<Vec<Diagnostic>>,
    what: &'r str,
    entries: &'n [Entry],
    is_map: bool,
    known: Vec<&'static str>,
    /// Fields whose feature is not built.
    refused: Vec<&'static str>,
}

impl<'n> Fields<'_, 'n> {
    /// The value of a field; null is like nothing.
    pub(super) fn take(&mut self, name: &'static str) -> Option<&'n Node> {
        self.take_entry(name).map(|entry| &entry.value)
    }

    /// The field with the place of its name; null is like nothing.
    pub(super) fn take_entry(&mut self, name: &'static str) -> Option<&'n Entry> {
        self.known.push(name);
        self.find(name)
    }

    fn find(&self, name: &str) -> Option<&'n Entry> {
        self.entries
            .iter()
            .find(|entry| entry.key == name && entry.value.value != Value::Null)
    }

    /// Refuses a field that has no place here, and says why.
    pub(super) fn refuse(&mut self, name: &'static str, message: &str) {
        self.refused.push(name);
        if let Some(entry) = self.find(name) {
            self.problems
                .borrow_mut()
                .push(Diagnostic::error(message).at(entry.key_span.clone()));
        }
    }

    /// Refuses a field whose feature is not built.
    pub(super) fn unsupported(&mut self, name: &'static str) {
        self.refuse(name, &format!("`{name}` is not supported yet"));
    }

    /// Refuses all fields that nobody took. Whether there were none, so that what is missing is
    /// missing, and not misspelled.
    pub(super) fn finish(self) -> bool {
        let mut sound = self.is_map;
        for entry in self.entries {
            let key = entry.key.as_str();
            if self.known.contains(&key) || self.refused.contains(&key) {
                continue;
            }
            sound = false;
            let message = format!("unknown field `{}` in {}", entry.key, self.what);
            let problem = Diagnostic::error(message).at(entry.key_span.clone());
            let problem = match nearest(&entry.key, self.known.iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("fields are {}", self.known.join(", "))),
            };
            self.problems.borrow_mut().push(problem);
        }
        sound
    }
}
