//! The receiver of events, and the events of an operation.

use std::net::SocketAddr;

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::context::Site;
use super::reader::Reader;
use crate::target::operation::Lifetime;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::sharing::lifetime_of;
use crate::target::sink::EventCondition;
use crate::target::sink::EventWants;
use crate::target::sink::Events;
use crate::target::sink::Sink;
use crate::target::sink::Stable;
use crate::target::sink::usual_event_id;
use crate::target::sink::usual_signature;

impl Reader<'_> {
    /// `sink`: a map, or only the address to listen on.
    pub(super) fn sink(&self, node: &Node) -> Option<Sink> {
        if node.as_text().is_some() {
            return Some(Sink {
                listen: self.listen(node)?,
                url: None,
                event_id: usual_event_id(),
                within: None,
                outage: None,
                ordered: false,
                stable: Stable::default(),
                signature: usual_signature(),
                register: None,
            });
        }
        let mut fields = self.fields(node, "sink");
        let listen = fields.take("listen");
        let url = fields.take("url");
        let event_id = fields.take("event-id");
        let within = fields.take("within");
        let outage = fields.take("outage");
        let ordered = fields.take("ordered");
        let stable = fields.take("stable");
        let signature = fields.take("signature");
        let register = fields.take("register");
        fields.finish();
        let listen = match listen {
            Some(node) => self.listen(node)?,
            None => SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        Some(Sink {
            listen,
            url: url.and_then(|node| self.sink_url(node)),
            event_id: match event_id {
                Some(node) => self.selectors(node),
                None => usual_event_id(),
            },
            within: within.and_then(|node| self.duration(node, "within")),
            outage: outage.and_then(|node| self.duration(node, "outage")),
            ordered: ordered
                .and_then(|node| self.truth(node, "ordered"))
                .unwrap_or_default(),
            stable: stable.map(|node| self.stable(node)).unwrap_or_default(),
            signature: match signature {
                Some(node) => self.selectors(node),
                None => usual_signature(),
            },
            register: register.and_then(|node| self.action(node, PartOfFile::Hook.site())),
        })
    }

    /// `stable`: one of its words, or a list of them.
    fn stable(&self, node: &Node) -> Stable {
        let mut stable = Stable::default();
        let only = std::slice::from_ref(node);
        for part in node.as_list().unwrap_or(only) {
            match self.text(part, "a part of a delivery").as_deref() {
                Some("body") => stable.body = true,
                Some("signature") => stable.signature = true,
                Some(other) => {
                    self.unknown(
                        &part.span,
                        "part of a delivery",
                        other,
                        &["body", "signature"],
                    );
                }
                None => {}
            }
        }
        stable
    }

    fn listen(&self, node: &Node) -> Option<SocketAddr> {
        let text = self.text(node, "an address")?;
        let address = text.parse().ok();
        if address.is_none() {
            self.report(
                Diagnostic::error(format!("`{text}` is no address to listen on"))
                    .at(node.span.clone())
                    .help("such as 127.0.0.1:9090, or 127.0.0.1:0 for a free port"),
            );
        }
        address
    }

    fn sink_url(&self, node: &Node) -> Option<String> {
        let text = self.text(node, "a URL")?;
        match url::Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => {
                Some(text.trim_end_matches('/').to_owned())
            }
            _ => {
                let message = format!("`{text}` is no URL that a target could deliver to");
                self.report(
                    Diagnostic::error(message)
                        .at(node.span.clone())
                        .help("such as https://abc.tunnel.test"),
                );
                None
            }
        }
    }

    /// A probe with `webhook`: the events of an operation.
    pub(super) fn events(&self, name: &str, node: &Node, site: Site) -> Option<Events> {
        let what = format!("the probe `{name}`");
        let mut fields = self.fields(node, &what);
        let webhook = fields.take("webhook");
        let ids = fields.take("ids");
        let settle = fields.take("settle");
        for other in ["request", "command"] {
            fields.refuse(
                other,
                "a probe is one of `request`, `command` and `webhook`",
            );
        }
        for other in [
            "count",
            "value",
            "state",
            "next",
            "per-effect",
            "as",
            "timeout",
            "bound",
        ] {
            fields.refuse(other, "events are counted by their `ids`");
        }
        fields.finish();
        let webhook = webhook?;
        if self.document.get("sink").is_none() {
            self.report(
                Diagnostic::error("nothing receives events: the target has no `sink`")
                    .at(webhook.span.first_line())
                    .help("add a top key such as sink: { register: \"POST /webhooks?url=${sink.url}\" }"),
            );
        }
        let conditions: Vec<EventCondition> = self
            .entries(webhook, "webhook")
            .iter()
            .filter_map(|entry| self.event_condition(entry, site))
            .collect();
        if !self.is_wrong(&webhook.span) && !conditions.iter().any(ties) {
            self.report(
                Diagnostic::error("nothing ties a delivery to a request: no condition mentions it")
                    .at(webhook.span.first_line())
                    .help("add one such as \"$.data.reference\": \"${marker}\""),
            );
        }
        Some(Events {
            name: name.to_owned(),
            conditions,
            ids: ids.map(|node| self.selectors(node)).unwrap_or_default(),
            settle: settle.and_then(|node| self.duration(node, "settle")),
        })
    }

    fn event_condition(&self, entry: &Entry, site: Site) -> Option<EventCondition> {
        let selector = self.selector_of(&entry.key, &entry.key_span)?;
        let wants = match &entry.value.value {
            Value::Text(text) if text.contains("${") => {
                let template = self.template_of(text, &entry.value.span, site);
                match template.as_literal() {
                    Some(_) => EventWants::Fixed(self.wants(&entry.value)?),
                    None => EventWants::Text(template),
                }
            }
            _ => EventWants::Fixed(self.wants(&entry.value)?),
        };
        Some(EventCondition { selector, wants })
    }
}

/// Whether a condition can hold for the deliveries of one scenario only.
fn ties(condition: &EventCondition) -> bool {
    let mentions = |template: &Template| {
        template.placeholders().any(|placeholder| {
            !matches!(placeholder, Placeholder::Fixture(_))
                && lifetime_of(placeholder) > Lifetime::Run
        })
    };
    match &condition.wants {
        EventWants::Text(template) => mentions(template),
        EventWants::Fixed(_) => false,
    }
}
