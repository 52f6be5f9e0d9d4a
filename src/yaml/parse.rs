//! From text to nodes. The parser's events carry exact byte ranges; this file builds the tree,
//! expands aliases and merge keys, and keeps the limits that stop hostile files.

use std::collections::HashMap;
use std::sync::Arc;

use serde_saphyr::granit_parser::{
    self as granit, Event, Parser, ScalarStyle, StructureStyle, Tag,
};

use super::complaint::{complaint, offset};
use super::mapping::{Mapping, key_text};
use super::scalar;
use super::{Diagnostic, Node, Source, Span, Value};

const MAX_DEPTH: usize = 48;
const MAX_NODES: usize = 50_000;
const MAX_EVENTS: usize = 200_000;
const MAX_ALIASES: usize = 500;
/// A text this long weighs as much as one more node, so that aliases cannot multiply megabytes.
const BYTES_PER_NODE: usize = 1024;

/// Reads the one YAML document that `source` holds.
///
/// # Errors
/// When the text is no YAML, holds no document or more than one, repeats a key, or is nested
/// too deeply or too large.
pub fn parse(source: Arc<Source>) -> Result<Node, Diagnostic> {
    let options = granit::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder::new(source.clone());
    for (count, event) in Parser::new_from_str_with_options(&source.text, options).enumerate() {
        let (event, place) =
            event.map_err(|error| complaint(&source, &error, &builder.open_brackets()))?;
        let span = builder.span(place.start, place.end);
        let tag_place = place
            .tag_span()
            .map_or(span.clone(), |tag| builder.span(tag.start, tag.end));
        if count >= MAX_EVENTS {
            return Err(too_large(span));
        }
        builder.take(event, span, &tag_place)?;
    }
    builder.finish()
}

struct Builder {
    source: Arc<Source>,
    documents: usize,
    open: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchored>,
    weight: usize,
    /// The total weight of what anchors keep, for anchors may nest too.
    kept: usize,
    aliases: usize,
}

/// What an anchor stands for, with what one more copy of it costs.
struct Anchored {
    node: Node,
    weight: usize,
    depth: usize,
}

/// A list or map whose end has not been seen.
struct Frame {
    start: Span,
    flow: bool,
    anchor: usize,
    /// The total weight when it was opened.
    weight_before: usize,
    /// The deepest nesting below it, itself included.
    depth: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(Mapping),
}

impl Builder {
    fn new(source: Arc<Source>) -> Builder {
        Builder {
            source,
            documents: 0,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            weight: 0,
            kept: 0,
            aliases: 0,
        }
    }

    /// Where the `[` and `{` stand that are still open, from outside to inside.
    fn open_brackets(&self) -> Vec<usize> {
        let flow = self.open.iter().filter(|frame| frame.flow);
        flow.map(|frame| frame.start.start).collect()
    }

    fn span(&self, start: granit::Marker, end: granit::Marker) -> Span {
        let start = offset(&self.source.text, &start);
        Span {
            source: self.source.clone(),
            start,
            end: offset(&self.source.text, &end).max(start),
        }
    }

    /// Takes one event. `tag_place` is where its tag stands, if it has one.
    fn take(&mut self, event: Event<'_>, span: Span, tag_place: &Span) -> Result<(), Diagnostic> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Diagnostic::error("a second document starts here")
                        .at(span)
                        .help(
                            "one file holds one document: leave out the `---` or split the file",
                        ));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let span = as_written(span, style);
                let plain = style == ScalarStyle::Plain;
                let value = scalar_value(&text, plain, tag.as_deref(), &span, tag_place)?;
                // `<<` merges only when plain: quoted, it is an ordinary key.
                let merge = plain && tag.is_none() && text == "<<";
                let weight = 1 + text.len() / BYTES_PER_NODE;
                self.add_weight(weight, &span)?;
                let node = Node { span, value };
                self.remember(anchor, &node, weight, 0)?;
                self.place(node, 0, merge)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                check_tag(tag.as_deref(), "seq", tag_place)?;
                let start = match style {
                    StructureStyle::Block => from_first_dash(span),
                    StructureStyle::Flow => span,
                };
                self.open(style, anchor, start, Content::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                check_tag(tag.as_deref(), "map", tag_place)?;
                self.open(style, anchor, span, Content::Map(Mapping::default()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            Event::Alias(anchor) => self.alias(anchor, span)?,
            _ => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        style: StructureStyle,
        anchor: usize,
        start: Span,
        content: Content,
    ) -> Result<(), Diagnostic> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(start));
        }
        let weight_before = self.weight;
        self.add_weight(1, &start)?;
        self.open.push(Frame {
            start,
            flow: style == StructureStyle::Flow,
            anchor,
            weight_before,
            depth: 1,
            content,
        });
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Diagnostic> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        let mut span = frame.start;
        if frame.flow {
            span.end = end.end;
        }
        let value = match frame.content {
            Content::List(items) => {
                if let (false, Some(last)) = (frame.flow, items.last()) {
                    span.end = span.end.max(last.span.end);
                }
                Value::List(items)
            }
            Content::Map(map) => {
                let entries = map.merged();
                if !frame.flow {
                    let own = entries.iter().filter(|e| e.key_span.start >= span.start);
                    let ends = own.map(|e| e.key_span.end.max(e.value.span.end));
                    span.end = ends.max().unwrap_or(span.end);
                }
                Value::Map(entries)
            }
        };
        let node = Node { span, value };
        let weight = self.weight - frame.weight_before;
        self.remember(frame.anchor, &node, weight, frame.depth)?;
        self.place(node, frame.depth, false)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Diagnostic> {
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            return Err(too_large(span));
        }
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(Diagnostic::error("this alias stands within its own anchor")
                .at(span)
                .help("a value cannot contain itself: move the alias out of it"));
        };
        let (weight, depth) = (anchored.weight, anchored.depth);
        if self.open.len() + depth > MAX_DEPTH {
            return Err(
                too_deep(span).related(anchored.node.span.first_line(), "what it stands for")
            );
        }
        if self.weight + weight > MAX_NODES {
            return Err(
                too_large(span).related(anchored.node.span.first_line(), "what it stands for")
            );
        }
        self.weight += weight;
        let node = Node {
            span,
            value: anchored.node.value.clone(),
        };
        let key = key_text(&anchored.node);
        match self.open.last_mut().map(|frame| &mut frame.content) {
            Some(Content::Map(map)) if map.key.is_none() => map.set_key(key, node.span, false),
            _ => self.place(node, depth, false),
        }
    }

    fn remember(
        &mut self,
        anchor: usize,
        node: &Node,
        weight: usize,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        if anchor == 0 {
            return Ok(());
        }
        self.kept += weight;
        if self.kept > MAX_NODES {
            return Err(too_large(node.span.first_line()));
        }
        let node = node.clone();
        let anchored = Anchored {
            node,
            weight,
            depth,
        };
        self.anchors.insert(anchor, anchored);
        Ok(())
    }

    fn add_weight(&mut self, weight: usize, span: &Span) -> Result<(), Diagnostic> {
        self.weight += weight;
        if self.weight > MAX_NODES {
            return Err(too_large(span.clone()));
        }
        Ok(())
    }

    /// Puts a finished node where it belongs: into the open list or map, or on top.
    fn place(&mut self, node: Node, depth: usize, merge: bool) -> Result<(), Diagnostic> {
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.depth = frame.depth.max(depth + 1);
        match &mut frame.content {
            Content::List(items) => {
                items.push(node);
                Ok(())
            }
            Content::Map(map) => match map.key.take() {
                Some((key, key_span)) => map.set_value(key, key_span, node),
                None => map.set_key(key_text(&node), node.span, merge),
            },
        }
    }

    fn finish(self) -> Result<Node, Diagnostic> {
        match self.root {
            Some(node) if node.value != Value::Null || !node.span.text().is_empty() => Ok(node),
            _ => {
                let span = Span {
                    source: self.source,
                    start: 0,
                    end: 0,
                };
                Err(Diagnostic::error("the file is empty")
                    .at(span)
                    .help("write at least one `key: value`"))
            }
        }
    }
}

