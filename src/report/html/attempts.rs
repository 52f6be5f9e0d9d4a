//! What a client sent, as pictures: a line for each operation, a bar for each attempt in the colour
//! of what befell it, and the pauses between them.

use super::exchange::Most;
use crate::report::attempts::{ended, lanes, words};
use crate::report::clean::{clip, line};
use crate::report::evidence::{millis, plural};
use crate::scenario::client::{ClientFault, Says};
use crate::transcript::client::{Attempt, ClientRound};
use maud::{Markup, html};
use std::time::Duration;

/// The least percent that a bar takes.
const THINNEST: f64 = 0.8;
/// Percent between two bars from which on their pause has room for its words.
const ROOM: f64 = 9.0;
/// Lanes of one picture.
const MOST_LANES: usize = 12;

/// A round: its operations as lines, and its attempts folded. `marked` are those that findings point
/// to, by their places.
pub(super) fn evidence(round: &ClientRound, rounds: usize, marked: &[usize], most: Most) -> Markup {
    let lanes = lanes(round);
    html! {
        div class="evidence" {
            @if rounds > 1 {
                p class="round" { "Round " (round.number) " of " (rounds) }
            }
            @for lane in lanes.iter().take(MOST_LANES) { (draw(round, lane, marked)) }
            @if lanes.len() > MOST_LANES {
                p class="cut-off" { (plural(lanes.len() - MOST_LANES, "more operation")) }
            }
            details class="more" {
                summary { (plural(round.attempts.len(), "attempt")) }
                (table(round, &lanes, most))
            }
            ul class="readings" {
                @for run in &round.runs { li { b { (line(&run.name)) } ": " (ended(&run.end)) } }
            }
        }
    }
}

/// One operation.
fn draw(round: &ClientRound, lane: &[usize], marked: &[usize]) -> Markup {
    let attempts: Vec<&Attempt> = lane.iter().map(|place| &round.attempts[*place]).collect();
    let (Some(first), Some(last)) = (attempts.first(), attempts.last()) else {
        return html! {};
    };
    let whole = last.ended.max(last.began).saturating_sub(first.began);
    let percent = |time: Duration| match whole.is_zero() {
        true => 0.0,
        false => time.as_secs_f64() / whole.as_secs_f64() * (100.0 - THINNEST),
    };
    let at = |time: Duration| percent(time.saturating_sub(first.began));
    let is_marked = lane.iter().any(|place| marked.contains(place));
    let label = format!(
        "{}: {}",
        line(&first.run),
        plural(attempts.len(), "attempt")
    );
    html! {
        svg class="timeline" role="img" width="100%" height="44" {
            title { (label) " in " (short(whole)) }
            text class=(if is_marked { "label marked" } else { "label" }) x="0" y="11" { (label) }
            @for attempt in &attempts {
                rect class={ "bar " (colour(attempt)) } x=(pc(at(attempt.began))) y="18" height="8"
                    width=(pc(percent(attempt.ended.saturating_sub(attempt.began)).max(THINNEST))) {
                    title { (line(&words(attempt).done)) }
                }
            }
            @for two in attempts.windows(2) {
                @let pause = two[1].began.saturating_sub(two[0].ended);
                @let (from, to) = (at(two[0].ended), at(two[1].began));
                @if to - from > ROOM {
                    text class="time" text-anchor="middle" x=(pc(f64::midpoint(from, to))) y="26" { (short(pause)) }
                }
            }
            line class="axis" x1="0%" x2="100%" y1="32" y2="32" {}
        }
    }
}

/// The attempts in words.
fn table(round: &ClientRound, lanes: &[Vec<usize>], most: Most) -> Markup {
    let mut left = most.exchanges;
    html! {
        table {
            thead { tr { th { "run" } th { "began" } th { "after" } th { "request" } th { "key" } th { "body" } th { "what was done" } } }
            tbody {
                @for lane in lanes {
                    @let start = round.run(&round.attempts[lane[0]].run).map(|run| run.began).unwrap_or_default();
                    @for (index, place) in lane.iter().enumerate() {
                        @if let Some(rest) = left.checked_sub(1) {
                            ({ left = rest; html! {} })
                            @let attempt = &round.attempts[*place];
                            @let said = words(attempt);
                            tr {
                                th scope="row" data-head="run" { (line(&attempt.run)) }
                                td data-head="began" { (millis(attempt.began, start)) }
                                td data-head="after" {
                                    @if let Some(before) = index.checked_sub(1) {
                                        (short(attempt.began.saturating_sub(round.attempts[lane[before]].ended)))
                                    }
                                }
                                td data-head="request" { (clip(&said.request, 200)) }
                                td data-head="key" { code { (clip(&said.key, 200)) } }
                                td data-head="body" { (said.body) }
                                td data-head="what was done" { (clip(&said.done, 300)) }
                            }
                        }
                    }
                }
            }
        }
        @if round.attempts.len() > most.exchanges {
            p class="cut-off" { (round.attempts.len() - most.exchanges) " more in the JSON report" }
        }
    }
}

/// The colour of what befell an attempt, as in the timelines of requests.
fn colour(attempt: &Attempt) -> &'static str {
    match attempt.fault {
        ClientFault::Refuse | ClientFault::Drop { .. } | ClientFault::Slow => "silent",
        ClientFault::Answer {
            says: Says::InProgress,
            ..
        } => "wait",
        ClientFault::Pass | ClientFault::Answer { .. } => match attempt.status {
            None => "silent",
            Some(429) => "wait",
            Some(500..) => "error",
            Some(400..=499) => "refused",
            Some(_) => "done",
        },
    }
}

fn short(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..10_000 => format!("{millis} ms"),
        millis => format!("{:.1} s", millis as f64 / 1000.0),
    }
}

fn pc(percent: f64) -> String {
    format!("{percent:.2}%")
}
