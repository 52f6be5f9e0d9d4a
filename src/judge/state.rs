//! `state`: two named readings show the same, or do not.

use super::ruling::Ruling;
use super::view::View;
use crate::transcript::{Reading, ReadingKind, Shown};

/// Which readings are compared.
pub(super) struct Compared<'a> {
    /// The later one.
    pub(super) reading: &'a str,
    /// The earlier one.
    pub(super) than: &'a str,
    /// Only what reads a state.
    pub(super) states_only: bool,
}

/// Rules on one round: both show the same.
pub(super) fn same(view: &View<'_>, compared: &Compared<'_>) -> Ruling {
    let Compared { reading, than, .. } = compared;
    let pairs = match pairs(view, compared) {
        Ok(pairs) => pairs,
        Err(nothing) => return nothing,
    };
    match pairs.iter().find(|pair| pair.earlier != pair.later) {
        Some(pair) => Ruling::broken(format!(
            "`{}` shows something else in `{reading}` than in `{than}`",
            pair.probe
        )),
        None => Ruling::held(format!("`{reading}` shows the same as `{than}`")),
    }
}

/// Rules on one round: the later one shows that something has happened, by whichever probe.
pub(super) fn differs(view: &View<'_>, compared: &Compared<'_>) -> Ruling {
    let Compared { reading, than, .. } = compared;
    let pairs = match pairs(view, compared) {
        Ok(pairs) => pairs,
        Err(nothing) => return nothing,
    };
    match pairs.iter().find(|pair| pair.earlier != pair.later) {
        Some(pair) => Ruling::held(format!(
            "`{}` shows something else in `{reading}` than in `{than}`",
            pair.probe
        )),
        None => Ruling::broken(format!(
            "nothing shows anything else in `{reading}` than in `{than}`"
        )),
    }
}

/// What one probe shows in both readings.
struct Pair<'a> {
    probe: &'a str,
    earlier: &'a Shown,
    later: &'a Shown,
}

