//! From YAML to an expectation: a map with a single key, its kind.

use super::expectation::{
    Bound, Check, Condition, DocumentedPart, EventClaim, EventPart, Expectation, OutcomeBound,
    SeekIn, SignalClaim,
};
use super::map::{single_key, split};
use super::moment::FixedTime;
use super::request::Marker;
use super::shape::OneOrMany;
use super::{Moment, OperationRole, StepName};
use crate::outcome::Outcome;
use crate::promise::{Level, Promise};
use crate::signal::Signal;
use crate::yaml::{self, Diagnostic, Node};
use serde::Deserialize;

/// The kinds that can be assumed. The last three belong to users' own scenarios.
const ASSUMABLE: [&str; 8] = [
    "effects",
    "outcome",
    "events",
    "overlap",
    "straddled",
    "status",
    "header",
    "json",
];

/// The set of a word in a scenario.
pub(super) fn outcome_word(word: &str) -> Result<Outcome, String> {
    Outcome::from_word(word).ok_or_else(|| match yaml::nearest(word, Outcome::words()) {
        Some(near) => format!("unknown outcome `{word}`: did you mean `{near}`?"),
        None => format!(
            "unknown outcome `{word}`: it is one of {}",
            Outcome::words().collect::<Vec<_>>().join(", ")
        ),
    })
}

/// A set of outcomes in YAML: one word or a list.
struct OutcomeSet(Outcome);

impl<'de> Deserialize<'de> for OutcomeSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = OneOrMany::<OutcomeWord>::deserialize(deserializer)?;
        Ok(OutcomeSet(
            words
                .0
                .into_iter()
                .fold(Outcome::NONE, |set, word| set.union(word.0)),
        ))
    }
}

struct OutcomeWord(Outcome);

impl<'de> Deserialize<'de> for OutcomeWord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        outcome_word(&word)
            .map(OutcomeWord)
            .map_err(serde::de::Error::custom)
    }
}

