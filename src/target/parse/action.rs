//! Actions and commands.

use std::collections::BTreeSet;

use crate::yaml::Node;
use crate::yaml::Value;

use super::context::PartOfFile;
use super::context::Site;
use super::reader::Reader;
use super::request::is_method;
use crate::target::action::Action;
use crate::target::action::Command;
use crate::target::action::Deed;
use crate::target::placeholder::BUILT_IN;
use crate::target::placeholder::Placeholder;

impl Reader<'_> {
    /// A command string, a request string, or a map of either.
    pub(super) fn action(&self, node: &Node, site: Site) -> Option<Action> {
        let plain = |what| Action {
            what,
            timeout: None,
        };
        if let Value::Text(text) = &node.value {
            let is_request = text.split_once(' ').is_some_and(|(method, path)| {
                is_method(method) && (path.starts_with(['/', '$']) || path.starts_with("http"))
            });
            return match is_request {
                true => self.request(node, site).map(Deed::Request).map(plain),
                false => self.command(node, site).map(Deed::Command).map(plain),
            };
        }
        if node.get("method").is_some() {
            return self.request(node, site).map(Deed::Request).map(plain);
        }
        let mut fields = self.fields(node, "an action");
        let command = fields.take("command");
        let request = fields.take("request");
        let timeout = fields.take("timeout");
        let sound = fields.finish();
        let what = match (command, request) {
            (Some(command), None) => self.command(command, site).map(Deed::Command),
            (None, Some(request)) => self.request(request, site).map(Deed::Request),
            _ => {
                if sound {
                    self.error(&node.span, "an action is one of `command` and `request`");
                }
                None
            }
        };
        Some(Action {
            what: what?,
            timeout: timeout.and_then(|timeout| self.duration(timeout, "a timeout")),
        })
    }

    /// A shell command. Our placeholders never become part of it.
    pub(super) fn command(&self, node: &Node, site: Site) -> Option<Command> {
        let script = self.scalar_text(node, "a command")?;
        let mut mentions = BTreeSet::new();
        let ours = |name: &str| {
            BUILT_IN.contains(&name)
                || name == "sink_url"
                || self.names("vars").contains(&name)
                || self.names("fixtures").contains(&name)
        };
        for (at, _) in script.match_indices('$') {
            let rest = script[at + 1..].trim_start_matches('{');
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            let braced = script[at + 1..].starts_with('{');
            let after = &rest[name.len()..];
            if braced && (name == "env" || name == "secret") && after.starts_with('.') {
                let variable = after[1..].split(['}', ':']).next().unwrap_or_default();
                self.error(
                    &node.span,
                    format!(
                        "commands are run by the shell with your environment: write ${variable}"
                    ),
                );
            } else if braced && (name == "request" || name == "response") && after.starts_with(":$")
            {
                self.error(
                    &node.span,
                    format!(
                        "${{{name}:…}} has no value in a command: use $marker, $unique or $key"
                    ),
                );
            } else if name == "identity" && site.part == PartOfFile::Effects {
                let refusal = site.refusal(&Placeholder::Identity, self);
                self.error(&node.span, refusal.unwrap_or_default());
            } else if ours(&name) {
                mentions.insert(name);
            }
        }
        Some(Command { script, mentions })
    }
}
