//! Consumers: operations that receive events. We are their sender then: the key is the id of the
//! event, the signature is ours, and where a broker stands between, a command publishes.

use std::time::Duration;

use super::action::Action;
use super::action::Command;
use super::placeholder::Template;

/// What is known of an operation that receives events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consumer {
    /// How long it may take until it has tried again by itself what it took and could not handle;
    /// `None`: it does not, whoever sends must.
    pub retries_within: Option<Duration>,
    /// Publishes the event, where it is not posted.
    pub publish: Option<Publication>,
}

/// A command that publishes an event. In its environment are `key`, `marker` and `body`, the path of
/// the request as `path`, and its headers as `header_NAME`, in small letters and `_` for `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The command.
    pub command: Command,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

impl Publication {
    /// The publication that an action is; `None` for a request.
    pub fn of(action: Action) -> Option<Publication> {
        match action.what {
            super::action::Deed::Command(command) => Some(Publication {
                command,
                timeout: action.timeout,
            }),
            super::action::Deed::Request(_) => None,
        }
    }
}

/// How a request is signed, last, over its final bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Signing {
    /// A keyed digest.
    Hmac(Hmac),
    /// A command that has the body as `body`, and writes headers, one `Name: value` a line. Beside
    /// what every command has, `timestamp` (in seconds) is in its environment.
    Command(Command),
}

impl Signing {
    /// Whether the id of the event is known to be signed.
    pub fn covers_id(&self) -> bool {
        match self {
            Signing::Hmac(hmac) => hmac.over.contains(&SignedPart::Id),
            Signing::Command(_) => false,
        }
    }
}

/// A keyed digest (RFC 2104) over parts of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Hmac {
    /// The secret.
    pub secret: Template,
    /// What of the secret is the key.
    pub key: HmacKey,
    /// The digest.
    pub algorithm: Algorithm,
    /// What is signed.
    pub over: Vec<SignedPart>,
    /// How the digest is written.
    pub encoding: Encoding,
    /// The headers that it brings.
    pub headers: Vec<(String, Vec<SignedPart>)>,
}

/// What of a secret is the key of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HmacKey {
    /// Its bytes.
    Text,
    /// What follows `whsec_`, in base64; the bytes where that is none.
    Whsec,
}

/// A digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// How a digest is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// In small hexadecimal digits.
    Hex,
    /// In base64 with padding.
    Base64,
}

/// A part of what is signed, or of a header that a signature brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedPart {
    /// Text as it is.
    Text(String),
    /// The method.
    Method,
    /// Path and query.
    Path,
    /// The body.
    Body,
    /// The time of signing, in seconds.
    Timestamp,
    /// The id of the event.
    Id,
    /// The digest, in headers only.
    Signature,
}

impl SignedPart {
    /// The placeholder's name.
    pub fn from_name(name: &str) -> Option<SignedPart> {
        Some(match name {
            "method" => SignedPart::Method,
            "path" => SignedPart::Path,
            "body" => SignedPart::Body,
            "timestamp" => SignedPart::Timestamp,
            "id" => SignedPart::Id,
            "signature" => SignedPart::Signature,
            _ => return None,
        })
    }
}

impl Hmac {
    /// Standard Webhooks 1.0: `id.timestamp.body`, in base64.
    pub fn standard_webhooks(secret: Template) -> Hmac {
        let dot = || SignedPart::Text(".".to_owned());
        Hmac {
            secret,
            key: HmacKey::Whsec,
            algorithm: Algorithm::Sha256,
            over: vec![
                SignedPart::Id,
                dot(),
                SignedPart::Timestamp,
                dot(),
                SignedPart::Body,
            ],
            encoding: Encoding::Base64,
            headers: vec![
                ("webhook-id".to_owned(), vec![SignedPart::Id]),
                ("webhook-timestamp".to_owned(), vec![SignedPart::Timestamp]),
                (
                    "webhook-signature".to_owned(),
                    vec![SignedPart::Text("v1,".to_owned()), SignedPart::Signature],
                ),
            ],
        }
    }

    /// As Stripe signs: `timestamp.body`, both in one header (Stripe's page on webhook signatures).
    pub fn stripe_webhooks(secret: Template) -> Hmac {
        Hmac {
            secret,
            key: HmacKey::Text,
            algorithm: Algorithm::Sha256,
            over: vec![
                SignedPart::Timestamp,
                SignedPart::Text(".".to_owned()),
                SignedPart::Body,
            ],
            encoding: Encoding::Hex,
            headers: vec![(
                "Stripe-Signature".to_owned(),
                vec![
                    SignedPart::Text("t=".to_owned()),
                    SignedPart::Timestamp,
                    SignedPart::Text(",v1=".to_owned()),
                    SignedPart::Signature,
                ],
            )],
        }
    }

    /// As GitHub signs: the body alone (GitHub's page on validating webhook deliveries).
    pub fn github_webhooks(secret: Template) -> Hmac {
        Hmac {
            secret,
            key: HmacKey::Text,
            algorithm: Algorithm::Sha256,
            over: vec![SignedPart::Body],
            encoding: Encoding::Hex,
            headers: vec![(
                "X-Hub-Signature-256".to_owned(),
                vec![
                    SignedPart::Text("sha256=".to_owned()),
                    SignedPart::Signature,
                ],
            )],
        }
    }

    /// Whether the time of signing is signed.
    pub fn holds_time(&self) -> bool {
        self.over.contains(&SignedPart::Timestamp)
    }
}
