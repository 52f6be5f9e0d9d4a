//! From a YAML file to a [`Scenario`], with a place for everything that is wrong.

use super::cases::read_cases;
use super::check;
use super::expectation::Expectation;
use super::moment::{FixedTime, TimeSpan};
use super::request::{BurstFields, RequestFields, RetryFields, SendFields};
use super::{
    Case, Key, LookedUp, Lookup, LookupBy, Moment, Need, PrincipalRole, Receiving, Release, Rounds,
    Runs, Scenario, Severity, Step, StepName, Until, Wait,
};
use crate::checklist::ItemId;
use crate::hook::HookName;
use crate::yaml::{self, Diagnostic, Entry, Node, Source, Value};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

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

/// Reads the steps, and collects what is wrong with them.
pub(super) fn read_steps(nodes: &[Node], problems: &mut Vec<Diagnostic>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut unnamed = 0;
    for node in nodes {
        match read_step(node, &mut unnamed, false) {
            Ok(step) => steps.push(step),
            Err(problem) => problems.push(problem),
        }
    }
    steps
}

const STEPS: [&str; 14] = [
    "signals", "send", "burst", "retry", "together", "wait", "elapse", "read", "prepare", "hook",
    "lookup", "sink", "cleanup", "recheck",
];

fn read_step(node: &Node, unnamed: &mut usize, inside_together: bool) -> Result<Step, Diagnostic> {
    let (kind, body) = single_key(node, "a step", &STEPS, &[])?;
    let mut made_up = |kind: &str| {
        *unnamed += 1;
        format!("{kind}-{unnamed}")
    };
    match kind {
        "send" => {
            let (own, request) = split_request(body, &["times"])?;
            let fields: SendFields = yaml::decode(&own)?;
            let request = request.into_request(&made_up("send"));
            Ok(Step::Send {
                request,
                times: fields.times.unwrap_or(1).max(1),
            })
        }
        "burst" => {
            let (own, request) = split_request(body, &["copies", "release", "stop-at"])?;
            let fields: BurstFields = yaml::decode(&own)?;
            if fields.copies.0.contains(&0) {
                return Err(
                    Diagnostic::error("a burst of 0 copies sends nothing").at(own.span.clone())
                );
            }
            let stop_at = match fields.stop_at {
                Some(word) => Some(super::read_expectation::outcome_word(&word).map_err(
                    |says| {
                        Diagnostic::error(says).at(own
                            .get("stop-at")
                            .map_or(own.span.clone(), |node| node.span.clone()))
                    },
                )?),
                None => None,
            };
            Ok(Step::Burst {
                request: request.into_request(&made_up("burst")),
                copies: fields.copies.0,
                release: fields.release.unwrap_or(Release::Together),
                stop_at,
            })
        }
        "retry" => {
            let (own, request) = split_request(body, &["until", "every", "for"])?;
            let fields: RetryFields = yaml::decode(&own)?;
            Ok(Step::Retry {
                request: request.into_request(&made_up("retry")),
                until: fields.until.unwrap_or(Until::Final),
                every: fields.every.map_or(Duration::from_secs(1), |time| time.0),
                patience: fields.r#for.map_or(Duration::from_secs(65), |time| time.0),
            })
        }
        "read" | "signals" | "prepare" | "recheck" | "sink" | "lookup" if inside_together => {
            Err(Diagnostic::error(format!(
                "a together holds no {kind}: it would not know when"
            ))
            .at(node.span.first_line())
            .help("put it before or after the together"))
        }
        "together" if inside_together => {
            Err(Diagnostic::error("a together holds no other together").at(node.span.first_line()))
        }
        "together" => {
            let Some(list) = body.as_list().filter(|list| !list.is_empty()) else {
                return Err(
                    Diagnostic::error("together holds a list of steps").at(body.span.clone())
                );
            };
            let steps = list
                .iter()
                .map(|node| read_step(node, unnamed, true))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Step::Together(steps))
        }
        "wait" => read_wait(body).map(Step::Wait),
        "elapse" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct ElapseFields {
                time: TimeSpan,
                at: Moment,
            }
            if body.as_map().is_none() {
                return yaml::decode(body).map(|time| Step::Elapse { time, at: None });
            }
            yaml::decode::<ElapseFields>(body).map(|fields| Step::Elapse {
                time: fields.time,
                at: Some(fields.at),
            })
        }
        "read" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct ReadFields {
                r#as: StepName,
            }
            yaml::decode::<ReadFields>(body).map(|fields| Step::Read { name: fields.r#as })
        }
        "signals" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct SignalsFields {
                r#as: StepName,
            }
            yaml::decode::<SignalsFields>(body).map(|fields| Step::Signals { name: fields.r#as })
        }
        "prepare" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct PrepareFields {
                r#as: StepName,
                #[serde(default)]
                principal: PrincipalRole,
            }
            yaml::decode::<PrepareFields>(body).map(|fields| Step::Prepare {
                name: fields.r#as,
                principal: fields.principal,
            })
        }
        "hook" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct HookFields {
                run: HookName,
                at: Option<Moment>,
                undo: Option<HookName>,
            }
            yaml::decode::<HookFields>(body).map(|fields| Step::Hook {
                run: fields.run,
                at: fields.at,
                undo: fields.undo,
            })
        }
        "cleanup" if inside_together => Err(Diagnostic::error(
            "a together holds no cleanup: what it removes must have been made",
        )
        .at(node.span.first_line())
        .help("put it after the together")),
        "cleanup" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct CleanupFields {
                of: StepName,
            }
            yaml::decode::<CleanupFields>(body).map(|fields| Step::Cleanup { of: fields.of })
        }
        "lookup" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct LookupFields {
                r#as: StepName,
                of: Option<StepName>,
                key: Option<Key>,
                by: LookupBy,
                principal: Option<PrincipalRole>,
            }
            let fields: LookupFields = yaml::decode(body)?;
            let what = match (fields.of, fields.key) {
                (Some(step), None) => LookedUp::Step(step),
                (None, Some(key)) => LookedUp::Key(key),
                _ => {
                    return Err(Diagnostic::error(
                        "a lookup asks about one thing: `of: STEP` or `key: fresh`",
                    )
                    .at(body.span.first_line()));
                }
            };
            Ok(Step::Lookup(Lookup {
                name: fields.r#as,
                what,
                by: fields.by,
                principal: fields.principal,
            }))
        }
        "sink" => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct SinkFields {
                r#as: Option<StepName>,
                answer: Receiving,
                times: Option<u32>,
                r#for: Option<OutageWord>,
            }
            #[derive(Deserialize)]
            #[serde(rename_all = "kebab-case")]
            enum OutageWord {
                Outage,
            }
            let fields: SinkFields = yaml::decode(body)?;
            Ok(Step::Sink {
                name: fields.r#as,
                answer: fields.answer,
                times: fields.times.unwrap_or(1).max(1),
                outage: matches!(fields.r#for, Some(OutageWord::Outage)),
            })
        }
        "recheck" => {
            #[derive(Deserialize)]
            #[serde(rename_all = "kebab-case", deny_unknown_fields)]
            struct RecheckFields {
                r#as: StepName,
                keys: AllWord,
                at_most: Option<u32>,
            }
            #[derive(Deserialize)]
            #[serde(rename_all = "kebab-case")]
            enum AllWord {
                All,
            }
            let fields: RecheckFields = yaml::decode(body)?;
            let AllWord::All = fields.keys;
            Ok(Step::Recheck {
                name: fields.r#as,
                at_most: fields.at_most.unwrap_or(500),
            })
        }
        _ => unreachable!("single_key lets only known kinds pass"),
    }
}

