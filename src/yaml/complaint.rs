//! The parser's errors in words of ours, with what to do about them.

use std::ops::Range;
use std::sync::Arc;

use serde_saphyr::granit_parser::{ErrorKind, Marker, ScanError};

use super::parse::too_deep;
use super::{Diagnostic, Source, Span, flow};

/// Says what is wrong with the text at a parser error. `brackets` is where the open `[` and `{`
/// stand, from outside to inside, as far as the parser has got.
pub(super) fn complaint(source: &Arc<Source>, error: &ScanError, brackets: &[usize]) -> Diagnostic {
    let text = &source.text;
    let at = offset(text, error.marker());
    let span = |start: usize, end: usize| Span {
        source: source.clone(),
        start,
        end,
    };
    let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);

    if let Some(tab) = indenting_tab(text, line_start, error.kind()) {
        return Diagnostic::error("a tab is used for indentation")
            .at(span(tab, tab + 1))
            .help("YAML is indented with spaces only");
    }
    let one_character = |start: usize| {
        let length = text[start..].chars().next().map_or(0, char::len_utf8);
        span(start, start + length)
    };
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(one_character(at));
    }
    let from = brackets.first().copied().unwrap_or(line_start);
    if let Some(trap) = flow::trap(text, from, at) {
        let message = "flow maps end a plain value at [ ] { } ,: quote it";
        return Diagnostic::error(format!("{message}: {}", trap.quoted))
            .at(span(trap.start, trap.end))
            .help("in a map over several lines, without { }, it needs no quotes");
    }
    if brackets.is_empty()
        && matches!(error.kind(), ErrorKind::MappingValueNotAllowed)
        && let Some(key) = key_without_colon(text, line_start)
    {
        let word = &text[key.clone()];
        return Diagnostic::error("a `:` is missing after this key")
            .at(span(key.start, key.end))
            .help(format!("write `{word}:`"));
    }
    let (message, help) = words(error.kind());
    let innermost = brackets.last().copied().filter(|&open| open < at);
    let Some(open) = innermost else {
        if matches!(error.kind(), ErrorKind::UnknownAnchor) {
            return unknown_alias(span(at, at + 1 + alias_name(&text[at..]).len()));
        }
        return Diagnostic::error(message).at(one_character(at)).help(help);
    };
    let bracket = span(open, open + 1);
    match error.kind() {
        ErrorKind::UnknownAnchor => unknown_alias(span(at, at + 1 + alias_name(&text[at..]).len())),
        kind if ends_within_brackets(kind) => Diagnostic::error(message).at(bracket).help(help),
        kind if wants_a_separator(kind) && open < line_start => {
            let (line, _) = bracket.line_column();
            let closing = if bracket.text() == "{" { '}' } else { ']' };
            let message = format!(
                "expected `,` or `{closing}` here: the `{}` of line {line} is still open",
                bracket.text()
            );
            Diagnostic::error(message)
                .at(one_character(at))
                .related(bracket, "still open")
                .help(format!(
                    "close it with `{closing}`, or part its entries with `,`"
                ))
        }
        _ => Diagnostic::error(message)
            .at(one_character(at))
            .related(bracket, "within this")
            .help(help),
    }
}

fn unknown_alias(span: Span) -> Diagnostic {
    let name = span.text().trim_start_matches('*').to_owned();
    Diagnostic::error(format!("no anchor `&{name}` stands before this alias"))
        .at(span)
        .help(format!("quote it if it is text: \"*{name}\""))
}

fn wants_a_separator(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::InvalidSimpleKey
    )
}

fn ends_within_brackets(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnclosedFlowCollection { .. }
    )
}

fn alias_name(alias: &str) -> &str {
    let name = alias.strip_prefix('*').unwrap_or(alias);
    let end = name.find(|c: char| c.is_whitespace() || ",[]{}".contains(c));
    &name[..end.unwrap_or(name.len())]
}

