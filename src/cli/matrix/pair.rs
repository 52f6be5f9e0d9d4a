//! One run, held to one contract: what was expected beside what was found.

use super::expected::{Demo, Expected};
use crate::contract::Contract;
use crate::demo::policy::Gives;
use crate::judge::Finding;
use crate::outcome::Meaning;
use crate::promise::{Level, Promise};
use crate::scenario::{Check, Expectation, OutcomeBound};
use crate::verdict::Verdict;

/// The point of the checklist that results are given to their owners only.
const AUTHENTICATION: u8 = 6;

/// A demo that keeps one contract, held to another one.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The contract that the demo keeps.
    pub kept: String,
    /// The contract that it is held to.
    pub held: String,
    /// The promises in which the two differ, and that the run breaks.
    pub differs: Vec<Promise>,
    /// The promises in which the two differ, and of which the run shows nothing; with why.
    pub hidden: Vec<(Promise, String)>,
    /// Whether the demo gives tenants each other's results, as its contract has it: that breaks an
    /// invariant, whatever it is held to.
    pub leaks: bool,
    /// Whether the demo looks at no key, as its contract has it: that breaks invariants, whatever it
    /// is held to.
    pub unprotected: bool,
    /// What came otherwise than expected, in sentences.
    pub unexpected: Vec<String>,
}

impl Pair {
    /// Whether the two contracts agree in all that was shown, and nothing was unexpected.
    pub fn agrees(&self) -> bool {
        self.differs.is_empty() && self.hidden.is_empty() && self.unexpected.is_empty()
    }
}

/// What the findings show of a promise.
enum Shown {
    /// It is broken; the findings that say so.
    Broken(Vec<String>),
    /// It is kept.
    Kept,
    /// Nothing; why.
    Nothing(String),
}

/// Holds what was expected against the findings under the other contract.
pub(super) fn compare(
    demo: &Demo<'_>,
    held: &Contract,
    findings: &[(&Expectation, Finding)],
) -> Pair {
    let mut pair = Pair {
        kept: demo.does.name.clone(),
        held: held.name.clone(),
        differs: Vec::new(),
        hidden: Vec::new(),
        leaks: false,
        unprotected: false,
        unexpected: Vec::new(),
    };
    for promise in Promise::ALL {
        let expected = demo.under(held, promise);
        match (expected, shown(promise, findings)) {
            (Some(Expected::Broken), Shown::Broken(_)) => pair.differs.push(promise),
            (Some(Expected::Broken), Shown::Nothing(why)) => pair.hidden.push((promise, why)),
            (Some(Expected::Broken), Shown::Kept) => pair.unexpected.push(format!(
                "{} is kept, although the contracts differ in it",
                promise.name()
            )),
            (Some(Expected::Open), Shown::Broken(_)) => pair.differs.push(promise),
            (None | Some(Expected::Kept), Shown::Broken(how)) => pair.unexpected.push(format!(
                "{} is broken, although the contracts do not differ in it: {}",
                promise.name(),
                how.join("; ")
            )),
            (None | Some(Expected::Kept | Expected::Open), Shown::Kept | Shown::Nothing(_)) => {}
        }
    }
    for (expectation, finding) in findings {
        if finding.promise.is_some() || !fails(finding) || follows(demo, held, expectation) {
            continue;
        }
        if finding.item.number() == AUTHENTICATION && demo.does.allows(Promise::OtherPrincipal) {
            pair.leaks = true;
            continue;
        }
        if demo.reads_no_keys() && is_about_repeats(&expectation.check) {
            pair.unprotected = true;
            continue;
        }
        pair.unexpected
            .push(format!("{}: {}", finding.name, finding.reason));
    }
    pair
}

/// Whether the break of an expectation that is no promise follows from one in which the contracts
/// differ: what the demo may do by its own contract, and may not by the other.
fn follows(demo: &Demo<'_>, held: &Contract, expectation: &Expectation) -> bool {
    let differs = |promise| demo.under(held, promise) == Some(Expected::Broken);
    match (&expectation.check, expectation.unless) {
        (_, Some(promise)) => {
            differs(promise) || (demo.does.allows(promise) && !held.allows(promise))
        }
        (Check::SameResponse { .. }, None) => {
            let replay = &demo.policy.replay;
            let stored = matches!(replay.gives, Gives::Stored) && replay.status.is_none();
            differs(Promise::Replay) || !stored
        }
        (_, None) => false,
    }
}

/// Whether a check is against executing a repeated request, and not about how the API fails.
fn is_about_repeats(check: &Check) -> bool {
    match check {
        Check::Effects { .. }
        | Check::OneResource { .. }
        | Check::SameResponse { .. }
        | Check::Agrees { .. } => true,
        Check::Outcome { bound, .. } => match bound {
            OutcomeBound::Never(outcome) => outcome.may_be(Meaning::Executed),
            OutcomeBound::Is(outcome) => !outcome.may_be(Meaning::Executed),
            _ => false,
        },
        _ => false,
    }
}

fn fails(finding: &Finding) -> bool {
    finding.verdict == Verdict::Fail && finding.level == Level::Must
}

fn shown(promise: Promise, findings: &[(&Expectation, Finding)]) -> Shown {
    let about: Vec<&Finding> = findings
        .iter()
        .map(|(_, finding)| finding)
        .filter(|finding| finding.promise == Some(promise))
        .collect();
    let broken: Vec<String> = about
        .iter()
        .filter(|finding| fails(finding))
        .map(|finding| format!("{}: {}", finding.name, finding.reason))
        .collect();
    if !broken.is_empty() {
        return Shown::Broken(broken);
    }
    if about.iter().any(|finding| finding.verdict == Verdict::Pass) {
        return Shown::Kept;
    }
    let open = about
        .iter()
        .find(|finding| finding.verdict == Verdict::Inconclusive)
        .or(about.first());
    Shown::Nothing(open.map_or_else(
        || "no scenario that ran is about it".to_owned(),
        |finding| finding.reason.clone(),
    ))
}
