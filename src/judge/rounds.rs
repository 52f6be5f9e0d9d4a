//! From the rulings of the rounds to one finding: a break in any round fails, a pass needs enough
//! rounds that showed something, and everything else says why nothing was shown.

use super::ruling::{Ruled, Ruling};
use super::view::View;
use super::{Evidence, Finding, Observation, Tally, keeps, rule};
use crate::checklist::ItemId;
use crate::contract::{AfterFailure, Contract, FailureClass};
use crate::promise::{Level, Promise, Strength};
use crate::scenario::{Bound, Case, Check, Expectation, Scenario};
use crate::transcript::Transcript;
use crate::verdict::Verdict;
use std::collections::BTreeMap;

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

/// A round's ruling, and whether the round counts.
struct Judged {
    number: u32,
    ruling: Ruling,
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
    let rounds: Vec<Judged> = folding
        .views
        .iter()
        .zip(folding.assumptions)
        .map(|(view, broken)| Judged {
            number: view.round.number,
            ruling: settle(expectation, view, broken.as_deref()),
        })
        .collect();
    let failed: Vec<&Judged> = rounds
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
    if let Some(why) = transcript.broken.first() {
        return finding(folding, &rounds, Verdict::Inconclusive, why.clone());
    }
    if rounds.is_empty() {
        let why = "nothing ran".to_owned();
        return finding(folding, &rounds, Verdict::Inconclusive, why);
    }
    let (verdict, reason) = unbroken(folding.scenario, &rounds);
    finding(folding, &rounds, verdict, reason)
}

