//! The same key again, and whether the declared variants do what their names say.

use super::operation::send;
use super::sheet::{Sheet, answer, escaped, identity, succeeded};
use super::{EFFECTS, operation};
use crate::plan::Plan;
use crate::runner::baseline::{Baseline, Measuring};
use crate::runner::probe::{self, Counted, Subject};
use crate::runner::round::{CaseContext, RoundRun, locked};
use crate::runner::spec::Spec;
use crate::runner::trial;
use crate::runner::world::{Cast, World};
use crate::scenario::{Case, Scenario, Step};
use crate::target::operation::{Group, Operation, Variant};
use crate::target_check::Mark;
use crate::transcript::Exchange;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Sends the first request again, then each variant, as long as effects may be made.
pub(super) async fn check(
    world: &World,
    operation: &Operation,
    measured: &Baseline,
    plan: &Plan,
    sheet: &mut Sheet<'_>,
) {
    same_key_again(world, operation, measured, sheet).await;
    let mut made = measured.effects();
    for group in [Group::Invalid, Group::Declined, Group::Failing] {
        let variants = operation
            .variants
            .iter()
            .filter(|variant| variant.group == group);
        for variant in variants {
            one(world, operation, variant, measured, plan, &mut made, sheet).await;
        }
    }
}

/// What a repetition is answered, and whether it does anything.
async fn same_key_again(
    world: &World,
    operation: &Operation,
    measured: &Baseline,
    sheet: &mut Sheet<'_>,
) {
    const NAME: &str = "same key again";
    let seen = &measured.seen;
    let (Some(spec), Some(first)) = (&seen.spec, &seen.first) else {
        return;
    };
    if spec.key.value.is_none() || world.key_place(operation).is_none() {
        return sheet.line(NAME, Mark::NotChecked, "not checked: no key is sent", "");
    }
    let before = counts(world, operation, spec, first).await;
    let again = match send(world, &operation.name, spec).await {
        Ok(again) => again,
        Err(why) => {
            return sheet.line(NAME, Mark::NotChecked, format!("not checked: {why}"), "");
        }
    };
    let slowest = seen.probes.iter().filter_map(|probe| probe.lag).max();
    let slowest = slowest.unwrap_or_default();
    let until = Instant::now()
        + (3 * slowest).clamp(
            Duration::from_millis(50),
            world.target.settle.max(Duration::from_millis(50)),
        );
    let more = loop {
        let after = counts(world, operation, spec, first).await;
        let more = before
            .iter()
            .zip(&after)
            .filter_map(|(before, after)| Some((*after)? - (*before)?))
            .fold(None, |most: Option<f64>, more| {
                Some(most.map_or(more, |most| most.max(more)))
            });
        if more.is_none_or(|more| more > 0.0) || Instant::now() >= until {
            break more;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let mut parts = vec![match succeeded(&again) {
        true => again
            .response
            .as_ref()
            .map_or_else(String::new, |response| response.status.to_string()),
        false => answer(&again),
    }];
    let other = match (identity(first), identity(&again)) {
        (Some(own), Some(id)) if own == id => {
            parts.push("same id".to_owned());
            false
        }
        (Some(_), Some(id)) => {
            parts.push(format!("another id: {id}"));
            true
        }
        _ => false,
    };
    parts.extend(marker(first, &again));
    match more {
        Some(more) if more > 0.0 => parts.push(format!("now {}", 1.0 + more)),
        Some(_) => parts.push("still 1".to_owned()),
        None => {}
    }
    let says = parts.join(", ");
    if other || more.is_some_and(|more| more > 0.0) {
        let help = "the key prevents nothing here: is it where the API looks for it?";
        let pointer = sheet.inherited("key");
        sheet.line_with_help(NAME, Mark::Wrong, says, Some(help.to_owned()), &pointer);
    } else {
        sheet.line(NAME, Mark::Right, says, "");
    }
}

/// A header that only the repetition bears.
fn marker(first: &Exchange, again: &Exchange) -> Option<String> {
    let (first, again) = (first.response.as_ref()?, again.response.as_ref()?);
    again
        .headers
        .iter()
        .find(|(name, value)| {
            let word = name.to_ascii_lowercase();
            (word.contains("replay") || word.contains("idempot"))
                && !first
                    .headers
                    .iter()
                    .any(|(known, before)| known.eq_ignore_ascii_case(name) && before == value)
        })
        .map(|(name, value)| format!("{name}: {value}"))
}

/// What each probe counts for a request.
async fn counts(
    world: &World,
    operation: &Operation,
    spec: &Spec,
    exchange: &Exchange,
) -> Vec<Option<f64>> {
    let cast = Cast::alone(&operation.name);
    let counted = Counted {
        spec: spec.clone(),
        body: exchange
            .request
            .body
            .as_deref()
            .and_then(|body| serde_json::from_str(body).ok()),
    };
    let subject = Subject::of(spec);
    let mut counts = Vec::new();
    for probe in &operation.effects {
        let shown = probe::read(world, &cast, probe, &subject, &[&counted]).await;
        counts.push(shown.ok().and_then(|shown| shown.count()));
    }
    counts
}

async fn one(
    world: &World,
    operation: &Operation,
    variant: &Variant,
    measured: &Baseline,
    plan: &Plan,
    made: &mut usize,
    sheet: &mut Sheet<'_>,
) {
    let group = match variant.group {
        Group::Invalid => "invalid",
        Group::Declined => "declined",
        _ => "failing",
    };
    let name = if variant.name == group {
        group.to_owned()
    } else {
        format!("{group}.{}", variant.name)
    };
    let pointer = format!("{group}/{}", escaped(&variant.name));
    if variant.before.is_some() || variant.after.is_some() {
        let says = "not checked: it needs a hook";
        return sheet.line(&name, Mark::NotChecked, says, &pointer);
    }
    if *made >= EFFECTS {
        let says = format!("not checked: {EFFECTS} effects were made already");
        return sheet.line(&name, Mark::NotChecked, says, &pointer);
    }
    let (spec, sent) = match try_out(world, operation, variant).await {
        Ok(tried) => tried,
        Err(why) => {
            let says = format!("not checked: {why}");
            return sheet.line(&name, Mark::NotChecked, says, &pointer);
        }
    };
    *made += effects(world, operation, variant, measured, &spec, &sent).await;
    let status = sent.response.as_ref().map(|response| response.status);
    let (mark, says, help) = match (variant.group, status) {
        (Group::Invalid, _) if succeeded(&sent) => {
            let body = sent.request.body.as_deref().unwrap_or("it");
            let body: String = body.chars().take(160).collect();
            let id = identity(&sent).map_or_else(String::new, |id| format!(" and made {id}"));
            let status = status.unwrap_or_default();
            let says = format!("{status}: {body} was accepted{id}");
            let skipped = match using(plan, operation, "invalid") {
                1 => "1 scenario".to_owned(),
                more => format!("{more} scenarios"),
            };
            let help = format!(
                "put something there that the API refuses, or delete the line ({skipped} will skip)"
            );
            (Mark::Wrong, says, Some(help))
        }
        (Group::Invalid, Some(400..=499)) => {
            (Mark::Right, format!("refused: {}", status_of(&sent)), None)
        }
        (Group::Invalid, _) => {
            let help = "it must be refused before anything happens, with a 4xx".to_owned();
            (Mark::Wrong, answer(&sent), Some(help))
        }
        (Group::Declined, _) if succeeded(&sent) => {
            (Mark::Wrong, format!("succeeded: {}", answer(&sent)), None)
        }
        (Group::Declined, _) => (Mark::Right, format!("declined: {}", status_of(&sent)), None),
        (_, Some(400..=499)) => {
            let says = format!("answered {}", answer(&sent));
            let help = "that is a refusal, not a failure".to_owned();
            (Mark::Wrong, says, Some(help))
        }
        _ if succeeded(&sent) => (Mark::Wrong, format!("answered {}", answer(&sent)), None),
        _ => (Mark::Right, format!("fails: {}", status_of(&sent)), None),
    };
    sheet.line_with_help(&name, mark, says, help, &pointer);
}

fn status_of(sent: &Exchange) -> String {
    match &sent.response {
        Some(response) => response.status.to_string(),
        None => sent.ending.says(),
    }
}

/// Sends a variant under a key and a marker of its own.
async fn try_out(
    world: &World,
    operation: &Operation,
    variant: &Variant,
) -> Result<(Spec, Exchange), String> {
    let key = trial::announce(world, operation, variant).await;
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, Cast::alone(&operation.name), &scenario, &case);
    let run = RoundRun::new(&context, 1);
    let measuring = Measuring {
        run: &run,
        key: &key,
    };
    let spec = run
        .specs(&measuring.request("checked", "main"), 1)?
        .remove(0);
    let sent = operation::send(world, &operation.name, &spec).await;
    let reason = locked(&context.not_applicable).take();
    match (sent, reason) {
        (_, Some(reason)) => Err(reason),
        (sent, None) => sent.map(|sent| (spec, sent)),
    }
}

/// How many effects a variant has made, at most.
async fn effects(
    world: &World,
    operation: &Operation,
    variant: &Variant,
    measured: &Baseline,
    spec: &Spec,
    sent: &Exchange,
) -> usize {
    if succeeded(sent) {
        return 1;
    }
    if variant.group == Group::Invalid {
        return 0;
    }
    // Where effects show at once, none that shows is none.
    let at_once = !measured.seen.probes.is_empty()
        && measured
            .seen
            .probes
            .iter()
            .all(|probe| probe.lag.is_some_and(|lag| lag < Duration::from_millis(50)));
    if !at_once {
        return 1;
    }
    let counts = counts(world, operation, spec, sent).await;
    let shown = counts.into_iter().map(|count| count.unwrap_or(1.0));
    shown.fold(0.0, f64::max).ceil() as usize
}

/// How many scenarios use a variant of the operation.
fn using(plan: &Plan, operation: &Operation, variant: &str) -> usize {
    let ids: BTreeSet<&str> = plan
        .cases
        .iter()
        .filter(|planned| planned.subject == operation.name && planned.skip.is_none())
        .filter(|planned| {
            planned.scenario.cases[planned.case]
                .leaves()
                .filter_map(Step::request)
                .any(|request| request.variants.iter().any(|name| name == variant))
        })
        .map(|planned| planned.scenario.id.as_str())
        .collect();
    ids.len()
}
