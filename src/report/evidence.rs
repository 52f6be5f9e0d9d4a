//! The round in which a finding can be seen, as tables and lines that the reports for people
//! share.

use super::attempts;
use super::clean::{clip, line, shorten};
use crate::grade::CaseReport;
use crate::judge::Finding;
use crate::scenario::PrincipalRole;
use crate::transcript::{EventDelivery, Exchange, Reading, ReadingKind, Response, Round, Shown};
use comfy_table::{Cell, ContentArrangement, LineStyle, Table, TableStyle, presets};
use std::fmt::Write;
use std::time::Duration;

/// Exchanges that are shown unless all are wanted.
const MOST_EXCHANGES: usize = 12;
/// Exchanges whose request and response are written out.
const MOST_IN_FULL: usize = 4;
/// Characters that are shown of one body.
const MOST_BODY: usize = 1_000;
/// Ids of effects that are shown of one reading.
const MOST_IDS: usize = 6;

/// A line above, below and under the header; rows stand close together.
const LINES: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// The round that shows the finding: its first failed one, else the first that it points to.
pub(super) fn round<'a>(case: &'a CaseReport, finding: &Finding) -> Option<&'a Round> {
    let number = finding
        .rounds
        .first_failed
        .or_else(|| finding.evidence.first().map(|evidence| evidence.round))?;
    case.transcript
        .rounds
        .iter()
        .find(|round| round.number == number)
}

/// The rounds that show the finding: the one above, and the same one in other places.
pub(super) fn rounds<'a>(case: &'a CaseReport, finding: &Finding) -> Vec<&'a Round> {
    let Some(first) = round(case, finding) else {
        return Vec::new();
    };
    let elsewhere = |other: &&Round| {
        let is_same = match (&first.vantage, &other.vantage) {
            (Some(own), Some(other)) => own.same == other.same,
            _ => false,
        };
        is_same && other.number != first.number && !pointed_at(other, finding).is_empty()
    };
    let others = case.transcript.rounds.iter().filter(elsewhere);
    std::iter::once(first).chain(others).collect()
}

/// `round 3`, with the place where there are several.
pub(super) fn title(case: &CaseReport, round: &Round) -> String {
    match case.transcript.place_of(round) {
        Some(place) => format!("round {}, place {place}", round.number),
        None => format!("round {}", round.number),
    }
}

/// The evidence of a finding as plain text: the tables, then requests and responses in full.
pub(super) fn text(case: &CaseReport, finding: &Finding, width: u16) -> String {
    if let Some(client) = &case.client {
        return attempts::text(client, finding, width);
    }
    let rounds = rounds(case, finding);
    let mut text = String::new();
    for round in &rounds {
        if rounds.len() > 1 {
            let _ = writeln!(text, "{}:", title(case, round));
        }
        text.push_str(&of_round(round, finding, width));
    }
    text
}

fn of_round(round: &Round, finding: &Finding, width: u16) -> String {
    let mut text = tables(round, &pointed_at(round, finding), false, width);
    let full = pointed_at(round, finding);
    for index in full.iter().take(MOST_IN_FULL) {
        if let Some(exchange) = round.exchanges.get(*index) {
            text.push('\n');
            in_full(exchange, &mut text);
        }
    }
    if full.len() > MOST_IN_FULL {
        let _ = writeln!(
            text,
            "\n{} more in the JSON report",
            full.len() - MOST_IN_FULL
        );
    }
    text
}

/// The places in the round that the finding points to, each once.
pub(super) fn pointed_at(round: &Round, finding: &Finding) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    for evidence in &finding.evidence {
        if evidence.round == round.number && !places.contains(&evidence.exchange) {
            places.push(evidence.exchange);
        }
    }
    places
}

