//! A recorded round under the contract that judges: its outcomes are decided anew.
//!
//! The runner's decisions cannot be taken again: a retry that would have stopped elsewhere is
//! named, and shows nothing of what depends on where it stopped.

use super::vantage::{self, Whole};
use super::view::{began, reads_for, same_key};
use crate::contract::{Contract, meaning};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{Case, Step, Until};
use crate::transcript::{ReadingKind, Round, Transcript};
use std::collections::BTreeSet;

/// A round whose outcomes are those of the contract that judges.
#[derive(Clone, Debug)]
pub(super) struct Reclassified {
    /// The round.
    pub(super) round: Round,
    /// How many of its exchanges are its own, and not another place's.
    pub(super) own: usize,
    /// For each exchange, the number of the round that it was recorded in, and its place there.
    pub(super) origins: Vec<(u32, usize)>,
    /// Retries that would have stopped elsewhere.
    pub(super) restopped: BTreeSet<String>,
}

/// All rounds of a transcript.
pub(super) fn rounds(
    contract: &Contract,
    case: &Case,
    transcript: &Transcript,
) -> Vec<Reclassified> {
    vantage::whole(transcript)
        .into_iter()
        .map(|whole| reclassify(contract, case, transcript, whole))
        .collect()
}

/// Decides the outcomes of a round anew, in the order of sending.
fn reclassify(
    contract: &Contract,
    case: &Case,
    transcript: &Transcript,
    whole: Whole<'_>,
) -> Reclassified {
    let mut round = whole.round.into_owned();
    let recorded: Vec<Outcome> = round.exchanges.iter().map(|own| own.outcome).collect();
    classify(contract, &mut round);
    let restopped = case
        .leaves()
        .filter_map(|step| match step {
            Step::Retry { request, until, .. } => Some((&request.name, *until)),
            _ => None,
        })
        .filter(|(name, until)| {
            recorded
                .iter()
                .zip(&round.exchanges)
                .filter(|(_, new)| new.step == **name)
                .any(|(old, new)| stops(*until, *old) != stops(*until, new.outcome))
        })
        .map(|(name, _)| name.clone())
        .collect();
    settle_open_replays(transcript, &mut round);
    settle_open_executions(transcript, &mut round);
    Reclassified {
        round,
        own: whole.own,
        origins: whole.origins,
        restopped,
    }
}

/// Gives each exchange its outcome, in the order of sending.
pub(super) fn classify(contract: &Contract, round: &mut Round) {
    let mut order: Vec<usize> = (0..round.exchanges.len()).collect();
    order.sort_by_key(|&index| {
        let exchange = &round.exchanges[index];
        (began(exchange), exchange.times.ended)
    });
    for &index in &order {
        round.exchanges[index].outcome = meaning(contract, round, index);
    }
}

/// Whether a retry stops at this outcome.
pub(super) fn stops(until: Until, outcome: Outcome) -> bool {
    match until {
        Until::Final => outcome.is_within(Outcome::FINAL),
        Until::NotInFlight => !outcome.is_empty() && outcome.is_disjoint(Outcome::FOR_NOW),
    }
}

/// Where one exchange of a key was certainly executed and every probe shows exactly one effect
/// after all, the other successes with the key can only have been replays.
fn settle_open_replays(transcript: &Transcript, round: &mut Round) {
    let replays: Vec<usize> = (0..round.exchanges.len())
        .filter(|&index| {
            let open = &round.exchanges[index];
            open.outcome == Outcome::SUCCESS
                && round.exchanges.iter().any(|other| {
                    other.outcome == Outcome::from(Meaning::Executed)
                        && same_key(other, open)
                        && other.marker == open.marker
                })
                && shows_one(transcript, round, index)
        })
        .collect();
    for index in replays {
        round.exchanges[index].outcome = Meaning::Replayed.into();
    }
}

