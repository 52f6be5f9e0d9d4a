//! The words of scenarios whose meaning a target gives: variants and forms.

/// The variants that scenarios of ours use. A target may declare others, for users' own scenarios.
pub const VARIANTS: [&str; 28] = [
    "slow",
    "lingers",
    "no-content",
    "async",
    "see-other",
    "binary",
    "stream",
    "large",
    "long",
    "big-number",
    "dry-run",
    "same-item-twice",
    "newer",
    "older",
    "change",
    "change-nested",
    "change-added",
    "change-removed",
    "change-type",
    "change-tail",
    "change-big-number",
    "invalid",
    "declined",
    "fails",
    "fails-once",
    "fails-after",
    "fails-after-once",
    "fails-commit",
];

/// The forms: what the tool can rewrite in a request without changing its meaning.
pub const FORMS: [&str; 11] = [
    "reordered",
    "spaced",
    "number-form",
    "escaped",
    "chunked",
    "new-boundary",
    "other-user-agent",
    "other-request-id",
    "upper-case-headers",
    "accept-gzip",
    "accept-identity",
];
