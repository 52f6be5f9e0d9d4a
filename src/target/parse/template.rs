//! Templates and bodies: placeholders are looked up, and those of the environment filled in.

use std::path::Path;

use crate::yaml::Diagnostic;
use crate::yaml::Node;
use crate::yaml::Span;
use crate::yaml::Value;
use crate::yaml::nearest;

use super::context::PartOfFile;
use super::context::Site;
use super::reader::Reader;
use crate::target::placeholder::BUILT_IN;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::port::is_name;
use crate::target::secret::SecretValue;
use crate::target::syntax;
use crate::target::syntax::Piece;
use crate::target::time_shift::time_shift;
use crate::target::tree::Tree;

impl Reader<'_> {
    /// A scalar as a template.
    pub(super) fn template(&self, node: &Node, site: Site) -> Option<Template> {
        let text = self.scalar_text(node, "this")?;
        Some(self.template_of(&text, &node.span, site))
    }

    /// A body: texts are templates, numbers keep their type.
    pub(super) fn tree(&self, node: &Node, site: Site) -> Tree {
        match &node.value {
            Value::Null => Tree::Null,
            Value::Bool(value) => Tree::Bool(*value),
            Value::Number(number) => {
                let written = node.span.text();
                let lost = written.contains('.')
                    && written.ends_with('0')
                    && written.parse::<f64>().ok() == number.as_f64()
                    && written != number.to_string();
                if lost {
                    self.warning(
                        &node.span,
                        format!("is the number {number}; quote it if the API wants \"{written}\""),
                    );
                }
                Tree::Number(number.clone())
            }
            Value::Text(text) => Tree::Text(self.template_of(text, &node.span, site)),
            Value::List(items) => {
                Tree::List(items.iter().map(|item| self.tree(item, site)).collect())
            }
            Value::Map(entries) => Tree::Map(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), self.tree(&entry.value, site)))
                    .collect(),
            ),
        }
    }

    /// Text as a template; `span` is where it stands.
    pub(super) fn template_of(&self, text: &str, span: &Span, site: Site) -> Template {
        let mut template = Template::default();
        if let Some((message, at)) = syntax::foreign_style(text)
            && !text[..at].ends_with('$')
        {
            let place = within(span, &text[at..]);
            match site.body {
                true => self.warning(&place, message),
                false => self.error(&place, message),
            }
        }
        let pieces = match syntax::pieces(text) {
            Ok(pieces) => pieces,
            Err((message, at)) => {
                self.error(&within(span, &text[at..]), message);
                return template;
            }
        };
        for piece in pieces {
            match piece {
                Piece::Text(text) => template.push_text(text),
                Piece::Name(name) => {
                    let place = within(span, &format!("${{{name}}}"));
                    match self.placeholder(name, &place, site) {
                        Some(Part::Text(text)) => template.push_text(&text),
                        Some(part) => template.parts.push(part),
                        None => {}
                    }
                }
            }
        }
        template
    }

    /// Looks a name up and checks that it has a value at the site.
    fn placeholder(&self, name: &str, place: &Span, site: Site) -> Option<Part> {
        if let Some(rest) = name.strip_prefix("env.") {
            return self.variable(rest, place, site).map(Part::Text);
        }
        let found = match name.strip_prefix("secret.") {
            Some(rest) => Placeholder::Secret(self.secret(rest, place)?),
            None => self.known(name, place)?,
        };
        if let Some(refusal) = site.refusal(&found, self) {
            self.error(place, refusal);
            return None;
        }
        Some(Part::Placeholder(found))
    }

    fn known(&self, name: &str, place: &Span) -> Option<Placeholder> {
        let simple = match name {
            "marker" => Some(Placeholder::Marker),
            "unique" => Some(Placeholder::Unique),
            // A variable of that name is the file's own.
            "name" if !self.names("vars").contains(&"name") && !self.principal_var("name") => {
                Some(Placeholder::Name)
            }
            "key" => Some(Placeholder::Key),
            "uuid" => Some(Placeholder::Uuid),
            "token" => Some(Placeholder::Token),
            "run" => Some(Placeholder::Run),
            "run.started" => Some(Placeholder::RunStarted),
            "port" => Some(Placeholder::Port(None)),
            "sink.url" => Some(Placeholder::SinkUrl),
            "seconds" => Some(Placeholder::Seconds),
            "identity" => Some(Placeholder::Identity),
            "given.identity" => Some(Placeholder::GivenIdentity),
            _ => None,
        };
        if simple.is_some() {
            return simple;
        }
        if let Some(selector) = name.strip_prefix("prepared:") {
            return self.selector_of(selector, place).map(Placeholder::Prepared);
        }
        if let Some(selector) = name.strip_prefix("request:") {
            return self.selector_of(selector, place).map(Placeholder::Request);
        }
        if let Some(selector) = name.strip_prefix("response:") {
            return self.selector_of(selector, place).map(Placeholder::Response);
        }
        if let Some(port) = name.strip_prefix("port.").filter(|port| is_name(port)) {
            return Some(Placeholder::Port(Some(port.to_string())));
        }
        if let Some(length) = name.strip_prefix("filler:") {
            return self.filler(length, place);
        }
        if self.names("vars").contains(&name) || self.principal_var(name) {
            return Some(Placeholder::Var(name.to_string()));
        }
        if self.names("fixtures").contains(&name) {
            return Some(Placeholder::Fixture(name.to_string()));
        }
        match time_shift(name) {
            Some(Ok(shift)) => return Some(Placeholder::Time(shift)),
            Some(Err(message)) => self.error(place, message),
            None => self.unknown_placeholder(name, place),
        }
        None
    }

    fn filler(&self, length: &str, place: &Span) -> Option<Placeholder> {
        // Larger bodies would be held in memory many times over in a burst.
        const MOST: usize = 16 << 20;
        match length.parse() {
            Ok(length) if length <= MOST => Some(Placeholder::Filler(length)),
            _ => {
                self.error(
                    place,
                    format!("${{filler:N}} takes a number of letters up to {MOST}"),
                );
                None
            }
        }
    }

    fn principal_var(&self, name: &str) -> bool {
        let principals = self.document.get("principals").and_then(Node::as_map);
        principals
            .unwrap_or_default()
            .iter()
            .filter_map(|principal| principal.value.get("vars"))
            .any(|vars| vars.get(name).is_some())
    }

    fn unknown_placeholder(&self, name: &str, place: &Span) {
        let problem =
            Diagnostic::error(format!("unknown placeholder ${{{name}}}")).at(place.clone());
        let mut known = BUILT_IN.to_vec();
        known.extend(self.names("vars"));
        known.extend(self.names("fixtures"));
        let in_environment = name.split(":-").next().unwrap_or(name);
        self.report(if self.environment.var(in_environment).is_some() {
            problem.help(format!("did you mean ${{env.{name}}}?"))
        } else if let Some(near) = nearest(name, known.iter().copied()) {
            problem.help(format!("did you mean ${{{near}}}?"))
        } else {
            problem.help(format!("known: {}, env.X, secret.X", known.join(", ")))
        });
    }

    /// `${env.X}` and `${env.X:-default}`.
    fn variable(&self, rest: &str, place: &Span, site: Site) -> Option<String> {
        let (name, default) = name_and_default(rest);
        if site.part == PartOfFile::Credential {
            self.error(
                place,
                format!("this is a credential and uses ${{env.{name}}}: write ${{secret.{name}}}, or it will be printed"),
            );
            return None;
        }
        let value = self.environment.var(name).filter(|value| !value.is_empty());
        let value = value.or_else(|| default.map(str::to_string));
        if value.is_none() {
            self.error(place, format!("{name} is not set: export {name}=…"));
        }
        value
    }

    /// `${secret.X}` and `${secret.X:-default}`: the environment, the file that `X_FILE` names, or
    /// the secrets file.
    pub(super) fn secret(&self, rest: &str, place: &Span) -> Option<SecretValue> {
        let (name, default) = name_and_default(rest);
        let set = |value: &String| !value.is_empty();
        let mut value = self.environment.var(name).filter(set);
        if value.is_none() {
            value = self.secret_file(name, place).ok()?;
        }
        let value = value
            .or_else(|| {
                self.options
                    .secrets
                    .get(name)
                    .filter(|value| set(value))
                    .cloned()
            })
            .or_else(|| default.map(str::to_string));
        let Some(value) = value else {
            self.error(
                place,
                format!(
                    "{name} is not set: export {name}=…, or put it into a file and set {name}_FILE, or --secrets FILE"
                ),
            );
            return None;
        };
        let secret = SecretValue::new(name, value);
        self.keep_secret(&secret);
        Some(secret)
    }

    /// The text of the file that `X_FILE` names, if it is set. A file that cannot be read is told.
    fn secret_file(&self, name: &str, place: &Span) -> Result<Option<String>, ()> {
        let Some(path) = self.environment.var(&format!("{name}_FILE")) else {
            return Ok(None);
        };
        match self.environment.file(Path::new(&path), "") {
            Ok(file) => Ok(Some(file.text.trim_end_matches(['\n', '\r']).to_string())),
            Err(error) => {
                self.error(
                    place,
                    format!("{name}_FILE is {path}, which cannot be read: {error}"),
                );
                Err(())
            }
        }
    }
}

fn name_and_default(rest: &str) -> (&str, Option<&str>) {
    match rest.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (rest, None),
    }
}

/// Where `part` stands within `span`, or the whole span where escapes hide it.
fn within(span: &Span, part: &str) -> Span {
    match span.text().find(part) {
        Some(at) => Span {
            source: span.source.clone(),
            start: span.start + at,
            end: span.start + at + part.len(),
        },
        None => span.clone(),
    }
}
