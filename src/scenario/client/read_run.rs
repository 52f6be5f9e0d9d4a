//! From YAML to a run of the command, and to what befalls its attempts.

use super::{ClientCase, ClientFault, CommandRun, DropAt, Pause, PauseForm, Says, Then};
use crate::scenario::cases::laid_over;
use crate::scenario::map::single_key;
use crate::scenario::moment::FixedTime;
use crate::scenario::{Close, StepName};
use crate::yaml::{self, Diagnostic, Node};
use serde::Deserialize;

/// The kinds of faults that have a value.
const FAULTS: [&str; 2] = ["drop", "answer"];

/// The faults that are words.
const WORDS: [&str; 3] = ["pass", "refuse", "slow"];

/// The steps of a client scenario.
const STEPS: [&str; 1] = ["run"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunFields {
    r#as: StepName,
    #[serde(default)]
    faults: Vec<Node>,
    #[serde(default)]
    then: Then,
    #[serde(default)]
    killed: bool,
    resumes: Option<StepName>,
}

/// Reads the runs, and collects what is wrong with them.
pub(super) fn read_runs(nodes: &[Node], problems: &mut Vec<Diagnostic>) -> Vec<CommandRun> {
    let mut runs: Vec<CommandRun> = Vec::new();
    for node in nodes {
        match read_run(node) {
            Ok(run) if runs.iter().any(|other| other.name == run.name) => problems.push(
                Diagnostic::error(format!("two runs are called `{}`", run.name))
                    .at(node.span.first_line())
                    .help("give one of them another name"),
            ),
            Ok(run) => {
                let known = |name: &StepName| runs.iter().any(|other| other.name == *name);
                if let Some(earlier) = run.resumes.as_ref().filter(|name| !known(name)) {
                    problems.push(
                        Diagnostic::error(format!("no run before this is called `{earlier}`"))
                            .at(node.span.first_line()),
                    );
                }
                runs.push(run);
            }
            Err(problem) => problems.push(problem),
        }
    }
    runs
}

/// The cases: each is the runs with some fields laid over.
pub(super) fn read_cases(
    shared: &[Node],
    cases: &Node,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ClientCase> {
    laid_over(shared, cases, &STEPS, problems)
        .into_iter()
        .map(|(name, nodes)| {
            let mut own = Vec::new();
            let runs = read_runs(&nodes, &mut own);
            for problem in own {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            ClientCase {
                name: Some(name),
                runs,
            }
        })
        .collect()
}

fn read_run(node: &Node) -> Result<CommandRun, Diagnostic> {
    let (_, body) = single_key(node, "a step", &STEPS, &[])?;
    let fields: RunFields = yaml::decode(body)?;
    let faults = fields
        .faults
        .iter()
        .map(read_fault)
        .collect::<Result<Vec<_>, _>>()?;
    if fields.then == Then::Repeat && faults.is_empty() && body.get("faults").is_some() {
        return Err(Diagnostic::error("there is no fault to repeat").at(body.span.clone()));
    }
    Ok(CommandRun {
        name: fields.r#as,
        faults,
        then: fields.then,
        killed: fields.killed,
        resumes: fields.resumes,
    })
}

fn read_fault(node: &Node) -> Result<ClientFault, Diagnostic> {
    if let Some(word) = node.as_text() {
        return match word {
            "pass" => Ok(ClientFault::Pass),
            "refuse" => Ok(ClientFault::Refuse),
            "slow" => Ok(ClientFault::Slow),
            _ => {
                let problem =
                    Diagnostic::error(format!("unknown fault `{word}`")).at(node.span.clone());
                let known = || WORDS.into_iter().chain(FAULTS);
                Err(match yaml::nearest(word, known()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem.help(format!(
                        "faults are {}",
                        known().collect::<Vec<_>>().join(", ")
                    )),
                })
            }
        };
    }
    let (kind, body) = single_key(node, "a fault", &FAULTS, &[])?;
    match kind {
        "drop" => read_drop(body),
        _ => read_answer(body),
    }
}

fn read_drop(body: &Node) -> Result<ClientFault, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct DropFields {
        at: DropAt,
        close: Option<Close>,
    }
    let fields = match body.as_map() {
        Some(_) => yaml::decode(body)?,
        None => DropFields {
            at: yaml::decode(body)?,
            close: None,
        },
    };
    let own = match fields.at {
        DropAt::Unread => Close::Rst,
        DropAt::Processed | DropAt::HalfAnswered => Close::Fin,
    };
    Ok(ClientFault::Drop {
        at: fields.at,
        close: fields.close.unwrap_or(own),
    })
}

fn read_answer(body: &Node) -> Result<ClientFault, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct AnswerFields {
        status: Node,
        retry_after: Option<FixedTime>,
        r#as: Option<PauseForm>,
    }
    let Some(_) = body.as_map() else {
        return Ok(ClientFault::Answer {
            says: read_says(body)?,
            pause: None,
        });
    };
    let fields: AnswerFields = yaml::decode(body)?;
    let pause = fields.retry_after.map(|time| Pause {
        time: time.0,
        form: fields.r#as.unwrap_or_default(),
    });
    if pause.is_some_and(|pause| pause.time.subsec_nanos() > 0) {
        return Err(
            Diagnostic::error("Retry-After is a number of whole seconds")
                .at(body.span.clone())
                .help("such as retry-after: 2s"),
        );
    }
    Ok(ClientFault::Answer {
        says: read_says(&fields.status)?,
        pause,
    })
}

fn read_says(node: &Node) -> Result<Says, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Word {
        InProgress,
        Mismatch,
    }
    if node.as_text().is_some() {
        return yaml::decode(node).map(|word| match word {
            Word::InProgress => Says::InProgress,
            Word::Mismatch => Says::Mismatch,
        });
    }
    let status: u16 = yaml::decode(node)?;
    if (400..600).contains(&status) {
        Ok(Says::Status(status))
    } else {
        Err(
            Diagnostic::error(format!("{status} is no status of a failure"))
                .at(node.span.clone())
                .help("it is 400 to 599; `pass` gives the API's own answer"),
        )
    }
}
