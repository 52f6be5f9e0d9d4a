//! The attempts of a client that a finding points to, as a table that the reports for people share.

use super::clean::{clip, line, shorten};
use super::evidence::{bare, millis};
use crate::judge::Finding;
use crate::transcript::client::{Attempt, ClientRound, ClientTranscript, RunEnd};
use comfy_table::Cell;
use std::fmt::Write;
use std::time::Duration;

/// Attempts that are shown.
const MOST: usize = 16;

/// The round that shows the finding: its runs, and the attempts that it points to.
pub(super) fn text(client: &ClientTranscript, finding: &Finding, width: u16) -> String {
    let first = finding.evidence.first().map(|evidence| evidence.round);
    let round = client
        .rounds
        .iter()
        .find(|round| first.is_none_or(|first| round.number == first));
    let Some(round) = round else {
        return String::new();
    };
    let places: Vec<usize> = finding
        .evidence
        .iter()
        .filter(|evidence| evidence.round == round.number)
        .map(|evidence| evidence.exchange)
        .collect();
    table(round, &places, width)
}

fn table(round: &ClientRound, places: &[usize], width: u16) -> String {
    let mut text = String::new();
    let shown: Vec<&Attempt> = match places {
        [] => round.attempts.iter().take(MOST).collect(),
        places => places
            .iter()
            .filter_map(|place| round.attempts.get(*place))
            .take(MOST)
            .collect(),
    };
    let mut table = bare(width);
    table.set_header(["run", "began", "request", "key", "body", "what was done"]);
    for attempt in &shown {
        let began = round.run(&attempt.run).map(|run| run.began);
        table.add_row(row(attempt, began.unwrap_or_default()));
    }
    if !shown.is_empty() {
        let _ = writeln!(text, "{}", table.trim_fmt());
    }
    let all = places.len().max(shown.len());
    if all > shown.len() {
        let _ = writeln!(text, "   and {} more attempts", all - shown.len());
    }
    for run in &round.runs {
        let _ = writeln!(text, "   {}: {}", line(&run.name), ended(&run.end));
    }
    text
}

fn row(attempt: &Attempt, start: Duration) -> Vec<Cell> {
    let (request, key, body) = match &attempt.request {
        Some(request) => (
            format!("{} {}", request.method, request.target),
            request.key.clone().unwrap_or_else(|| "none".to_owned()),
            format!("{} bytes, {}", request.body_bytes, &request.body_digest),
        ),
        None => ("not read".to_owned(), String::new(), String::new()),
    };
    let done = match (attempt.status, &attempt.trouble) {
        (_, Some(trouble)) => format!("{}: {trouble}", attempt.fault),
        (Some(status), None) => format!("{}: {status}", attempt.fault),
        (None, None) => attempt.fault.to_string(),
    };
    vec![
        Cell::new(shorten(&attempt.run, 30)),
        Cell::new(millis(attempt.began, start)),
        Cell::new(clip(&request, 60)),
        Cell::new(clip(&key, 60)),
        Cell::new(body),
        Cell::new(clip(&done, 100)),
    ]
}

/// How a run of the command ended.
fn ended(end: &RunEnd) -> String {
    match end {
        RunEnd::Exited(code) => format!("the command ended with {code}"),
        RunEnd::Signalled => "the command was ended by somebody else".to_owned(),
        RunEnd::Killed => "the command was ended, as the scenario says".to_owned(),
        RunEnd::TimedOut => "the command was ended when its time was over".to_owned(),
        RunEnd::Endless => "the command was ended as it did not stop sending".to_owned(),
        RunEnd::NotStarted(why) => format!("the command could not be run: {}", line(why)),
        RunEnd::Watched => "watching ended before it had".to_owned(),
        RunEnd::Quiet => "nothing more came of it".to_owned(),
    }
}