fn scalar_value(
    text: &str,
    plain: bool,
    tag: Option<&Tag>,
    span: &Span,
    tag_place: &Span,
) -> Result<Value, Diagnostic> {
    let resolve = |text: &str| {
        scalar::resolve(text).map_err(|message| {
            Diagnostic::error(message)
                .at(span.clone())
                .help(format!("quote it if it is text: \"{text}\""))
        })
    };
    let Some(tag) = tag else {
        return if plain {
            resolve(text)
        } else {
            Ok(Value::Text(text.to_owned()))
        };
    };
    let value = match tag.core_suffix() {
        Some("str") => return Ok(Value::Text(text.to_owned())),
        None if tag.original() == "!" => return Ok(Value::Text(text.to_owned())),
        Some(_) => resolve(text)?,
        None => return Err(unknown_tag(tag, tag_place)),
    };
    match (tag.core_suffix(), &value) {
        (Some("null"), Value::Null) | (Some("bool"), Value::Bool(_)) => Ok(value),
        (Some("float"), Value::Number(_)) => Ok(value),
        (Some("int"), Value::Number(number)) if !number.is_f64() => Ok(value),
        _ => Err(unknown_tag(tag, tag_place)),
    }
}

fn check_tag(tag: Option<&Tag>, expected: &str, span: &Span) -> Result<(), Diagnostic> {
    match tag {
        Some(tag) if tag.core_suffix() != Some(expected) => Err(unknown_tag(tag, span)),
        _ => Ok(()),
    }
}

/// A scalar's span; for block scalars, with the `|` or `>` that the parser leaves out and without
/// the line breaks after them.
fn as_written(mut span: Span, style: ScalarStyle) -> Span {
    let header = match style {
        ScalarStyle::Literal => '|',
        ScalarStyle::Folded => '>',
        _ => return span,
    };
    if let Some(start) = span.source.text[..span.start].rfind(header) {
        span.start = start;
    }
    span.end = span.start + span.text().trim_end().len();
    span
}

/// The span of a block list from its first `-` on, which the parser leaves out where the list is
/// not indented below its key.
fn from_first_dash(mut span: Span) -> Span {
    let rest = span.source.text[span.start..].strip_prefix('-');
    let at_dash = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    let before = span.source.text[..span.start].trim_end();
    if !at_dash && before.ends_with('-') {
        span.start = before.len() - 1;
    }
    span
}

fn unknown_tag(tag: &Tag, span: &Span) -> Diagnostic {
    Diagnostic::error(format!("the tag `{}` does not fit here", tag.original()))
        .at(span.first_line())
        .help("leave the tag out, or quote the value if the `!` belongs to it")
}

/// What a list or map says that stands too deep within others.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(format!("nested deeper than {MAX_DEPTH} levels"))
        .at(span)
        .help("a deeper value may be written as text, in quotes")
}

fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error(format!(
        "the file is too large once its aliases are expanded: more than {MAX_NODES} values, \
         {MAX_ALIASES} aliases or {MAX_EVENTS} events"
    ))
    .at(span)
    .help("split the file, or use fewer aliases")
}
