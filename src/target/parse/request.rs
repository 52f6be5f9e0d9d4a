//! Requests, patches, commands and actions.

use crate::yaml::Diagnostic;
use crate::yaml::Entry;
use crate::yaml::Node;
use crate::yaml::Span;
use crate::yaml::Value;

use super::context::Site;
use super::reader::Fields;
use super::reader::Reader;
use crate::target::placeholder::Part;
use crate::target::placeholder::Template;
use crate::target::principal::Role;
use crate::target::request::Body;
use crate::target::request::Pair;
use crate::target::request::Patch;
use crate::target::request::Request;
use crate::target::tree::Tree;

impl Reader<'_> {
    /// A request: `METHOD path` or a map.
    pub(super) fn request(&self, node: &Node, site: Site) -> Option<Request> {
        if let Value::Text(text) = &node.value {
            let Some((method, path)) = text.split_once(' ').filter(|(method, _)| is_method(method))
            else {
                let problem =
                    Diagnostic::error("a request is `METHOD /path`, or a map with method and path")
                        .at(node.span.clone());
                let capitals = text
                    .split_once(' ')
                    .map(|(method, path)| (method.to_ascii_uppercase(), path))
                    .filter(|(method, _)| is_method(method));
                self.report(match capitals {
                    Some((method, path)) => {
                        problem.help(format!("write the method in capitals: {method} {path}"))
                    }
                    None => problem.help(format!("write `POST {text}`, with the method first")),
                });
                return None;
            };
            let (path, query) = self.path(path.trim(), &node.span, site)?;
            return Some(Request {
                method: method.to_string(),
                path,
                query,
                headers: Vec::new(),
                body: None,
                sender: None,
            });
        }
        let mut fields = self.fields(node, "a request");
        let method = fields.take("method");
        let path = fields.take("path");
        let query = fields.take("query");
        let headers = fields.take("headers");
        let body = self.body(&mut fields, site);
        let sender = fields.take("as").and_then(|role| self.role(role));
        let sound = fields.finish();
        let (method, path) = self.both(
            node,
            "a request",
            [("method", method), ("path", path)],
            sound,
            "{ method: POST, path: /payments }, or in short `POST /payments`",
        )?;
        let method = self.text(method, "a method").filter(|text| {
            let good = is_method(text);
            if !good {
                self.error(&method.span, "a method is a word in capitals, such as POST");
            }
            good
        });
        let path_text = self.scalar_text(path, "a path")?;
        let (path, mut all) = self.path(&path_text, &path.span, site)?;
        all.extend(
            query
                .map(|query| self.pairs(query, "query", site.in_intent()))
                .unwrap_or_default(),
        );
        all.retain(|pair| pair.value.is_some());
        let headers = headers.map(|headers| self.pairs(headers, "headers", site));
        let mut headers = headers.unwrap_or_default();
        headers.retain(|pair| pair.value.is_some());
        Some(Request {
            method: method?,
            path,
            query: all,
            headers,
            body,
            sender,
        })
    }

    /// A path template, and the query that stood in it.
    fn path(&self, text: &str, span: &Span, site: Site) -> Option<(Template, Vec<Pair>)> {
        let template = self.template_of(text, span, site.in_intent());
        let good = match template.parts.first() {
            Some(Part::Text(text)) => {
                text.starts_with('/') || text.starts_with("http://") || text.starts_with("https://")
            }
            Some(Part::Placeholder(_)) => true,
            // Then a problem of the text is told already.
            None if !text.is_empty() => return None,
            None => false,
        };
        if !good {
            self.error(span, "a path begins with / (or is a whole URL)");
            return None;
        }
        let blank =
            |part: &Part| matches!(part, Part::Text(text) if text.contains([' ', '\t', '\n']));
        if template.parts.iter().any(blank) {
            self.report(
                Diagnostic::error("a path holds no blanks")
                    .at(span.clone())
                    .help("write %20 for a blank that belongs to it"),
            );
        }
        let (path, query) = match template.split_once('?') {
            Some((path, query)) => (path, query_pairs(query)),
            None => (template, Vec::new()),
        };
        Some((path, query))
    }

    /// Names and scalars, in order; null is kept for patches.
    pub(super) fn pairs(&self, node: &Node, what: &str, site: Site) -> Vec<Pair> {
        self.entries(node, what)
            .iter()
            .filter_map(|entry| {
                let value = match &entry.value.value {
                    Value::Null => None,
                    _ => {
                        let what = format!("`{}`", entry.key);
                        let text = self.scalar_text(&entry.value, &what)?;
                        Some(self.template_of(&text, &entry.value.span, site))
                    }
                };
                if what == "headers" {
                    self.check_header(entry, value.as_ref());
                }
                Some(Pair {
                    name: entry.key.clone(),
                    value,
                    encoded: false,
                })
            })
            .collect()
    }

    /// Refuses what cannot be the name of a header.
    pub(super) fn check_header_name(&self, name: &str, place: &Span) {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            self.error(place, format!("`{name}` is no header name"));
        }
    }

    fn check_header(&self, entry: &Entry, value: Option<&Template>) {
        self.check_header_name(&entry.key, &entry.key_span);
        let breaks = value.is_some_and(|value| {
            value
                .parts
                .iter()
                .any(|part| matches!(part, Part::Text(text) if text.contains(['\r', '\n'])))
        });
        if breaks {
            self.error(&entry.value.span, "a header value is one line");
        }
    }

    fn body(&self, fields: &mut Fields<'_, '_>, site: Site) -> Option<Body> {
        fields.unsupported("graphql");
        let site = site.in_body();
        let mut found: Vec<(&Entry, Body)> = Vec::new();
        if let Some(entry) = fields.take_entry("json") {
            found.push((entry, Body::Json(self.tree(&entry.value, site))));
        }
        if let Some(entry) = fields.take_entry("form") {
            self.entries(&entry.value, "form");
            found.push((entry, Body::Form(self.tree(&entry.value, site))));
        }
        if let Some(entry) = fields.take_entry("multipart") {
            self.check_parts(&entry.value);
            found.push((entry, Body::Multipart(self.tree(&entry.value, site))));
        }
        if let Some(entry) = fields.take_entry("text")
            && let Some(template) = self.template(&entry.value, site)
        {
            found.push((entry, Body::Text(template)));
        }
        if let [(first, _), (second, _), ..] = found.as_slice() {
            let place = |entry: &Entry| {
                let (line, column) = entry.key_span.line_column();
                format!("{} at {line}:{column}", entry.key)
            };
            self.report(
                Diagnostic::error(format!("one body: {}, {}", place(first), place(second)))
                    .at(second.key_span.clone())
                    .related(first.key_span.clone(), "the other body"),
            );
        }
        found.into_iter().next().map(|(_, body)| body)
    }

    /// Each part is a scalar, or a file.
    fn check_parts(&self, node: &Node) {
        for part in self.entries(node, "multipart") {
            match &part.value.value {
                Value::Map(_) => {
                    let mut fields = self.fields(&part.value, "a part");
                    let content = fields.take("content");
                    let file = fields.take("file");
                    fields.take("type");
                    let sound = fields.finish();
                    self.both(
                        &part.value,
                        "a part with a file",
                        [("file", file), ("content", content)],
                        sound,
                        "{ file: scan.txt, type: text/plain, content: a book }",
                    );
                }
                Value::List(_) | Value::Null => {
                    self.error(&part.value.span, "a part is a text, a number, or a file");
                }
                Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
            }
        }
    }

    /// A patch over `base`.
    pub(super) fn patch(
        &self,
        fields: &mut Fields<'_, '_>,
        base: Option<&Request>,
        site: Site,
    ) -> Patch {
        let mut patch = Patch::default();
        if let Some(node) = fields.take("path")
            && let Some(text) = self.scalar_text(node, "a path")
            && let Some((path, query)) = self.path(&text, &node.span, site)
        {
            patch.path = Some(path);
            patch.query = query;
        }
        if let Some(node) = fields.take("query") {
            patch
                .query
                .extend(self.pairs(node, "query", site.in_intent()));
        }
        if let Some(node) = fields.take("headers") {
            patch.headers = self.pairs(node, "headers", site);
        }
        fields.unsupported("vars");
        fields.refuse(
            "method",
            "a patch keeps the method: declare a second operation, and name it under `other-method`",
        );
        let places = ["json", "form", "multipart", "text"].map(|kind| fields.take_entry(kind));
        patch.body = self.body(fields, site);
        let place = places.into_iter().flatten().next();
        if let (Some(base), Some(body), Some(entry)) =
            (base.and_then(|base| base.body.as_ref()), &patch.body, place)
        {
            if base.kind() != body.kind() && !matches!(body, Body::Multipart(_)) {
                let message = format!("the request's body is {}", base.kind());
                self.error(&entry.key_span, message);
            } else if let (Body::Json(base), Body::Json(_)) | (Body::Form(base), Body::Form(_)) =
                (base, body)
            {
                self.warn_of_shorter_lists(&entry.value, base);
            }
        }
        patch
    }

    fn warn_of_shorter_lists(&self, patch: &Node, base: &Tree) {
        match (&patch.value, base) {
            (Value::List(new), Tree::List(old)) if new.len() < old.len() && !new.is_empty() => {
                let (old, new) = (old.len(), new.len());
                self.warning(
                    &patch.span,
                    format!("replaces {old} entries by {new}: lists are not merged"),
                );
            }
            (Value::Map(entries), base) => {
                for entry in entries {
                    if let Some(below) = base.get(&entry.key) {
                        self.warn_of_shorter_lists(&entry.value, below);
                    }
                }
            }
            _ => {}
        }
    }

    /// A role that the target has.
    pub(super) fn role(&self, node: &Node) -> Option<Role> {
        let name = self.text(node, "a role")?;
        let known: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        let Some(role) = Role::from_name(&name) else {
            self.unknown(&node.span, "role", &name, &known);
            return None;
        };
        if role != Role::Owner && !self.names("principals").contains(&role.name()) {
            self.error(&node.span, format!("there is no principal `{role}`"));
            return None;
        }
        Some(role)
    }
}

/// Whether a word is a method: capitals only.
pub(super) fn is_method(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase())
}

/// The entries of a query that stood in a path; its text is encoded already.
fn query_pairs(query: Template) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut rest = Some(query);
    while let Some(query) = rest {
        let (entry, tail) = match query.split_once('&') {
            Some((entry, tail)) => (entry, Some(tail)),
            None => (query, None),
        };
        rest = tail;
        let (name, value) = match entry.split_once('=') {
            Some((name, value)) => (name, value),
            None => (entry, Template::default()),
        };
        // A placeholder in a query's name would be no name that a patch could mean.
        let name: String = name
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Placeholder(placeholder) => format!("${{{placeholder}}}"),
            })
            .collect();
        if !name.is_empty() {
            pairs.push(Pair {
                name,
                value: Some(value),
                encoded: true,
            });
        }
    }
    pairs
}
