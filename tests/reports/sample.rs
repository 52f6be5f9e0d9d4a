//! One report by hand, with everything in it that a hostile target could send.

use idemspec::checklist::ItemId;
use idemspec::grade::{
    CaseReport, Counts, DocumentedReport, DocumentsReport, Grade, GradedItem, PromiseReport,
    Report, RunInfo,
};
use idemspec::judge::{Documented, Evidence, Finding, Observation, Tally};
use idemspec::outcome::{Meaning, Outcome};
use idemspec::promise::{Level, Promise, Strength};
use idemspec::scenario::{OperationRole, PrincipalRole, Severity};
use idemspec::transcript::{
    Delivery, Ending, Exchange, KeyUsed, Reading, ReadingKind, Response, Round, SentRequest, Shown,
    Times, Transcript,
};
use idemspec::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Ends CDATA, moves the cursor, reorders, and is no XML.
pub const HOSTILE: &str =
    "]]></failure>&<b>\u{1b}[31mred\u{1b}]0;title\u{7}\u{0}\u{8}\u{fffe}\u{202e}\r\n\u{9b}2J\"'";

/// One failure, one warning, one pass, two that are inconclusive (one of them a case without
/// findings), one skip.
pub fn report() -> Report {
    let burst = CaseReport {
        findings: vec![
            finding("burst", "effects-at-most", Verdict::Fail, Level::Must),
            finding("burst", "retry-after", Verdict::Fail, Level::Should),
            finding("burst", "one-resource", Verdict::Pass, Level::Must),
            finding(
                "burst",
                "keeps-in-progress",
                Verdict::Inconclusive,
                Level::Must,
            ),
        ],
        transcript: Transcript {
            rounds: vec![round(1), round(2)],
            ..Transcript::default()
        },
        ..case("race/burst", None)
    };
    let skipped = CaseReport {
        skipped: Some(format!("no HTTP/2 {HOSTILE}")),
        ..case("lost/response", Some("stream-reset"))
    };
    let broken = CaseReport {
        transcript: Transcript {
            broken: vec!["the budget was used up".to_owned()],
            ..Transcript::default()
        },
        ..case("lost/response", Some("reset"))
    };
    Report {
        about: RunInfo {
            idemspec: "0.1.0".to_owned(),
            format: 1,
            target: format!("Payments {HOSTILE}"),
            base_urls: vec!["http://127.0.0.1:8080".to_owned()],
            contract: "demo".to_owned(),
            took_micros: 1_500_000,
            ..RunInfo::default()
        },
        verdict: Some(Verdict::Fail),
        checklist: vec![
            graded("item-5", Grade::Broken),
            graded("item-7", Grade::PartlyShown),
        ],
        documents: documents(),
        promises: vec![PromiseReport {
            operation: "create-payment".to_owned(),
            promise: Promise::InProgress,
            strength: Strength::Must,
            declared: "reject with 409".to_owned(),
            observed: vec![Observation {
                says: "409".to_owned(),
                times: 12,
            }],
            kept: Some(true),
        }],
        scenarios: vec![burst, skipped, broken],
        headlines: vec!["effects cannot be counted".to_owned()],
    }
}

pub fn case(scenario: &str, case: Option<&str>) -> CaseReport {
    CaseReport {
        operation: "create-payment".to_owned(),
        scenario: scenario.to_owned(),
        case: case.map(str::to_owned),
        title: "Requests with one key released together make one effect".to_owned(),
        severity: Severity::Critical,
        skipped: None,
        known: BTreeMap::new(),
        findings: Vec::new(),
        runs: Vec::new(),
        transcript: Transcript::default(),
        client: None,
    }
}

