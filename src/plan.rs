//! Scenario × operation × case, against what the target has: what will run, and why the rest does
//! not. Pure.

pub mod client;
mod defer;
mod keys;
mod vantage;

use crate::checklist::ItemId;
use crate::contract::{Contract, KeyRules, RetentionClock};
use crate::hook::HookName;
use crate::scenario::{
    Amount, Case, Check, Close, FirstSent, LookupBy, Moment, Need, OperationRole, PrincipalRole,
    Quantity, Request, Scenario, Signature, Step, TimeSpan, When,
};
use crate::signal::Signal;
use crate::target::Target;
use crate::target::key::{Carrier, KeyPlace, singular_path};
use crate::target::operation::{Lifetime, LookupWay, Operation, Reading};
use crate::target::principal::{Principal, Role};
use crate::target::request::Body;
use crate::target::signing::Signing;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What will run, in order, and what will not.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// All cases.
    pub cases: Vec<PlannedCase>,
}

/// One case of a scenario on one operation.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// The operation that is judged, by its name in the target file.
    pub subject: String,
    /// The operation that plays `other`.
    pub other: Option<String>,
    /// The operation that plays `other-method`.
    pub other_method: Option<String>,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// Which of its cases.
    pub case: usize,
    /// How it shares the target with others.
    pub lane: Lane,
    /// Requests that it sends at most in its planned rounds, without probes.
    pub requests: u64,
    /// Why it does not apply; it is then only reported.
    pub skip: Option<String>,
}

/// How a case shares the target with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Requests that meet each other: one at a time, with nothing beside it.
    Timed,
    /// Requests that come one after another: together with others, if the target works on several
    /// requests at once.
    Shared,
    /// Hooks, floods, shared bounds: nothing else runs.
    Alone,
    /// At the end of the run, while its keys still live.
    Last,
    /// It ends the server without notice, which may cost more than its own keys: after all that need
    /// the others.
    Crash,
    /// It moves the target's clock, and so ages everybody's keys: after all others.
    Clock,
}

/// What was selected on the command line; empty lists select everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Ids of scenarios, with or without a case, or the beginnings of ids up to a `/`.
    pub scenarios: Vec<String>,
    /// Items that a scenario must bear on.
    pub items: Vec<ItemId>,
    /// Names of operations.
    pub operations: Vec<String>,
    /// Where the target's time has to pass and neither a hook nor a short wait lets it, a case may
    /// stop, to go on another day.
    pub defer: bool,
}

impl Selection {
    fn wants(&self, scenario: &Scenario, case: &Case) -> bool {
        let id = scenario.case_id(case);
        let by_name = self.scenarios.is_empty()
            || self.scenarios.iter().any(|wanted| {
                let wanted = wanted.trim_end_matches('/');
                id == *wanted
                    || scenario.id == *wanted
                    || scenario.id.starts_with(&format!("{wanted}/"))
            });
        let by_item = self.items.is_empty()
            || scenario
                .expect
                .iter()
                .any(|(item, _)| self.items.contains(item));
        by_name && by_item
    }
}

/// How an operation is looked up in this way, if the target says how.
pub fn lookup_way(operation: &Operation, by: LookupBy) -> Option<&LookupWay> {
    let lookup = &operation.lookup;
    match by {
        LookupBy::Key => lookup.by_key.as_ref(),
        LookupBy::Reference => lookup.by_reference.as_ref(),
        LookupBy::Identity => lookup.by_identity.as_ref(),
    }
}

