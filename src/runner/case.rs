//! One case: its baselines, its rounds, and what is read after them.

use super::back_off::{back_off, has_waited_enough};
use super::baseline::{self, Baseline, baseline};
use super::defer::Suspended;
use super::probe;
use super::round::{CaseContext, Played, Ran, locked};
use super::setup::Effort;
use super::sink::speaks_of_events;
use super::timing::too_quick;
use super::world::{BaselineKey, Cast, World};
use super::{CRASHED, Runner};
use crate::plan::PlannedCase;
use crate::scenario::{Case, Check, OperationRole, PrincipalRole, Request, Rounds, Scenario, Step};
use crate::target::operation::{Operation, Reading as What};
use crate::transcript::{LatencyOf, ProbeFacts, ReadingKind, Round, SoFar, Transcript};
use futures::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, JoinSet};

/// A case as far as it has come.
#[derive(Default)]
pub(super) struct Ended {
    /// What is over of it.
    pub(super) transcript: Transcript,
    /// What goes on another day.
    pub(super) suspended: Suspended,
}

impl Ended {
    /// A case that shows nothing, for this reason.
    pub(super) fn broken(why: String) -> Ended {
        Ended {
            transcript: Transcript {
                broken: vec![why],
                ..Transcript::default()
            },
            ..Ended::default()
        }
    }
}

