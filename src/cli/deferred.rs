//! The file between the two halves of a run: what was made, and all that is needed to go on with it
//! another day, from another process or another machine. It holds no secret: these come from the
//! environment again.

use super::failure::Failure;
use super::files;
use super::observe::Observed;
use super::record::{self, Recorded, RecordedCase, Texts};
use crate::runner::{Origin, Suspended};
use crate::yaml::Source;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The version of the file; it grows when an older reader would read it wrongly.
const FORMAT: u32 = 1;

/// What is left of a run for another day.
#[derive(Debug)]
pub struct Deferred {
    /// How it was started.
    pub first: FirstHalf,
    /// The run itself.
    pub origin: Origin,
    /// Its cases that had to stop, in order, with what is over of them.
    pub recorded: Recorded,
    /// The texts of their scenarios.
    pub texts: Texts,
    /// What of them is still to come, by their place.
    pub waiting: BTreeMap<usize, Suspended>,
}

/// How the first half of a run was started, as far as the second must be started alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FirstHalf {
    /// What variables of the target file were set to.
    pub set: Vec<(String, String)>,
    /// Hosts that may be written to, beside those that the target names.
    pub allow_hosts: Vec<String>,
    /// A digest of the target file.
    pub digest: String,
    /// Where operations and own expectations stand.
    pub places: BTreeMap<String, String>,
}

/// What is looked at before anything else of a file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Head {
    deferred: Option<u32>,
    idemspec: Option<String>,
}

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Written {
    deferred: u32,
    idemspec: String,
    first: FirstHalf,
    origin: Origin,
    /// As `--record` writes it.
    record: Value,
    waiting: Vec<Waiting>,
}

/// A case that goes on.
#[derive(Deserialize, Serialize)]
struct Waiting {
    /// Its place among those of the record.
    case: usize,
    rest: Suspended,
}

/// A time to the second, for people.
pub(super) fn clock(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

/// How long something takes, for people.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// Refuses to write over keys that still wait.
///
/// # Errors
/// When the file is there, and is anything but a run of which all is over.
pub(super) fn refuse_waiting(path: &Path) -> Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    let waiting = Deferred::read(path)?.waiting;
    match waiting.values().map(Suspended::due).max() {
        None => Ok(()),
        Some(due) => Err(Failure::Usage(format!(
            "{path} holds keys that wait until {}: `idemspec resume {path}` goes on with them; remove it to give them up",
            clock(due),
            path = path.display()
        ))),
    }
}

impl Deferred {
    /// Takes what goes on another day out of a run. In what is left, those cases say so.
    pub(super) fn split(
        observed: Observed,
        texts: &Texts,
        first: FirstHalf,
    ) -> (Recorded, Option<Deferred>) {
        let Observed {
            mut recorded,
            suspended,
            origin,
        } = observed;
        if suspended.is_empty() {
            return (recorded, None);
        }
        let mut later = Recorded {
            cases: Vec::new(),
            headlines: Vec::new(),
            ..recorded.clone()
        };
        let mut waiting = BTreeMap::new();
        for (index, rest) in suspended {
            let case = &mut recorded.cases[index];
            waiting.insert(later.cases.len(), rest.clone());
            later.cases.push(case.clone());
            case.skip = Some(format!(
                "its keys were made, and `idemspec resume` goes on with them {}",
                when(&rest)
            ));
        }
        recorded
            .headlines
            .extend(told(waiting.values(), SystemTime::now()));
        let ids = later
            .cases
            .iter()
            .map(|case: &RecordedCase| case.scenario.id.as_str())
            .collect::<BTreeSet<_>>();
        let texts = texts.only(&ids);
        let deferred = Deferred {
            first,
            origin,
            recorded: later,
            texts,
            waiting,
        };
        (recorded, Some(deferred))
    }

