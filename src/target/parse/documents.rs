//! What the target's documents say.

use std::collections::BTreeMap;

use crate::signal::Signal;
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
        let metrics = fields.take("metrics");
        let signals = fields.take("signals");
        fields.unsupported("retryable");
        if fields.finish() && openapi.or(retention).or(scope).or(metrics).is_none() {
            self.error(
                &node.span,
                "`documents` names nothing that could be held against the API: add openapi, retention, scope or metrics",
            );
        }
        Documents {
            openapi: openapi.and_then(|node| self.text(node, "a path or a URL")),
            url: url.and_then(|node| self.text(node, "a URL")),
            retention: retention.and_then(|node| self.duration(node, "retention")),
            metrics: metrics.and_then(|node| self.text(node, "a URL, or GET /path")),
            signals: signals.map(|node| self.signals(node)).unwrap_or_default(),
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

    /// The samples that count what befalls keys.
    fn signals(&self, node: &Node) -> BTreeMap<Signal, String> {
        let mut signals = BTreeMap::new();
        for entry in self.entries(node, "signals") {
            let known = Signal::ALL.into_iter();
            let Some(signal) = known.clone().find(|signal| signal.name() == entry.key) else {
                let names: Vec<&str> = known.map(Signal::name).collect();
                self.unknown(&entry.key_span, "signal", &entry.key, &names);
                continue;
            };
            if let Some(sample) = self.text(&entry.value, "the name of a sample") {
                signals.insert(signal, sample);
            }
        }
        signals
    }
}
