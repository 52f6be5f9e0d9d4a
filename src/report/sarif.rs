//! SARIF 2.1.0: a rule for each point of the checklist, a result for each finding that is broken or
//! shows nothing, at the line of the target or scenario file.
//!
//! Source: OASIS Static Analysis Results Interchange Format 2.1.0.

use super::clean::{clip, line};
use super::entry::{Entry, Standing, entries, severity};
use super::{again, place};
use crate::checklist::ItemId;
use crate::grade::Report;
use crate::judge::Finding;
use serde_json::{Value, json};

/// Characters of a message.
const MOST_MESSAGE: usize = 4_000;

/// The log, with one run.
pub fn render(report: &Report) -> String {
    let about = &report.about;
    let rules: Vec<Value> = ItemId::all().map(rule).collect();
    let results: Vec<Value> = report
        .scenarios
        .iter()
        .flat_map(entries)
        .filter_map(|entry| result(report, &entry))
        .collect();
    let mut invocation = json!({ "executionSuccessful": about.stopped.is_none() });
    if !about.started.is_empty() {
        invocation["startTimeUtc"] = json!(about.started);
    }
    if let Some(why) = &about.stopped {
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "error", "message": { "text": line(why) } }]);
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "idemspec",
                "semanticVersion": about.idemspec,
                "rules": rules,
            } },
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "target": line(&about.target),
                "contract": line(&about.contract),
                "seed": about.seed.to_string(),
            },
        }],
    });
    let text = serde_json::to_string_pretty(&log).expect("every key is text");
    super::json::safe(&text).into_owned() + "\n"
}

fn rule(id: ItemId) -> Value {
    let item = id.item();
    json!({
        "id": id.to_string(),
        "name": item.short,
        "shortDescription": { "text": item.short },
        "fullDescription": { "text": item.says },
        "help": { "text": format!("{} Source: {}", item.why, item.source) },
        "properties": { "tags": ["idempotency"] },
    })
}

fn result(report: &Report, entry: &Entry<'_>) -> Option<Value> {
    let finding = entry.finding?;
    let (kind, level) = match entry.standing {
        Standing::Fail => ("fail", "error"),
        Standing::Warn | Standing::Known => ("fail", "warning"),
        Standing::Inconclusive => ("open", "none"),
        Standing::Pass | Standing::Skip => return None,
    };
    let place = place::of(report, entry);
    let mut says = format!("{}: {}", line(&entry.case.title), line(&finding.reason));
    for command in again::commands(report, entry.case, std::iter::once(finding)) {
        says.push_str(&format!("\nSee it again: {command}"));
    }
    let known = entry.case.known.get(&finding.id);
    let suppressions: Vec<Value> = known
        .map(|reason| json!({ "kind": "external", "justification": line(reason) }))
        .into_iter()
        .collect();
    Some(json!({
        "suppressions": suppressions,
        "ruleId": finding.item.to_string(),
        "ruleIndex": finding.item.number() - 1,
        "kind": kind,
        "level": level,
        "message": { "text": says.chars().take(MOST_MESSAGE).collect::<String>() },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": place.uri() },
                "region": { "startLine": place.line },
            },
            "logicalLocations": [{ "fullyQualifiedName": clip(&finding.name, MOST_MESSAGE), "kind": "member" }],
        }],
        "partialFingerprints": { "finding/v1": line(&finding.name) },
        "properties": { "severity": severity(finding.severity), "rounds": rounds(finding) },
    }))
}

fn rounds(finding: &Finding) -> Value {
    json!({ "ran": finding.rounds.ran, "failed": finding.rounds.failed })
}
