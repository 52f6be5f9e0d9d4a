//! Whether the identity that the file names is one value, and that of what was made.

use super::sheet::Sheet;
use crate::runner::baseline::Seen;
use crate::target::operation::Operation;
use crate::target::selector::Answer;
use crate::target_check::Mark;
use crate::transcript::{Exchange, Response, Shown};
use serde_json::Value;

/// Checks the identity in the first success.
pub(super) fn check(operation: &Operation, seen: &Seen, first: &Exchange, sheet: &mut Sheet<'_>) {
    if operation.identity.is_empty() {
        let says = "not checked: the file names none, so that one resource per key is not shown";
        return sheet.line("identity", Mark::NotChecked, says, "");
    }
    let Some(response) = &first.response else {
        return;
    };
    let ids = shown_ids(seen);
    let elsewhere = || {
        let (place, id) = place_of(response.json.as_ref()?, &ids)?;
        Some(format!("the probe's {id} stands at `{place}`"))
    };
    let (body, headers) = (body(response), headers(response));
    let answer = Answer {
        status: response.status,
        headers: &headers,
        body: &body,
    };
    let matched = operation
        .identity
        .iter()
        .map(|selector| (selector, selector.select(&answer)))
        .find(|(_, found)| !found.is_empty());
    let names: Vec<String> = operation
        .identity
        .iter()
        .map(|selector| format!("`{selector}`"))
        .collect();
    let names = names.join(", ");
    let useless = |sheet: &mut Sheet<'_>, says: String| {
        sheet.line_with_help("identity", Mark::Useless, says, elsewhere(), "identity");
    };
    let Some((selector, found)) = matched else {
        return useless(
            sheet,
            format!(
                "{names} is not in the answer {}",
                super::sheet::answer(first)
            ),
        );
    };
    if found.len() > 1 {
        let says = format!(
            "`{selector}` matched {} nodes: an identity is one value",
            found.len()
        );
        return useless(sheet, says);
    }
    let was_sent = seen
        .spec
        .as_ref()
        .is_some_and(|spec| found[0] == spec.marker.as_str() || found[0] == spec.unique.as_str());
    if was_sent {
        let says = format!("`{selector}` is what was sent, not what was made");
        return useless(sheet, says);
    }
    let Some(own) = &response.identity else {
        let says = format!(
            "`{selector}` is {}: an identity is a text or a number",
            found[0]
        );
        return useless(sheet, says);
    };
    let is_known = ids.iter().any(|id| id == own);
    if !is_known && elsewhere().is_some() {
        let says = format!(
            "`{selector}` = {own}, which no probe shows: {}",
            ids.join(", ")
        );
        return useless(sheet, says);
    }
    sheet.line(
        "identity",
        Mark::Right,
        format!("{selector} = {own}"),
        "identity",
    );
}

fn shown_ids(seen: &Seen) -> Vec<String> {
    let shown = seen.probes.iter().filter_map(|probe| match &probe.after {
        Some(Ok(Shown::Ids(ids))) => Some(ids.iter()),
        _ => None,
    });
    shown.flatten().cloned().collect()
}

/// Where in a body one of the ids stands.
pub(super) fn place_of(body: &Value, ids: &[String]) -> Option<(String, String)> {
    fn search(value: &Value, place: &str, ids: &[String]) -> Option<(String, String)> {
        match value {
            Value::Object(members) => members.iter().find_map(|(name, value)| {
                let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let place = if plain {
                    format!("{place}.{name}")
                } else {
                    format!("{place}['{name}']")
                };
                search(value, &place, ids)
            }),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find_map(|(at, value)| search(value, &format!("{place}[{at}]"), ids)),
            leaf => {
                let text = crate::runner::answer::plain(leaf)?;
                ids.contains(&text).then(|| (place.to_owned(), text))
            }
        }
    }
    search(body, "$", ids)
}

/// The body's bytes, as far as they were kept.
pub(super) fn body(response: &Response) -> Vec<u8> {
    match &response.json {
        Some(json) => json.to_string().into_bytes(),
        None => response.body.clone().into_bytes(),
    }
}

/// The headers as a selector takes them.
pub(super) fn headers(response: &Response) -> Vec<(String, Vec<u8>)> {
    response
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::place_of;
    use serde_json::json;

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        let body = json!({ "status": "ok", "data": { "items": [{ "pay-id": "pay_1" }] } });
        let ids = ["pay_1".to_owned()];
        let (place, id) = place_of(&body, &ids).expect("it is there");
        assert_eq!(place, "$.data.items[0]['pay-id']");
        assert_eq!(id, "pay_1");
        assert_eq!(place_of(&json!({ "id": "other" }), &ids), None);
    }
}
