//! What is wrong with a file, where, and what to do about it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Source, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but probably does not say what its author means.
    Warning,
}

/// A message about a file: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line: what is wrong.
    pub message: String,
    /// Where; `None` when it is not about one place.
    pub span: Option<Span>,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places that belong to it, each with a few words.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message.into())
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message.into())
    }

    fn new(severity: Severity, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            message,
            span: None,
            help: None,
            related: Vec::new(),
        }
    }

    /// The same, about this place.
    pub fn at(mut self, span: Span) -> Diagnostic {
        self.span = Some(span);
        self
    }

    /// The same, with a line that says what to do.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The same, with one more place and a few words on it.
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related.push((span, text.into()));
        self
    }

    /// `file:line:column`, counted from 1, the column in characters.
    pub fn place(&self) -> Option<String> {
        let span = self.span.as_ref()?;
        let (line, column) = span.line_column();
        Some(format!("{}:{line}:{column}", clean(&span.source.name)))
    }

    /// The message as rustc would show it: title, place, source lines with marks, help. Control
    /// characters of the file are shown as pictures, never written as they are.
    pub fn render(&self, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let title = level.primary_title(clean(&self.message));
        let snippets: Vec<_> = self
            .marks_by_source()
            .into_iter()
            .map(|(source, marks)| snippet(source, &marks))
            .collect();
        let help = self
            .help
            .as_ref()
            .map(|help| Group::with_title(Level::HELP.secondary_title(clean(help))));
        if snippets.is_empty() {
            // Together, the renderer would part the two lines with an empty margin.
            let groups = std::iter::once(Group::with_title(title)).chain(help);
            let lines: Vec<_> = groups.map(|group| renderer.render(&[group])).collect();
            return lines.join("\n");
        }
        let report: Vec<_> = std::iter::once(title.elements(snippets))
            .chain(help)
            .collect();
        renderer.render(&report)
    }

    /// All marks, the main one first, those of one file together.
    fn marks_by_source(&self) -> Vec<(&Arc<Source>, Vec<Mark<'_>>)> {
        let mut files: Vec<(&Arc<Source>, Vec<Mark<'_>>)> = Vec::new();
        let main = self.span.iter().map(|span| Mark {
            span,
            label: None,
            kind: AnnotationKind::Primary,
        });
        let related = self.related.iter().map(|(span, text)| Mark {
            span,
            label: Some(text),
            kind: AnnotationKind::Context,
        });
        for mark in main.chain(related) {
            let file = files
                .iter_mut()
                .find(|(source, _)| Arc::ptr_eq(source, &mark.span.source));
            match file {
                Some((_, marks)) => marks.push(mark),
                None => files.push((&mark.span.source, vec![mark])),
            }
        }
        files
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// The candidate that `word` is most likely a misspelling of, if any is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// What an error of a library says over several lines, in one: the last, which names the cause.
pub fn in_one_line(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

struct Mark<'a> {
    span: &'a Span,
    label: Option<&'a String>,
    kind: AnnotationKind,
}

fn snippet<'a>(
    source: &'a Source,
    marks: &[Mark<'a>],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = clean(&source.text);
    let annotations = marks.iter().map(|mark| {
        let range = marked(&source.text, mark.span.start..mark.span.end);
        let cleaned =
            cleaned_offset(&source.text, range.start)..cleaned_offset(&source.text, range.end);
        let annotation = mark.kind.span(cleaned);
        match mark.label {
            Some(label) => annotation.label(clean(label)),
            None => annotation,
        }
    });
    let annotations: Vec<_> = annotations.collect();
    Snippet::source(text)
        .path(clean(&source.name))
        .annotations(annotations)
}

/// The part of a span that is worth marking: no more than its first line, and a whole word where
/// the span is a point.
fn marked(text: &str, range: Range<usize>) -> Range<usize> {
    let start = floor_boundary(text, range.start);
    let line_end = text[start..]
        .find(['\n', '\r'])
        .map_or(text.len(), |length| start + length);
    let mut end = floor_boundary(text, range.end).clamp(start, line_end);
    if end - start <= 1 {
        let word = text[start..line_end]
            .find(|c: char| c.is_whitespace() || ":,[]{}".contains(c))
            .unwrap_or(line_end - start);
        end = end.max(start + word);
    }
    start..end
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// `text` without characters that could move the cursor, recolour the terminal or reorder what
/// is read: they become visible pictures. Windows' line ends become plain ones.
fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(cleaned(text).map(|(_, c)| c).collect())
}

/// Where the byte at `offset` of `text` stands in `clean(text)`.
fn cleaned_offset(text: &str, offset: usize) -> usize {
    cleaned(text)
        .take_while(|&(start, _)| start < offset)
        .map(|(_, c)| c.len_utf8())
        .sum()
}

/// The characters of `clean(text)`, each with where it stood in `text`.
fn cleaned(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices()
        .filter(|&(start, c)| c != '\r' || !text[start..].starts_with("\r\n"))
        .map(|(start, c)| (start, if is_unsafe(c) { picture(c) } else { c }))
}

fn is_unsafe(c: char) -> bool {
    let invisible = matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    invisible || (c.is_control() && c != '\n' && c != '\t')
}

fn picture(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        _ => '\u{fffd}',
    }
}
