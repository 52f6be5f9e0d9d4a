//! Which expectations each flaw breaks.

use super::flaw::Flaw;

/// What a flaw does to the findings of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damage {
    /// Expectations that fail in every run.
    pub breaks: &'static [&'static str],
    /// Expectations that fail in some runs.
    pub may_break: &'static [&'static str],
}

/// What a flaw breaks.
pub(super) fn damage(_flaw: Flaw) -> Damage {
    Damage {
        breaks: &[],
        may_break: &[],
    }
}
