//! The headers of a request, in the order in which they are decided.

use super::Credentials;
use super::RenderError;
use super::encode;
use super::fill::Filling;
use crate::target::Target;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::principal::Principal;
use crate::target::request::Pair;
use crate::target::request::Request;
use crate::target::secret::SecretValue;
use crate::target::tree::Tree;

/// The basic credentials of all principals as they travel, in base64, so that they can be masked
/// where the target sends them back.
pub fn basic_credentials(target: &Target) -> Vec<String> {
    let filled = |principal: &Principal, template: &Template| -> Option<String> {
        let parts = template.parts.iter().map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Placeholder(Placeholder::Secret(secret)) => Some(secret.reveal()),
            Part::Placeholder(Placeholder::Var(name)) => principal
                .vars
                .get(name)
                .or_else(|| target.vars.get(name))
                .and_then(|value| match value {
                    Tree::Text(text) => text.as_literal(),
                    _ => None,
                }),
            Part::Placeholder(_) => None,
        });
        parts
            .collect::<Option<Vec<&str>>>()
            .map(|parts| parts.concat())
    };
    let principals = target.principals.values();
    principals
        .filter_map(|principal| filled(principal, principal.basic.as_ref()?))
        .map(|text| encode::base64(text.as_bytes()))
        .collect()
}

/// Headers so far.
#[derive(Default)]
pub(super) struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// The request's own.
    pub(super) fn of_request(
        &mut self,
        filling: &Filling<'_>,
        request: &Request,
    ) -> Result<(), RenderError> {
        for pair in &request.headers {
            self.add(filling, pair)?;
        }
        Ok(())
    }

    /// The key, once for each line; none removes what the request says.
    pub(super) fn key(&mut self, name: &str, lines: Vec<Vec<u8>>) {
        self.0
            .retain(|(header, _)| !header.eq_ignore_ascii_case(name));
        for line in lines {
            self.push(name, line);
        }
    }

    /// The target's, where the request has none of that name, and the type that the kind of the
    /// body implies, where nobody says another. A request without body has no Content-Type.
    pub(super) fn of_target(
        &mut self,
        filling: &Filling<'_>,
        pairs: &[Pair],
        media_type: Option<&'static str>,
    ) -> Result<(), RenderError> {
        for pair in pairs {
            let about_body = pair.name.eq_ignore_ascii_case("Content-Type");
            if !self.has(&pair.name) && (media_type.is_some() || !about_body) {
                self.add(filling, pair)?;
            }
        }
        if let Some(media_type) = media_type {
            self.push_new("Content-Type", media_type.to_string());
        }
        Ok(())
    }

    /// The principal's credentials and headers, where the request has none of that name.
    pub(super) fn of_principal(
        &mut self,
        filling: &Filling<'_>,
        principal: &Principal,
    ) -> Result<(), RenderError> {
        if let Some(bearer) = &principal.bearer
            && let Some(token) = credential(filling, bearer)?
        {
            self.push_new("Authorization", format!("Bearer {token}"));
        }
        if let Some(basic) = &principal.basic
            && let Some(text) = credential(filling, basic)?
        {
            let encoded = encode::base64(text.as_bytes());
            self.push_new("Authorization", format!("Basic {encoded}"));
        }
        for pair in &principal.headers {
            let always = ["Authorization", "Cookie"];
            let is_credential = always
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&pair.name));
            if self.has(&pair.name) {
                continue;
            }
            match &pair.value {
                Some(template) if is_credential => {
                    if let Some(value) = credential(filling, template)? {
                        self.push(&pair.name, value.into_bytes());
                    }
                }
                _ => self.add(filling, pair)?,
            }
        }
        Ok(())
    }

    /// Sets a header, whatever was there.
    pub(super) fn replace(&mut self, name: &str, value: &str) {
        let value = value.as_bytes().to_vec();
        match self
            .0
            .iter_mut()
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
        {
            Some(header) => header.1 = value,
            None => self.push(name, value),
        }
    }

    /// Turns all names into capitals.
    pub(super) fn upper_case(&mut self) {
        for (name, _) in &mut self.0 {
            *name = name.to_ascii_uppercase();
        }
    }

    /// The headers, none of which may end its line and begin another.
    pub(super) fn checked(self) -> Result<Vec<(String, Vec<u8>)>, RenderError> {
        for (name, value) in &self.0 {
            if value.iter().any(|byte| [b'\r', b'\n', 0].contains(byte)) {
                return Err(RenderError::Invalid(format!(
                    "the value of {name} holds a line break or a zero byte"
                )));
            }
        }
        Ok(self.0)
    }

    fn add(&mut self, filling: &Filling<'_>, pair: &Pair) -> Result<(), RenderError> {
        if let Some(value) = value(filling, pair)? {
            self.push(&pair.name, value.into_bytes());
        }
        Ok(())
    }

    fn push_new(&mut self, name: &str, value: String) {
        if !self.has(name) {
            self.push(name, value.into_bytes());
        }
    }

    fn push(&mut self, name: &str, value: Vec<u8>) {
        self.0.push((name.to_string(), value));
    }

    fn has(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|(header, _)| header.eq_ignore_ascii_case(name))
    }
}

fn value(filling: &Filling<'_>, pair: &Pair) -> Result<Option<String>, RenderError> {
    match &pair.value {
        Some(template) => filling.text(template),
        None => Ok(None),
    }
}

/// A token, basic credentials or a cookie: secret by nature, also where the file does not say so.
fn credential(filling: &Filling<'_>, template: &Template) -> Result<Option<String>, RenderError> {
    match filling.credentials() {
        Credentials::Without => Ok(None),
        Credentials::Wrong { seed } if !template.holds_secret() => {
            let text = filling.text(template)?;
            Ok(text.map(|text| {
                // The scheme of `Bearer …` and the name of `sid=…` are no secret.
                let kept = text.find([' ', '=']).map_or(0, |at| at + 1);
                let (kept, secret) = text.split_at(kept);
                let junk = filling.junk(&SecretValue::new("credential", secret), seed);
                format!("{kept}{junk}")
            }))
        }
        Credentials::Normal | Credentials::Wrong { .. } => filling.text(template),
    }
}
