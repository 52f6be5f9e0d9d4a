//! What one round says about one expectation, before rounds are folded into a finding.

use super::documented::{Documented, Graded};
use crate::promise::Level;

/// What one round says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruling {
    /// The ruling itself.
    pub(super) ruled: Ruled,
    /// What was observed, in words, whether or not anything is promised about it.
    pub(super) observed: Vec<String>,
    /// The exchanges that show it, by their place in the round.
    pub(super) exchanges: Vec<usize>,
    /// How grave a break is, where the expectation's own level does not say it.
    pub(super) level: Option<Level>,
    /// The break stands although an assumption of the round is broken.
    pub(super) stands: bool,
    /// What becomes of a statement of the documents, where it is about one.
    pub(super) documented: Option<Box<Graded>>,
    /// Orders rounds by how much they show; the greatest is the worst.
    pub(super) weight: u64,
}

/// The five kinds of rulings.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ruled {
    /// It held, and this is what was shown.
    Held(String),
    /// It was broken.
    Broken(String),
    /// Nothing was shown either way.
    Nothing(String),
    /// It does not apply to what happened.
    Void(String),
    /// Nothing is promised; what happened is only reported.
    Observed(String),
}

impl Ruling {
    fn new(ruled: Ruled) -> Ruling {
        Ruling {
            ruled,
            observed: Vec::new(),
            exchanges: Vec::new(),
            level: None,
            stands: false,
            documented: None,
            weight: 0,
        }
    }

    /// It held.
    pub(super) fn held(says: impl Into<String>) -> Ruling {
        Ruling::new(Ruled::Held(says.into()))
    }

    /// It was broken.
    pub(super) fn broken(says: impl Into<String>) -> Ruling {
        Ruling::new(Ruled::Broken(says.into()))
    }

    /// Nothing was shown.
    pub(super) fn nothing(why: impl Into<String>) -> Ruling {
        Ruling::new(Ruled::Nothing(why.into()))
    }

    /// It does not apply.
    pub(super) fn void(why: impl Into<String>) -> Ruling {
        Ruling::new(Ruled::Void(why.into()))
    }

    /// Only reported.
    pub(super) fn observed(says: impl Into<String>) -> Ruling {
        Ruling::new(Ruled::Observed(says.into()))
    }

    /// The same with what was observed.
    pub(super) fn with_observed(mut self, observed: Vec<String>) -> Ruling {
        self.observed = observed;
        self
    }

    /// The same with the exchanges that show it.
    pub(super) fn seen_in(mut self, exchanges: impl IntoIterator<Item = usize>) -> Ruling {
        self.exchanges = exchanges.into_iter().collect();
        self
    }

    /// The same with a level of its own.
    pub(super) fn at_level(mut self, level: Level) -> Ruling {
        self.level = Some(level);
        self
    }

    /// The same as the grade of a statement of the documents, of which [`Ruling::about`] tells.
    pub(super) fn graded(mut self, grade: Documented) -> Ruling {
        self.documented = Some(Box::new(Graded {
            about: String::new(),
            grade,
        }));
        self
    }

    /// The same about a statement of the documents; one without a grade was not shown.
    pub(super) fn about(mut self, about: impl Into<String>) -> Ruling {
        let grade = self
            .documented
            .map_or(Documented::NotShown, |graded| graded.grade);
        self.documented = Some(Box::new(Graded {
            about: about.into(),
            grade,
        }));
        self
    }

    /// The same with a weight.
    pub(super) fn weighing(mut self, weight: u64) -> Ruling {
        self.weight = weight;
        self
    }

    /// The same, standing also where an assumption is broken.
    pub(super) fn standing(mut self) -> Ruling {
        self.stands = true;
        self
    }

    /// Whether it was broken.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.ruled, Ruled::Broken(_))
    }

    /// The gravest of several: a break, then nothing shown, then what held, then what is void.
    pub(super) fn gravest(rulings: impl IntoIterator<Item = Ruling>) -> Option<Ruling> {
        rulings.into_iter().reduce(|one, other| {
            let (mut graver, lighter) = if other.rank() > one.rank() {
                (other, one)
            } else {
                (one, other)
            };
            graver.observed.extend(lighter.observed);
            graver
        })
    }

    /// How much it shows, for the same thing seen twice: a break, then what held, then what does not
    /// apply, then nothing.
    pub(super) fn shows(&self) -> (u8, u64) {
        let kind = match self.ruled {
            Ruled::Nothing(_) => 0,
            Ruled::Void(_) => 1,
            Ruled::Observed(_) => 2,
            Ruled::Held(_) => 3,
            Ruled::Broken(_) => 4,
        };
        (kind, self.weight)
    }

    fn rank(&self) -> (u8, u64) {
        let kind = match self.ruled {
            Ruled::Void(_) => 0,
            Ruled::Observed(_) => 1,
            Ruled::Held(_) => 2,
            Ruled::Nothing(_) => 3,
            Ruled::Broken(_) => 4,
        };
        (kind, self.weight)
    }
}
