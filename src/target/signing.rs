//! Signatures of requests: how they are made, last, over the final bytes. Data only.

use super::action::Command;
use super::placeholder::Template;

/// How a request is signed, last, over its final bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Signing {
    /// A keyed digest.
    Hmac(Hmac),
    /// A command that has the body as `body`, and writes headers, one `Name: value` a line. Beside
    /// what every command has, `timestamp` (in seconds) is in its environment.
    Command(Command),
    /// AWS Signature Version 4.
    SigV4(SigV4),
}

/// AWS Signature Version 4, as the AWS documentation "Signing AWS requests" has it.
#[derive(Clone, Debug, PartialEq)]
pub struct SigV4 {
    /// The service, such as `execute-api`.
    pub service: String,
    /// The region.
    pub region: String,
    /// The access key's id.
    pub access_key: Template,
    /// The secret.
    pub secret_key: Template,
    /// The token of temporary credentials.
    pub session_token: Option<Template>,
}

impl Signing {
    /// Whether the id of the event is known to be signed.
    pub fn covers_id(&self) -> bool {
        match self {
            Signing::Hmac(hmac) => hmac.over.contains(&SignedPart::Id),
            Signing::Command(_) | Signing::SigV4(_) => false,
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
