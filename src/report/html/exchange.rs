//! Requests with their answers, folded: what was sent, what came, in full up to a sensible length.

use crate::report::clean::{clip, line, shorten};
use crate::report::evidence::{answer, millis, start};
use crate::transcript::{Exchange, Response, Round};
use maud::{Markup, html};
use std::time::Duration;

/// How much of requests and answers is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// Exchanges.
    pub(super) exchanges: usize,
    /// Characters of a body.
    pub(super) body: usize,
}

/// The id that evidence is linked by.
pub(super) fn id(case: usize, round: u32, exchange: usize) -> String {
    format!("c{case}-r{round}-x{exchange}")
}

/// The chosen exchanges of a round, each folded; those that findings point to bear a mark.
pub(super) fn list(
    case: usize,
    round: &Round,
    chosen: &[usize],
    marked: &[usize],
    most: Most,
) -> Markup {
    let start = start(round);
    html! {
        ol class="exchanges" {
            @for index in chosen {
                @if let Some(exchange) = round.exchanges.get(*index) {
                    li {
                        details id=(id(case, round.number, *index)) class=[marked.contains(index).then_some("marked")] {
                            summary { (summary(exchange, start)) }
                            (request(exchange, most))
                            (answered(exchange, most))
                        }
                    }
                }
            }
        }
    }
}

fn summary(exchange: &Exchange, start: Duration) -> Markup {
    let sent = exchange.times.released.or(exchange.times.sent);
    html! {
        span class="step" {
            (shorten(&exchange.step, 40))
            @if exchange.copy > 0 { " " (exchange.copy + 1) }
            @if exchange.attempt > 0 { ", attempt " (exchange.attempt + 1) }
        }
        " " span class="who" { (exchange.principal.name()) }
        " " strong { (answer(exchange)) }
        " " span class="meaning" { (exchange.outcome) }
        " " span class="when" {
            @match sent { Some(sent) => { (millis(sent, start)) " – " }, None => "not sent, " }
            (millis(exchange.times.ended, start))
        }
    }
}

fn request(exchange: &Exchange, most: Most) -> Markup {
    let request = &exchange.request;
    html! {
        pre tabindex="0" {
            b { (line(&request.method)) " " (clip(&request.url, most.body)) } "\n"
            (headers(&request.headers))
            @if let Some(body) = &request.body { "\n" (text(body, None, most.body)) }
        }
        @for form in exchange.forms.iter().chain(&exchange.variants) {
            span class="tag" { (shorten(form, 60)) }
        }
        @if let Some(fault) = &exchange.fault {
            p class="fault" {
                "fault " b { (shorten(&fault.name, 60)) }
                @if fault.fired { ": " } @else { ", did not fire: " }
                (clip(&fault.says, 300))
            }
        }
    }
}

fn answered(exchange: &Exchange, most: Most) -> Markup {
    html! {
        @match &exchange.response {
            Some(response) => (answer_in_full(response, most)),
            None => p class="fault" { (clip(&exchange.ending.says(), 600)) },
        }
        @if let Some(late) = &exchange.late {
            p { "Later, when nobody waited any more:" }
            (answer_in_full(late, most))
        }
    }
}

fn answer_in_full(response: &Response, most: Most) -> Markup {
    html! {
        pre tabindex="0" {
            b { (response.status) } "\n"
            (headers(&response.headers))
            @if !response.body.is_empty() {
                "\n" (text(&response.body, Some(response.body_length), most.body))
            }
        }
    }
}

fn headers(headers: &[(String, String)]) -> Markup {
    html! {
        @for (name, value) in headers {
            span class="header" { (shorten(name, 100)) ": " } (clip(value, 300)) "\n"
        }
    }
}

/// A body as it is laid out, JSON on several lines; `whole` is its length where the text was cut.
fn text(body: &str, whole: Option<usize>, most: usize) -> String {
    let is_short = body.len() <= most;
    let pretty = is_short
        .then(|| serde_json::from_str::<serde_json::Value>(body).ok())
        .flatten()
        .filter(|value| value.is_object() || value.is_array())
        .and_then(|value| serde_json::to_string_pretty(&value).ok());
    let laid_out = pretty.as_deref().unwrap_or(body);
    let end = laid_out
        .char_indices()
        .nth(most * 2)
        .map_or(laid_out.len(), |(end, _)| end);
    let lines: Vec<_> = laid_out[..end].lines().map(line).collect();
    let mut shown = lines.join("\n");
    let length = whole.unwrap_or(body.len()).max(body.len());
    if end < laid_out.len() || length > body.len() {
        shown.push_str(&format!(
            "… ({length} bytes in all; the JSON report has more)"
        ));
    }
    shown
}
