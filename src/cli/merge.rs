//! Several recorded runs made one: the parts of a run that was split, or the same run from several
//! places or repeated; or both sides, an API's run and a client's. What is joined is what happened; it
//! is judged as one.

use super::record::{Recorded, RecordedCase, RecordedClient};
use super::run::contract_names;
use crate::grade::RoundsOf;
use std::collections::BTreeMap;

/// Joins runs. Cases that are in several have the rounds of all; the others keep their order.
///
/// # Errors
/// Runs that do not belong together, with the reason.
pub fn join(runs: Vec<Recorded>) -> Result<Recorded, String> {
    let mut runs = runs.into_iter().map(told_apart);
    let mut whole = runs.next().ok_or("there is nothing to join")?;
    let mut parts: Vec<Vec<RecordedCase>> = vec![std::mem::take(&mut whole.cases)];
    let mut clients: Vec<Vec<RecordedClient>> = vec![std::mem::take(&mut whole.clients)];
    for run in runs {
        if let Some(why) = apart(&whole, &run) {
            return Err(why);
        }
        let Recorded {
            about,
            headlines,
            contracts,
            cases,
            clients: more_clients,
        } = run;
        let sum = &mut whole.about;
        if sum.again.is_empty() {
            sum.again = about.again;
            sum.seed = about.seed;
            sum.places.extend(about.places);
        }
        sum.client = sum.client.take().or(about.client);
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
        clients.push(more_clients);
    }
    whole.cases = joined(parts);
    let about = &whole.about;
    for case in &mut whole.cases {
        let is_of_it = |run: &RoundsOf| run.again == about.again && run.seed == about.seed;
        if case.runs.iter().all(is_of_it) {
            case.runs.clear();
        }
    }
    whole.clients = joined(clients);
    whole.about.contract = contract_names(&whole.contracts);
    Ok(whole)
}

/// A run whose cases know that they are of it.
fn told_apart(mut run: Recorded) -> Recorded {
    for case in run.cases.iter_mut().filter(|case| case.runs.is_empty()) {
        case.runs.push(RoundsOf {
            from_round: 1,
            again: run.about.again.clone(),
            seed: run.about.seed,
        });
    }
    run
}

/// Why two runs do not belong together.
fn apart(one: &Recorded, other: &Recorded) -> Option<String> {
    if one.about.target != other.about.target {
        return Some(format!(
            "the runs are of two targets, {} and {}",
            one.about.target, other.about.target
        ));
    }
    if let (Some(own), Some(others)) = (one.clients.first(), other.clients.first())
        && (one.about.client != other.about.client
            || own.transcript.facts != others.transcript.facts)
    {
        return Some("the runs are of two clients".to_owned());
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
fn joined<C: Part>(parts: Vec<Vec<C>>) -> Vec<C> {
    let mut places: BTreeMap<(String, String, usize), usize> = BTreeMap::new();
    let mut cases: Vec<C> = Vec::new();
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    loop {
        let turn: Vec<C> = parts.iter_mut().filter_map(Iterator::next).collect();
        if turn.is_empty() {
            return cases;
        }
        for case in turn {
            let name = case.name();
            match places.get(&name) {
                Some(place) => cases[*place].add(case),
                None => {
                    places.insert(name, cases.len());
                    cases.push(case);
                }
            }
        }
    }
}

/// A case of a run, which others may have as well.
trait Part: Sized {
    /// Operation, scenario and case.
    fn name(&self) -> (String, String, usize);

    /// Takes in the rounds of another run.
    fn add(&mut self, more: Self);
}

impl Part for RecordedCase {
    fn name(&self) -> (String, String, usize) {
        (self.operation.clone(), self.scenario.id.clone(), self.case)
    }

    fn add(&mut self, mut more: RecordedCase) {
        if more.skip.is_some() {
            return;
        }
        if self.skip.take().is_some() {
            *self = more;
            return;
        }
        let own = &mut self.transcript;
        let last = own.rounds.last().map_or(0, |round| round.number);
        for run in &mut more.runs {
            run.from_round += last;
        }
        self.runs.append(&mut more.runs);
        let mut more = more.transcript;
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
}

impl Part for RecordedClient {
    fn name(&self) -> (String, String, usize) {
        (self.operation.clone(), self.scenario.id.clone(), self.case)
    }

    fn add(&mut self, mut more: RecordedClient) {
        if self.skip.is_some() || more.skip.is_some() {
            return;
        }
        let own = &mut self.transcript.rounds;
        let last = own.last().map_or(0, |round| round.number);
        for round in &mut more.transcript.rounds {
            round.number += last;
        }
        own.append(&mut more.transcript.rounds);
    }
}