/// The one word of the line above, if the line at `line_start` is indented below it: then it was
/// meant for a key.
fn key_without_colon(text: &str, line_start: usize) -> Option<Range<usize>> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let above = text[..line_start].trim_end();
    let start = above.rfind('\n').map_or(0, |newline| newline + 1);
    let (line, below) = (&above[start..], text[line_start..].lines().next()?);
    let word = line.trim();
    let is_key = !word.is_empty() && !word.contains([' ', ':', '#', '"', '\'']);
    (is_key && indent(line) < indent(below)).then(|| start + indent(line)..above.len())
}

/// The byte at which a marker stands, always on a character's boundary.
pub(super) fn offset(text: &str, marker: &Marker) -> usize {
    let exact = marker
        .byte_offset()
        .filter(|&byte| byte <= text.len() && text.is_char_boundary(byte));
    exact.unwrap_or_else(|| {
        let before = text.char_indices().nth(marker.index());
        before.map_or(text.len(), |(byte, _)| byte)
    })
}

/// Where the tab stands that indents the line of an error. The parser may stop at the end of the
/// line above, so where it speaks of tabs the next lines are looked at too.
fn indenting_tab(text: &str, line_start: usize, kind: &ErrorKind) -> Option<usize> {
    let lines = if is_about_tabs(kind) { 3 } else { 1 };
    let mut start = line_start;
    for line in text[line_start..].split_inclusive('\n').take(lines) {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line[..blanks].find('\t') {
            return Some(start + tab);
        }
        start += line.len();
    }
    None
}

fn is_about_tabs(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar
    )
}

fn words(kind: &ErrorKind) -> (String, &'static str) {
    const QUOTE: &str = "quote a text that contains `: `, ` #` or begins with one of \
                         [ ] { } , & * ! | > ' \" % @ `";
    let (message, help) = match kind {
        kind if is_about_tabs(kind) => ("a tab cannot stand here", "use spaces, or quote the text"),
        ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnclosedFlowCollection { open: '{' } => {
            ("this `{` is never closed", "add the `}` that belongs to it")
        }
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::UnclosedFlowCollection { .. } => {
            ("this `[` is never closed", "add the `]` that belongs to it")
        }
        ErrorKind::UnclosedQuotedScalar => (
            "this quote is never closed",
            "add the closing quote; within \"…\" write \\\" and within '…' write ''",
        ),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            let message = format!("`{open}` is closed by `{close}`");
            return (message, "every [ ends with ] and every { with }");
        }
        ErrorKind::MisplacedFlowCollectionEnd => (
            "a bracket is closed that was not opened",
            "remove it, or quote the text that it belongs to",
        ),
        ErrorKind::ExpectedFlowMappingSeparator => (
            "expected `,` or `}` here",
            "quote the value if it is one text",
        ),
        ErrorKind::ExpectedFlowSequenceSeparator => (
            "expected `,` or `]` here",
            "quote the value if it is one text",
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "a `:` cannot stand here",
            "quote the value if the `:` belongs to it; a key begins in the column of its neighbours, \
             and the line above it must be complete",
        ),
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry => (
            "this line does not fit to the lines above it",
            "align it with its neighbours: the keys of one map, or the `-` of one list, begin in \
             the same column",
        ),
        ErrorKind::BlockSequenceEntryNotAllowed => (
            "a list cannot begin here",
            "begin a new line for the first `-`, or write `[a, b]`; quote a text that begins with \
             `- `",
        ),
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => (
            "the text of `|` and `>` begins on the next line",
            "indent it there, or quote the value if the `|` or `>` belongs to it",
        ),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => (
            "expected `key: value` here",
            "put a `:` and a blank after the key, or indent the line if it belongs to the text \
             above",
        ),
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape => (
            "unknown escape within double quotes",
            "write \\\\ for a backslash, or use single quotes",
        ),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            let message = format!(
                "the control character {} cannot stand here",
                character.escape_unicode()
            );
            return (
                message,
                "remove it, or write it as an escape within double quotes",
            );
        }
        ErrorKind::UnexpectedCharacter { character } => {
            let message = format!("a plain value cannot begin with `{character}`");
            return (message, "quote the value");
        }
        ErrorKind::MissingAnchorOrAliasName => (
            "a name is missing after `*` or `&`",
            "quote the value if it is text",
        ),
        other => return (format!("this is no YAML: {other}"), QUOTE),
    };
    (message.to_owned(), help)
}
