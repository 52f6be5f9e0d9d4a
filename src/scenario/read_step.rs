//! From YAML to the steps: maps with a single key, their kind.

use super::map::{single_key, split};
use super::moment::{FixedTime, TimeSpan};
use super::request::{BurstFields, RequestFields, RetryFields, SendFields};
use super::{
    Key, LookedUp, Lookup, LookupBy, Moment, PrincipalRole, Receiving, Release, Step, StepName,
    Until, Wait,
};
use crate::hook::HookName;
use crate::yaml::{self, Diagnostic, Node};
use serde::Deserialize;
use std::time::Duration;

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
