//! Whether each probe shows what the first request did: nothing before, something after, and only
//! its own.

use super::callers::path;
use super::identity::place_of;
use super::sheet::{Sheet, escaped, identity, in_words};
use crate::runner::baseline::Seen;
use crate::runner::rendering::Filling;
use crate::runner::sighting::{ProbeSeen, too_late};
use crate::runner::world::World;
use crate::scenario::PrincipalRole;
use crate::target::operation::{Operation, Probe, ProbeSource};
use crate::target_check::Mark;
use crate::transcript::{Exchange, Shown};
use std::time::Duration;

/// Checks one probe.
pub(super) async fn check(
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
        return wrong(
            Mark::Useless,
            format!("the probe cannot be read: {why}"),
            None,
        );
    }
    if let Some(count) = probed.foreign {
        let says = format!(
            "{count} before anything was sent: {asked} ignores {}",
            filter(probe)
        );
        return wrong(Mark::Useless, says, None);
    }
    if probed.mixed {
        let says = format!(
            "it shows the same for two requests: {asked} ignores {}, or nothing in the request is its own",
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
        Err(why) => {
            return wrong(
                Mark::Useless,
                format!("the probe cannot be read: {why}"),
                None,
            );
        }
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
            "no effect is seen: {before} before, {count} after {}, though the response was {status}{id}",
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
        None => format!("the last answer: {}", world.told(&fetched)),
    })
}
