//! A report held against what it should say: what was caught, what was missed, and what failed
//! though nothing is wrong with it.

use super::named::Named;
use super::subject::Subject;
use crate::cli::client::builtin::is_about_time;
use crate::demo::{Flaw, Sight, Tier, Variant};
use crate::demo_client::Habit;
use crate::grade::Report;
use crate::judge::Finding;
use crate::promise::{Level, Strength};
use crate::verdict::Verdict;

/// What one run of the tool on a subject says of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The findings that fail, as they should.
    pub caught: Vec<String>,
    /// What should have failed, or should have been told, and was not.
    pub missed: Vec<Wrong>,
    /// What failed and should not have.
    pub alarms: Vec<Wrong>,
    /// What was not shown either way.
    pub unshown: Vec<Wrong>,
    /// How many findings held.
    pub passed: usize,
}

/// A finding that is not as it should be, and why it is as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its name.
    pub name: String,
    /// What it is instead; `None` where there is no such finding.
    pub verdict: Option<Verdict>,
    /// The reason that it gives.
    pub why: String,
}

impl Wrong {
    /// Something that there is no finding of.
    pub(super) fn new(name: impl Into<String>, why: impl Into<String>) -> Wrong {
        Wrong {
            name: name.into(),
            verdict: None,
            why: why.into(),
        }
    }

    fn of(finding: &Finding) -> Wrong {
        Wrong {
            verdict: Some(finding.verdict),
            ..Wrong::new(&finding.name, &finding.reason)
        }
    }
}

impl Compared {
    /// Holds a report on a subject against what it should say.
    pub(super) fn new(subject: Subject, report: &Report) -> Compared {
        let findings = report.scenarios.iter().flat_map(|case| &case.findings);
        // What a client should do is held against it as well, and what a flaw is said to break below
        // the level of a failure.
        let named: Vec<Named> = match subject {
            Subject::Flawed(flaw) => flaw.breaks().iter().map(|name| Named::read(name)).collect(),
            _ => Vec::new(),
        };
        let counts = |finding: &&Finding| {
            finding.level == Level::Must
                || matches!(subject, Subject::Client(_))
                || named.iter().any(|name| name.means(&finding.name))
        };
        let must: Vec<&Finding> = findings.filter(counts).collect();
        let with = |verdict| {
            must.iter()
                .filter(move |finding| finding.verdict == verdict)
        };
        let mut compared = Compared {
            unshown: with(Verdict::Inconclusive)
                .map(|finding| Wrong::of(finding))
                .collect(),
            passed: with(Verdict::Pass).count(),
            ..Compared::default()
        };
        match subject {
            Subject::Correct => {
                compared.missed = compared.unshown.clone();
                compared.sort(&must, &[], &[]);
            }
            Subject::Flawed(flaw) => compared.hold_against(flaw, &must),
            Subject::Allowed(_) => compared.sort(&must, &[], &[]),
            Subject::Client(habit) => compared.hold_against_habit(habit, &must),
            Subject::Unpromised(variant) => {
                compared.hold_against_sight(variant, &must, report);
            }
        }
        if compared.passed == 0 && compared.caught.is_empty() {
            let why = "nothing held and nothing failed: nothing was shown";
            compared.missed.push(Wrong::new(subject.name(), why));
        }
        compared
    }

    /// Whether nothing was missed and nothing failed that should not have.
    pub fn is_right(&self) -> bool {
        self.missed.is_empty() && self.alarms.is_empty()
    }

    /// Whether a quieter machine may show what was missed: all of it was inconclusive, as where faults
    /// came too late beside others. What failed and should not have stands, and so does what passed and
    /// should not have.
    pub(super) fn deserves_another_try(&self) -> bool {
        let unshown = |wrong: &Wrong| !matches!(wrong.verdict, Some(Verdict::Pass | Verdict::Skip));
        self.alarms.is_empty() && !self.missed.is_empty() && self.missed.iter().all(unshown)
    }

