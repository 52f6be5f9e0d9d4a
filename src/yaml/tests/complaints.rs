use super::super::{Diagnostic, parse};
use super::{assert_says, node, source};

fn complaint(text: &str) -> Diagnostic {
    parse(source(text)).expect_err(text)
}

#[track_caller]
fn assert_complains(text: &str, place: &str, message: &str, help: &str) {
    assert_says(&complaint(text), place, message, Some(help));
}

#[test]
fn a_repeated_key_is_shown_with_the_first_one() {
    let diagnostic = complaint("a: 1\nb:\n  c: 1\na: 2\n");
    assert_says(
        &diagnostic,
        "4:1",
        "the key `a` is here twice",
        Some("remove one of the two"),
    );
    let (first, label) = &diagnostic.related[0];
    assert_eq!(
        (first.line_column(), label.as_str()),
        ((1, 1), "the first one")
    );
    assert_eq!(
        complaint("{1: a, \"1\": b}").place().unwrap(),
        "pay.yaml:1:8"
    );
}

#[test]
fn tabs_do_not_indent() {
    let help = "YAML is indented with spaces only";
    for (text, place) in [
        ("a:\n\t- b\n", "2:1"),
        ("a:\n  b: 1\n\tc: 2\n", "3:1"),
        ("a:\n  - b: 1\n  \tc: 2\n", "3:3"),
    ] {
        assert_complains(text, place, "a tab is used for indentation", help);
    }
}

#[test]
fn a_bracket_within_a_flow_value_is_recognised() {
    let help = "in a map over several lines, without { }, it needs no quotes";
    for (text, place, quoted) in [
        (
            "a: { ids: $.data[*].id }\n",
            "1:11",
            "ids: \"$.data[*].id\"",
        ),
        (
            "x:\n  y: { customer: ${customer} }\n",
            "2:18",
            "customer: \"${customer}\"",
        ),
        ("a: [ ${a}, b ]\n", "1:6", "\"${a}\""),
        ("a: [$.id[0], b]", "1:5", "\"$.id[0]\""),
        (
            "a: {b: $.x[?(@.k == 'v')].id}",
            "1:8",
            "b: \"$.x[?(@.k == 'v')].id\"",
        ),
        ("a: {b: $.x[\"k\"]}", "1:8", "b: '$.x[\"k\"]'"),
        (
            "a: {\n  x: 1,\n  ids: $.data[*].id,\n  y: 2 }\n",
            "3:8",
            "ids: \"$.data[*].id\"",
        ),
        (
            "a: {x: one two[0] three, y: 1}",
            "1:8",
            "x: \"one two[0] three\"",
        ),
        (
            "a: {u: http://h/p?z[0]=1}\n",
            "1:8",
            "u: \"http://h/p?z[0]=1\"",
        ),
    ] {
        let message = format!("flow maps end a plain value at [ ] {{ }} ,: quote it: {quoted}");
        assert_complains(text, place, &message, help);
        // What the message proposes must be right.
        let (line, column) = place.split_once(':').unwrap();
        let line_start: usize = text
            .split_inclusive('\n')
            .take(line.parse::<usize>().unwrap() - 1)
            .map(str::len)
            .sum();
        let start = line_start + column.parse::<usize>().unwrap() - 1;
        let span = complaint(text).span.unwrap();
        let value = quoted.rsplit_once(": ").map_or(quoted, |(_, value)| value);
        node(&format!("{}{}{}", &text[..start], value, &text[span.end..]));
    }
}

#[test]
fn other_errors_on_a_line_with_brackets_are_no_such_trap() {
    let message = complaint("a: {b: @x, c: d[0]}").message;
    assert_eq!(message, "a plain value cannot begin with `@`");
}

