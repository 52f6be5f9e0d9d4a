use super::super::{Node, Value};
use super::node;
use serde_json::json;

/// Pointer and source text of every node.
fn spans(root: &Node) -> Vec<(String, String)> {
    let mut all = Vec::new();
    root.walk(&mut |pointer, node| all.push((pointer.to_owned(), node.span.text().to_owned())));
    all
}

#[test]
fn plain_scalars_mean_what_a_reader_expects() {
    let text = "country: no\ncode: 017\ndate: 2025-01-23\namount: 10.00\nquoted: \"5\"\n\
                thousand: 1_000\nbig: 9007199254740993\non: true\nnothing: ~\nempty:\ntag: !!str 5\n";
    assert_eq!(
        node(text).to_json(),
        json!({
            "country": "no", "code": "017", "date": "2025-01-23", "amount": 10.0, "quoted": "5",
            "thousand": "1_000", "big": 9_007_199_254_740_993_u64, "on": true, "nothing": null,
            "empty": null, "tag": "5"
        })
    );
}

#[test]
fn every_span_covers_the_value_as_it_is_written() {
    let text = "title: 'it''s' # why\nlist:\n  - a\n  - {b: 1, c: [x, \"y\"]}\n  -\n    k: v\n\
                block: |\n  one\n\n  two\n\nfolded: >-\n  f\nnone:\nwrapped: plain\n  goes on\n\
                same:\n- &i -5\n- *i\né: ü\n";
    let root = node(text);
    let found = spans(&root);
    let expected = [
        ("title", "'it''s'"),
        ("list", "- a\n  - {b: 1, c: [x, \"y\"]}\n  -\n    k: v"),
        ("list/0", "a"),
        ("list/1", "{b: 1, c: [x, \"y\"]}"),
        ("list/1/b", "1"),
        ("list/1/c", "[x, \"y\"]"),
        ("list/1/c/0", "x"),
        ("list/1/c/1", "\"y\""),
        ("list/2", "k: v"),
        ("list/2/k", "v"),
        ("block", "|\n  one\n\n  two"),
        ("folded", ">-\n  f"),
        ("none", ""),
        ("wrapped", "plain\n  goes on"),
        ("same", "- &i -5\n- *i"),
        ("same/0", "-5"),
        ("same/1", "*i"),
        ("é", "ü"),
    ];
    assert_eq!(found[0], (String::new(), text.trim_end().to_owned()));
    let found: Vec<(&str, &str)> = found[1..]
        .iter()
        .map(|(pointer, text)| (pointer.as_str(), text.as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn spans_are_right_with_windows_line_ends_and_a_byte_order_mark() {
    let root = node("\u{feff}a:\r\n  - b\r\n  - |\r\n    x\r\nc: \"d\"\r\n");
    assert_eq!(root.key_at("a").unwrap().line_column(), (1, 1));
    assert_eq!(root.at("a/1").unwrap().span.text(), "|\r\n    x");
    assert_eq!(root.at("c").unwrap().span.text(), "\"d\"");
    assert_eq!(root.at("c").unwrap().span.line_column(), (5, 4));
}

#[test]
fn keys_are_text_and_know_their_place() {
    let root = node("1: x\ntrue: y\n\"q\": z\n~: n\n? w\n: v\n");
    let keys: Vec<_> = root
        .as_map()
        .unwrap()
        .iter()
        .map(|entry| (entry.key.as_str(), entry.key_span.text()))
        .collect();
    assert_eq!(
        keys,
        [
            ("1", "1"),
            ("true", "true"),
            ("q", "\"q\""),
            ("~", "~"),
            ("w", "w")
        ]
    );
}

#[test]
fn aliases_stand_where_they_are_used_and_their_parts_where_they_are_defined() {
    let root = node("base: &b\n  x: 1\nuse: *b\n");
    assert_eq!(root.at("use").unwrap().span.line_column(), (3, 6));
    assert_eq!(root.at("use/x").unwrap().span.line_column(), (2, 6));
}

#[test]
fn an_alias_may_be_a_key() {
    assert_eq!(
        node("a: &k name\n*k : 1\n").to_json(),
        json!({"a": "name", "name": 1})
    );
}

#[test]
fn merge_keys_fill_in_what_a_map_does_not_say_itself() {
    let text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  first: 0\n  <<: [*a, *b]\n  x: 3\n";
    let merged = node(text).get("c").unwrap().to_json();
    assert_eq!(merged.to_string(), r#"{"first":0,"y":1,"z":2,"x":3}"#);
    assert_eq!(node("c:\n  <<: {x: 1}\n").to_json(), json!({"c": {"x": 1}}));
    assert_eq!(node("\"<<\": 1\n").to_json(), json!({"<<": 1}));
}

#[test]
fn pointers_lead_to_nodes_and_back() {
    let root = node("steps:\n  - send: {like: a}\n\"x/y~\": 1\n");
    assert_eq!(root.at("steps/0/send/like").unwrap().as_text(), Some("a"));
    assert_eq!(root.at("/steps/0/send").unwrap().as_map().unwrap().len(), 1);
    assert_eq!(root.at("steps").unwrap().as_list().unwrap().len(), 1);
    assert_eq!(root.key_at("steps/0/send").unwrap().line_column(), (2, 5));
    assert_eq!(root.at(""), Some(&root));
    assert!(root.at("steps/1").is_none() && root.at("steps/x").is_none());
    assert!(root.at("steps/0/send/like/more").is_none());
    assert!(root.key_at("steps/0").is_none());
    root.walk(&mut |pointer, node| assert_eq!(root.at(pointer), Some(node), "{pointer}"));
    assert!(matches!(root.at("x~1y~0").unwrap().value, Value::Number(_)));
}
