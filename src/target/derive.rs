//! Changes of another intent that nobody declared, derived from the leaves of a request's body.
//! A leaf that holds a placeholder is never touched: it identifies the scenario, the key, or
//! something that exists.

use super::key::PathStep;
use super::placeholder::Template;
use super::request::Body;
use super::request::Patch;
use super::tree::Tree;

/// The field that `change-added` adds.
const ADDED: &str = "idemspec_added";

/// A leaf with its way from the root.
struct Leaf<'a> {
    path: Vec<PathStep>,
    value: &'a Tree,
}

/// Changes a leaf below a nested map.
pub(super) fn nested(body: Option<&Body>) -> Result<Patch, String> {
    let tree = tree(body)?;
    let leaves: Vec<Leaf<'_>> = free_leaves(tree)
        .into_iter()
        .filter(|leaf| leaf.path.len() > 1)
        .collect();
    // A number is changed first: a text may be one of few that the API takes.
    let number = leaves
        .iter()
        .find(|leaf| matches!(leaf.value, Tree::Number(_)));
    let leaf = number
        .or(leaves.first())
        .ok_or("its body has no nested value that could be changed")?;
    Ok(patch(
        body,
        changed(tree, &leaf.path, Some(other_value(leaf.value))),
    ))
}

/// Adds a field at the top.
pub(super) fn added(body: Option<&Body>) -> Result<Patch, String> {
    let Tree::Map(members) = tree(body)? else {
        return Err("its body is no map".to_string());
    };
    if members.iter().any(|(name, _)| name == ADDED) {
        return Err(format!("its body has a field `{ADDED}` already"));
    }
    let field = (ADDED.to_string(), Tree::Text(Template::literal("added")));
    Ok(patch(body, Tree::Map(vec![field])))
}

/// Removes the last leaf that is the member of a map.
pub(super) fn removed(body: Option<&Body>) -> Result<Patch, String> {
    let tree = tree(body)?;
    let leaves = free_leaves(tree);
    let leaf = leaves
        .iter()
        .rfind(|leaf| matches!(leaf.path.last(), Some(PathStep::Name(_))))
        .ok_or("its body has no field that could be removed")?;
    Ok(patch(body, changed(tree, &leaf.path, None)))
}

/// Turns the first number into its text.
pub(super) fn retyped(body: Option<&Body>) -> Result<Patch, String> {
    if let Some(Body::Form(_)) = body {
        return Err("all values of a form are text".to_string());
    }
    let tree = tree(body)?;
    let leaves = free_leaves(tree);
    let number = leaves.iter().find_map(|leaf| match leaf.value {
        Tree::Number(number) => Some((leaf, number)),
        _ => None,
    });
    let (leaf, number) = number.ok_or("its body has no number")?;
    let text = Tree::Text(Template::literal(number.to_string()));
    Ok(patch(body, changed(tree, &leaf.path, Some(text))))
}

fn tree(body: Option<&Body>) -> Result<&Tree, String> {
    match body {
        Some(Body::Json(tree) | Body::Form(tree)) => Ok(tree),
        Some(Body::Multipart(_)) => Err("its body is multipart".to_string()),
        Some(Body::Text(_)) => Err("its body is text".to_string()),
        None => Err("its request has no body".to_string()),
    }
}

fn patch(body: Option<&Body>, change: Tree) -> Patch {
    Patch {
        body: Some(match body {
            Some(Body::Form(_)) => Body::Form(change),
            _ => Body::Json(change),
        }),
        ..Patch::default()
    }
}

/// The leaves without placeholders, in order.
fn free_leaves(tree: &Tree) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    gather(tree, &mut Vec::new(), &mut leaves);
    leaves
}

fn gather<'a>(tree: &'a Tree, path: &mut Vec<PathStep>, leaves: &mut Vec<Leaf<'a>>) {
    match tree {
        Tree::Map(members) => {
            for (name, value) in members {
                path.push(PathStep::Name(name.clone()));
                gather(value, path, leaves);
                path.pop();
            }
        }
        Tree::List(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push(PathStep::Index(at));
                gather(value, path, leaves);
                path.pop();
            }
        }
        Tree::Text(template) if template.as_literal().is_none() => {}
        Tree::Null => {}
        value => leaves.push(Leaf {
            path: path.clone(),
            value,
        }),
    }
}

