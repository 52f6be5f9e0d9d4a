//! What the grammar cannot say: references, keys, comparisons with responses that never come.

use super::expectation::{Check, Expectation};
use super::key::Key;
use super::request::{Marker, Request};
use super::words;
use super::{Case, Moment, Scenario, Step, Wait, When};
use crate::yaml::{self, Diagnostic, Node, Span};
use std::collections::{BTreeMap, BTreeSet};

/// All that is wrong with the meaning of a scenario that parsed. `nodes` are those that the steps
/// of each case were read from.
pub(super) fn check(
    scenario: &Scenario,
    nodes: &[Vec<Node>],
    root: &Node,
    library: bool,
) -> Vec<Diagnostic> {
    let mut problems = Problems { found: Vec::new() };
    let listed = listed(scenario, root);
    for (case, nodes) in scenario.cases.iter().zip(nodes) {
        check_case(case, nodes, scenario.rounds.count, library, &mut problems);
        for (expectation, node) in &listed {
            check_references(expectation, node, case, &mut problems);
        }
    }
    check_ids(scenario, root, &mut problems);
    if library {
        for (expectation, node) in &listed[scenario.assume.len()..] {
            if matches!(
                expectation.check,
                Check::Overlap { .. } | Check::Straddled { .. }
            ) {
                let message = format!(
                    "`{}` says whether the run shows anything: it belongs under `assume`",
                    kind(node)
                );
                problems.add(node.span.first_line(), message);
            }
        }
        for (expectation, node) in &listed {
            if matches!(
                expectation.check,
                Check::Status { .. } | Check::Header { .. } | Check::Json { .. }
            ) {
                let message = format!(
                    "`{}` names what belongs to one API: the built-in scenarios speak of outcomes",
                    kind(node)
                );
                problems.add(node.span.first_line(), message);
            }
        }
    }
    problems.found
}

/// Assumptions and expectations, each with the node that it was read from.
fn listed<'a>(scenario: &'a Scenario, root: &'a Node) -> Vec<(&'a Expectation, &'a Node)> {
    let items = |node: Option<&'a Node>| node.and_then(Node::as_list).unwrap_or_default();
    let expected = root
        .get("expect")
        .and_then(Node::as_map)
        .unwrap_or_default();
    let nodes = items(root.get("assume")).iter().chain(
        expected
            .iter()
            .flat_map(move |item| items(Some(&item.value)).iter()),
    );
    let expectations = scenario
        .assume
        .iter()
        .chain(scenario.expect.iter().map(|(_, expectation)| expectation));
    expectations.zip(nodes).collect()
}

/// The one key of a step or an expectation.
fn kind(node: &Node) -> &str {
    match node.as_map() {
        Some([entry]) => &entry.key,
        _ => "it",
    }
}

/// What stands under the one key of a step or an expectation.
fn body(node: &Node) -> &Node {
    match node.as_map() {
        Some([entry]) => &entry.value,
        _ => node,
    }
}

/// Where the word stands within the field, else the whole of its first line.
pub(super) fn place(node: &Node, field: &str, word: &str) -> Span {
    let scope = node.get(field).unwrap_or(node);
    let mut found = None;
    scope.walk(&mut |_, node| {
        if found.is_none() && node.as_text() == Some(word) {
            found = Some(node.span.clone());
        }
    });
    found.unwrap_or_else(|| scope.span.first_line())
}

struct Problems {
    found: Vec<Diagnostic>,
}

impl Problems {
    fn add(&mut self, place: Span, message: String) {
        self.push(Diagnostic::error(message).at(place));
    }

    /// Keeps a problem. What several cases share is said once.
    fn push(&mut self, problem: Diagnostic) {
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    fn unknown_step(&mut self, place: Span, name: &str, known: &BTreeSet<&str>, later: bool) {
        let problem = Diagnostic::error(match later {
            true => format!("the step `{name}` does not come before this one"),
            false => format!("there is no step `{name}`"),
        })
        .at(place);
        self.push(match yaml::nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => problem,
            None => {
                let known: Vec<&str> = known.iter().copied().collect();
                problem.help(format!("known here: {}", known.join(", ")))
            }
        });
    }
}

