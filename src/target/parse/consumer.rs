//! What makes an operation a receiver of events, and how requests are signed.

use crate::yaml::Diagnostic;
use crate::yaml::Node;

use super::context::PartOfFile;
use super::reader::Fields;
use super::reader::Reader;
use crate::target::consumer::Algorithm;
use crate::target::consumer::Consumer;
use crate::target::consumer::Encoding;
use crate::target::consumer::Hmac;
use crate::target::consumer::HmacKey;
use crate::target::consumer::Publication;
use crate::target::consumer::SignedPart;
use crate::target::consumer::Signing;
use crate::target::placeholder::Template;
use crate::target::syntax::Piece;
use crate::target::syntax::pieces;

impl Reader<'_> {
    /// `kind: consumer` and what may stand beside it only then.
    pub(super) fn consumer(&self, fields: &mut Fields<'_, '_>) -> Option<Consumer> {
        let kind = fields.take("kind");
        let retries_within = fields.take_entry("retries-within");
        let publish = fields.take_entry("publish");
        let Some(kind) = kind else {
            for entry in [retries_within, publish].into_iter().flatten() {
                self.report(
                    Diagnostic::error(format!("`{}` is of consumers only", entry.key))
                        .at(entry.key_span.clone())
                        .help("add `kind: consumer` where the operation receives events"),
                );
            }
            return None;
        };
        let word = self.text(kind, "a kind")?;
        if word != "consumer" {
            self.report(
                Diagnostic::error(format!("unknown kind `{word}`"))
                    .at(kind.span.clone())
                    .help("an operation that receives events is a `consumer`; others have no kind"),
            );
            return None;
        }
        Some(Consumer {
            retries_within: retries_within
                .and_then(|entry| self.duration(&entry.value, "retries-within")),
            publish: publish.and_then(|entry| self.publication(&entry.value)),
        })
    }

    fn publication(&self, node: &Node) -> Option<Publication> {
        let action = self.action(node, PartOfFile::Operation.site())?;
        let publication = Publication::of(action);
        if publication.is_none() {
            self.report(
                Diagnostic::error("what publishes is a command")
                    .at(node.span.clone())
                    .help("what is posted needs no `publish`: its `request` says where"),
            );
        }
        publication
    }

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
        fields.unsupported("sigv4");
        let sound = fields.finish();
        let only = found.pop();
        if (only.is_none() && sound && !self.is_wrong(&node.span)) || !found.is_empty() {
            self.report(
                Diagnostic::error("a request is signed in one way")
                    .at(node.span.first_line())
                    .help("one of standard-webhooks, stripe-webhooks, github-webhooks, hmac and command"),
            );
            return None;
        }
        only
    }

    fn signing_secret(&self, node: &Node) -> Option<Template> {
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
        let (Some(header), Some(secret)) = (header, secret) else {
            if sound {
                self.report(
                    Diagnostic::error("`hmac` needs `header` and `secret`")
                        .at(node.span.clone())
                        .help("hmac: { header: X-Signature, secret: \"${secret.HOOKS}\", over: \"${timestamp}.${body}\" }"),
                );
            }
            return None;
        };
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
