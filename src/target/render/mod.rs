//! From a request of the target file to the bytes on the wire, in the order that TARGET promises:
//! request, patches, placeholders, key, the target's headers, the principal's credentials, forms.
//! Values are handed in; there is no clock, no randomness and no network here.

pub mod command;
mod encode;
mod fill;
mod form;
mod headers;
mod json;
mod key;
mod multipart;
pub mod signature;
mod signer;
pub mod sigv4;

use std::fmt;
use std::net::IpAddr;

use serde_json::Value;
use url::Url;

use super::Target;
use super::key::Carrier;
use super::key::KeyPlace;
use super::key::KeyUse;
use super::placeholder::Template;
use super::placeholder::Values;
use super::principal::Certificate;
use super::principal::Principal;
use super::request::Body;
use super::request::Pair;
use super::request::Patch;
use super::request::Request;
use super::selector::Answer;
use super::selector::Selector;
use super::selector::SelectorTemplate;
use fill::Filling;
use fill::Purpose;
pub use form::Form;
pub use headers::basic_credentials;
use key::key_values;
use key::place_key;
pub use signer::Signer;

/// All that makes up one request.
#[derive(Clone, Copy)]
pub struct Recipe<'a> {
    /// The target.
    pub target: &'a Target,
    /// The base URL that it goes to.
    pub base: &'a Url,
    /// What the file says.
    pub request: &'a Request,
    /// What variants change, merged one after another.
    pub patches: &'a [&'a Patch],
    /// What the tool rewrites without changing the meaning.
    pub forms: &'a [Form],
    /// Where the key goes and how it is used; `None` for requests that are no operation's own, whose
    /// `${key}` is asked of `values`.
    pub key: Option<(&'a KeyPlace, &'a KeyUse)>,
    /// Who sends it.
    pub principal: &'a Principal,
    /// With which credentials.
    pub credentials: Credentials,
    /// The principal's token, where it has asked for one.
    pub token: Option<&'a str>,
    /// The values of placeholders.
    pub values: &'a dyn Values,
}

/// Which credentials a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// The principal's own.
    Normal,
    /// None: everything that a secret went into is left out.
    Without,
    /// Junk of the same length and shape in place of each secret.
    Wrong {
        /// The same seed gives the same junk.
        seed: u64,
    },
}

/// A request, ready for the wire.
#[derive(Clone, PartialEq)]
pub struct Rendered {
    /// The method.
    pub method: String,
    /// Scheme, host and port that it goes to: the base URL's, unless the path is a whole URL. The
    /// sender must hold it against [`Target::allows`].
    pub origin: String,
    /// Path and query, encoded, with the base URL's path.
    pub path_and_query: String,
    /// Headers in order, without Host, Content-Length and Transfer-Encoding.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// What a JSON or form body says, with the key, whatever its form.
    pub sent: Option<Value>,
    /// Whether the body is sent in chunks.
    pub chunked: bool,
    /// Whether all header names are in capitals, those of the sender too; HTTP/1.1 only.
    pub upper_case_headers: bool,
    /// Method, path, query and body without key, forms and secrets: equal for requests of the same
    /// intent, whoever sends them.
    pub intent: Vec<u8>,
    /// The one of the host's addresses that it goes to; `None` is whichever the system picks.
    pub address: Option<IpAddr>,
    /// The certificate that is shown instead of the target's.
    pub certificate: Option<Certificate>,
    /// What signs it for its sender, last, over its final bytes.
    pub signer: Option<Signer>,
}

impl Rendered {
    /// What a selector matches in the request as sent: `$…` in a JSON or form body, else headers and
    /// text.
    pub fn select(&self, selector: &Selector) -> Vec<Value> {
        if let (Selector::Json(_), Some(sent)) = (selector, &self.sent) {
            return selector.select_in(sent);
        }
        selector.select(&Answer {
            status: 0,
            headers: &self.headers,
            body: self.body.as_deref().unwrap_or_default(),
        })
    }
}

/// Shows no query, no header's value and no body: secrets stand in all of them.
impl fmt::Debug for Rendered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        write!(
            out,
            "Rendered({} {}{path}, {names:?})",
            self.method, self.origin
        )
    }
}