/// What a step is checked against.
struct Around<'a> {
    case: &'a Case,
    /// The steps that it may refer to.
    known: BTreeSet<&'a str>,
    rounds: u32,
    /// Whether it stands in a `together`.
    inside: bool,
    library: bool,
}

fn check_case(case: &Case, nodes: &[Node], rounds: u32, library: bool, problems: &mut Problems) {
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for (step, node) in case.steps.iter().zip(nodes) {
        // Within a `together` a step may refer to its neighbours: they start at once.
        let inside = matches!(step, Step::Together(_));
        let neighbours: BTreeSet<&str> = step.leaves().iter().filter_map(Step::name).collect();
        let leaf_nodes = match inside {
            true => body(node).as_list().unwrap_or_default(),
            false => std::slice::from_ref(node),
        };
        let earlier = before.clone();
        for (leaf, node) in step.leaves().iter().zip(leaf_nodes) {
            let mut known = earlier.clone();
            if inside {
                known.extend(neighbours.iter().filter(|name| Some(**name) != leaf.name()));
            }
            let around = Around {
                case,
                known,
                rounds,
                inside,
                library,
            };
            check_step(leaf, body(node), &around, problems);
            if let Some(name) = leaf.name()
                && !before.insert(name)
            {
                problems.push(
                    Diagnostic::error(format!("two steps are named `{name}`"))
                        .at(place(body(node), "as", name))
                        .help("names are unique in a scenario"),
                );
            }
        }
    }
}

fn check_step(step: &Step, node: &Node, around: &Around<'_>, problems: &mut Problems) {
    match step {
        Step::Send { request, .. } | Step::Retry { request, .. } => {
            check_request(request, node, around, problems);
            check_fault_spread(request, node, around, problems);
            check_start(
                request.at.as_ref(),
                node,
                &request.name,
                false,
                around,
                problems,
            );
        }
        Step::Burst { request, .. } => {
            check_request(request, node, around, problems);
            check_start(
                request.at.as_ref(),
                node,
                &request.name,
                true,
                around,
                problems,
            );
        }
        Step::Hook { run, at, .. } => {
            check_start(at.as_ref(), node, run.name(), false, around, problems);
        }
        Step::Elapse { at, .. } => {
            check_start(at.as_ref(), node, "elapse", false, around, problems);
        }
        Step::Wait(Wait::RetryAfter(of)) => {
            check_reference(of, place(node, "retry-after", of), around, problems);
        }
        Step::Cleanup { of } => {
            check_reference(of, place(node, "of", of), around, problems);
        }
        Step::Lookup(lookup) => {
            if let super::LookedUp::Step(of) = &lookup.what {
                check_reference(of, place(node, "of", of), around, problems);
            }
        }
        Step::Wait(_)
        | Step::Read { .. }
        | Step::Signals { .. }
        | Step::Prepare { .. }
        | Step::Sink { .. }
        | Step::Recheck { .. }
        | Step::Together(_) => {}
    }
}

/// Without copies, a spread places one fault in each round.
fn check_fault_spread(
    request: &Request,
    node: &Node,
    around: &Around<'_>,
    problems: &mut Problems,
) {
    if let Some(super::Fault::HangUp { at, .. }) = &request.fault
        && at.spread.is_some()
        && around.rounds < 2
    {
        let place = node.get("fault").unwrap_or(node).span.first_line();
        problems.push(
            Diagnostic::error("the fault is spread over the rounds, and there is one round only")
                .at(place)
                .help("add `rounds: 10`, or write `plus` instead"),
        );
    }
}

fn check_reference(name: &str, place: Span, around: &Around<'_>, problems: &mut Problems) {
    if !around.known.contains(name) {
        let later = around.case.step(name).is_some();
        problems.unknown_step(place, name, &around.known, later);
    }
}

