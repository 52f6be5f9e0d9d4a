//! The report as one HTML file that needs nothing else: no network, and its few lines of script
//! only filter and unfold. Everything that came from the target is escaped by the templates.

mod attempts;
mod cases;
mod exchange;
mod summary;
mod timeline;

use super::clean::line;
use super::entry::Standing;
use super::gravity;
use crate::grade::Report;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Bytes that exchanges and timelines may take in all; what is gravest is shown first.
const MOST_EVIDENCE: usize = 6_000_000;

/// The page.
pub fn render(report: &Report) -> String {
    let mut page = Page {
        left: MOST_EVIDENCE,
    };
    let broken = gravity::broken(report);
    let broken_part = cases::broken(report, &broken, &mut page);
    let all = cases::all(report, &broken, &mut page);
    let nothing_shown = cases::nothing_shown(report);
    let title = format!(
        "{}: {}",
        line(&report.about.target),
        summary::verdict(report).0
    );
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) " – idemspec" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip-link" href="#main" { "Skip to the report" }
                (summary::head(report))
                main id="main" {
                    (summary::checklist(report))
                    (summary::filter(report))
                    (broken_part)
                    (nothing_shown)
                    (summary::target_file(report))
                    (summary::promises(report))
                    (summary::documents(report))
                    (all)
                }
                (summary::foot(report))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    markup.into_string() + "\n"
}

/// Nothing may be loaded, and only our own style and script may work.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// What is left of the room for evidence.
struct Page {
    left: usize,
}

impl Page {
    /// The evidence, if there is room for it.
    fn afford(&mut self, draw: impl FnOnce() -> Markup) -> Option<Markup> {
        if self.left == 0 {
            return None;
        }
        let markup = draw();
        self.left = self.left.saturating_sub(markup.0.len());
        Some(markup)
    }
}

/// A word in a coloured field.
fn badge(word: &str, class: &str) -> Markup {
    html! { span class={ "badge " (class) } { (word) } }
}

/// A sign for how something stands, with the word for those who do not see it.
fn mark(standing: Standing) -> Markup {
    let sign = match standing {
        Standing::Pass => "✓",
        Standing::Skip => "–",
        Standing::Warn | Standing::Known => "!",
        Standing::Inconclusive => "?",
        Standing::Fail => "×",
    };
    html! {
        span class={ "mark " (class(standing)) } aria-hidden="true" { (sign) }
        span class="unseen" { (standing.name()) ":" }
    }
}

fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Pass => "pass",
        Standing::Skip => "skip",
        Standing::Warn | Standing::Known => "warning",
        Standing::Inconclusive => "inconclusive",
        Standing::Fail => "fail",
    }
}
