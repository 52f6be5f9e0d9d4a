//! What the tool is tried on: a demo with a flaw, with a variant, or without either; and a client with a
//! habit.

use super::named::{Named, OPERATION};
use crate::cli::args::Selection;
use crate::cli::client::builtin::{habit_report, telling};
use crate::cli::failure::Failure;
use crate::cli::progress::Callback;
use crate::cli::run::Trial;
use crate::cli::stage::own_executable;
use crate::cli::target;
use crate::demo::{Flaw, Options, Tier, Variant};
use crate::demo_client::Habit;
use crate::grade::Report;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a write of the demo works: shorter than by itself, so that the whole is quick.
const WORK: Duration = Duration::from_millis(30);

/// Commands of one audit of a client that run at once.
const COMMANDS: usize = 4;

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
    /// The demo client with a habit: what it breaks must fail, and nothing else.
    Client(Habit),
}

impl Subject {
    /// Its number in the catalogue of faults; nothing for the correct demo.
    pub fn id(self) -> &'static str {
        match self {
            Subject::Correct => "",
            Subject::Flawed(flaw) => flaw.id(),
            Subject::Allowed(variant) | Subject::Unpromised(variant) => variant.id,
            Subject::Client(habit) => habit.kind(),
        }
    }

    /// The name of the flaw, the variant or the habit.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Correct => "correct",
            Subject::Flawed(flaw) => flaw.name(),
            Subject::Allowed(variant) | Subject::Unpromised(variant) => variant.name,
            Subject::Client(habit) => habit.name(),
        }
    }

    /// The same with the contract, where it is the second time that the name comes.
    pub fn label(self) -> String {
        match self {
            Subject::Unpromised(variant) => format!("{} (generic)", variant.name),
            Subject::Client(habit) => format!("{} (client)", habit.name()),
            other => other.name().to_owned(),
        }
    }

    /// Whether something is wrong with it that must be caught.
    pub fn is_wrong(self) -> bool {
        match self {
            Subject::Flawed(_) => true,
            Subject::Client(habit) => habit.is_mistake(),
            Subject::Correct | Subject::Allowed(_) | Subject::Unpromised(_) => false,
        }
    }

    /// How much there is to run, roughly: expectations that are looked at.
    pub(super) fn extent(self) -> usize {
        match self {
            Subject::Correct => usize::MAX,
            Subject::Flawed(flaw) => flaw.breaks().len(),
            Subject::Allowed(variant) | Subject::Unpromised(variant) => variant.upsets.len(),
            Subject::Client(habit) => habit.breaks().len(),
        }
    }

    /// Whether it is caught at a rate only, so that it is tried several times.
    pub fn is_a_matter_of_luck(self) -> bool {
        matches!(self, Subject::Flawed(flaw) if flaw.tier() == Tier::Three)
    }

    /// The report of the tool on it, with the scenarios that bear on it or with all.
    ///
    /// # Errors
    /// When the tool cannot run, or a contract cannot be read, which tests exclude.
    pub(super) async fn report(self, full: bool) -> Result<Report, Failure> {
        let Subject::Client(habit) = self else {
            return Box::pin(self.trial(full)?.report()).await;
        };
        let selection = match full {
            true => Selection::default(),
            false => telling(habit),
        };
        let program = own_executable()
            .ok_or_else(|| Failure::Unable("this program cannot be found".to_owned()))?;
        let silent: Callback = Box::new(|_, _, _| {});
        habit_report(&program, habit, &selection, COMMANDS, &silent).await
    }

    fn trial(self, full: bool) -> Result<Trial, Failure> {
        let own = match self {
            Subject::Client(_) => Trial::default(),
            Subject::Correct => Trial::default(),
            Subject::Flawed(flaw) => Trial::with(flaw)?,
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
            Subject::Correct | Subject::Client(_) => return Selection::default(),
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
