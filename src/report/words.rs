//! Words and numbers that the reports for people share.

use crate::grade::{Counts, Grade, PromiseReport, Report};
use crate::judge::Documented;
use crate::promise::Strength;
use crate::verdict::Verdict;

/// The verdict of a run.
pub fn verdict(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "Nothing ran",
        Some(Verdict::Skip) => "Nothing applied",
        Some(Verdict::Pass) => "Passed",
        Some(Verdict::Inconclusive) => "Inconclusive",
        Some(Verdict::Fail) => "Failed",
    }
}

/// `1 failed, 2 warnings, 80 passed, 3 inconclusive, 9 skipped`.
pub fn counts(counts: Counts) -> String {
    let warnings = match counts.warn {
        0 => String::new(),
        1 => "1 warning, ".to_owned(),
        more => format!("{more} warnings, "),
    };
    let known = match counts.known {
        0 => String::new(),
        1 => "1 known failure, ".to_owned(),
        more => format!("{more} known failures, "),
    };
    format!(
        "{} failed, {known}{warnings}{} passed, {} inconclusive, {} skipped",
        counts.fail, counts.pass, counts.inconclusive, counts.skip
    )
}

/// The grade of a point.
pub fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::NotChecked => "not checked",
        Grade::Met => "met",
        Grade::PartlyShown => "partly shown",
        Grade::NotShown => "not shown",
        Grade::Broken => "broken",
    }
}

/// What becomes of a statement of the documents.
pub fn documented(grade: Documented) -> &'static str {
    match grade {
        Documented::NotShown => "not shown",
        Documented::True => "documented and true",
        Documented::Undocumented => "undocumented but observed",
        Documented::False => "documented and false",
    }
}

/// The operations that declare no key, in a sentence; `None` where every one declares it.
pub fn keyless(report: &Report) -> Option<String> {
    let keyless = &report.documents.keyless;
    (!keyless.is_empty()).then(|| {
        format!(
            "Operations that change something and declare no key: {}",
            keyless.join(", ")
        )
    })
}

/// How strongly something is promised; a dash where nothing is.
pub fn strength(strength: Strength) -> &'static str {
    match strength {
        Strength::Unspecified => "–",
        Strength::May => "may",
        Strength::Should => "should",
        Strength::Must => "must",
    }
}

/// The promises about which there is something to say.
pub fn promises(report: &Report) -> impl Iterator<Item = &PromiseReport> {
    report
        .promises
        .iter()
        .filter(|promise| promise.strength != Strength::Unspecified || !promise.observed.is_empty())
}
