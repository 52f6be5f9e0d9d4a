//! The error of our serde deserializer: a diagnostic that gets its place from the innermost
//! level that knows one.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::{Diagnostic, Span, nearest};

thread_local! {
    static RAISED: RefCell<Option<Diagnostic>> = const { RefCell::new(None) };
}

/// What went wrong while decoding.
#[derive(Debug)]
pub(super) struct Failure(Box<Diagnostic>);

impl Failure {
    /// An error that knows its place already.
    pub(super) fn new(diagnostic: Diagnostic) -> Failure {
        Failure(Box::new(diagnostic))
    }

    /// The same, at `span` if no deeper level has set a place.
    pub(super) fn at(mut self, span: &Span) -> Failure {
        self.0.span.get_or_insert_with(|| span.clone());
        self
    }

    /// The same, with a help line if it has none.
    pub(super) fn or_help(mut self, help: impl FnOnce() -> String) -> Failure {
        self.0.help.get_or_insert_with(help);
        self
    }

    /// What the user gets.
    pub(super) fn into_diagnostic(self) -> Diagnostic {
        *self.0
    }
}

impl Diagnostic {
    /// This diagnostic as the error of any deserializer, for hand-written `Deserialize`
    /// implementations that know the exact place and a help line. [`decode`](super::decode)
    /// returns it unchanged; other deserializers keep the message only.
    pub fn raise<E: de::Error>(self) -> E {
        let message = self.message.clone();
        RAISED.set(Some(self));
        let error = E::custom(message);
        RAISED.take();
        error
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Failure {
        let raised = RAISED.take();
        Failure::new(raised.unwrap_or_else(|| Diagnostic::error(message.to_string())))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Failure {
        mismatch(&expected.to_string(), &in_words(&found))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Failure {
        mismatch(&expected.to_string(), &in_words(&found))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Failure {
        mismatch(&expected.to_string(), &format!("{length} entries"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Failure {
        let message = format!("unknown value `{}`", shortened(variant));
        Failure::new(Diagnostic::error(message).help(did_you_mean(variant, expected, "one of")))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Failure {
        let message = format!("unknown field `{}`", shortened(field));
        let help = did_you_mean(field, expected, "known fields");
        Failure::new(Diagnostic::error(message).help(help))
    }

    fn missing_field(field: &'static str) -> Failure {
        Failure::new(Diagnostic::error(format!("missing field `{field}`")))
    }

    fn duplicate_field(field: &'static str) -> Failure {
        let message = format!("the field `{field}` is here twice, once under another name");
        Failure::new(Diagnostic::error(message).help("remove one of the two"))
    }
}

/// "expected …, found …", the first in serde's words or a visitor's own.
pub(super) fn mismatch(expected: &str, found: &str) -> Failure {
    let expected = plainly(expected);
    Failure::new(Diagnostic::error(format!(
        "expected {expected}, found {found}"
    )))
}

/// At most 60 characters of a text from the file.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn did_you_mean(word: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "nothing can stand here".to_owned(),
        None => format!("{otherwise}: {}", known.join(", ")),
    }
}

fn in_words(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("the value {value}"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number:?}"),
        Unexpected::Char(c) => format!("the text `{c}`"),
        Unexpected::Str(text) => format!("the text `{}`", shortened(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

/// What serde's own visitors expect, in the words of the people who write these files.
fn plainly(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "u128" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" | "string" | "str" => "text",
        "a boolean" => "true or false",
        "a character" => "one character",
        "a sequence" => "a list",
        "unit" => "nothing",
        "field identifier" => "the name of a field",
        "variant identifier" => "one word",
        _ if expected.starts_with("struct ") => "a map",
        _ if expected.starts_with("unit struct ") => "nothing",
        _ if expected.starts_with("nonzero u") => "a whole number from 1 on",
        _ => expected,
    }
}
