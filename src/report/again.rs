//! How a case can be seen again: the command line that runs it alone.

use crate::grade::{CaseReport, Report};
use crate::report::clean::is_harmless;

/// The command; `None` where the report does not know how it was started.
pub fn command(report: &Report, case: &CaseReport) -> Option<String> {
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
        (Some(_), Some(client)) if client.command.is_empty() => Some(narrowed(&client.again)),
        (Some(_), Some(client)) => {
            Some(format!("{} -- {}", narrowed(&client.again), client.command))
        }
        (Some(_), None) => None,
        (None, _) if about.again.is_empty() => None,
        (None, _) => Some(format!("{} --seed {}", narrowed(&about.again), about.seed)),
    }
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