/// How long deliveries are waited for unless the scenario says it.
const DELIVERY: Duration = Duration::from_secs(60);

fn read_wait(body: &Node) -> Result<Wait, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct WaitFields {
        retry_after: Option<StepName>,
        deliveries: Option<u32>,
        arrivals: Option<u32>,
        r#for: Option<FixedTime>,
    }
    match body.as_text() {
        Some("settled") => return Ok(Wait::Settled),
        Some("own-retries") => return Ok(Wait::OwnRetries),
        _ => {}
    }
    if body.as_map().is_none() {
        return yaml::decode::<TimeSpan>(body).map(Wait::For);
    }
    let fields: WaitFields = yaml::decode(body)?;
    match fields {
        WaitFields {
            retry_after: Some(step),
            deliveries: None,
            arrivals: None,
            r#for: None,
        } => Ok(Wait::RetryAfter(step)),
        WaitFields {
            retry_after: None,
            deliveries: Some(count),
            arrivals: None,
            r#for,
        } => Ok(Wait::Deliveries {
            count: count.max(1),
            patience: r#for.map_or(DELIVERY, |time| time.0),
        }),
        WaitFields {
            retry_after: None,
            deliveries: None,
            arrivals: Some(count),
            r#for,
        } => Ok(Wait::Arrivals {
            count: count.max(1),
            patience: r#for.map_or(DELIVERY, |time| time.0),
        }),
        _ => Err(Diagnostic::error(
            "wait is `settled`, `own-retries`, a duration, { retry-after: STEP }, { deliveries: 2, for: 60s }, or { arrivals: 1 }",
        )
        .at(body.span.clone())),
    }
}