/// Why a request cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// What is asked for does not fit this request: the scenario or its case skips.
    #[error("{0}")]
    NotApplicable(String),
    /// A placeholder has no value now.
    #[error("{placeholder} has no value: {reason}")]
    NoValue {
        /// The placeholder, as written.
        placeholder: String,
        /// Why.
        reason: String,
    },
    /// The result would be no valid request.
    #[error("{0}")]
    Invalid(String),
}

/// Makes the request.
pub fn render(recipe: &Recipe<'_>) -> Result<Rendered, RenderError> {
    let request = recipe
        .patches
        .iter()
        .fold(recipe.request.clone(), |request, patch| {
            request.patched(patch)
        });
    let filling = Filling::new(recipe, &request, Purpose::Wire);
    let mut query = request.query.clone();
    query.extend(recipe.principal.query.iter().cloned());
    let (origin, mut path_and_query) = location(&filling, recipe.base, &request, &query)?;
    let mut content = content(&filling, request.body.as_ref())?;
    let mut key_lines = Vec::new();
    let mut key_header = None;
    if let Some((place, using)) = recipe.key
        && !request.places_key()
    {
        match place {
            KeyPlace::None if *using == KeyUse::None => {}
            KeyPlace::None => {
                return Err(RenderError::NotApplicable(
                    "the operation takes no key".to_string(),
                ));
            }
            KeyPlace::At { carrier, form } => {
                let lines = key_values(using, carrier, form.quoted.unwrap_or(false))?;
                match carrier {
                    Carrier::Header(name) => {
                        key_header = Some(name.as_str());
                        key_lines = lines;
                    }
                    carrier => place_key(carrier, &lines, &mut path_and_query, &mut content)?,
                }
            }
        }
    }
    let sent = match &content {
        Content::Json(value) | Content::Form(value) => Some(value.clone()),
        Content::None | Content::Multipart(_) | Content::Text(_) => None,
    };
    let (body, media_type) = bytes(content, recipe.forms)?;
    let mut headers = headers::Headers::default();
    headers.of_request(&filling, &request)?;
    if let Some(name) = key_header {
        headers.key(name, key_lines);
    }
    headers.of_target(&filling, &recipe.target.headers, media_type)?;
    headers.of_principal(&filling, recipe.principal)?;
    let rewriting = form::apply_to_headers(recipe, &mut headers, key_header, body.is_some())?;
    let intent = intent(recipe, &request)?;
    Ok(Rendered {
        method: request.method,
        origin,
        path_and_query,
        headers: headers.checked()?,
        body,
        sent,
        chunked: rewriting.chunked,
        upper_case_headers: rewriting.upper_case,
        intent,
        address: None,
        certificate: certificate(recipe)?,
        signer: signer::signer(&filling, recipe.principal)?,
    })
}

/// The certificate that the principal shows; none where credentials are left out. One that is not its
/// own cannot be shown: where they are wrong, something beside it has to be.
fn certificate(recipe: &Recipe<'_>) -> Result<Option<Certificate>, RenderError> {
    let Some(own) = &recipe.principal.certificate else {
        return Ok(None);
    };
    match recipe.credentials {
        Credentials::Without => Ok(None),
        Credentials::Normal => Ok(Some(own.clone())),
        Credentials::Wrong { .. } => {
            let beside = Principal {
                certificate: None,
                ..recipe.principal.clone()
            };
            match beside.has_credentials() {
                true => Ok(Some(own.clone())),
                false => Err(RenderError::NotApplicable(
                    "a client certificate is the only credential, and a wrong one cannot be made"
                        .to_string(),
                )),
            }
        }
    }
}

/// A probe's selector with its placeholders filled in. Quotes in a value cannot end the path's text.
pub fn selector(
    template: &SelectorTemplate,
    target: &Target,
    principal: &Principal,
    values: &dyn Values,
) -> Result<Selector, RenderError> {
    let filling = Filling::plain(target, principal, values);
    let mut failed = None;
    let selector = template.resolve(|template| {
        filling.quoted_text(template).map_err(|error| {
            let message = error.to_string();
            failed = Some(error);
            message
        })
    });
    selector.map_err(|message| failed.unwrap_or(RenderError::Invalid(message)))
}

/// A template with its placeholders filled in; `""` where a value is missing by its nature.
pub fn text(
    template: &Template,
    target: &Target,
    principal: &Principal,
    values: &dyn Values,
) -> Result<String, RenderError> {
    let filling = Filling::plain(target, principal, values);
    Ok(filling.text(template)?.unwrap_or_default())
}

