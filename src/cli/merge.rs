//! Several recorded runs made one: the parts of a run that was split, or the same run from several
//! places or repeated. What is joined is what happened; it is judged as one.

use super::record::{Recorded, RecordedCase};
use std::collections::BTreeMap;

/// Joins runs. Cases that are in several have the rounds of all; the others keep their order.
///
/// # Errors
/// Runs that do not belong together, with the reason.
pub fn join(runs: Vec<Recorded>) -> Result<Recorded, String> {
    let mut runs = runs.into_iter();
    let mut whole = runs.next().ok_or("there is nothing to join")?;
    let mut parts: Vec<Vec<RecordedCase>> = vec![std::mem::take(&mut whole.cases)];
    for run in runs {
        if let Some(why) = apart(&whole, &run) {
            return Err(why);
        }
        let Recorded {
            about,
            headlines,
            contracts,
            cases,
        } = run;
        let sum = &mut whole.about;
        sum.requests += about.requests;
        sum.took_micros = sum.took_micros.max(about.took_micros);
        sum.started = sum.started.clone().min(about.started);
        for url in about.base_urls {
            if !sum.base_urls.contains(&url) {
                sum.base_urls.push(url);
            }
        }
        sum.stopped = sum.stopped.take().or(about.stopped);
        for line in about.check {
            if !sum.check.contains(&line) {
                sum.check.push(line);
            }
        }
        for headline in headlines {
            if !whole.headlines.contains(&headline) {
                whole.headlines.push(headline);
            }
        }
        whole.contracts.extend(contracts);
        parts.push(cases);
    }
    whole.cases = joined(parts);
    Ok(whole)
}

/// Why two runs do not belong together.
fn apart(one: &Recorded, other: &Recorded) -> Option<String> {
    if one.about.target != other.about.target {
        return Some(format!(
            "the runs are of two targets, {} and {}",
            one.about.target, other.about.target
        ));
    }
    one.contracts
        .iter()
        .find(|(operation, contract)| {
            other
                .contracts
                .get(*operation)
                .is_some_and(|own| own.to_yaml() != contract.to_yaml())
        })
        .map(|(operation, _)| format!("the runs hold {operation} to two contracts"))
}

/// The parts of a split run are dealt out in turn, so they are taken in turn.
fn joined(parts: Vec<Vec<RecordedCase>>) -> Vec<RecordedCase> {
    let mut places: BTreeMap<(String, String, usize), usize> = BTreeMap::new();
    let mut cases: Vec<RecordedCase> = Vec::new();
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    loop {
        let turn: Vec<RecordedCase> = parts.iter_mut().filter_map(Iterator::next).collect();
        if turn.is_empty() {
            return cases;
        }
        for case in turn {
            let name = (case.operation.clone(), case.scenario.id.clone(), case.case);
            match places.get(&name) {
                Some(place) => add(&mut cases[*place], case),
                None => {
                    places.insert(name, cases.len());
                    cases.push(case);
                }
            }
        }
    }
}

fn add(case: &mut RecordedCase, more: RecordedCase) {
    if more.skip.is_some() {
        return;
    }
    if case.skip.take().is_some() {
        *case = more;
        return;
    }
    let own = &mut case.transcript;
    let mut more = more.transcript;
    let last = own.rounds.last().map_or(0, |round| round.number);
    for round in &mut more.rounds {
        round.number += last;
    }
    if own.rounds.is_empty() {
        own.probes = more.probes;
        own.latency = more.latency;
    }
    own.not_applicable = own.not_applicable.take().or(more.not_applicable);
    own.rounds.append(&mut more.rounds);
    for why in more.broken {
        if !own.broken.contains(&why) {
            own.broken.push(why);
        }
    }
}
