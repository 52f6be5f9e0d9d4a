//! Maps while they are read: keys may stand once only, and `<<` merges other maps.

use std::collections::{HashMap, HashSet};

use super::{Diagnostic, Entry, Node, Span, Value};

/// A map whose end has not been seen.
#[derive(Default)]
pub(super) struct Mapping {
    entries: Vec<Entry>,
    positions: HashMap<String, usize>,
    /// The key whose value comes next.
    pub(super) key: Option<(Key, Span)>,
    /// `<<` with where it stood among the entries.
    merge: Option<(usize, Span, Vec<Entry>)>,
}

/// What stands before a `:`.
pub(super) enum Key {
    Text(String),
    Merge,
}

impl Mapping {
    /// Takes what stands before a `:`; `key` is `None` when that is no text.
    pub(super) fn set_key(
        &mut self,
        key: Option<String>,
        span: Span,
        merge: bool,
    ) -> Result<(), Diagnostic> {
        if merge {
            if let Some((_, first, _)) = &self.merge {
                return Err(Diagnostic::error("a second `<<` in the same map")
                    .at(span)
                    .related(first.clone(), "the first one")
                    .help("merge several maps with one list: `<<: [*a, *b]`"));
            }
            self.key = Some((Key::Merge, span));
            return Ok(());
        }
        let Some(key) = key else {
            return Err(not_a_key(span));
        };
        if let Some(&position) = self.positions.get(&key) {
            return Err(Diagnostic::error(format!("the key `{key}` is here twice"))
                .at(span)
                .related(self.entries[position].key_span.clone(), "the first one")
                .help("remove one of the two"));
        }
        self.key = Some((Key::Text(key), span));
        Ok(())
    }

    /// Takes the value of the key that came last.
    pub(super) fn set_value(
        &mut self,
        key: Key,
        key_span: Span,
        value: Node,
    ) -> Result<(), Diagnostic> {
        match key {
            Key::Text(key) => {
                self.positions.insert(key.clone(), self.entries.len());
                self.entries.push(Entry {
                    key,
                    key_span,
                    value,
                });
            }
            Key::Merge => {
                let merged = entries_to_merge(value)?;
                self.merge = Some((self.entries.len(), key_span, merged));
            }
        }
        Ok(())
    }

    /// The entries with those of `<<` in its place; a map's own keys win.
    pub(super) fn merged(mut self) -> Vec<Entry> {
        let Some((position, _, merged)) = self.merge.take() else {
            return self.entries;
        };
        let mut seen: HashSet<String> = self.positions.into_keys().collect();
        let new: Vec<Entry> = merged
            .into_iter()
            .filter(|entry| seen.insert(entry.key.clone()))
            .collect();
        self.entries.splice(position..position, new);
        self.entries
    }
}

/// What `<<: value` brings: the entries of one map, or of a list of maps of which earlier win.
fn entries_to_merge(value: Node) -> Result<Vec<Entry>, Diagnostic> {
    let refuse = |span: Span| {
        Diagnostic::error("`<<` merges maps, and this is none")
            .at(span)
            .help("write `<<: *name` with a map that is marked `&name`, or `<<: [*a, *b]`")
    };
    match value.value {
        Value::Map(entries) => Ok(entries),
        Value::List(items) => {
            let mut all = Vec::new();
            for item in items {
                match item.value {
                    Value::Map(entries) => all.extend(entries),
                    _ => return Err(refuse(item.span)),
                }
            }
            Ok(all)
        }
        _ => Err(refuse(value.span)),
    }
}

/// The key that a node is: its text, or for numbers and such what is written there.
pub(super) fn key_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::List(_) | Value::Map(_) => None,
        _ => Some(node.span.text().to_owned()).filter(|written| !written.is_empty()),
    }
}

fn not_a_key(span: Span) -> Diagnostic {
    if span.text().is_empty() {
        return Diagnostic::error("a key is missing before the `:`")
            .at(span)
            .help("write `key: value`");
    }
    Diagnostic::error("a key must be text, not a list or a map")
        .at(span)
        .help("a plain value that begins with { or [ is a map or a list: quote it if it is text")
}
