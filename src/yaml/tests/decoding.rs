use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::super::{Diagnostic, Node, Placed, decode};
use super::{assert_says, node};

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    id: String,
    #[serde(default)]
    timeout: Option<Wait>,
    #[serde(default)]
    tries: Option<u8>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    raw: Option<Node>,
    #[serde(default)]
    ratio: Option<f64>,
    #[serde(default)]
    on: Option<bool>,
}

/// A hand-written visitor, as durations have.
#[derive(Debug, PartialEq)]
struct Wait(u64);

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WaitVisitor;
        impl Visitor<'_> for WaitVisitor {
            type Value = Wait;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a duration such as 2s")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Wait, E> {
                Err(E::custom(format!("a duration needs a unit: {number}s")))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Wait, E> {
                let seconds = text
                    .strip_suffix('s')
                    .and_then(|number| number.parse().ok());
                seconds
                    .map(Wait)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(WaitVisitor)
    }
}

fn failure<T: de::DeserializeOwned + fmt::Debug>(text: &str) -> Diagnostic {
    decode::<T>(&node(text)).expect_err(text)
}

#[test]
fn a_struct_is_decoded() {
    let step: Step = decode(&node(
        "id: a\ntimeout: 2s\ntries: 3\nnames: [x, y]\nraw: {k: [1]}\nratio: 1\non: true\n",
    ))
    .unwrap();
    assert_eq!(
        (step.id.as_str(), step.timeout, step.tries),
        ("a", Some(Wait(2)), Some(3))
    );
    assert_eq!(
        (step.names.len(), step.ratio, step.on),
        (2, Some(1.0), Some(true))
    );
    let raw = step.raw.unwrap();
    assert_eq!(raw.at("k/0").unwrap().span.line_column(), (5, 11));
}

#[test]
fn null_and_absent_are_none() {
    let step: Step = decode(&node("id: a\ntimeout:\ntries: ~\nraw: null\n")).unwrap();
    assert!(step.timeout.is_none() && step.tries.is_none() && step.raw.is_none());
}

#[test]
fn an_unknown_field_is_marked_at_its_key() {
    let near = failure::<Step>("id: a\ntmeout: 2s\n");
    assert_says(
        &near,
        "2:1",
        "unknown field `tmeout`",
        Some("did you mean `timeout`?"),
    );
    let far = failure::<Vec<Step>>("- id: a\n  banana: 1\n");
    let help = "known fields: id, timeout, tries, names, raw, ratio, on";
    assert_says(&far, "2:3", "unknown field `banana`", Some(help));
}

#[test]
fn a_missing_field_is_marked_at_its_map() {
    let diagnostic = failure::<Vec<Step>>("- tries: 3\n  on: true\n");
    assert_says(&diagnostic, "1:3", "missing field `id`", None);
    assert_eq!(diagnostic.span.unwrap().text(), "tries: 3");
}

#[test]
fn wrong_kinds_are_said_in_words() {
    for (text, place, message) in [
        (
            "id: a\nnames: x\n",
            "2:8",
            "expected a list, found the text `x`",
        ),
        ("id: [a]\n", "1:5", "expected text, found a list"),
        ("id:\n", "1:3", "expected text, found nothing"),
        (
            "id: a\ntries: fast\n",
            "2:8",
            "expected a whole number from 0 to 255, found the text `fast`",
        ),
        (
            "id: a\ntries: 300\n",
            "2:8",
            "expected a whole number from 0 to 255, found the number 300",
        ),
        (
            "id: a\ntries: -1\n",
            "2:8",
            "expected a whole number from 0 to 255, found the number -1",
        ),
        (
            "id: a\ntries: 1.5\n",
            "2:8",
            "expected a whole number from 0 to 255, found the number 1.5",
        ),
        (
            "id: a\nratio: x\n",
            "2:8",
            "expected a number, found the text `x`",
        ),
        (
            "id: a\non: yes\n",
            "2:5",
            "expected true or false, found the text `yes`",
        ),
        ("- a\n", "1:1", "expected a map, found a list"),
        ("word\n", "1:1", "expected a map, found the text `word`"),
    ] {
        assert_says(&failure::<Step>(text), place, message, None);
    }
}

#[test]
fn numbers_are_no_text_and_text_is_no_number() {
    assert_says(
        &failure::<Step>("id: 10.00\n"),
        "1:5",
        "expected text, found the number 10.0: quote it",
        Some("write \"10.00\""),
    );
    assert_says(
        &failure::<Step>("id: a\nnames: [b, true]\n"),
        "2:12",
        "expected text, found the value true: quote it",
        Some("write \"true\""),
    );
    assert_says(
        &failure::<Step>("id: a\ntries: \"5\"\n"),
        "2:8",
        "expected a whole number from 0 to 255, found the text `5`",
        Some("remove the quotes: 5"),
    );
}

