//! Probes: how effects are seen.

use std::time::Duration;

use crate::yaml::Node;
use crate::yaml::Value;

use super::context::Site;
use super::reader::Reader;
use crate::target::operation::NextPage;
use crate::target::operation::Probe;
use crate::target::operation::ProbeSource;
use crate::target::operation::Reading;
use crate::target::selector::Selector;
use crate::target::selector::SelectorTemplate;

/// How long one reading may take where the probe says nothing.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Reader<'_> {
    /// One probe.
    pub(super) fn probe(&self, name: &str, node: &Node, site: Site) -> Option<Probe> {
        let what = format!("the probe `{name}`");
        let mut fields = self.fields(node, &what);
        let request = fields.take_entry("request");
        let command = fields.take_entry("command");
        let readings =
            ["ids", "count", "value", "state"].map(|kind| (kind, fields.take_entry(kind)));
        let per_effect = fields.take("per-effect");
        let next = fields.take_entry("next");
        let settle = fields.take("settle");
        let timeout = fields.take("timeout");
        let reader = fields.take("as");
        let bound = fields.take("bound");
        let sound = fields.finish();
        let source = match (request, command) {
            (Some(request), None) => self.request(&request.value, site).map(ProbeSource::Request),
            (None, Some(command)) => self.command(&command.value, site).map(ProbeSource::Command),
            (None, None) if !sound => None,
            _ => {
                self.error(
                    &node.span,
                    format!("{what} needs one of `request`, `command` and `webhook`"),
                );
                None
            }
        };
        let given: Vec<_> = readings
            .into_iter()
            .filter_map(|(kind, entry)| Some((kind, entry?)))
            .collect();
        let reading = match given.as_slice() {
            [] if command.is_some() => {
                Some(Reading::Value(SelectorTemplate::Fixed(Selector::Text)))
            }
            [(kind, entry)] => {
                self.selector_template(&entry.value, site)
                    .map(|selector| match *kind {
                        "ids" => Reading::Ids(selector),
                        "count" => Reading::Count(selector),
                        "value" => Reading::Value(selector),
                        _ => Reading::State(selector),
                    })
            }
            [] if !sound => None,
            _ => {
                self.error(
                    &node.span,
                    format!("{what} needs one of `ids`, `count`, `value` and `state`"),
                );
                None
            }
        };
        if let (Some(next), None) = (next, request) {
            self.error(&next.key_span, "`next` goes with a request");
        }
        let per_effect = per_effect.map(|node| (node, self.number(node, "per-effect")));
        if let Some((node, Some(amount))) = per_effect
            && amount == 0.0
        {
            self.error(&node.span, "per-effect is what one effect adds: not 0");
        }
        if let (Some((node, _)), Some(Reading::Ids(_) | Reading::Count(_) | Reading::State(_))) =
            (per_effect, &reading)
        {
            self.error(&node.span, "per-effect goes with `value`");
        }
        Some(Probe {
            name: name.to_string(),
            source: source?,
            reading: reading?,
            per_effect: per_effect.and_then(|(_, amount)| amount).unwrap_or(1.0),
            next: next.and_then(|next| self.next_page(&next.value)),
            settle: settle.and_then(|node| self.duration(node, "settle")),
            timeout: timeout
                .and_then(|node| self.duration(node, "a timeout"))
                .unwrap_or(TIMEOUT),
            reader: reader.and_then(|node| self.role(node)),
            bound: bound.and_then(|node| self.number(node, "bound")),
        })
    }

    fn next_page(&self, node: &Node) -> Option<NextPage> {
        if !matches!(node.value, Value::Map(_)) {
            return self.selector(node).map(NextPage::Link);
        }
        let mut fields = self.fields(node, "next");
        let cursor = fields.take("cursor");
        let query = fields.take("query");
        let sound = fields.finish();
        let (Some(cursor), Some(query)) = (cursor, query) else {
            if sound {
                self.error(
                    &node.span,
                    "`next` is a selector, or { cursor: SELECTOR, query: NAME }",
                );
            }
            return None;
        };
        Some(NextPage::Cursor {
            cursor: self.selector(cursor)?,
            query: self.text(query, "a query name")?,
        })
    }
}