/// The exchanges and the readings of a round; those that `marked` names bear a sign and are never
/// left out for others.
pub(super) fn tables(round: &Round, marked: &[usize], all: bool, width: u16) -> String {
    let start = start(round);
    let mut text = String::new();
    let most = if all { usize::MAX } else { MOST_EXCHANGES };
    let shown = chosen(round.exchanges.len(), marked, most);
    let mut table = bare(width);
    table.set_header([
        "", "step", "copy", "who", "key", "sent", "ended", "answer", "meaning",
    ]);
    for index in &shown {
        let mark = if marked.contains(index) { "→" } else { "" };
        table.add_row(exchange_row(&round.exchanges[*index], mark, start));
    }
    if !shown.is_empty() {
        let _ = writeln!(text, "{}", table.trim_fmt());
    }
    let left_out = round.exchanges.len() - shown.len();
    if left_out > 0 {
        let _ = writeln!(text, "   and {left_out} more requests");
    }
    let readings: Vec<&Reading> = round
        .readings
        .iter()
        .filter(|reading| all || reading.kind != ReadingKind::Poll)
        .collect();
    if !readings.is_empty() {
        let mut table = bare(width);
        table.set_header(["", "reading", "probe", "of", "at", "shows"]);
        for reading in readings {
            table.add_row(reading_row(reading, start));
        }
        let _ = writeln!(text, "{}", table.trim_fmt());
    }
    if !round.deliveries.is_empty() {
        let mut table = bare(width);
        table.set_header(["", "delivery", "of", "event", "at", "received"]);
        let shown = if all { usize::MAX } else { MOST_EXCHANGES };
        for (number, delivery) in round.deliveries.iter().take(shown).enumerate() {
            table.add_row(delivery_row(number + 1, delivery, start));
        }
        let _ = writeln!(text, "{}", table.trim_fmt());
    }
    for broken in &round.broken {
        let _ = writeln!(text, "   {}", line(broken));
    }
    text
}

/// Whose effects a reading counts, in so many characters, and who read it if that was not the owner.
pub(super) fn read_of(reading: &Reading, most: usize) -> String {
    let marker = shorten(&reading.marker_name, most);
    match reading.principal {
        PrincipalRole::Owner => marker,
        other => format!("{marker} as {} sees it", other.name()),
    }
}

/// Which exchanges are shown, `most` at the most: all, or the marked ones and as many of the others as there is room
/// for, in the order of sending.
pub(super) fn chosen(count: usize, marked: &[usize], most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let mut shown: Vec<usize> = marked
        .iter()
        .copied()
        .filter(|index| *index < count)
        .take(most)
        .collect();
    for index in 0..count {
        if shown.len() == most {
            break;
        }
        if !shown.contains(&index) {
            shown.push(index);
        }
    }
    shown.sort_unstable();
    shown
}

fn exchange_row(exchange: &Exchange, mark: &str, start: Duration) -> Vec<Cell> {
    let key = match &exchange.key.value {
        Some(key) => clip(key, 60),
        None => "none".to_owned(),
    };
    let copy = if exchange.attempt > 0 {
        format!("{} attempt {}", exchange.copy, exchange.attempt + 1)
    } else {
        exchange.copy.to_string()
    };
    let sent = exchange
        .times
        .sent
        .map_or_else(|| "not sent".to_owned(), |sent| millis(sent, start));
    vec![
        Cell::new(mark),
        Cell::new(shorten(&exchange.step, 40)),
        Cell::new(copy),
        Cell::new(exchange.principal.name()),
        Cell::new(key),
        Cell::new(sent),
        Cell::new(millis(exchange.times.ended, start)),
        Cell::new(answer(exchange)),
        Cell::new(exchange.outcome),
    ]
}

/// The status, or the ending of a request without an answer.
pub(super) fn answer(exchange: &Exchange) -> String {
    let mut text = match &exchange.response {
        Some(response) => response.status.to_string(),
        None => clip(&exchange.ending.says(), 80),
    };
    if let Some(fault) = &exchange.fault {
        let fired = if fault.fired { "" } else { ", did not fire" };
        let _ = write!(text, " (fault {}{fired})", shorten(&fault.name, 40));
    }
    if let Some(late) = &exchange.late {
        let _ = write!(text, ", late {}", late.status);
    }
    text
}

