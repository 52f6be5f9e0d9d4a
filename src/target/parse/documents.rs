//! What the target's documents say.

use crate::yaml::Node;

use super::reader::Reader;
use crate::target::documents::Documents;
use crate::target::documents::SCOPES;

impl Reader<'_> {
    /// `documents`.
    pub(super) fn documents(&self, node: &Node) -> Documents {
        let mut fields = self.fields(node, "documents");
        let openapi = fields.take("openapi");
        let url = fields.take("url");
        let retention = fields.take("retention");
        let scope = fields.take("scope");
        fields.unsupported("retryable");
        if fields.finish() && openapi.or(retention).or(scope).is_none() {
            self.error(
                &node.span,
                "`documents` names nothing that could be held against the API: add openapi, retention or scope",
            );
        }
        Documents {
            openapi: openapi.and_then(|node| self.text(node, "a path or a URL")),
            url: url.and_then(|node| self.text(node, "a URL")),
            retention: retention.and_then(|node| self.duration(node, "retention")),
            scope: scope.and_then(|node| {
                let word = self.text(node, "a scope")?;
                if SCOPES.contains(&word.as_str()) {
                    return Some(word);
                }
                self.unknown(&node.span, "scope", &word, &SCOPES);
                None
            }),
        }
    }
}