pub fn finding(scenario: &str, id: &str, verdict: Verdict, level: Level) -> Finding {
    let failed = verdict == Verdict::Fail;
    let says = match id {
        "effects-at-most" => "2 requests made 2 effects",
        "retry-after" => "no Retry-After",
        _ => "the burst did not overlap",
    };
    Finding {
        name: format!("create-payment/race/{scenario}/item-5/{id}"),
        id: id.to_owned(),
        item: item("item-5"),
        verdict,
        level,
        severity: Severity::Critical,
        reason: format!("{says} {HOSTILE}"),
        steps: vec!["burst".to_owned()],
        promise: None,
        observed: Vec::new(),
        documented: None,
        reach: None,
        rounds: Tally {
            ran: 2,
            valid: 2,
            failed: u32::from(failed),
            first_failed: failed.then_some(2),
        },
        evidence: vec![
            Evidence {
                round: 2,
                exchange: 0,
            },
            Evidence {
                round: 2,
                exchange: 1,
            },
            Evidence {
                round: 9,
                exchange: 99,
            },
            Evidence {
                round: 2,
                exchange: 99,
            },
        ],
    }
}

fn graded(name: &str, grade: Grade) -> GradedItem {
    GradedItem {
        item: item(name),
        grade,
        says: format!("2 requests made 2 effects {HOSTILE}"),
        counts: Counts {
            fail: 1,
            pass: 1,
            ..Counts::default()
        },
    }
}

fn item(name: &str) -> ItemId {
    ItemId::from_name(name).expect("an item")
}

fn round(number: u32) -> Round {
    let huge = format!(
        "{{\"id\":\"pay_1\",\"note\":\"{HOSTILE}{}\"}}",
        "x".repeat(100_000)
    );
    Round {
        number,
        exchanges: vec![exchange(0, &huge), exchange(1, HOSTILE)],
        readings: vec![Reading {
            kind: ReadingKind::Late,
            probe: "payments".to_owned(),
            operation: OperationRole::Subject,
            principal: PrincipalRole::Owner,
            marker: "m1".to_owned(),
            marker_name: "main".to_owned(),
            at: Duration::from_millis(1_500),
            shows: Ok(Shown::Ids(vec!["pay_1".to_owned(), "pay_2".to_owned()])),
        }],
        ..Round::default()
    }
}

pub fn exchange(copy: u32, body: &str) -> Exchange {
    Exchange {
        step: "burst".to_owned(),
        copy,
        attempt: 0,
        operation: OperationRole::Subject,
        principal: PrincipalRole::Owner,
        marker: "m1".to_owned(),
        marker_name: "main".to_owned(),
        key: KeyUsed {
            value: Some("burst-key".to_owned()),
            malformed: false,
            backdated: None,
        },
        variants: Vec::new(),
        forms: Vec::new(),
        request: SentRequest {
            method: "POST".to_owned(),
            url: "http://127.0.0.1:8080/payments".to_owned(),
            address: None,
            headers: vec![("Idempotency-Key".to_owned(), "burst-key".to_owned())],
            body: Some(HOSTILE.to_owned()),
            intent: "digest".to_owned(),
            reworded: false,
        },
        times: Times {
            released: None,
            sent: Some(Duration::from_millis(1_000)),
            first_byte: None,
            last_byte: None,
            ended: Duration::from_millis(1_015),
        },
        ending: Ending::Answered,
        delivery: Delivery::ResponseSeen,
        fault: None,
        response: Some(Response {
            status: 201,
            headers: vec![("X-Odd".to_owned(), HOSTILE.to_owned())],
            body: body.to_owned(),
            body_length: body.len(),
            body_digest: "digest".to_owned(),
            json: None,
            stable_json: None,
            volatile_headers: BTreeSet::new(),
            success: true,
            identity: None,
            tokens: Vec::new(),
        }),
        late: None,
        lookup: None,
        outcome: Outcome::from(Meaning::Executed),
    }
}

/// A statement of each grade.
fn documents() -> DocumentsReport {
    let statement = |about: &str, grade| DocumentedReport {
        operation: "create-payment".to_owned(),
        about: about.to_owned(),
        grade,
        says: format!("the document {HOSTILE}"),
    };
    DocumentsReport {
        statements: vec![
            statement("status 409", Documented::True),
            statement("status 422", Documented::Undocumented),
            statement("retention", Documented::False),
            statement("scope", Documented::NotShown),
        ],
        keyless: vec!["POST /orders".to_owned()],
    }
}
