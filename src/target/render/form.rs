//! Forms: what the tool rewrites in a request without changing its meaning.

use super::Recipe;
use super::RenderError;
use super::headers::Headers;
use super::json::Style;
use crate::target::placeholder::Placeholder;

/// One rewriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// JSON members in reverse order, at all depths.
    Reordered,
    /// JSON with white space.
    Spaced,
    /// Whole JSON numbers with a fraction.
    NumberForm,
    /// The first letter of each JSON text as `\u00XX`.
    Escaped,
    /// The body in chunks.
    Chunked,
    /// Another boundary between the parts of a multipart body.
    NewBoundary,
    /// Another User-Agent.
    OtherUserAgent,
    /// Another X-Request-Id and traceparent.
    OtherRequestId,
    /// Header names in capitals.
    UpperCaseHeaders,
    /// Asks for a compressed response.
    AcceptGzip,
    /// Asks for a response that is not compressed.
    AcceptIdentity,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 11] = [
        Form::Reordered,
        Form::Spaced,
        Form::NumberForm,
        Form::Escaped,
        Form::Chunked,
        Form::NewBoundary,
        Form::OtherUserAgent,
        Form::OtherRequestId,
        Form::UpperCaseHeaders,
        Form::AcceptGzip,
        Form::AcceptIdentity,
    ];

    /// The word of scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Form::Reordered => "reordered",
            Form::Spaced => "spaced",
            Form::NumberForm => "number-form",
            Form::Escaped => "escaped",
            Form::Chunked => "chunked",
            Form::NewBoundary => "new-boundary",
            Form::OtherUserAgent => "other-user-agent",
            Form::OtherRequestId => "other-request-id",
            Form::UpperCaseHeaders => "upper-case-headers",
            Form::AcceptGzip => "accept-gzip",
            Form::AcceptIdentity => "accept-identity",
        }
    }

    /// The form of this name.
    pub fn from_name(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// How JSON is written under these forms; `None` when none of them is about JSON.
pub(super) fn json_style(forms: &[Form]) -> Option<Style> {
    let style = Style {
        reordered: forms.contains(&Form::Reordered),
        spaced: forms.contains(&Form::Spaced),
        number_form: forms.contains(&Form::NumberForm),
        escaped: forms.contains(&Form::Escaped),
    };
    (style != Style::default()).then_some(style)
}

/// What the sender must know of the forms.
#[derive(Default)]
pub(super) struct Rewriting {
    pub(super) chunked: bool,
    pub(super) upper_case: bool,
}

/// Applies the forms that are about headers and framing.
pub(super) fn apply_to_headers(
    recipe: &Recipe<'_>,
    headers: &mut Headers,
    key_header: Option<&str>,
    has_body: bool,
) -> Result<Rewriting, RenderError> {
    let mut rewriting = Rewriting::default();
    for form in recipe.forms {
        match form {
            // These are about the body, which is written by now.
            Form::Reordered
            | Form::Spaced
            | Form::NumberForm
            | Form::Escaped
            | Form::NewBoundary => {}
            Form::Chunked if !has_body => {
                return Err(RenderError::NotApplicable(
                    "there is no body to chunk".to_string(),
                ));
            }
            Form::Chunked => rewriting.chunked = true,
            Form::OtherUserAgent => headers.replace("User-Agent", "another-client/2.0"),
            Form::OtherRequestId => other_request_id(recipe, headers, key_header)?,
            Form::UpperCaseHeaders => rewriting.upper_case = true,
            Form::AcceptGzip => headers.replace("Accept-Encoding", "gzip"),
            Form::AcceptIdentity => headers.replace("Accept-Encoding", "identity"),
        }
    }
    if rewriting.upper_case {
        headers.upper_case();
    }
    Ok(rewriting)
}

/// New identifiers, of the value that is new for each transmission. A header that carries the
/// idempotency key is left alone.
fn other_request_id(
    recipe: &Recipe<'_>,
    headers: &mut Headers,
    key_header: Option<&str>,
) -> Result<(), RenderError> {
    let uuid = recipe
        .values
        .get(&Placeholder::Uuid)
        .map_err(|reason| RenderError::NoValue {
            placeholder: "${uuid}".to_string(),
            reason,
        })?;
    let uuid = uuid.as_str().unwrap_or_default().to_string();
    let hex: String = uuid.chars().filter(char::is_ascii_hexdigit).collect();
    let is_key = |name: &str| key_header.is_some_and(|key| key.eq_ignore_ascii_case(name));
    if !is_key("X-Request-Id") {
        headers.replace("X-Request-Id", &uuid);
    }
    if !is_key("traceparent") && hex.len() == 32 {
        headers.replace("traceparent", &format!("00-{hex}-{}-01", &hex[16..]));
    }
    Ok(())
}
