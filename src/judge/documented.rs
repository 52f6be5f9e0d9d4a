//! `documented`: what the documents say is there, and is what was observed.
//!
//! Four grades: documented and true holds; documented and false is a break; observed and not
//! documented is a break of a lower level; where nothing was observed nothing is shown.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::contract::PrincipalScope;
use crate::promise::Level;
use crate::scenario::DocumentedPart;
use crate::transcript::{DocumentFacts, Exchange, OperationFacts};
use std::time::Duration;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, part: DocumentedPart, of: Option<&str>) -> Ruling {
    let Some(facts) = &view.transcript.documents else {
        return Ruling::nothing("the documents were not read");
    };
    match part {
        DocumentedPart::Retention => return retention(view, facts),
        DocumentedPart::Scope => return scope(view, facts),
        _ => {}
    }
    let declared = match &facts.openapi {
        None => return Ruling::nothing("the target names no OpenAPI document (documents.openapi)"),
        Some(Err(why)) => {
            return Ruling::nothing(format!("the OpenAPI document was not read: {why}"));
        }
        Some(Ok(declared)) => declared,
    };
    if part == DocumentedPart::EveryOperation {
        return every_operation(&declared.keyless);
    }
    let Some(operation) = &declared.operation else {
        return undocumented("the OpenAPI document does not declare the operation");
    };
    let exchange = of.and_then(|step| view.standing(step).last().copied());
    match (part, exchange) {
        (DocumentedPart::Key, _) => key(view, operation),
        (_, None) => view.never_sent(of.unwrap_or_default()),
        (DocumentedPart::Required, Some((at, exchange))) => {
            required(operation, exchange).seen_in([at])
        }
        (_, Some((at, exchange))) => refused(operation, part, exchange).seen_in([at]),
    }
}

/// It was observed, and the documents say nothing of it.
fn undocumented(says: impl Into<String>) -> Ruling {
    Ruling::broken(says).at_level(Level::Should)
}

fn key(view: &View<'_>, operation: &OperationFacts) -> Ruling {
    let used = view.round.exchanges.iter().find(|exchange| {
        exchange.key.value.is_some()
            && exchange
                .response
                .as_ref()
                .is_some_and(|response| response.success)
    });
    let Some(used) = used else {
        return Ruling::nothing("no request with a key was a success");
    };
    let Some(declared) = &operation.key else {
        return undocumented("the operation takes a key, and the OpenAPI document declares none");
    };
    let value = used.key.value.as_deref().unwrap_or_default();
    let sent_there = match declared.place.as_str() {
        "header" => used
            .request
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(&declared.name)),
        "query" => used.request.url.contains(&format!("{}=", declared.name)),
        _ => used
            .request
            .body
            .as_deref()
            .is_some_and(|body| body.contains(&format!("\"{}\"", declared.name))),
    };
    if !sent_there {
        return Ruling::broken(format!(
            "the key works elsewhere than in the {} `{}`, where the OpenAPI document has it",
            declared.place, declared.name
        ));
    }
    let not_a_uuid = declared.format.as_deref() == Some("uuid") && value.len() != 36;
    let too_long = declared
        .max
        .is_some_and(|max| value.chars().count() as u64 > max);
    if not_a_uuid || too_long {
        return Ruling::broken(format!(
            "the key {value} was taken, and by the OpenAPI document it is none"
        ))
        .at_level(Level::Should);
    }
    Ruling::held(format!(
        "documented and true: the key is in the {} `{}`",
        declared.place, declared.name
    ))
}

/// A key that is required is required.
fn required(operation: &OperationFacts, exchange: &Exchange) -> Ruling {
    let Some(response) = &exchange.response else {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
    };
    let Some(declared) = &operation.key else {
        return Ruling::void("void: the OpenAPI document declares no key");
    };
    match (declared.required, response.success) {
        (true, true) => Ruling::broken(format!(
            "documented and false: the key is required, and {} without one {}",
            who(exchange),
            got(exchange)
        )),
        (false, false) if response.status < 500 => undocumented(format!(
            "{} without a key {}, and the OpenAPI document does not say that a key is required",
            who(exchange),
            got(exchange)
        )),
        (_, false) if response.status >= 500 => {
            Ruling::nothing(format!("{} {}", who(exchange), got(exchange)))
        }
        (true, _) => Ruling::held("documented and true: a key is required"),
        (false, _) => Ruling::held("documented and true: a key may be left out"),
    }
}

