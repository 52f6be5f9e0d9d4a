//! What a client's attempts mean: a pure function of what was written down, the scenario and the
//! contract.

mod body;
mod key;
mod operations;
mod pauses;
mod resent;
#[cfg(test)]
mod tests;
mod waits;

use super::{Evidence, Finding, Tally};
use crate::checklist::ItemId;
use crate::contract::Contract;
use crate::promise::Level;
use crate::scenario::client::{
    ClientCase, ClientCheck, ClientExpectation, ClientFault, ClientScenario, CommandRun,
};
use crate::transcript::client::{ClientTranscript, RunEnd};
use crate::verdict::Verdict;
pub use operations::told_by;
use operations::{Operation, operations};

/// One finding for each expectation of the scenario, in the order of the file. `subject` is the
/// operation of the target file that is judged.
pub fn judge(
    subject: &str,
    scenario: &ClientScenario,
    case: &ClientCase,
    contract: &Contract,
    transcript: &ClientTranscript,
) -> Vec<Finding> {
    scenario
        .expect
        .iter()
        .map(|(item, expectation)| {
            let look = Look {
                subject,
                case,
                contract,
                transcript,
                of: &expectation.of,
            };
            finding(&look, scenario, *item, expectation)
        })
        .collect()
}

/// Whether more rounds could still show what these did not.
pub fn wants_more_rounds(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Inconclusive)
}

/// A finding for each expectation of a case that does not apply.
pub fn skipped(
    subject: &str,
    scenario: &ClientScenario,
    case: &ClientCase,
    why: &str,
) -> Vec<Finding> {
    let findings = scenario.expect.iter().map(|(item, expectation)| {
        let said = Said::does_not_apply(why);
        told(subject, scenario, case, *item, expectation, said, 0)
    });
    findings.collect()
}

/// What one expectation is held against.
struct Look<'a> {
    subject: &'a str,
    case: &'a ClientCase,
    contract: &'a Contract,
    transcript: &'a ClientTranscript,
    of: &'a [String],
}

/// What is said of one expectation, or of one operation under it.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    verdict: Verdict,
    reason: String,
    seen: Vec<Evidence>,
    /// A level that stands instead of what is written.
    level: Option<Level>,
}

impl Said {
    fn new(verdict: Verdict, reason: impl Into<String>) -> Said {
        Said {
            verdict,
            reason: reason.into(),
            seen: Vec::new(),
            level: None,
        }
    }

    fn held(reason: impl Into<String>) -> Said {
        Said::new(Verdict::Pass, reason)
    }

    fn broken(reason: impl Into<String>) -> Said {
        Said::new(Verdict::Fail, reason)
    }

    fn not_shown(reason: impl Into<String>) -> Said {
        Said::new(Verdict::Inconclusive, reason)
    }

    fn does_not_apply(reason: impl Into<String>) -> Said {
        Said::new(Verdict::Skip, reason)
    }

    fn seen_in(mut self, operation: &Operation<'_>) -> Said {
        self.seen.extend(operation.evidence());
        self
    }

    fn at(mut self, level: Level) -> Said {
        self.level = Some(level);
        self
    }
}

/// The gravest of what is said of several operations; a pass outweighs what was not shown.
fn fold(said: Vec<Said>) -> Said {
    let rank = |said: &Said| match said.verdict {
        Verdict::Fail => 3,
        Verdict::Pass => 2,
        Verdict::Inconclusive => 1,
        Verdict::Skip => 0,
    };
    let mut best: Option<Said> = None;
    for next in said {
        best = match best {
            Some(best) if rank(&best) >= rank(&next) => Some(Said {
                seen: match rank(&best) == rank(&next) && best.verdict == Verdict::Fail {
                    true => [best.seen, next.seen].concat(),
                    false => best.seen,
                },
                ..best
            }),
            _ => Some(next),
        };
    }
    best.unwrap_or_else(|| Said::not_shown("nothing was sent"))
}

fn finding(
    look: &Look<'_>,
    scenario: &ClientScenario,
    item: ItemId,
    expectation: &ClientExpectation,
) -> Finding {
    let said = look
        .nothing_shown()
        .unwrap_or_else(|| look.rule(expectation));
    let rounds = u32::try_from(look.transcript.rounds.len()).unwrap_or(u32::MAX);
    told(
        look.subject,
        scenario,
        look.case,
        item,
        expectation,
        said,
        rounds,
    )
}

fn told(
    subject: &str,
    scenario: &ClientScenario,
    case: &ClientCase,
    item: ItemId,
    expectation: &ClientExpectation,
    said: Said,
    rounds: u32,
) -> Finding {
    let failed: Vec<u32> = match said.verdict {
        Verdict::Fail => {
            let mut failed: Vec<u32> = said.seen.iter().map(|seen| seen.round).collect();
            failed.dedup();
            failed
        }
        _ => Vec::new(),
    };
    Finding {
        name: format!(
            "{subject}/{}/{item}/{}",
            scenario.case_id(case),
            expectation.id
        ),
        id: expectation.id.clone(),
        item,
        verdict: said.verdict,
        level: said.level.unwrap_or(expectation.level),
        severity: scenario.severity,
        reason: said.reason,
        steps: expectation.of.clone(),
        promise: None,
        observed: Vec::new(),
        documented: None,
        reach: None,
        rounds: Tally {
            ran: rounds,
            valid: match said.verdict {
                Verdict::Pass | Verdict::Fail => rounds,
                Verdict::Inconclusive | Verdict::Skip => 0,
            },
            failed: u32::try_from(failed.len()).unwrap_or(u32::MAX),
            first_failed: failed.first().copied(),
        },
        evidence: said.seen,
    }
}

