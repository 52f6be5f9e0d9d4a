//! From the rulings of the rounds to one finding: a break in any round fails, a pass needs enough
//! rounds that showed something, and everything else says why nothing was shown.

use super::documented::{Documented, Graded};
use super::ruling::{Ruled, Ruling};
use super::vantage::is_same;
use super::view::View;
use super::{Evidence, Finding, Observation, Tally, held_back, in_time, keeps, reach, rule};
use crate::checklist::ItemId;
use crate::contract::{AfterFailure, Contract, FailureClass};
use crate::promise::{Level, Promise, Strength};
use crate::scenario::{Bound, Case, Check, Expectation, Scenario};
use crate::transcript::{Round, Transcript};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges that a report shows of one round.
const SHOWN: usize = 6;

/// One expectation over all rounds.
pub(super) struct Folding<'a> {
    pub(super) operation: &'a str,
    pub(super) scenario: &'a Scenario,
    pub(super) case: &'a Case,
    pub(super) contract: &'a Contract,
    pub(super) transcript: &'a Transcript,
    pub(super) item: ItemId,
    pub(super) expectation: &'a Expectation,
    pub(super) views: &'a [View<'a>],
    /// For each round, which assumption is broken.
    pub(super) assumptions: &'a [Option<String>],
}

/// A round's ruling.
struct Judged<'a> {
    number: u32,
    ruling: Ruling,
    /// For each exchange that the ruling speaks of, where it was recorded.
    origins: &'a [(u32, usize)],
}

/// The rounds' rulings. Of a round that was seen from several places, the one that shows most.
fn judged<'a>(folding: &Folding<'a>) -> Vec<Judged<'a>> {
    let mut rounds: Vec<(&Round, Judged<'a>)> = Vec::new();
    for (view, broken) in folding.views.iter().zip(folding.assumptions) {
        let mut own = Judged {
            number: view.round.number,
            ruling: settle(folding.expectation, view, broken.as_deref()),
            origins: view.origins,
        };
        match rounds
            .iter_mut()
            .find(|(round, _)| is_same(round, view.round))
        {
            None => rounds.push((view.round, own)),
            Some((_, known)) => {
                if own.ruling.shows() > known.ruling.shows() {
                    std::mem::swap(&mut known.ruling, &mut own.ruling);
                    known.origins = own.origins;
                }
                known.ruling.observed.append(&mut own.ruling.observed);
            }
        }
    }
    rounds.into_iter().map(|(_, judged)| judged).collect()
}

/// One finding out of all rounds.
pub(super) fn fold(folding: &Folding<'_>) -> Finding {
    let Folding {
        contract,
        expectation,
        transcript,
        ..
    } = folding;
    if let Some(promise) = expectation.unless
        && contract.allows(promise)
    {
        return finding(
            folding,
            &[],
            Verdict::Skip,
            format!(
                "void: the contract declares for {}: {}",
                promise.name(),
                keeps::declared(contract, promise)
            ),
        );
    }
    let rounds = judged(folding);
    let failed: Vec<&Judged<'_>> = rounds
        .iter()
        .filter(|round| round.ruling.is_broken())
        .collect();
    if let Some(first) = failed.first()
        && let Ruled::Broken(says) = &first.ruling.ruled
    {
        let reason = if rounds.len() == 1 {
            says.clone()
        } else {
            format!(
                "in {} of {} rounds, first: round {}: {says}",
                failed.len(),
                rounds.len(),
                first.number
            )
        };
        return finding(folding, &rounds, Verdict::Fail, reason);
    }
    if let Some(why) = &transcript.not_applicable {
        return finding(folding, &[], Verdict::Skip, why.clone());
    }
    if let Some(why) = transcript.broken.first() {
        return finding(folding, &rounds, Verdict::Inconclusive, why.clone());
    }
    if rounds.is_empty() {
        let why = "nothing ran".to_owned();
        return finding(folding, &rounds, Verdict::Inconclusive, why);
    }
    let (verdict, reason) = unbroken(folding, &rounds);
    finding(folding, &rounds, verdict, reason)
}

