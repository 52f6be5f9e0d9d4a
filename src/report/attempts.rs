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
    table(round, &places, MOST, width)
}

/// Every round, with all its attempts.
pub(super) fn all(client: &ClientTranscript, width: u16) -> String {
    let mut text = String::new();
    for round in &client.rounds {
        let places: Vec<usize> = (0..round.attempts.len()).collect();
        let _ = writeln!(text, "round {}:", round.number);
        text.push_str(&table(round, &places, places.len(), width));
    }
    text
}

/// The attempts of a round by their operations, as far as these can be told by their names; by
/// their places, in the order of their arrival.
pub(super) fn lanes(round: &ClientRound) -> Vec<Vec<usize>> {
    let mut lanes: Vec<(&str, Option<&str>, Vec<usize>)> = Vec::new();
    for (place, attempt) in round.attempts.iter().enumerate() {
        let request = attempt.request.as_ref();
        let name = request.and_then(|request| request.marker.as_deref());
        let own = lanes
            .iter_mut()
            .rev()
            .find(|(run, known, _)| *run == attempt.run && (*known == name || request.is_none()));
        match own {
            Some((_, _, places)) => places.push(place),
            None => lanes.push((&attempt.run, name, vec![place])),
        }
    }
    lanes.into_iter().map(|(_, _, places)| places).collect()
}

fn table(round: &ClientRound, places: &[usize], most: usize, width: u16) -> String {
    let mut text = String::new();
    let shown: Vec<&Attempt> = match places {
        [] => round.attempts.iter().take(most).collect(),
        places => places
            .iter()
            .filter_map(|place| round.attempts.get(*place))
            .take(most)
            .collect(),
    };
    let mut table = bare(width);
    table.set_header([
        "run",
        "began",
        "after",
        "request",
        "key",
        "body",
        "what was done",
    ]);
    let lanes = lanes(round);
    for attempt in &shown {
        let began = round.run(&attempt.run).map(|run| run.began);
        let before = lanes.iter().find_map(|lane| {
            let mut two = lane.windows(2);
            let two = two.find(|two| std::ptr::eq(&raw const round.attempts[two[1]], *attempt))?;
            Some(round.attempts[two[0]].ended)
        });
        table.add_row(row(attempt, began.unwrap_or_default(), before));
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

/// An attempt in words.
pub(super) struct Words {
    pub(super) request: String,
    pub(super) key: String,
    pub(super) body: String,
    /// What was done to it.
    pub(super) done: String,
}

/// An attempt in words.
pub(super) fn words(attempt: &Attempt) -> Words {
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
    Words {
        request,
        key,
        body,
        done,
    }
}

/// `before` is the end of the attempt before it, if there was one.
fn row(attempt: &Attempt, start: Duration, before: Option<Duration>) -> Vec<Cell> {
    let words = words(attempt);
    let pause = before.map_or_else(String::new, |before| millis(attempt.began, before));
    vec![
        Cell::new(shorten(&attempt.run, 30)),
        Cell::new(millis(attempt.began, start)),
        Cell::new(pause),
        Cell::new(clip(&words.request, 60)),
        Cell::new(clip(&words.key, 60)),
        Cell::new(words.body),
        Cell::new(clip(&words.done, 100)),
    ]
}

/// How a run of the command ended.
pub(super) fn ended(end: &RunEnd) -> String {
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