/// The ruling of a round in the light of its assumptions.
fn settle(expectation: &Expectation, view: &View<'_>, broken: Option<&str>) -> Ruling {
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
fn unbroken(scenario: &Scenario, rounds: &[Judged]) -> (Verdict, String) {
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
    let wanted = usize::try_from(scenario.rounds.valid)
        .unwrap_or(usize::MAX)
        .max(1);
    let enough = held.len() + not_applicable.len() >= wanted;
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
    if held.is_empty() && enough {
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
            "only {} of {ran} rounds showed something, and {wanted} are needed; most often: {why}",
            held.len()
        )
    };
    (Verdict::Inconclusive, reason)
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

fn finding(folding: &Folding<'_>, rounds: &[Judged], verdict: Verdict, reason: String) -> Finding {
    let Folding {
        operation,
        scenario,
        case,
        contract,
        expectation,
        ..
    } = folding;
    let failed: Vec<&Judged> = rounds
        .iter()
        .filter(|round| round.ruling.is_broken())
        .collect();
    let held = rounds
        .iter()
        .filter(|round| matches!(round.ruling.ruled, Ruled::Held(_)))
        .count();
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
        observed: observations(rounds),
        rounds: Tally {
            ran: count(folding.views.len()),
            valid: count(held + failed.len()),
            failed: count(failed.len()),
            first_failed: failed.first().map(|round| round.number),
        },
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
    failed: &[&Judged],
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
fn observations(rounds: &[Judged]) -> Vec<Observation> {
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
fn evidence(rounds: &[Judged], failed: &[&Judged]) -> Vec<Evidence> {
    let mut shown: Vec<&Judged> = Vec::new();
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
                .map(|&exchange| Evidence {
                    round: round.number,
                    exchange,
                })
        })
        .collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::contract::Contract;
    use crate::judge::sample::{
        answered, contract, demo, expecting, judged, judged_again, judged_with, paid, round,
        scenario, transcript,
    };
    use crate::outcome::{Meaning, Outcome};
    use crate::promise::Level;
    use crate::scenario::Scenario;
    use crate::transcript::Round;
    use crate::verdict::Verdict;

    fn bursts(expectation: &str) -> Scenario {
        scenario(&format!(
            "rounds: {{ count: 5, valid: 3 }}\nsteps:\n  - burst: {{ as: burst, key: fresh, copies: 2 }}\n  - send: {{ as: later, like: burst }}\nassume:\n  - outcome: {{ of: later, is: success }}\nexpect:\n  item-5:\n    - {expectation}\n"
        ))
    }

    /// A round of two copies with these payments in the end.
    fn pair(number: u32, payments: &[&str]) -> Round {
        round([
            paid("burst", "pay_1").at(0, 10),
            paid("burst", "pay_1").copy(1).at(0, 11),
            paid("later", "pay_1").at(20, 25),
        ])
        .numbered(number)
        .burst("burst", 2, 2)
        .late(payments)
    }

    const AT_MOST: &str = "effects: { at-most: 1 }";
    const AT_LEAST: &str = "effects: { at-least: 1 }";

    #[test]
    fn one_broken_round_fails_and_says_which() {
        let rounds = (1..=5)
            .map(|number| match number {
                2 => pair(number, &["pay_1", "pay_2"]),
                4 => pair(number, &["pay_1", "pay_2", "pay_3"]),
                _ => pair(number, &["pay_1"]),
            })
            .collect();
        let finding = judged(&bursts(AT_MOST), &contract(""), rounds);
        assert_eq!(finding.verdict, Verdict::Fail);
        assert_eq!(
            finding.reason,
            "in 2 of 5 rounds, first: round 2: two payments for one key: pay_1 and pay_2"
        );
        assert_eq!(
            finding.name,
            "create-payment/replay/test/item-5/effects-at-most"
        );
        assert_eq!(
            (finding.rounds.failed, finding.rounds.first_failed),
            (2, Some(2))
        );
        let shown: Vec<u32> = finding.evidence.iter().map(|one| one.round).collect();
        assert!(
            shown.contains(&2) && shown.contains(&4),
            "the first and the worst: {shown:?}"
        );
    }

    #[test]
    fn enough_valid_rounds_pass_and_too_few_show_nothing() {
        let void = |number| pair(number, &["pay_1"]).broken("the moment never came");
        let three = (1..=5)
            .map(|number| {
                if number <= 3 {
                    pair(number, &["pay_1"])
                } else {
                    void(number)
                }
            })
            .collect();
        let finding = judged(&bursts(AT_MOST), &contract(""), three);
        assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
        assert_eq!((finding.rounds.ran, finding.rounds.valid), (5, 3));
        let two = (1..=5)
            .map(|number| {
                if number <= 2 {
                    pair(number, &["pay_1"])
                } else {
                    void(number)
                }
            })
            .collect();
        let finding = judged(&bursts(AT_MOST), &contract(""), two);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(
            finding.reason.ends_with("the moment never came"),
            "{}",
            finding.reason
        );
    }

    #[test]
    fn a_burst_that_did_not_overlap_proves_nothing() {
        let alone = |number| {
            let mut round = pair(number, &["pay_1"]);
            round.bursts[0].in_flight = 1;
            round
        };
        let finding = judged(
            &bursts(AT_MOST),
            &contract(""),
            (1..=5).map(alone).collect(),
        );
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(
            finding.reason.contains("did not overlap"),
            "{}",
            finding.reason
        );
    }

    #[test]
    fn a_broken_assumption_hides_no_harm_and_voids_the_rest() {
        let refused = |payments: &[&str]| {
            round([
                paid("burst", "pay_1").at(0, 10),
                paid("burst", "pay_1").copy(1).at(0, 11),
                answered("later", 429).at(20, 25),
            ])
            .burst("burst", 2, 2)
            .late(payments)
        };
        let doubled = vec![refused(&["pay_1", "pay_2"])];
        let finding = judged(&bursts(AT_MOST), &contract(""), doubled);
        assert_eq!(finding.verdict, Verdict::Fail);
        let missing = vec![refused(&[])];
        let finding = judged(&bursts(AT_LEAST), &contract(""), missing);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(
            finding.reason.contains("assumed, but not so"),
            "{}",
            finding.reason
        );
    }

    #[test]
    fn a_contract_makes_a_must_of_no_second_effect_after_an_error() {
        let claim = expecting("effects: { at-most: 1, level: should }");
        let doubled = || {
            let rounds = [answered("first", 500), paid("again", "pay_2")];
            vec![round(rounds).late(&["pay_1", "pay_2"])]
        };
        let level = |contract: &Contract| {
            let finding = judged(&claim, contract, doubled());
            assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
            finding.level
        };
        assert_eq!(level(&contract("")), Level::Should);
        assert_eq!(
            level(&contract("extends: generic\natomic: true")),
            Level::Must
        );
        let stored = "extends: generic\nafter: { server-5xx: { is: stored, strength: must } }";
        assert_eq!(level(&contract(stored)), Level::Must);
        assert_eq!(level(&demo()), Level::Must);
    }

    #[test]
    fn nothing_ran_is_never_a_pass() {
        let finding = judged(&bursts(AT_MOST), &contract(""), Vec::new());
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert_eq!(finding.reason, "nothing ran");
        let mut broken = transcript((1..=5).map(|number| pair(number, &["pay_1"])).collect());
        broken.broken.push("the baseline is broken".to_owned());
        let finding = judged_with(&bursts(AT_MOST), &contract(""), &broken);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert_eq!(finding.reason, "the baseline is broken");
        broken.rounds[0] = pair(1, &["pay_1", "pay_2"]);
        let finding = judged_with(&bursts(AT_MOST), &contract(""), &broken);
        assert_eq!(finding.verdict, Verdict::Fail, "harm was seen all the same");
    }

    #[test]
    fn what_was_observed_is_counted_over_the_rounds() {
        let claim = "keeps: { promise: in-progress, of: burst }";
        let refused = |number| {
            round([
                paid("burst", "pay_1").at(0, 10),
                answered("burst", 409).copy(1).at(1, 5),
                paid("later", "pay_1").at(20, 25),
            ])
            .numbered(number)
            .burst("burst", 2, 2)
        };
        let rounds = vec![refused(1), refused(2), pair(3, &["pay_1"])];
        let finding = judged(&bursts(claim), &contract(""), rounds.clone());
        assert_eq!(finding.verdict, Verdict::Skip);
        assert!(finding.reason.starts_with("observed, nothing is promised"));
        let observed: Vec<(&str, u32)> = finding
            .observed
            .iter()
            .map(|one| (one.says.as_str(), one.times))
            .collect();
        assert_eq!(observed, [("409", 2), ("waited, then replayed", 1)]);
        let finding = judged(&bursts(claim), &demo(), rounds);
        assert_eq!(finding.verdict, Verdict::Pass, "either way is declared");
    }

    #[test]
    fn a_retry_that_would_have_stopped_elsewhere_shows_nothing() {
        let claim = expecting("outcome: { of: again, is: success }");
        let mut round = round([answered("first", 500), answered("again", 422)]);
        round.exchanges[0].outcome = Meaning::ServerError.into();
        round.exchanges[1].outcome = Outcome::from(Meaning::Refused);
        let recorded = transcript(vec![round]);
        let own = judged_again(&claim, &contract(""), &recorded);
        assert_eq!(own.verdict, Verdict::Fail, "{}", own.reason);
        let waiting = contract(
            "extends: generic\non: { in-progress: { outcome: reject, status: 422, strength: must } }",
        );
        let other = judged_again(&claim, &waiting, &recorded);
        assert_eq!(other.verdict, Verdict::Inconclusive, "{}", other.reason);
        assert!(
            other.reason.contains("stopped under another contract"),
            "{}",
            other.reason
        );
    }

    #[test]
    fn an_open_replay_is_settled_by_the_only_effect() {
        let claim = expecting("outcome: { of: again, never: executed }");
        let silent = |effects: &[&str]| {
            round([answered("first", 204), answered("again", 204)]).late(effects)
        };
        let finding = judged(&claim, &contract(""), vec![silent(&["a"])]);
        assert_eq!(finding.verdict, Verdict::Pass, "{}", finding.reason);
        let finding = judged(&claim, &contract(""), vec![silent(&["a", "b"])]);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
    }
}