fn reading_row(reading: &Reading, start: Duration) -> Vec<Cell> {
    vec![
        Cell::new(""),
        Cell::new(kind(&reading.kind)),
        Cell::new(shorten(&reading.probe, 40)),
        Cell::new(read_of(reading, 40)),
        Cell::new(millis(reading.at, start)),
        Cell::new(shows(&reading.shows)),
    ]
}

fn delivery_row(number: usize, delivery: &EventDelivery, start: Duration) -> Vec<Cell> {
    vec![
        Cell::new(""),
        Cell::new(number),
        Cell::new(shorten(&delivery.marker_name, 40)),
        Cell::new(shorten(
            delivery.event.as_deref().unwrap_or("without an id"),
            60,
        )),
        Cell::new(millis(delivery.at, start)),
        Cell::new(delivery.received.name()),
    ]
}

/// Which reading it is, in a word.
pub(super) fn kind(kind: &ReadingKind) -> String {
    let name = match kind {
        ReadingKind::Before => "before",
        ReadingKind::Early => "early",
        ReadingKind::Poll => "poll",
        ReadingKind::Named(name) => name,
        ReadingKind::Late => "late",
    };
    shorten(name, 40)
}

/// What a probe showed, in words.
pub(super) fn shows(shown: &Result<Shown, String>) -> String {
    match shown {
        Ok(Shown::Ids(ids)) if ids.is_empty() => "no effect".to_owned(),
        Ok(Shown::Ids(ids)) => {
            let names: Vec<String> = ids
                .iter()
                .take(MOST_IDS)
                .map(|id| shorten(id, 60))
                .collect();
            let more = if ids.len() > MOST_IDS { ", …" } else { "" };
            format!(
                "{}: {}{more}",
                plural(ids.len(), "effect"),
                names.join(", ")
            )
        }
        Ok(Shown::Count(count)) => format!("counts {count}"),
        Ok(Shown::State(state)) => clip(&state.to_string(), 200),
        Err(why) => format!("no reading: {}", clip(why, 200)),
    }
}

/// `1 effect`, `2 effects`.
pub fn plural(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

fn in_full(exchange: &Exchange, text: &mut String) {
    let request = &exchange.request;
    let _ = writeln!(
        text,
        "{} (copy {}): {} {}",
        line(&exchange.step),
        exchange.copy,
        line(&request.method),
        clip(&request.url, MOST_BODY)
    );
    headers(&request.headers, text);
    if let Some(body) = &request.body {
        let _ = writeln!(text, "    {}", clip(body, MOST_BODY));
    }
    match &exchange.response {
        Some(response) => response_in_full(response, text),
        None => {
            let _ = writeln!(text, "  {}", clip(&exchange.ending.says(), MOST_BODY));
        }
    }
}

fn response_in_full(response: &Response, text: &mut String) {
    let _ = writeln!(text, "  {}", response.status);
    headers(&response.headers, text);
    if !response.body.is_empty() {
        let _ = writeln!(text, "    {}", clip(&response.body, MOST_BODY));
    }
}

fn headers(headers: &[(String, String)], text: &mut String) {
    for (name, value) in headers {
        let _ = writeln!(text, "    {}: {}", shorten(name, 100), clip(value, 300));
    }
}

/// When the round began: the first byte of its first request.
pub(super) fn start(round: &Round) -> Duration {
    round
        .exchanges
        .iter()
        .map(|exchange| {
            let times = &exchange.times;
            times.released.or(times.sent).unwrap_or(times.ended)
        })
        .min()
        .unwrap_or_default()
}

/// From the start of the round.
pub(super) fn millis(time: Duration, start: Duration) -> String {
    if time >= start {
        format!("{:.1} ms", (time - start).as_secs_f64() * 1000.0)
    } else {
        format!("-{:.1} ms", (start - time).as_secs_f64() * 1000.0)
    }
}

pub(super) fn bare(width: u16) -> Table {
    let mut table = plain_table(width);
    table.load_style(presets::NOTHING);
    table
}

/// A table whose look does not depend on the terminal that the tool runs in.
pub(super) fn plain_table(width: u16) -> Table {
    let mut table = Table::new();
    table
        .load_style(LINES)
        .force_no_tty()
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    table
}
