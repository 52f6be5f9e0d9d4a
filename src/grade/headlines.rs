//! What a reader must know before anything else.

use super::{CaseReport, Grade, GradedItem, RunInfo};
use crate::checklist::ItemId;
use crate::outcome::Meaning;
use crate::scenario::OperationRole;
use crate::verdict::Verdict;
use std::collections::BTreeSet;

/// The headlines that follow from the findings.
pub(super) fn found(
    about: &RunInfo,
    cases: &[CaseReport],
    checklist: &[GradedItem],
) -> Vec<String> {
    let mut headlines = Vec::new();
    if let Some(why) = &about.stopped {
        headlines.push(format!("the run did not come to its end: {why}"));
    }
    let mut without_probes = BTreeSet::new();
    for case in cases {
        let exact = case.scenario == "replay/exact" && case.case.as_deref() == Some("plain");
        let repeats = case
            .findings
            .iter()
            .any(|finding| finding.id == "effects-at-most" && finding.verdict == Verdict::Fail);
        let each = case.transcript.rounds.iter().all(|round| {
            let mut repeats = round.of("again").chain(round.of("later"));
            repeats.all(|exchange| exchange.outcome.may_be(Meaning::Executed))
        });
        if exact && repeats && each {
            headlines.push(format!(
                "{}: every repeat makes a second effect; many further findings follow from this",
                case.operation
            ));
        }
        let counts = case
            .transcript
            .probes
            .iter()
            .any(|probe| probe.operation == OperationRole::Subject && !probe.is_state);
        if !counts && !case.transcript.rounds.is_empty() {
            without_probes.insert(case.operation.as_str());
        }
    }
    for operation in without_probes {
        headlines.push(format!(
            "{operation}: effects cannot be counted; responses alone can show a second effect but never its absence"
        ));
    }
    let partly = checklist
        .iter()
        .filter(|item| item.grade == Grade::PartlyShown)
        .count();
    if partly > 0 {
        headlines.push(format!(
            "{partly} of {} items only partly shown",
            ItemId::all().count()
        ));
    }
    headlines
}
