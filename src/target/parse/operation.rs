//! Operations.

use std::time::Duration;

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;

use super::context::PartOfFile;
use super::context::Site;
use super::reader::Fields;
use super::reader::Reader;
use crate::target::key::Carrier;
use crate::target::key::KeyPlace;
use crate::target::matcher::Match;
use crate::target::operation::AsyncResult;
use crate::target::operation::Lookup;
use crate::target::operation::LookupWay;
use crate::target::operation::Operation;
use crate::target::operation::Precondition;
use crate::target::request::Body;
use crate::target::request::Request;
use crate::target::selector::Selector;

/// Time between two questions where the file says nothing.
pub(super) const EVERY: Duration = Duration::from_millis(500);
/// How long to ask where the file says nothing.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// What operations inherit from the target.
pub(super) struct Inherited {
    /// `key`.
    pub(super) key: Option<KeyPlace>,
    /// `success`.
    pub(super) success: Option<Match>,
    /// `volatile`.
    pub(super) volatile: Vec<Selector>,
}

impl Reader<'_> {
    /// One operation; `None` when its request is no request.
    pub(super) fn operation(&self, entry: &Entry, inherited: &Inherited) -> Option<Operation> {
        let what = format!("the operation `{}`", entry.key);
        let mut fields = self.fields(&entry.value, &what);
        fields.unsupported("extends");
        let consumer = self.consumer(&mut fields);
        let signing = fields.take("sign").and_then(|node| self.signing(node));
        let given = fields.take("given");
        let given_name = given.and_then(|node| self.operation_name(node));
        if let (Some(node), Some(name)) = (given, &given_name)
            && *name == entry.key
        {
            self.error(&node.span, "an operation cannot be given by itself");
        }
        let prepare = fields.take("prepare");
        let site = |part: PartOfFile| Site {
            given: given.is_some(),
            prepared: prepare.is_some(),
            ..part.site()
        };
        let prepare = prepare.and_then(|node| {
            let beforehand = Site {
                prepared: false,
                ..site(PartOfFile::Operation)
            };
            self.request(node, beforehand)
        });
        let request_node = fields.take("request");
        let request = request_node.and_then(|node| self.request(node, site(PartOfFile::Operation)));
        let variants = self.variants(&mut fields, request.as_ref(), site(PartOfFile::Operation));
        let key = fields.take("key").and_then(|node| self.key_place(node));
        if let (Some(place), Some(request)) = (key.as_ref().or(inherited.key.as_ref()), &request) {
            self.check_key_fits(entry, place, request);
        }
        let contract = fields.take("contract").and_then(|node| self.contract(node));
        let success = fields
            .take("success")
            .and_then(|node| self.matcher(node, "success"));
        let volatile = fields.take("volatile").map(|node| self.selectors(node));
        let mut another = |field| {
            let node: &Node = fields.take(field)?;
            let name = self.operation_name(node)?;
            if name == entry.key {
                self.error(&node.span, format!("`{field}` names another operation"));
            }
            Some(name)
        };
        let other = another("other");
        let other_method = another("other-method");
        let identity = fields.take("identity").map(|node| self.selectors(node));
        let result = fields
            .take("result")
            .and_then(|node| self.result(node, site(PartOfFile::Result)));
        let effects = fields
            .take("effects")
            .map(|node| self.entries(node, "effects"));
        let (webhooks, probes): (Vec<_>, Vec<_>) = effects
            .unwrap_or_default()
            .iter()
            .partition(|probe| probe.value.get("webhook").is_some());
        let effects = probes
            .into_iter()
            .filter_map(|probe| self.probe(&probe.key, &probe.value, site(PartOfFile::Effects)))
            .collect();
        if let [_, second, ..] = webhooks.as_slice() {
            self.error(
                &second.key_span,
                "the events of an operation are seen by one probe with `webhook`",
            );
        }
        let events = webhooks
            .first()
            .and_then(|probe| self.events(&probe.key, &probe.value, site(PartOfFile::Effects)));
        let read = fields
            .take("read")
            .and_then(|node| self.request(node, site(PartOfFile::Afterwards)));
        let cleanup = fields
            .take("cleanup")
            .and_then(|node| self.action(node, site(PartOfFile::Afterwards)));
        let lookup = self.lookup(&mut fields, site(PartOfFile::Lookup));
        let precondition = fields
            .take("precondition")
            .and_then(|node| self.precondition(node));
        let per_execution = fields
            .take("per-execution")
            .and_then(|node| self.count(node, "per-execution"));
        if fields.finish() && request_node.is_none() {
            self.error(&entry.key_span, format!("{what} needs a `request`"));
        }
        Some(Operation {
            name: entry.key.clone(),
            request: request?,
            key: key.or_else(|| inherited.key.clone()),
            contract,
            success: success
                .or_else(|| inherited.success.clone())
                .unwrap_or_else(Match::success),
            volatile: volatile.unwrap_or_else(|| inherited.volatile.clone()),
            other,
            other_method,
            variants,
            identity: identity.unwrap_or_default(),
            result,
            effects,
            consumer,
            signing,
            prepare,
            events,
            read,
            cleanup,
            lookup,
            precondition,
            per_execution: per_execution.unwrap_or(1),
            given: given_name,
        })
    }

    /// The name of an operation that the file has.
    pub(super) fn operation_name(&self, node: &Node) -> Option<String> {
        let name = self.text(node, "an operation's name")?;
        let known = self.names("operations");
        if !known.contains(&name.as_str()) {
            self.unknown(&node.span, "operation", &name, &known);
            return None;
        }
        Some(name)
    }

    /// A key in the body needs a body of that kind.
    fn check_key_fits(&self, entry: &Entry, place: &KeyPlace, request: &Request) {
        let KeyPlace::At { carrier, .. } = place else {
            return;
        };
        let wanted = match carrier {
            Carrier::Form(_) => "form",
            Carrier::Json(_) => "json",
            Carrier::Header(_) | Carrier::Query(_) => return,
        };
        if let Some(kind) = request.body.as_ref().map(Body::kind)
            && kind != wanted
        {
            let key = entry.value.get("key").or_else(|| self.document.get("key"));
            let place = key.map_or(&entry.key_span, |node| &node.span);
            let message = format!(
                "the key goes into a {wanted} body, and the body of `{}` is {kind}",
                entry.key
            );
            self.report(
                Diagnostic::error(message)
                    .at(place.clone())
                    .help("give that operation a `key` of its own, or `key: none`"),
            );
        }
    }

    fn precondition(&self, node: &Node) -> Option<Precondition> {
        let mut fields = self.fields(node, "precondition");
        let header = fields.take("header");
        let from = fields.take("from");
        let sound = fields.finish();
        let (header, from) = self.both(
            node,
            "`precondition`",
            [("header", header), ("from", from)],
            sound,
            "precondition: { header: If-Match, from: header.ETag }",
        )?;
        let name = self.text(header, "a header's name")?;
        self.check_header_name(&name, &header.span);
        Some(Precondition {
            header: name,
            from: self.selectors(from).into_iter().next()?,
        })
    }

    fn lookup(&self, fields: &mut Fields<'_, '_>, site: Site) -> Lookup {
        let Some(node) = fields.take("lookup") else {
            return Lookup::default();
        };
        let mut fields = self.fields(node, "lookup");
        let mut way = |name| {
            let node: Option<&Node> = fields.take(name);
            node.and_then(|node| self.lookup_way(node, site))
        };
        let lookup = Lookup {
            by_key: way("by-key"),
            by_reference: way("by-reference"),
            by_identity: way("by-identity"),
        };
        fields.finish();
        lookup
    }

    /// A request, or a map of one with where the identity stands in its answer.
    fn lookup_way(&self, node: &Node, site: Site) -> Option<LookupWay> {
        if node.get("request").is_none() {
            return Some(LookupWay {
                request: self.request(node, site)?,
                identity: Vec::new(),
            });
        }
        let mut fields = self.fields(node, "a look-up");
        let request = fields.take("request");
        let identity = fields.take("identity");
        fields.finish();
        Some(LookupWay {
            request: self.request(request?, site)?,
            identity: identity
                .map(|node| self.selectors(node))
                .unwrap_or_default(),
        })
    }

    fn result(&self, node: &Node, site: Site) -> Option<AsyncResult> {
        let mut fields = self.fields(node, "result");
        let request = fields.take("request");
        let until = fields.take("until");
        let success = fields.take("success");
        let identity = fields.take("identity");
        let every = fields.take("every");
        let timeout = fields.take("timeout");
        let sound = fields.finish();
        let (request, until) = self.both(
            node,
            "`result`",
            [("request", request), ("until", until)],
            sound,
            "result: { request: \"GET /jobs/${identity}\", until: { $.status: done } }",
        )?;
        Some(AsyncResult {
            request: self.request(request, site)?,
            until: self.matcher(until, "until")?,
            success: success.and_then(|node| self.matcher(node, "success")),
            identity: identity
                .map(|node| self.selectors(node))
                .unwrap_or_default(),
            every: every
                .and_then(|node| self.duration(node, "every"))
                .unwrap_or(EVERY),
            timeout: timeout
                .and_then(|node| self.duration(node, "a timeout"))
                .unwrap_or(TIMEOUT),
        })
    }
}