impl Runner {
    /// Runs a case's rounds; a bug of the tool takes no other case with it.
    ///
    /// It runs as a task of its own, on the threads that carry its connections: what passes from a round
    /// to its requests and back then needs no other thread to be woken.
    #[expect(
        clippy::async_yields_async,
        reason = "what is left of a case, its late readings, goes on by itself"
    )]
    pub(super) async fn survived(
        &self,
        planned: &PlannedCase,
        turn: u32,
        side_by_side: bool,
        half: Option<&Suspended>,
    ) -> JoinHandle<Ended> {
        let runner = Runner {
            world: Arc::clone(&self.world),
        };
        let (planned, half) = (planned.clone(), half.cloned());
        // Dropped with whoever waits for it.
        let mut alone = JoinSet::new();
        alone.spawn(async move {
            let case = runner.case(&planned, turn, side_by_side, half.as_ref());
            case.await
        });
        match alone.join_next().await {
            Some(Ok(ended)) => ended,
            _ => tokio::spawn(std::future::ready(Ended::broken(CRASHED.to_owned()))),
        }
    }

    /// Runs a case's rounds. What is left, the late readings, goes on by itself.
    ///
    /// `turn` is that of its first round, where several places make the same run; `half` are its rounds
    /// that go on where they had stopped, instead of new ones.
    async fn case(
        &self,
        planned: &PlannedCase,
        turn: u32,
        side_by_side: bool,
        half: Option<&Suspended>,
    ) -> JoinHandle<Ended> {
        let world = &self.world;
        let cast = Cast::of(planned);
        let case = &planned.scenario.cases[planned.case];
        let mut transcript = Transcript {
            settle: world.target.settle,
            ..Transcript::default()
        };
        let mut baselines: Vec<(OperationRole, BaselineKey, Baseline)> = Vec::new();
        for (role, key) in needed_baselines(planned) {
            let measured = baseline(world, key.clone()).await;
            transcript
                .broken
                .extend(measured.broken_for(&planned.scenario));
            baselines.push((role, key, measured));
        }
        if rechecks(planned) {
            // Whatever does not work names the same nothing again at the end.
            let key = BaselineKey {
                operation: planned.subject.clone(),
                principal: PrincipalRole::Owner,
                variants: Vec::new(),
            };
            transcript
                .broken
                .extend(baseline::found_broken(world, &key).await);
        }
        transcript.latency = baselines
            .iter()
            .find(|(role, key, _)| *role == OperationRole::Subject && key.variants.is_empty())
            .and_then(|(_, _, baseline)| baseline.latency);
        transcript.further_latencies = baselines
            .iter()
            .filter_map(|(role, key, baseline)| {
                Some(LatencyOf {
                    operation: *role,
                    principal: key.principal,
                    variants: key.variants.clone(),
                    latency: baseline.latency?,
                })
            })
            .collect();
        transcript.not_applicable = too_quick(case, world.contract(&planned.subject), &transcript);
        transcript.probes = self.probe_facts(case, &cast, &baselines);
        transcript.in_turn = locked(&world.in_turn).get(&planned.subject).cloned();
        if speaks_of_documents(&planned.scenario) {
            transcript.documents = world.document_facts(&planned.subject).await;
        }
        if speaks_of_events(&planned.scenario) {
            transcript
                .broken
                .extend(world.register_receiver().await.err());
        }
        if world.is_stopped() {
            transcript.broken.push("the run was stopped".to_owned());
        }
        let mut rounds: Vec<Ran> = Vec::new();
        let mut suspended = Suspended::default();
        if transcript.broken.is_empty() && transcript.not_applicable.is_none() {
            let context = CaseContext::new(world, cast.clone(), &planned.scenario, case);
            let plan = planned.scenario.rounds;
            let at_once = if side_by_side { plan.side_by_side } else { 1 };
            let halves: &[_] = half.map_or(&[], |half| &half.rounds);
            for round in halves {
                keep(context.resumed(round).await, &mut rounds, &mut suspended);
            }
            let mut ran = if half.is_some() { plan.up_to } else { 0 };
            let mut looked = Looked::default();
            while ran < plan.count
                || suspended.is_empty()
                    && self.more_rounds(planned, &transcript, &rounds, &mut looked)
            {
                if let Err(why) = world.spend(0) {
                    transcript.broken.push(why);
                    break;
                }
                if locked(&context.not_applicable).is_some() {
                    break;
                }
                let until = if ran < plan.count {
                    plan.count
                } else {
                    plan.up_to
                };
                let together = ran + 1..=until.min(ran + at_once);
                if let Some(vantage) = &world.vantage {
                    vantage.turn(world, turn + ran).await;
                }
                ran = *together.end();
                let mut playing = Vec::new();
                for number in together {
                    playing.push(context.round(number).boxed());
                }
                for played in futures::future::join_all(playing).await {
                    let mut played = self.once_more(planned, &context, &transcript, played).await;
                    back_off(world, case, &rounds, &mut played);
                    keep(played, &mut rounds, &mut suspended);
                }
            }
            let elapsed = rounds.iter().any(|ran| !ran.round.hooks.is_empty());
            if elapsed
                && case
                    .leaves()
                    .any(|step| matches!(step, Step::Elapse { .. }))
            {
                world.ledger.forget_keys();
            }
            transcript.not_applicable = locked(&context.not_applicable).take();
        } else if let Some(half) = half {
            suspended = half.clone();
        }
        let world = Arc::clone(world);
        tokio::spawn(async move {
            transcript.rounds = late_readings(&world, &cast, rounds).await;
            Ended {
                transcript,
                suspended,
            }
        })
    }

    /// Whether a case goes on beyond its planned rounds. All of them are looked at anew only when enough
    /// have come since, and else the new ones alone, which may have shown harm.
    fn more_rounds(
        &self,
        planned: &PlannedCase,
        so_far: &Transcript,
        rounds: &[Ran],
        looked: &mut Looked,
    ) -> bool {
        let plan = planned.scenario.rounds;
        let ran = rounds.len() as u32;
        // The others make no more rounds because of what is seen here.
        if ran >= plan.up_to || self.world.vantage.is_some() {
            return false;
        }
        if has_waited_enough(rounds) {
            return false;
        }
        // However many bursts there are, a target that serves in turn shows nothing by them.
        if so_far.in_turn.is_some() && rounds.iter().any(|ran| !ran.round.bursts.is_empty()) {
            return false;
        }
        let effort = self.world.effort;
        let newest = rounds[looked.at..].iter().map(|ran| &ran.round);
        looked.at = rounds.len();
        if ran < looked.enough_until
            && (effort.keep_going || !self.so_far(planned, so_far, newest).harmed)
        {
            return true;
        }
        let all = rounds.iter().map(|ran| &ran.round);
        let so_far = self.so_far(planned, so_far, all);
        let goes_on = another_round(plan, ran, so_far, effort);
        looked.enough_until = ran + rounds_to_go(plan, ran, so_far, effort);
        goes_on
    }

    /// How far a case has come with these rounds.
    pub(super) fn so_far<'a>(
        &self,
        planned: &PlannedCase,
        so_far: &Transcript,
        rounds: impl IntoIterator<Item = &'a Round>,
    ) -> SoFar {
        let transcript = Transcript {
            rounds: rounds.into_iter().cloned().collect(),
            ..so_far.clone()
        };
        let case = &planned.scenario.cases[planned.case];
        let contract = self.world.contract(&planned.subject);
        (self.world.shown)(&planned.scenario, case, contract, &transcript)
    }

    fn probe_facts(
        &self,
        case: &Case,
        cast: &Cast,
        baselines: &[(OperationRole, BaselineKey, Baseline)],
    ) -> Vec<ProbeFacts> {
        let mut facts = Vec::new();
        for role in [
            OperationRole::Subject,
            OperationRole::Other,
            OperationRole::OtherMethod,
        ] {
            let Some(operation) = cast
                .name(role)
                .ok()
                .and_then(|name| self.world.operation(name).ok())
            else {
                continue;
            };
            for probe in &operation.effects {
                facts.push(ProbeFacts {
                    name: probe.name.clone(),
                    operation: role,
                    per_execution: per_execution(case, role, operation) as f64,
                    live: baselines.iter().any(|(_, key, baseline)| {
                        key.operation == operation.name && baseline.live.contains(&probe.name)
                    }),
                    bound: probe.bound,
                    is_state: matches!(probe.reading, What::State(_)),
                });
            }
        }
        facts
    }
}

