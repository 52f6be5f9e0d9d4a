//! What of a report fails the process: how grave it must be, and what is known already.

use super::args::{Gate, GateOn};
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use crate::grade::{Report, excuse};
use crate::judge::Finding;
use crate::report::{Entry, Standing, entries};
use crate::verdict::Verdict;
use crate::yaml::{self, Diagnostic};
use std::path::Path;

/// Findings that somebody knows of already, with the reason.
#[derive(Debug, Default)]
pub struct Known {
    failing: Vec<KnownEntry>,
    flaky: Vec<KnownEntry>,
}

/// One line of a list.
#[derive(Debug)]
struct KnownEntry {
    /// A finding's name, or the beginning of several; `*/` stands for any operation.
    name: String,
    /// Why it is known.
    reason: String,
    /// Where it stands.
    place: String,
}

impl Known {
    /// Reads the lists that are named on the command line.
    ///
    /// # Errors
    /// A file that cannot be read, or in which an entry has no reason.
    pub fn read(gate: &Gate) -> Result<Known, Failure> {
        let list = |path: &Option<std::path::PathBuf>| match path {
            Some(path) => read(path),
            None => Ok(Vec::new()),
        };
        Ok(Known {
            failing: list(&gate.known_failing)?,
            flaky: list(&gate.known_flaky)?,
        })
    }

    /// Excuses what is known, and says what is wrong with the lists: entries that match nothing, unless
    /// the run was `narrowed`, and entries of what does not fail any more.
    pub fn apply(&self, report: &mut Report, narrowed: bool) -> Vec<String> {
        let mut complaints = Vec::new();
        for (entry, is_flaky) in self.entries() {
            let matched: Vec<&Finding> = report
                .scenarios
                .iter()
                .flat_map(|case| &case.findings)
                .filter(|finding| entry.means(&finding.name))
                .collect();
            let has = |verdict| matched.iter().any(|finding| finding.verdict == verdict);
            if matched.is_empty() && !narrowed {
                complaints.push(format!(
                    "{}: no check has the name `{}`",
                    entry.place, entry.name
                ));
            } else if !is_flaky
                && has(Verdict::Pass)
                && !has(Verdict::Fail)
                && !has(Verdict::Inconclusive)
            {
                complaints.push(format!(
                    "{}: `{}` does not fail any more: take the entry out",
                    entry.place, entry.name
                ));
            }
        }
        excuse(report, |finding| {
            self.entries()
                .find(|(entry, _)| entry.means(&finding.name))
                .map(|(entry, is_flaky)| match is_flaky {
                    true => format!("flaky: {}", entry.reason),
                    false => entry.reason.clone(),
                })
        });
        complaints
    }

    fn entries(&self) -> impl Iterator<Item = (&KnownEntry, bool)> {
        let failing = self.failing.iter().map(|entry| (entry, false));
        failing.chain(self.flaky.iter().map(|entry| (entry, true)))
    }
}

impl KnownEntry {
    fn means(&self, finding: &str) -> bool {
        let (own, name) = match self.name.strip_prefix("*/") {
            Some(own) => (
                own,
                finding.split_once('/').map_or(finding, |(_, rest)| rest),
            ),
            None => (self.name.as_str(), finding),
        };
        match name.strip_prefix(own) {
            Some(rest) => rest.is_empty() || own.ends_with('/') || rest.starts_with(['/', '#']),
            None => false,
        }
    }
}

fn read(path: &Path) -> Result<Vec<KnownEntry>, Failure> {
    let bad = |problem: Diagnostic| Failure::BadFiles(vec![problem]);
    let node = yaml::parse(files::read(path)?).map_err(bad)?;
    let Some(entries) = node.as_map() else {
        return Err(bad(Diagnostic::error("a list of what is known is a map")
            .at(node.span.first_line())
            .help(
                "write `create-payment/race/burst/item-5/effects-at-most: the reason`",
            )));
    };
    let mut known = Vec::new();
    for entry in entries {
        let reason = entry.value.as_text().map(str::trim).unwrap_or_default();
        if reason.is_empty() {
            return Err(bad(Diagnostic::error(format!(
                "`{}` has no reason",
                entry.key
            ))
            .at(entry.key_span.clone())
            .help("say why it is known, such as the number of a ticket")));
        }
        let (line, _) = entry.key_span.line_column();
        known.push(KnownEntry {
            name: entry.key.clone(),
            reason: reason.to_owned(),
            place: format!("{}:{line}", entry.key_span.source.name),
        });
    }
    Ok(known)
}

/// How the process ends: as the report deserves, as far as what fails is meant by `--fail-on`, and
/// with a failure where a list of what is known is wrong.
pub fn exit(report: &Report, strict: bool, on: &[GateOn], complaints: &[String]) -> Exit {
    let deserved = Exit::of(report, strict);
    let let_through = deserved == Exit::Failed && !on.is_empty() && !fails(report, strict, on);
    let exit = match deserved {
        Exit::Failed if let_through && shows_too_little(report) => Exit::Inconclusive,
        Exit::Failed if let_through => Exit::Clean,
        other => other,
    };
    match exit {
        Exit::Clean | Exit::Inconclusive if !complaints.is_empty() => Exit::Failed,
        other => other,
    }
}

fn fails(report: &Report, strict: bool, on: &[GateOn]) -> bool {
    report.scenarios.iter().flat_map(entries).any(|entry| {
        let counts = match entry.standing {
            Standing::Fail => true,
            Standing::Warn => strict,
            _ => false,
        };
        counts && on.iter().any(|gate| is_meant(gate, &entry))
    })
}

fn is_meant(gate: &GateOn, entry: &Entry<'_>) -> bool {
    entry.finding.is_some_and(|finding| match gate {
        GateOn::Severity(least) => finding.severity >= *least,
        GateOn::Item(item) => finding.item == *item,
    })
}

fn shows_too_little(report: &Report) -> bool {
    report.about.stopped.is_some()
        || report
            .scenarios
            .iter()
            .flat_map(entries)
            .any(|entry| entry.standing == Standing::Inconclusive)
}

#[cfg(test)]
mod tests {
    use super::KnownEntry;

    fn entry(name: &str) -> KnownEntry {
        KnownEntry {
            name: name.to_owned(),
            reason: "known".to_owned(),
            place: String::new(),
        }
    }

    #[test]
    fn an_entry_means_whole_parts_of_a_name() {
        let name = "pay/race/edge#fast/item-5/effects-at-most";
        for wide in [
            name,
            "pay",
            "pay/race",
            "pay/race/",
            "pay/race/edge",
            "*/race/edge#fast",
            "*/race",
        ] {
            assert!(entry(wide).means(name), "{wide}");
        }
        for other in [
            "pa",
            "pay/race/ed",
            "pay/race/edge#fas",
            "race",
            "*/edge",
            "pay/race/edge#fast/item-5/effects",
        ] {
            assert!(!entry(other).means(name), "{other}");
        }
    }
}
