//! The top of the page: the verdict, the nine points, and what was declared against what was seen.

use super::badge;
use crate::grade::{Counts, DocumentedReport, Grade, PromiseReport, Report};
use crate::judge::Documented;
use crate::report::clean::{line, shorten};
use crate::report::entry::{Standing, counts};
use crate::report::words;
use crate::target_check::Mark;
use crate::verdict::Verdict;
use maud::{Markup, html};

/// The verdict in a word, and the class of its colour.
pub(super) fn verdict(report: &Report) -> (&'static str, &'static str) {
    let class = match report.verdict {
        None | Some(Verdict::Fail) => "fail",
        Some(Verdict::Skip | Verdict::Inconclusive) => "inconclusive",
        Some(Verdict::Pass) => "pass",
    };
    (words::verdict(report.verdict), class)
}

/// What was tried, when, and what came of it.
pub(super) fn head(report: &Report) -> Markup {
    let about = &report.about;
    let (word, class) = verdict(report);
    html! {
        header class=(class) {
            div class="wide" {
                p class="tool" { "idemspec " (line(&about.idemspec)) " · Is this API safe to retry?" }
                h1 { (line(&about.target)) }
                p class="verdict" { (badge(word, class)) " " (words::counts(counts(report))) }
                @if let Some(why) = &about.stopped { p class="stopped" { "Stopped: " (line(why)) } }
                dl {
                    @for (term, says) in facts(report) { div { dt { (term) } dd { (says) } } }
                }
                @if !report.headlines.is_empty() {
                    ul class="headlines" { @for headline in &report.headlines { li { (line(headline)) } } }
                }
            }
        }
        nav aria-label="Parts of the report" {
            div class="wide" {
                a href="#checklist" { "Checklist" }
                a href="#broken" { "Broken" }
                @if counts(report).inconclusive > 0 { a href="#inconclusive" { "Not shown" } }
                @if !report.promises.is_empty() { a href="#contract" { "Contract" } }
                @if !report.documents.statements.is_empty() { a href="#documents" { "Documents" } }
                a href="#checks" { "All checks" }
            }
        }
    }
}

fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let about = &report.about;
    let mut facts = vec![
        ("at", about.base_urls.join(", ")),
        ("contract", about.contract.clone()),
        ("began", about.started.clone()),
        (
            "took",
            format!(
                "{:.1} s, {} requests",
                about.took_micros as f64 / 1e6,
                about.requests
            ),
        ),
        ("seed", about.seed.to_string()),
        ("target file", about.file.clone()),
    ];
    facts.retain(|(_, says)| !says.is_empty());
    for (_, says) in &mut facts {
        *says = shorten(says, 300);
    }
    facts
}

/// The nine points with their grades.
pub(super) fn checklist(report: &Report) -> Markup {
    html! {
        section id="checklist" aria-labelledby="checklist-title" {
            h2 id="checklist-title" { "The checklist" }
            ol class="checklist" {
                @for graded in &report.checklist {
                    @let item = graded.item.item();
                    @let (word, class) = grade(graded.grade);
                    li id=(graded.item) class=(class) {
                        span class="number" aria-hidden="true" { (graded.item.number()) }
                        div class="point" {
                            h3 { span class="unseen" { "Item " (graded.item.number()) ": " } (item.short) }
                            p { (item.says) }
                        }
                        div class="grade" { (badge(word, class)) (bar(graded.counts)) }
                        p class="outcome" { (line(&graded.says)) }
                    }
                }
            }
        }
    }
}

/// How many findings stand how, as a strip.
fn bar(counts: Counts) -> Markup {
    let parts = [
        ("fail", counts.fail),
        ("warning", counts.warn),
        ("inconclusive", counts.inconclusive),
        ("pass", counts.pass),
        ("skip", counts.skip),
    ];
    let all: u32 = parts.iter().map(|(_, count)| count).sum();
    let says: Vec<String> = parts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    let mut left = 0.0;
    let strips: Vec<(&str, f64, f64)> = parts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| {
            let wide = f64::from(*count) * 100.0 / f64::from(all.max(1));
            left += wide;
            (*class, left - wide, wide)
        })
        .collect();
    html! {
        @if all > 0 {
            svg class="strip" width="100%" height="6" aria-hidden="true" {
                @for (class, left, wide) in &strips {
                    rect class=(class) x={ (format!("{left:.1}")) "%" } width={ (format!("{wide:.1}")) "%" } height="6" {}
                }
            }
            span class="counts" { (says.join(", ")) }
        }
    }
}

fn grade(grade: Grade) -> (&'static str, &'static str) {
    let class = match grade {
        Grade::NotChecked => "skip",
        Grade::Met => "pass",
        Grade::PartlyShown | Grade::NotShown => "inconclusive",
        Grade::Broken => "fail",
    };
    (words::grade(grade), class)
}