/// How far the rounds of a case have been looked at.
#[derive(Default)]
struct Looked {
    /// Rounds that were looked at, together or alone.
    at: usize,
    /// Until so many have run, only harm can end the case.
    enough_until: u32,
}

/// Puts a round where it belongs.
fn keep(played: Played, rounds: &mut Vec<Ran>, suspended: &mut Suspended) {
    match played {
        Played::Through(ran) => rounds.push(*ran),
        Played::Suspended(round) => suspended.rounds.push(*round),
    }
}

/// The effects of one execution: the operation's, or what a variant in the case says instead. Where
/// they differ the largest counts, so that a case that mixes them never fails for its own making.
fn per_execution(case: &Case, role: OperationRole, operation: &Operation) -> u64 {
    let of_request = |request: &Request| {
        let varied = request.variants.iter().rev().find_map(|name| {
            let variant = operation.likeliest_variation(name).ok()?;
            variant.per_execution
        });
        varied.unwrap_or(operation.per_execution)
    };
    case.leaves()
        .filter_map(Step::request)
        // A repeat makes what the step made that it repeats.
        .filter(|request| request.like.is_none())
        .filter(|request| request.operation.unwrap_or_default() == role)
        .map(of_request)
        .max()
        .unwrap_or(operation.per_execution)
}

/// Whether a case only asks again for what others have made.
fn rechecks(planned: &PlannedCase) -> bool {
    planned.scenario.cases[planned.case]
        .leaves()
        .any(|step| matches!(step, Step::Recheck { .. }))
}

/// The baselines that a case stands on: everybody who is to succeed, and every variant that is to.
pub(super) fn needed_baselines(planned: &PlannedCase) -> Vec<(OperationRole, BaselineKey)> {
    let cast = Cast::of(planned);
    let mut needed: Vec<(OperationRole, BaselineKey)> = Vec::new();
    let mut need = |role: OperationRole, principal: PrincipalRole, variants: Vec<String>| {
        if let Ok(name) = cast.name(role) {
            let key = BaselineKey {
                operation: name.to_owned(),
                principal,
                variants,
            };
            if !needed.iter().any(|(_, known)| *known == key) {
                needed.push((role, key));
            }
        }
    };
    let case = &planned.scenario.cases[planned.case];
    if rechecks(planned) {
        return needed;
    }
    need(OperationRole::Subject, PrincipalRole::Owner, Vec::new());
    for request in case.leaves().filter_map(Step::request) {
        let role = request.operation.unwrap_or_default();
        let principal = request.principal.unwrap_or_default();
        let who = principal.stand_in();
        need(role, who, Vec::new());
        let variants = succeeding(&request.variants);
        if !variants.is_empty() {
            need(role, who, variants);
        }
    }
    needed
}