/// Splits a step's fields into its own and those of its request.
fn split_request(body: &Node, own: &[&str]) -> Result<(Node, RequestFields), Diagnostic> {
    for entry in body.as_map().unwrap_or_default() {
        let known = || RequestFields::NAMES.iter().chain(own).copied();
        if !known().any(|name| name == entry.key) {
            let problem = Diagnostic::error(format!("unknown field `{}`", entry.key))
                .at(entry.key_span.clone());
            return Err(match yaml::nearest(&entry.key, known()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!(
                    "known fields: {}",
                    known().collect::<Vec<_>>().join(", ")
                )),
            });
        }
    }
    let (own, request) = split(body, own);
    Ok((own, yaml::decode(&request)?))
}

/// The entries of a map with these names, and the rest.
pub(super) fn split(body: &Node, names: &[&str]) -> (Node, Node) {
    let (named, rest) = match &body.value {
        Value::Map(entries) => entries
            .iter()
            .cloned()
            .partition(|entry| names.contains(&entry.key.as_str())),
        _ => (Vec::new(), Vec::new()),
    };
    let rest = match &body.value {
        Value::Map(_) | Value::Null => Value::Map(rest),
        other => other.clone(),
    };
    (
        Node {
            span: body.span.clone(),
            value: Value::Map(named),
        },
        Node {
            span: body.span.clone(),
            value: rest,
        },
    )
}

/// The one key of a single-key map, and its value.
pub(super) fn single_key<'a>(
    node: &'a Node,
    what: &str,
    known: &[&'static str],
    not_yet: &[&'static str],
) -> Result<(&'static str, &'a Node), Diagnostic> {
    let entry = match node.as_map() {
        Some([entry]) => entry,
        Some([_, second, ..]) => {
            return Err(
                Diagnostic::error(format!("{what} has one kind, and here are several"))
                    .at(second.key_span.clone())
                    .help("put each on a line of its own that begins with `- `"),
            );
        }
        _ => {
            return Err(
                Diagnostic::error(format!("{what} is a map with one key, its kind"))
                    .at(node.span.clone())
                    .help(format!("kinds are {}", known.join(", "))),
            );
        }
    };
    if let Some(kind) = known.iter().find(|kind| **kind == entry.key) {
        return Ok((kind, &entry.value));
    }
    if not_yet.contains(&entry.key.as_str()) {
        return Err(
            Diagnostic::error(format!("`{}` is not supported yet", entry.key))
                .at(entry.key_span.clone()),
        );
    }
    let problem = Diagnostic::error(format!(
        "unknown kind `{}` of {}",
        entry.key,
        what.trim_start_matches("an ").trim_start_matches("a ")
    ))
    .at(entry.key_span.clone());
    Err(match yaml::nearest(&entry.key, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("kinds are {}", known.join(", "))),
    })
}