/// Shown by the script alone: without it, everything is there.
pub(super) fn filter(report: &Report) -> Markup {
    html! {
        form id="filter" hidden aria-label="Filter" {
            label { "Item "
                select name="point" {
                    option value="" { "all" }
                    @for graded in &report.checklist {
                        option value=(graded.item) { (graded.item.number()) " " (graded.item.item().short) }
                    }
                }
            }
            fieldset {
                legend class="unseen" { "Verdicts" }
                @for standing in [
                    Standing::Fail, Standing::Warn, Standing::Known, Standing::Inconclusive, Standing::Pass, Standing::Skip,
                ] {
                    label { input type="checkbox" name="verdict" value=(standing.name()) checked; (standing.name()) }
                }
            }
            label { "Name " input type="search" name="text" placeholder="race/…"; }
            output {}
        }
    }
}

/// What is wrong with the target file.
pub(super) fn target_file(report: &Report) -> Markup {
    let wrong: Vec<_> = report
        .about
        .check
        .iter()
        .filter(|line| line.mark.is_problem())
        .collect();
    html! {
        @if !wrong.is_empty() {
            section id="target" aria-labelledby="target-title" {
                h2 id="target-title" { "The target file" }
                ul class="reasons" {
                    @for checked in wrong {
                        li {
                            (super::mark(if checked.mark == Mark::Wrong { Standing::Warn } else { Standing::Fail })) " "
                            b { (line(&checked.operation)) " " (line(&checked.name)) } " "
                            (shorten(&checked.says, 600))
                            @if let Some(place) = &checked.place { " " code { (line(place)) } }
                            @if let Some(help) = &checked.help { br; (shorten(help, 600)) }
                        }
                    }
                }
            }
        }
    }
}

/// Declared against observed.
pub(super) fn promises(report: &Report) -> Markup {
    let shown: Vec<&PromiseReport> = words::promises(report).collect();
    html! {
        @if !shown.is_empty() {
            section id="contract" aria-labelledby="contract-title" {
                h2 id="contract-title" { "Declared against observed" }
                table role="table" {
                    thead role="rowgroup" { tr role="row" {
                        @for head in ["operation", "promise", "strength", "declared", "observed", "kept"] {
                            th role="columnheader" scope="col" { (head) }
                        }
                    } }
                    tbody role="rowgroup" { @for promise in shown { (row(promise)) } }
                }
            }
        }
    }
}

fn row(promise: &PromiseReport) -> Markup {
    let (kept, class) = match promise.kept {
        Some(true) => ("yes", "pass"),
        Some(false) => ("no", "fail"),
        None => ("–", "skip"),
    };
    html! {
        tr role="row" class=(class) {
            td role="cell" data-head="operation" { (line(&promise.operation)) }
            th role="rowheader" scope="row" data-head="promise" { (promise.promise.name()) }
            td role="cell" data-head="strength" { (words::strength(promise.strength)) }
            td role="cell" data-head="declared" { (line(&promise.declared)) }
            td role="cell" data-head="observed" {
                @if promise.observed.is_empty() { "nothing" }
                ul { @for observation in promise.observed.iter().take(8) {
                    li { (shorten(&observation.says, 160)) " " span class="times" { "×" (observation.times) } }
                } }
            }
            td role="cell" data-head="kept" { (badge(kept, class)) }
        }
    }
}

/// What the documents say against what was observed, and the operations that declare no key.
pub(super) fn documents(report: &Report) -> Markup {
    let statements = &report.documents.statements;
    let keyless = words::keyless(report);
    html! {
        @if !statements.is_empty() || keyless.is_some() {
            section id="documents" aria-labelledby="documents-title" {
                h2 id="documents-title" { "Documented against observed" }
                @if !statements.is_empty() {
                    table role="table" class="statements" {
                        thead role="rowgroup" { tr role="row" {
                            @for head in ["operation", "statement", "grade", "says"] {
                                th role="columnheader" scope="col" { (head) }
                            }
                        } }
                        tbody role="rowgroup" { @for own in statements { (statement(own)) } }
                    }
                }
                @if let Some(keyless) = keyless { p { (line(&keyless)) } }
            }
        }
    }
}

fn statement(own: &DocumentedReport) -> Markup {
    let class = match own.grade {
        Documented::NotShown => "skip",
        Documented::True => "pass",
        Documented::Undocumented => "inconclusive",
        Documented::False => "fail",
    };
    html! {
        tr role="row" class=(class) {
            td role="cell" data-head="operation" { (line(&own.operation)) }
            th role="rowheader" scope="row" data-head="statement" { (line(&own.about)) }
            td role="cell" data-head="grade" { (badge(words::documented(own.grade), class)) }
            td role="cell" data-head="says" { (shorten(&own.says, 300)) }
        }
    }
}

/// How to read it.
pub(super) fn foot(report: &Report) -> Markup {
    html! {
        footer { div class="wide" {
            p { b { "pass" } " it held, and the run shows that it could have failed · " b { "fail" } " it was broken · "
                b { "inconclusive" } " nothing was shown, and that is no pass · " b { "skip" } " it does not apply" }
            p { "Secrets are masked; equal ones have equal names. Report format " (report.about.format) "." }
        } }
    }
}