/// Where every probe shows exactly one effect, and all other requests with the key were told that they
/// had made none, the one that is left has made it.
fn settle_open_executions(transcript: &Transcript, round: &mut Round) {
    let made_none = Outcome::of(&[Meaning::Replayed, Meaning::InFlight, Meaning::RateLimited]);
    let executions: Vec<usize> = (0..round.exchanges.len())
        .filter(|&index| {
            let open = &round.exchanges[index];
            let others = || {
                let all = round.exchanges.iter().enumerate();
                all.filter(move |(other, exchange)| *other != index && same_key(exchange, open))
            };
            open.outcome == Outcome::SUCCESS
                && others().all(|(_, other)| {
                    other.outcome.is_within(made_none) && other.marker == open.marker
                })
                && shows_one(transcript, round, index)
        })
        .collect();
    for index in executions {
        round.exchanges[index].outcome = Meaning::Executed.into();
    }
}

fn shows_one(transcript: &Transcript, round: &Round, index: usize) -> bool {
    let exchange = &round.exchanges[index];
    let mut probes = transcript
        .probes
        .iter()
        .filter(|probe| {
            probe.operation == exchange.operation && !probe.is_state && probe.bound.is_none()
        })
        .peekable();
    probes.peek().is_some()
        && probes.all(|probe| {
            let mut late = round
                .readings
                .iter()
                .filter(|reading| {
                    reading.kind == ReadingKind::Late
                        && reading.probe == probe.name
                        && reading.operation == exchange.operation
                        && reading.marker == exchange.marker
                        && reads_for(reading.principal, exchange.principal)
                })
                .peekable();
            late.peek().is_some()
                && late.all(|reading| {
                    reading.shows.as_ref().ok().and_then(|shown| shown.count())
                        == Some(probe.per_execution)
                })
        })
}

#[cfg(test)]
mod tests {
    use super::{rounds, stops};
    use crate::judge::sample::{
        answered, contract, expecting, paid, probe, reading, round, sent, transcript,
    };
    use crate::outcome::{Meaning, Outcome};
    use crate::scenario::{OperationRole, PrincipalRole, Until};
    use crate::transcript::{Exchange, Reading, ReadingKind};

    #[test]
    fn a_retry_stops_at_what_is_neither_nothing_nor_for_now() {
        let until = Until::NotInFlight;
        assert!(!stops(until, Outcome::NONE));
        assert!(!stops(until, Meaning::InFlight.into()));
        assert!(!stops(until, Meaning::RateLimited.into()));
        assert!(!stops(
            until,
            Outcome::of(&[Meaning::InFlight, Meaning::Refused])
        ));
        assert!(stops(until, Meaning::ServerError.into()));
        assert!(stops(Until::Final, Meaning::Executed.into()));
        assert!(!stops(Until::Final, Meaning::ServerError.into()));
    }

    #[test]
    fn an_open_replay_is_settled_by_an_execution_of_its_own_key_and_marker_only() {
        let settled = |first: Exchange, again: Exchange| {
            let scenario = expecting("outcome: { of: again, is: replayed }");
            let transcript = transcript(vec![round([first, again]).late(&["a"])]);
            let after = rounds(&contract(""), &scenario.cases[0], &transcript);
            after[0].round.exchanges[1].outcome
        };
        let blank = |step: &str| answered(step, 204);
        let replayed = Outcome::from(Meaning::Replayed);
        assert_eq!(settled(blank("first"), blank("again")), replayed);
        let mut elsewhere = blank("first");
        elsewhere.marker = "o".to_owned();
        assert_ne!(settled(elsewhere, blank("again")), replayed);
        let lone = settled(blank("first").key(Some("other")), blank("again"));
        assert_eq!(lone, Outcome::from(Meaning::Executed));
        assert_eq!(
            settled(paid("first", "pay_1"), paid("again", "pay_1")),
            replayed
        );
    }