fn check_request(request: &Request, node: &Node, around: &Around<'_>, problems: &mut Problems) {
    if request.key.is_none() && request.like.is_none() {
        problems.push(
            Diagnostic::error(format!("the step `{}` has no key", request.name))
                .at(place(node, "as", &request.name))
                .help("write `key: fresh`, `key: none` or `like: STEP`"),
        );
    }
    let referred = [
        ("like", request.like.as_ref().map(|like| &like.of)),
        (
            "key",
            match &request.key {
                Some(Key::Of { step, .. }) => Some(step),
                _ => None,
            },
        ),
        (
            "marker",
            match &request.marker {
                Some(Marker::Of(step)) => Some(step),
                _ => None,
            },
        ),
    ];
    let referred = referred.into_iter().chain([
        ("only-if", request.only_if.as_ref()),
        (
            "signature",
            match &request.signature {
                super::Signature::Of(step) => Some(step),
                _ => None,
            },
        ),
    ]);
    for (field, step) in referred {
        if let Some(step) = step {
            check_reference(step, place(node, field, step), around, problems);
        }
    }
    if let Some(step) = &request.prepared {
        check_reference(step, place(node, "prepared", step), around, problems);
        if matches!(around.case.step(step), Some(other) if !matches!(other, Step::Prepare { .. })) {
            problems.push(
                Diagnostic::error(format!("`{step}` prepares nothing"))
                    .at(place(node, "prepared", step))
                    .help(format!(
                        "add a step `prepare: {{ as: {step} }}` under another name"
                    )),
            );
        }
    }
    for problem in words::unknown(request, node, around.library) {
        problems.push(problem);
    }
    if let Some(like) = &request.like
        && like.which.is_none()
        && let Some(Step::Burst { request: burst, .. }) = around.case.step(&like.of)
        && burst.key == Some(Key::FreshEach)
    {
        problems.push(
            Diagnostic::error(format!(
                "the copies of `{}` have a key each: say which one",
                like.of
            ))
            .at(place(node, "like", &like.of))
            .help(format!(
                "such as like: {{ of: {}, which: rate-limited }}",
                like.of
            )),
        );
    }
    if let Some(super::Fault::HangUp { at, .. }) = &request.fault {
        if let Err(message) = Moment::forwards(at.spread.as_ref()) {
            let place = node.get("fault").unwrap_or(node).span.first_line();
            problems.add(place, message);
        }
        let when = at.when.to_string();
        let place = || place(node, "fault", &when);
        if at.when == When::Connected {
            problems.push(
                Diagnostic::error("a hang-up comes after the request was sent")
                    .at(place())
                    .help("the fault before-request closes the connection before it"),
            );
        }
        if matches!(at.when, When::LastByte | When::Ended) {
            problems.add(place(), format!("a hang-up at `{when}` cuts nothing"));
        }
    }
}

fn check_start(
    at: Option<&Moment>,
    node: &Node,
    name: &str,
    burst: bool,
    around: &Around<'_>,
    problems: &mut Problems,
) {
    let Some(moment) = at else { return };
    let whole = || {
        node.get("at")
            .map_or_else(|| node.span.first_line(), |at| at.span.first_line())
    };
    match &moment.of {
        None => problems.push(
            Diagnostic::error(format!("the moment of `{name}` needs `of`"))
                .at(whole())
                .help(format!(
                    "whose moment it is: {{ when: {}, of: STEP }}",
                    moment.when
                )),
        ),
        Some(of) => check_reference(of, place(node, "at", of), around, problems),
    }
    if let Err(message) = Moment::forwards(moment.spread.as_ref()) {
        problems.add(whole(), message);
    }
    if moment.spread.is_some() && !burst && around.rounds < 2 {
        problems.push(
            Diagnostic::error(format!(
                "`{name}` is spread over the rounds, and there is one round only"
            ))
            .at(whole())
            .help("add `rounds: 10`, or spread the copies of a burst"),
        );
    }
    if moment.spread.is_some() && moment.plus.is_some() {
        problems.add(
            whole(),
            format!("the moment of `{name}` has both plus and spread: it takes one"),
        );
    }
    if !around.inside && moment.when != When::Ended {
        problems.push(
            Diagnostic::error(format!(
                "`{name}` starts at `{}`, but steps that are not in a together start when the one before has ended",
                moment.when
            ))
            .at(whole())
            .help("put both steps into a `together`"),
        );
    }
}

