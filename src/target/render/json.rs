//! Our own JSON writer: the same value can be written in several ways that mean the same.

use std::fmt::Write;

use serde_json::Number;
use serde_json::Value;

use super::RenderError;

/// How JSON is written; the default is compact, in the order of the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Members in reverse order, at all depths.
    pub(super) reordered: bool,
    /// White space around everything.
    pub(super) spaced: bool,
    /// Whole numbers with a fraction: `2000.0`.
    pub(super) number_form: bool,
    /// The first letter of each text as `\u00XX`.
    pub(super) escaped: bool,
}

/// Writes the value in a style, which must make a difference.
pub(super) fn restyled(value: &Value, style: Style) -> Result<String, RenderError> {
    let plain = write(value, Style::default());
    let each = [
        (
            Style {
                reordered: style.reordered,
                ..Style::default()
            },
            "has no map of two members or more",
        ),
        (
            Style {
                spaced: style.spaced,
                ..Style::default()
            },
            "has nothing to put space around",
        ),
        (
            Style {
                number_form: style.number_form,
                ..Style::default()
            },
            "has no whole number",
        ),
        (
            Style {
                escaped: style.escaped,
                ..Style::default()
            },
            "has no text to escape",
        ),
    ];
    for (single, reason) in each {
        if single != Style::default() && write(value, single) == plain {
            return Err(RenderError::NotApplicable(format!("the body {reason}")));
        }
    }
    Ok(write(value, style))
}

/// Writes the value.
pub(super) fn write(value: &Value, style: Style) -> String {
    let mut text = String::new();
    push(&mut text, value, style);
    text
}

fn push(text: &mut String, value: &Value, style: Style) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => push_number(text, number, style),
        Value::String(string) => push_string(text, string, style),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(text, at, style);
                push(text, item, style);
            }
            close(text, ']', items.is_empty(), style);
        }
        Value::Object(members) => {
            text.push('{');
            let mut entries: Vec<(&String, &Value)> = members.iter().collect();
            if style.reordered {
                entries.reverse();
            }
            for (at, (name, value)) in entries.into_iter().enumerate() {
                separate(text, at, style);
                push_string(text, name, style);
                text.push_str(if style.spaced { " : " } else { ":" });
                push(text, value, style);
            }
            close(text, '}', members.is_empty(), style);
        }
    }
}

fn separate(text: &mut String, at: usize, style: Style) {
    if at > 0 {
        text.push(',');
    }
    if style.spaced {
        text.push_str("\n  ");
    }
}

fn close(text: &mut String, bracket: char, empty: bool, style: Style) {
    if style.spaced {
        text.push(if empty { ' ' } else { '\n' });
    }
    text.push(bracket);
}

fn push_number(text: &mut String, number: &Number, style: Style) {
    // Beyond 2^53 a fraction would make a reader of doubles lose digits: no longer the same value.
    const EXACT: i64 = 1 << 53;
    let whole = number
        .as_i64()
        .filter(|whole| (-EXACT..=EXACT).contains(whole));
    match whole {
        Some(whole) if style.number_form => {
            let _ = write!(text, "{whole}.0");
        }
        _ => {
            let _ = write!(text, "{number}");
        }
    }
}

fn push_string(text: &mut String, string: &str, style: Style) {
    text.push('"');
    let mut escape_next = style.escaped;
    for letter in string.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if control < ' ' => push_unicode(text, control),
            letter if escape_next && letter.is_ascii_alphabetic() => {
                push_unicode(text, letter);
                escape_next = false;
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

fn push_unicode(text: &mut String, letter: char) {
    let _ = write!(text, "\\u{:04x}", u32::from(letter));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body() -> Value {
        json!({"amount": 2000, "rate": 1.5, "who": {"name": "Zoë \"x\"\n", "ok": true}, "l": [1, null], "e": {}})
    }

    #[test]
    fn the_plain_style_is_compact_and_in_order() {
        assert_eq!(
            write(&body(), Style::default()),
            r#"{"amount":2000,"rate":1.5,"who":{"name":"Zoë \"x\"\n","ok":true},"l":[1,null],"e":{}}"#
        );
    }

    #[test]
    fn every_style_differs_and_means_the_same() {
        let plain = write(&body(), Style::default());
        let styles = [
            Style {
                reordered: true,
                ..Style::default()
            },
            Style {
                spaced: true,
                ..Style::default()
            },
            Style {
                escaped: true,
                ..Style::default()
            },
        ];
        for style in styles {
            let text = restyled(&body(), style).expect("applies");
            assert_ne!(text, plain, "{style:?}");
            let read: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(read, body(), "{style:?}");
        }
    }

    #[test]
    fn number_form_touches_whole_numbers_only() {
        let style = Style {
            number_form: true,
            ..Style::default()
        };
        let value = json!({"a": 2000, "b": -1, "c": 1.5, "d": 9_007_199_254_740_993_i64});
        assert_eq!(
            write(&value, style),
            r#"{"a":2000.0,"b":-1.0,"c":1.5,"d":9007199254740993}"#
        );
    }

    #[test]
    fn the_first_letter_of_each_text_is_escaped() {
        let style = Style {
            escaped: true,
            ..Style::default()
        };
        assert_eq!(
            write(&json!({"ab": "1cd"}), style),
            r#"{"\u0061b":"1\u0063d"}"#
        );
    }

    #[test]
    fn a_style_that_changes_nothing_does_not_apply() {
        for (style, value) in [
            (
                Style {
                    reordered: true,
                    ..Style::default()
                },
                json!({"a": [1, 2]}),
            ),
            (
                Style {
                    number_form: true,
                    ..Style::default()
                },
                json!({"a": 1.5}),
            ),
            (
                Style {
                    escaped: true,
                    ..Style::default()
                },
                json!([1]),
            ),
            (
                Style {
                    spaced: true,
                    ..Style::default()
                },
                json!(1),
            ),
        ] {
            assert!(restyled(&value, style).is_err(), "{style:?}");
        }
    }
}