#[test]
fn errors_of_visitors_stand_at_the_value_even_below_an_option() {
    let custom = failure::<Step>("id: a\ntimeout: 2\n");
    assert_says(&custom, "2:10", "a duration needs a unit: 2s", None);
    let invalid = failure::<Step>("id: a\ntimeout: soon\n");
    assert_says(
        &invalid,
        "2:10",
        "expected a duration such as 2s, found the text `soon`",
        None,
    );
    let kind = failure::<Step>("id: a\ntimeout: [2s]\n");
    assert_says(
        &kind,
        "2:10",
        "expected a duration such as 2s, found a list",
        None,
    );
}

#[derive(Debug, serde::Deserialize)]
#[serde(try_from = "String")]
struct Short(String);

impl TryFrom<String> for Short {
    type Error = String;
    fn try_from(text: String) -> Result<Short, String> {
        if text.len() < 4 {
            Ok(Short(text))
        } else {
            Err(format!("`{text}` is too long"))
        }
    }
}

#[test]
fn errors_of_conversions_stand_at_the_value() {
    let short: BTreeMap<String, Vec<Short>> = decode(&node("a: [ok]\n")).unwrap();
    assert_eq!(short["a"][0].0, "ok");
    let diagnostic = failure::<BTreeMap<String, Vec<Short>>>("a: [ok, toolong]\n");
    assert_says(&diagnostic, "1:9", "`toolong` is too long", None);
    let key = failure::<BTreeMap<u16, String>>("200: ok\n2xx: ok\n");
    assert_says(
        &key,
        "2:1",
        "expected a whole number from 0 to 65535, found the text `2xx`",
        None,
    );
}

#[test]
fn tuples_have_their_length() {
    assert_eq!(
        decode::<(u8, String)>(&node("[1, a]")).unwrap(),
        (1, "a".to_owned())
    );
    let diagnostic = failure::<(u8, String)>("[1, a, b]");
    assert_says(&diagnostic, "1:1", "expected 2 entries, found 3", None);
}

#[test]
fn json_keeps_numbers_text_and_order() {
    let text = "z: 1\na: [1.5, -2, \"3\", true, ~]\nm: {y: 9007199254740993, b: 10.00}\n";
    let value: serde_json::Value = decode(&node(text)).unwrap();
    assert_eq!(
        value.to_string(),
        r#"{"z":1,"a":[1.5,-2,"3",true,null],"m":{"y":9007199254740993,"b":10.0}}"#
    );
    assert_eq!(value, node(text).to_json());
}

#[derive(Debug, serde::Deserialize)]
struct Places {
    name: Placed<String>,
    list: Placed<Vec<Placed<u8>>>,
    by_key: BTreeMap<String, Placed<Node>>,
    absent: Option<Placed<u8>>,
}

#[test]
fn placed_values_know_where_they_stand() {
    let text = "name: 'n'\nlist: [1, 22]\nby_key:\n  k: &v {a: 1}\n";
    let places: Places = decode(&node(text)).unwrap();
    assert_eq!(
        (places.name.value.as_str(), places.name.span.text()),
        ("n", "'n'")
    );
    assert_eq!(places.list.span.text(), "[1, 22]");
    assert_eq!(places.list.value[1].span.text(), "22");
    assert_eq!(places.by_key["k"].value.span, places.by_key["k"].span);
    assert!(places.absent.is_none());
    let diagnostic = failure::<Places>("name: 5\n");
    assert_says(
        &diagnostic,
        "1:7",
        "expected text, found the number 5: quote it",
        Some("write \"5\""),
    );
}

#[test]
fn places_need_our_deserializer() {
    let placed = serde_json::from_str::<Placed<u8>>("5").unwrap_err();
    assert!(
        placed
            .to_string()
            .contains("places are known in YAML files only"),
        "{placed}"
    );
    let raw = serde_json::from_str::<Node>("5").unwrap_err();
    assert!(
        raw.to_string()
            .contains("places are known in YAML files only"),
        "{raw}"
    );
}

/// Reads a node and judges it by hand.
#[derive(Debug)]
struct Even;

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        match node.get("n").map(decode::<u64>) {
            Some(Ok(number)) if number % 2 == 0 => Ok(Even),
            Some(Ok(_)) => Err(Diagnostic::error("odd")
                .at(node.key_at("n").unwrap())
                .help("add one")
                .raise()),
            Some(Err(diagnostic)) => Err(diagnostic.raise()),
            None => Err(de::Error::missing_field("n")),
        }
    }
}

#[test]
fn a_raised_diagnostic_arrives_unchanged() {
    decode::<Vec<Even>>(&node("- n: 2\n")).unwrap();
    assert_says(
        &failure::<Vec<Even>>("- n: 3\n"),
        "1:3",
        "odd",
        Some("add one"),
    );
    let inner = failure::<Vec<Even>>("- n: x\n");
    assert_says(
        &inner,
        "1:6",
        "expected a whole number from 0 on, found the text `x`",
        None,
    );
    assert_says(
        &failure::<Vec<Even>>("- m: 3\n"),
        "1:3",
        "missing field `n`",
        None,
    );
}
