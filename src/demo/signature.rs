//! Signatures of events by Standard Webhooks 1.0: HMAC-SHA-256 over id, timestamp and body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What events are signed with. A secret of a demo is none.
pub const SECRET: &[u8] = b"the demo's own signing secret";

/// The value of `webhook-signature`. `timestamp` is in seconds.
pub fn sign(id: &str, timestamp: i64, body: &[u8]) -> String {
    let code = code(id, timestamp, body).finalize().into_bytes();
    format!("v1,{}", STANDARD.encode(code))
}

fn code(id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(SECRET).expect("HMAC takes a key of any length");
    code.update(format!("{id}.{timestamp}.").as_bytes());
    code.update(body);
    code
}
