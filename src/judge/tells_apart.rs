//! `tells-apart`: a program can tell two refusals apart, by status, media type or a value that is
//! neither prose nor an id.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::transcript::Response;
use serde_json::Value;
use std::collections::BTreeSet;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, from: &str) -> Ruling {
    let mut pair: Vec<(usize, &Response)> = Vec::new();
    for step in [of, from] {
        let Some((index, exchange)) = view.standing(step).last().copied() else {
            return view.never_sent(step);
        };
        match &exchange.response {
            Some(response) => pair.push((index, response)),
            None => return Ruling::nothing(format!("{} {}", who(exchange), got(exchange))),
        }
    }
    let ((index, one), (other_index, other)) = (pair[0], pair[1]);
    let seen = [index, other_index];
    if one.success {
        return Ruling::void(format!("void: `{of}` was not refused"));
    }
    if one.status != other.status {
        return Ruling::held(format!("{} against {}", one.status, other.status)).seen_in(seen);
    }
    if media_type(one) != media_type(other) {
        return Ruling::held("the media types differ").seen_in(seen);
    }
    let values = |response: &Response| {
        let mut values = BTreeSet::new();
        if let Some(json) = &response.json {
            collect(json, "$", &mut values);
        }
        values
    };
    let (mine, theirs) = (values(one), values(other));
    match mine.symmetric_difference(&theirs).next() {
        Some((path, value)) => {
            Ruling::held(format!("the value {value} at {path} tells them apart")).seen_in(seen)
        }
        None => Ruling::broken(format!(
            "`{of}` and `{from}` both got {}, and no value tells a program which is which",
            one.status
        ))
        .seen_in(seen),
    }
}

pub(super) fn media_type(response: &Response) -> Option<String> {
    response.header("content-type").next().map(|value| {
        value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    })
}

/// Values that a program could decide by, with their places.
fn collect(json: &Value, path: &str, values: &mut BTreeSet<(String, String)>) {
    match json {
        Value::Object(map) => {
            for (name, value) in map {
                if !is_prose_or_id(name) {
                    collect(value, &format!("{path}.{name}"), values);
                }
            }
        }
        Value::Array(list) => {
            for value in list {
                collect(value, &format!("{path}[*]"), values);
            }
        }
        Value::String(text) if text.contains(char::is_whitespace) || text.len() > 100 => {}
        leaf => {
            values.insert((path.to_owned(), leaf.to_string()));
        }
    }
}

/// Names of fields whose values differ from answer to answer or are meant for people.
fn is_prose_or_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    matches!(
        name,
        "message" | "detail" | "details" | "description" | "title" | "instance" | "id"
    ) || [
        "_id", "-id", "uuid", "trace", "time", "date", "request", "key",
    ]
    .iter()
    .any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, paid, round, sent, verdict};
    use crate::verdict::Verdict;

    const CLAIM: &str = "tells-apart: { of: again, from: first }";

    #[test]
    fn another_status_or_code_tells_apart() {
        let status = round([answered("first", 409), answered("again", 422)]);
        assert_eq!(verdict(CLAIM, status).0, Verdict::Pass);
        let code = round([
            answered("first", 409).body(r#"{"code":"in_progress"}"#),
            answered("again", 409).body(r#"{"code":"mismatch"}"#),
        ]);
        assert_eq!(verdict(CLAIM, code).0, Verdict::Pass);
    }

    #[test]
    fn prose_and_ids_tell_a_program_nothing() {
        let prose = round([
            answered("first", 409).body(r#"{"message":"still running","request_id":"1"}"#),
            answered("again", 409).body(r#"{"message":"another body","request_id":"2"}"#),
        ]);
        assert_eq!(verdict(CLAIM, prose).0, Verdict::Fail);
    }

    #[test]
    fn a_lost_response_shows_nothing_and_a_success_makes_it_void() {
        let lost = round([answered("first", 409), sent("again")]);
        assert_eq!(verdict(CLAIM, lost).0, Verdict::Inconclusive);
        let success = round([answered("first", 409), paid("again", "pay_1")]);
        assert_eq!(verdict(CLAIM, success).0, Verdict::Skip);
    }

    #[test]
    fn a_text_that_a_program_can_compare_tells_apart_and_a_long_one_does_not() {
        let texts = |one: &str, other: &str| {
            let body = |text: &str| format!("{{\"code\":\"{text}\"}}");
            let round = round([
                answered("first", 409).body(&body(one)),
                answered("again", 409).body(&body(other)),
            ]);
            verdict(CLAIM, round).0
        };
        let long = |letter: &str, length: usize| letter.repeat(length);
        assert_eq!(texts(&long("a", 100), &long("b", 100)), Verdict::Pass);
        assert_eq!(texts(&long("a", 101), &long("b", 101)), Verdict::Fail);
        assert_eq!(texts("still running", "other body"), Verdict::Fail);
    }

    #[test]
    fn another_media_type_tells_apart_and_another_charset_does_not() {
        let types = |one: &str, other: &str| {
            let refused =
                |step: &str, value: &str| answered(step, 409).header("Content-Type", value);
            verdict(
                CLAIM,
                round([refused("first", one), refused("again", other)]),
            )
            .0
        };
        let json = "application/json";
        assert_eq!(types(json, "application/problem+json"), Verdict::Pass);
        assert_eq!(
            types(json, "Application/JSON; charset=utf-8"),
            Verdict::Fail
        );
    }

    #[test]
    fn no_field_for_people_and_no_id_tells_apart() {
        for name in [
            "message",
            "detail",
            "title",
            "instance",
            "id",
            "error_id",
            "traceparent",
        ] {
            let body = |value: &str| format!("{{\"code\":\"c\",\"{name}\":\"{value}\"}}");
            let pair = round([
                answered("first", 409).body(&body("a")),
                answered("again", 409).body(&body("b")),
            ]);
            assert_eq!(verdict(CLAIM, pair).0, Verdict::Fail, "{name}");
        }
    }
}
