//! Whether a case applies to an operation, and how much it asks of the target.

use super::{Lane, PlannedCase, carrier, keys};
use crate::contract::{Contract, RetentionClock};
use crate::hook::HookName;
use crate::scenario::{Case, Check, Need, Scenario, Step};
use crate::signal::Signal;
use crate::target::Target;
use crate::target::key::{Carrier, KeyPlace};
use crate::target::operation::{Lifetime, Operation, Reading};
use crate::target::request::Body;
use crate::target::signing::Signing;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One case on one operation.
pub(super) struct Fit<'a> {
    pub(super) target: &'a Target,
    pub(super) contracts: &'a BTreeMap<String, Contract>,
    pub(super) contract: &'a Contract,
    pub(super) operation: &'a Operation,
    pub(super) scenario: &'a Scenario,
    pub(super) case: &'a Case,
    pub(super) defer: bool,
}

impl Fit<'_> {
    pub(super) fn plan(&self, scenario: &Arc<Scenario>, case: usize) -> PlannedCase {
        let requests = self.requests();
        PlannedCase {
            subject: self.operation.name.clone(),
            other: self
                .target
                .other(self.operation)
                .map(|other| other.name.clone()),
            other_method: self.operation.other_method.clone(),
            scenario: Arc::clone(scenario),
            case,
            lane: self.lane(),
            requests,
            skip: self.skip(requests).err(),
        }
    }

    pub(super) fn lane(&self) -> Lane {
        let steps = || self.case.leaves();
        if steps().any(|step| matches!(step, Step::Recheck { .. })) {
            return Lane::Last;
        }
        if steps().any(|step| matches!(step, Step::Elapse { .. }))
            && self.has_hook(HookName::AdvanceClock)
        {
            return Lane::Clock;
        }
        let kill = |step: &Step| {
            matches!(
                step,
                Step::Hook {
                    run: HookName::Kill,
                    ..
                }
            )
        };
        if steps().any(kill) {
            return Lane::Crash;
        }
        let shares = self
            .operation
            .effects
            .iter()
            .any(|probe| probe.sharing(self.target) == Lifetime::Run);
        if self.scenario.alone || shares {
            return Lane::Alone;
        }
        let timed = self
            .case
            .steps
            .iter()
            .any(|step| matches!(step, Step::Together(_) | Step::Burst { .. }));
        if timed { Lane::Timed } else { Lane::Shared }
    }

    pub(super) fn requests(&self) -> u64 {
        let one_round: u64 = self
            .case
            .leaves()
            .map(|step| match step {
                Step::Send { times, .. } => u64::from(*times),
                Step::Burst { copies, .. } => u64::from(copies.iter().copied().max().unwrap_or(1)),
                Step::Retry { .. } => 1,
                _ => 0,
            })
            .sum();
        one_round * u64::from(self.scenario.rounds.count)
    }

    /// The error is why the case does not apply.
    pub(super) fn skip(&self, requests: u64) -> Result<(), String> {
        for need in &self.scenario.needs {
            self.need(*need)?;
        }
        for step in self.case.leaves() {
            self.step(step)?;
        }
        keys::accepted(self.scenario, self.case, self.contract)?;
        self.signals()?;
        if let Some(limit) = self.target.limits.requests
            && requests > limit
        {
            return Err(format!(
                "{requests} requests, and the budget is {limit} (limits.requests)"
            ));
        }
        Ok(())
    }

    /// A scenario about counts applies where the target file names one of them.
    pub(super) fn signals(&self) -> Result<(), String> {
        let wanted: Vec<&str> = self
            .scenario
            .expect
            .iter()
            .filter_map(|(_, expectation)| match &expectation.check {
                Check::Counted(claim) => Some(claim.signal),
                _ => None,
            })
            .filter(|signal| {
                let documents = self.target.documents.as_ref();
                !documents.is_some_and(|documents| documents.counts(*signal))
            })
            .map(Signal::name)
            .collect();
        let claims = self.scenario.expect.len();
        if wanted.is_empty() || wanted.len() < claims {
            return Ok(());
        }
        Err(format!(
            "the target file names no count of {} (documents.signals)",
            wanted.join(", ")
        ))
    }

    pub(super) fn need(&self, need: Need) -> Result<(), String> {
        let name = &self.operation.name;
        let probes = &self.operation.effects;
        let ok = match need {
            Need::Key if self.operation.consumer.is_some() => false,
            Need::Key => {
                return self
                    .key_place()
                    .map(|_| ())
                    .ok_or_else(|| format!("{name} has no key"));
            }
            Need::Body => self.operation.request.body.is_some(),
            Need::Json => matches!(self.operation.request.body, Some(Body::Json(_))),
            Need::HeaderKey => matches!(self.key_place(), Some(Carrier::Header(_))),
            Need::Given => self.operation.given.is_some(),
            Need::Precondition => self.operation.precondition.is_some(),
            Need::IdempotentMethod => {
                matches!(self.operation.request.method.as_str(), "PUT" | "DELETE")
            }
            Need::State => probes
                .iter()
                .any(|probe| matches!(probe.reading, Reading::State(_))),
            Need::Bound => probes.iter().any(|probe| probe.bound.is_some()),
            Need::Prepare => self.operation.prepare.is_some(),
            Need::Lookup => {
                let lookup = &self.operation.lookup;
                lookup.by_key.is_some()
                    || lookup.by_reference.is_some()
                    || lookup.by_identity.is_some()
            }
            Need::Consumer => self.operation.consumer.is_some(),
            Need::Posted => self
                .operation
                .consumer
                .as_ref()
                .is_none_or(|consumer| consumer.publish.is_none()),
            Need::Signature => self.operation.signing.is_some(),
            Need::SignedId => self
                .operation
                .signing
                .as_ref()
                .is_some_and(Signing::covers_id),
            Need::Signals => self
                .target
                .documents
                .as_ref()
                .is_some_and(|documents| documents.metrics.is_some()),
            Need::Documents => self.target.documents.is_some(),
            Need::Sink => self.target.sink.is_some() && self.operation.events.is_some(),
            Need::Outage => self.sink(|sink| sink.outage.is_some()),
            Need::OrderedEvents => self.sink(|sink| sink.ordered),
            Need::StableBody => self.sink(|sink| sink.stable.body),
            Need::StableSignature => self.sink(|sink| sink.stable.signature),
            Need::Replicas => self.target.base_urls.len() > 1,
            Need::Retention => self.contract.retention.is_some(),
            Need::RetentionEnd => self
                .contract
                .retention
                .is_some_and(|retention| retention.max.is_some()),
            Need::RetentionFromCompletion => self
                .contract
                .retention
                .is_some_and(|retention| retention.clock == RetentionClock::Completion),
            Need::FirstSent => self.contract.key.first_sent().is_some(),
        };
        if ok {
            return Ok(());
        }
        Err(match need {
            Need::Key => format!("the key of {name} is the id of an event (kind: consumer)"),
            Need::Body => format!("{name} sends no body"),
            Need::Json => format!("{name} sends no JSON"),
            Need::HeaderKey => format!("the key of {name} travels in no header"),
            Need::Given => format!("{name} works on no resource that must exist first (given)"),
            Need::Precondition => {
                format!("{name} cannot be bound to a version (precondition)")
            }
            Need::IdempotentMethod => format!(
                "{} is not idempotent by its meaning",
                self.operation.request.method
            ),
            Need::State => format!("{name} has no probe of a state"),
            Need::Bound => format!("{name} has no probe with a bound"),
            Need::Prepare => format!("nothing is asked for before {name} (prepare)"),
            Need::Lookup => format!("{name} declares no lookup"),
            Need::Consumer => format!("{name} receives no events (kind: consumer)"),
            Need::Posted => format!("{name} is published: its receiver answers nobody"),
            Need::Signature => format!("how {name} is signed is not said (sign)"),
            Need::SignedId => {
                format!("the signature of {name} is not known to cover the id of the event (sign)")
            }
            Need::Signals => {
                "the target file names no page of metrics (documents.metrics)".to_owned()
            }
            Need::Documents => "the target file names no documents".to_owned(),
            Need::Sink => format!(
                "{name} declares no events that our receiver could get (sink, and effects.NAME.webhook)"
            ),
            Need::Outage => {
                "the target does not say which outage of a receiver it survives (sink.outage)"
                    .to_owned()
            }
            Need::OrderedEvents => {
                "the target does not say that its events come in order (sink.ordered)".to_owned()
            }
            Need::StableBody => {
                "the target does not say that an event keeps its body (sink.stable)".to_owned()
            }
            Need::StableSignature => {
                "the target does not say that an event keeps its signature (sink.stable)".to_owned()
            }
            Need::Replicas => "base-url names one instance only".to_owned(),
            Need::Retention => format!("the contract {} declares no retention", self.contract.name),
            Need::RetentionEnd => format!(
                "the contract {} declares no end of the retention",
                self.contract.name
            ),
            Need::RetentionFromCompletion => format!(
                "the contract {} counts no retention from completion",
                self.contract.name
            ),
            Need::FirstSent => format!(
                "the contract {} has no date of the first sending",
                self.contract.name
            ),
        })
    }

    pub(super) fn sink(&self, says: fn(&crate::target::sink::Sink) -> bool) -> bool {
        self.target.sink.as_ref().is_some_and(says)
    }

    pub(super) fn has_hook(&self, hook: HookName) -> bool {
        // A server that the tool starts itself can be killed and started without being told how.
        let managed =
            self.target.server.is_some() && matches!(hook, HookName::Kill | HookName::Start);
        managed || self.target.hooks.get(hook).is_some()
    }

    /// What carries the operation's key, if it has one.
    pub(super) fn key_place(&self) -> Option<Carrier> {
        match self.operation.key.as_ref().or(self.target.key.as_ref()) {
            Some(KeyPlace::At { carrier, .. }) => Some(carrier.clone()),
            Some(KeyPlace::None) => None,
            None => carrier(&self.contract.key),
        }
    }
}
