//! What the baseline showed of one operation: request, key, identity, effects, further keys.

use super::callers::path;
use super::sheet::{Sheet, answer, escaped, identity, in_words, succeeded};
use crate::runner::baseline::{Baseline, ProbeSeen, Seen, too_late};
use crate::runner::exchange;
use crate::runner::keys::KeyWriter;
use crate::runner::round::{CaseContext, RoundRun, locked};
use crate::runner::spec::{Spec, SpecKey};
use crate::runner::world::{Cast, Filling, World};
use crate::scenario::{Case, Key, PrincipalRole, Request, Scenario};
use crate::target::key::{Carrier, KeyPlace, KeyUse};
use crate::target::operation::{Operation, Probe, ProbeSource};
use crate::target::selector::Answer;
use crate::target_check::Mark;
use crate::transcript::{Exchange, Response, Shown};
use serde_json::Value;
use std::time::Duration;

/// Writes down what the baseline shows.
pub(super) async fn check(
    world: &World,
    operation: &Operation,
    measured: &Baseline,
    sheet: &mut Sheet<'_>,
) {
    let seen = &measured.seen;
    match &seen.first {
        Some(first) => {
            request(operation, first, sheet);
            key(world, operation, seen, first, sheet).await;
            if succeeded(first) {
                identity_line(operation, seen, first, sheet);
            }
        }
        None => {
            let unreadable = seen
                .probes
                .iter()
                .any(|probe| probe.foreign.is_some() || matches!(probe.before, Some(Err(_))));
            let why = measured.broken.as_deref().unwrap_or("it was not sent");
            let (mark, says) = if unreadable {
                (Mark::NotChecked, "not checked: see effects".to_owned())
            } else {
                (Mark::Useless, format!("it could not be sent: {why}"))
            };
            sheet.line("request", mark, says, "request");
        }
    }
    for (probe, probed) in operation.effects.iter().zip(&seen.probes) {
        effects(world, operation, probe, probed, seen, sheet).await;
    }
    if operation.effects.is_empty() {
        let says = "not checked: the file does not say how effects are seen, so one effect per key can be broken but never shown";
        sheet.line("effects", Mark::NotChecked, says, "");
    }
    further_keys(measured, sheet);
}

fn request(operation: &Operation, first: &Exchange, sheet: &mut Sheet<'_>) {
    let Some(response) = &first.response else {
        let says = format!("no answer: {}", first.ending.says());
        return sheet.line("request", Mark::Useless, says, "request");
    };
    if response.success {
        let says = format!("{}, success", response.status);
        return sheet.line("request", Mark::Right, says, "request");
    }
    let says = answer(first);
    if (200..300).contains(&response.status) {
        let broken = broken_condition(operation, response);
        let says = format!("{says}; `success` does not hold{broken}");
        let pointer = sheet.inherited("success");
        return sheet.line("success", Mark::Useless, says, &pointer);
    }
    let help = match response.status {
        401 | 403 => "the owner's credentials are refused".to_owned(),
        _ => sent(first),
    };
    sheet.line_with_help("request", Mark::Useless, says, Some(help), "request");
}

/// Which condition of `success` does not hold.
fn broken_condition(operation: &Operation, response: &Response) -> String {
    let body = body(response);
    let headers = headers(response);
    let answer = Answer {
        status: response.status,
        headers: &headers,
        body: &body,
    };
    let broken = operation
        .success
        .conditions
        .iter()
        .find(|condition| !condition.holds(&answer));
    broken.map_or_else(String::new, |condition| {
        format!(": {} is not as it says", condition.selector)
    })
}

fn sent(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let body: String = request
        .body
        .as_deref()
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect();
    format!("sent: {} {} {body}", request.method, request.url)
        .trim_end()
        .to_owned()
}

