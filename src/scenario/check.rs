//! What the grammar cannot say: references, keys, comparisons with responses that never come.

use super::expectation::{Check, Expectation};
use super::request::{Key, Marker, Request};
use super::{Case, Moment, Scenario, Step, Wait, When};
use crate::yaml::{self, Diagnostic, Node};
use std::collections::{BTreeMap, BTreeSet};

/// All that is wrong with the meaning of a scenario that parsed.
pub(super) fn check(scenario: &Scenario, root: &Node, library: bool) -> Vec<Diagnostic> {
    let mut problems = Problems {
        root,
        found: Vec::new(),
    };
    for case in &scenario.cases {
        check_case(case, scenario.rounds.count, &mut problems);
        let expectations = scenario
            .assume
            .iter()
            .chain(scenario.expect.iter().map(|(_, expectation)| expectation));
        for expectation in expectations {
            check_references(expectation, case, &mut problems);
        }
    }
    check_ids(scenario, &mut problems);
    if library {
        for (_, expectation) in &scenario.expect {
            if matches!(
                expectation.check,
                Check::Status { .. } | Check::Header { .. } | Check::Json { .. }
            ) {
                problems.add(
                    &expectation.id,
                    format!("`{}` names what belongs to one API: the built-in scenarios speak of outcomes", expectation.id),
                );
            }
        }
    }
    problems.found
}

struct Problems<'a> {
    root: &'a Node,
    found: Vec<Diagnostic>,
}

impl Problems<'_> {
    /// Adds a problem at the first place in the file where the word stands as a value.
    fn add(&mut self, word: &str, message: String) {
        let mut place = None;
        self.root.walk(&mut |_, node| {
            if place.is_none() && node.as_text() == Some(word) {
                place = Some(node.span.clone());
            }
        });
        let problem =
            Diagnostic::error(message).at(place.unwrap_or_else(|| self.root.span.clone()));
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    fn unknown_step(&mut self, name: &str, known: &BTreeSet<&str>) {
        let mut message = format!("there is no step `{name}` before this one");
        if let Some(near) = yaml::nearest(name, known.iter().copied()) {
            message = format!("{message}: did you mean `{near}`?");
        }
        self.add(name, message);
    }
}

fn check_case(case: &Case, rounds: u32, problems: &mut Problems<'_>) {
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for step in &case.steps {
        // Within a `together` a step may refer to its neighbours: they start at once.
        let inside = matches!(step, Step::Together(_));
        let neighbours: BTreeSet<&str> = step.leaves().iter().filter_map(Step::name).collect();
        let mut known = before.clone();
        for leaf in step.leaves() {
            if inside {
                known.extend(neighbours.iter().filter(|name| Some(**name) != leaf.name()));
            }
            check_step(leaf, case, rounds, inside, &known, problems);
            if let Some(name) = leaf.name()
                && !before.insert(name)
            {
                problems.add(
                    name,
                    format!("two steps are named `{name}`: names are unique in a scenario"),
                );
            }
        }
    }
}

fn check_step(
    step: &Step,
    case: &Case,
    rounds: u32,
    inside: bool,
    known: &BTreeSet<&str>,
    problems: &mut Problems<'_>,
) {
    match step {
        Step::Send { request, .. } | Step::Retry { request, .. } => {
            check_request(request, case, known, problems);
            check_start(
                request.at.as_ref(),
                &request.name,
                inside,
                false,
                rounds,
                known,
                problems,
            );
        }
        Step::Burst { request, .. } => {
            check_request(request, case, known, problems);
            check_start(
                request.at.as_ref(),
                &request.name,
                inside,
                true,
                rounds,
                known,
                problems,
            );
        }
        Step::Hook { run, at, .. } => {
            check_start(
                at.as_ref(),
                run.name(),
                inside,
                false,
                rounds,
                known,
                problems,
            );
        }
        Step::Elapse { at, .. } => {
            check_start(
                at.as_ref(),
                "elapse",
                inside,
                false,
                rounds,
                known,
                problems,
            );
        }
        Step::Wait(Wait::RetryAfter(of)) => {
            if !known.contains(of.as_str()) {
                problems.unknown_step(of, known);
            }
        }
        Step::Wait(_) | Step::Read { .. } | Step::Recheck { .. } | Step::Together(_) => {}
    }
}

