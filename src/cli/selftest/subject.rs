//! What the tool is tried on: a demo with a flaw, with a variant, or without either.

use super::named::{Named, OPERATION};
use crate::cli::args::Selection;
use crate::cli::failure::Failure;
use crate::cli::run::Trial;
use crate::cli::target;
use crate::demo::{Flaw, Options, Tier, Variant};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a write of the demo works: shorter than by itself, so that the whole is quick.
const WORK: Duration = Duration::from_millis(30);

/// Cases that few flaws touch, tried with every flaw.
const SAMPLE: [&str; 4] = [
    "replay/exact#plain",
    "payload/changed#value",
    "auth/credentials#none",
    "scope/fresh-key",
];

/// A demo that the tool is tried on, and the contract under which it is judged.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// The demo as it is by itself: nothing may fail, and everything must be shown.
    Correct,
    /// With a defect: what it breaks must fail, and nothing else.
    Flawed(Flaw),
    /// With another way to behave that is right, under the contract that allows it: nothing may fail.
    Allowed(&'static Variant),
    /// The same where nothing is promised: nothing may fail but what no contract excuses unsaid.
    Unpromised(&'static Variant),
}

impl Subject {
    /// Its number in the catalogue of faults; nothing for the correct demo.
    pub fn id(self) -> &'static str {
        match self {
            Subject::Correct => "",
            Subject::Flawed(flaw) => flaw.id(),
            Subject::Allowed(variant) | Subject::Unpromised(variant) => variant.id,
        }
    }

    /// The name of the flaw or variant.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Correct => "correct",
            Subject::Flawed(flaw) => flaw.name(),
            Subject::Allowed(variant) | Subject::Unpromised(variant) => variant.name,
        }
    }

    /// The same with the contract, where it is the second time that the name comes.
    pub fn label(self) -> String {
        match self {
            Subject::Unpromised(variant) => format!("{} (generic)", variant.name),
            other => other.name().to_owned(),
        }
    }

    /// Whether it is caught at a rate only, so that it is tried several times.
    pub fn is_a_matter_of_luck(self) -> bool {
        matches!(self, Subject::Flawed(flaw) if flaw.tier() == Tier::Three)
    }

    /// The trial of it, with the scenarios that bear on it or with all.
    ///
    /// # Errors
    /// When a contract cannot be read, which tests exclude.
    pub(super) fn trial(self, full: bool) -> Result<Trial, Failure> {
        let own = match self {
            Subject::Correct => Trial::default(),
            Subject::Flawed(flaw) => Trial {
                options: Options {
                    flaw: Some(flaw),
                    ..Options::default()
                },
                ..Trial::default()
            },
            Subject::Allowed(variant) => Trial::of(variant)?,
            Subject::Unpromised(variant) => Trial {
                contract: Some(target::unpromising(variant)?),
                ..Trial::of(variant)?
            },
        };
        Ok(Trial {
            options: Options {
                work: WORK,
                ..own.options
            },
            selection: match full {
                true => Selection::default(),
                false => self.selection(),
            },
            ..own
        })
    }

    /// What bears on it, and a sample of what does not.
    fn selection(self) -> Selection {
        let names: Vec<Named> = match self {
            Subject::Correct => return Selection::default(),
            Subject::Flawed(flaw) => {
                let lucky = match flaw.tier() {
                    Tier::One | Tier::Two => &[],
                    Tier::Three => flaw.may_break(),
                };
                let broken = flaw.breaks().iter().chain(lucky);
                broken
                    .chain(&SAMPLE)
                    .map(|name| Named::read(name))
                    .collect()
            }
            Subject::Allowed(variant) | Subject::Unpromised(variant) => variant
                .upsets
                .iter()
                .map(|name| Named::read(name))
                .collect(),
        };
        let operations: BTreeSet<&str> = names
            .iter()
            .map(Named::operation)
            .chain([OPERATION])
            .collect();
        let scenarios: BTreeSet<String> = names.iter().map(Named::selects).collect();
        Selection {
            scenario: scenarios.into_iter().collect(),
            operation: operations.into_iter().map(str::to_owned).collect(),
            ..Selection::default()
        }
    }
}