    #[test]
    fn an_execution_of_another_key_settles_no_open_replay() {
        let settled = |own: &str| {
            let scenario = expecting("outcome: { of: again, is: replayed }");
            // The first of `k` got no answer: its second may be the execution, or a replay of it.
            let executed = paid("other", "pay_1").key(Some(own)).at(0, 5);
            let unanswered = sent("first").at(10, 15);
            let open = answered("again", 204).at(20, 25);
            let transcript = transcript(vec![round([executed, unanswered, open]).late(&["pay_1"])]);
            let after = rounds(&contract(""), &scenario.cases[0], &transcript);
            let outcomes = after[0].round.exchanges.iter().map(|one| one.outcome);
            outcomes.collect::<Vec<_>>()
        };
        let executed = Outcome::from(Meaning::Executed);
        let apart = settled("other");
        assert_eq!((apart[0], apart[2]), (executed, Outcome::SUCCESS));
        let of_one_key = settled("k");
        assert_eq!(of_one_key[2], Outcome::from(Meaning::Replayed));
    }

    /// What the open success of a key becomes beside another request with it.
    fn beside(other: Exchange, change: impl Fn(&mut crate::transcript::Transcript)) -> Outcome {
        let scenario = expecting("outcome: { of: again, is: executed }");
        let open = paid("again", "pay_1").at(20, 200);
        let mut transcript = transcript(vec![round([other, open]).late(&["pay_1"])]);
        change(&mut transcript);
        let after = rounds(&contract(""), &scenario.cases[0], &transcript);
        after[0].round.exchanges[1].outcome
    }

    #[test]
    fn the_one_that_is_left_has_made_the_effect() {
        let executed = Outcome::from(Meaning::Executed);
        // It was under way before: which of the two made the payment is open at first.
        let in_flight = || answered("first", 409).at(0, 100);
        assert_eq!(beside(in_flight(), |_| {}), executed);
        assert_ne!(
            beside(sent("first").at(0, 100), |_| {}),
            executed,
            "who knows"
        );
        assert_ne!(beside(answered("first", 500).at(0, 100), |_| {}), executed);
        let mut elsewhere = in_flight();
        elsewhere.marker = "o".to_owned();
        assert_ne!(beside(elsewhere, |_| {}), executed);
    }

    #[test]
    fn every_probe_must_show_exactly_one_effect_at_last() {
        let settles = |change: fn(&mut crate::transcript::Transcript)| {
            let open = answered("first", 204).at(0, 5);
            let again = answered("again", 204).at(10, 15);
            let scenario = expecting("outcome: { of: again, is: replayed }");
            let mut transcript = transcript(vec![round([open, again]).late(&["a"])]);
            change(&mut transcript);
            let after = rounds(&contract(""), &scenario.cases[0], &transcript);
            after[0].round.exchanges[1].outcome == Outcome::from(Meaning::Replayed)
        };
        fn reading_of(transcript: &mut crate::transcript::Transcript) -> &mut Reading {
            &mut transcript.rounds[0].readings[0]
        }
        assert!(settles(|_| {}));
        assert!(!settles(|all| reading_of(all).kind = ReadingKind::Early));
        assert!(!settles(|all| reading_of(all).probe = "other".to_owned()));
        assert!(!settles(
            |all| reading_of(all).operation = OperationRole::Other
        ));
        assert!(!settles(|all| reading_of(all).marker = "o".to_owned()));
        assert!(!settles(
            |all| reading_of(all).principal = PrincipalRole::OtherTenant
        ));
        assert!(!settles(|all| all.rounds[0].readings.clear()));
        assert!(!settles(|all| all.probes.clear()));
        let two = settles(|all| {
            let more = reading(ReadingKind::Late, &["a", "b"]);
            all.rounds[0].readings.push(more);
        });
        assert!(!two, "one of the readings shows two");
        let unread = settles(|all| all.probes.push(probe("receipts")));
        assert!(!unread, "each of the probes");
        // What is no count of effects is not asked.
        assert!(settles(|all| {
            let mut state = probe("balance");
            state.is_state = true;
            let mut bounded = probe("stock");
            bounded.bound = Some(1.0);
            let mut other = probe("refunds");
            other.operation = OperationRole::Other;
            all.probes.extend([state, bounded, other]);
        }));
    }
}
