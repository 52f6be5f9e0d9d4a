//! Fills templates in: values of placeholders, their types, and their encoding.

use serde_json::Value;

use super::Credentials;
use super::Recipe;
use super::RenderError;
use super::encode;
use crate::target::Target;
use crate::target::key::KeyUse;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::placeholder::Values;
use crate::target::principal::Principal;
use crate::target::request::Pair;
use crate::target::request::Request;
use crate::target::secret::SecretValue;
use crate::target::tree::Tree;

/// What the result is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The wire.
    Wire,
    /// Telling requests of the same intent from others.
    Intent,
}

/// Fills templates in for one request. Where something is left out, the result is `None`.
pub(super) struct Filling<'a> {
    target: &'a Target,
    principal: &'a Principal,
    values: &'a dyn Values,
    credentials: Credentials,
    key: Option<&'a KeyUse>,
    token: Option<&'a str>,
    purpose: Purpose,
}

/// A path, filled in.
pub(super) struct Path {
    /// The encoded text.
    pub(super) text: String,
    /// Whether it came from a placeholder as a path or URL of its own.
    pub(super) is_reference: bool,
}

impl<'a> Filling<'a> {
    pub(super) fn new(recipe: &Recipe<'a>, request: &Request, purpose: Purpose) -> Self {
        Filling {
            target: recipe.target,
            principal: recipe.principal,
            values: recipe.values,
            credentials: recipe.credentials,
            key: recipe
                .key
                .map(|(_, using)| using)
                .filter(|_| request.places_key()),
            token: recipe.token,
            purpose,
        }
    }

    /// For templates that belong to no request.
    pub(super) fn plain(
        target: &'a Target,
        principal: &'a Principal,
        values: &'a dyn Values,
    ) -> Self {
        Filling {
            target,
            principal,
            values,
            credentials: Credentials::Normal,
            key: None,
            token: None,
            purpose: Purpose::Wire,
        }
    }

    /// Which credentials are wanted.
    pub(super) fn credentials(&self) -> Credentials {
        self.credentials
    }

    /// A value that takes the place of a credential.
    pub(super) fn junk(&self, secret: &SecretValue, seed: u64) -> String {
        secret.junk(seed, &self.target.secrets)
    }

    /// The value of a template: a sole placeholder keeps its type, all else is text.
    pub(super) fn value(&self, template: &Template) -> Result<Option<Value>, RenderError> {
        match template.sole() {
            Some(placeholder) => self.placeholder(placeholder),
            None => Ok(self.text(template)?.map(Value::String)),
        }
    }

    /// The text of a template.
    pub(super) fn text(&self, template: &Template) -> Result<Option<String>, RenderError> {
        self.joined(template, &|text| text.to_string(), &|value| value)
    }

    /// The text of a template within a JSONPath, where quotes in values are escaped.
    pub(super) fn quoted_text(&self, template: &Template) -> Result<String, RenderError> {
        let escape = |value: String| {
            value
                .replace('\\', "\\\\")
                .replace('\'', "\\u0027")
                .replace('"', "\\u0022")
        };
        let text = self.joined(template, &|text| text.to_string(), &escape)?;
        Ok(text.unwrap_or_default())
    }

