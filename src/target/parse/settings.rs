//! The target as a whole: the top keys, one by one.

use std::time::Duration;

use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::live;
use super::operation::Inherited;
use super::reader::Fields;
use super::reader::Reader;
use crate::target::BaseUrl;
use crate::target::HttpVersion;
use crate::target::Limits;
use crate::target::Target;
use crate::target::Tls;
use crate::target::action::Hooks;
use crate::target::action::Server;
use crate::target::key::Carrier;
use crate::target::key::KeyForm;
use crate::target::key::KeyFormat;
use crate::target::key::KeyPlace;
use crate::target::key::singular_path;
use crate::target::operation::Fixture;
use crate::target::operation::Operation;

/// How long effects may take to show where the file says nothing.
const SETTLE: Duration = Duration::from_secs(2);
/// How long a request may take where the file says nothing.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to be ready where the file says nothing.
const WITHIN: Duration = Duration::from_secs(60);

/// Reads the document; `None` when something is missing without which there is no target.
pub(super) fn target(reader: &Reader<'_>, source: Node) -> Option<Target> {
    // Top keys that begin with `x-` are the user's own, for snippets that anchors share.
    let mut document = source.clone();
    if let Value::Map(entries) = &mut document.value {
        entries.retain(|entry| !entry.key.starts_with("x-"));
    }
    let mut fields = reader.fields(&document, "a target");
    for feature in ["sink", "documents"] {
        fields.unsupported(feature);
    }
    if let Some(version) = fields.take("version")
        && reader.count(version, "version") != Some(1)
    {
        reader.error(&version.span, "this is version 1 of the format");
    }
    let name = required(reader, &mut fields, "target", &document)
        .and_then(|node| reader.text(node, "target"));
    for section in ["vars", "fixtures"] {
        reader.check_names(section);
    }
    let vars = fields
        .take("vars")
        .map(|node| reader.vars(node))
        .unwrap_or_default();
    let base_urls =
        required(reader, &mut fields, "base-url", &document).map(|node| base_urls(reader, node));
    let hosts = texts(reader, fields.take("hosts"), "a host");
    let contract = fields
        .take("contract")
        .and_then(|node| reader.contract(node));
    let headers = fields
        .take("headers")
        .map(|node| reader.pairs(node, "headers", PartOfFile::Headers.site()))
        .unwrap_or_default();
    let key = fields.take("key").and_then(|node| reader.key_place(node));
    let principals = reader.principals(fields.take("principals"));
    let inherited = Inherited {
        key: key.clone(),
        success: fields
            .take("success")
            .and_then(|node| reader.matcher(node, "success")),
        volatile: fields
            .take("volatile")
            .map(|node| reader.selectors(node))
            .unwrap_or_default(),
    };
    let operations = required(reader, &mut fields, "operations", &document);
    let operations = operations.map(|node| operations_of(reader, node, &inherited));
    let fixtures = fixtures(reader, fields.take("fixtures"), operations.as_deref());
    let mask = fields.take("mask").map(|node| reader.selectors(node));
    let settle = fields
        .take("settle")
        .and_then(|node| reader.duration(node, "settle"));
    let timeout = fields
        .take("timeout")
        .and_then(|node| reader.duration(node, "timeout"));
    let http = fields.take("http").and_then(|node| http(reader, node));
    let tls = fields.take("tls").map(|node| tls(reader, node));
    let limits_node = fields.take("limits");
    let hooks = fields.take("hooks").map(|node| hooks(reader, node));
    let server = fields.take("server").and_then(|node| server(reader, node));
    fields.finish();
    let base_urls = base_urls?;
    let limits = limits(reader, limits_node, live::all_loopback(&base_urls));
    let mut target = Target {
        name: name?,
        base_urls,
        hosts,
        contract,
        headers,
        vars,
        key,
        principals,
        fixtures,
        operations: operations?,
        mask: mask.unwrap_or_default(),
        settle: settle.unwrap_or(SETTLE),
        timeout: timeout.unwrap_or(TIMEOUT),
        http: http.unwrap_or_default(),
        tls: tls.unwrap_or_default(),
        limits,
        hooks: hooks.unwrap_or_default(),
        server,
        secrets: reader.secrets(),
        looks_live: None,
        source,
    };
    target.looks_live = live::sign(&target);
    Some(target)
}

fn required<'n>(
    reader: &Reader<'_>,
    fields: &mut Fields<'_, 'n>,
    name: &'static str,
    document: &Node,
) -> Option<&'n Node> {
    let found = fields.take(name);
    if found.is_none() {
        reader.error(
            &document.span.first_line(),
            format!("a target needs `{name}`"),
        );
    }
    found
}

