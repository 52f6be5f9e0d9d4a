//! Signatures of events by Standard Webhooks 1.0: HMAC-SHA-256 over id, timestamp and body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What events are signed with. A secret of a demo is none.
pub const SECRET: &[u8] = b"the demo's own signing secret";

/// The value of `webhook-signature`. `timestamp` is in seconds.
pub fn sign(id: &str, timestamp: i64, body: &[u8]) -> String {
    let code = code(SECRET, id, timestamp, body).finalize().into_bytes();
    format!("v1,{}", STANDARD.encode(code))
}

/// The value of `demo-signature`, which is over the body alone, as GitHub signs. A salt stands before the
/// digest where there is one.
pub fn of_body(salt: &str, body: &[u8]) -> String {
    let mut code = Hmac::<Sha256>::new_from_slice(SECRET).expect("HMAC takes a key of any length");
    code.update(salt.as_bytes());
    code.update(body);
    let digest = STANDARD.encode(code.finalize().into_bytes());
    match salt.is_empty() {
        true => digest,
        false => format!("{salt}.{digest}"),
    }
}

/// What the bank signs its notices with, and how it is written: `whsec_` and base64.
const BANK: &[u8] = b"the demo's secret of notices";

/// The value of `webhook-signature` that the bank would send.
#[cfg(test)]
pub fn of_the_bank(id: &str, timestamp: i64, body: &[u8]) -> String {
    let code = code(BANK, id, timestamp, body).finalize().into_bytes();
    format!("v1,{}", STANDARD.encode(code))
}

/// Whether `webhook-signature` holds a signature of the bank.
pub fn is_by_the_bank(id: &str, timestamp: i64, body: &[u8], signature: &str) -> bool {
    signature
        .split(' ')
        .filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok())
        .any(|one| code(BANK, id, timestamp, body).verify_slice(&one).is_ok())
}

fn code(secret: &[u8], id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
    code.update(format!("{id}.{timestamp}.").as_bytes());
    code.update(body);
    code
}
