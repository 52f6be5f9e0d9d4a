//! The four verdicts and how they combine. There is no fifth and no default.

use serde::Serialize;

/// What is known about one expectation, item or run.
///
/// The order is the order of gravity: the worst of several is their maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does not apply here; a reason always stands beside it.
    Skip,
    /// It held, and a control shows that it could have failed.
    Pass,
    /// Nothing was shown either way; a reason always stands beside it.
    Inconclusive,
    /// It was broken.
    Fail,
}

impl Verdict {
    /// The gravest of several; `None` when there is nothing to judge, which is never a pass.
    pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
        verdicts.into_iter().max()
    }

    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Skip => "skip",
            Verdict::Pass => "pass",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Fail => "fail",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn nothing_judged_is_never_a_pass() {
        assert_eq!(Verdict::worst([]), None);
    }

    #[test]
    fn one_failure_outweighs_everything() {
        let all = [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::Inconclusive,
            Verdict::Skip,
        ];
        assert_eq!(Verdict::worst(all), Some(Verdict::Fail));
        assert_eq!(
            Verdict::worst([Verdict::Pass, Verdict::Inconclusive]),
            Some(Verdict::Inconclusive)
        );
        assert_eq!(
            Verdict::worst([Verdict::Pass, Verdict::Skip]),
            Some(Verdict::Pass)
        );
    }
}