#[test]
fn what_is_opened_must_be_closed() {
    assert_complains(
        "a: [1, 2",
        "1:4",
        "this `[` is never closed",
        "add the `]` that belongs to it",
    );
    assert_complains(
        "a: {b: [1], c: 2",
        "1:4",
        "this `{` is never closed",
        "add the `}` that belongs to it",
    );
    assert_complains(
        "a: \"open\nb: c\n",
        "1:4",
        "this quote is never closed",
        "add the closing quote; within \"…\" write \\\" and within '…' write ''",
    );
    let diagnostic = complaint("a: {x: 1, y: 2\nb: 3\n");
    assert_says(
        &diagnostic,
        "2:2",
        "expected `,` or `}` here: the `{` of line 1 is still open",
        Some("close it with `}`, or part its entries with `,`"),
    );
    assert_eq!(diagnostic.related[0].0.line_column(), (1, 4));
    assert_complains(
        "a: [1}",
        "1:4",
        "`[` is closed by `}`",
        "every [ ends with ] and every { with }",
    );
}

#[test]
fn a_file_holds_exactly_one_document() {
    for text in ["", "\n\n", "# only a comment\n", "---\n", "--- \n...\n"] {
        assert_complains(
            text,
            "1:1",
            "the file is empty",
            "write at least one `key: value`",
        );
    }
    assert_complains(
        "a: 1\n---\nb: 2\n",
        "2:1",
        "a second document starts here",
        "one file holds one document: leave out the `---` or split the file",
    );
    assert_eq!(
        node("---\na: 1\n...\n").to_json(),
        serde_json::json!({"a": 1})
    );
}

#[test]
fn unknown_aliases_are_named() {
    for (text, place, name) in [
        ("a: *nope\n", "1:4", "nope"),
        ("a: [*.json, b]\n", "1:5", ".json"),
    ] {
        assert_complains(
            text,
            place,
            &format!("no anchor `&{name}` stands before this alias"),
            &format!("quote it if it is text: \"*{name}\""),
        );
    }
}

#[test]
fn a_value_cannot_contain_itself() {
    assert_complains(
        "a: &x [*x]\n",
        "1:8",
        "this alias stands within its own anchor",
        "a value cannot contain itself: move the alias out of it",
    );
}

#[test]
fn keys_are_neither_missing_nor_collections() {
    assert_complains(
        ": x\n",
        "1:1",
        "a key is missing before the `:`",
        "write `key: value`",
    );
    assert_complains(
        "body: {{x}}\n",
        "1:8",
        "a key must be text, not a list or a map",
        "a plain value that begins with { or [ is a map or a list: quote it if it is text",
    );
}

#[test]
fn only_maps_can_be_merged() {
    let help = "write `<<: *name` with a map that is marked `&name`, or `<<: [*a, *b]`";
    assert_complains("<<: 5\n", "1:5", "`<<` merges maps, and this is none", help);
    assert_complains(
        "<<: [{a: 1}, b]\n",
        "1:14",
        "`<<` merges maps, and this is none",
        help,
    );
    assert_complains(
        "<<: {a: 1}\n<<: {b: 1}\n",
        "2:1",
        "a second `<<` in the same map",
        "merge several maps with one list: `<<: [*a, *b]`",
    );
}

#[test]
fn values_that_cannot_be_kept_are_refused() {
    assert_complains(
        "a: 99999999999999999999\n",
        "1:4",
        "the number 99999999999999999999 cannot be kept exactly",
        "quote it if it is text: \"99999999999999999999\"",
    );
    assert_complains(
        "a: !secret b\n",
        "1:4",
        "the tag `!secret` does not fit here",
        "leave the tag out, or quote the value if the `!` belongs to it",
    );
}

#[test]
fn every_complaint_has_a_place_and_a_help_line() {
    for text in [
        "a: b: c\n",
        "a: 1\n b: 2\n",
        "a: @x\n",
        "a: %x\n",
        "a\nb: 1\n",
        "a: {b: 1}}\n",
        "a: }",
        "a: \"\\q\"",
        "a: - b\n",
        "a: `x`",
        "- a\nb: c\n",
        "a: | x\n",
        "a: &\n",
        "%YAML 9.9\n---\na",
        "a: !<x b",
        "a: \"x\" y",
        "a: 'x' y",
        "a: {? , :",
        "- a\n - b\n- [",
        "a: \"\\ud800\"",
    ] {
        if let Err(diagnostic) = parse(source(text)) {
            assert!(
                diagnostic.span.is_some() && diagnostic.help.is_some(),
                "{text}"
            );
        }
    }
}
