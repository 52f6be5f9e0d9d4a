//! The words of scenarios whose meaning a target gives: variants and forms.

use super::Request;
use super::check::place;
use crate::yaml::{self, Diagnostic, Node};

/// The variants that scenarios of ours use. A target may declare others, for users' own scenarios.
pub const VARIANTS: [&str; 32] = [
    "slow",
    "lingers",
    "rate-limited",
    "times-out",
    "named",
    "multipart",
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

/// Variants and forms are words. A target may declare variants of its own, so that only what looks
/// like a misspelling is refused; the built-in scenarios use ours only.
pub(super) fn unknown(request: &Request, node: &Node, library: bool) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for word in &request.variants {
        let near = yaml::nearest(word, VARIANTS);
        if VARIANTS.contains(&word.as_str()) || (near.is_none() && !library) {
            continue;
        }
        let problem =
            Diagnostic::error(format!("unknown variant `{word}`")).at(place(node, "variant", word));
        problems.push(match near {
            Some(near) if library => problem.help(format!("did you mean `{near}`?")),
            Some(near) => problem.help(format!(
                "did you mean `{near}`? A variant of your own needs a name that is less like it"
            )),
            None => problem.help(format!("variants are {}", VARIANTS.join(", "))),
        });
    }
    for word in request.forms.iter().flatten() {
        if FORMS.contains(&word.as_str()) {
            continue;
        }
        let problem =
            Diagnostic::error(format!("unknown form `{word}`")).at(place(node, "form", word));
        problems.push(match yaml::nearest(word, FORMS) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("forms are {}", FORMS.join(", "))),
        });
    }
    problems
}
