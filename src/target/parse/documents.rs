//! What the target's documents say.

use std::collections::BTreeMap;

use crate::signal::Signal;
use crate::yaml::Diagnostic;
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
        let retryable = fields.take("retryable");
        let stated = openapi.or(retention).or(scope).or(retryable).or(metrics);
        if fields.finish() && stated.is_none() {
            self.error(
                &node.span,
                "`documents` names nothing that could be held against the API: add openapi, retention, scope, retryable or metrics",
            );
        }
        Documents {
            openapi: openapi.and_then(|node| self.text(node, "a path or a URL")),
            url: url.and_then(|node| self.text(node, "a URL")),
            retention: retention.and_then(|node| self.duration(node, "retention")),
            retryable: retryable.map(|node| self.retryable(node)),
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

    /// The errors that may be retried: a list of statuses and classes.
    fn retryable(&self, node: &Node) -> Vec<String> {
        let only = std::slice::from_ref(node);
        let mut all = Vec::new();
        for entry in node.as_list().unwrap_or(only) {
            let Some(text) = self.scalar_text(entry, "a status") else {
                continue;
            };
            let word = text.to_ascii_lowercase();
            let is_class = word == "4xx" || word == "5xx";
            let is_error = word
                .parse()
                .is_ok_and(|status: u16| (400..600).contains(&status));
            match is_class || is_error {
                true => all.push(word),
                false => self.report(
                    Diagnostic::error(format!("`{text}` is no error"))
                        .at(entry.span.clone())
                        .help("errors that may be retried are statuses and classes of them: retryable: [409, 429, 5xx]"),
                ),
            }
        }
        all
    }
}