    /// Writes it down as a whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let unable = |problem: String| {
            Failure::Unable(format!(
                "cannot write what is left for another day to {}: {problem}",
                path.display()
            ))
        };
        let mut record = Vec::new();
        record::write_to(&self.recorded, &self.texts, &mut record)
            .map_err(|problem| unable(problem.to_string()))?;
        let written = Written {
            deferred: FORMAT,
            idemspec: env!("CARGO_PKG_VERSION").to_owned(),
            first: self.first.clone(),
            origin: self.origin.clone(),
            record: serde_json::from_slice(&record)
                .map_err(|problem| unable(problem.to_string()))?,
            waiting: self
                .waiting
                .iter()
                .map(|(case, rest)| Waiting {
                    case: *case,
                    rest: rest.clone(),
                })
                .collect(),
        };
        let mut text =
            serde_json::to_string(&written).map_err(|problem| unable(problem.to_string()))?;
        text.push('\n');
        files::replace(path, &text).map_err(|problem| unable(problem.to_string()))
    }

    /// Reads what was left.
    ///
    /// # Errors
    /// When the file is none of these, is of another version, or is not whole.
    pub fn read(path: &Path) -> Result<Deferred, Failure> {
        let source = files::read(path)?;
        let bad = |why: String| Failure::Usage(format!("{}: {why}", source.name));
        let damaged = |problem: serde_json::Error| match problem.is_eof() {
            true => {
                bad("it ends in the middle: it was cut off on its way, or never whole".to_owned())
            }
            false => bad(format!("it is damaged: {problem}")),
        };
        let head: Head = match serde_json::from_str(&source.text) {
            Ok(head) => head,
            Err(problem) if source.text.starts_with("{\"deferred\":") => {
                return Err(damaged(problem));
            }
            Err(_) => return Err(bad(FOREIGN.to_owned())),
        };
        match head.deferred {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(bad(format!(
                    "it is of format {other}, written by idemspec {}; this one reads format {FORMAT}",
                    head.idemspec.as_deref().unwrap_or("?")
                )));
            }
            None => return Err(bad(FOREIGN.to_owned())),
        }
        let written: Written = serde_json::from_str(&source.text).map_err(damaged)?;
        let (recorded, texts) = record::read_text(&Source {
            name: source.name.clone(),
            text: written.record.to_string(),
        })?;
        let mut waiting = BTreeMap::new();
        for Waiting { case, rest } in written.waiting {
            if case >= recorded.cases.len() {
                return Err(bad(
                    "it is damaged: a case that waits is not in it".to_owned()
                ));
            }
            waiting.insert(case, rest);
        }
        Ok(Deferred {
            first: written.first,
            origin: written.origin,
            recorded,
            texts,
            waiting,
        })
    }
}

const FOREIGN: &str = "it is no run that goes on another day: `run --defer FILE` writes one, and a record or a report is none";

/// When a case can go on, as the end of a sentence.
pub(super) fn when(rest: &Suspended) -> String {
    match rest.until() {
        Some(until) => format!("between {} and {}", clock(rest.due()), clock(until)),
        None => format!("after {}", clock(rest.due())),
    }
}

/// What waits, and when to come back for it, each time once.
pub(super) fn told<'a>(
    waiting: impl Iterator<Item = &'a Suspended>,
    now: SystemTime,
) -> Vec<String> {
    let mut times: BTreeMap<String, (u32, Duration)> = BTreeMap::new();
    for rest in waiting {
        let left = rest.due().duration_since(now).unwrap_or_default();
        let entry = times.entry(when(rest)).or_default();
        entry.0 += 1;
        entry.1 = entry.1.max(left);
    }
    times
        .into_iter()
        .map(|(when, (cases, left))| {
            let what = match cases {
                1 => "the keys of one case wait".to_owned(),
                more => format!("the keys of {more} cases wait"),
            };
            match left.is_zero() {
                true => format!("{what}: resume {when}"),
                false => format!("{what} for {} more: resume {when}", span(left)),
            }
        })
        .collect()
}