/// The variants among these with which a request should succeed.
pub(super) fn succeeding(variants: &[String]) -> Vec<String> {
    const SUCCEED: [&str; 9] = [
        "slow",
        "lingers",
        "long",
        "big-number",
        "no-content",
        "large",
        "async",
        "stream",
        "binary",
    ];
    variants
        .iter()
        .filter(|variant| SUCCEED.contains(&variant.as_str()))
        .cloned()
        .collect()
}

/// Rounds beyond the planned ones without any that showed something, after which none will.
const IN_VAIN: u32 = 15;

/// Whether one more round is worth it: too few showed something, and another may; or a smaller race
/// window is to be looked for, and can be reached. Harm ends the search.
fn another_round(plan: Rounds, ran: u32, so_far: SoFar, effort: Effort) -> bool {
    let SoFar {
        shown,
        harmed,
        window,
    } = so_far;
    if ran >= plan.up_to {
        return false;
    }
    if shown < plan.valid && (shown > 0 || ran < plan.count + IN_VAIN) {
        return true;
    }
    // Twice as many rounds see windows half as long.
    let smallest = |window: Duration| window.mul_f64(f64::from(ran) / f64::from(plan.up_to));
    (effort.keep_going || !harmed)
        && window.is_some_and(|window| {
            window > effort.race_bound && smallest(window) <= effort.race_bound
        })
}

/// After how many more rounds it is worth to look at all of them anew.
fn rounds_to_go(plan: Rounds, ran: u32, so_far: SoFar, effort: Effort) -> u32 {
    if so_far.shown < plan.valid {
        // Each round shows one thing at most; where none shows anything the end is near.
        return match so_far.shown {
            0 => 1,
            shown => (plan.valid - shown).min(plan.up_to - ran),
        };
    }
    // Windows shrink as rounds grow; half of the way is sure not to be too far.
    let window = so_far.window.unwrap_or_default().as_secs_f64();
    let needed = f64::from(ran) * window / effort.race_bound.as_secs_f64().max(1e-9);
    let to_go = (needed - f64::from(ran))
        .max(0.0)
        .min(f64::from(plan.up_to - ran));
    (to_go / 2.0) as u32 + 1
}

/// Reads the effects once more, a settle time after everything of the case was over.
async fn late_readings(world: &World, cast: &Cast, rounds: Vec<Ran>) -> Vec<Round> {
    let still = rounds.iter().map(|ran| ran.still_at).max();
    if let Some(still) = still.filter(|still| *still > Instant::now()) {
        tokio::time::sleep_until(still.into()).await;
    }
    let read: Vec<Ran> = futures::stream::iter(rounds)
        .map(|mut ran| async move {
            let readings = probe::read_all(world, cast, &ran.counted, &ReadingKind::Late).await;
            ran.round.readings.extend(readings);
            if ran.events {
                ran.round.deliveries = world.deliveries(cast, &ran.counted);
            }
            ran
        })
        .buffered(4)
        .collect()
        .await;
    let noted = read.into_iter().map(|mut ran| {
        ran.note_tokens(world);
        ran.round
    });
    noted.collect()
}

/// Whether a scenario holds documents against what is observed.
fn speaks_of_documents(scenario: &Scenario) -> bool {
    let mut expected = scenario.expect.iter().map(|(_, expectation)| expectation);
    expected.any(|expectation| matches!(expectation.check, Check::Documented { .. }))
}