/// Whether the key goes out as the API wants it.
async fn key(
    world: &World,
    operation: &Operation,
    seen: &Seen,
    first: &Exchange,
    sheet: &mut Sheet<'_>,
) {
    let place = world.key_place(operation);
    let pointer = &sheet.inherited("key");
    let Some(KeyPlace::At { carrier, .. }) = &place else {
        if !operation.request.places_key() {
            sheet.line("key", Mark::NotChecked, "not checked: no key is sent", "");
        }
        return;
    };
    let keys = KeyWriter::new(world.contract(&operation.name), place.as_ref());
    let quoted = keys.is_quoted();
    let how = |quoted| if quoted { "quoted" } else { "bare" };
    let says = match carrier {
        Carrier::Header(name) => format!("header {name}, {}", how(quoted)),
        Carrier::Query(name) => format!("query {name}"),
        Carrier::Form(name) => format!("form {name}"),
        Carrier::Json(_) => "in the JSON body".to_owned(),
    };
    if succeeded(first) {
        return sheet.line("key", Mark::Right, says, pointer);
    }
    let refused = first
        .response
        .as_ref()
        .is_some_and(|response| matches!(response.status, 400 | 422));
    let (true, Carrier::Header(_), Some(spec)) = (refused, carrier, &seen.spec) else {
        return;
    };
    let fresh = keys.fresh();
    let other_way = Spec {
        key: SpecKey {
            sent: KeyUse::Value {
                text: fresh.clone(),
                quoted: Some(!quoted),
            },
            ..keys.odd(fresh)
        },
        ..spec.clone()
    };
    if let Ok(sent) = send(world, &operation.name, &other_way).await
        && succeeded(&sent)
    {
        let status = first
            .response
            .as_ref()
            .map_or(0, |response| response.status);
        let says = format!(
            "sent {}, the API refused it ({status}); sent {}, it took it",
            how(quoted),
            how(!quoted)
        );
        let help = format!("set key: {{ header: …, quoted: {} }}", !quoted);
        sheet.line_with_help("key", Mark::Useless, says, Some(help), pointer);
    }
}

