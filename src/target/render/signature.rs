//! Signatures of requests, as their target file wants them. The time is handed in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{KeyInit, Mac};
use sha2::{Sha256, Sha384, Sha512};
use std::fmt::Write;

use crate::target::signing::{Algorithm, Encoding, Hmac, HmacKey, SignedPart};

/// What is signed.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The method.
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// The id of the event; empty where there is none.
    pub id: &'a str,
    /// The time of signing, in seconds.
    pub timestamp: u64,
}

/// The digest of a request, encoded.
pub fn digest(hmac: &Hmac, secret: &str, signed: &Signed<'_>) -> String {
    let bytes = written(&hmac.over, signed, "");
    let key = key(hmac.key, secret);
    let code = match hmac.algorithm {
        Algorithm::Sha256 => code::<hmac::Hmac<Sha256>>(&key, &bytes),
        Algorithm::Sha384 => code::<hmac::Hmac<Sha384>>(&key, &bytes),
        Algorithm::Sha512 => code::<hmac::Hmac<Sha512>>(&key, &bytes),
    };
    match hmac.encoding {
        Encoding::Base64 => STANDARD.encode(code),
        Encoding::Hex => code.iter().fold(String::new(), |mut text, byte| {
            // Writing into a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }),
    }
}

/// The bytes that parts stand for.
pub fn written(parts: &[SignedPart], signed: &Signed<'_>, signature: &str) -> Vec<u8> {
    parts.iter().fold(Vec::new(), |mut bytes, part| {
        match part {
            SignedPart::Text(text) => bytes.extend(text.as_bytes()),
            SignedPart::Method => bytes.extend(signed.method.as_bytes()),
            SignedPart::Path => bytes.extend(signed.path.as_bytes()),
            SignedPart::Body => bytes.extend(signed.body),
            SignedPart::Timestamp => bytes.extend(signed.timestamp.to_string().as_bytes()),
            SignedPart::Id => bytes.extend(signed.id.as_bytes()),
            SignedPart::Signature => bytes.extend(signature.as_bytes()),
        }
        bytes
    })
}

fn key(kind: HmacKey, secret: &str) -> Vec<u8> {
    let decoded = match kind {
        HmacKey::Text => None,
        HmacKey::Whsec => STANDARD
            .decode(secret.strip_prefix("whsec_").unwrap_or(secret))
            .ok(),
    };
    decoded.unwrap_or_else(|| secret.as_bytes().to_vec())
}

/// The keyed digest of bytes (RFC 2104).
pub(super) fn code<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut code = <M as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
    code.update(bytes);
    code.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::{Signed, digest, written};
    use crate::target::placeholder::Template;
    use crate::target::signing::Hmac;

    const SIGNED: Signed<'_> = Signed {
        method: "POST",
        path: "/events",
        body: br#"{"test": 2432232314}"#,
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp: 1_614_265_330,
    };

    /// The example of the specification (Standard Webhooks 1.0, "signature scheme").
    #[test]
    fn standard_webhooks_are_signed_as_the_specification_shows() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let hmac = Hmac::standard_webhooks(Template::literal(secret));
        let digest = digest(&hmac, secret, &SIGNED);
        assert_eq!(digest, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn stripe_puts_time_and_digest_into_one_header() {
        let hmac = Hmac::stripe_webhooks(Template::literal("whsec_x"));
        let (name, parts) = &hmac.headers[0];
        let value = written(parts, &SIGNED, "00ff");
        assert_eq!(name, "Stripe-Signature");
        assert_eq!(value, b"t=1614265330,v1=00ff");
        assert_eq!(digest(&hmac, "whsec_x", &SIGNED).len(), 64);
    }

    /// GitHub's own test values ("Testing the webhook payload validation").
    #[test]
    fn github_signs_the_body_alone() {
        let secret = "It's a Secret to Everybody";
        let hmac = Hmac::github_webhooks(Template::literal(secret));
        let signed = Signed {
            body: b"Hello, World!",
            ..SIGNED
        };
        assert_eq!(
            digest(&hmac, secret, &signed),
            "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
        assert!(!hmac.holds_time());
    }
}
