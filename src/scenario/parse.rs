//! From a YAML file to a [`Scenario`], with a place for everything that is wrong.

use super::cases::read_cases;
use super::check;
use super::expectation::Expectation;
use super::{Case, Need, Rounds, Runs, Scenario, Severity, Step};
use crate::checklist::ItemId;
use crate::yaml::{self, Diagnostic, Entry, Node, Source};
use serde::Deserialize;
use std::sync::Arc;

/// Reads a scenario. `id` is its path without the ending. `library` marks our own scenarios, in
/// which plain statuses, headers and JSON values are forbidden.
///
/// # Errors
/// Everything that is wrong with the file, each with its place.
pub fn parse(id: &str, source: Arc<Source>, library: bool) -> Result<Scenario, Vec<Diagnostic>> {
    let root = yaml::parse(source).map_err(|diagnostic| vec![diagnostic])?;
    if super::client::is_client(&root) {
        let place = root.key_at("side").unwrap_or_else(|| root.span.clone());
        return Err(vec![
            Diagnostic::error("this scenario is about a client")
                .at(place)
                .help("`idemspec client` runs it"),
        ]);
    }
    let fields: Fields = yaml::decode(&root).map_err(|diagnostic| vec![diagnostic])?;
    let mut problems = Vec::new();
    if let Some(side) = fields.side.filter(|side| side.as_text() != Some("server")) {
        problems.push(
            Diagnostic::error("a scenario is about one side: `server`, or `client`").at(side.span),
        );
    }

    let needs = read_needs(&fields.needs, &mut problems);
    let rounds = read_rounds(fields.rounds.as_ref()).unwrap_or_else(|problem| {
        problems.push(problem);
        Rounds::ONE
    });
    if fields.steps.is_empty() {
        let place = root.get("steps").map_or(&root.span, |steps| &steps.span);
        problems.push(
            Diagnostic::error("there are no steps: nothing would be sent")
                .at(place.clone())
                .help("add at least one, such as - send: { as: first, key: fresh }"),
        );
    }
    let read = read_cases(&fields.steps, fields.cases.as_ref(), &mut problems);
    let assume = read_list(&fields.assume, Expectation::assumed, &mut problems);
    let expect = read_expect(&fields.expect, Expectation::read, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let (cases, nodes): (Vec<Case>, Vec<Vec<Node>>) =
        read.into_iter().map(|read| (read.case, read.nodes)).unzip();
    let scenario = Scenario {
        id: id.to_owned(),
        title: fields.title,
        severity: fields.severity.unwrap_or(Severity::High),
        needs,
        runs: fields.runs.unwrap_or_default(),
        alone: fields.alone.unwrap_or(false) || cases.iter().any(is_alone),
        rounds,
        cases,
        assume,
        expect,
        about: fields.about,
        harmless: fields.harmless,
        sources: fields.sources,
    };
    let problems = check::check(&scenario, &nodes, &root, library);
    if problems.is_empty() {
        Ok(scenario)
    } else {
        Err(problems)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Fields {
    title: String,
    /// Read so that a client's scenario is told for what it is.
    side: Option<Node>,
    about: Option<String>,
    #[serde(default)]
    harmless: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
    severity: Option<Severity>,
    #[serde(default)]
    needs: Vec<Node>,
    runs: Option<Runs>,
    alone: Option<bool>,
    rounds: Option<Node>,
    cases: Option<Node>,
    steps: Vec<Node>,
    #[serde(default)]
    assume: Vec<Node>,
    expect: Node,
}

/// A hook, or a target's time that passes by its clock, disturbs everybody else.
fn is_alone(case: &Case) -> bool {
    case.leaves().any(|step| matches!(step, Step::Hook { .. }))
}

fn read_needs(nodes: &[Node], problems: &mut Vec<Diagnostic>) -> Vec<Need> {
    const NOT_YET: [&str; 1] = ["name"];
    let mut needs = Vec::new();
    for node in nodes {
        if let Some(word) = node.as_text().filter(|word| NOT_YET.contains(word)) {
            problems.push(
                Diagnostic::error(format!("the need `{word}` is not supported yet"))
                    .at(node.span.clone()),
            );
            continue;
        }
        match yaml::decode(node) {
            Ok(need) => needs.push(need),
            Err(problem) => problems.push(problem),
        }
    }
    needs
}

pub(super) fn read_rounds(node: Option<&Node>) -> Result<Rounds, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct RoundsFields {
        count: u32,
        valid: Option<u32>,
        up_to: Option<u32>,
        side_by_side: Option<u32>,
    }
    let fields = match node {
        None => RoundsFields {
            count: 1,
            valid: None,
            up_to: None,
            side_by_side: None,
        },
        Some(node) if node.as_map().is_some() => yaml::decode(node)?,
        Some(node) => RoundsFields {
            count: yaml::decode(node)?,
            valid: None,
            up_to: None,
            side_by_side: None,
        },
    };
    let place = |problem: Diagnostic| match node {
        Some(node) => problem.at(node.span.clone()),
        None => problem,
    };
    if fields.count == 0 {
        return Err(place(Diagnostic::error(
            "no rounds would run: the count is 0",
        )));
    }
    let valid = fields.valid.unwrap_or((fields.count * 4).div_ceil(5));
    if valid == 0 || valid > fields.count {
        return Err(place(Diagnostic::error(format!(
            "valid is between 1 and count ({})",
            fields.count
        ))));
    }
    if let Some(up_to) = fields.up_to.filter(|up_to| *up_to < fields.count) {
        return Err(place(Diagnostic::error(format!(
            "up-to ({up_to}) is less than count ({})",
            fields.count
        ))));
    }
    Ok(Rounds {
        count: fields.count,
        valid,
        up_to: fields.up_to.unwrap_or(fields.count),
        side_by_side: fields.side_by_side.unwrap_or(1).clamp(1, fields.count),
    })
}

fn read_list<T>(
    nodes: &[Node],
    read: fn(&Node) -> Result<T, Diagnostic>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<T> {
    let mut list = Vec::new();
    for node in nodes {
        match read(node) {
            Ok(expectation) => list.push(expectation),
            Err(problem) => problems.push(problem),
        }
    }
    list
}

pub(super) fn read_expect<T>(
    node: &Node,
    read: fn(&Node) -> Result<T, Diagnostic>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<(ItemId, T)> {
    let mut expect = Vec::new();
    let Some(entries) = node.as_map() else {
        problems.push(
            Diagnostic::error("expect is a map from checklist items to lists")
                .at(node.span.clone())
                .help("expect: { item-5: [ … ] }"),
        );
        return expect;
    };
    for Entry {
        key,
        key_span,
        value,
    } in entries
    {
        let Some(item) = ItemId::from_name(key) else {
            let problem =
                Diagnostic::error(format!("unknown checklist item `{key}`")).at(key_span.clone());
            problems.push(match ItemId::from_name(&format!("item-{key}")) {
                Some(item) => problem.help(format!("did you mean `{item}`?")),
                None => {
                    problem.help("items are item-1 to item-9: `idemspec list items` shows them")
                }
            });
            continue;
        };
        match value.as_list() {
            Some([]) => problems.push(
                Diagnostic::error(format!("{key} expects nothing"))
                    .at(value.span.clone())
                    .help("add at least one expectation, or leave the item out"),
            ),
            Some(list) => expect.extend(
                read_list(list, read, problems)
                    .into_iter()
                    .map(|expectation| (item, expectation)),
            ),
            None => problems.push(
                Diagnostic::error(format!("{key} holds a list of expectations"))
                    .at(value.span.first_line())
                    .help("begin each expectation with `- `"),
            ),
        }
    }
    if expect.is_empty() && problems.is_empty() {
        problems.push(
            Diagnostic::error("the scenario expects nothing, so it could never fail")
                .at(node.span.clone())
                .help("add at least one expectation under a checklist item"),
        );
    }
    expect
}