fn identity_line(operation: &Operation, seen: &Seen, first: &Exchange, sheet: &mut Sheet<'_>) {
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

async fn effects(
    world: &World,
    operation: &Operation,
    probe: &Probe,
    probed: &ProbeSeen,
    seen: &Seen,
    sheet: &mut Sheet<'_>,
) {
    let name = format!("effects.{}", probe.name);
    let pointer = format!("effects/{}", escaped(&probe.name));
    let settle = probe.settle.unwrap_or(world.target.settle);
    let asked = match &probe.source {
        ProbeSource::Request(request) => format!("{} {}", request.method, path(request)),
        ProbeSource::Command(_) => "the command".to_owned(),
    };
    let mut wrong = |mark, says: String, help: Option<String>| {
        sheet.line_with_help(&name, mark, says, help, &pointer);
    };
    if let Some(Err(why)) = &probed.before {
        return wrong(Mark::Useless, format!("cannot be read: {why}"), None);
    }
    if let Some(count) = probed.foreign {
        let says = format!(
            "{count} before anything was sent: {asked} ignores {}",
            filter(probe)
        );
        return wrong(Mark::Useless, says, None);
    }
    let (Some(first), Some(after)) = (&seen.first, &probed.after) else {
        return wrong(
            Mark::NotChecked,
            "not checked: there was no success to see".to_owned(),
            None,
        );
    };
    let before = match &probed.before {
        Some(Ok(shown)) => shown.count().unwrap_or_default(),
        _ => 0.0,
    };
    let shown = match after {
        Err(why) => return wrong(Mark::Useless, format!("cannot be read: {why}"), None),
        Ok(shown) => shown,
    };
    let Some(count) = shown.count() else {
        return wrong(
            Mark::Right,
            "a state, which is compared as it is".to_owned(),
            None,
        );
    };
    let Some(lag) = probed.lag else {
        let id = identity(first).map_or_else(String::new, |id| format!(" with id {id}"));
        let status = first
            .response
            .as_ref()
            .map_or(0, |response| response.status);
        let says = format!(
            "{before} before, {count} after {}, though the response was {status}{id}",
            in_words(probed.watched)
        );
        let last = last_answer(world, operation, probe, seen, first).await;
        return wrong(Mark::Useless, says, last);
    };
    if lag > settle + Duration::from_millis(100) {
        return wrong(Mark::Useless, too_late(lag, settle), None);
    }
    let contains = match (shown, identity(first)) {
        (Shown::Ids(ids), Some(own)) if ids.iter().any(|id| id == own) => {
            format!("; contains {own}")
        }
        _ => String::new(),
    };
    let says = match &probed.before {
        Some(_) => format!("{before} before, {count} after {}{contains}", in_words(lag)),
        None => format!("{count} after {}{contains}", in_words(lag)),
    };
    let made = count - before;
    if made > operation.per_execution as f64 {
        let help = format!("if one request makes {made}, set per-execution: {made}");
        return wrong(Mark::Wrong, says, Some(help));
    }
    wrong(Mark::Right, says, None);
}

/// The names of what should have narrowed the probe.
fn filter(probe: &Probe) -> String {
    let ProbeSource::Request(request) = &probe.source else {
        return "its filter".to_owned();
    };
    let names: Vec<String> = request
        .query
        .iter()
        .filter(|pair| {
            pair.value
                .as_ref()
                .is_some_and(|value| value.as_literal().is_none())
        })
        .map(|pair| format!("\"{}\"", pair.name))
        .collect();
    if names.is_empty() {
        "its filter".to_owned()
    } else {
        names.join(", ")
    }
}

/// What the probe's request is answered: where the effect stands in it, or word for word.
async fn last_answer(
    world: &World,
    operation: &Operation,
    probe: &Probe,
    seen: &Seen,
    first: &Exchange,
) -> Option<String> {
    let ProbeSource::Request(request) = &probe.source else {
        return None;
    };
    let spec = seen.spec.as_ref()?;
    let mut values = Filling::of_spec(world, spec);
    values.request = first
        .request
        .body
        .as_deref()
        .and_then(|body| serde_json::from_str(body).ok());
    world
        .fixtures
        .fill(world, request, operation, spec, &mut values)
        .await
        .ok()?;
    let rendered = world
        .render_plain(request, PrincipalRole::Owner, &values)
        .ok()?;
    let fetched = world.fetch(&rendered, probe.timeout).await.ok()?;
    let body = serde_json::from_slice(&fetched.body).unwrap_or_default();
    let own: Vec<String> = identity(first).map(str::to_owned).into_iter().collect();
    Some(match place_of(&body, &own) {
        Some((place, id)) => format!("in the last answer {id} stands at `{place}`"),
        None => format!("the last answer: {}", fetched.says()),
    })
}

fn further_keys(measured: &Baseline, sheet: &mut Sheet<'_>) {
    let seen = &measured.seen;
    if let Some(second) = &seen.second {
        let (mark, says) = if !measured.natural {
            (
                Mark::Right,
                "a second effect: the key alone prevents duplicates".to_owned(),
            )
        } else if succeeded(second) {
            let says = "the same resource: duplicates are also prevented by the data; the key's part is not shown";
            (Mark::NotChecked, says.to_owned())
        } else {
            let says = format!(
                "refused ({}): duplicates are also prevented by the data; the key's part is not shown",
                answer(second)
            );
            (Mark::NotChecked, says)
        };
        sheet.line("fresh key, same body", mark, says, "");
    }
    if let Some(change) = &seen.change {
        if succeeded(change) {
            sheet.line(
                "change",
                Mark::Right,
                "accepted under a fresh key",
                "change",
            );
        } else {
            let says = format!("refused under a fresh key ({})", answer(change));
            let help = Some("it must be acceptable by itself".to_owned());
            sheet.line_with_help("change", Mark::Wrong, says, help, "change");
        }
    }
}

/// Sends one request as it is given.
pub(super) async fn send(world: &World, operation: &str, spec: &Spec) -> Result<Exchange, String> {
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, Cast::alone(operation), &scenario, &case);
    let run = RoundRun::new(&context, 1);
    let request = Request {
        name: "checked".to_owned(),
        like: None,
        operation: None,
        variants: spec.variants.clone(),
        forms: None,
        key: Some(Key::Fresh),
        principal: Some(spec.principal),
        marker: None,
        given_other: None,
        new_connection: false,
        to_each: false,
        at: None,
        fault: None,
    };
    exchange::one(&run, &request, spec, 0, 0, None).await?;
    let sent = locked(&run.record).last_of("checked").cloned();
    sent.ok_or_else(|| "it was not sent".to_owned())
}

fn shown_ids(seen: &Seen) -> Vec<String> {
    let shown = seen.probes.iter().filter_map(|probe| match &probe.after {
        Some(Ok(Shown::Ids(ids))) => Some(ids.iter()),
        _ => None,
    });
    shown.flatten().cloned().collect()
}

/// Where in a body one of the ids stands.
fn place_of(body: &Value, ids: &[String]) -> Option<(String, String)> {
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

fn body(response: &Response) -> Vec<u8> {
    match &response.json {
        Some(json) => json.to_string().into_bytes(),
        None => response.body.clone().into_bytes(),
    }
}

fn headers(response: &Response) -> Vec<(String, Vec<u8>)> {
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
