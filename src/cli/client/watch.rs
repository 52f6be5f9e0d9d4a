//! Clients that were started elsewhere: the door is open for a time, and what came is sorted into
//! the cases that it was dealt to.

use super::{Job, baseline, facts_of};
use crate::cli::record::RecordedClient;
use crate::cli::screen;
use crate::cli::server::asked_to_end;
use crate::client::{Audit, CERTIFICATE, Card, Dealt, Watched};
use crate::judge::client::told_by;
use crate::plan::client::why_not_watched;
use crate::report::plural;
use crate::scenario::client::{ClientFault, ClientScenario};
use crate::transcript::client::{Attempt, ClientFacts, ClientRound, ClientTranscript, RunFacts};
use std::collections::{BTreeMap, HashSet};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Operations that are let through first: they show that it works, and whether each has a payload of
/// its own.
const PLAIN: usize = 2;

/// How long nothing must come of an operation until it counts as given up, if the target file does
/// not ask for less.
const SILENCE: Duration = Duration::from_secs(10);

/// One case, and why it is not tried, if it is not.
struct Planned {
    scenario: Arc<ClientScenario>,
    case: usize,
    skip: Option<String>,
}

impl Planned {
    fn id(&self) -> String {
        self.scenario.case_id(&self.scenario.cases[self.case])
    }
}

/// What came, and what a reader must know first; the error is why nothing can be judged.
pub(super) type Came = Result<(Vec<RecordedClient>, Vec<String>), String>;

/// Waits for clients.
pub(super) async fn watch(audit: &Audit, job: &Job) -> Came {
    let cases: Vec<Planned> = job
        .scenarios
        .iter()
        .flat_map(|scenario| {
            (0..scenario.cases.len()).map(move |case| Planned {
                skip: why_not_watched(&scenario.cases[case], &job.ready.target.client),
                scenario: Arc::clone(scenario),
                case,
            })
        })
        .collect();
    let silence = SILENCE.min(audit.client.patience);
    let opened = |address: SocketAddr| {
        let path = &audit.base_path;
        let ca = audit.folder.join(CERTIFICATE);
        screen::remark(&format!(
            "waiting for clients at http://{address}{path}, https://{address}{path} (trust {}), or as their proxy",
            ca.display()
        ));
    };
    let over = async {
        let time = async {
            match job.time {
                Some(time) => tokio::time::sleep(time).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = time => {}
            true = asked_to_end() => {}
        }
    };
    let watched = audit
        .watch(
            job.listen,
            cards(&cases),
            job.operation.clone(),
            silence,
            opened,
            over,
        )
        .await?;
    sorted(audit, job, cases, &watched)
}

/// The cards, first those that all cases need, then those that some may need beyond.
fn cards(cases: &[Planned]) -> Vec<Card> {
    let mut cards = vec![Card::plain(); PLAIN];
    let rounds = |planned: &Planned| planned.scenario.rounds;
    let most = cases.iter().map(|planned| rounds(planned).up_to).max();
    for number in 1..=most.unwrap_or_default() {
        for (index, planned) in cases.iter().enumerate() {
            if planned.skip.is_some() || number > rounds(planned).up_to {
                continue;
            }
            let runs = &planned.scenario.cases[planned.case].runs;
            cards.extend(runs.iter().map(|run| Card {
                case: Some(index),
                round: number,
                run: run.clone(),
            }));
        }
    }
    cards
}

fn sorted(audit: &Audit, job: &Job, cases: Vec<Planned>, watched: &Watched) -> Came {
    let time = humantime::format_duration(Duration::from_secs(watched.time.as_secs()));
    let Some((first, _)) = watched.operations.first() else {
        let what = job.operation.as_deref().unwrap_or("an operation");
        return Err(format!("no request of {what} came in {time}"));
    };
    if let Some(failed) = plain(watched).find(|attempt| failed(attempt)) {
        return Err(baseline::why_it_failed(failed));
    }
    let operation = first
        .attempts
        .first()
        .and_then(|attempt| attempt.operation.clone())
        .unwrap_or_default();
    let facts = ClientFacts {
        operations: 1,
        watched: true,
        payloads_differ: payloads_differ(watched),
        ..facts_of(audit, &job.ready, &operation)
    };
    let mut headlines = vec![format!(
        "{operation}: {} came in {time} from clients that were started elsewhere; attempts are told apart so: {}",
        plural(watched.operations.len(), "operation"),
        told_by(&facts)
    )];
    let mut unmet = Vec::new();
    let mut left_out = Vec::new();
    let mut clients = Vec::new();
    for (index, planned) in cases.into_iter().enumerate() {
        let rounds = rounds_of(index, &planned, watched);
        match planned.skip {
            Some(_) => left_out.push(planned.id()),
            None if rounds.is_empty() => unmet.push(planned.id()),
            None => {}
        }
        clients.push(RecordedClient {
            operation: operation.clone(),
            scenario: planned.scenario,
            case: planned.case,
            skip: planned.skip,
            transcript: ClientTranscript {
                facts: facts.clone(),
                rounds,
            },
        });
    }
    if !unmet.is_empty() {
        headlines.push(format!(
            "too few operations came for {}: nothing is shown there",
            unmet.join(", ")
        ));
    }
    if !left_out.is_empty() {
        headlines.push(format!(
            "left out without a command: {}",
            left_out.join(", ")
        ));
    }
    Ok((clients, headlines))
}

/// The attempts of the operations that were to be let through first.
fn plain(watched: &Watched) -> impl Iterator<Item = &Attempt> {
    let first = watched.operations.iter().take(PLAIN);
    first.flat_map(|(dealt, _)| &dealt.attempts)
}

fn failed(attempt: &Attempt) -> bool {
    let is_over = attempt.ended > attempt.began;
    is_over && attempt.status.is_none_or(|status| status >= 300)
}

/// Whether operations that were let through had each a payload of its own.
fn payloads_differ(watched: &Watched) -> bool {
    let let_through = |dealt: &&Dealt| {
        let mut attempts = dealt.attempts.iter();
        attempts.all(|attempt| attempt.fault == ClientFault::Pass)
    };
    let dealt = watched.operations.iter().map(|(dealt, _)| dealt);
    let digests: Vec<&str> = dealt
        .filter(let_through)
        .filter_map(|dealt| dealt.attempts.first()?.request.as_ref())
        .map(|request| request.body_digest.as_str())
        .collect();
    digests.len() >= PLAIN && digests.iter().collect::<HashSet<_>>().len() == digests.len()
}

/// The rounds of a case of which every run had its operation.
fn rounds_of(index: usize, planned: &Planned, watched: &Watched) -> Vec<ClientRound> {
    let mut rounds: BTreeMap<u32, Vec<(&RunFacts, &Dealt)>> = BTreeMap::new();
    for (dealt, facts) in &watched.operations {
        if dealt.card.case == Some(index) {
            let own = rounds.entry(dealt.card.round).or_default();
            own.push((facts, dealt));
        }
    }
    let needed = planned.scenario.cases[planned.case].runs.len();
    let whole = rounds.into_values().filter(|runs| runs.len() == needed);
    whole
        .zip(1..)
        .map(|(runs, number)| ClientRound {
            number,
            runs: runs.iter().map(|(facts, _)| (*facts).clone()).collect(),
            attempts: runs
                .iter()
                .flat_map(|(_, dealt)| dealt.attempts.clone())
                .collect(),
        })
        .collect()
}
