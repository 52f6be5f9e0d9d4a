//! From a YAML file with `side: client` to a [`ClientScenario`].

use super::read_run::{read_cases, read_runs};
use super::{ClientCase, ClientCheck, ClientExpectation, ClientScenario};
use crate::checklist::ItemId;
use crate::scenario::parse::{read_expect, read_rounds};
use crate::scenario::{Rounds, Severity};
use crate::yaml::{self, Diagnostic, Node, Source};
use serde::Deserialize;
use std::sync::Arc;

/// Whether the file says `side: client`.
pub fn is_client(root: &Node) -> bool {
    root.get("side").and_then(Node::as_text) == Some("client")
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Fields {
    title: String,
    side: Side,
    about: Option<String>,
    #[serde(default)]
    harmless: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
    severity: Option<Severity>,
    rounds: Option<Node>,
    cases: Option<Node>,
    steps: Vec<Node>,
    expect: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Side {
    Client,
}

/// Reads a scenario of the client's side. `id` is its path without the ending.
///
/// # Errors
/// Everything that is wrong with the file, each with its place.
pub fn parse(id: &str, source: Arc<Source>) -> Result<ClientScenario, Vec<Diagnostic>> {
    let root = yaml::parse(source).map_err(|problem| vec![problem])?;
    let fields: Fields = yaml::decode(&root).map_err(|problem| vec![problem])?;
    let Side::Client = fields.side;
    let mut problems = Vec::new();
    let rounds = read_rounds(fields.rounds.as_ref()).unwrap_or_else(|problem| {
        problems.push(problem);
        Rounds::ONE
    });
    let cases = match &fields.cases {
        None => vec![ClientCase {
            name: None,
            runs: read_runs(&fields.steps, &mut problems),
        }],
        Some(cases) => read_cases(&fields.steps, cases, &mut problems),
    };
    if fields.steps.is_empty() {
        let place = root.get("steps").map_or(&root.span, |steps| &steps.span);
        problems.push(
            Diagnostic::error("there are no steps: the command would not be run")
                .at(place.clone())
                .help("add at least one, such as - run: { as: lost, faults: [ { answer: 500 } ] }"),
        );
    }
    let expect = read_expect(&fields.expect, ClientExpectation::read, &mut problems);
    if problems.is_empty() {
        problems = unknown_runs(&cases, &expect, &fields.expect);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(ClientScenario {
        id: id.to_owned(),
        title: fields.title,
        severity: fields.severity.unwrap_or(Severity::High),
        rounds,
        cases,
        expect: distinct(expect),
        about: fields.about,
        harmless: fields.harmless,
        sources: fields.sources,
    })
}

/// Expectations that name a run that there is not.
fn unknown_runs(
    cases: &[ClientCase],
    expect: &[(ItemId, ClientExpectation)],
    node: &Node,
) -> Vec<Diagnostic> {
    let names: Vec<&str> = cases
        .first()
        .map(|case| case.runs.iter().map(|run| run.name.as_str()).collect())
        .unwrap_or_default();
    let mut problems = Vec::new();
    for (item, expectation) in expect {
        let other = match &expectation.check {
            ClientCheck::Waits { than } => Some(than),
            ClientCheck::KeySurvives { from } => Some(from),
            _ => None,
        };
        for name in expectation.of.iter().chain(other) {
            if names.contains(&name.as_str()) {
                continue;
            }
            let place = node.get(&item.to_string()).unwrap_or(node);
            let problem =
                Diagnostic::error(format!("there is no run `{name}`")).at(place.span.first_line());
            problems.push(match yaml::nearest(name, names.iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("runs are {}", names.join(", "))),
            });
        }
    }
    problems
}

/// Ids are unique, so that findings have one name each: the runs are added where they are not.
fn distinct(mut expect: Vec<(ItemId, ClientExpectation)>) -> Vec<(ItemId, ClientExpectation)> {
    let ids: Vec<(ItemId, String)> = expect
        .iter()
        .map(|(item, expectation)| (*item, expectation.id.clone()))
        .collect();
    for (item, expectation) in &mut expect {
        let same = ids
            .iter()
            .filter(|(other, id)| other == item && *id == expectation.id);
        if same.count() > 1 {
            expectation.id = format!("{}-{}", expectation.id, expectation.of.join("-"));
        }
    }
    expect
}

#[cfg(test)]
mod tests {
    use super::super::{ClientFault, Pause, PauseForm, Says};
    use super::parse;
    use crate::yaml::Source;
    use std::sync::Arc;
    use std::time::Duration;

    const HEAD: &str = "title: A test\nside: client\n";
    const EXPECT: &str = "expect:\n  item-1:\n    - same-key: { of: a }\n";

    fn read(text: &str) -> Result<super::ClientScenario, Vec<String>> {
        let source = Source {
            name: "own.yaml".to_owned(),
            text: text.to_owned(),
        };
        parse("own", Arc::new(source))
            .map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_fault_can_be_written() {
        let faults = "[ pass, refuse, { drop: unread }, { drop: { at: processed, close: rst } }, slow, { answer: 500 }, { answer: in-progress }, { answer: { status: 503, retry-after: 2s, as: date } } ]";
        let text =
            format!("{HEAD}steps:\n  - run: {{ as: a, faults: {faults}, then: repeat }}\n{EXPECT}");
        let scenario = read(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let run = &scenario.cases[0].runs[0];
        assert_eq!(run.faults.len(), 8);
        let asked = ClientFault::Answer {
            says: Says::Status(503),
            pause: Some(Pause {
                time: Duration::from_secs(2),
                form: PauseForm::Date,
            }),
        };
        assert_eq!(run.fault(7), asked);
        assert_eq!(run.fault(70), asked, "it repeats the last one");
        assert!(!asked.may_be_processed());
    }

    #[test]
    fn what_is_misspelt_is_named_with_its_place() {
        let wrong = |steps: &str, expect: &str| {
            let text = format!("{HEAD}steps:\n{steps}expect:\n  item-1:\n{expect}");
            read(&text).expect_err("it is wrong").join("\n")
        };
        let run = "  - run: { as: a, faults: [ { answer: 500 } ] }\n";
        let good = "    - same-key: { of: a }\n";
        let problem = wrong("  - run: { as: a, faults: [ { anser: 500 } ] }\n", good);
        assert!(problem.contains("answer"), "{problem}");
        assert!(problem.contains("own.yaml:4:"), "{problem}");
        let problem = wrong(run, "    - same-kee: { of: a }\n");
        assert!(problem.contains("same-key"), "{problem}");
        let problem = wrong(run, "    - same-key: { of: b }\n");
        assert!(problem.contains("no run `b`"), "{problem}");
        let problem = wrong("  - run: { as: a, fault: slow }\n", good);
        assert!(problem.contains("fault"), "{problem}");
        let problem = wrong("  - run: { as: a, faults: [ { answer: 999 } ] }\n", good);
        assert!(problem.contains("999"), "{problem}");
    }

    #[test]
    fn a_case_lays_its_fields_over_the_runs() {
        let text = format!(
            "{HEAD}steps:\n  - run: {{ as: a, then: repeat }}\ncases:\n  lost: {{ a: {{ faults: [ {{ drop: processed }} ] }} }}\n  error: {{ a: {{ faults: [ {{ answer: 500 }} ] }} }}\n{EXPECT}"
        );
        let scenario = read(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let names: Vec<_> = scenario
            .cases
            .iter()
            .map(|case| scenario.case_id(case))
            .collect();
        assert_eq!(names, ["own#lost", "own#error"]);
        assert!(scenario.cases[1].runs[0].fault(5).may_be_processed());
    }
}
