//! What the baseline showed of one operation: request, key, identity, effects, further keys.

use super::identity::{body, headers};
use super::sheet::{Sheet, answer, succeeded};
use super::{effects, identity};
use crate::runner::baseline::{Baseline, Seen};
use crate::runner::exchange;
use crate::runner::keys::KeyWriter;
use crate::runner::round::{CaseContext, RoundRun, locked};
use crate::runner::spec::{Spec, SpecKey};
use crate::runner::world::{Cast, World};
use crate::scenario::{Case, Key, Request, Scenario};
use crate::target::key::{Carrier, KeyPlace, KeyUse};
use crate::target::operation::Operation;
use crate::target::selector::Answer;
use crate::target_check::Mark;
use crate::transcript::{Ending, Exchange, Response};

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
                identity::check(operation, seen, first, sheet);
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
        effects::check(world, operation, probe, probed, seen, sheet).await;
    }
    if operation.effects.is_empty() {
        let says = "not checked: the file does not say how effects are seen, so one effect per key can be broken but never shown";
        sheet.line("effects", Mark::NotChecked, says, "");
    }
    further_keys(measured, sheet);
}

fn request(operation: &Operation, first: &Exchange, sheet: &mut Sheet<'_>) {
    let Some(response) = &first.response else {
        let says = match &first.ending {
            Ending::TimedOut => "a first request with a fresh key got no answer in time".to_owned(),
            ending => format!(
                "a first request with a fresh key got no answer: {}",
                ending.says()
            ),
        };
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
    let says = format!("a first request with a fresh key was answered {says}");
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
    if world.is_keyless(&operation.name) {
        return sheet.line("key", Mark::Right, "none, as the file says", pointer);
    }
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
        variants: spec.variants.clone(),
        key: Some(Key::Fresh),
        principal: Some(spec.principal),
        ..Request::plain("checked")
    };
    exchange::one(&run, &request, spec, 0, 0, None).await?;
    let sent = locked(&run.record).last_of("checked").cloned();
    sent.ok_or_else(|| "it was not sent".to_owned())
}
