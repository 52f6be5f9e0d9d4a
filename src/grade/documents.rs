//! What the documents say, held against what was observed, statement by statement.

use super::{CaseReport, DocumentedReport, DocumentsReport};
use crate::judge::{Documented, Finding, Graded};
use std::collections::BTreeMap;

/// One line for each operation and statement that a finding is about, with the gravest of its grades; and
/// the operations that declare no key.
pub(super) fn collect(cases: &[CaseReport]) -> DocumentsReport {
    let mut found: BTreeMap<(&str, &str), (Documented, &Finding)> = BTreeMap::new();
    for case in cases {
        for finding in &case.findings {
            let Some(Graded { about, grade }) = &finding.documented else {
                continue;
            };
            let known = found
                .entry((&case.operation, about))
                .or_insert((*grade, finding));
            if *grade > known.0 {
                *known = (*grade, finding);
            }
        }
    }
    let keyless = cases
        .iter()
        .filter_map(|case| {
            case.transcript
                .documents
                .as_ref()?
                .openapi
                .as_ref()?
                .as_ref()
                .ok()
        })
        .map(|declared| declared.keyless.clone())
        .next()
        .unwrap_or_default();
    DocumentsReport {
        statements: found
            .into_iter()
            .map(|((operation, about), (grade, finding))| DocumentedReport {
                operation: operation.to_owned(),
                about: about.to_owned(),
                grade,
                says: finding.reason.clone(),
            })
            .collect(),
        keyless,
    }
}