/// Lays every scenario over every operation that it can be about.
pub fn plan(
    target: &Target,
    contracts: &BTreeMap<String, Contract>,
    scenarios: &[Arc<Scenario>],
    selection: &Selection,
) -> Plan {
    let mut cases = Vec::new();
    let selected: Vec<&Operation> = target
        .operations
        .iter()
        .filter(|operation| {
            selection.operations.is_empty() || selection.operations.contains(&operation.name)
        })
        .collect();
    let is_keyless = |operation: &Operation| {
        operation.key == Some(KeyPlace::None) || operation.consumer.is_some()
    };
    let with_a_key = selected.iter().position(|operation| !is_keyless(operation));
    let consuming = selected
        .iter()
        .position(|operation| operation.consumer.is_some());
    for (number, operation) in selected.iter().copied().enumerate() {
        let Some(contract) = contracts.get(&operation.name) else {
            continue;
        };
        for scenario in scenarios {
            // What is about keys, or about receiving events, is not even missing from an operation
            // that does neither, as long as another one shows it. Where none does, it is missing once.
            let of_keys = scenario.needs.contains(&Need::Key);
            let of_consumers = scenario.needs.contains(&Need::Consumer);
            let misses = |of: Option<usize>| number == of.unwrap_or_default();
            if of_keys && is_keyless(operation) && !misses(with_a_key)
                || of_consumers && operation.consumer.is_none() && !misses(consuming)
            {
                continue;
            }
            if is_elsewhere(&selected, operation, is_keyless(operation), scenario) {
                continue;
            }
            for (index, case) in scenario.cases.iter().enumerate() {
                // Whoever owns what an event is about, its sender is one and the same.
                if operation.consumer.is_some() && !of_consumers && has_other_callers(case) {
                    continue;
                }
                if selection.wants(scenario, case) {
                    let fit = Fit {
                        target,
                        contracts,
                        contract,
                        operation,
                        scenario,
                        case,
                        defer: selection.defer,
                    };
                    cases.push(fit.plan(scenario, index));
                }
            }
        }
    }
    Plan { cases }
}

/// Whether a scenario is about a kind of operations to which this one does not belong and another one
/// does: it is then not even missing here. What takes no key owes no events and no look-up either.
fn is_elsewhere(
    selected: &[&Operation],
    operation: &Operation,
    is_keyless: bool,
    scenario: &Scenario,
) -> bool {
    scenario.needs.iter().any(|need| {
        let belongs: fn(&Operation) -> bool = match need {
            Need::Precondition => |operation| operation.precondition.is_some(),
            Need::IdempotentMethod => {
                |operation| matches!(operation.request.method.as_str(), "PUT" | "DELETE")
            }
            Need::Bound => |operation| operation.effects.iter().any(|probe| probe.bound.is_some()),
            Need::Prepare => |operation| operation.prepare.is_some(),
            Need::Given => |operation| operation.given.is_some(),
            Need::Sink if is_keyless => |operation| operation.events.is_some(),
            Need::Lookup if is_keyless => |operation| {
                let lookup = &operation.lookup;
                lookup.by_key.is_some()
                    || lookup.by_reference.is_some()
                    || lookup.by_identity.is_some()
            },
            _ => return false,
        };
        !belongs(operation) && selected.iter().any(|other| belongs(other))
    })
}

/// Whether somebody else than the owner sends in it.
fn has_other_callers(case: &Case) -> bool {
    case.leaves().filter_map(Step::request).any(|request| {
        request
            .principal
            .is_some_and(|principal| principal != PrincipalRole::Owner)
    })
}

/// One case on one operation.
struct Fit<'a> {
    target: &'a Target,
    contracts: &'a BTreeMap<String, Contract>,
    contract: &'a Contract,
    operation: &'a Operation,
    scenario: &'a Scenario,
    case: &'a Case,
    defer: bool,
}

