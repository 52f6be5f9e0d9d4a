//! What a contract declares, in words.

use crate::contract::{Contract, FailureClass};
use crate::promise::Promise;

/// What a contract declares for a promise, in words; `unspecified` where it declares nothing.
pub fn declared(contract: &Contract, promise: Promise) -> String {
    contract
        .says(promise)
        .unwrap_or_else(|| "unspecified".to_owned())
}

/// `after server-5xx executed again`.
pub(super) fn after(contract: &Contract, class: FailureClass) -> String {
    contract
        .says_after(class)
        .unwrap_or_else(|| format!("after {} unspecified", class.name()))
}