fn check_references(expectation: &Expectation, node: &Node, case: &Case, problems: &mut Problems) {
    let fields = body(node);
    let names: BTreeSet<&str> = case.leaves().filter_map(Step::name).collect();
    let conditional = expectation
        .condition
        .iter()
        .map(|condition| condition.of.as_str());
    for step in expectation.check.steps().into_iter().chain(conditional) {
        if !names.contains(step) {
            problems.unknown_step(place(fields, "", step), step, &names, false);
        }
    }
    for reading in expectation.check.readings() {
        if !matches!(case.step(reading), Some(Step::Read { .. })) {
            problems.push(
                Diagnostic::error(format!("there is no reading `{reading}`"))
                    .at(place(fields, "", reading))
                    .help(format!("add a step `read: {{ as: {reading} }}`")),
            );
        }
    }
    if let Check::Counted(claim) = &expectation.check {
        for reading in [&claim.from, &claim.to] {
            if !matches!(case.step(reading), Some(Step::Signals { .. })) {
                problems.push(
                    Diagnostic::error(format!("there is no reading `{reading}` of signals"))
                        .at(place(fields, "", reading))
                        .help(format!("add a step `signals: {{ as: {reading} }}`")),
                );
            }
        }
    }
    check_marker(expectation, fields, case, problems);
    let compared: Vec<&str> = match &expectation.check {
        Check::SameResponse { .. }
        | Check::Agrees { .. }
        | Check::TellsApart { .. }
        | Check::TwoResources { .. } => expectation.check.steps(),
        _ => return,
    };
    let mut seen = BTreeSet::new();
    for step in compared {
        if !seen.insert(step) {
            let message = format!("`{step}` is compared with itself");
            problems.add(place(fields, "", step), message);
        }
        let fault = case.step(step).and_then(Step::request);
        let loses = |fault: &&super::Fault| !fault.goes_on();
        if let Some(fault) = fault
            .and_then(|request| request.fault.as_ref())
            .filter(loses)
        {
            problems.push(
                Diagnostic::error(format!(
                    "the response of `{step}` never comes: its fault {} loses it",
                    fault.name()
                ))
                .at(place(fields, "", step))
                .help("compare two retries after it"),
            );
        }
    }
}

/// The effects that are counted must be somebody's.
fn check_marker(expectation: &Expectation, fields: &Node, case: &Case, problems: &mut Problems) {
    let (Check::Effects { marker, .. } | Check::Events { marker, .. }) = &expectation.check else {
        return;
    };
    match marker {
        Marker::FreshEach => {}
        Marker::Of(step) => {
            let names: BTreeSet<&str> = case.leaves().filter_map(Step::name).collect();
            if !names.contains(step.as_str()) {
                problems.unknown_step(place(fields, "marker", step), step, &names, false);
            }
        }
        Marker::Named(name) => {
            let used: BTreeSet<&str> = case
                .leaves()
                .filter_map(Step::request)
                .filter_map(|request| match &request.marker {
                    Some(Marker::Named(name)) => Some(name.as_str()),
                    _ => None,
                })
                .chain(["main"])
                .collect();
            if !used.contains(name.as_str()) {
                let problem = Diagnostic::error(format!("no step has the marker `{name}`"))
                    .at(place(fields, "marker", name));
                problems.push(match yaml::nearest(name, used.iter().copied()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem,
                });
            }
        }
    }
}

fn check_ids(scenario: &Scenario, root: &Node, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let mut counted: BTreeMap<_, usize> = BTreeMap::new();
    for (item, expectation) in &scenario.expect {
        let index = counted.entry(item).or_default();
        let place = root
            .at(&format!("expect/{item}/{index}"))
            .map(|node| node.span.first_line());
        *index += 1;
        if !seen.insert((item, &expectation.id)) {
            problems.push(
                Diagnostic::error(format!(
                    "two expectations of {item} have the id `{}`",
                    expectation.id
                ))
                .at(place.unwrap_or_else(|| root.span.first_line()))
                .help("give one of them an `id` of its own"),
            );
        }
    }
}