fn texts(reader: &Reader<'_>, node: Option<&Node>, what: &str) -> Vec<String> {
    node.map(|node| reader.one_or_many(node))
        .unwrap_or_default()
        .into_iter()
        .filter_map(|item| reader.text(item, what))
        .collect()
}

fn base_urls(reader: &Reader<'_>, node: &Node) -> Vec<BaseUrl> {
    let nodes = reader.one_or_many(node);
    if nodes.is_empty() {
        reader.error(&node.span, "`base-url` is a URL or a list of URLs");
    }
    nodes
        .into_iter()
        .filter_map(|node| live::base_url(reader, node))
        .collect()
}

fn operations_of(reader: &Reader<'_>, node: &Node, inherited: &Inherited) -> Vec<Operation> {
    let entries = reader.entries(node, "operations");
    if entries.is_empty() {
        reader.error(&node.span, "a target needs at least one operation");
    }
    entries
        .iter()
        .filter_map(|entry| {
            check_operation_name(reader, entry);
            reader.operation(entry, inherited)
        })
        .collect()
}

fn check_operation_name(reader: &Reader<'_>, entry: &Entry) {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let good = entry.key.starts_with(|c: char| c.is_ascii_lowercase());
    if !good || !entry.key.chars().all(letters) {
        let message = format!(
            "`{}` is no name of an operation: names are [a-z][a-z0-9-]*",
            entry.key
        );
        reader.error(&entry.key_span, message);
    }
}

fn fixtures(
    reader: &Reader<'_>,
    node: Option<&Node>,
    operations: Option<&[Operation]>,
) -> Vec<Fixture> {
    node.map(|node| reader.entries(node, "fixtures"))
        .unwrap_or_default()
        .iter()
        .filter_map(|entry| reader.fixture(entry, operations.unwrap_or_default()))
        .collect()
}

fn http(reader: &Reader<'_>, node: &Node) -> Option<HttpVersion> {
    let word = reader.scalar_text(node, "http")?;
    match word.as_str() {
        "auto" => Some(HttpVersion::Auto),
        "1.1" => Some(HttpVersion::Http1),
        "2" => Some(HttpVersion::Http2),
        _ => {
            reader.unknown(&node.span, "version of HTTP", &word, &["auto", "1.1", "2"]);
            None
        }
    }
}

fn tls(reader: &Reader<'_>, node: &Node) -> Tls {
    let mut fields = reader.fields(node, "tls");
    let mut path = |name| {
        let node: Option<&Node> = fields.take(name);
        node.and_then(|node| reader.text(node, "a path"))
    };
    let (ca, cert, key) = (path("ca"), path("cert"), path("key"));
    let verify = fields
        .take("verify")
        .and_then(|node| reader.truth(node, "verify"));
    fields.finish();
    if cert.is_some() != key.is_some() {
        reader.error(
            &node.span,
            "a client certificate needs both `cert` and `key`",
        );
    }
    Tls {
        ca,
        cert,
        key,
        verify: verify.unwrap_or(true),
    }
}

/// Without a limit on loopback; elsewhere the limits are such that a sandbox stands them.
fn limits(reader: &Reader<'_>, node: Option<&Node>, loopback: bool) -> Limits {
    let elsewhere = |limit: u64| (!loopback).then_some(limit);
    let mut limits = Limits {
        rate: elsewhere(5).map(|rate| rate as f64),
        in_flight: elsewhere(20),
        requests: elsewhere(2000),
        effects: elsewhere(200),
        wait: Duration::from_secs(30),
        patience: Duration::from_secs(20),
    };
    let Some(node) = node else {
        return limits;
    };
    let mut fields = reader.fields(node, "limits");
    if let Some(node) = fields.take("rate") {
        limits.rate = rate(reader, node).or(limits.rate);
    }
    for (name, limit) in [
        ("in-flight", &mut limits.in_flight),
        ("requests", &mut limits.requests),
        ("effects", &mut limits.effects),
    ] {
        if let Some(node) = fields.take(name) {
            *limit = reader.count(node, name).or(*limit);
            if *limit == Some(0) {
                reader.error(&node.span, format!("{name} is at least 1"));
            }
        }
    }
    for (name, limit) in [
        ("wait", &mut limits.wait),
        ("patience", &mut limits.patience),
    ] {
        if let Some(node) = fields.take(name) {
            *limit = reader.duration(node, name).unwrap_or(*limit);
        }
    }
    fields.finish();
    limits
}

