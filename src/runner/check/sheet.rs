//! The lines of a check while they are written, each with its place in the target file.

use crate::runner::world::World;
use crate::target_check::{CheckedLine, Mark, TargetCheck};
use crate::transcript::{Exchange, Response};
use std::time::Duration;

/// Lines about one operation after another.
pub(super) struct Sheet<'a> {
    world: &'a World,
    operation: String,
    lines: Vec<CheckedLine>,
}

impl<'a> Sheet<'a> {
    /// A sheet on which nothing stands yet.
    pub(super) fn new(world: &'a World) -> Sheet<'a> {
        Sheet {
            world,
            operation: String::new(),
            lines: Vec::new(),
        }
    }

    /// What follows is about this operation.
    pub(super) fn turn_to(&mut self, operation: &str) {
        operation.clone_into(&mut self.operation);
    }

    /// An empty sheet about the same operation, for what is found at the same time.
    pub(super) fn apart(&self) -> Sheet<'a> {
        Sheet {
            operation: self.operation.clone(),
            ..Sheet::new(self.world)
        }
    }

    /// Adds what was found at the same time.
    pub(super) fn add(&mut self, apart: Sheet<'_>) {
        self.lines.extend(apart.lines);
    }

    pub(super) fn into_check(self) -> TargetCheck {
        TargetCheck { lines: self.lines }
    }

    pub(super) fn is_useless(&self) -> bool {
        self.lines.iter().any(|line| line.mark == Mark::Useless)
    }

    /// Writes a line. `pointer` leads to what the file says, from the operation if there is one; with
    /// a `/` before it, from the top.
    pub(super) fn line(&mut self, name: &str, mark: Mark, says: impl Into<String>, pointer: &str) {
        self.line_with_help(name, mark, says, None, pointer);
    }

    /// Writes a line that says what to do.
    pub(super) fn line_with_help(
        &mut self,
        name: &str,
        mark: Mark,
        says: impl Into<String>,
        help: Option<String>,
        pointer: &str,
    ) {
        let masker = &self.world.masker;
        self.lines.push(CheckedLine {
            operation: self.operation.clone(),
            name: name.to_owned(),
            mark,
            says: masker.mask(&says.into()),
            help: help.map(|help| masker.mask(&help)),
            place: self.place(pointer),
        });
    }

    /// The pointer to a field that operations inherit from the target; empty where neither has it.
    pub(super) fn inherited(&self, field: &str) -> String {
        let source = &self.world.target.source;
        let own = format!("operations/{}/{field}", escaped(&self.operation));
        if source.at(&own).is_some() {
            field.to_owned()
        } else if source.at(field).is_some() {
            format!("/{field}")
        } else {
            String::new()
        }
    }

    /// `acme.yaml:9`: the line of what the pointer leads to, or of the nearest thing around it.
    /// `None` where the file says nothing of it.
    fn place(&self, pointer: &str) -> Option<String> {
        if pointer.is_empty() {
            return None;
        }
        let source = &self.world.target.source;
        let mut pointer = match (self.operation.as_str(), pointer.strip_prefix('/')) {
            (_, Some(absolute)) => absolute.to_owned(),
            ("", None) => pointer.to_owned(),
            (operation, None) => format!("operations/{}/{pointer}", escaped(operation)),
        };
        loop {
            let span = source
                .key_at(&pointer)
                .or_else(|| source.at(&pointer).map(|node| node.span.clone()));
            if let Some(span) = span {
                let (line, _) = span.line_column();
                return Some(format!("{}:{line}", span.source.name));
            }
            pointer.truncate(pointer.rfind('/')?);
        }
    }
}

/// A name as a part of a pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// `40 ms`, `6.1 s`.
pub(super) fn in_words(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// Status and the beginning of the body, or how the request ended.
pub(super) fn answer(exchange: &Exchange) -> String {
    match &exchange.response {
        Some(response) => response_in_short(response),
        None => exchange.ending.says(),
    }
}

fn response_in_short(response: &Response) -> String {
    let flat: Vec<&str> = response.body.split_whitespace().collect();
    let flat = flat.join(" ");
    let mut body: String = flat.chars().take(160).collect();
    if body.len() < flat.len() {
        body.push('…');
    }
    format!("{} {body}", response.status).trim_end().to_owned()
}

pub(super) fn succeeded(exchange: &Exchange) -> bool {
    exchange
        .response
        .as_ref()
        .is_some_and(|response| response.success)
}

/// The identity that the response names.
pub(super) fn identity(exchange: &Exchange) -> Option<&str> {
    exchange.response.as_ref()?.identity.as_deref()
}
