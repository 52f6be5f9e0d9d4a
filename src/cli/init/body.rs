//! What a body offers: where a marker can stand, what can be changed, what the API should refuse.

use regex::Regex;
use serde_json::{Map, Number, Value};

/// A step into a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Name(String),
    Index(usize),
}

/// Where something stands in a body.
pub(super) type Path = Vec<Step>;

/// `$.card.items[0]`.
pub(super) fn in_words(path: &[Step]) -> String {
    path.iter().fold("$".to_owned(), |text, step| match step {
        Step::Name(name) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            format!("{text}.{name}")
        }
        Step::Name(name) => format!("{text}['{name}']"),
        Step::Index(at) => format!("{text}[{at}]"),
    })
}

/// The text that is free to be anything: the marker goes there.
pub(super) fn marker(body: &Value) -> Option<Path> {
    const NAMES: [&str; 8] = [
        "reference",
        "externalid",
        "externalreference",
        "clientreference",
        "description",
        "note",
        "memo",
        "metadata",
    ];
    NAMES.iter().find_map(|wanted| {
        find(body, &mut |path, value| {
            let is_meant = |step: &Step| match step {
                Step::Name(name) => plain(name) == *wanted,
                Step::Index(_) => false,
            };
            let named = match *wanted {
                // Any text below it will do.
                "metadata" => path.iter().any(is_meant),
                _ => path.last().is_some_and(is_meant),
            };
            named && value.is_string()
        })
    })
}

/// Texts that the API wants to be new each time.
pub(super) fn unique(body: &Value, taken: Option<&Path>) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    each(body, &mut Vec::new(), &mut |path, value| {
        let Some(Step::Name(name)) = path.last() else {
            return;
        };
        if !value.is_string() || taken.is_some_and(|taken| taken == path) {
            return;
        }
        let name = plain(name);
        if name.contains("email") {
            found.push((path.clone(), "${unique}@example.com".to_owned()));
        } else if name.contains("ordernumber")
            || name.contains("invoicenumber")
            || name.contains("unique")
            || name == "orderid"
        {
            found.push((path.clone(), "${unique}".to_owned()));
        }
    });
    found
}

/// A number that can be another: with the value that is acceptable and the one that is not.
pub(super) fn number(body: &Value) -> Option<(Path, Value, Value)> {
    let integer = find(body, &mut |path, value| {
        value.is_u64() && matches!(path.last(), Some(Step::Name(_)))
    });
    if let Some(path) = integer {
        let more = at(body, &path)?.as_u64()?.checked_add(1)?;
        return Some((path, Value::from(more), Value::from(-1)));
    }
    let path = find(body, &mut |path, value| {
        let Some(Step::Name(name)) = path.last() else {
            return false;
        };
        value.is_f64() || (is_amount(name) && value.as_str().is_some_and(is_decimal))
    })?;
    let value = at(body, &path)?;
    match value.as_str() {
        Some(text) => {
            let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
            let more = text.parse::<f64>().ok()? + 1.0;
            let more = Value::String(format!("{more:.digits$}"));
            Some((path, more, Value::String("-1".to_owned())))
        }
        None => {
            let more = Number::from_f64(value.as_f64()? + 1.0)?;
            Some((path, Value::Number(more), Value::from(-1)))
        }
    }
}

fn is_amount(name: &str) -> bool {
    let name = plain(name);
    ["amount", "value", "price", "quantity", "total", "sum"]
        .iter()
        .any(|word| name.contains(word))
}

fn is_decimal(text: &str) -> bool {
    Regex::new(r"^\d{1,12}(\.\d{1,6})?$").is_ok_and(|pattern| pattern.is_match(text))
}

/// A merge patch that puts a value at a place; lists are replaced as a whole.
pub(super) fn patch(body: &Value, path: &[Step], value: Value) -> Value {
    match path.split_first() {
        None => value,
        Some((Step::Name(name), rest)) => {
            let below = body.get(name).unwrap_or(&Value::Null);
            let mut map = Map::new();
            map.insert(name.clone(), patch(below, rest, value));
            Value::Object(map)
        }
        Some((Step::Index(_), _)) => {
            let mut list = body.clone();
            put(&mut list, path, value);
            list
        }
    }
}

/// Puts a value where something stands already.
pub(super) fn put(body: &mut Value, path: &[Step], value: Value) {
    let mut place = body;
    for step in path {
        let next = match step {
            Step::Name(name) => place.get_mut(name),
            Step::Index(at) => place.get_mut(at),
        };
        match next {
            Some(next) => place = next,
            None => return,
        }
    }
    *place = value;
}

/// What stands at a place.
pub(super) fn at<'a>(body: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(body, |value, step| match step {
        Step::Name(name) => value.get(name),
        Step::Index(at) => value.get(at),
    })
}