impl Fit<'_> {
    fn plan(&self, scenario: &Arc<Scenario>, case: usize) -> PlannedCase {
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

    fn lane(&self) -> Lane {
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

    fn requests(&self) -> u64 {
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
    fn skip(&self, requests: u64) -> Result<(), String> {
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
    fn signals(&self) -> Result<(), String> {
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

    fn need(&self, need: Need) -> Result<(), String> {
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

    fn sink(&self, says: fn(&crate::target::sink::Sink) -> bool) -> bool {
        self.target.sink.as_ref().is_some_and(says)
    }

    fn step(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send { request, .. } | Step::Retry { request, .. } => self.request(request),
            Step::Burst {
                request, copies, ..
            } => {
                if self.target.limits.in_flight == Some(1)
                    && copies.iter().any(|copies| *copies > 1)
                {
                    return Err("limits.in-flight is 1: no bursts".to_owned());
                }
                self.request(request)
            }
            Step::Prepare { principal, .. } => {
                self.need(Need::Prepare)?;
                self.principal(*principal)
            }
            Step::Lookup(lookup) => {
                lookup_way(self.operation, lookup.by).ok_or_else(|| {
                    let by = lookup.by.name();
                    format!(
                        "{} declares no lookup by {by} (lookup.by-{by})",
                        self.operation.name
                    )
                })?;
                self.principal(lookup.principal.unwrap_or_default())
            }
            Step::Hook { run, at, undo } => {
                for hook in std::iter::once(run).chain(undo) {
                    if !self.has_hook(*hook) {
                        return Err(format!("the target has no hook `{}`", hook.name()));
                    }
                }
                at.as_ref().map_or(Ok(()), |moment| self.moment(moment))
            }
            Step::Cleanup { of } => {
                let operation = self.played(self.case.operation_of(of))?;
                match operation.cleanup {
                    Some(_) if !operation.identity.is_empty() => Ok(()),
                    Some(_) => Err(format!(
                        "{} names nothing it made (identity)",
                        operation.name
                    )),
                    None => Err(format!("{} has no cleanup", operation.name)),
                }
            }
            Step::Elapse { time, at: None } => self.elapse(*time),
            Step::Elapse { time, at: Some(at) } => {
                if !self.has_hook(HookName::AdvanceClock) {
                    return Err(
                        "its clock must move while a request runs: needs the hook advance-clock"
                            .to_owned(),
                    );
                }
                self.moment(at)?;
                self.elapse(*time)
            }
            _ => Ok(()),
        }
    }

    fn request(&self, request: &Request) -> Result<(), String> {
        let operation = self.played(request.operation.unwrap_or_default())?;
        for variant in &request.variants {
            operation.variation(variant)?;
        }
        if matches!(self.key_place(), Some(Carrier::Json(_)))
            && self.sends_multipart(operation, request)
        {
            return Err(format!(
                "the key of {} travels in JSON, and this body is multipart",
                operation.name
            ));
        }
        let principal = request.principal.unwrap_or_default();
        self.principal(principal)?;
        for form in request.forms.iter().flatten() {
            let json = matches!(operation.request.body, Some(Body::Json(_)));
            match form.as_str() {
                "reordered" | "spaced" | "number-form" | "escaped" if !json => {
                    return Err(format!("{} sends no JSON", operation.name));
                }
                "new-boundary" if !self.sends_multipart(operation, request) => {
                    return Err(format!("{} sends no multipart body", operation.name));
                }
                "chunked" if operation.request.body.is_none() => {
                    return Err(format!("{} sends no body", operation.name));
                }
                _ => {}
            }
        }
        if let Some(FirstSent::Ago(time)) = request.first_sent {
            self.ago(time)?;
        }
        if let Some(moment) = &request.at {
            self.moment(moment)?;
        }
        if request.signature != Signature::Good {
            self.need(Need::Signature)?;
        }
        let Some(fault) = &request.fault else {
            return Ok(());
        };
        let publishes = operation
            .consumer
            .as_ref()
            .is_some_and(|consumer| consumer.publish.is_some());
        if publishes {
            return Err(format!(
                "{name} is published: nothing of it can be cut",
                name = operation.name
            ));
        }
        if fault.close() == Some(Close::RstStream)
            && self.target.http != crate::target::HttpVersion::Http2
        {
            return Err("HTTP/1.1 has no streams to reset (http: 2 asks for HTTP/2)".to_owned());
        }
        match fault {
            crate::scenario::Fault::HangUp { at, .. } => self.moment(at),
            crate::scenario::Fault::MidBody { .. }
            | crate::scenario::Fault::Stall { .. }
            | crate::scenario::Fault::AwaitContinue { .. }
                if operation.request.body.is_none() =>
            {
                Err(format!("{} sends no body", operation.name))
            }
            _ => Ok(()),
        }
    }

    /// Whether a request, or the one that it repeats, has a multipart body.
    fn sends_multipart(&self, operation: &Operation, request: &Request) -> bool {
        let is_multipart = |body: &Option<Body>| matches!(body, Some(Body::Multipart(_)));
        let varied = request.variants.iter().any(|name| {
            operation
                .likeliest_variation(name)
                .is_ok_and(|variant| is_multipart(&variant.patch.body))
        });
        let repeated = || {
            let like = request.like.as_ref()?;
            self.case.step(&like.of)?.request()
        };
        varied
            || is_multipart(&operation.request.body)
            || repeated().is_some_and(|earlier| self.sends_multipart(operation, earlier))
    }

    /// The operation that plays a role.
    fn played(&self, role: OperationRole) -> Result<&Operation, String> {
        let name = &self.operation.name;
        match role {
            OperationRole::Subject => Ok(self.operation),
            OperationRole::Other => {
                let other = self.target.other(self.operation);
                let other = other.ok_or_else(|| {
                    format!("no second operation: name one under `other` of {name}")
                })?;
                if self.contracts.contains_key(&other.name) {
                    Ok(other)
                } else {
                    Err(format!("{} has no contract", other.name))
                }
            }
            OperationRole::OtherMethod => self
                .operation
                .other_method
                .as_deref()
                .and_then(|other| self.target.operation(other))
                .ok_or_else(|| {
                    format!(
                        "no operation with another method: name one under `other-method` of {name}"
                    )
                }),
        }
    }

    fn principal(&self, role: PrincipalRole) -> Result<(), String> {
        let declared = |role: Role| self.target.principals.get(&role);
        match role {
            PrincipalRole::Owner => Ok(()),
            PrincipalRole::Nobody | PrincipalRole::Wrong => {
                if declared(Role::Owner).is_some_and(Principal::has_credentials) {
                    Ok(())
                } else {
                    Err("the owner sends no credentials that could be left out".to_owned())
                }
            }
            role => {
                let known = Role::from_name(role.name()).and_then(declared);
                known.map(|_| ()).ok_or_else(|| match role {
                    PrincipalRole::OtherTenant => {
                        "no principal of another tenant (principals.other-tenant)".to_owned()
                    }
                    role => format!("no principal `{}`", role.name()),
                })
            }
        }
    }

    fn moment(&self, moment: &Moment) -> Result<(), String> {
        if moment.when == When::Effect && self.operation.effects.is_empty() {
            return Err(format!(
                "{} has no effects that could be seen",
                self.operation.name
            ));
        }
        let spans = moment.plus.iter().chain(moment.spread.iter().flatten());
        for span in spans {
            match span.quantity() {
                Some(Quantity::LockTimeout) if self.contract.lock_timeout.is_none() => {
                    return Err(format!(
                        "the contract {} declares no lock-timeout",
                        self.contract.name
                    ));
                }
                Some(Quantity::Retention) if self.contract.retention.is_none() => {
                    return Err(format!(
                        "the contract {} declares no retention",
                        self.contract.name
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn elapse(&self, span: TimeSpan) -> Result<(), String> {
        let time = match span.0 {
            Amount::Fixed(time) => time,
            Amount::Share {
                share,
                of: Quantity::Retention,
            } => {
                let retention = self.contract.retention.ok_or_else(|| {
                    format!("the contract {} declares no retention", self.contract.name)
                })?;
                let whole = if share >= 1.0 {
                    retention.max.unwrap_or(retention.min)
                } else {
                    retention.min
                };
                whole.mul_f64(share)
            }
            Amount::Share { .. } => Duration::ZERO,
        };
        if self.has_hook(HookName::AdvanceClock) || time <= self.target.limits.wait {
            return Ok(());
        }
        let long = humantime::format_duration(Duration::from_secs(time.as_secs()));
        match self.defer.then(|| defer::unfit(self)) {
            Some(None) => Ok(()),
            Some(Some(why)) => Err(format!(
                "{long} would have to pass, and it cannot be left for another day: {why}"
            )),
            None => Err(format!(
                "{long} would have to pass: the target needs the hook advance-clock, or limits.wait of that length; `run --defer FILE` leaves it for another day"
            )),
        }
    }

    /// Whether a date can be put back by so much.
    fn ago(&self, span: TimeSpan) -> Result<(), String> {
        let Amount::Share { share, .. } = span.0 else {
            return Ok(());
        };
        self.need(match share >= 1.0 {
            true => Need::RetentionEnd,
            false => Need::Retention,
        })
    }

    fn has_hook(&self, hook: HookName) -> bool {
        // A server that the tool starts itself can be killed and started without being told how.
        let managed =
            self.target.server.is_some() && matches!(hook, HookName::Kill | HookName::Start);
        managed || self.target.hooks.get(hook).is_some()
    }

    /// What carries the operation's key, if it has one.
    fn key_place(&self) -> Option<Carrier> {
        match self.operation.key.as_ref().or(self.target.key.as_ref()) {
            Some(KeyPlace::At { carrier, .. }) => Some(carrier.clone()),
            Some(KeyPlace::None) => None,
            None => carrier(&self.contract.key),
        }
    }
}

/// What carries a key by the contract, where the target does not say it.
pub fn carrier(key: &KeyRules) -> Option<Carrier> {
    let header = key.header.clone().map(Carrier::Header);
    let query = key.query.clone().map(Carrier::Query);
    let form = key.form.clone().map(Carrier::Form);
    let json = key.json.as_deref().and_then(singular_path);
    header.or(query).or(form).or(json.map(Carrier::Json))
}
