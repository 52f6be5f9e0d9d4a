//! Bodies as trees whose texts are templates, and the merging of a patch into them (JSON merge
//! patch, RFC 7396).

use super::placeholder::Placeholder;
use super::placeholder::Template;

/// A JSON value whose texts may hold placeholders; the members of a map keep the file's order.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`; in a patch it removes.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text; one that is only a placeholder takes the value's type.
    Text(Template),
    /// A list; a patch replaces it as a whole.
    List(Vec<Tree>),
    /// A map; a patch merges into it.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// This tree with a merge patch applied: maps merge, null removes, all else is replaced.
    pub fn merged(&self, patch: &Tree) -> Tree {
        let Tree::Map(changes) = patch else {
            return patch.clone();
        };
        let mut members = match self {
            Tree::Map(members) => members.clone(),
            _ => Vec::new(),
        };
        for (name, change) in changes {
            let at = members.iter().position(|(member, _)| member == name);
            match (at, change) {
                (Some(at), Tree::Null) => {
                    members.remove(at);
                }
                (None, Tree::Null) => {}
                (Some(at), change) => members[at].1 = members[at].1.merged(change),
                (None, change) => members.push((name.clone(), Tree::Null.merged(change))),
            }
        }
        Tree::Map(members)
    }

    /// The member of a map.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Map(members) => members
                .iter()
                .find(|(member, _)| member == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// Calls `visit` with every placeholder in the tree.
    pub fn each_placeholder<'a>(&'a self, visit: &mut dyn FnMut(&'a Placeholder)) {
        match self {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
            Tree::Text(template) => template.placeholders().for_each(visit),
            Tree::List(items) => items.iter().for_each(|item| item.each_placeholder(visit)),
            Tree::Map(members) => members
                .iter()
                .for_each(|(_, value)| value.each_placeholder(visit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(json: serde_json::Value) -> Tree {
        match json {
            serde_json::Value::Null => Tree::Null,
            serde_json::Value::Bool(value) => Tree::Bool(value),
            serde_json::Value::Number(number) => Tree::Number(number),
            serde_json::Value::String(text) => Tree::Text(Template::literal(text)),
            serde_json::Value::Array(items) => Tree::List(items.into_iter().map(tree).collect()),
            serde_json::Value::Object(members) => Tree::Map(
                members
                    .into_iter()
                    .map(|(name, value)| (name, tree(value)))
                    .collect(),
            ),
        }
    }

    #[test]
    fn a_patch_merges_maps_removes_by_null_and_replaces_lists() {
        let base = tree(serde_json::json!({"a": {"b": 1, "c": 2}, "l": [1, 2], "x": "y"}));
        let patch = tree(
            serde_json::json!({"a": {"b": 3, "d": {"e": null, "f": 1}}, "l": [9], "x": null, "z": null}),
        );
        let expected = tree(serde_json::json!({"a": {"b": 3, "c": 2, "d": {"f": 1}}, "l": [9]}));
        assert_eq!(base.merged(&patch), expected);
    }

    #[test]
    fn a_patch_of_another_kind_replaces() {
        let base = tree(serde_json::json!({"a": 1}));
        assert_eq!(
            base.merged(&tree(serde_json::json!([1]))),
            tree(serde_json::json!([1]))
        );
    }
}
