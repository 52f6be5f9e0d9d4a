//! What makes an operation a receiver of events.

use crate::yaml::Diagnostic;
use crate::yaml::Node;

use super::context::PartOfFile;
use super::reader::Fields;
use super::reader::Reader;
use crate::target::consumer::Consumer;
use crate::target::consumer::Publication;

impl Reader<'_> {
    /// `kind: consumer` and what may stand beside it only then.
    pub(super) fn consumer(&self, fields: &mut Fields<'_, '_>) -> Option<Consumer> {
        let kind = fields.take("kind");
        let retries_within = fields.take_entry("retries-within");
        let publish = fields.take_entry("publish");
        let Some(kind) = kind else {
            for entry in [retries_within, publish].into_iter().flatten() {
                self.report(
                    Diagnostic::error(format!("`{}` is of consumers only", entry.key))
                        .at(entry.key_span.clone())
                        .help("add `kind: consumer` where the operation receives events"),
                );
            }
            return None;
        };
        let word = self.text(kind, "a kind")?;
        if word != "consumer" {
            self.report(
                Diagnostic::error(format!("unknown kind `{word}`"))
                    .at(kind.span.clone())
                    .help("an operation that receives events is a `consumer`; others have no kind"),
            );
            return None;
        }
        Some(Consumer {
            retries_within: retries_within
                .and_then(|entry| self.duration(&entry.value, "retries-within")),
            publish: publish.and_then(|entry| self.publication(&entry.value)),
        })
    }

    fn publication(&self, node: &Node) -> Option<Publication> {
        let action = self.action(node, PartOfFile::Operation.site())?;
        let publication = Publication::of(action);
        if publication.is_none() {
            self.report(
                Diagnostic::error("what publishes is a command")
                    .at(node.span.clone())
                    .help("what is posted needs no `publish`: its `request` says where"),
            );
        }
        publication
    }
}
