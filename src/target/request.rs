//! Requests and patches as the target file writes them, and how patches are merged over a request.

use super::placeholder::Placeholder;
use super::placeholder::Template;
use super::principal::Role;
use super::tree::Tree;

/// A request of the target file, before placeholders, key and credentials.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path, without a query: absolute, or a whole URL, or a placeholder that gives either.
    pub path: Template,
    /// The query, from the path and from `query`, in order.
    pub query: Vec<Pair>,
    /// The request's own headers, in order.
    pub headers: Vec<Pair>,
    /// The body.
    pub body: Option<Body>,
    /// Who sends it, where that is not the sender of the operation.
    pub sender: Option<Role>,
}

/// A name and a value of a query or of headers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The name, as written.
    pub name: String,
    /// The value; `None` (null) removes in a patch and is absent in a request.
    pub value: Option<Template>,
    /// Whether the literal text is percent-encoded already, since it stood in a path.
    pub encoded: bool,
}

/// A body, by kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `application/json`.
    Json(Tree),
    /// `application/x-www-form-urlencoded`: nested as `a[b]`, lists as `a[0]`.
    Form(Tree),
    /// `multipart/form-data` (RFC 7578): a text for each field, or `{ file, type, content }`.
    Multipart(Tree),
    /// Text, sent as it is.
    Text(Template),
}

/// What a variant changes of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// Another path (and, if it has one, another query).
    pub path: Option<Template>,
    /// Query entries that are replaced, added or removed.
    pub query: Vec<Pair>,
    /// Headers that are replaced, added or removed.
    pub headers: Vec<Pair>,
    /// A merge patch for the body, of the same kind as the request's; a multipart one may replace a
    /// body of another kind.
    pub body: Option<Body>,
}

impl Request {
    /// This request with a patch merged over it.
    pub fn patched(&self, patch: &Patch) -> Request {
        let mut patched = self.clone();
        if let Some(path) = &patch.path {
            patched.path = path.clone();
            patched.query.retain(|pair| !pair.encoded);
        }
        merge_pairs(&mut patched.query, &patch.query, |a, b| a == b);
        merge_pairs(&mut patched.headers, &patch.headers, |a, b| {
            a.eq_ignore_ascii_case(b)
        });
        if let Some(change) = &patch.body {
            patched.body = Some(match (&self.body, change) {
                (Some(Body::Json(base)), Body::Json(change)) => Body::Json(base.merged(change)),
                (Some(Body::Form(base)), Body::Form(change)) => Body::Form(base.merged(change)),
                (Some(Body::Multipart(base)), Body::Multipart(change)) => {
                    Body::Multipart(base.merged(change))
                }
                (_, change) => change.clone(),
            });
        }
        patched
    }

    /// Calls `visit` with every placeholder of the request.
    pub fn each_placeholder<'a>(&'a self, visit: &mut dyn FnMut(&'a Placeholder)) {
        self.path.placeholders().for_each(&mut *visit);
        let pairs = self.query.iter().chain(&self.headers);
        for template in pairs.filter_map(|pair| pair.value.as_ref()) {
            template.placeholders().for_each(&mut *visit);
        }
        if let Some(body) = &self.body {
            body.each_placeholder(visit);
        }
    }

    /// Whether the request itself says where the key goes, by `${key}`.
    pub fn places_key(&self) -> bool {
        let mut found = false;
        self.each_placeholder(&mut |placeholder| found |= *placeholder == Placeholder::Key);
        found
    }
}

impl Body {
    /// The name of the kind in the target file.
    pub fn kind(&self) -> &'static str {
        match self {
            Body::Json(_) => "json",
            Body::Form(_) => "form",
            Body::Multipart(_) => "multipart",
            Body::Text(_) => "text",
        }
    }

    /// Calls `visit` with every placeholder of the body.
    pub fn each_placeholder<'a>(&'a self, visit: &mut dyn FnMut(&'a Placeholder)) {
        match self {
            Body::Json(tree) | Body::Form(tree) | Body::Multipart(tree) => {
                tree.each_placeholder(visit)
            }
            Body::Text(template) => template.placeholders().for_each(visit),
        }
    }
}

/// Replaces, adds and removes entries by name; entries that are null vanish.
fn merge_pairs(base: &mut Vec<Pair>, changes: &[Pair], same: fn(&str, &str) -> bool) {
    for change in changes {
        let at = base.iter().position(|pair| same(&pair.name, &change.name));
        match at {
            Some(at) => base[at] = change.clone(),
            None => base.push(change.clone()),
        }
    }
    base.retain(|pair| pair.value.is_some());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: Option<&str>) -> Pair {
        Pair {
            name: name.to_string(),
            value: value.map(Template::literal),
            encoded: false,
        }
    }

    fn request() -> Request {
        Request {
            method: "POST".to_string(),
            path: Template::literal("/payments"),
            query: vec![pair("dry", Some("0"))],
            headers: vec![pair("X-Mode", Some("a")), pair("Prefer", Some("b"))],
            body: Some(Body::Text(Template::literal("one"))),
            sender: None,
        }
    }

    #[test]
    fn a_patch_replaces_adds_and_removes_by_name() {
        let patch = Patch {
            path: Some(Template::literal("/refunds")),
            query: vec![pair("dry", None), pair("pad", Some("1"))],
            headers: vec![pair("x-mode", Some("c")), pair("prefer", None)],
            body: Some(Body::Text(Template::literal("two"))),
        };
        let patched = request().patched(&patch);
        assert_eq!(patched.path, Template::literal("/refunds"));
        assert_eq!(patched.query, [pair("pad", Some("1"))]);
        assert_eq!(patched.headers, [pair("x-mode", Some("c"))]);
        assert_eq!(patched.body, patch.body);
    }

    #[test]
    fn an_empty_patch_changes_nothing() {
        assert_eq!(request().patched(&Patch::default()), request());
    }
}
