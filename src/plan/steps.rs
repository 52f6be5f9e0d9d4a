//! Whether an operation has what the steps of a case need.

use super::fit::Fit;
use super::{defer, lookup_way};
use crate::hook::HookName;
use crate::scenario::{
    Amount, Close, FirstSent, Moment, Need, OperationRole, PrincipalRole, Quantity, Request,
    Signature, Step, TimeSpan, When,
};
use crate::target::key::Carrier;
use crate::target::operation::Operation;
use crate::target::principal::{Principal, Role};
use crate::target::request::Body;
use std::time::Duration;

impl Fit<'_> {
    pub(super) fn step(&self, step: &Step) -> Result<(), String> {
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

    pub(super) fn request(&self, request: &Request) -> Result<(), String> {
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
    pub(super) fn sends_multipart(&self, operation: &Operation, request: &Request) -> bool {
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
    pub(super) fn played(&self, role: OperationRole) -> Result<&Operation, String> {
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

    pub(super) fn principal(&self, role: PrincipalRole) -> Result<(), String> {
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

    pub(super) fn moment(&self, moment: &Moment) -> Result<(), String> {
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

    pub(super) fn elapse(&self, span: TimeSpan) -> Result<(), String> {
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
    pub(super) fn ago(&self, span: TimeSpan) -> Result<(), String> {
        let Amount::Share { share, .. } = span.0 else {
            return Ok(());
        };
        self.need(match share >= 1.0 {
            true => Need::RetentionEnd,
            false => Need::Retention,
        })
    }
}
