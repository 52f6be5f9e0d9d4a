//! The cases of a scenario: each is the steps with some fields laid over.

use super::Case;
use super::read_step::read_steps;
use crate::yaml::{self, Diagnostic, Entry, Node, Value};

/// The kinds of steps whose fields a case may change.
const CHANGEABLE: [&str; 5] = ["send", "burst", "retry", "lookup", "sink"];

/// A case, and the nodes that its steps were read from.
pub(super) struct ReadCase {
    pub(super) case: Case,
    pub(super) nodes: Vec<Node>,
}

/// The cases of a scenario; without any, its steps are the one case.
pub(super) fn read_cases(
    shared: &[Node],
    cases: Option<&Node>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ReadCase> {
    let plain = |problems: &mut Vec<Diagnostic>| ReadCase {
        case: Case {
            name: None,
            steps: read_steps(shared, problems),
        },
        nodes: shared.to_vec(),
    };
    let Some(node) = cases else {
        return vec![plain(problems)];
    };
    let laid_over = laid_over(shared, node, &CHANGEABLE, problems);
    if laid_over.is_empty() {
        return vec![plain(problems)];
    }
    laid_over
        .into_iter()
        .map(|(name, nodes)| {
            // What is wrong in the shared steps is said once, not once for each case.
            let mut own = Vec::new();
            let steps = read_steps(&nodes, &mut own);
            for problem in own {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            ReadCase {
                case: Case {
                    name: Some(name),
                    steps,
                },
                nodes,
            }
        })
        .collect()
}

/// Each case's name with the shared steps and its own fields laid over them. `changeable` are the
/// kinds of steps whose fields a case may change.
pub(super) fn laid_over(
    shared: &[Node],
    cases: &Node,
    changeable: &[&str],
    problems: &mut Vec<Diagnostic>,
) -> Vec<(String, Vec<Node>)> {
    let Some(entries) = cases.as_map().filter(|entries| !entries.is_empty()) else {
        problems.push(
            Diagnostic::error("cases is a map from names to changed steps")
                .at(cases.span.first_line())
                .help("cases: { plain: {}, slow: { first: { variant: slow } } }"),
        );
        return Vec::new();
    };
    entries
        .iter()
        .map(|entry| {
            let nodes = changed(shared, entry, changeable, problems);
            (entry.key.clone(), nodes)
        })
        .collect()
}

/// The shared steps with those of the case laid over.
fn changed(
    shared: &[Node],
    case: &Entry,
    changeable: &[&str],
    problems: &mut Vec<Diagnostic>,
) -> Vec<Node> {
    let Entry {
        key,
        key_span,
        value,
    } = case;
    if !is_word(key) {
        problems.push(
            Diagnostic::error(format!(
                "`{key}` is no name for a case: use small letters, digits and -"
            ))
            .at(key_span.clone()),
        );
    }
    let mut steps = shared.to_vec();
    let patches = match &value.value {
        Value::Map(patches) => patches.as_slice(),
        Value::Null => &[],
        _ => {
            problems.push(
                Diagnostic::error(format!(
                    "case `{key}` is a map from steps to changed fields"
                ))
                .at(value.span.first_line())
                .help("{} changes nothing; { first: { variant: slow } } changes one field"),
            );
            &[]
        }
    };
    let names = step_names(shared);
    for patch in patches {
        match names.iter().find(|(name, _)| *name == patch.key) {
            None => problems.push(unknown_step(key, patch, &names)),
            Some((name, kind)) if !changeable.contains(&kind.as_str()) => problems.push(
                Diagnostic::error(format!("`{name}` is a {kind}, which no case can change"))
                    .at(patch.key_span.clone())
                    .help(format!("cases change {}", changeable.join(", "))),
            ),
            Some((name, _)) if patch.value.as_map().is_none() => problems.push(
                Diagnostic::error(format!("the changes of `{name}` are a map of fields"))
                    .at(patch.value.span.first_line())
                    .help(format!("such as {name}: {{ variant: slow }}")),
            ),
            Some(_) => {
                for step in &mut steps {
                    patch_step(step, patch);
                }
            }
        }
    }
    steps
}

fn unknown_step(case: &str, patch: &Entry, names: &[(String, String)]) -> Diagnostic {
    let names = || names.iter().map(|(name, _)| name.as_str());
    let problem = Diagnostic::error(format!(
        "case `{case}` changes the step `{}`, and there is none",
        patch.key
    ))
    .at(patch.key_span.clone());
    match yaml::nearest(&patch.key, names()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!(
            "steps are {}",
            names().collect::<Vec<_>>().join(", ")
        )),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The `as` and the kind of every step, in the order of the file.
fn step_names(steps: &[Node]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for step in steps {
        for entry in step.as_map().unwrap_or_default() {
            match entry.value.as_list() {
                Some(inner) if entry.key == "together" => names.extend(step_names(inner)),
                _ => names.extend(
                    entry
                        .value
                        .get("as")
                        .and_then(Node::as_text)
                        .map(|name| (name.to_owned(), entry.key.clone())),
                ),
            }
        }
    }
    names
}

/// Lays a case's fields over the step that they name.
fn patch_step(step: &mut Node, patch: &Entry) {
    let Value::Map(entries) = &mut step.value else {
        return;
    };
    for entry in entries {
        if let (true, Value::List(inner)) = (entry.key == "together", &mut entry.value.value) {
            for step in inner {
                patch_step(step, patch);
            }
            continue;
        }
        if entry.value.get("as").and_then(Node::as_text) != Some(&patch.key) {
            continue;
        }
        if let Value::Map(fields) = &mut entry.value.value {
            for new in patch.value.as_map().unwrap_or_default() {
                match fields.iter_mut().find(|field| field.key == new.key) {
                    Some(old) => *old = new.clone(),
                    None => fields.push(new.clone()),
                }
            }
        }
    }
}