/// The ruling of a round in the light of its assumptions.
fn settle(expectation: &Expectation, view: &View<'_>, broken: Option<&str>) -> Ruling {
    if let Some(condition) = &expectation.condition
        && let Some(why) = view.unmet(condition)
    {
        return Ruling::void(why);
    }
    let ruling = rule(view, &expectation.check);
    let safe = expectation.check.is_safety() || ruling.stands;
    if ruling.is_broken() && safe {
        return ruling;
    }
    if let Some(why) = broken {
        return Ruling::nothing(why).with_observed(ruling.observed);
    }
    let restopped = expectation
        .check
        .steps()
        .into_iter()
        .find(|step| view.restopped.contains(*step));
    match restopped {
        Some(step) => Ruling::nothing(format!(
            "`{step}` was stopped under another contract, and would have gone on or stopped earlier under this one"
        )),
        None => ruling,
    }
}

/// No round was broken: a pass, nothing shown, or not applicable.
fn unbroken(folding: &Folding<'_>, rounds: &[Judged<'_>]) -> (Verdict, String) {
    let plan = folding.scenario.rounds;
    let of = |kind: fn(&Ruled) -> Option<&String>| -> Vec<(&String, u64)> {
        rounds
            .iter()
            .filter_map(|round| Some((kind(&round.ruling.ruled)?, round.ruling.weight)))
            .collect()
    };
    let held = of(|ruled| match ruled {
        Ruled::Held(says) => Some(says),
        _ => None,
    });
    let not_applicable = of(|ruled| match ruled {
        Ruled::Void(why) | Ruled::Observed(why) => Some(why),
        _ => None,
    });
    let nothing = of(|ruled| match ruled {
        Ruled::Nothing(why) => Some(why),
        _ => None,
    });
    let ran = rounds.len();
    let wanted = usize::try_from(plan.valid).unwrap_or(usize::MAX).max(1);
    // Rounds at one place of a spread show one thing, however many they are.
    let places: BTreeSet<usize> = rounds
        .iter()
        .enumerate()
        .filter(|(_, round)| !matches!(round.ruling.ruled, Ruled::Nothing(_)))
        .map(|(index, round)| in_time::place(folding.case, &plan, round.number, index))
        .collect();
    let enough = places.len() >= wanted;
    if !held.is_empty() && enough {
        let says = held
            .iter()
            .rev()
            .max_by_key(|(_, weight)| *weight)
            .map(|(says, _)| (*says).clone())
            .unwrap_or_default();
        let reason = if ran == 1 {
            says
        } else {
            format!("in {} of {ran} rounds: {says}", held.len())
        };
        return (Verdict::Pass, reason);
    }
    if enough {
        return (Verdict::Skip, commonest(&not_applicable));
    }
    if nothing.is_empty() {
        return (
            Verdict::Inconclusive,
            format!("{ran} rounds ran, and {wanted} are needed"),
        );
    }
    let why = commonest(&nothing);
    let reason = if ran == 1 {
        why
    } else {
        format!(
            "only {} of {ran} rounds showed something{}, and {wanted} are needed; most often: {why}",
            held.len(),
            match places.len() {
                places if places < held.len() => format!(", at {places} moments"),
                _ => String::new(),
            }
        )
    };
    (Verdict::Inconclusive, reason)
}

