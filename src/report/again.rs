//! How a case can be seen again: the command line that runs it alone.

use super::evidence;
use crate::grade::{CaseReport, Report, RoundsOf};
use crate::judge::Finding;
use crate::report::clean::is_harmless;

/// The commands that show findings of a case again: one, or, where several runs were joined, that of
/// each run that a finding was seen in. None where the report does not know how it was started.
pub fn commands<'a>(
    report: &Report,
    case: &CaseReport,
    findings: impl Iterator<Item = &'a Finding>,
) -> Vec<String> {
    let about = &report.about;
    let id = match &case.case {
        Some(name) => format!("{}#{name}", case.scenario),
        None => case.scenario.clone(),
    };
    let narrowed = |again: &str| {
        let operation = quoted(&case.operation);
        format!("{again} --scenario {} --operation {operation}", quoted(&id))
    };
    match (&case.client, &about.client) {
        (Some(_), Some(client)) if client.command.is_empty() => vec![narrowed(&client.again)],
        (Some(_), Some(client)) => {
            vec![format!("{} -- {}", narrowed(&client.again), client.command)]
        }
        (Some(_), None) => Vec::new(),
        (None, _) => {
            let mut runs: Vec<(&str, u64)> = Vec::new();
            for round in findings.flat_map(|finding| seen_in(case, finding)) {
                let run = run_of(case, round)
                    .map_or((&*about.again, about.seed), |run| (&*run.again, run.seed));
                if !runs.contains(&run) && !run.0.is_empty() {
                    runs.push(run);
                }
            }
            let command = |(again, seed)| format!("{} --seed {seed}", narrowed(again));
            runs.into_iter().map(command).collect()
        }
    }
}

/// The rounds that a finding was seen in; the first if it points to none.
fn seen_in(case: &CaseReport, finding: &Finding) -> Vec<u32> {
    let rounds = evidence::rounds(case, finding);
    match rounds.is_empty() {
        true => vec![1],
        false => rounds.iter().map(|round| round.number).collect(),
    }
}

/// The run that a round is of, where the report is of several.
fn run_of(case: &CaseReport, round: u32) -> Option<&RoundsOf> {
    let before = case.runs.iter().rev().find(|run| run.from_round <= round);
    before.or_else(|| case.runs.first())
}

/// A word of a command line for a POSIX shell. What could end up elsewhere in a terminal than in
/// the word is left out.
pub fn quoted(word: &str) -> String {
    let word: String = word.chars().filter(|letter| is_harmless(*letter)).collect();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(quoted("race/edge"), "race/edge");
        assert_eq!(quoted("lost/response#reset"), "'lost/response#reset'");
        assert_eq!(quoted("it's $(x)"), "'it'\\''s $(x)'");
        assert_eq!(quoted("a\u{1b}[31m\nb"), "'a[31mb'");
        assert_eq!(quoted(""), "''");
    }
}
