//! Where a contract is written, and which of its source's requirements are tested by what.
//! Informational: reports and explanations show it, nothing is judged by it.

use serde::{Deserialize, Serialize};

/// A text that promises are taken from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its address.
    pub doc: String,
    /// When it was read, as a date such as `2026-11-30`.
    pub retrieved: Option<String>,
    /// How well it was read.
    pub read: Option<Read>,
}

/// How well a text was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Read {
    /// The primary text, in full.
    InFull,
    /// A full copy of it.
    Copy,
    /// Its beginning only, so that what it seems to leave out proves nothing.
    Beginning,
    /// What somebody else says of it.
    SecondHand,
}

/// A requirement of the contract's source that can be tested from outside.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Requirement {
    /// What is required, in our words.
    pub says: String,
    /// The word of the source: must, should, recommended, may; `advice` where it has none.
    pub level: String,
    /// The scenarios that test it, and what in them.
    pub tested_by: Vec<String>,
}

/// How errors about keys are written. Informational: what is judged is the single answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorFormat {
    /// `application/problem+json` (RFC 9457).
    #[serde(rename = "problem+json")]
    ProblemJson,
    /// Problem details, or a header `Link` that leads to a description.
    #[serde(rename = "problem+json-or-link")]
    ProblemJsonOrLink,
    /// JSON of the target's own making.
    Json,
    /// Errors in a GraphQL response.
    Graphql,
    /// XML.
    Xml,
}
