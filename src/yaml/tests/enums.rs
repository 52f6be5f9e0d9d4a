use std::collections::BTreeMap;

use super::super::{Diagnostic, decode};
use super::{assert_says, node};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Fault {
    HangUp,
    CutBody { after: u32 },
    Stall(String),
    Pair(u8, u8),
}

#[derive(Debug, serde::Deserialize)]
struct Step {
    fault: Option<Fault>,
}

fn failure(text: &str) -> Diagnostic {
    decode::<Step>(&node(text)).expect_err(text)
}

#[test]
fn kinds_are_words_or_maps_with_one_key() {
    for (text, fault) in [
        ("fault: hang-up", Fault::HangUp),
        ("fault: {hang-up: }", Fault::HangUp),
        ("fault: {cut-body: {after: 3}}", Fault::CutBody { after: 3 }),
        ("fault:\n  stall: 2s", Fault::Stall("2s".to_owned())),
        ("fault: {pair: [1, 2]}", Fault::Pair(1, 2)),
    ] {
        assert_eq!(
            decode::<Step>(&node(text)).unwrap().fault,
            Some(fault),
            "{text}"
        );
    }
}

#[test]
fn an_unknown_kind_is_marked_at_its_word() {
    let help = Some("did you mean `hang-up`?");
    assert_says(
        &failure("fault: hangup\n"),
        "1:8",
        "unknown value `hangup`",
        help,
    );
    let help = Some("did you mean `cut-body`?");
    assert_says(
        &failure("fault:\n  cut-boddy: {after: 3}\n"),
        "2:3",
        "unknown value `cut-boddy`",
        help,
    );
    let help = Some("one of: hang-up, cut-body, stall, pair");
    assert_says(
        &failure("fault: banana\n"),
        "1:8",
        "unknown value `banana`",
        help,
    );
    assert_says(
        &failure("fault: {apple: 1, banana: 2}\n"),
        "1:9",
        "unknown value `apple`",
        help,
    );
}

#[test]
fn two_kinds_at_once_are_one_too_many() {
    let both = failure("fault: {stall: 2s, pair: [1, 2]}\n");
    let message = "one kind only: `stall` and `pair` stand side by side";
    assert_says(&both, "1:20", message, Some("remove one of the two"));
    let beside = failure("fault:\n  after: 3\n  cut-body:\n");
    let message = "one kind only: `after` and `cut-body` stand side by side";
    assert_says(
        &beside,
        "2:3",
        message,
        Some("indent `after` if it belongs to `cut-body`"),
    );
    let empty = failure("fault: {}\n");
    let help = Some("one of: hang-up, cut-body, stall, pair");
    assert_says(&empty, "1:8", "expected one kind, found an empty map", help);
}

#[test]
fn a_kinds_value_must_fit() {
    let help = Some("write `cut-body: …`");
    assert_says(
        &failure("fault: cut-body\n"),
        "1:8",
        "`cut-body` needs a value",
        help,
    );
    let help = Some("write `hang-up` alone");
    assert_says(
        &failure("fault: {hang-up: 1}\n"),
        "1:18",
        "`hang-up` takes no value",
        help,
    );
    let help = Some("did you mean `after`?");
    assert_says(
        &failure("fault: {cut-body: {aftr: 1}}\n"),
        "1:20",
        "unknown field `aftr`",
        help,
    );
    assert_says(
        &failure("fault: {cut-body: {}}\n"),
        "1:19",
        "missing field `after`",
        None,
    );
    assert_says(
        &failure("fault: {stall: [1]}\n"),
        "1:16",
        "expected text, found a list",
        None,
    );
    let message = "expected one of hang-up, cut-body, stall, pair, found the number 5";
    assert_says(&failure("fault: 5\n"), "1:8", message, None);
}

#[test]
fn keys_may_be_kinds() {
    let map: BTreeMap<Fault, u8> = decode(&node("hang-up: 1\n")).unwrap();
    assert_eq!(map[&Fault::HangUp], 1);
    let diagnostic = decode::<BTreeMap<Fault, u8>>(&node("hang-up: 1\nhangp: 2\n")).unwrap_err();
    assert_says(
        &diagnostic,
        "2:1",
        "unknown value `hangp`",
        Some("did you mean `hang-up`?"),
    );
}
