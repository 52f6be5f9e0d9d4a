//! `sign`: how requests are signed.

use crate::yaml::Diagnostic;
use crate::yaml::Node;

use super::context::PartOfFile;
use super::reader::Reader;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::signing::Algorithm;
use crate::target::signing::Encoding;
use crate::target::signing::Hmac;
use crate::target::signing::HmacKey;
use crate::target::signing::SigV4;
use crate::target::signing::SignedPart;
use crate::target::signing::Signing;
use crate::target::syntax::Piece;
use crate::target::syntax::pieces;

impl Reader<'_> {
    /// `sign`.
    pub(super) fn signing(&self, node: &Node) -> Option<Signing> {
        let mut fields = self.fields(node, "sign");
        type Scheme = fn(Template) -> Hmac;
        let known: [(&str, Scheme); 3] = [
            ("standard-webhooks", Hmac::standard_webhooks),
            ("stripe-webhooks", Hmac::stripe_webhooks),
            ("github-webhooks", Hmac::github_webhooks),
        ];
        let mut found = Vec::new();
        for (name, scheme) in known {
            if let Some(node) = fields.take(name) {
                found.extend(self.signing_secret(node).map(scheme).map(Signing::Hmac));
            }
        }
        if let Some(node) = fields.take("hmac") {
            found.extend(self.hmac(node).map(Signing::Hmac));
        }
        if let Some(node) = fields.take("command") {
            let command = self.command(node, PartOfFile::Operation.site());
            found.extend(command.map(Signing::Command));
        }
        if let Some(node) = fields.take("sigv4") {
            found.extend(self.sigv4(node).map(Signing::SigV4));
        }
        let sound = fields.finish();
        let only = found.pop();
        if (only.is_none() && sound && !self.is_wrong(&node.span)) || !found.is_empty() {
            self.report(
                Diagnostic::error("a request is signed in one way")
                    .at(node.span.first_line())
                    .help("one of standard-webhooks, stripe-webhooks, github-webhooks, hmac, sigv4 and command"),
            );
            return None;
        }
        only
    }

    pub(super) fn signing_secret(&self, node: &Node) -> Option<Template> {
        let secret = self.template(node, PartOfFile::Credential.site())?;
        if !secret.holds_secret() && !self.is_wrong(&node.span) {
            self.report(
                Diagnostic::warning("this secret holds no ${secret…}: reports cannot mask it")
                    .at(node.span.clone())
                    .help("write the value as ${secret.NAME} and set NAME in the environment"),
            );
        }
        Some(secret)
    }

    /// `sign.sigv4`; credentials that are not named are those of the AWS tools.
    fn sigv4(&self, node: &Node) -> Option<SigV4> {
        let mut fields = self.fields(node, "sigv4");
        let service = fields.take("service");
        let region = fields.take("region");
        let access = fields.take("access-key");
        let secret = fields.take("secret-key");
        let session = fields.take("session-token");
        let sound = fields.finish();
        let (service, region) = self.both(
            node,
            "`sigv4`",
            [("service", service), ("region", region)],
            sound,
            "sigv4: { service: execute-api, region: eu-central-1 }",
        )?;
        let usual = |name: &str| -> Option<Template> {
            let secret = self.secret(name, &node.span)?;
            Some(Template {
                parts: vec![Part::Placeholder(Placeholder::Secret(secret))],
            })
        };
        let site = PartOfFile::Credential.site();
        let access_key = match access {
            Some(node) => self.template(node, site)?,
            None => usual("AWS_ACCESS_KEY_ID")?,
        };
        let secret_key = match secret {
            Some(node) => self.signing_secret(node)?,
            None => usual("AWS_SECRET_ACCESS_KEY")?,
        };
        let of_environment = || {
            let set = self.environment.var("AWS_SESSION_TOKEN");
            set.is_some_and(|token| !token.is_empty()) && access.is_none()
        };
        let session_token = match session {
            Some(node) => Some(self.signing_secret(node)?),
            None if of_environment() => Some(usual("AWS_SESSION_TOKEN")?),
            None => None,
        };
        let word = |node: &Node| Some(self.template(node, PartOfFile::Loading.site())?.to_string());
        Some(SigV4 {
            service: word(service)?,
            region: word(region)?,
            access_key,
            secret_key,
            session_token,
        })
    }

    /// `sign.hmac`.
    fn hmac(&self, node: &Node) -> Option<Hmac> {
        let mut fields = self.fields(node, "hmac");
        let header = fields.take("header");
        let secret = fields.take("secret");
        let over = fields.take("over");
        let algorithm = fields.take("algorithm");
        let encoding = fields.take("encoding");
        let value = fields.take("value");
        let sound = fields.finish();
        let (header, secret) = self.both(
            node,
            "`hmac`",
            [("header", header), ("secret", secret)],
            sound,
            "hmac: { header: X-Signature, secret: \"${secret.HOOKS}\", over: \"${timestamp}.${body}\" }",
        )?;
        let name = self.text(header, "a header's name")?;
        self.check_header_name(&name, &header.span);
        let word = |node: Option<&Node>| node.and_then(|node| self.text(node, "a word"));
        let algorithm = match word(algorithm).as_deref() {
            None | Some("sha256") => Algorithm::Sha256,
            Some("sha384") => Algorithm::Sha384,
            Some("sha512") => Algorithm::Sha512,
            Some(other) => {
                let message =
                    format!("unknown algorithm `{other}`: it is sha256, sha384 or sha512");
                self.error(&algorithm?.span, message);
                return None;
            }
        };
        let encoding = match word(encoding).as_deref() {
            None | Some("hex") => Encoding::Hex,
            Some("base64") => Encoding::Base64,
            Some(other) => {
                let message = format!("unknown encoding `{other}`: it is hex or base64");
                self.error(&encoding?.span, message);
                return None;
            }
        };
        let over = match over {
            Some(node) => self.signed_parts(node, false)?,
            None => vec![SignedPart::Body],
        };
        let value = match value {
            Some(node) => self.signed_parts(node, true)?,
            None => vec![SignedPart::Signature],
        };
        Some(Hmac {
            secret: self.signing_secret(secret)?,
            key: HmacKey::Text,
            algorithm,
            over,
            encoding,
            headers: vec![(name, value)],
        })
    }

    /// A text with the parts of a request that a signature knows.
    fn signed_parts(&self, node: &Node, in_value: bool) -> Option<Vec<SignedPart>> {
        let text = self.scalar_text(node, "a text")?;
        let pieces = match pieces(&text) {
            Ok(pieces) => pieces,
            Err((message, _)) => {
                self.error(&node.span, message);
                return None;
            }
        };
        let mut parts = Vec::new();
        for piece in pieces {
            let part = match piece {
                Piece::Text(text) => Some(SignedPart::Text(text.to_owned())),
                Piece::Name(name) => SignedPart::from_name(name)
                    .filter(|part| in_value || *part != SignedPart::Signature),
            };
            let Some(part) = part else {
                self.report(
                    Diagnostic::error("a signature does not know this placeholder")
                        .at(node.span.clone())
                        .help("it knows ${method}, ${path}, ${body}, ${timestamp} and ${id}, and in `value` ${signature}"),
                );
                return None;
            };
            parts.push(part);
        }
        if in_value && !parts.contains(&SignedPart::Signature) {
            self.error(&node.span, "the value of the header holds no ${signature}");
        }
        Some(parts)
    }
}
