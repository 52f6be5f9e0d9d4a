//! What a transcript means: a pure function of transcript, contract and scenario. No clock, no
//! network, no printing.

mod agrees;
mod answered;
mod backends;
mod bounded;
pub mod client;
mod counted;
mod documented;
mod effects;
mod events;
mod exists;
mod held_back;
mod in_front;
mod in_time;
mod keeps;
mod nothing_foreign;
mod one_resource;
mod outcome;
mod overlap;
mod plain;
mod reach;
mod reclassify;
mod recovered;
mod retry_after;
mod rounds;
mod ruling;
mod same_response;
#[cfg(test)]
pub(crate) mod sample;
mod state;
mod straddled;
mod tells_apart;
mod told;
mod two_resources;
mod unaffected;
mod vantage;
mod view;

pub use documented::{Documented, Graded};
pub use in_front::{Seen, in_front};
pub use keeps::declared;
pub use reach::{Reach, reach};
pub use vantage::{Meetings, meetings};

use crate::checklist::ItemId;
use crate::contract::Contract;
use crate::promise::{Level, Promise};
use crate::scenario::{Case, Check, Scenario, Severity, StepName};
use crate::transcript::{SoFar, Transcript};
use crate::verdict::Verdict;
use reclassify::Reclassified;
use ruling::Ruling;
use serde::Serialize;
use std::collections::BTreeSet;
use view::View;

/// The transcript with the outcomes that responses have under the contract. While it ran, the runner
/// knew less: what a 409 means shows when the request that was in its way has ended.
pub fn reclassified(case: &Case, contract: &Contract, transcript: Transcript) -> Transcript {
    let rounds = reclassify::rounds(contract, case, &transcript);
    written_back(transcript, rounds)
}

fn written_back(mut transcript: Transcript, rounds: Vec<Reclassified>) -> Transcript {
    for (round, mut whole) in transcript.rounds.iter_mut().zip(rounds) {
        whole.round.exchanges.truncate(whole.own);
        round.exchanges = whole.round.exchanges;
    }
    transcript
}

/// One finding for each expectation of the scenario, in the order of the file.
pub fn judge(
    operation: &str,
    scenario: &Scenario,
    case: &Case,
    contract: &Contract,
    transcript: &Transcript,
) -> Vec<Finding> {
    let rounds = reclassify::rounds(contract, case, transcript);
    findings(operation, scenario, case, contract, transcript, &rounds)
}

/// The findings, as [`judge`] makes them, and the transcript as [`reclassified`] makes it.
pub fn judged(
    operation: &str,
    scenario: &Scenario,
    case: &Case,
    contract: &Contract,
    transcript: Transcript,
) -> (Transcript, Vec<Finding>) {
    let rounds = reclassify::rounds(contract, case, &transcript);
    let findings = findings(operation, scenario, case, contract, &transcript, &rounds);
    (written_back(transcript, rounds), findings)
}

fn findings(
    operation: &str,
    scenario: &Scenario,
    case: &Case,
    contract: &Contract,
    transcript: &Transcript,
    rounds: &[Reclassified],
) -> Vec<Finding> {
    let views: Vec<View<'_>> = rounds
        .iter()
        .map(|round| View::new(contract, case, transcript, round))
        .collect();
    let assumptions: Vec<Option<String>> = views
        .iter()
        .map(|view| view.broken_assumption(&scenario.assume))
        .collect();
    scenario
        .expect
        .iter()
        .map(|(item, expectation)| {
            rounds::fold(&rounds::Folding {
                operation,
                scenario,
                case,
                contract,
                transcript,
                item: *item,
                expectation,
                views: &views,
                assumptions: &assumptions,
            })
        })
        .collect()
}

/// How far a case has come: how many rounds have shown something (they hold what the scenario assumes,
/// or some harm), whether any showed harm, and how small a race its bursts would have shown. Readings
/// that are still to come need not be there. Rounds at one place of a spread count once.
pub fn so_far(
    scenario: &Scenario,
    case: &Case,
    contract: &Contract,
    transcript: &Transcript,
) -> SoFar {
    let rounds = reclassify::rounds(contract, case, transcript);
    let reach = reach(case, rounds.iter().map(|round| &round.round));
    let mut so_far = SoFar {
        shown: 0,
        harmed: false,
        window: reach.map(|reach| reach.window()),
    };
    let mut places = BTreeSet::new();
    for (index, round) in rounds.into_iter().enumerate() {
        let view = View::new(contract, case, transcript, &round);
        let harmed = scenario.expect.iter().any(|(_, expectation)| {
            let ruling = rule(&view, &expectation.check);
            ruling.is_broken() && (expectation.check.is_safety() || ruling.stands)
        });
        let holds = view.broken_assumption(&scenario.assume).is_none();
        if harmed || holds {
            let number = round.round.number;
            places.insert(in_time::place(case, &scenario.rounds, number, index));
        }
        so_far.harmed |= harmed;
    }
    so_far.shown = u32::try_from(places.len()).unwrap_or(u32::MAX);
    so_far
}