#[cfg(test)]
mod tests {
    use super::{Effort, SoFar, another_round, per_execution, rounds_to_go};
    use crate::scenario::{Case, OperationRole, Rounds, parse};
    use crate::yaml::Source;
    use std::sync::Arc;
    use std::time::Duration;

    fn case(steps: &str) -> Case {
        let text = format!(
            "title: A test\nsteps:\n{steps}expect:\n  item-5:\n    - effects: {{ at-most: 1 }}\n"
        );
        let source = Source {
            name: "test.yaml".to_owned(),
            text,
        };
        let scenario = parse("own/test", Arc::new(source), false);
        scenario.expect("a sound scenario").cases.remove(0)
    }

    #[test]
    fn a_variant_restates_the_effects_of_one_execution() {
        let target = crate::target::trial::target(
            "target: T\nbase-url: http://127.0.0.1:1\noperations:\n  pay:\n    request: POST /payments\n    per-execution: 2\n    variants: { dry-run: { query: { dry: \"1\" }, per-execution: 0 }, same-item-twice: { query: { n: \"2\" }, per-execution: 4 } }\n",
        );
        let per = |steps: &str| {
            per_execution(&case(steps), OperationRole::Subject, &target.operations[0])
        };
        assert_eq!(per("  - send: { as: first, key: fresh }\n"), 2);
        let batch = "  - send: { as: first, key: fresh, variant: same-item-twice }\n  - send: { as: again, like: first }\n";
        assert_eq!(per(batch), 4);
        let dry = "  - send: { as: dry, key: fresh, variant: dry-run }\n  - send: { as: live, key: { of: dry } }\n";
        assert_eq!(per(dry), 2);
    }

    #[test]
    fn rounds_that_show_nothing_are_made_up_for_within_reason() {
        let plan = Rounds {
            count: 5,
            valid: 3,
            up_to: 40,
            side_by_side: 1,
        };
        let another = |ran, shown| {
            let so_far = SoFar {
                shown,
                ..SoFar::default()
            };
            another_round(plan, ran, so_far, Effort::default())
        };
        assert!(!another(5, 3), "enough");
        assert!(another(5, 2) && another(39, 2));
        assert!(!another(40, 2), "no more than allowed");
        assert!(another(19, 0));
        assert!(!another(20, 0), "nothing will ever show");
    }

    #[test]
    fn all_rounds_are_looked_at_anew_only_when_that_can_end_a_case() {
        let plan = Rounds {
            count: 5,
            valid: 5,
            up_to: 60,
            side_by_side: 1,
        };
        let after = |ran, shown, micros| {
            let so_far = SoFar {
                shown,
                harmed: false,
                window: Some(Duration::from_micros(micros)),
            };
            rounds_to_go(plan, ran, so_far, Effort::default())
        };
        assert_eq!(after(5, 0, 8_000), 1, "it may be in vain");
        assert_eq!(after(5, 3, 8_000), 2);
        assert_eq!(after(59, 3, 8_000), 1);
        // Forty are needed, and half of the way is gone without a look.
        assert_eq!(after(5, 5, 8_000), 18);
        assert_eq!(after(39, 39, 1_010), 1);
    }

    #[test]
    fn rounds_go_on_until_a_race_of_the_wanted_length_would_have_shown() {
        let plan = Rounds {
            count: 5,
            valid: 5,
            up_to: 60,
            side_by_side: 1,
        };
        let saw = |millis| SoFar {
            shown: 60,
            harmed: false,
            window: Some(Duration::from_millis(millis)),
        };
        let effort = Effort::default();
        assert!(!another_round(plan, 5, saw(1), effort), "it is reached");
        assert!(another_round(plan, 5, saw(12), effort));
        assert!(!another_round(plan, 5, saw(13), effort), "it never will be");
        assert!(!another_round(plan, 60, saw(2), effort));
        let harm = SoFar {
            harmed: true,
            ..saw(12)
        };
        assert!(!another_round(plan, 5, harm, effort));
        let keep_going = Effort {
            keep_going: true,
            ..effort
        };
        assert!(another_round(plan, 5, harm, keep_going));
    }
}