/// Another value of the same kind.
fn other_value(value: &Tree) -> Tree {
    match value {
        Tree::Bool(value) => Tree::Bool(!value),
        Tree::Number(number) => Tree::Number(match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.wrapping_add(1).into(),
            (None, Some(float)) => serde_json::Number::from_f64(float + 1.0).unwrap_or(0.into()),
            (None, None) => 0.into(),
        }),
        Tree::Text(template) => {
            let text = template.as_literal().unwrap_or_default();
            Tree::Text(Template::literal(format!("{text}x")))
        }
        other => other.clone(),
    }
}

/// A merge patch that sets the value at a path, or removes it. Lists cannot be merged: from the
/// first one on, the patch holds the whole list.
fn changed(tree: &Tree, path: &[PathStep], value: Option<Tree>) -> Tree {
    match (path.split_first(), tree) {
        (Some((PathStep::Name(name), rest)), tree) => {
            let below = tree.get(name).unwrap_or(&Tree::Null);
            Tree::Map(vec![(name.clone(), changed(below, rest, value))])
        }
        (Some((PathStep::Index(at), rest)), Tree::List(items)) => {
            let mut items = items.clone();
            if let Some(item) = items.get_mut(*at) {
                *item = item.merged(&changed(item, rest, value));
            }
            Tree::List(items)
        }
        (Some(_), tree) => tree.clone(),
        (None, _) => value.unwrap_or(Tree::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::trial;

    /// The whole body after the derived patch, as text.
    fn derived(
        body: &str,
        derive: fn(Option<&Body>) -> Result<Patch, String>,
    ) -> Result<String, String> {
        let yaml = format!(
            "target: T\nbase-url: http://127.0.0.1:1\noperations:\n  pay:\n    request: {{ method: POST, path: /p, {body} }}\n"
        );
        let request = trial::target(&yaml).operations.remove(0).request;
        let patch = derive(request.body.as_ref())?;
        let rendered = trial::render(&yaml, &[&patch]);
        Ok(String::from_utf8(rendered.body.unwrap_or_default()).expect("text"))
    }

    const BODY: &str = "json: { amount: 2000, m: \"${marker}\", card: { brand: visa, last: [ { n: 7, u: \"${unique}\" } ] }, memo: x }";

    #[test]
    fn each_change_touches_one_leaf_without_placeholder() {
        assert_eq!(
            derived(BODY, nested).expect("nested"),
            r#"{"amount":2000,"m":"m1","card":{"brand":"visa","last":[{"n":8,"u":"u1"}]},"memo":"x"}"#
        );
        assert_eq!(
            derived(BODY, added).expect("added"),
            r#"{"amount":2000,"m":"m1","card":{"brand":"visa","last":[{"n":7,"u":"u1"}]},"memo":"x","idemspec_added":"added"}"#
        );
        assert_eq!(
            derived(BODY, removed).expect("removed"),
            r#"{"amount":2000,"m":"m1","card":{"brand":"visa","last":[{"n":7,"u":"u1"}]}}"#
        );
        assert_eq!(
            derived(BODY, retyped).expect("retyped"),
            r#"{"amount":"2000","m":"m1","card":{"brand":"visa","last":[{"n":7,"u":"u1"}]},"memo":"x"}"#
        );
    }

    #[test]
    fn the_reason_is_given_where_nothing_can_be_derived() {
        let only_marker = "json: { m: \"${marker}\" }";
        assert!(derived(only_marker, nested).is_err());
        assert!(derived(only_marker, removed).is_err());
        assert!(derived(only_marker, retyped).is_err());
        assert!(derived("json: [ 1 ]", added).is_err());
        assert!(derived("text: x", added).is_err());
        assert!(derived("form: { n: 1 }", retyped).is_err());
        assert_eq!(
            derived("form: { n: { a: 1 } }", nested).expect("nested"),
            "n[a]=2"
        );
    }
}
