//! `counted`: what the target says that it counted is what was provoked.

use super::ruling::Ruling;
use super::view::{View, number};
use crate::scenario::SignalClaim;
use crate::transcript::SignalReading;

/// Differences that are mere rounding.
const ROUNDING: f64 = 1e-6;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, claim: &SignalClaim) -> Ruling {
    let name = claim.signal.name();
    let provoked = view
        .standing(&claim.of)
        .iter()
        .filter(|(_, exchange)| exchange.outcome.is_within(claim.is))
        .count();
    if provoked == 0 {
        let says = format!("no answer to `{}` was {}", claim.of, claim.is);
        return Ruling::nothing(says);
    }
    let named = |wanted: &str| -> Result<Option<f64>, String> {
        let reading: Option<&SignalReading> = view
            .round
            .signals
            .iter()
            .find(|reading| reading.name == wanted);
        let reading = reading.ok_or_else(|| format!("`{wanted}` was not read"))?;
        let counts = reading.counts.as_ref().map_err(Clone::clone)?;
        Ok(counts.get(&claim.signal).copied())
    };
    let (before, after) = match (named(&claim.from), named(&claim.to)) {
        (Ok(Some(before)), Ok(Some(after))) => (before, after),
        (Err(why), _) | (_, Err(why)) => return Ruling::nothing(why),
        _ => {
            return Ruling::void(format!(
                "void: the target file names no count of {name} (documents.signals)"
            ));
        }
    };
    let counted = after - before;
    let wanted = provoked as f64;
    if (counted - wanted).abs() < ROUNDING {
        return Ruling::held(format!(
            "{} {name} were counted, as many as were provoked",
            number(provoked)
        ));
    }
    Ruling::broken(match counted.abs() < ROUNDING {
        true => format!(
            "of {} {name} none was counted: the API does not see them",
            number(provoked)
        ),
        false => format!(
            "{} {name} were provoked, and {counted} counted",
            number(provoked)
        ),
    })
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, contract, judged, paid, round, scenario, sent};
    use crate::signal::Signal;
    use crate::transcript::{Exchange, SignalReading};
    use crate::verdict::Verdict;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn counted(before: f64, after: f64) -> (Verdict, String) {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: fresh }\n  - signals: { as: before }\n  - send: { as: again, like: first, times: 2 }\n  - signals: { as: behind }\nexpect:\n  item-7:\n    - counted: { signal: replays, of: again, is: replayed, from: before, to: behind }\n",
        );
        let again = |copy| paid("again", "pay_1").at(20, 30).copy(copy);
        let mut round = round([paid("first", "pay_1").at(0, 10), again(0), again(1)]);
        for (name, count) in [("before", before), ("behind", after)] {
            round.signals.push(SignalReading {
                name: name.to_owned(),
                at: Duration::ZERO,
                counts: Ok(BTreeMap::from([(Signal::Replays, count)])),
            });
        }
        let finding = judged(&scenario, &contract(""), vec![round]);
        (finding.verdict, finding.reason)
    }

    #[test]
    fn as_many_must_be_counted_as_were_provoked() {
        assert_eq!(counted(4.0, 6.0).0, Verdict::Pass);
        let (verdict, reason) = counted(4.0, 4.0);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(
            reason,
            "of two replays none was counted: the API does not see them"
        );
        assert_eq!(counted(4.0, 9.0).0, Verdict::Fail);
    }

    #[test]
    fn only_what_was_provoked_and_read_is_held_against_it() {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: fresh }\n  - signals: { as: before }\n  - send: { as: again, like: first, times: 2 }\n  - signals: { as: behind }\nexpect:\n  item-7:\n    - counted: { signal: replays, of: again, is: replayed, from: before, to: behind }\n",
        );
        let judged = |again: Exchange, behind: Result<f64, &str>| {
            let first = paid("first", "pay_1").at(0, 10);
            let mut round = round([first, paid("again", "pay_1").at(20, 30), again]);
            for (name, count) in [("before", Ok(0.0)), ("behind", behind)] {
                round.signals.push(SignalReading {
                    name: name.to_owned(),
                    at: Duration::ZERO,
                    counts: count
                        .map(|count| BTreeMap::from([(Signal::Replays, count)]))
                        .map_err(str::to_owned),
                });
            }
            judged(&scenario, &contract(""), vec![round]).verdict
        };
        let second = || paid("again", "pay_1").copy(1).at(20, 30);
        assert_eq!(judged(second(), Ok(2.0)), Verdict::Pass);
        let refused = || answered("again", 503).copy(1).at(20, 30);
        assert_eq!(judged(refused(), Ok(1.0)), Verdict::Pass, "one replay");
        assert_eq!(judged(refused(), Ok(2.0)), Verdict::Fail);
        let lost = || sent("again").copy(1).at(20, 30);
        assert_eq!(judged(lost(), Ok(1.0)), Verdict::Pass, "one was answered");
        assert_eq!(judged(lost(), Ok(2.0)), Verdict::Fail);
        let unread = judged(second(), Err("GET /metrics was answered 500"));
        assert_eq!(unread, Verdict::Inconclusive);
    }

    #[test]
    fn what_was_not_provoked_or_has_no_name_shows_nothing() {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: fresh }\n  - signals: { as: before }\n  - send: { as: again, like: first }\n  - signals: { as: behind }\nexpect:\n  item-7:\n    - counted: { signal: replays, of: again, is: replayed, from: before, to: behind }\n",
        );
        let judged = |again: Exchange, signal: Signal| {
            let mut round = round([paid("first", "pay_1"), again]);
            for name in ["before", "behind"] {
                round.signals.push(SignalReading {
                    name: name.to_owned(),
                    at: Duration::ZERO,
                    counts: Ok(BTreeMap::from([(signal, 0.0)])),
                });
            }
            judged(&scenario, &contract(""), vec![round]).verdict
        };
        let replayed = || paid("again", "pay_1");
        assert_eq!(judged(replayed(), Signal::Replays), Verdict::Fail);
        assert_eq!(
            judged(answered("again", 500), Signal::Replays),
            Verdict::Inconclusive,
            "nothing was replayed"
        );
        assert_eq!(judged(replayed(), Signal::Mismatches), Verdict::Skip);
    }
}
