//! What only the whole target shows: cycles, double names, hosts that nobody named.

use std::collections::BTreeSet;

use crate::yaml::Diagnostic;
use crate::yaml::Span;
use crate::yaml::nearest;

use super::reader::Reader;
use crate::target::Target;
use crate::target::host::is_loopback;
use crate::target::operation::Fixture;
use crate::target::operation::FixtureSource;
use crate::target::operation::Group;
use crate::target::operation::Operation;
use crate::target::operation::ProbeSource;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::request::Request;
use crate::target::variation::NAMES;

/// Reports everything that is wrong or doubtful about the target as a whole.
pub(super) fn lint(reader: &Reader<'_>, target: &Target) {
    double_names(reader);
    circles(reader, target);
    given_circles(reader, target);
    near_variants(reader, target);
    hosts(reader, target);
    certificates(reader, target);
}

/// Where a value stands in the document.
fn place(reader: &Reader<'_>, pointer: &str) -> Span {
    let node = reader.document.at(pointer);
    node.map_or_else(
        || reader.document.span.first_line(),
        |node| node.span.clone(),
    )
}

fn double_names(reader: &Reader<'_>) {
    let vars = reader.names("vars");
    for name in reader.names("fixtures") {
        if !vars.contains(&name) {
            continue;
        }
        let problem = Diagnostic::error(format!("`{name}` is both a var and a fixture"));
        let key = |section| reader.document.key_at(&format!("{section}/{name}"));
        let problem = match key("fixtures") {
            Some(span) => problem.at(span),
            None => problem,
        };
        reader.report(match key("vars") {
            Some(span) => problem.related(span, "the var"),
            None => problem,
        });
    }
}

/// Fixtures that need each other to be made.
fn circles(reader: &Reader<'_>, target: &Target) {
    let mut finished = BTreeSet::new();
    for fixture in &target.fixtures {
        let mut path = vec![fixture.name.as_str()];
        if let Some(circle) = circle(target, &mut path, &mut finished) {
            reader.error(
                &place(reader, &format!("fixtures/{}", circle[0])).first_line(),
                format!("fixtures depend on each other: {}", circle.join(" → ")),
            );
            finished.extend(circle);
        }
    }
}

/// The first circle that the end of `path` leads into. What is `finished` leads into none that was
/// not told, so that each fixture is visited once.
fn circle<'t>(
    target: &'t Target,
    path: &mut Vec<&'t str>,
    finished: &mut BTreeSet<&'t str>,
) -> Option<Vec<&'t str>> {
    let name = *path.last()?;
    let needed = target.fixture(name).map(|fixture| needed(target, fixture));
    for next in needed.unwrap_or_default() {
        if finished.contains(next) {
            continue;
        }
        if let Some(at) = path.iter().position(|name| *name == next) {
            let mut circle = path[at..].to_vec();
            circle.push(next);
            return Some(circle);
        }
        path.push(next);
        if let Some(found) = circle(target, path, finished) {
            return Some(found);
        }
        path.pop();
    }
    finished.insert(name);
    None
}

/// The fixtures that one needs.
fn needed<'t>(target: &'t Target, fixture: &'t Fixture) -> Vec<&'t str> {
    let mut names = Vec::new();
    let mut keep = |placeholder: &'t Placeholder| {
        if let Placeholder::Fixture(name) = placeholder {
            names.push(name.as_str());
        }
    };
    match &fixture.source {
        FixtureSource::Request(request) => request.each_placeholder(&mut keep),
        FixtureSource::Operation { name, with } => {
            for operation in with_given(target, name) {
                operation.request.each_placeholder(&mut keep);
            }
            if let Some(body) = &with.body {
                body.each_placeholder(&mut keep);
            }
            let pairs = with.query.iter().chain(&with.headers);
            let templates = pairs
                .filter_map(|pair| pair.value.as_ref())
                .chain(&with.path);
            templates.for_each(|template| template.placeholders().for_each(&mut keep));
        }
        FixtureSource::Command(command) => {
            let fixtures = target.fixtures.iter().map(|fixture| fixture.name.as_str());
            names.extend(fixtures.filter(|name| command.mentions.contains(*name)));
        }
    }
    names
}