    /// A body. Members and entries that hold nothing but what is left out are left out as well.
    pub(super) fn tree(&self, tree: &Tree) -> Result<Option<Value>, RenderError> {
        Ok(Some(match tree {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Number(number) => Value::Number(number.clone()),
            Tree::Text(template) => return self.value(template),
            Tree::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.extend(self.tree(item)?);
                }
                Value::Array(list)
            }
            Tree::Map(members) => {
                let mut map = serde_json::Map::new();
                for (name, member) in members {
                    if let Some(value) = self.tree(member)? {
                        map.insert(name.clone(), value);
                    }
                }
                Value::Object(map)
            }
        }))
    }

    /// A path: values are percent-encoded, unless the path begins with one that is a path itself.
    pub(super) fn path(&self, template: &Template) -> Result<Path, RenderError> {
        let left_out =
            || RenderError::NotApplicable("a secret or the key is part of the path".to_string());
        if let Some(Part::Placeholder(first)) = template.parts.first() {
            let value = self.placeholder(first)?.ok_or_else(left_out)?;
            let text = text_of(value);
            if text.starts_with(['/'])
                || text.starts_with("http://")
                || text.starts_with("https://")
            {
                let rest = Template {
                    parts: template.parts[1..].to_vec(),
                };
                let rest = self.joined(&rest, &encode::literal, &encoded)?;
                return Ok(Path {
                    text: encode::literal(&text) + &rest.ok_or_else(left_out)?,
                    is_reference: true,
                });
            }
        }
        let text = self.joined(template, &encode::literal, &encoded)?;
        Ok(Path {
            text: text.ok_or_else(left_out)?,
            is_reference: false,
        })
    }

    /// One entry of a query, encoded.
    pub(super) fn query_entry(&self, pair: &Pair) -> Result<Option<String>, RenderError> {
        let Some(template) = &pair.value else {
            return Ok(None);
        };
        if pair.encoded {
            let value = self.joined(template, &encode::literal, &encoded)?;
            return Ok(value.map(|value| format!("{}={value}", encode::literal(&pair.name))));
        }
        let value = self.text(template)?;
        Ok(value.map(|value| {
            format!(
                "{}={}",
                encode::component(pair.name.as_bytes()),
                encode::component(value.as_bytes())
            )
        }))
    }

    fn joined(
        &self,
        template: &Template,
        of_text: &dyn Fn(&str) -> String,
        of_value: &dyn Fn(String) -> String,
    ) -> Result<Option<String>, RenderError> {
        let mut joined = String::new();
        for part in &template.parts {
            match part {
                Part::Text(text) => joined.push_str(&of_text(text)),
                Part::Placeholder(placeholder) => match self.placeholder(placeholder)? {
                    Some(value) => joined.push_str(&of_value(text_of(value))),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(joined))
    }

    fn placeholder(&self, placeholder: &Placeholder) -> Result<Option<Value>, RenderError> {
        let intent = self.purpose == Purpose::Intent;
        Ok(Some(match placeholder {
            Placeholder::Secret(secret) if intent => Value::String(secret.name.clone()),
            Placeholder::Secret(secret) => match self.credentials {
                Credentials::Normal => Value::String(secret.reveal().to_string()),
                Credentials::Without => return Ok(None),
                Credentials::Wrong { seed } => Value::String(self.junk(secret, seed)),
            },
            Placeholder::Token if !intent => match (self.credentials, self.token) {
                (Credentials::Without, _) => return Ok(None),
                (_, None) => {
                    return Err(RenderError::NoValue {
                        placeholder: "${token}".to_string(),
                        reason: "no token was asked for yet".to_string(),
                    });
                }
                (Credentials::Normal, Some(token)) => Value::String(token.to_string()),
                (Credentials::Wrong { seed }, Some(token)) => {
                    Value::String(self.junk(&SecretValue::new("token", token), seed))
                }
            },
            Placeholder::Uuid | Placeholder::Key | Placeholder::Token if intent => {
                Value::String(placeholder.to_string())
            }
            Placeholder::Key if self.key.is_some() => return self.written_key(),
            Placeholder::Var(name) => {
                let own = self.principal.vars.get(name);
                let tree = own.or_else(|| self.target.vars.get(name));
                return match tree {
                    Some(tree) => self.tree(tree),
                    None => Err(RenderError::NoValue {
                        placeholder: format!("${{{placeholder}}}"),
                        reason: "neither the principal nor the target has this var".to_string(),
                    }),
                };
            }
            Placeholder::Filler(length) => {
                Value::String(('a'..='z').cycle().take(*length).collect())
            }
            placeholder => self
                .values
                .get(placeholder)
                .map_err(|reason| RenderError::NoValue {
                    placeholder: format!("${{{placeholder}}}"),
                    reason,
                })?,
        }))
    }

    /// The key where the request itself says `${key}`.
    fn written_key(&self) -> Result<Option<Value>, RenderError> {
        let refused = |reason: &str| Err(RenderError::NotApplicable(reason.to_string()));
        match self.key {
            None | Some(KeyUse::None) => Ok(None),
            Some(KeyUse::Value { text, .. }) => Ok(Some(Value::String(text.clone()))),
            Some(KeyUse::Lines(_)) => refused("the key is in no header of its own"),
            Some(KeyUse::Raw(bytes)) => match String::from_utf8(bytes.clone()) {
                Ok(text) => Ok(Some(Value::String(text))),
                Err(_) => refused("the request takes no key that is no text"),
            },
        }
    }
}

fn encoded(value: String) -> String {
    encode::component(value.as_bytes())
}

/// A value within text.
pub(super) fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