fn rate(reader: &Reader<'_>, node: &Node) -> Option<f64> {
    let text = reader.scalar_text(node, "rate")?;
    let rate = text.split_once('/').and_then(|(count, unit)| {
        let count: f64 = count.parse().ok().filter(|count| *count > 0.0)?;
        match unit {
            "s" => Some(count),
            "min" => Some(count / 60.0),
            _ => None,
        }
    });
    if rate.is_none() {
        reader.error(
            &node.span,
            "a rate is a number per time, such as 20/s or 100/min",
        );
    }
    rate
}

fn hooks(reader: &Reader<'_>, node: &Node) -> Hooks {
    let declared = reader.entries(node, "hooks").iter().filter_map(|entry| {
        let name = reader.known_hook(&entry.key, &entry.key_span)?;
        Some((name, reader.action(&entry.value, PartOfFile::Hook.site())?))
    });
    Hooks {
        declared: declared.collect(),
    }
}

fn server(reader: &Reader<'_>, node: &Node) -> Option<Server> {
    let site = PartOfFile::Hook.site();
    let mut fields = reader.fields(node, "server");
    let command = fields.take("command");
    let ready = fields.take("ready");
    let env = fields.take("env");
    let dir = fields.take("dir");
    let within = fields.take("within");
    fields.finish();
    let Some(command) = command else {
        reader.error(&node.span, "`server` needs a `command`");
        return None;
    };
    let env = env
        .map(|node| reader.entries(node, "env"))
        .unwrap_or_default();
    let env = env
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), reader.text(&entry.value, "a variable")?)));
    Some(Server {
        command: reader.command(command, site)?,
        ready: ready.and_then(|node| reader.request(node, site)),
        env: env.collect(),
        dir: dir.and_then(|node| reader.text(node, "a path")),
        within: within
            .and_then(|node| reader.duration(node, "within"))
            .unwrap_or(WITHIN),
    })
}

impl Reader<'_> {
    /// A contract is only looked at: whose name it is, another module knows.
    pub(super) fn contract(&self, node: &Node) -> Option<Node> {
        if !matches!(node.value, Value::Text(_) | Value::Map(_)) {
            self.error(
                &node.span,
                "a contract is a name, a path, or a map with `extends`",
            );
            return None;
        }
        Some(node.clone())
    }

    /// Where the key goes.
    pub(super) fn key_place(&self, node: &Node) -> Option<KeyPlace> {
        if !matches!(node.value, Value::Map(_)) {
            let text = self.text(node, "a key's place")?;
            if text.starts_with('$') {
                self.error(
                    &node.span,
                    format!("a place in the body is written {{ json: {text} }}"),
                );
                return None;
            }
            return Some(match text.as_str() {
                "none" => KeyPlace::None,
                _ => KeyPlace::At {
                    carrier: Carrier::Header(text),
                    form: KeyForm::default(),
                },
            });
        }
        let mut fields = self.fields(node, "key");
        let carriers = ["header", "query", "form", "json"].map(|name| (name, fields.take(name)));
        let format = fields.take("format").and_then(|node| self.key_format(node));
        let bound = |node: Option<&Node>| {
            let count = self.count(node?, "a length")?;
            usize::try_from(count).ok()
        };
        let (min, max) = (bound(fields.take("min")), bound(fields.take("max")));
        let quoted = fields
            .take("quoted")
            .and_then(|node| self.truth(node, "quoted"));
        fields.finish();
        if min > max && max.is_some() {
            self.error(&node.span, "min is more than max");
        }
        let given: Vec<_> = carriers
            .into_iter()
            .filter_map(|(name, node)| Some((name, node?)))
            .collect();
        let [(kind, place)] = given.as_slice() else {
            self.error(
                &node.span,
                "a key goes into one of `header`, `query`, `form` and `json`",
            );
            return None;
        };
        let text = self.text(place, "a place")?;
        let carrier = match *kind {
            "header" => Carrier::Header(text),
            "query" => Carrier::Query(text),
            "form" => Carrier::Form(text),
            _ => {
                let Some(path) = singular_path(&text) else {
                    self.error(
                        &place.span,
                        "the key's place is one node: a path such as $.meta.key",
                    );
                    return None;
                };
                Carrier::Json(path)
            }
        };
        Some(KeyPlace::At {
            carrier,
            form: KeyForm {
                format,
                min,
                max,
                quoted,
            },
        })
    }

    fn key_format(&self, node: &Node) -> Option<KeyFormat> {
        let word = self.text(node, "format")?;
        match word.as_str() {
            "opaque" => Some(KeyFormat::Opaque),
            "uuid" => Some(KeyFormat::Uuid),
            "uuid4" => Some(KeyFormat::Uuid4),
            "uuid5" => Some(KeyFormat::Uuid5),
            _ => {
                let known = ["opaque", "uuid", "uuid4", "uuid5"];
                self.unknown(&node.span, "format", &word, &known);
                None
            }
        }
    }
}
