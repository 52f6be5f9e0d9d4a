//! `key` and `contract`.

use crate::yaml::Diagnostic;
use crate::yaml::Node;
use crate::yaml::Value;

use super::reader::Reader;
use crate::target::key::Carrier;
use crate::target::key::KeyForm;
use crate::target::key::KeyFormat;
use crate::target::key::KeyPlace;
use crate::target::key::singular_path;

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
            self.check_header_name(&text, &node.span);
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
        let sound = fields.finish();
        if min > max && max.is_some() {
            self.error(&node.span, "min is more than max");
        }
        let given: Vec<_> = carriers
            .into_iter()
            .filter_map(|(name, node)| Some((name, node?)))
            .collect();
        let [(kind, place)] = given.as_slice() else {
            if sound || given.len() > 1 {
                self.error(
                    &node.span,
                    "a key goes into one of `header`, `query`, `form` and `json`",
                );
            }
            return None;
        };
        let text = self.text(place, "a place")?;
        let carrier = match *kind {
            "header" => {
                self.check_header_name(&text, &place.span);
                Carrier::Header(text)
            }
            "query" => Carrier::Query(text),
            "form" => Carrier::Form(text),
            _ => {
                let Some(path) = singular_path(&text) else {
                    let problem =
                        Diagnostic::error("the key's place is one node: a path such as $.meta.key")
                            .at(place.span.clone());
                    self.report(match text.starts_with('$') {
                        true => problem,
                        false => problem.help(format!("write $.{text}")),
                    });
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
