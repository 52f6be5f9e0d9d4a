//! Whose a key is, what belongs to its request, and which refusal comes first.

use serde::{Deserialize, Serialize};

/// Whose keys are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrincipalScope {
    /// Each tenant has a key space of its own.
    Tenant,
    /// Each company account has one.
    CompanyAccount,
    /// Each API key has one.
    ApiKey,
    /// Each user has one.
    User,
    /// All share one.
    Global,
}

/// Which operations share a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationScope {
    /// The key on another operation is a mismatch.
    GlobalKey,
    /// The key on another operation is a new one.
    PerEndpoint,
    /// The key on another operation replays the first answer.
    IgnoresRoute,
}

/// A part of a request that must be the same for the request to be the same. Informational: what
/// is judged is the answer to a changed payload, and the equality of reworded ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The method.
    Method,
    /// The path.
    Path,
    /// The query.
    Query,
    /// The body.
    Body,
    /// Headers, those apart that the contract leaves out.
    Headers,
}

/// When two payloads are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Equality {
    /// When their bytes are.
    Bytes,
    /// When their JSON is.
    JsonCanonical,
    /// When some of their fields are.
    SelectedFields,
}

/// Which refusal a changed payload gets while the first request still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precedence {
    /// The one for another payload.
    Mismatch,
    /// The one for a key in use.
    InProgress,
}