    fn hold_against(&mut self, flaw: Flaw, must: &[&Finding]) {
        let named =
            |names: &[&str]| -> Vec<Named> { names.iter().map(|name| Named::read(name)).collect() };
        let breaks = named(flaw.breaks());
        self.sort(must, &breaks, &named(flaw.may_break()));
        match flaw.tier() {
            Tier::One | Tier::Two => {}
            Tier::Three if self.caught.is_empty() => {
                self.missed.clear();
                let why = "no check that it may break failed";
                self.missed.push(Wrong::new(flaw.name(), why));
            }
            Tier::Three => self.missed.clear(),
        }
    }

    fn hold_against_habit(&mut self, habit: Habit, must: &[&Finding]) {
        let breaks: Vec<Named> = habit
            .breaks()
            .iter()
            .map(|name| Named::read(name))
            .collect();
        self.sort(must, &breaks, &[]);
        // How a client's pauses vary cannot be told on a machine that is late itself.
        self.missed.retain(|wrong| {
            wrong.verdict != Some(Verdict::Inconclusive) || !is_about_time(&wrong.name)
        });
        if habit.is_mistake() && self.caught.is_empty() && self.missed.is_empty() {
            let why = "no check that it breaks failed";
            self.missed.push(Wrong::new(habit.name(), why));
        }
    }

    fn hold_against_sight(&mut self, variant: &Variant, must: &[&Finding], report: &Report) {
        let (broken, told) = match variant.unpromised {
            Sight::Nothing => (&[][..], None),
            Sight::Observed(promise) => (&[][..], Some(promise)),
            Sight::Broken(names) => (names, None),
        };
        let broken: Vec<Named> = broken.iter().map(|name| Named::read(name)).collect();
        self.sort(must, &broken, &[]);
        let Some(promise) = told else { return };
        let is_told = report.promises.iter().any(|told| {
            told.promise.name() == promise
                && told.strength == Strength::Unspecified
                && !told.observed.is_empty()
        });
        if !is_told {
            let why = "the report tells nothing of what was observed of this promise";
            self.missed.push(Wrong::new(promise, why));
        }
    }

    /// Sorts the failures into those that must be, those that may be and those that may not, and
    /// finds what must fail and does not.
    fn sort(&mut self, must: &[&Finding], breaks: &[Named], may: &[Named]) {
        for name in breaks {
            let mut meant = must
                .iter()
                .filter(|finding| finding.verdict != Verdict::Skip && name.means(&finding.name))
                .peekable();
            if meant.peek().is_none() {
                let why = "there is no such finding";
                self.missed.push(Wrong::new(name.whole(), why));
            }
            let held = meant.filter(|finding| finding.verdict != Verdict::Fail);
            self.missed.extend(held.map(|finding| Wrong::of(finding)));
        }
        let failed = must
            .iter()
            .filter(|finding| finding.verdict == Verdict::Fail);
        for finding in failed {
            match breaks
                .iter()
                .chain(may)
                .any(|name| name.covers(&finding.name))
            {
                true => self.caught.push(finding.name.clone()),
                false => self.alarms.push(Wrong::of(finding)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Compared, Wrong};
    use crate::verdict::Verdict;

    fn wrong(verdict: Option<Verdict>) -> Wrong {
        Wrong {
            verdict,
            ..Wrong::new("race/burst/item-5/effects-at-most", "of a reason")
        }
    }

    #[test]
    fn only_what_was_not_shown_is_tried_again() {
        let missed = |verdicts: &[Option<Verdict>]| Compared {
            missed: verdicts.iter().map(|verdict| wrong(*verdict)).collect(),
            ..Compared::default()
        };
        assert!(!missed(&[]).deserves_another_try());
        assert!(missed(&[Some(Verdict::Inconclusive), None]).deserves_another_try());
        let passed = missed(&[Some(Verdict::Inconclusive), Some(Verdict::Pass)]);
        assert!(!passed.deserves_another_try(), "a pass under a flaw stands");
        let mut alarmed = missed(&[Some(Verdict::Inconclusive)]);
        alarmed.alarms.push(wrong(Some(Verdict::Fail)));
        assert!(!alarmed.deserves_another_try(), "a false alarm stands");
    }
}