/// The names of the kinds, for messages.
const KINDS: [&str; 25] = [
    "counted",
    "effects",
    "outcome",
    "keeps",
    "same-response",
    "one-resource",
    "two-resources",
    "exists",
    "nothing-foreign",
    "bounded",
    "events",
    "agrees",
    "documented",
    "state",
    "tells-apart",
    "retry-after",
    "answered",
    "told",
    "recovered",
    "unaffected",
    "status",
    "header",
    "json",
    "overlap",
    "straddled",
];

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct EffectsFields {
    at_most: Option<u64>,
    at_least: Option<u64>,
    probe: Option<String>,
    operation: Option<OperationRole>,
    marker: Option<Marker>,
    reading: Option<StepName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeFields {
    of: OneOrMany<StepName>,
    is: Option<OutcomeSet>,
    some: Option<OutcomeSet>,
    never: Option<OutcomeSet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfFields {
    of: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfManyFields {
    of: OneOrMany<StepName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairFields {
    of: [StepName; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeepsFields {
    promise: Promise,
    of: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SameFields {
    of: OneOrMany<StepName>,
    r#as: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForeignFields {
    of: OneOrMany<StepName>,
    from: StepName,
    r#in: Option<SeekIn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundedFields {
    probe: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsFields {
    ids: Option<BoundFields>,
    deliveries: Option<BoundFields>,
    taken: Option<BoundFields>,
    stable: Option<EventPart>,
    ordered: Option<bool>,
    marker: Option<Marker>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct BoundFields {
    at_most: Option<u64>,
    at_least: Option<u64>,
}

impl BoundFields {
    /// The one bound, and its word.
    fn bound(&self) -> Option<(Bound, &'static str)> {
        match (self.at_most, self.at_least) {
            (Some(most), None) => Some((Bound::AtMost(most), "at-most")),
            (None, Some(least)) => Some((Bound::AtLeast(least), "at-least")),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct StateFields {
    reading: StepName,
    same_as: Option<StepName>,
    differs_from: Option<StepName>,
    probes: Option<ProbesWord>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ProbesWord {
    States,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FromFields {
    of: StepName,
    from: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredFields {
    of: StepName,
    within: super::TimeSpan,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecoveredFields {
    of: StepName,
    within: Option<FixedTime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnaffectedFields {
    of: StepName,
    than: StepName,
    factor: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusFields {
    of: StepName,
    is: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderFields {
    of: StepName,
    name: String,
    matches: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFields {
    of: StepName,
    path: String,
    equals: serde_json::Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentedFields {
    what: DocumentedPart,
    of: Option<StepName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedFields {
    signal: Signal,
    of: StepName,
    is: OutcomeSet,
    from: StepName,
    to: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverlapFields {
    of: StepName,
    with: StepName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StraddledFields {
    of: StepName,
    around: Moment,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommonFields {
    id: Option<String>,
    level: Option<Level>,
    unless: Option<Promise>,
    r#if: Option<ConditionFields>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionFields {
    of: StepName,
    is: OutcomeSet,
}

/// What is claimed of events, and the id of the expectation.
fn event_claim(fields: &EventsFields) -> Result<(EventClaim, String), &'static str> {
    type Made = fn(Bound) -> EventClaim;
    let bounded: [(&str, &Option<BoundFields>, Made); 3] = [
        ("ids", &fields.ids, EventClaim::Ids),
        ("deliveries", &fields.deliveries, EventClaim::Deliveries),
        ("taken", &fields.taken, EventClaim::Taken),
    ];
    let mut claims = Vec::new();
    for (word, fields, made) in bounded {
        if let Some(fields) = fields {
            let (bound, bounds) = fields
                .bound()
                .ok_or("a number has exactly one bound: at-most or at-least")?;
            claims.push((made(bound), format!("events-{word}-{bounds}")));
        }
    }
    if let Some(part) = fields.stable {
        let word = match part {
            EventPart::Id => "id",
            EventPart::Body => "body",
            EventPart::Signature => "signature",
        };
        claims.push((EventClaim::Stable(part), format!("events-stable-{word}")));
    }
    if fields.ordered == Some(true) {
        claims.push((EventClaim::Ordered, "events-ordered".to_owned()));
    }
    match claims.pop() {
        Some(claim) if claims.is_empty() => Ok(claim),
        _ => Err("events has exactly one of ids, deliveries, taken, stable and ordered"),
    }
}

impl Expectation {
    /// Reads an assumption.
    pub(super) fn assumed(node: &Node) -> Result<Expectation, Diagnostic> {
        if let Some([entry]) = node.as_map()
            && KINDS.contains(&entry.key.as_str())
            && !ASSUMABLE.contains(&entry.key.as_str())
        {
            return Err(
                Diagnostic::error(format!("`{}` cannot be assumed", entry.key))
                    .at(entry.key_span.clone())
                    .help(format!("assumptions are {}", ASSUMABLE[..5].join(", "))),
            );
        }
        Expectation::read(node)
    }

    /// Reads a map with a single key, its kind.
    pub(super) fn read(node: &Node) -> Result<Expectation, Diagnostic> {
        let (kind, body) = single_key(node, "an expectation", &KINDS, &[])?;
        let (common, own) = split(body, &["id", "level", "unless", "if"]);
        let common: CommonFields = yaml::decode(&common)?;
        let place = || body.span.clone();
        let (check, id) = match kind {
            "effects" => {
                let fields: EffectsFields = yaml::decode(&own)?;
                let bound = match (fields.at_most, fields.at_least) {
                    (Some(n), None) => Bound::AtMost(n),
                    (None, Some(n)) => Bound::AtLeast(n),
                    _ => {
                        return Err(Diagnostic::error("effects has exactly one bound: at-most or at-least")
                            .at(place())
                            .help("write two expectations to bound it on both sides: one is safety, the other is not"));
                    }
                };
                let mut id = match bound {
                    Bound::AtMost(_) => "effects-at-most".to_owned(),
                    Bound::AtLeast(_) => "effects-at-least".to_owned(),
                };
                for part in [fields.probe.as_deref(), fields.reading.as_deref()]
                    .into_iter()
                    .flatten()
                {
                    id = format!("{id}@{part}");
                }
                let check = Check::Effects {
                    bound,
                    probe: fields.probe,
                    operation: fields.operation.unwrap_or_default(),
                    marker: fields.marker.unwrap_or_default(),
                    reading: fields.reading,
                };
                (check, id)
            }
            "outcome" => {
                let fields: OutcomeFields = yaml::decode(&own)?;
                let (bound, word) = match (fields.is, fields.some, fields.never) {
                    (Some(set), None, None) => (OutcomeBound::Is(set.0), "is"),
                    (None, Some(set), None) => (OutcomeBound::Some(set.0), "some"),
                    (None, None, Some(set)) => (OutcomeBound::Never(set.0), "never"),
                    _ => {
                        return Err(Diagnostic::error(
                            "outcome has exactly one of is, some and never",
                        )
                        .at(place()));
                    }
                };
                let id = format!("outcome-{word}:{}", fields.of.0.join("+"));
                (
                    Check::Outcome {
                        of: fields.of.0,
                        bound,
                    },
                    id,
                )
            }
            "keeps" => {
                let fields: KeepsFields = yaml::decode(&own)?;
                let id = format!("keeps:{}", fields.promise.name());
                (
                    Check::Keeps {
                        promise: fields.promise,
                        of: fields.of,
                    },
                    id,
                )
            }
            "same-response" => {
                let fields: SameFields = yaml::decode(&own)?;
                let id = format!("same-response:{}", fields.of.0.join("+"));
                (
                    Check::SameResponse {
                        of: fields.of.0,
                        r#as: fields.r#as,
                    },
                    id,
                )
            }
            "one-resource" => {
                let fields: OfManyFields = yaml::decode(&own)?;
                let id = format!("one-resource:{}", fields.of.0.join("+"));
                (Check::OneResource { of: fields.of.0 }, id)
            }
            "two-resources" => {
                let fields: PairFields = yaml::decode(&own)?;
                let id = format!("two-resources:{}", fields.of.join("+"));
                (Check::TwoResources { of: fields.of }, id)
            }
            "exists" => {
                let fields: OfFields = yaml::decode(&own)?;
                let id = format!("exists:{}", fields.of);
                (Check::Exists { of: fields.of }, id)
            }
            "nothing-foreign" => {
                let fields: ForeignFields = yaml::decode(&own)?;
                let id = format!("nothing-foreign:{}", fields.of.0.join("+"));
                let check = Check::NothingForeign {
                    of: fields.of.0,
                    from: fields.from,
                    r#in: fields.r#in.unwrap_or_default(),
                };
                (check, id)
            }
            "bounded" => {
                let fields: BoundedFields = yaml::decode(&own)?;
                let id = fields
                    .probe
                    .as_ref()
                    .map_or("bounded".to_owned(), |probe| format!("bounded@{probe}"));
                (
                    Check::Bounded {
                        probe: fields.probe,
                    },
                    id,
                )
            }
            "events" => {
                let fields: EventsFields = yaml::decode(&own)?;
                let (claim, id) = event_claim(&fields)
                    .map_err(|message| Diagnostic::error(message).at(place()))?;
                let marker = fields.marker.unwrap_or_default();
                (Check::Events { claim, marker }, id)
            }
            "documented" => {
                let fields: DocumentedFields = yaml::decode(&own)?;
                let part = fields.what;
                match (&fields.of, part.is_of_a_step()) {
                    (None, Some(true)) => {
                        let message = format!(
                            "`{}` is documented of an answer: `of` says of which",
                            part.name()
                        );
                        return Err(Diagnostic::error(message).at(place()));
                    }
                    (Some(_), Some(false)) => {
                        let message = format!("`{}` is documented of no step", part.name());
                        return Err(Diagnostic::error(message).at(place()));
                    }
                    _ => {}
                }
                let of = fields.of.iter().map(|of| format!(":{of}"));
                let id = format!("documented-{}{}", part.name(), of.collect::<String>());
                let check = Check::Documented {
                    part,
                    of: fields.of,
                };
                (check, id)
            }
            "counted" => {
                let fields: CountedFields = yaml::decode(&own)?;
                let id = format!("counted:{}", fields.signal.name());
                let claim = SignalClaim {
                    signal: fields.signal,
                    of: fields.of,
                    is: fields.is.0,
                    from: fields.from,
                    to: fields.to,
                };
                (Check::Counted(claim), id)
            }
            "agrees" => {
                let fields: OverlapFields = yaml::decode(&own)?;
                let id = format!("agrees:{}+{}", fields.of, fields.with);
                let check = Check::Agrees {
                    of: fields.of,
                    with: fields.with,
                };
                (check, id)
            }
            "state" => {
                let fields: StateFields = yaml::decode(&own)?;
                let id = format!("state@{}", fields.reading);
                let (than, same) = match (fields.same_as, fields.differs_from) {
                    (Some(than), None) => (than, true),
                    (None, Some(than)) => (than, false),
                    _ => {
                        return Err(Diagnostic::error(
                            "state has exactly one of same-as and differs-from",
                        )
                        .at(place()));
                    }
                };
                (
                    Check::State {
                        reading: fields.reading,
                        than,
                        same,
                        states_only: matches!(fields.probes, Some(ProbesWord::States)),
                    },
                    id,
                )
            }
            "tells-apart" => {
                let fields: FromFields = yaml::decode(&own)?;
                let id = format!("tells-apart:{}+{}", fields.of, fields.from);
                (
                    Check::TellsApart {
                        of: fields.of,
                        from: fields.from,
                    },
                    id,
                )
            }
            "retry-after" => {
                let fields: OfFields = yaml::decode(&own)?;
                let id = format!("retry-after:{}", fields.of);
                (Check::RetryAfter { of: fields.of }, id)
            }
            "answered" => {
                let fields: AnsweredFields = yaml::decode(&own)?;
                let id = format!("answered:{}", fields.of);
                (
                    Check::Answered {
                        of: fields.of,
                        within: fields.within,
                    },
                    id,
                )
            }
            "told" => {
                let fields: OfFields = yaml::decode(&own)?;
                let id = format!("told:{}", fields.of);
                (Check::Told { of: fields.of }, id)
            }
            "recovered" => {
                let fields: RecoveredFields = yaml::decode(&own)?;
                let id = format!("recovered:{}", fields.of);
                (
                    Check::Recovered {
                        of: fields.of,
                        within: fields.within.map(|time| time.0),
                    },
                    id,
                )
            }
            "unaffected" => {
                let fields: UnaffectedFields = yaml::decode(&own)?;
                let id = format!("unaffected:{}", fields.of);
                let factor = fields.factor.unwrap_or(10.0);
                (
                    Check::Unaffected {
                        of: fields.of,
                        than: fields.than,
                        factor,
                    },
                    id,
                )
            }
            "status" => {
                let fields: StatusFields = yaml::decode(&own)?;
                if !(100..600).contains(&fields.is) {
                    let message = format!("{} is no status: they are 100 to 599", fields.is);
                    let place = own.get("is").map_or_else(place, |node| node.span.clone());
                    return Err(Diagnostic::error(message).at(place));
                }
                let id = format!("status:{}", fields.of);
                (
                    Check::Status {
                        of: fields.of,
                        is: fields.is,
                    },
                    id,
                )
            }
            "header" => {
                let fields: HeaderFields = yaml::decode(&own)?;
                if let Err(error) = regex::Regex::new(&fields.matches) {
                    return Err(Diagnostic::error(format!(
                        "`{}` is no regular expression: {}",
                        fields.matches,
                        yaml::in_one_line(&error)
                    ))
                    .at(own
                        .get("matches")
                        .map_or_else(place, |node| node.span.clone())));
                }
                let id = format!("header:{}+{}", fields.of, fields.name.to_ascii_lowercase());
                (
                    Check::Header {
                        of: fields.of,
                        name: fields.name,
                        matches: fields.matches,
                    },
                    id,
                )
            }
            "json" => {
                let fields: JsonFields = yaml::decode(&own)?;
                if let Err(error) = serde_json_path::JsonPath::parse(&fields.path) {
                    return Err(Diagnostic::error(format!(
                        "`{}` is no JSONPath (RFC 9535): {error}",
                        fields.path
                    ))
                    .at(own.get("path").map_or_else(place, |node| node.span.clone())));
                }
                let id = format!("json:{}+{}", fields.of, fields.path);
                (
                    Check::Json {
                        of: fields.of,
                        path: fields.path,
                        equals: fields.equals,
                    },
                    id,
                )
            }
            "overlap" => {
                let fields: OverlapFields = yaml::decode(&own)?;
                let id = format!("overlap:{}+{}", fields.of, fields.with);
                (
                    Check::Overlap {
                        of: fields.of,
                        with: fields.with,
                    },
                    id,
                )
            }
            "straddled" => {
                let fields: StraddledFields = yaml::decode(&own)?;
                if fields.around.of.is_none() {
                    return Err(
                        Diagnostic::error("the moment needs `of`: whose moment it is").at(place()),
                    );
                }
                let id = format!("straddled:{}", fields.of);
                (
                    Check::Straddled {
                        of: fields.of,
                        around: fields.around,
                    },
                    id,
                )
            }
            _ => unreachable!("single_key lets only known kinds pass"),
        };
        Ok(Expectation {
            id: common.id.unwrap_or(id),
            level: common.level.unwrap_or_default(),
            unless: common.unless,
            condition: common.r#if.map(|condition| Condition {
                of: condition.of,
                is: condition.is.0,
            }),
            check,
        })
    }
}
