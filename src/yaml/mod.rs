//! YAML as a tree whose every node knows its place in the source, so that every message about a
//! file can point at the line. It knows nothing of targets or scenarios.

mod complaint;
mod decode;
mod diagnostic;
mod failure;
mod flow;
mod key;
mod kind;
mod mapping;
mod node;
mod parse;
mod placed;
mod scalar;

use std::sync::Arc;

pub use decode::decode;
pub use diagnostic::{Diagnostic, Severity, in_one_line, nearest};
pub use parse::parse;
pub use placed::Placed;

/// A file's name, as the user wrote it, and its text.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name that messages show.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A byte range in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The file that the range is in.
    pub source: Arc<Source>,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One value of a YAML document, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value stands.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// The kinds of YAML values, after the resolution of plain scalars (YAML 1.2 core schema).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`; `yes` and `no` are text.
    Bool(bool),
    /// An integer or a float.
    Number(serde_json::Number),
    /// Text; dates and numbers with leading zeros are text.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file. Keys are text.
    Map(Vec<Entry>),
}

/// One `key: value` of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

#[cfg(test)]
mod tests;
