//! Two runs, check by check: what broke, what was mended, what came and what went.

use super::args::CompareArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::{files, record, screen};
use crate::report::{entries, line};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// How a check of an earlier run stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    /// `create-payment/race/burst`.
    pub case: String,
    /// `pass`, `fail`, `warning`, `inconclusive` or `skip`.
    pub standing: String,
    /// One sentence.
    pub reason: String,
}

/// Tells the differences between two runs.
///
/// # Errors
/// A file that is neither a JSON report nor a recorded run.
pub fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let old = checks(&args.old)?;
    let new = checks(&args.new)?;
    let differences = differences(&old, &new);
    screen::say(&text(&differences, old.len(), new.len()))?;
    let has = |kinds: &[Kind]| differences.iter().any(|one| kinds.contains(&one.kind));
    Ok(if has(&[Kind::Broke, Kind::NewFailure]) {
        Exit::Failed
    } else if has(&[Kind::Lost, Kind::Vanished]) {
        Exit::Inconclusive
    } else {
        Exit::Clean
    })
}

/// What became of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It did not fail, and fails now.
    Broke,
    /// It was not there, and fails.
    NewFailure,
    /// It passed or failed, and shows nothing now.
    Lost,
    /// It is not there any more.
    Vanished,
    /// It failed, and passes.
    Mended,
    /// It showed nothing, and passes.
    Shown,
    /// It was not there, and does not fail.
    New,
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Kind::Broke => "Regressions",
            Kind::NewFailure => "New checks that fail",
            Kind::Lost => "Not shown any more",
            Kind::Vanished => "Vanished checks",
            Kind::Mended => "Fixed",
            Kind::Shown => "Shown now",
            Kind::New => "New checks",
        }
    }
}

struct Difference<'a> {
    kind: Kind,
    name: &'a str,
    says: String,
}

fn differences<'a>(
    old: &'a BTreeMap<String, Stood>,
    new: &'a BTreeMap<String, Stood>,
) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    for (name, now) in new {
        let before = old.get(name);
        let kind = match (
            before.map(|stood| stood.standing.as_str()),
            now.standing.as_str(),
        ) {
            (None, "fail") => Kind::NewFailure,
            (None, _) => Kind::New,
            (Some("fail"), "fail") => continue,
            (Some(_), "fail") => Kind::Broke,
            (Some("fail" | "warning"), "pass") => Kind::Mended,
            (Some("inconclusive" | "skip"), "pass") => Kind::Shown,
            (Some("pass" | "fail" | "warning"), "inconclusive" | "skip") => Kind::Lost,
            (Some(_), _) => continue,
        };
        let was = before.map_or(String::new(), |stood| format!("{} → ", stood.standing));
        found.push(Difference {
            kind,
            name,
            says: format!("{was}{}: {}", now.standing, now.reason),
        });
    }
    for (name, before) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
        found.push(Difference {
            kind: Kind::Vanished,
            name,
            says: format!("was {}: {}", before.standing, before.reason),
        });
    }
    found.sort_by_key(|difference| difference.kind);
    found
}

