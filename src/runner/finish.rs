//! The end of a round: what it has changed is put right, and what it saw is looked through.

use super::pace::Pace;
use super::round::{Ran, RoundRun, locked};
use super::{exchange, hook};
use crate::hook::HookName;
use crate::outcome::Meaning;
use crate::scenario::{Case, Step};
use crate::transcript::{Delivery, Ending, Round};
use std::time::Instant;

impl RoundRun<'_> {
    /// A server that this round has ended serves again, whatever befell the round.
    async fn restart(&self) {
        let is_down = locked(&self.record)
            .hooks
            .iter()
            .rfind(|hook| matches!(hook.name, HookName::Kill | HookName::Start))
            .is_some_and(|hook| hook.name == HookName::Kill);
        if !is_down || self.world().is_stopped() {
            return;
        }
        let facts = hook::run(self.world(), HookName::Start).await;
        if !facts.worked {
            self.broke(format!("the server did not start again: {}", facts.output));
        }
        locked(&self.record).hooks.push(facts);
    }

    /// Puts right what the round has changed, waits for what is late, and hands over what was seen.
    pub(super) async fn finish(self) -> Ran {
        self.restart().await;
        let undo = std::mem::take(&mut *locked(&self.undo));
        for hook in undo {
            let facts = hook::run(self.world(), hook).await;
            if !facts.worked {
                self.broke(format!(
                    "the hook {} did not undo: {}",
                    hook.name(),
                    facts.output
                ));
            }
            locked(&self.record).hooks.push(facts);
        }
        let late = std::mem::take(&mut *locked(&self.late));
        futures::future::join_all(
            late.into_iter()
                .map(|late| exchange::collect_late(&self, late)),
        )
        .await;
        let more_events = self.note_deliveries();
        let still = {
            let lost = *locked(&self.lost_at);
            let quiet = Instant::now() + self.settle_time();
            let quiet = more_events.map_or(quiet, |time| quiet.max(time));
            lost.map_or(quiet, |lost| quiet.max(lost + self.still_running()))
        };
        let mut round = std::mem::take(&mut *locked(&self.record));
        round
            .exchanges
            .sort_by_key(|exchange| exchange.times.sent.unwrap_or(exchange.times.ended));
        self.remember_latencies(&round);
        broken_off(&mut round);
        killed_too_late(self.context.case, &mut round);
        let counted = std::mem::take(&mut *locked(&self.counted));
        Ran {
            round,
            counted,
            still_at: still,
            events: more_events.is_some(),
            ran_out: 0,
        }
    }

    /// What this round measured serves the next ones.
    fn remember_latencies(&self, round: &Round) {
        let mut measured = locked(&self.context.measured);
        for exchange in &round.exchanges {
            let first =
                exchange.copy == 0 && exchange.attempt == 0 && exchange.ending == Ending::Answered;
            let executed = exchange.outcome.may_be(Meaning::Executed);
            if let (true, true, Some(sent)) = (first, executed, exchange.times.sent) {
                let took = exchange.times.ended.saturating_sub(sent);
                measured
                    .entry(exchange.step.clone())
                    .and_modify(|pace| pace.took(took))
                    .or_insert(Pace::new(took));
            }
        }
    }
}

/// A server that is ended when the request was through has lost nothing on its way.
fn killed_too_late(case: &Case, round: &mut Round) {
    let meant = case.leaves().filter_map(|step| match step {
        Step::Hook {
            run: HookName::Kill,
            at: Some(moment),
            ..
        } => moment.of.as_deref(),
        _ => None,
    });
    for step in meant {
        let answered = round
            .of(step)
            .any(|exchange| exchange.ending == Ending::Answered);
        if answered {
            round.broken.push(format!(
                "`{step}` had been answered before the server was killed"
            ));
        }
    }
}

/// A target that closes connections by itself shows nothing, and that is said.
fn broken_off(round: &mut Round) {
    let mut reasons: Vec<String> = Vec::new();
    for exchange in &round.exchanges {
        // What we ended ourselves was meant to break.
        let killed = round.hooks.iter().any(|hook| {
            hook.name == HookName::Kill
                && hook.worked
                && exchange.times.sent.is_some_and(|sent| sent <= hook.at)
                && hook.at <= exchange.times.ended
        });
        if killed {
            continue;
        }
        let reason = match &exchange.ending {
            Ending::ClosedByTarget(why) if exchange.fault.is_none() => {
                format!("the target broke off `{}`: {why}", exchange.step)
            }
            Ending::Broken(why) => format!(
                "`{}` was answered with something that is not HTTP: {why}",
                exchange.step
            ),
            Ending::Refused(why) => format!("no connection for `{}`: {why}", exchange.step),
            Ending::TimedOut
                if exchange.fault.is_none() && exchange.delivery != Delivery::NotSent =>
            {
                format!("`{}` was not answered in time", exchange.step)
            }
            _ => continue,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    round.broken.extend(reasons);
}
