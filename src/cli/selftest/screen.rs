//! The matrix, as a terminal shows it.

use super::Done;
use super::named::Named;
use super::subject::Subject;
use super::tried::Tried;
use crate::report::line;
use std::fmt::Write;

/// A line for each subject, then everything that is wrong, then the sum.
pub(super) fn render(done: &Done, verbose: bool) -> String {
    let tried = &done.tried;
    let width = tried
        .iter()
        .map(|one| one.subject.label().len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for one in tried {
        let (id, label) = (one.subject.id(), one.subject.label());
        let _ = writeln!(text, "{id:3}  {label:width$}  {}", in_short(one));
        if verbose {
            let _ = writeln!(text, "       took {:.1} s", one.took.as_secs_f64());
            for name in one.runs.iter().flat_map(|run| &run.caught) {
                let _ = writeln!(text, "       caught by {name}");
            }
            for wrong in one.runs.iter().flat_map(|run| &run.unshown) {
                let _ = writeln!(
                    text,
                    "       not shown: {}: {}",
                    wrong.name,
                    line(&wrong.why)
                );
            }
        }
    }
    for one in tried {
        text.push_str(&one.complaints());
    }
    let _ = writeln!(text, "\n{}", sum(done));
    text
}

/// What came of a subject, in a few words.
pub(super) fn in_short(one: &Tried) -> String {
    let Some(last) = one.runs.last() else {
        return "not tried".to_owned();
    };
    let mut words = match one.subject {
        _ if !one.is_right() => "WRONG".to_owned(),
        _ if one.subject.is_a_matter_of_luck() => {
            format!(
                "caught in {} of {} runs",
                one.times_caught(),
                one.runs.len()
            )
        }
        subject if subject.is_wrong() => format!("caught by {}", checks(&last.caught)),
        Subject::Unpromised(_) if !last.caught.is_empty() => {
            format!("fails by design: {}", checks(&last.caught))
        }
        _ => "clean".to_owned(),
    };
    if !last.unshown.is_empty() {
        let _ = write!(words, "; {} not shown", last.unshown.len());
    }
    if one.unclear > 0 {
        words.push_str("; not shown beside others, so tried again alone");
    }
    words
}

/// How many checks, and the first of them.
fn checks(names: &[String]) -> String {
    let first = names.first().map(String::as_str).unwrap_or_default();
    let first = first.split_once('/').map_or(first, |(_, rest)| rest);
    match names.len() {
        0 | 1 => first.to_owned(),
        more => format!("{first} and {} more", more - 1),
    }
}

impl Tried {
    /// What the tool is wrong about, a paragraph each.
    pub fn complaints(&self) -> String {
        let mut text = String::new();
        for run in &self.runs {
            let missed = match self.subject.is_a_matter_of_luck() {
                true => &[][..],
                false => &run.missed,
            };
            for (word, wrongs) in [("missed", missed), ("false alarm", &run.alarms)] {
                for wrong in wrongs {
                    let verdict = wrong.verdict.map_or("nothing", |verdict| verdict.name());
                    let _ = writeln!(
                        text,
                        "\n{word}: {}: {}\n  {verdict}: {}",
                        self.subject.label(),
                        wrong.name,
                        line(&wrong.why)
                    );
                }
            }
        }
        text
    }
}

/// The figures, in one line.
pub(super) fn sum(done: &Done) -> String {
    let tried = &done.tried;
    let is_flaw = |one: &&Tried| matches!(one.subject, Subject::Flawed(_));
    let is_client = |one: &&Tried| matches!(one.subject, Subject::Client(_));
    let runs = || tried.iter().flat_map(|one| &one.runs);
    let sure = tried
        .iter()
        .filter(is_flaw)
        .filter(|one| !one.subject.is_a_matter_of_luck());
    let caught = sure.clone().filter(|one| one.is_right()).count();
    let alarms: usize = runs().map(|run| run.alarms.len()).sum();
    let variants = || tried.iter().filter(|one| !is_flaw(one) && !is_client(one));
    let clean = variants().filter(|one| one.is_right()).count();
    let habits = |wrong: bool| {
        let of = || {
            tried
                .iter()
                .filter(is_client)
                .filter(move |one| one.subject.is_wrong() == wrong)
        };
        (of().filter(|one| one.is_right()).count(), of().count())
    };
    let ((seen, mistakes), (fine, manners)) = (habits(true), habits(false));
    let clients = match mistakes + manners {
        0 => String::new(),
        _ => format!(
            "{seen} of {mistakes} mistakes of clients caught, {fine} of {manners} clients left alone, "
        ),
    };
    let stopped = match done.is_whole {
        true => String::new(),
        false => format!("stopped after {} of {}: ", tried.len(), done.of),
    };
    format!(
        "{stopped}{caught} of {} flaws caught, {clean} of {} others left alone, {clients}{alarms} false alarms; {} s",
        sure.count(),
        variants().count(),
        done.took.as_secs()
    )
}

/// The scenarios of findings, with their cases and checks together.
pub(super) fn grouped(names: &[String]) -> Vec<(String, String)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for name in names {
        let Some((scenario, check)) = Named::split(name) else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == scenario) {
            Some((_, checks)) if checks.contains(&check) => {}
            Some((_, checks)) => checks.push(check),
            None => groups.push((scenario, vec![check])),
        }
    }
    groups
        .into_iter()
        .map(|(scenario, checks)| (scenario, checks.join(", ")))
        .collect()
}