/// A body before it is written.
enum Content {
    None,
    Json(Value),
    Form(Value),
    Multipart(Value),
    Text(String),
}

fn content(filling: &Filling<'_>, body: Option<&Body>) -> Result<Content, RenderError> {
    Ok(match body {
        None => Content::None,
        Some(Body::Json(tree)) => filling.tree(tree)?.map_or(Content::None, Content::Json),
        Some(Body::Form(tree)) => filling.tree(tree)?.map_or(Content::None, Content::Form),
        Some(Body::Multipart(tree)) => filling
            .tree(tree)?
            .map_or(Content::None, Content::Multipart),
        Some(Body::Text(template)) => filling.text(template)?.map_or(Content::None, Content::Text),
    })
}

fn bytes(
    content: Content,
    forms: &[Form],
) -> Result<(Option<Vec<u8>>, Option<&'static str>), RenderError> {
    let style = form::json_style(forms);
    if style.is_some() && !matches!(content, Content::Json(_)) {
        return Err(RenderError::NotApplicable(
            "the body is no JSON".to_string(),
        ));
    }
    let other_boundary = forms.contains(&Form::NewBoundary);
    if other_boundary && !matches!(content, Content::Multipart(_)) {
        return Err(RenderError::NotApplicable(
            "the body is no multipart".to_string(),
        ));
    }
    Ok(match content {
        Content::None => (None, None),
        Content::Json(value) => {
            let text = match style {
                Some(style) => json::restyled(&value, style)?,
                None => json::write(&value, json::Style::default()),
            };
            (Some(text.into_bytes()), Some("application/json"))
        }
        Content::Form(value) => (
            Some(encode::form_body(&encode::form_fields(&value)).into_bytes()),
            Some("application/x-www-form-urlencoded"),
        ),
        Content::Multipart(value) => {
            let (body, media_type) = multipart::write(&value, other_boundary)?;
            (Some(body), Some(media_type))
        }
        Content::Text(text) => (Some(text.into_bytes()), Some("text/plain; charset=utf-8")),
    })
}

/// Origin, and path with query. A path that begins with a placeholder may turn out to be a URL or a
/// path of its own, as a `Location` does: then it is taken as it is.
fn location(
    filling: &Filling<'_>,
    base: &Url,
    request: &Request,
    query: &[Pair],
) -> Result<(String, String), RenderError> {
    let path = filling.path(&request.path)?;
    let own_origin = base.origin().ascii_serialization();
    let (origin, mut location) = if path.text.starts_with("http://")
        || path.text.starts_with("https://")
    {
        let url = Url::parse(&path.text)
            .map_err(|error| RenderError::Invalid(format!("`{}` is no URL: {error}", path.text)))?;
        let rest = path.text.split_once("://").map_or("", |(_, rest)| rest);
        let rest = rest.find(['/', '?']).map_or("/", |at| &rest[at..]);
        let slash = if rest.starts_with('/') { "" } else { "/" };
        (url.origin().ascii_serialization(), format!("{slash}{rest}"))
    } else if !path.text.starts_with('/') {
        return Err(RenderError::Invalid(format!(
            "`{}` is no path: it begins with no /",
            path.text
        )));
    } else if path.is_reference {
        (own_origin, path.text)
    } else {
        let prefix = base.path().trim_end_matches('/');
        (own_origin, format!("{prefix}{}", path.text))
    };
    location.truncate(location.find('#').unwrap_or(location.len()));
    for pair in query {
        if let Some(entry) = filling.query_entry(pair)? {
            push_query(&mut location, &entry);
        }
    }
    Ok((origin, location))
}

fn push_query(location: &mut String, entry: &str) {
    let has_query = location.contains('?');
    location.push(if has_query { '&' } else { '?' });
    location.push_str(entry);
}

/// What the request asks for, apart from who asks and under which key.
fn intent(recipe: &Recipe<'_>, request: &Request) -> Result<Vec<u8>, RenderError> {
    let filling = Filling::new(recipe, request, Purpose::Intent);
    let (_, location) = location(&filling, recipe.base, request, &request.query)?;
    let (body, _) = bytes(content(&filling, request.body.as_ref())?, &[])?;
    let mut intent = format!("{} {location}\n", request.method).into_bytes();
    intent.extend(body.unwrap_or_default());
    Ok(intent)
}

#[cfg(test)]
mod tests;
