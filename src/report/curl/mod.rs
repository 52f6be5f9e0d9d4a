//! A script of curl commands for each case in which something is broken: the requests of the round
//! in which it shows, in the order and at once as they were sent, with a fresh key.
//!
//! `sh FILE` lists what there is, `sh FILE 1` sends the first. What curl cannot do, such as cutting a
//! connection at a byte, stands in comments.

mod text;

use super::clean::{line, shorten};
use super::gravity::{Broken, broken};
use crate::grade::Report;
use crate::transcript::{Exchange, Round};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use text::{Names, word};

/// Scripts of one file.
const MOST_CASES: usize = 50;
/// Requests of one script.
const MOST_REQUESTS: usize = 40;
/// The longest pause between two requests that is kept.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The file.
pub fn render(report: &Report) -> String {
    let mut names = Names::default();
    let mut functions = String::new();
    let mut list = String::new();
    for (number, case) in broken(report).iter().take(MOST_CASES).enumerate() {
        let number = number + 1;
        let title = format!(
            "{}: {} ({})",
            case.word(),
            case.case.title,
            case.case.name()
        );
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            list,
            "  echo {}",
            super::quoted(&format!("{number}  {}", line(&title)))
        );
        functions.push_str(&function(number, case, &mut names));
    }
    let mut script = String::from("#!/bin/sh\n");
    let _ = writeln!(
        script,
        "# {}, as idemspec {} saw it on {}.",
        line(&report.about.target),
        line(&report.about.idemspec),
        line(&report.about.started)
    );
    script.push_str(
        "# `sh THIS-FILE` lists the findings, `sh THIS-FILE 1` sends the requests of the first.\n\
         # Each use has new keys. Requests make real effects: send them to a sandbox.\n\
         set -u\n\
         run=${RUN:-$(date +%s)-$$}\n",
    );
    for (variable, secret) in names.secrets() {
        let _ = writeln!(
            script,
            "# {variable} stands for a secret that the report shows as {secret}"
        );
    }
    script.push_str("\nlist() {\n");
    script.push_str(if list.is_empty() {
        "  echo 'nothing is broken'\n"
    } else {
        &list
    });
    script.push_str("}\n\n");
    script.push_str(&functions);
    script.push_str("case \"${1:-}\" in\n");
    for number in
        1..=functions.matches("\nfinding_").count() + usize::from(functions.starts_with("finding_"))
    {
        let _ = writeln!(script, "  {number}) finding_{number} ;;");
    }
    script.push_str("  *) list ;;\nesac\n");
    script
}

fn function(number: usize, broken: &Broken<'_>, names: &mut Names) -> String {
    let mut text = format!("finding_{number}() {{\n");
    for finding in broken.findings() {
        let _ = writeln!(text, "  # {}", shorten(&finding.reason, 300));
    }
    let rounds = broken.rounds();
    let shown = rounds.keys().next().and_then(|number| {
        broken
            .case
            .transcript
            .rounds
            .iter()
            .find(|round| round.number == *number)
    });
    match shown {
        Some(round) => requests(round, names, &mut text),
        None => text.push_str("  echo 'no request shows it'\n"),
    }
    text.push_str("}\n\n");
    text
}

fn requests(round: &Round, names: &mut Names, text: &mut String) {
    names.begin_round(round);
    let mut requires: BTreeMap<String, String> = BTreeMap::new();
    let mut body = String::new();
    let mut all_over = Duration::ZERO;
    let mut waits = false;
    let mut order: Vec<&Exchange> = round.exchanges.iter().collect();
    order.sort_by_key(|exchange| begun(exchange));
    for (place, exchange) in order.iter().take(MOST_REQUESTS).enumerate() {
        let begins = begun(exchange);
        if place > 0 && begins >= all_over {
            if waits {
                body.push_str("  wait\n");
                waits = false;
            }
            let pause = (begins - all_over).min(LONGEST_PAUSE);
            if pause >= Duration::from_millis(50) {
                let _ = writeln!(body, "  sleep {:.2}", pause.as_secs_f64());
            }
        }
        all_over = all_over.max(exchange.times.ended);
        let next = order.get(place + 1).filter(|_| place + 1 < MOST_REQUESTS);
        let overlaps = waits || next.is_some_and(|next| begun(next) < all_over);
        command(exchange, names, &mut requires, &mut body);
        body.push_str(if overlaps { " &\n" } else { "\n" });
        waits |= overlaps;
    }
    if waits {
        body.push_str("  wait\n");
    }
    if order.len() > MOST_REQUESTS {
        let _ = writeln!(body, "  # and {} more", order.len() - MOST_REQUESTS);
    }
    for (variable, secret) in requires {
        let _ = writeln!(
            text,
            "  : \"${{{variable}:?is not set: it is the secret that the report shows as {secret}}}\""
        );
    }
    text.push_str(&body);
}

fn command(
    exchange: &Exchange,
    names: &mut Names,
    requires: &mut BTreeMap<String, String>,
    text: &mut String,
) {
    let request = &exchange.request;
    let answer = super::evidence::answer(exchange);
    let _ = writeln!(
        text,
        "  # {}: {}",
        shorten(&exchange.step, 60),
        line(&answer)
    );
    if let Some(fault) = &exchange.fault {
        let _ = writeln!(
            text,
            "  # what curl cannot do: {}: {}",
            line(&fault.name),
            shorten(&fault.says, 200)
        );
    }
    let mut filled = |own: &str| {
        let pieces = names.pieces(own);
        for (variable, secret) in names.needed(&pieces) {
            requires.insert(variable, secret);
        }
        word(&pieces)
    };
    let method = filled(&request.method);
    let _ = write!(
        text,
        "  curl -sS -i -w '\\n\\n' -X {method} {}",
        filled(&request.url)
    );
    for (name, value) in &request.headers {
        if is_curls_own(name) {
            continue;
        }
        let _ = write!(text, " \\\n    -H {}", filled(&format!("{name}: {value}")));
    }
    if let Some(body) = &request.body {
        let _ = write!(text, " \\\n    --data-binary {}", filled(body));
    }
    let was_lost =
        exchange.fault.as_ref().is_some_and(|fault| fault.fired) && exchange.response.is_none();
    if was_lost {
        let patience = exchange
            .times
            .ended
            .saturating_sub(begun(exchange))
            .max(Duration::from_millis(1));
        let _ = write!(text, " \\\n    --max-time {:.3}", patience.as_secs_f64());
    }
}

/// Headers that curl makes itself, from what it sends.
fn is_curls_own(name: &str) -> bool {
    ["content-length", "host", "connection", "transfer-encoding"]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
}

fn begun(exchange: &Exchange) -> Duration {
    let times = &exchange.times;
    times.released.or(times.sent).unwrap_or(times.ended)
}
