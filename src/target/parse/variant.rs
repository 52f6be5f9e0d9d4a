//! The declared variants of an operation, from six fields into one list.

use crate::yaml::Node;
use crate::yaml::Span;
use crate::yaml::Value;
use crate::yaml::nearest;

use super::context::Site;
use super::reader::Fields;
use super::reader::Reader;
use crate::hook::HookName;
use crate::target::operation::Group;
use crate::target::operation::Variant;
use crate::target::request::Request;

/// The fields of a patch, and what may stand beside them in a variant.
const PATCH: [&str; 13] = [
    "method",
    "path",
    "query",
    "headers",
    "json",
    "form",
    "text",
    "graphql",
    "multipart",
    "vars",
    "heals",
    "before",
    "after",
];

/// The fields of an operation that hold patches, without `variants`.
const GROUPS: [(Group, &str); 5] = [
    (Group::Change, "change"),
    (Group::Invalid, "invalid"),
    (Group::Declined, "declined"),
    (Group::Failing, "failing"),
    (Group::Slow, "slow"),
];

impl Reader<'_> {
    /// Everything that the operation declares about variants.
    pub(super) fn variants(
        &self,
        fields: &mut Fields<'_, '_>,
        base: Option<&Request>,
        site: Site,
    ) -> Vec<Variant> {
        let mut variants = Vec::new();
        for (group, field) in GROUPS {
            if let Some(node) = fields.take(field) {
                self.group(group, field, node, base, site, &mut variants);
            }
        }
        if let Some(node) = fields.take("variants") {
            for entry in self.entries(node, "variants") {
                let variant = self.variant(Group::Named, &entry.key, &entry.value, base, site);
                let twin = variants
                    .iter()
                    .any(|other: &Variant| other.name == entry.key);
                if twin {
                    let message = format!("the variant `{}` is declared twice", entry.key);
                    self.error(&entry.key_span, message);
                }
                variants.push(variant);
            }
        }
        variants
    }

    /// One patch, a list of them, or a map from names to them.
    fn group(
        &self,
        group: Group,
        field: &str,
        node: &Node,
        base: Option<&Request>,
        site: Site,
        variants: &mut Vec<Variant>,
    ) {
        match &node.value {
            Value::Map(entries) if entries.is_empty() => {
                self.error(&node.span, format!("`{field}` changes nothing"));
            }
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let name = match at {
                        0 => field.to_string(),
                        at => format!("{field}-{}", at + 1),
                    };
                    variants.push(self.variant(group, &name, item, base, site));
                }
            }
            Value::Map(entries) if entries.iter().any(|entry| belongs_to_patch(&entry.key)) => {
                variants.push(self.variant(group, field, node, base, site));
            }
            _ => {
                for entry in self.entries(node, field) {
                    let name = match entry.key.as_str() {
                        name if group != Group::Change || name.starts_with(field) => {
                            name.to_string()
                        }
                        name => format!("{field}-{name}"),
                    };
                    variants.push(self.variant(group, &name, &entry.value, base, site));
                }
            }
        }
    }

    fn variant(
        &self,
        group: Group,
        name: &str,
        node: &Node,
        base: Option<&Request>,
        site: Site,
    ) -> Variant {
        let mut fields = self.fields(node, "a patch");
        let patch = self.patch(&mut fields, base, site);
        let mut heals = false;
        if let Some(entry) = fields.take_entry("heals") {
            heals = self.truth(&entry.value, "heals").unwrap_or(false);
            if !matches!(group, Group::Failing | Group::Named) {
                self.error(&entry.key_span, "`heals` belongs to `failing`");
            }
        }
        let per_execution = fields
            .take("per-execution")
            .and_then(|node| self.count(node, "per-execution"));
        let before = fields.take("before").and_then(|node| self.hook_name(node));
        let after = fields.take("after").and_then(|node| self.hook_name(node));
        fields.finish();
        Variant {
            group,
            name: name.to_string(),
            patch,
            heals,
            per_execution,
            before,
            after,
        }
    }

    fn hook_name(&self, node: &Node) -> Option<HookName> {
        let name = self.text(node, "a hook")?;
        let hook = self.known_hook(&name, &node.span)?;
        if !self.names("hooks").contains(&hook.name()) {
            self.error(
                &node.span,
                format!("there is no hook `{name}`: declare it under `hooks`"),
            );
        }
        Some(hook)
    }

    /// The hook of this name.
    pub(super) fn known_hook(&self, name: &str, span: &Span) -> Option<HookName> {
        let hook = HookName::from_name(name);
        if hook.is_none() {
            let known: Vec<&str> = HookName::ALL.iter().map(|hook| hook.name()).collect();
            self.unknown(span, "hook", name, &known);
        }
        hook
    }
}

/// Whether a key is a field of a patch, or meant to be one: then the map is no map of names.
fn belongs_to_patch(key: &str) -> bool {
    key == "per-execution" || PATCH.contains(&key) || nearest(key, PATCH).is_some()
}