/// What one round says about one check.
fn rule(view: &View<'_>, check: &Check) -> Ruling {
    match check {
        Check::Effects {
            bound,
            probe,
            operation,
            marker,
            reading,
        } => effects::rule(
            view,
            &effects::Claim {
                bound: *bound,
                probe: probe.as_deref(),
                operation: *operation,
                marker,
                reading: reading.as_deref(),
            },
        ),
        Check::Outcome { of, bound } => outcome::rule(view, of, *bound),
        Check::Keeps { promise, of } => keeps::rule(view, *promise, of),
        Check::SameResponse { of, r#as } => same_response::rule(view, of, r#as),
        Check::OneResource { of } => one_resource::rule(view, of),
        Check::TwoResources { of } => two_resources::rule(view, of),
        Check::Exists { of } => exists::rule(view, of),
        Check::NothingForeign { of, from, r#in } => nothing_foreign::rule(view, of, from, *r#in),
        Check::Counted(claim) => counted::rule(view, claim),
        Check::Bounded { probe } => bounded::rule(view, probe.as_deref()),
        Check::Events { claim, marker } => events::rule(view, *claim, marker),
        Check::Agrees { of, with } => agrees::rule(view, of, with),
        Check::Documented { part, of } => documented::rule(view, *part, of.as_deref()),
        Check::State {
            reading,
            than,
            same,
            states_only,
        } => {
            let compared = state::Compared {
                reading,
                than,
                states_only: *states_only,
            };
            match same {
                true => state::same(view, &compared),
                false => state::differs(view, &compared),
            }
        }
        Check::TellsApart { of, from } => tells_apart::rule(view, of, from),
        Check::RetryAfter { of } => retry_after::rule(view, of),
        Check::Answered { of, within } => answered::rule(view, of, *within),
        Check::Told { of } => told::rule(view, of),
        Check::Recovered { of, within } => recovered::rule(view, of, *within),
        Check::Unaffected { of, than, factor } => unaffected::rule(view, of, than, *factor),
        Check::Status { of, is } => plain::status(view, of, *is),
        Check::Header { of, name, matches } => plain::header(view, of, name, matches),
        Check::Json { of, path, equals } => plain::json(view, of, path, equals),
        Check::Overlap { of, with } => overlap::rule(view, of, with),
        Check::Straddled { of, around } => straddled::rule(view, of, around),
    }
}

/// A verdict on one expectation, with its checklist item and evidence.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// `create-payment/race/burst/item-5/effects-at-most`: the same in every report.
    pub name: String,
    /// The expectation's id.
    pub id: String,
    /// The item that it bears on.
    pub item: ItemId,
    /// The verdict over all rounds.
    pub verdict: Verdict,
    /// How grave a failure of this expectation is for the run.
    pub level: Level,
    /// How grave it is for whoever uses the API.
    pub severity: Severity,
    /// One sentence: what happened, or why nothing was shown.
    pub reason: String,
    /// The steps that it looked at.
    pub steps: Vec<StepName>,
    /// The promise that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// What becomes of the statement of the documents that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documented: Option<Graded>,
    /// What was observed for the promise, with the number of rounds.
    pub observed: Vec<Observation>,
    /// How the rounds went.
    pub rounds: Tally,
    /// How hard its bursts looked for a race, where it is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// Where it can be seen: the first and the worst round.
    pub evidence: Vec<Evidence>,
}

/// One behaviour that was observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// In words, such as `409` or `waited, then replayed`.
    pub says: String,
    /// How often.
    pub times: u32,
}

/// How the rounds went for one expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rounds that ran.
    pub ran: u32,
    /// Rounds that showed something.
    pub valid: u32,
    /// Rounds in which it was broken.
    pub failed: u32,
    /// The first of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<u32>,
}

/// A pointer into the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The round's number.
    pub round: u32,
    /// The exchange, by its place in the round.
    pub exchange: usize,
}

#[cfg(test)]
mod tests {
    use super::sample::{answered, contract, paid, round, scenario, transcript};
    use super::{SoFar, so_far};

    #[test]
    fn a_round_whose_assumption_is_broken_does_not_show_anything() {
        let scenario = scenario(
            "steps:\n  - send: { as: first, key: fresh }\nassume:\n  - outcome: { of: first, is: success }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n",
        );
        let rounds = vec![
            round([paid("first", "pay_1")]),
            round([answered("first", 429)]),
            round([paid("first", "pay_2")]).broken("the moment never came"),
            round([answered("first", 429)]).late(&["pay_3", "pay_4"]),
        ];
        let shown = so_far(
            &scenario,
            &scenario.cases[0],
            &contract(""),
            &transcript(rounds),
        );
        let two = SoFar {
            shown: 2,
            harmed: true,
            window: None,
        };
        assert_eq!(shown, two, "the first, and the harm in the last");
    }
}
