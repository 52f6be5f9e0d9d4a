//! What can stop where the target's time has to pass, and go on another day in another process: what
//! is kept of the first half must be all that the second needs, and hold no secret.

use super::fit::Fit;
use crate::scenario::{Check, Request, Signature, Step};
use crate::target::operation::Lifetime;

/// Why a case cannot be left for another day.
pub(super) fn unfit(fit: &Fit<'_>) -> Option<String> {
    let Fit {
        target, operation, ..
    } = fit;
    let name = &operation.name;
    if target.server.is_some() {
        return Some("the target's server ends with the run (server)".to_owned());
    }
    if operation.consumer.is_some() {
        return Some(format!("{name} receives events"));
    }
    if operation.prepare.is_some() {
        return Some(format!(
            "what {name} asks for beforehand grows old (prepare)"
        ));
    }
    let shared = operation
        .effects
        .iter()
        .find(|probe| probe.sharing(target) == Lifetime::Run);
    if let Some(probe) = shared {
        return Some(format!(
            "what the probe {} shows is everybody's, who do not stand still meanwhile",
            probe.name
        ));
    }
    let unclear = fit
        .scenario
        .expect
        .iter()
        .map(|(_, expectation)| expectation)
        .chain(&fit.scenario.assume)
        .find_map(|expectation| match expectation.check {
            Check::NothingForeign { .. } => Some("what only its owner may see"),
            Check::Events { .. } => Some("events"),
            _ => None,
        });
    if let Some(what) = unclear {
        return Some(format!("it is about {what}, which is not kept"));
    }
    fit.case.leaves().find_map(|step| match step {
        Step::Send { request, .. } | Step::Burst { request, .. } | Step::Retry { request, .. } => {
            is_special(request).then(|| format!("`{}` cannot be kept", request.name))
        }
        Step::Together(_)
        | Step::Wait(_)
        | Step::Elapse { at: None, .. }
        | Step::Read { .. }
        | Step::Cleanup { .. }
        | Step::Lookup(_) => None,
        Step::Elapse { .. }
        | Step::Prepare { .. }
        | Step::Hook { .. }
        | Step::Sink { .. }
        | Step::Signals { .. }
        | Step::Recheck { .. } => Some("it does more than send and ask".to_owned()),
    })
}

/// Whether a request depends on more than its key, its marker and the target file.
fn is_special(request: &Request) -> bool {
    request.first_sent.is_some()
        || request.only_if.is_some()
        || request.prepared.is_some()
        || request.signature != Signature::Good
}