impl<'a> Look<'a> {
    fn rule(&self, expectation: &ClientExpectation) -> Said {
        match &expectation.check {
            ClientCheck::KeySent => self.each(|operation| key::sent(self.contract, operation)),
            ClientCheck::SameKey => self.each(key::same),
            ClientCheck::NewKey => key::new(&self.operations()),
            ClientCheck::KeyForm => key::form(self.contract, &self.operations()),
            ClientCheck::KeySurvives { from } => key::survives(self, from),
            ClientCheck::SameBody => self.each(body::same),
            ClientCheck::NotBlind => self.each(resent::not_blind),
            ClientCheck::Retried => {
                self.each(|operation| resent::retried(self.contract, operation))
            }
            ClientCheck::NotRetried => {
                self.each(|operation| resent::not_retried(self.contract, operation))
            }
            ClientCheck::Attempts { at_most } => {
                let most = self.transcript.facts.most_attempts;
                self.each(|operation| resent::bounded(operation, *at_most, most))
            }
            ClientCheck::LooksUp => resent::looks_up(self),
            ClientCheck::Pauses => pauses::there_are(&self.operations()),
            ClientCheck::Varies => pauses::vary(&self.operations()),
            ClientCheck::Grows => pauses::grow(&self.operations()),
            ClientCheck::Capped { at_most } => {
                let declared = self.transcript.facts.longest_pause;
                pauses::capped(&self.operations(), declared.unwrap_or(*at_most))
            }
            ClientCheck::Waits { than } => waits::rule(self, than),
        }
    }

    /// What is said of each operation, folded. One that was let through shows nothing of a fault.
    fn each(&self, say: impl Fn(&Operation<'_>) -> Said) -> Said {
        let said = self.operations().into_iter().map(|operation| {
            if operation.is_untouched() {
                return Said::does_not_apply("the operation met no fault");
            }
            let seen = say(&operation);
            match seen.verdict {
                Verdict::Fail => seen.seen_in(&operation),
                _ => seen,
            }
        });
        fold(said.collect())
    }

    /// The operations of the runs that are looked at.
    fn operations(&self) -> Vec<Operation<'a>> {
        self.of.iter().flat_map(|run| self.of_run(run)).collect()
    }

    /// The operations of one run, in all rounds.
    fn of_run(&self, run: &str) -> Vec<Operation<'a>> {
        let facts = &self.transcript.facts;
        let Some(command) = self.command(run) else {
            return Vec::new();
        };
        self.transcript
            .rounds
            .iter()
            .flat_map(|round| operations(round, command, self.subject, facts))
            .collect()
    }

    fn command(&self, run: &str) -> Option<&'a CommandRun> {
        self.case.runs.iter().find(|command| command.name == run)
    }

    /// Why nothing at all was shown, if that is so.
    fn nothing_shown(&self) -> Option<Said> {
        let mut missing = None;
        if self.transcript.rounds.is_empty() {
            return Some(Said::not_shown(match self.transcript.facts.watched {
                true => "too few operations came while it was watched",
                false => "nothing ran",
            }));
        }
        for name in self.of {
            let command = self.command(name)?;
            for round in &self.transcript.rounds {
                let run = round.run(name)?;
                if let RunEnd::NotStarted(why) = &run.end {
                    return Some(Said::not_shown(format!(
                        "the command could not be run: {why}"
                    )));
                }
                let own: Vec<_> = round
                    .of(name)
                    .filter(|(_, attempt)| attempt.may_be_of(self.subject))
                    .collect();
                let refuses = command.faults.contains(&ClientFault::Refuse);
                if refuses && !self.transcript.facts.counts_refused {
                    return Some(Said::not_shown(
                        "connections that the system refuses can be counted by root only (CAP_NET_RAW)",
                    ));
                }
                let faulted = command
                    .faults
                    .iter()
                    .find(|fault| **fault != ClientFault::Pass);
                let fired = faulted
                    .is_none_or(|fault| own.iter().any(|(_, attempt)| attempt.fault == *fault));
                let facts = &self.transcript.facts;
                let apart = !operations(round, command, self.subject, facts).is_empty();
                if !own.is_empty() && !apart {
                    missing = Some(
                        "which attempts belong to which operation cannot be told: let the payload name each (${marker}), or make one operation a run"
                            .to_owned(),
                    );
                } else if own.is_empty() {
                    missing = Some(format!(
                        "the command sent no request of {}{}",
                        self.subject,
                        wrote(&run.wrote)
                    ));
                } else if !fired {
                    missing =
                        Some("the fault did not fire: there were too few requests".to_owned());
                } else if let Some((_, attempt)) = own
                    .iter()
                    .find(|(_, attempt)| attempt.trouble.is_some() && attempt.status.is_none())
                    && attempt.fault != ClientFault::Slow
                {
                    missing.clone_from(&attempt.trouble);
                }
            }
        }
        missing.map(Said::not_shown)
    }
}

fn wrote(text: &str) -> String {
    match text.lines().last() {
        Some(line) if !line.is_empty() => format!("; it wrote: {line}"),
        _ => "; it wrote nothing".to_owned(),
    }
}