/// The status of a refusal is declared, and its Retry-After where it has one.
fn refused(operation: &OperationFacts, part: DocumentedPart, exchange: &Exchange) -> Ruling {
    let Some(response) = &exchange.response else {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
    };
    if response.success {
        return Ruling::void(format!("void: {} {}", who(exchange), got(exchange)));
    }
    let status = response.status;
    let declares = |statuses: &[String]| {
        let class = format!("{}XX", status / 100);
        statuses
            .iter()
            .any(|own| *own == status.to_string() || own.eq_ignore_ascii_case(&class))
    };
    if part == DocumentedPart::RetryAfter {
        let sent = response.header("retry-after").next().is_some();
        return match (sent, declares(&operation.retry_after)) {
            (true, true) => Ruling::held(format!("documented and true: Retry-After with {status}")),
            (true, false) => undocumented(format!(
                "{} got {status} with a Retry-After, and the OpenAPI document declares none",
                who(exchange)
            )),
            (false, true) => Ruling::broken(format!(
                "documented and false: {} got {status} without the Retry-After that is declared",
                who(exchange)
            )),
            (false, false) => Ruling::void(format!("void: {status} came without a Retry-After")),
        };
    }
    if declares(&operation.statuses) {
        return Ruling::held(format!("documented and true: {status} is declared"));
    }
    undocumented(format!(
        "{} got {status}, and the OpenAPI document declares {}",
        who(exchange),
        operation.statuses.join(", ")
    ))
}

fn every_operation(keyless: &[String]) -> Ruling {
    if keyless.is_empty() {
        return Ruling::held("every operation that changes something declares a key");
    }
    const SHOWN: usize = 8;
    let more = match keyless.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    let shown = &keyless[..keyless.len().min(SHOWN)];
    Ruling::broken(format!("no key is declared for {}{more}", shown.join(", ")))
        .at_level(Level::Note)
}

/// The contract is what expiry scenarios hold the target to.
fn retention(view: &View<'_>, facts: &DocumentFacts) -> Ruling {
    let held_to = view.contract.retention;
    match (facts.retention, held_to) {
        (None, None) => Ruling::nothing("neither the documents nor the contract state a retention"),
        (None, Some(_)) => undocumented("the documents do not state for how long a key is kept"),
        (Some(stated), None) => Ruling::nothing(format!(
            "the documents state {}, and the contract that is tried states none",
            in_words(stated)
        )),
        (Some(stated), Some(held_to)) => {
            let within = stated >= held_to.min && held_to.max.is_none_or(|max| stated <= max);
            match within {
                true => Ruling::held(format!(
                    "the documents state {}, and so does the contract that is tried",
                    in_words(stated)
                )),
                false => Ruling::broken(format!(
                    "the documents state {}, and the contract that is tried states {}",
                    in_words(stated),
                    in_words(held_to.min)
                )),
            }
        }
    }
}

fn scope(view: &View<'_>, facts: &DocumentFacts) -> Ruling {
    let stated = facts.scope.as_deref();
    let held_to = view.contract.principal_scope.value;
    match (stated, held_to) {
        (None, None) => Ruling::nothing("neither the documents nor the contract state a scope"),
        (None, Some(_)) => undocumented("the documents do not state whose keys are one space"),
        (Some(stated), None) => Ruling::nothing(format!(
            "the documents state `{stated}`, and the contract that is tried states none"
        )),
        (Some(stated), Some(held_to)) => {
            let words: &[&str] = match held_to {
                PrincipalScope::Tenant | PrincipalScope::CompanyAccount => &[
                    "tenant",
                    "account",
                    "company-account",
                    "organization",
                    "merchant",
                ],
                PrincipalScope::ApiKey => &["credential", "api-key", "client"],
                PrincipalScope::User => &["user"],
                PrincipalScope::Global => &["global"],
            };
            match words.contains(&stated) {
                true => Ruling::held(format!(
                    "the documents state `{stated}`, and so does the contract that is tried"
                )),
                false => Ruling::broken(format!(
                    "the documents state `{stated}`, and the contract that is tried states `{}`",
                    words[0]
                )),
            }
        }
    }
}

fn in_words(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}

#[cfg(test)]
mod tests;
