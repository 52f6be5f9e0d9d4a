//! Principals: roles and their credentials.

use std::collections::BTreeMap;

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::reader::Reader;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::principal::Principal;
use crate::target::principal::Role;
use crate::target::tree::Tree;

impl Reader<'_> {
    /// All principals; the owner is anonymous where the file says nothing.
    pub(super) fn principals(&self, node: Option<&Node>) -> BTreeMap<Role, Principal> {
        let mut principals = BTreeMap::from([(Role::Owner, Principal::default())]);
        let entries = node.map(|node| self.entries(node, "principals"));
        for entry in entries.unwrap_or_default() {
            let Some(role) = Role::from_name(&entry.key) else {
                let known = Role::ALL.map(Role::name).join(", ");
                self.error(
                    &entry.key_span,
                    format!(
                        "unknown role `{}`: roles are {known}: scenarios ask for a role, not a name",
                        entry.key
                    ),
                );
                continue;
            };
            let principal = self.principal(entry);
            let authorized = principal.bearer.is_some()
                || principal.basic.is_some()
                || principal.certificate.is_some();
            if role == Role::Anonymous && authorized {
                self.error(
                    &entry.key_span,
                    "`anonymous` is a caller without credentials",
                );
            }
            principals.insert(role, principal);
        }
        principals
    }

    fn principal(&self, entry: &Entry) -> Principal {
        if entry.value.value == Value::Null {
            return Principal::default();
        }
        let what = format!("the principal `{}`", entry.key);
        let mut fields = self.fields(&entry.value, &what);
        let tls = fields.take("tls");
        let (token, oauth2) = (fields.take("token"), fields.take("oauth2"));
        let sign = fields.take("sign");
        let bearer = fields.take("bearer");
        let basic = fields.take("basic");
        let headers = fields.take("headers");
        let query = fields.take("query");
        let vars = fields
            .take("vars")
            .map(|node| self.vars(node))
            .unwrap_or_default();
        fields.finish();
        let mut principal = Principal {
            bearer: bearer.and_then(|node| self.template(node, PartOfFile::Credential.site())),
            basic: basic.and_then(|node| self.template(node, PartOfFile::Credential.site())),
            token: match oauth2 {
                Some(node) => self.oauth2(node),
                None => token.and_then(|node| self.token(node)),
            },
            signing: sign.and_then(|node| self.signing(node)),
            certificate: tls.and_then(|node| self.own_certificate(node)),
            vars,
            ..Principal::default()
        };
        if let (Some(token), Some(oauth2)) = (token, oauth2) {
            self.report(
                Diagnostic::error("one token: `token` or `oauth2`")
                    .at(oauth2.span.first_line())
                    .related(token.span.first_line(), "the other one"),
            );
        }
        for (node, template) in [(bearer, &principal.bearer), (basic, &principal.basic)] {
            if let (Some(node), Some(template)) = (node, template) {
                self.warn_without_secret(node, template);
            }
        }
        if let (Some(node), Some(template)) = (basic, &principal.basic) {
            self.check_basic(node, template);
        }
        if let (Some(bearer), Some(basic)) = (bearer, basic) {
            self.report(
                Diagnostic::error("one Authorization: bearer or basic")
                    .at(basic.span.clone())
                    .related(bearer.span.clone(), "the other one"),
            );
        }
        for (node, what, pairs) in [
            (headers, "headers", &mut principal.headers),
            (query, "query", &mut principal.query),
        ] {
            for entry in node
                .map(|node| self.entries(node, what))
                .unwrap_or_default()
            {
                let part = match is_credential(&entry.key) {
                    true => PartOfFile::Credential,
                    false => PartOfFile::Principal,
                };
                let single = Node {
                    span: entry.value.span.clone(),
                    value: Value::Map(vec![entry.clone()]),
                };
                let found = self.pairs(&single, what, part.site());
                let template = found.first().and_then(|pair| pair.value.as_ref());
                if let (PartOfFile::Credential, Some(template)) = (part, template) {
                    self.warn_without_secret(&entry.value, template);
                }
                pairs.extend(found.into_iter().filter(|pair| pair.value.is_some()));
            }
        }
        if let Some(node) = token.or(oauth2) {
            self.place_token(&mut principal, node);
        }
        principal
    }

    /// A token that is used nowhere is sent as a bearer.
    fn place_token(&self, principal: &mut Principal, node: &Node) {
        let pairs = principal.headers.iter().chain(&principal.query);
        let mut templates = pairs
            .filter_map(|pair| pair.value.as_ref())
            .chain(&principal.bearer)
            .chain(&principal.basic);
        if templates.any(Template::holds_token) {
            return;
        }
        if principal.bearer.is_some() || principal.basic.is_some() {
            self.report(
                Diagnostic::error("the token is used nowhere, and there is an Authorization")
                    .at(node.span.first_line())
                    .help("write ${token} into a header, or leave bearer and basic out"),
            );
            return;
        }
        principal.bearer = Some(Template {
            parts: vec![Part::Placeholder(Placeholder::Token)],
        });
    }

    /// Whether any principal asks for a token.
    pub(super) fn has_tokens(&self) -> bool {
        let principals = self.document.get("principals").and_then(Node::as_map);
        principals.unwrap_or_default().iter().any(|principal| {
            let asks = |name| principal.value.get(name).is_some();
            asks("token") || asks("oauth2")
        })
    }

    /// Basic credentials are `id:password`, which is seen only with the secrets filled in.
    fn check_basic(&self, node: &Node, template: &Template) {
        let mut known = true;
        let mut filled = String::new();
        for part in &template.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Placeholder(Placeholder::Secret(secret)) => filled.push_str(secret.reveal()),
                Part::Placeholder(_) => known = false,
            }
        }
        if known && !filled.contains(':') && !self.is_wrong(&node.span) {
            self.report(
                Diagnostic::error("basic credentials are `id:password`, and here is no `:`")
                    .at(node.span.clone())
                    .help("basic: \"ID:${secret.PASSWORD}\""),
            );
        }
    }

    fn warn_without_secret(&self, node: &Node, template: &Template) {
        if self.is_wrong(&node.span) {
            return;
        }
        let may_hold = template.holds_secret()
            || template
                .placeholders()
                .any(|placeholder| matches!(placeholder, Placeholder::Var(_)));
        if !may_hold {
            self.report(
                Diagnostic::warning("this credential holds no ${secret…}: \"without credentials\" cannot be derived")
                    .at(node.span.clone())
                    .help("write the value as ${secret.NAME} and set NAME in the environment"),
            );
        }
    }

    /// `vars` of the target or of a principal.
    pub(super) fn vars(&self, node: &Node) -> BTreeMap<String, Tree> {
        self.entries(node, "vars")
            .iter()
            .map(|entry| {
                let value = self.tree(&entry.value, PartOfFile::Vars.site());
                (entry.key.clone(), value)
            })
            .collect()
    }
}

/// Whether a header or query entry is a credential by its name.
fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie"].contains(&name.as_str())
        || [
            "api-key", "apikey", "api_key", "token", "secret", "password",
        ]
        .iter()
        .any(|sign| name.contains(sign))
}
