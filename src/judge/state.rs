//! `state`: two named readings show the same.

use super::ruling::Ruling;
use super::view::View;
use crate::transcript::{Reading, ReadingKind};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, reading: &str, same_as: &str) -> Ruling {
    let named = |name: &str| -> Vec<&Reading> {
        view.round
            .readings
            .iter()
            .filter(|reading| matches!(&reading.kind, ReadingKind::Named(own) if own == name))
            .collect()
    };
    let later = named(reading);
    let mut compared = 0;
    let mut nothing = None;
    for earlier in named(same_as) {
        let Some(later) = later.iter().find(|later| {
            later.probe == earlier.probe
                && later.operation == earlier.operation
                && later.principal == earlier.principal
                && later.marker == earlier.marker
        }) else {
            nothing
                .get_or_insert_with(|| format!("`{}` was not read in `{reading}`", earlier.probe));
            continue;
        };
        match (&earlier.shows, &later.shows) {
            (Ok(one), Ok(other)) if one != other => {
                return Ruling::broken(format!(
                    "`{}` shows something else in `{reading}` than in `{same_as}`",
                    earlier.probe
                ));
            }
            (Ok(_), Ok(_)) => compared += 1,
            (Err(why), _) | (_, Err(why)) => {
                nothing
                    .get_or_insert_with(|| format!("`{}` could not be read: {why}", earlier.probe));
            }
        }
    }
    match nothing {
        Some(why) => Ruling::nothing(why),
        None if compared == 0 => Ruling::nothing(format!("`{same_as}` has no readings")),
        None => Ruling::held(format!("`{reading}` shows the same as `{same_as}`")),
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{contract, judged, paid, reading, round, scenario};
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
}