/// Calls `visit` with every leaf, in order.
pub(super) fn each(value: &Value, path: &mut Path, visit: &mut dyn FnMut(&Path, &Value)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                path.push(Step::Name(name.clone()));
                each(value, path, visit);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push(Step::Index(at));
                each(value, path, visit);
                path.pop();
            }
        }
        leaf => visit(path, leaf),
    }
}

fn find(body: &Value, fits: &mut dyn FnMut(&Path, &Value) -> bool) -> Option<Path> {
    let mut found = None;
    each(body, &mut Vec::new(), &mut |path, value| {
        if found.is_none() && fits(path, value) {
            found = Some(path.clone());
        }
    });
    found
}

/// A name without case and without what parts its words.
fn plain(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A form's pairs as a tree: `a[b]` is a map in a map, `a[]` and `a[0]` a list.
pub(super) fn form(body: &str) -> Value {
    let mut tree = Value::Object(Map::new());
    for (name, value) in url::form_urlencoded::parse(body.as_bytes()) {
        let mut parts = name.split('[');
        let first = parts.next().unwrap_or_default().to_owned();
        let rest: Option<Vec<&str>> = parts.map(|part| part.strip_suffix(']')).collect();
        let steps = match rest {
            Some(rest) => std::iter::once(first)
                .chain(rest.into_iter().map(str::to_owned))
                .collect(),
            None => vec![name.to_string()],
        };
        insert(&mut tree, &steps, value.into_owned());
    }
    tree
}

fn insert(place: &mut Value, steps: &[String], value: String) {
    let Some((step, rest)) = steps.split_first() else {
        *place = Value::String(value);
        return;
    };
    let is_list = step.is_empty() || step.chars().all(|c| c.is_ascii_digit());
    if place.is_null() {
        *place = if is_list {
            Value::Array(Vec::new())
        } else {
            Value::Object(Map::new())
        };
    }
    match place {
        Value::Array(items) => {
            let at = step
                .parse::<usize>()
                .unwrap_or(items.len())
                .min(items.len());
            if at == items.len() {
                items.push(Value::Null);
            }
            insert(&mut items[at], rest, value);
        }
        Value::Object(members) => {
            insert(
                members.entry(step.clone()).or_insert(Value::Null),
                rest,
                value,
            );
        }
        other => *other = Value::String(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_marker_goes_into_free_text() {
        let found = |body: Value| marker(&body).map(|path| in_words(&path));
        assert_eq!(
            found(json!({ "description": "x", "reference": "y" })).as_deref(),
            Some("$.reference")
        );
        assert_eq!(
            found(json!({ "order": { "externalId": "x" } })).as_deref(),
            Some("$.order.externalId")
        );
        assert_eq!(
            found(json!({ "metadata": { "order": "1" } })).as_deref(),
            Some("$.metadata.order")
        );
        assert_eq!(found(json!({ "reference": 1, "currency": "EUR" })), None);
    }

    #[test]
    fn a_number_is_changed_by_one() {
        let (path, more, bad) = number(&json!({ "a": "x", "b": { "n": 5 } })).expect("a number");
        assert_eq!(
            (in_words(&path).as_str(), more, bad),
            ("$.b.n", json!(6), json!(-1))
        );
        let (_, more, bad) = number(&json!({ "amount": "10.50" })).expect("an amount");
        assert_eq!((more, bad), (json!("11.50"), json!("-1")));
        let (_, more, _) = number(&json!({ "amount": 10.5 })).expect("an amount");
        assert_eq!(more, json!(11.5));
        assert_eq!(number(&json!({ "phone": "123", "currency": "EUR" })), None);
    }

    #[test]
    fn a_patch_replaces_lists_as_a_whole() {
        let body = json!({ "items": [{ "n": 1, "sku": "a" }, { "n": 2 }], "x": 1 });
        let (path, more, _) = number(&body).expect("a number");
        assert_eq!(
            patch(&body, &path, more),
            json!({ "items": [{ "n": 2, "sku": "a" }, { "n": 2 }] })
        );
    }

    #[test]
    fn unique_fields_are_known_by_their_names() {
        let body = json!({ "email": "a@b", "order_number": "7", "reference": "r", "order_id": 3 });
        let found = unique(&body, None);
        let found: Vec<_> = found
            .iter()
            .map(|(path, value)| (in_words(path), value.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("$.email".to_owned(), "${unique}@example.com"),
                ("$.order_number".to_owned(), "${unique}")
            ]
        );
    }

    #[test]
    fn a_form_becomes_a_tree() {
        assert_eq!(
            form("amount=2000&card[exp][year]=30&items[0][id]=a&items[1][id]=b&tags[]=x&tags[]=y"),
            json!({
                "amount": "2000",
                "card": { "exp": { "year": "30" } },
                "items": [{ "id": "a" }, { "id": "b" }],
                "tags": ["x", "y"],
            })
        );
    }
}
