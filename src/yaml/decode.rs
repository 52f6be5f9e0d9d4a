//! From nodes to typed values.

use serde::de::DeserializeOwned;

use super::{Diagnostic, Node};

/// Decodes a node into any type that serde can decode.
///
/// # Errors
/// When the node does not fit the type; the message marks the key or the value that does not fit.
pub fn decode<T: DeserializeOwned>(node: &Node) -> Result<T, Diagnostic> {
    Err(Diagnostic::error("cannot be decoded").at(node.span.clone()))
}
