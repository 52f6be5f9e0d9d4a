//! Looking things up in a tree of nodes.

use super::{Entry, Node, Span, Value};

impl Span {
    /// The marked part of the source, as it is written there.
    pub fn text(&self) -> &str {
        self.source.text.get(self.start..self.end).unwrap_or("")
    }

    /// The part of this span that stands on its first line, without trailing blanks.
    pub fn first_line(&self) -> Span {
        let line = self.text().lines().next().unwrap_or("").trim_end();
        Span {
            source: self.source.clone(),
            start: self.start,
            end: self.start + line.len(),
        }
    }

    /// The line and the column of the first byte, both from 1; the column counts characters.
    pub fn line_column(&self) -> (usize, usize) {
        let before = self.source.text.get(..self.start).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let line_before = before[line_start..].trim_start_matches('\u{feff}');
        (line, line_before.chars().count() + 1)
    }
}

impl Node {
    /// The value of `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The node that `pointer` leads to: keys and list positions from 0, parted by `/`, such as
    /// `steps/0/send/like`. `~1` stands for a `/` within a key and `~0` for a `~`, as in JSON
    /// Pointer (RFC 6901). A leading `/` may be left out; the empty pointer is this node.
    pub fn at(&self, pointer: &str) -> Option<&Node> {
        let mut node = self;
        for part in parts(pointer) {
            node = match &node.value {
                Value::Map(_) => node.get(&unescape(part))?,
                Value::List(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// Where the key stands that is the last part of `pointer`; `None` for list entries.
    pub fn key_at(&self, pointer: &str) -> Option<Span> {
        let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        let entry = self.at(parent)?.entry(&unescape(last))?;
        Some(entry.key_span.clone())
    }

    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries, if this is a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The same value as JSON, in the same order, without the places.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => serde_json::Value::Bool(*value),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::Text(text) => serde_json::Value::String(text.clone()),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.to_json()))
                .collect(),
        }
    }

    /// Calls `visit` for this node and everything below it, parents first and in the order of
    /// the file, with the pointer that [`Node::at`] takes.
    pub fn walk(&self, visit: &mut dyn FnMut(&str, &Node)) {
        self.walk_below(&mut String::new(), visit);
    }

    fn walk_below(&self, pointer: &mut String, visit: &mut dyn FnMut(&str, &Node)) {
        visit(pointer, self);
        let mut step = |part: &str, node: &Node| {
            let length = pointer.len();
            if length > 0 {
                pointer.push('/');
            }
            pointer.push_str(part);
            node.walk_below(pointer, visit);
            pointer.truncate(length);
        };
        match &self.value {
            Value::List(items) => {
                for (position, item) in items.iter().enumerate() {
                    step(&position.to_string(), item);
                }
            }
            Value::Map(entries) => {
                for entry in entries {
                    step(&escape(&entry.key), &entry.value);
                }
            }
            _ => {}
        }
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }
}

fn parts(pointer: &str) -> impl Iterator<Item = &str> {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split('/').filter(move |_| !pointer.is_empty())
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