fn check_request(
    request: &Request,
    case: &Case,
    known: &BTreeSet<&str>,
    problems: &mut Problems<'_>,
) {
    if request.key.is_none() && request.like.is_none() {
        problems.add(
            &request.name,
            format!(
                "the step `{}` has no key: write `key: fresh`, `key: none` or `like: STEP`",
                request.name
            ),
        );
    }
    let referred = [
        request.like.as_ref().map(|like| &like.of),
        match &request.key {
            Some(Key::Of { step, .. }) => Some(step),
            _ => None,
        },
        match &request.marker {
            Some(Marker::Of(step)) => Some(step),
            _ => None,
        },
    ];
    for step in referred.into_iter().flatten() {
        if !known.contains(step.as_str()) {
            problems.unknown_step(step, known);
        }
    }
    if let Some(like) = &request.like
        && like.which.is_none()
        && let Some(Step::Burst { request: burst, .. }) = case.step(&like.of)
        && burst.key == Some(Key::FreshEach)
    {
        problems.add(
            &like.of,
            format!("the copies of `{}` have a key each: say which one, as in {{ of: {}, which: rate-limited }}", like.of, like.of),
        );
    }
    if let Some(super::Fault::HangUp { at, .. }) = &request.fault {
        if at.when == When::Connected {
            problems.add(
                "connected",
                "a hang-up comes after the request was sent: use the fault before-request"
                    .to_owned(),
            );
        }
        if matches!(at.when, When::LastByte | When::Ended) {
            problems.add(
                &at.when.to_string(),
                format!("a hang-up at `{}` cuts nothing", at.when),
            );
        }
    }
}

fn check_start(
    at: Option<&Moment>,
    name: &str,
    inside: bool,
    burst: bool,
    rounds: u32,
    known: &BTreeSet<&str>,
    problems: &mut Problems<'_>,
) {
    let Some(moment) = at else { return };
    match &moment.of {
        None => problems.add(
            name,
            format!("the moment of `{name}` needs `of`: whose moment it is"),
        ),
        Some(of) if !known.contains(of.as_str()) => problems.unknown_step(of, known),
        Some(_) => {}
    }
    if moment.spread.is_some() && !burst && rounds < 2 {
        problems.add(
            name,
            format!("`{name}` is spread over the rounds, and there is one round only"),
        );
    }
    if moment.spread.is_some() && moment.plus.is_some() {
        problems.add(
            name,
            format!("the moment of `{name}` has both plus and spread: it takes one"),
        );
    }
    if !inside && moment.when != When::Ended {
        problems.add(
            name,
            format!("`{name}` starts at `{}`, but steps that are not in a together start when the one before has ended", moment.when),
        );
    }
}

fn check_references(expectation: &Expectation, case: &Case, problems: &mut Problems<'_>) {
    let names: BTreeSet<&str> = case.leaves().filter_map(Step::name).collect();
    for step in expectation.check.steps() {
        if !names.contains(step) {
            problems.unknown_step(step, &names);
        }
    }
    for reading in expectation.check.readings() {
        if !matches!(case.step(reading), Some(Step::Read { .. })) {
            problems.add(
                reading,
                format!("there is no reading `{reading}`: add a step `read: {{ as: {reading} }}`"),
            );
        }
    }
    let compared: Vec<&str> = match &expectation.check {
        Check::SameResponse { .. } | Check::TellsApart { .. } | Check::TwoResources { .. } => {
            expectation.check.steps()
        }
        _ => Vec::new(),
    };
    for step in compared {
        if let Some(fault) = case
            .step(step)
            .and_then(Step::request)
            .and_then(|request| request.fault.as_ref())
        {
            problems.add(
                step,
                format!(
                    "`{}` needs the response of `{step}`, which its fault {} loses",
                    expectation.id,
                    fault.name()
                ),
            );
        }
    }
}

fn check_ids(scenario: &Scenario, problems: &mut Problems<'_>) {
    let mut seen = BTreeSet::new();
    let mut counted: BTreeMap<_, usize> = BTreeMap::new();
    for (item, expectation) in &scenario.expect {
        let index = counted.entry(item).or_default();
        let place = problems
            .root
            .at(&format!("expect/{item}/{index}"))
            .map(|node| node.span.clone());
        *index += 1;
        if !seen.insert((item, &expectation.id)) {
            let problem = Diagnostic::error(format!(
                "two expectations of {item} have the id `{}`",
                expectation.id
            ))
            .at(place.unwrap_or_else(|| problems.root.span.clone()))
            .help("give one of them an `id` of its own");
            problems.found.push(problem);
        }
    }
}