fn text(differences: &[Difference<'_>], old: usize, new: usize) -> String {
    let mut text = String::new();
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for difference in differences {
        let count = counts.entry(difference.kind).or_default();
        // Writing to a String cannot fail, here and below.
        if *count == 0 {
            let _ = writeln!(text, "{}", difference.kind.title());
        }
        *count += 1;
        let _ = writeln!(
            text,
            "  {}\n      {}",
            line(difference.name),
            line(&difference.says)
        );
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{} {count}", kind.title().to_lowercase()))
        .collect();
    let summary = match parts.is_empty() {
        true => "no difference".to_owned(),
        false => parts.join(", "),
    };
    let _ = writeln!(text, "{old} checks before, {new} now: {summary}");
    text
}

/// The checks of a run, by their names, from a JSON report or a recorded run.
///
/// # Errors
/// A file that is neither.
pub fn checks(path: &Path) -> Result<BTreeMap<String, Stood>, Failure> {
    #[derive(Deserialize)]
    struct Head {
        record: Option<u32>,
        about: Option<serde_json::Value>,
    }
    let source = files::read(path)?;
    let bad = |why: &str| Failure::Usage(format!("{}: {why}", source.name));
    let head: Head = serde_json::from_str(&source.text)
        .map_err(|_| bad("it is neither a JSON report nor a recorded run"))?;
    if head.record.is_some() {
        let report = record::read(path)?.0.report();
        let stood = report.scenarios.iter().flat_map(entries).map(|entry| {
            let stood = Stood {
                case: entry.case.name(),
                standing: entry.standing.name().to_owned(),
                reason: entry.reason().to_owned(),
            };
            (entry.name(), stood)
        });
        return Ok(stood.collect());
    }
    if head.about.is_none() {
        return Err(bad("it is neither a JSON report nor a recorded run"));
    }
    let written: Written = serde_json::from_str(&source.text)
        .map_err(|problem| bad(&format!("the report is damaged: {problem}")))?;
    Ok(written.stood())
}

/// What is read of a JSON report.
#[derive(Deserialize)]
struct Written {
    scenarios: Vec<WrittenCase>,
}

#[derive(Deserialize)]
struct WrittenCase {
    operation: String,
    scenario: String,
    case: Option<String>,
    skipped: Option<String>,
    #[serde(default)]
    broken: Vec<String>,
    findings: Vec<WrittenFinding>,
}

#[derive(Deserialize)]
struct WrittenFinding {
    name: String,
    verdict: String,
    level: String,
    reason: String,
}

impl Written {
    fn stood(self) -> BTreeMap<String, Stood> {
        let mut all = BTreeMap::new();
        for case in self.scenarios {
            let name = match &case.case {
                Some(own) => format!("{}/{}#{own}", case.operation, case.scenario),
                None => format!("{}/{}", case.operation, case.scenario),
            };
            if case.findings.is_empty() {
                let standing = if case.skipped.is_some() {
                    "skip"
                } else {
                    "inconclusive"
                };
                let reason = case
                    .skipped
                    .or(case.broken.into_iter().next())
                    .unwrap_or_default();
                all.insert(
                    name.clone(),
                    Stood {
                        case: name,
                        standing: standing.to_owned(),
                        reason,
                    },
                );
                continue;
            }
            for finding in case.findings {
                let standing = match (finding.verdict.as_str(), finding.level.as_str()) {
                    ("fail", "should" | "note") => "warning".to_owned(),
                    _ => finding.verdict,
                };
                all.insert(
                    finding.name,
                    Stood {
                        case: name.clone(),
                        standing,
                        reason: finding.reason,
                    },
                );
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Kind, Stood, differences};

    fn run(checks: &[(&str, &str)]) -> BTreeMap<String, Stood> {
        checks
            .iter()
            .map(|(name, standing)| {
                let stood = Stood {
                    case: "pay/race".to_owned(),
                    standing: (*standing).to_owned(),
                    reason: "so it was".to_owned(),
                };
                ((*name).to_owned(), stood)
            })
            .collect()
    }

    #[test]
    fn every_way_in_which_two_runs_differ_has_a_name() {
        let old = run(&[
            ("same", "fail"),
            ("broke", "pass"),
            ("unseen", "inconclusive"),
            ("mended", "fail"),
            ("lost", "pass"),
            ("gone", "pass"),
            ("shown", "skip"),
        ]);
        let new = run(&[
            ("same", "fail"),
            ("broke", "fail"),
            ("unseen", "fail"),
            ("mended", "pass"),
            ("lost", "inconclusive"),
            ("shown", "pass"),
            ("fresh", "pass"),
            ("bad", "fail"),
        ]);
        let found: Vec<(Kind, &str)> = differences(&old, &new)
            .iter()
            .map(|one| (one.kind, one.name))
            .collect();
        assert_eq!(
            found,
            [
                (Kind::Broke, "broke"),
                (Kind::Broke, "unseen"),
                (Kind::NewFailure, "bad"),
                (Kind::Lost, "lost"),
                (Kind::Vanished, "gone"),
                (Kind::Mended, "mended"),
                (Kind::Shown, "shown"),
                (Kind::New, "fresh"),
            ]
        );
        assert!(differences(&old, &old).is_empty());
    }
}