/// What all probes show in both; the error is that one does not.
fn pairs<'a>(view: &View<'a>, compared: &Compared<'_>) -> Result<Vec<Pair<'a>>, Ruling> {
    let Compared { reading, than, .. } = compared;
    let reads_state = |name: &str| {
        let probes = &view.transcript.probes;
        probes
            .iter()
            .any(|probe| probe.name == name && probe.is_state)
    };
    let named = |name: &str| -> Vec<&'a Reading> {
        view.round
            .readings
            .iter()
            .filter(|reading| matches!(&reading.kind, ReadingKind::Named(own) if own == name))
            .filter(|reading| !compared.states_only || reads_state(&reading.probe))
            .collect()
    };
    let later = named(reading);
    let mut pairs = Vec::new();
    for earlier in named(than) {
        let Some(later) = later.iter().find(|later| {
            later.probe == earlier.probe
                && later.operation == earlier.operation
                && later.principal == earlier.principal
                && later.marker == earlier.marker
        }) else {
            let why = format!("`{}` was not read in `{reading}`", earlier.probe);
            return Err(Ruling::nothing(why));
        };
        match (&earlier.shows, &later.shows) {
            (Ok(one), Ok(other)) => pairs.push(Pair {
                probe: &earlier.probe,
                earlier: one,
                later: other,
            }),
            (Err(why), _) | (_, Err(why)) => {
                let why = format!("`{}` could not be read: {why}", earlier.probe);
                return Err(Ruling::nothing(why));
            }
        }
    }
    match pairs.is_empty() {
        true => Err(Ruling::nothing(format!("`{than}` has no readings"))),
        false => Ok(pairs),
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{
        contract, judged, judged_with, paid, probe, reading, round, scenario, transcript,
    };
    use crate::scenario::{OperationRole, PrincipalRole};
    use crate::transcript::{Reading, ReadingKind, Shown};
    use crate::verdict::Verdict;
    use serde_json::json;

    fn readings(readings: Vec<Reading>) -> Verdict {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: none }\n  - read: { as: before }\n  - send: { as: again, like: first }\n  - read: { as: behind }\nexpect:\n  item-5:\n    - state: { reading: behind, same-as: before }\n",
        );
        let mut round = round([paid("first", "pay_1")]);
        round.readings = readings;
        judged(&scenario, &contract(""), vec![round]).verdict
    }

    fn state(name: &str, value: serde_json::Value) -> Reading {
        reading(ReadingKind::Named(name.to_owned()), &[]).shows(Shown::State(value))
    }

    #[test]
    fn equal_states_hold_and_others_break_it() {
        let before = || state("before", json!({"stock": 3}));
        assert_eq!(
            readings(vec![before(), state("behind", json!({"stock": 3}))]),
            Verdict::Pass
        );
        assert_eq!(
            readings(vec![before(), state("behind", json!({"stock": 2}))]),
            Verdict::Fail
        );
        assert_eq!(readings(vec![before()]), Verdict::Inconclusive);
        assert_eq!(readings(vec![]), Verdict::Inconclusive);
        let failed = state("behind", json!(null)).failed("timed out");
        assert_eq!(readings(vec![before(), failed]), Verdict::Inconclusive);
    }

    #[test]
    fn a_state_is_compared_with_that_of_the_same_thing_only() {
        let before = || state("before", json!({"stock": 3}));
        let other = |change: fn(&mut Reading)| {
            let mut reading = state("behind", json!({"stock": 3}));
            change(&mut reading);
            readings(vec![before(), reading])
        };
        assert_eq!(other(|_| {}), Verdict::Pass);
        assert_eq!(
            other(|reading| reading.probe = "other".to_owned()),
            Verdict::Inconclusive
        );
        assert_eq!(
            other(|reading| reading.marker = "o".to_owned()),
            Verdict::Inconclusive
        );
        assert_eq!(
            other(|reading| reading.principal = PrincipalRole::OtherTenant),
            Verdict::Inconclusive
        );
        assert_eq!(
            other(|reading| reading.operation = OperationRole::Other),
            Verdict::Inconclusive
        );
        // One of two that was not read again shows nothing of both.
        let mut unread = before();
        unread.probe = "other".to_owned();
        assert_eq!(
            readings(vec![before(), unread, state("behind", json!({"stock": 3}))]),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn readings_that_must_differ_do_so_by_any_probe() {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: none }\n  - read: { as: before }\n  - send: { as: again, like: first }\n  - read: { as: behind }\nexpect:\n  item-8:\n    - state: { reading: behind, differs-from: before }\n",
        );
        let verdict = |readings: Vec<Reading>| {
            let mut round = round([paid("first", "pay_1")]);
            round.readings = readings;
            judged(&scenario, &contract(""), vec![round]).verdict
        };
        let before = || state("before", json!({"version": 1}));
        let moved = state("behind", json!({"version": 2}));
        assert_eq!(verdict(vec![before(), moved]), Verdict::Pass);
        let still = state("behind", json!({"version": 1}));
        assert_eq!(verdict(vec![before(), still]), Verdict::Fail);
        assert_eq!(verdict(vec![before()]), Verdict::Inconclusive);
    }

    #[test]
    fn of_states_only_what_reads_a_state_is_compared() {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: none }\n  - read: { as: before }\n  - send: { as: again, like: first }\n  - read: { as: behind }\nexpect:\n  item-5:\n    - state: { reading: behind, same-as: before, probes: states }\n",
        );
        let verdict = |readings: Vec<Reading>| {
            let mut round = round([paid("first", "pay_1")]);
            round.readings = readings;
            let mut transcript = transcript(vec![round]);
            let mut stock = probe("stock");
            stock.is_state = true;
            transcript.probes.push(stock);
            judged_with(&scenario, &contract(""), &transcript).verdict
        };
        let stock = |name: &str, left: u64| state(name, json!({"left": left})).of("stock");
        let listed = |name: &str, ids: &[&str]| reading(ReadingKind::Named(name.to_owned()), ids);
        let grown = || vec![listed("before", &[]), listed("behind", &["pay_1"])];
        let with = |more: [Reading; 2]| grown().into_iter().chain(more).collect();
        let same = with([stock("before", 3), stock("behind", 3)]);
        assert_eq!(verdict(same), Verdict::Pass, "the list may grow");
        let taken = with([stock("before", 3), stock("behind", 2)]);
        assert_eq!(verdict(taken), Verdict::Fail);
        assert_eq!(verdict(grown()), Verdict::Inconclusive, "no state was read");
    }
}
