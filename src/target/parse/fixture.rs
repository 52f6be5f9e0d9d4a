//! Fixtures: what must exist first.

use crate::yaml::Entry;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::operation::EVERY;
use super::operation::TIMEOUT;
use super::reader::Reader;
use crate::target::operation::Fixture;
use crate::target::operation::FixtureSource;
use crate::target::operation::Lifetime;
use crate::target::operation::Operation;
use crate::target::selector::Selector;

impl Reader<'_> {
    /// One fixture; `operations` are those that could be parsed.
    pub(super) fn fixture(&self, entry: &Entry, operations: &[Operation]) -> Option<Fixture> {
        let what = format!("the fixture `{}`", entry.key);
        let mut fields = self.fields(&entry.value, &what);
        let per = fields.take("per").and_then(|node| {
            let word = self.text(node, "per")?;
            let lifetime = match word.as_str() {
                "run" => Some(Lifetime::Run),
                "scenario" => Some(Lifetime::Scenario),
                "key" => Some(Lifetime::Key),
                _ => None,
            };
            if lifetime.is_none() {
                self.unknown(&node.span, "lifetime", &word, &["run", "scenario", "key"]);
            }
            lifetime
        });
        let per = per.unwrap_or(Lifetime::Run);
        let site = PartOfFile::Fixture(per).site();
        let request = fields.take("request");
        let command = fields.take("command");
        let operation = fields.take("operation");
        let with = fields.take_entry("with");
        let value = fields.take("value");
        let until = fields.take("until");
        let every = fields.take("every");
        let timeout = fields.take("timeout");
        let cleanup = fields.take("cleanup");
        let maker = fields.take("as");
        let sound = fields.finish();
        if let (Some(with), None) = (with, operation) {
            self.error(&with.key_span, "`with` goes with `operation`");
        }
        let source = match (request, command, operation) {
            (Some(node), None, None) => self.request(node, site).map(FixtureSource::Request),
            (None, Some(node), None) => self.command(node, site).map(FixtureSource::Command),
            (None, None, Some(node)) => self.operation_name(node).map(|name| {
                let base = operations.iter().find(|operation| operation.name == name);
                let base = base.map(|operation| &operation.request);
                let with = with.map(|with| {
                    let mut fields = self.fields(&with.value, "with");
                    let patch = self.patch(&mut fields, base, site);
                    fields.finish();
                    patch
                });
                FixtureSource::Operation {
                    name,
                    with: with.unwrap_or_default(),
                }
            }),
            _ => {
                if sound {
                    self.error(
                        &entry.key_span,
                        format!("{what} needs one of `request`, `command` and `operation`"),
                    );
                }
                None
            }
        };
        let value = match (value.and_then(|node| self.selector(node)), &source) {
            (Some(selector), _) => Some(selector),
            (None, Some(FixtureSource::Operation { .. })) => None,
            (None, Some(FixtureSource::Command(_))) => Some(Selector::Text),
            (None, _) => Selector::parse("$.id").ok(),
        };
        Some(Fixture {
            name: entry.key.clone(),
            source: source?,
            value,
            per,
            until: until.and_then(|node| self.matcher(node, "until")),
            every: every
                .and_then(|node| self.duration(node, "every"))
                .unwrap_or(EVERY),
            timeout: timeout
                .and_then(|node| self.duration(node, "a timeout"))
                .unwrap_or(TIMEOUT),
            cleanup: cleanup.and_then(|node| self.action(node, site)),
            maker: maker.and_then(|node| self.role(node)),
        })
    }

    /// Refuses names that a shell would not take for a variable, and names of ours.
    pub(super) fn check_names(&self, section: &str) {
        let Some(node) = self.document.get(section) else {
            return;
        };
        for entry in self.entries(node, section) {
            let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            let good = entry.key.starts_with(|c: char| c.is_ascii_lowercase())
                && entry.key.chars().all(letters);
            if !good {
                self.error(
                    &entry.key_span,
                    format!("`{}` is no name: names are [a-z][a-z0-9_]*, as commands see them in their environment", entry.key),
                );
            }
            if crate::target::placeholder::BUILT_IN.contains(&entry.key.as_str()) {
                self.error(
                    &entry.key_span,
                    format!("`{}` is a name of ours", entry.key),
                );
            }
            if entry.value.value == Value::Null {
                self.error(&entry.key_span, format!("`{}` has no value", entry.key));
            }
        }
    }
}
