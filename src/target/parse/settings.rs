//! The target as a whole: the top keys, one by one.

use std::time::Duration;

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Value;

use super::client::client;
use super::context::PartOfFile;
use super::limits::limits;
use super::live;
use super::operation::Inherited;
use super::reader::Fields;
use super::reader::Reader;
use crate::target::BaseUrl;
use crate::target::HttpVersion;
use crate::target::Target;
use crate::target::Tls;
use crate::target::action::Hooks;
use crate::target::action::Server;
use crate::target::operation::Fixture;
use crate::target::operation::Operation;
use crate::target::port;
use crate::target::principal::Certificate;

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
    let all_addresses = fields
        .take("addresses")
        .is_some_and(|node| all_addresses(reader, node));
    let hosts = hosts(reader, fields.take("hosts"));
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
    let client = fields.take("client").map(|node| client(reader, node));
    let documents = fields.take("documents").map(|node| reader.documents(node));
    let sink = fields.take("sink").and_then(|node| reader.sink(node));
    fields.finish();
    let base_urls = base_urls?;
    let limits = limits(reader, limits_node, live::all_loopback(&base_urls));
    let mut target = Target {
        name: name?,
        base_urls,
        all_addresses,
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
        client: client.unwrap_or_default(),
        port_names: port::names(&source),
        sink,
        documents,
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
        let problem =
            Diagnostic::error(format!("a target needs `{name}`")).at(document.span.first_line());
        reader.report(problem.help(match name {
            "target" => "target: NAME, as reports shall call the API",
            "base-url" => "base-url: http://127.0.0.1:8080",
            _ => "operations: { create-payment: { request: POST /payments } }",
        }));
    }
    found
}

fn hosts(reader: &Reader<'_>, node: Option<&Node>) -> Vec<String> {
    let mut hosts = Vec::new();
    for item in node
        .map(|node| reader.one_or_many(node))
        .unwrap_or_default()
    {
        let Some(host) = reader.text(item, "a host") else {
            continue;
        };
        if host.contains(['/', '@', '?', '#']) {
            let problem =
                Diagnostic::error(format!("`{host}` is more than a host")).at(item.span.clone());
            let named = url::Url::parse(&host).ok();
            reader.report(match named.as_ref().and_then(url::Url::host_str) {
                Some(named) => problem.help(format!("write {named}")),
                None => problem.help("write its name alone, such as api.acme.test"),
            });
        }
        hosts.push(host);
    }
    hosts
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
    if entries.is_empty() && node.as_map().is_some() {
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

fn all_addresses(reader: &Reader<'_>, node: &Node) -> bool {
    let word = reader.scalar_text(node, "addresses");
    match word.as_deref() {
        None | Some("first") => false,
        Some("all") => true,
        Some(word) => {
            let message = format!("`{word}` is not known here: addresses is first or all");
            reader.error(&node.span, message);
            false
        }
    }
}

fn http(reader: &Reader<'_>, node: &Node) -> Option<HttpVersion> {
    let word = reader.scalar_text(node, "http")?;
    match word.as_str() {
        "auto" => Some(HttpVersion::Auto),
        "1.1" => Some(HttpVersion::Http1),
        "2" => Some(HttpVersion::Http2),
        _ => {
            let message = format!("HTTP/{word} is not known here: http is auto, 1.1 or 2");
            reader.error(&node.span, message);
            None
        }
    }
}

fn tls(reader: &Reader<'_>, node: &Node) -> Tls {
    let mut fields = reader.fields(node, "tls");
    let ca = fields.take("ca");
    let ca = ca.and_then(|node| reader.text(node, "a path"));
    let (cert, key) = (fields.take("cert"), fields.take("key"));
    let verify = fields
        .take("verify")
        .and_then(|node| reader.truth(node, "verify"));
    let sound = fields.finish();
    Tls {
        ca,
        certificate: certificate(reader, node, cert, key, sound),
        verify: verify.unwrap_or(true),
    }
}

/// A certificate and its key, if there is one of them.
fn certificate(
    reader: &Reader<'_>,
    node: &Node,
    cert: Option<&Node>,
    key: Option<&Node>,
    sound: bool,
) -> Option<Certificate> {
    cert.or(key)?;
    let pair = [("cert", cert), ("key", key)];
    let help = "tls: { cert: client.pem, key: client.key }";
    let (cert, key) = reader.both(node, "a client certificate", pair, sound, help)?;
    Some(Certificate {
        chain: reader.text(cert, "a path")?,
        key: reader.text(key, "a path")?,
    })
}

impl Reader<'_> {
    /// `tls` of a principal: its own certificate.
    pub(super) fn own_certificate(&self, node: &Node) -> Option<Certificate> {
        let mut fields = self.fields(node, "the `tls` of a principal");
        let (cert, key) = (fields.take("cert"), fields.take("key"));
        let sound = fields.finish();
        if sound && cert.or(key).is_none() {
            self.error(&node.span, "a principal's `tls` is a client certificate");
        }
        certificate(self, node, cert, key, sound)
    }
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
    let sound = fields.finish();
    let Some(command) = command else {
        if sound {
            reader.error(&node.span, "`server` needs a `command`");
        }
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
