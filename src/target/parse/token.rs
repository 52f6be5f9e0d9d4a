//! `token` and `oauth2` of a principal.

use crate::yaml::Diagnostic;
use crate::yaml::Node;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::reader::Reader;
use crate::target::placeholder::Template;
use crate::target::selector::Selector;
use crate::target::token::ClientCredentials;
use crate::target::token::ClientPlace;
use crate::target::token::Expiry;
use crate::target::token::Token;
use crate::target::token::TokenSource;

/// Where an authorization server writes the token (RFC 6749, section 5.1).
const ACCESS_TOKEN: &str = "$.access_token";
/// Where it writes for how long it is good, in seconds.
const EXPIRES_IN: &str = "$.expires_in";

impl Reader<'_> {
    /// `token`: a request or a command that brings it.
    pub(super) fn token(&self, node: &Node) -> Option<Token> {
        let mut fields = self.fields(node, "token");
        let request = fields.take("request");
        let command = fields.take("command");
        let value = fields.take("value");
        let expires = fields.take("expires-in");
        let sound = fields.finish();
        let site = PartOfFile::Token.site();
        let (source, usual) = match (request, command) {
            (Some(request), None) => {
                let request = self.request(request, site)?;
                (TokenSource::Request(Box::new(request)), ACCESS_TOKEN)
            }
            (None, Some(command)) => (TokenSource::Command(self.command(command, site)?), "text"),
            _ => {
                if sound {
                    self.report(
                        Diagnostic::error("a token comes from a `request` or a `command`")
                            .at(node.span.first_line())
                            .help("token: { request: POST /login, value: $.token }"),
                    );
                }
                return None;
            }
        };
        let value = match value {
            Some(node) => self.selector(node)?,
            None => self.known_selector(usual, node)?,
        };
        let expires = match expires {
            Some(node) => self.expiry(node)?,
            None => Expiry::Named(self.known_selector(EXPIRES_IN, node)?),
        };
        Some(Token {
            source,
            value,
            expires,
        })
    }

    /// `oauth2`: the client credentials grant.
    pub(super) fn oauth2(&self, node: &Node) -> Option<Token> {
        let mut fields = self.fields(node, "oauth2");
        let url = fields.take("token-url");
        let id = fields.take("client-id");
        let secret = fields.take("client-secret");
        let further = [
            ("scope", fields.take("scope")),
            ("audience", fields.take("audience")),
        ];
        let place = fields.take("in");
        let sound = fields.finish();
        let (url, id) = self.both(
            node,
            "`oauth2`",
            [("token-url", url), ("client-id", id)],
            sound,
            "oauth2: { token-url: \"https://…/token\", client-id: \"${secret.ID}\", client-secret: \"${secret.SECRET}\" }",
        )?;
        let place = match place.map(|node| (node, self.text(node, "a place"))) {
            None => ClientPlace::Header,
            Some((node, word)) => match word?.as_str() {
                "header" => ClientPlace::Header,
                "body" => ClientPlace::Body,
                "tls" => ClientPlace::Tls,
                other => {
                    self.unknown(&node.span, "place", other, &["header", "body", "tls"]);
                    return None;
                }
            },
        };
        if (secret.is_none()) != (place == ClientPlace::Tls) {
            self.report(
                Diagnostic::error(match place {
                    ClientPlace::Tls => "with `in: tls` the certificate is the secret",
                    _ => "`oauth2` needs a `client-secret`",
                })
                .at(secret.unwrap_or(node).span.first_line())
                .help("client-secret: \"${secret.NAME}\", or in: tls"),
            );
            return None;
        }
        let credential = |node: &Node| self.template(node, PartOfFile::Token.site());
        let mut asked: Vec<(&'static str, Template)> = Vec::new();
        for (name, node) in further {
            if let Some(node) = node {
                asked.push((name, credential(node)?));
            }
        }
        let secret = match secret {
            Some(node) => Some(self.signing_secret(node)?),
            None => None,
        };
        let credentials = ClientCredentials {
            url: credential(url)?,
            id: credential(id)?,
            secret,
            further: asked,
            place,
        };
        Some(Token {
            source: TokenSource::ClientCredentials(Box::new(credentials)),
            value: self.known_selector(ACCESS_TOKEN, node)?,
            expires: Expiry::Named(self.known_selector(EXPIRES_IN, node)?),
        })
    }

    /// A time, or where in the answer it stands.
    fn expiry(&self, node: &Node) -> Option<Expiry> {
        let is_selector = matches!(&node.value, Value::Text(text) if text.starts_with('$') || text.starts_with("header."));
        match is_selector {
            true => self.selector(node).map(Expiry::Named),
            false => self.duration(node, "expires-in").map(Expiry::After),
        }
    }

    fn known_selector(&self, text: &str, node: &Node) -> Option<Selector> {
        self.selector_of(text, &node.span)
    }
}