/// An operation with those that are given to it, one after another; a circle ends at its start.
fn with_given<'t>(target: &'t Target, name: &str) -> Vec<&'t Operation> {
    let mut chain: Vec<&Operation> = Vec::new();
    let mut next = target.operation(name);
    while let Some(operation) = next {
        if chain.iter().any(|known| known.name == operation.name) {
            break;
        }
        chain.push(operation);
        next = operation
            .given
            .as_deref()
            .and_then(|given| target.operation(given));
    }
    chain
}

fn given_circles(reader: &Reader<'_>, target: &Target) {
    for operation in &target.operations {
        let chain = with_given(target, &operation.name);
        let last = chain.last().and_then(|last| last.given.as_deref());
        if chain.len() > 1 && last == Some(&operation.name) {
            let names: Vec<&str> = chain
                .iter()
                .map(|operation| operation.name.as_str())
                .collect();
            reader.error(
                &place(reader, &format!("operations/{}/given", operation.name)),
                format!(
                    "operations are given to each other: {} → {}",
                    names.join(" → "),
                    names[0]
                ),
            );
            return;
        }
    }
}

/// Names under `variants` that are nearly one that scenarios use.
fn near_variants(reader: &Reader<'_>, target: &Target) {
    for operation in &target.operations {
        let named = operation
            .variants
            .iter()
            .filter(|variant| variant.group == Group::Named);
        for name in named.map(|variant| variant.name.as_str()) {
            if NAMES.contains(&name) {
                continue;
            }
            let key = reader
                .document
                .key_at(&format!("operations/{}/variants/{name}", operation.name));
            if let (Some(near), Some(span)) = (nearest(name, NAMES), key) {
                reader.report(
                    Diagnostic::warning(format!("no scenario of ours uses a variant `{name}`"))
                        .at(span)
                        .help(format!("did you mean `{near}`?")),
                );
            }
        }
    }
}

fn hosts(reader: &Reader<'_>, target: &Target) {
    let extra = &reader.options.allow_hosts;
    let base_place = place(reader, "base-url");
    for host in target.base_urls.iter().filter_map(|base| base.host().ok()) {
        if !target.allows(&host, extra) {
            let origin = origin(&base_place);
            reader.report(
                Diagnostic::error(format!("refused to send to {host}: {origin}"))
                    .at(base_place.clone())
                    .help("add it to hosts or --allow-host"),
            );
        }
    }
    let mut written: Vec<(String, &Request)> = Vec::new();
    for operation in &target.operations {
        let pointer = format!("operations/{}", operation.name);
        written.push((format!("{pointer}/request"), &operation.request));
        written.extend(
            operation
                .read
                .iter()
                .map(|read| (format!("{pointer}/read"), read)),
        );
        for probe in &operation.effects {
            if let ProbeSource::Request(request) = &probe.source {
                written.push((format!("{pointer}/effects/{}", probe.name), request));
            }
        }
    }
    for (pointer, request) in written {
        let Some(Part::Text(text)) = request.path.parts.first() else {
            continue;
        };
        let url = url::Url::parse(text).ok();
        if let Some(host) = url.as_ref().and_then(url::Url::host_str)
            && !target.allows(host, extra)
        {
            reader.report(
                Diagnostic::error(format!(
                    "refused to send to {host}: it is no host of the target"
                ))
                .at(place(reader, &pointer).first_line())
                .help("add it to hosts or --allow-host"),
            );
        }
    }
}

/// Where a host came from: the first placeholder of the URL as it is written.
fn origin(span: &Span) -> String {
    let name = span
        .text()
        .split("${")
        .nth(1)
        .and_then(|rest| rest.split('}').next());
    let name = name.map(|name| name.split(":-").next().unwrap_or(name));
    match name {
        Some(name) => format!("it came from {}", name.trim_start_matches("env.")),
        None => "the file does not name it".to_string(),
    }
}

fn certificates(reader: &Reader<'_>, target: &Target) {
    let mut hosts = target.base_urls.iter().filter_map(|base| base.host().ok());
    if !target.tls.verify && !hosts.all(|host| is_loopback(&host)) {
        reader.error(
            &place(reader, "tls/verify"),
            "`verify: false` is for loopback only",
        );
    }
}
