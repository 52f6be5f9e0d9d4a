use super::super::{Diagnostic, Span, nearest};
use super::source;

fn span(text: &str, start: usize, end: usize) -> Span {
    Span {
        source: source(text),
        start,
        end,
    }
}

#[test]
fn a_diagnostic_looks_like_rustcs() {
    let first = span("steps:\n  - expct: 1\n", 11, 16);
    let related = Span {
        start: 0,
        end: 5,
        ..first.clone()
    };
    let diagnostic = Diagnostic::error("unknown field `expct`")
        .at(first)
        .related(related, "in these")
        .help("did you mean `expect`?");
    assert_eq!(diagnostic.place().as_deref(), Some("pay.yaml:2:5"));
    let expected = "\
error: unknown field `expct`
 --> pay.yaml:2:5
  |
1 | steps:
  | ----- in these
2 |   - expct: 1
  |     ^^^^^
  |
help: did you mean `expect`?";
    assert_eq!(diagnostic.to_string(), expected);
    assert!(diagnostic.render(true).contains("\x1b["));
}

#[test]
fn without_a_place_title_and_help_remain() {
    let warning = Diagnostic::warning("no scenarios").help("write one");
    assert_eq!(
        warning.to_string(),
        "warning: no scenarios\nhelp: write one"
    );
    assert_eq!(warning.place(), None);
}

#[test]
fn points_widen_to_the_word_and_long_spans_stay_on_their_line() {
    let point = Diagnostic::error("x")
        .at(span("a: word, b", 3, 4))
        .to_string();
    assert!(
        point.contains("^^^^\n") || point.ends_with("^^^^"),
        "{point}"
    );
    let long = Diagnostic::error("x")
        .at(span("a: 1\nb: 2\n", 0, 9))
        .to_string();
    assert!(long.ends_with("1 | a: 1\n  | ^^^^"), "{long}");
}

#[test]
fn columns_count_characters_and_places_may_be_in_two_files() {
    let here = span("é: ü\n", 4, 6);
    let there = span("x: 1\n", 0, 1);
    let shown = Diagnostic::error("x").at(here).related(there, "there");
    assert_eq!(shown.place().as_deref(), Some("pay.yaml:1:4"));
    assert!(shown.to_string().contains("- there"), "{shown}");
}

#[test]
fn nothing_from_a_file_drives_the_terminal() {
    let text = "k: \x1b[31m\u{202e}\u{9b}x\r\n";
    let diagnostic = Diagnostic::error("bad \x1b[2J")
        .at(span(text, 3, text.len()))
        .related(span("\x07", 0, 1), "l\x1b")
        .help("h\x1b]0;x\x07");
    let shown = diagnostic.render(false);
    let dangerous = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!shown.contains(dangerous), "{shown:?}");
    assert!(shown.contains("␛[31m"), "{shown}");
}

#[test]
fn spans_out_of_range_do_not_panic() {
    for (start, end) in [(0, 99), (99, 100), (1, 1), (2, 1)] {
        Diagnostic::error("x").at(span("é", start, end)).to_string();
    }
}

#[test]
fn the_nearest_word_is_near() {
    let words = ["expect", "expires", "send"];
    assert_eq!(nearest("expct", words).as_deref(), Some("expect"));
    assert_eq!(nearest("sned", words).as_deref(), Some("send"));
    assert_eq!(nearest("banana", words), None);
}
