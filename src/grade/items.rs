//! The grade of one point of the checklist.

use super::{Counts, Grade, GradedItem};
use crate::checklist::ItemId;
use crate::judge::Finding;
use crate::promise::Level;
use crate::verdict::Verdict;

/// Grades a point by the findings that bear on it.
pub(super) fn grade(item: ItemId, own: &[&Finding]) -> GradedItem {
    let counts = count(own);
    // What was skipped before it ran could have shown something; what ran and did not apply, or
    // was only observed, could not.
    let not_run = own
        .iter()
        .filter(|finding| finding.verdict == Verdict::Skip && finding.rounds.ran == 0)
        .count();
    let grade = if own.is_empty() {
        Grade::NotChecked
    } else if counts.fail > 0 {
        Grade::Broken
    } else if counts.pass == 0 {
        Grade::NotShown
    } else if counts.inconclusive > 0 || not_run > 0 {
        Grade::PartlyShown
    } else {
        Grade::Met
    };
    GradedItem {
        item,
        grade,
        says: says(grade, counts, own, not_run),
        counts,
    }
}

fn count(findings: &[&Finding]) -> Counts {
    let mut counts = Counts::default();
    for finding in findings {
        let slot = match (finding.verdict, finding.level) {
            (Verdict::Pass, _) => &mut counts.pass,
            (Verdict::Fail, Level::Must) => &mut counts.fail,
            (Verdict::Fail, Level::Should | Level::Note) => &mut counts.warn,
            (Verdict::Inconclusive, _) => &mut counts.inconclusive,
            (Verdict::Skip, _) => &mut counts.skip,
        };
        *slot += 1;
    }
    counts
}

fn says(grade: Grade, counts: Counts, own: &[&Finding], not_run: usize) -> String {
    let gravest = own
        .iter()
        .rev()
        .filter(|finding| finding.verdict == Verdict::Fail && finding.level == Level::Must)
        .max_by_key(|finding| finding.severity);
    let first_reason = |verdict: Verdict| {
        own.iter()
            .find(|finding| finding.verdict == verdict)
            .map_or("nothing was shown", |finding| finding.reason.as_str())
    };
    let passed = checks(counts.pass);
    match grade {
        Grade::NotChecked => "no selected check bears on it".to_owned(),
        Grade::Broken => gravest.map_or_else(String::new, |finding| match counts.fail {
            1 => finding.reason.clone(),
            all => format!("{} (the gravest of {all} failures)", finding.reason),
        }),
        Grade::NotShown if counts.inconclusive > 0 => {
            first_reason(Verdict::Inconclusive).to_owned()
        }
        Grade::NotShown if counts.skip > 0 => first_reason(Verdict::Skip).to_owned(),
        Grade::NotShown => first_reason(Verdict::Fail).to_owned(),
        Grade::PartlyShown => {
            let mut parts = Vec::new();
            if counts.inconclusive > 0 {
                parts.push(format!("{} inconclusive", counts.inconclusive));
            }
            if not_run > 0 {
                parts.push(format!("{not_run} did not run"));
            }
            format!("{passed} passed, {}", parts.join(", "))
        }
        Grade::Met if counts.warn > 0 => format!("{passed} passed, {} with a warning", counts.warn),
        Grade::Met => format!("{passed} passed"),
    }
}

fn checks(number: u32) -> String {
    match number {
        1 => "1 check".to_owned(),
        number => format!("{number} checks"),
    }
}