/// The gravest grade that the rounds give to a statement of the documents; none was shown where the
/// finding shows nothing.
fn documented(rounds: &[Judged<'_>], verdict: Verdict) -> Option<Graded> {
    let gravest = rounds
        .iter()
        .filter_map(|round| round.ruling.documented.as_deref().cloned())
        .max_by_key(|graded| graded.grade)?;
    Some(match verdict {
        Verdict::Pass | Verdict::Fail => gravest,
        Verdict::Skip | Verdict::Inconclusive => Graded {
            grade: Documented::NotShown,
            ..gravest
        },
    })
}

/// The commonest of several reasons; the earliest of equally common ones.
fn commonest(reasons: &[(&String, u64)]) -> String {
    let count = |reason: &String| reasons.iter().filter(|(own, _)| *own == reason).count();
    reasons
        .iter()
        .rev()
        .max_by_key(|(reason, _)| count(reason))
        .map(|(reason, _)| (*reason).clone())
        .unwrap_or_default()
}

fn finding(
    folding: &Folding<'_>,
    rounds: &[Judged<'_>],
    verdict: Verdict,
    reason: String,
) -> Finding {
    let Folding {
        operation,
        scenario,
        case,
        contract,
        expectation,
        ..
    } = folding;
    let failed: Vec<&Judged<'_>> = rounds
        .iter()
        .filter(|round| round.ruling.is_broken())
        .collect();
    let held = rounds
        .iter()
        .filter(|round| matches!(round.ruling.ruled, Ruled::Held(_)))
        .count();
    let reach = match expectation.check {
        Check::Effects {
            bound: Bound::AtMost(_),
            ..
        } => reach(case, folding.views.iter().map(|view| view.round)),
        _ => None,
    };
    let waited = || held_back::says(folding.views.iter().map(|view| view.round));
    let told = match (verdict, &reach) {
        (Verdict::Pass, Some(reach)) => [Some(reach.says()), waited()],
        (Verdict::Inconclusive, _) if !rounds.is_empty() => [None, waited()],
        _ => [None, None],
    };
    let reason = told
        .into_iter()
        .flatten()
        .fold(reason, |reason, more| format!("{reason}; {more}"));
    let promise = match &expectation.check {
        Check::Keeps { promise, .. } => Some(*promise),
        _ => None,
    };
    Finding {
        name: format!(
            "{operation}/{}/{}/{}",
            scenario.case_id(case),
            folding.item,
            expectation.id
        ),
        id: expectation.id.clone(),
        item: folding.item,
        verdict,
        level: level(contract, expectation, promise, &failed),
        severity: scenario.severity,
        reason,
        steps: expectation
            .check
            .steps()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        promise,
        documented: documented(rounds, verdict),
        observed: observations(rounds),
        rounds: Tally {
            ran: count(rounds.len()),
            valid: count(held + failed.len()),
            failed: count(failed.len()),
            first_failed: failed.first().map(|round| round.number),
        },
        reach,
        evidence: evidence(rounds, &failed),
    }
}

/// The level that is written, or the must that a contract makes of it: after an error a second
/// effect is many an API's policy, but not where a failure promises to leave none, or to be stored.
fn written(contract: &Contract, expectation: &Expectation) -> Level {
    let at_most = matches!(
        expectation.check,
        Check::Effects {
            bound: Bound::AtMost(_),
            ..
        }
    );
    let stored = contract.after(FailureClass::Server5xx);
    let promised = contract.atomic.value == Some(true)
        && contract.atomic.strength == Strength::Must
        || stored.value == Some(AfterFailure::Stored) && stored.strength == Strength::Must;
    if at_most && promised {
        expectation.level.max(Level::Must)
    } else {
        expectation.level
    }
}

/// The gravest level of the breaks; without a break, that of the promise or the expectation.
fn level(
    contract: &Contract,
    expectation: &Expectation,
    promise: Option<Promise>,
    failed: &[&Judged<'_>],
) -> Level {
    let written = written(contract, expectation);
    if let Some(level) = failed
        .iter()
        .map(|round| round.ruling.level.unwrap_or(written))
        .max()
    {
        return level;
    }
    match promise.map(|promise| contract.strength(promise)) {
        Some(Strength::Should) => Level::Should,
        Some(Strength::May) => Level::Note,
        _ => written,
    }
}

/// What was observed, the commonest first.
fn observations(rounds: &[Judged<'_>]) -> Vec<Observation> {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for says in rounds.iter().flat_map(|round| &round.ruling.observed) {
        *times.entry(says).or_default() += 1;
    }
    let mut observed: Vec<Observation> = times
        .into_iter()
        .map(|(says, times)| Observation {
            says: says.to_owned(),
            times,
        })
        .collect();
    observed.sort_by_key(|observation| std::cmp::Reverse(observation.times));
    observed
}

/// The first broken round and the worst; without a break, the first round that shows anything.
fn evidence(rounds: &[Judged<'_>], failed: &[&Judged<'_>]) -> Vec<Evidence> {
    let mut shown: Vec<&Judged<'_>> = Vec::new();
    if let Some(first) = failed.first() {
        shown.push(first);
        let worst = failed
            .iter()
            .rev()
            .max_by_key(|round| round.ruling.weight)
            .filter(|worst| worst.ruling.weight > first.ruling.weight);
        shown.extend(worst);
    } else {
        shown.extend(
            rounds
                .iter()
                .find(|round| !round.ruling.exchanges.is_empty()),
        );
    }
    shown
        .into_iter()
        .flat_map(|round| {
            round
                .ruling
                .exchanges
                .iter()
                .take(SHOWN)
                .filter_map(|&exchange| round.origins.get(exchange))
                .map(|&(round, exchange)| Evidence { round, exchange })
        })
        .collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
