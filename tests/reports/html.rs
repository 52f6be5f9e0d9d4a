//! The page: nothing of the target becomes markup, every link leads somewhere, nothing is loaded.

use super::sample::{self, HOSTILE, case, exchange, finding};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use idemspec::grade::{CaseReport, Report};
use idemspec::promise::Level;
use idemspec::report::{Format, Options, render};
use idemspec::transcript::{Reading, ReadingKind, Shown, Transcript};
use idemspec::verdict::Verdict;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::time::Duration;

fn page(report: &Report) -> String {
    render(report, Format::Html, &Options::default())
}

/// What stands between two texts, wherever they stand.
fn between<'a>(page: &'a str, before: &'a str, after: &'a str) -> Vec<&'a str> {
    page.match_indices(before)
        .map(|(at, _)| {
            let rest = &page[at + before.len()..];
            &rest[..rest.find(after).expect(after)]
        })
        .collect()
}

/// The sample with the hostile text in every place that a target can fill.
fn hostile() -> Report {
    let mut report = sample::report();
    report.about.base_urls = vec![format!("http://x/{HOSTILE}")];
    report.about.stopped = Some(HOSTILE.to_owned());
    report.headlines = vec![HOSTILE.to_owned()];
    report.promises[0].observed[0].says = HOSTILE.to_owned();
    let round = &mut report.scenarios[0].transcript.rounds[1];
    round.broken = vec![HOSTILE.to_owned()];
    let exchange = &mut round.exchanges[0];
    exchange.step = HOSTILE.to_owned();
    exchange.request.url = format!("http://x/{HOSTILE}");
    exchange.request.method = HOSTILE.to_owned();
    exchange.request.headers = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    exchange.late = exchange.response.clone();
    if let Some(response) = &mut exchange.response {
        response.body = format!("{{\"a\": {}}}", serde_json::Value::from(HOSTILE));
    }
    round.readings.push(Reading {
        kind: ReadingKind::Named(HOSTILE.to_owned()),
        probe: HOSTILE.to_owned(),
        marker_name: HOSTILE.to_owned(),
        shows: Ok(Shown::Ids(vec![HOSTILE.to_owned()])),
        ..round.readings[0].clone()
    });
    report
}

#[test]
fn nothing_of_the_target_becomes_markup() {
    for report in [sample::report(), hostile()] {
        let page = page(&report);
        for tag in ["<b>\u{241b}", "</failure>", "<b>red"] {
            assert!(!page.contains(tag), "{tag}");
        }
        assert!(page.contains("]]&gt;&lt;/failure&gt;&amp;&lt;b&gt;"));
        let odd = page
            .chars()
            .find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
        assert_eq!(odd, None);
        assert_eq!(page.matches("<script>").count(), 1);
        for attribute in between(&page, "=\"", "\"") {
            assert!(!attribute.contains('<'), "{attribute}");
        }
    }
}

#[test]
fn only_our_own_style_and_script_may_work_and_nothing_is_loaded() {
    let page = page(&hostile());
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"")[0];
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let own = between(&page, &open, &close);
        assert_eq!(own.len(), 1, "{tag}");
        let hash = STANDARD.encode(Sha256::digest(own[0]));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}'")));
    }
    for loading in ["src=", "url(", "@import", "style=\"", "onclick"] {
        assert!(!page.contains(loading), "{loading}");
    }
    for link in between(&page, " href=\"", "\"") {
        assert!(link.starts_with('#'), "{link}");
    }
}

#[test]
fn every_link_leads_to_one_place() {
    let page = page(&hostile());
    let ids = between(&page, " id=\"", "\"");
    let once: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(once.len(), ids.len(), "an id stands twice");
    let links = between(&page, " href=\"#", "\"");
    for link in &links {
        assert!(once.contains(link), "{link} leads nowhere");
    }
    assert!(
        links.contains(&"c0-r2-x0"),
        "the finding leads to its evidence"
    );
}

#[test]
fn the_timeline_shows_when_effects_appeared() {
    let page = page(&sample::report());
    let picture = between(&page, "<svg class=\"timeline\"", "</svg>")[0];
    assert!(picture.contains("2 in the end"), "{picture}");
    assert_eq!(
        picture.matches("class=\"bar done\"").count(),
        2,
        "{picture}"
    );
    assert!(picture.contains("<title>Timeline of round 2"), "{picture}");
}

#[test]
fn a_huge_body_is_cut_with_a_pointer_to_the_json() {
    let mut report = sample::report();
    let body = "x".repeat(1_000_000);
    report.scenarios[0].transcript.rounds[1].exchanges = vec![exchange(0, &body)];
    let page = page(&report);
    assert!(page.len() < 100_000, "{} bytes", page.len());
    assert!(page.contains("1000000 bytes in all; the JSON report has more"));
}

#[test]
fn ten_thousand_cases_stay_a_page_that_opens() {
    let mut report = sample::report();
    let broken = report.scenarios[0].clone();
    let passed = CaseReport {
        findings: vec![finding("burst", "one-resource", Verdict::Pass, Level::Must)],
        transcript: Transcript {
            rounds: broken.transcript.rounds.clone(),
            ..Transcript::default()
        },
        ..case("race/burst", Some("passed"))
    };
    report.scenarios.extend(std::iter::repeat_n(passed, 2_000));
    report.scenarios.push(broken);
    let page = page(&report);
    assert!(page.len() < 9_000_000, "{} bytes", page.len());
    assert!(
        page.contains("id=\"c2003-r2-x0\""),
        "the gravest is shown first"
    );
    assert!(page.contains("the JSON report has them"));
}

#[test]
fn a_reading_that_failed_is_no_zero() {
    let mut report = sample::report();
    let readings = &mut report.scenarios[0].transcript.rounds[1].readings;
    readings[0].shows = Err("503".to_owned());
    readings[0].at = Duration::from_millis(2_000);
    let page = page(&report);
    assert!(page.contains("effect unread"));
}
