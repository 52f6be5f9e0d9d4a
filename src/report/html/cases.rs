//! The cases: what is broken in full, everything else in a line that unfolds.

use super::attempts;
use super::exchange::{self, Most};
use super::{Page, badge, mark};
use crate::grade::{CaseReport, Report};
use crate::judge::Finding;
use crate::report::again;
use crate::report::clean::line;
use crate::report::entry::{Entry, Standing, entries};
use crate::report::evidence::{self, chosen, plural, pointed_at};
use crate::report::gravity::{Broken, inconclusive};
use crate::transcript::Round;
use crate::transcript::client::ClientTranscript;
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Cards whose timelines are open from the start.
const OPEN: usize = 8;
/// Rounds of a client that are shown of one case.
const MOST_ROUNDS: usize = 3;
/// Names under one reason.
const MOST_NAMES: usize = 12;

/// How much is shown of a case that is broken.
const BROKEN: Most = Most {
    exchanges: 14,
    body: 4_000,
};
/// How much is shown of the others.
const OTHERS: Most = Most {
    exchanges: 3,
    body: 600,
};

/// A card for each case in which something is broken.
pub(super) fn broken(report: &Report, cases: &[Broken<'_>], page: &mut Page) -> Markup {
    let cards: Vec<Markup> = cases
        .iter()
        .enumerate()
        .map(|(place, broken)| card(report, broken, place < OPEN, page))
        .collect();
    html! {
        section id="broken" aria-labelledby="broken-title" {
            h2 id="broken-title" { "What is broken" }
            @if cards.is_empty() {
                p class="none" { "Nothing that was shown is broken." }
            } @else {
                (super::timeline::legend())
            }
            @for card in &cards { (card) }
        }
    }
}

fn card(report: &Report, broken: &Broken<'_>, open: bool, page: &mut Page) -> Markup {
    let case = broken.case;
    let (standing, _) = broken.gravity();
    let rounds = broken.rounds();
    let shown: Vec<Markup> = rounds
        .iter()
        .filter_map(|(number, marked)| {
            let round = round_of(case, *number)?;
            page.afford(|| evidence(broken.index, case, round, marked, BROKEN))
        })
        .collect();
    let mut explained = Vec::new();
    html! {
        article class={ "card " (class(standing)) } id={ "c" (broken.index) }
            data-verdicts=(verdicts(&entries(case))) data-items=(items(&entries(case))) {
            h3 { (badge(broken.word(), class(standing))) " " (line(&case.title)) }
            p class="name" { (line(&case.name())) }
            ul class="findings" {
                @for (place, entry) in broken.entries.iter().enumerate() {
                    @if let Some(finding) = entry.finding {
                        (sentence(broken.index, place, case, finding, entry.standing))
                        @if !explained.contains(&finding.item) {
                            ({ explained.push(finding.item); PreEscaped("") })
                            li class="why" { b { "Why it matters: " } (finding.item.item().why) }
                        }
                    }
                }
            }
            @for command in again::commands(report, case, broken.findings()) {
                p class="again" { span { "See it again" } code { (options(&command)) } }
            }
            @if let Some(client) = &case.client {
                (of_client(client, broken, page))
            } @else if !shown.is_empty() {
                @if open {
                    @for evidence in &shown { (evidence) }
                } @else {
                    details class="more" {
                        summary { "Timeline and exchanges" }
                        @for evidence in &shown { (evidence) }
                    }
                }
            } @else if !rounds.is_empty() {
                p class="cut-off" { "The exchanges are left out here: the JSON report has them." }
            }
        }
    }
}

/// A command whose options stay whole where its line is broken.
fn options(command: &str) -> Markup {
    html! {
        @for (place, part) in command.split(" --").enumerate() {
            @if place > 0 { " " span { "--" (part) } } @else { span { (part) } }
        }
    }
}

fn sentence(
    index: usize,
    place: usize,
    case: &CaseReport,
    finding: &Finding,
    standing: Standing,
) -> Markup {
    let round = evidence::round(case, finding);
    html! {
        li id={ "c" (index) "-f" (place) } data-verdicts=(standing.name()) data-items=(finding.item) {
            (mark(standing)) " "
            span class="says" { (line(&finding.reason)) }
            " " span class="bears" {
                a href={ "#" (finding.item) } { "item " (finding.item.number()) } ", " (line(&finding.id))
                @if let Some(round) = round {
                    @let pointed = pointed_at(round, finding);
                    @if !pointed.is_empty() { "; see " }
                    @for (at, exchange) in pointed.iter().take(4).enumerate() {
                        @if at > 0 { ", " }
                        @if let Some(own) = round.exchanges.get(*exchange) {
                            a href={ "#" (exchange::id(index, round.number, *exchange)) } { (line(&own.step)) }
                        }
                    }
                }
            }
        }
    }
}

/// What a client sent in the rounds that findings point to.
fn of_client(client: &ClientTranscript, broken: &Broken<'_>, page: &mut Page) -> Markup {
    let mut rounds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for evidence in broken.findings().flat_map(|finding| &finding.evidence) {
        let marked = rounds.entry(evidence.round).or_default();
        marked.push(evidence.exchange);
    }
    let shown = client
        .rounds
        .iter()
        .filter_map(|round| Some((round, rounds.get(&round.number)?)))
        .take(MOST_ROUNDS);
    let shown: Vec<Markup> = shown
        .filter_map(|(round, marked)| {
            page.afford(|| attempts::evidence(round, client.rounds.len(), marked, BROKEN))
        })
        .collect();
    html! { @for evidence in &shown { (evidence) } }
}

/// A round as a picture, and its exchanges folded.
fn evidence(
    index: usize,
    case: &CaseReport,
    round: &Round,
    marked: &[usize],
    most: Most,
) -> Markup {
    let chosen = chosen(round.exchanges.len(), marked, most.exchanges);
    let left_out = round.exchanges.len() - chosen.len();
    html! {
        div class="evidence" {
            @if case.transcript.rounds.len() > 1 {
                p class="round" {
                    "Round " (round.number) " of " (case.transcript.rounds.len())
                    @if let Some(place) = case.transcript.place_of(round) { ", place " (place) }
                }
            }
            (super::timeline::draw(round, marked))
            @for broken in &round.broken { p class="fault" { (line(broken)) } }
            details class="more" {
                summary {
                    (plural(round.exchanges.len(), "exchange"))
                    @if left_out > 0 { ", " (chosen.len()) " of them here" }
                }
                (exchange::list(index, round, &chosen, marked, most))
                @if left_out > 0 { p class="cut-off" { (left_out) " more in the JSON report" } }
                (readings(round))
            }
        }
    }
}

fn readings(round: &Round) -> Markup {
    let start = evidence::start(round);
    html! {
        @if !round.deliveries.is_empty() {
            ul class="readings" {
                @for delivery in round.deliveries.iter().take(12) {
                    li {
                        span class="when" { (evidence::millis(delivery.at, start)) } " "
                        "event " b { (line(delivery.event.as_deref().unwrap_or("without an id"))) }
                        " for " (line(&delivery.marker_name)) ", answered: " (delivery.received.name())
                    }
                }
                @if round.deliveries.len() > 12 { li class="cut-off" { "and " (round.deliveries.len() - 12) " more events" } }
            }
        }
        @if !round.readings.is_empty() {
            ul class="readings" {
                @for reading in round.readings.iter().rev().take(12).rev() {
                    li {
                        span class="when" { (evidence::millis(reading.at, start)) } " "
                        (evidence::kind(&reading.kind)) " reading of " b { (line(&reading.probe)) }
                        " for " (evidence::read_of(reading, 40)) ": " (evidence::shows(&reading.shows))
                    }
                }
            }
        }
    }
}

/// Why some checks show nothing.
pub(super) fn nothing_shown(report: &Report) -> Markup {
    let reasons = inconclusive(report);
    html! {
        @if !reasons.is_empty() {
            section id="inconclusive" aria-labelledby="inconclusive-title" {
                h2 id="inconclusive-title" { "What could not be shown" }
                ul class="reasons" {
                    @for (why, names) in reasons.iter().take(100) {
                        li {
                            (mark(Standing::Inconclusive)) " " (line(why))
                            details { summary { (plural(names.len(), "check")) }
                                ul { @for name in names.iter().take(MOST_NAMES) { li { code { (line(name)) } } } }
                                @if names.len() > MOST_NAMES { p class="cut-off" { "and " (names.len() - MOST_NAMES) " more" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Every case: a line each, under its operation.
pub(super) fn all(report: &Report, broken: &[Broken<'_>], page: &mut Page) -> Markup {
    let mut in_full = vec![false; report.scenarios.len()];
    for case in broken {
        in_full[case.index] = true;
    }
    let mut operations: Vec<(&str, Vec<Markup>)> = Vec::new();
    for (index, case) in report.scenarios.iter().enumerate() {
        let row = row(index, case, in_full[index], page);
        match operations.last_mut() {
            Some((operation, rows)) if *operation == case.operation => rows.push(row),
            _ => operations.push((&case.operation, vec![row])),
        }
    }
    html! {
        section id="checks" aria-labelledby="checks-title" {
            h2 id="checks-title" { "All checks" }
            @for (operation, rows) in &operations {
                h3 class="operation" { (line(operation)) " " span class="number" { (plural(rows.len(), "case")) } }
                ul class="cases" { @for row in rows { (row) } }
            }
        }
    }
}

fn row(index: usize, case: &CaseReport, in_full: bool, page: &mut Page) -> Markup {
    let entries = entries(case);
    let worst = entries
        .iter()
        .map(|entry| entry.standing)
        .max()
        .unwrap_or(Standing::Skip);
    let id = case.case.as_ref().map_or_else(
        || line(&case.scenario).into_owned(),
        |name| format!("{}#{}", line(&case.scenario), line(name)),
    );
    let head = html! {
        (mark(worst)) " " span class="id" { (id) } " " span class="title" { (line(&case.title)) }
    };
    html! {
        li data-verdicts=(verdicts(&entries)) data-items=(items(&entries)) {
            @if in_full {
                a class="head" href={ "#c" (index) } { (head) }
            } @else if let Some(why) = &case.skipped {
                details id={ "c" (index) } { summary { (head) } p { (line(why)) } }
            } @else {
                details id={ "c" (index) } {
                    summary { (head) }
                    ul class="findings" {
                        @for entry in &entries { (finding_line(entry)) }
                    }
                    @if let Some(round) = case.client.as_ref().and_then(|client| client.rounds.first()) {
                        @if let Some(shown) = page.afford(|| attempts::evidence(round, 1, &[], BROKEN)) { (shown) }
                    } @else if let Some((round, marked)) = shown_round(case) {
                        @match page.afford(|| evidence(index, case, round, &marked, OTHERS)) {
                            Some(evidence) => (evidence),
                            None => p class="cut-off" { "The exchanges are left out here: the JSON report has them." },
                        }
                    }
                }
            }
        }
    }
}

fn finding_line(entry: &Entry<'_>) -> Markup {
    html! {
        li data-verdicts=(entry.standing.name()) {
            (mark(entry.standing)) " "
            @if let Some(finding) = entry.finding {
                span class="bears" { a href={ "#" (finding.item) } { "item " (finding.item.number()) } ", " (line(&finding.id)) ": " }
            }
            (line(entry.reason()))
        }
    }
}

/// The round that is shown of a case in which nothing is broken.
fn shown_round(case: &CaseReport) -> Option<(&Round, Vec<usize>)> {
    let pointed = case.findings.iter().find_map(|finding| {
        let round = evidence::round(case, finding)?;
        Some((round, pointed_at(round, finding)))
    });
    pointed.or_else(|| {
        case.transcript
            .rounds
            .first()
            .map(|round| (round, Vec::new()))
    })
}

fn round_of(case: &CaseReport, number: u32) -> Option<&Round> {
    case.transcript
        .rounds
        .iter()
        .find(|round| round.number == number)
}

/// The verdicts of the entries, each once, for the filter.
fn verdicts(entries: &[Entry<'_>]) -> String {
    once(entries.iter().map(|entry| entry.standing.name().to_owned()))
}

/// The items of the entries, each once, for the filter.
fn items(entries: &[Entry<'_>]) -> String {
    once(
        entries
            .iter()
            .filter_map(|entry| entry.finding)
            .map(|finding| finding.item.to_string()),
    )
}

fn once(words: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = words.collect();
    all.sort_unstable();
    all.dedup();
    all.join(" ")
}

fn class(standing: Standing) -> &'static str {
    super::class(standing)
}
