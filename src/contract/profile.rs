//! The contracts that are built in: one complete YAML file each.

use crate::yaml::{self, Diagnostic, Node, Source};
use std::sync::Arc;

/// A contract that is built in.
#[derive(Debug)]
pub struct Profile {
    /// The name to write after `contract:`.
    pub name: &'static str,
    /// Its file.
    text: &'static str,
}

macro_rules! profiles {
    ($($name:literal)*) => {
        [$(Profile {
            name: $name,
            text: include_str!(concat!("profiles/", $name, ".yaml")),
        }),*]
    };
}

/// Every built-in contract, in the order of lists: our own, standards and guidelines, vendors,
/// designs.
pub const PROFILES: [Profile; 26] = profiles! {
    "generic"
    "demo"
    "ietf-draft-07"
    "oasis-repeatable-1.0"
    "rfc-9110-methods"
    "google-aip-155"
    "zalando"
    "open-banking-uk-4"
    "adyen"
    "aws-client-token"
    "azure"
    "checkout"
    "coinbase-cdp"
    "gcs-preconditions"
    "gocardless"
    "increase"
    "modern-treasury"
    "mollie"
    "paypal-orders-v2"
    "square"
    "stripe-v1"
    "stripe-v2"
    "worldpay"
    "brandur"
    "postgres-table"
    "redis-middleware"
};

/// The profile of this name.
pub(super) fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Profile {
    /// The parsed file.
    ///
    /// # Errors
    /// A built-in file that does not parse; a test keeps this from happening.
    pub fn node(&self) -> Result<Node, Diagnostic> {
        let source = Source {
            name: format!("contract {}", self.name),
            text: self.text.to_owned(),
        };
        yaml::parse(Arc::new(source))
    }
}

#[cfg(test)]
mod tests;
