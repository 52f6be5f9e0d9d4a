//! `documented`: what the documents say is there, and is what was observed.
//!
//! Four grades: documented and true holds; documented and false is a break; observed and not
//! documented is a break of a lower level; where nothing was observed nothing is shown.

mod key;
mod statements;

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::promise::Level;
use crate::scenario::DocumentedPart;
use crate::transcript::{Exchange, OperationFacts};
use serde::Serialize;

/// What becomes of a statement that is held against what was observed; the gravest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Documented {
    /// Nothing was observed that bears on it.
    NotShown,
    /// It is documented, and so it is.
    True,
    /// It was observed, and the documents say nothing of it.
    Undocumented,
    /// It is documented, and it is otherwise.
    False,
}

/// One statement with its grade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Graded {
    /// What the statement is about, such as `status 409`.
    pub about: String,
    /// What becomes of it.
    pub grade: Documented,
}

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, part: DocumentedPart, of: Option<&str>) -> Ruling {
    let Some(facts) = &view.transcript.documents else {
        return Ruling::void("void: the target file names no documents");
    };
    match part {
        DocumentedPart::Retention => return statements::retention(view, facts, of),
        DocumentedPart::Scope => return statements::scope(view, facts, of),
        DocumentedPart::Retryable => return statements::retryable(view, facts, of),
        _ => {}
    }
    let declared = match &facts.openapi {
        None => {
            return Ruling::void("void: the target names no OpenAPI document (documents.openapi)");
        }
        Some(Err(why)) => {
            return Ruling::nothing(format!("the OpenAPI document was not read: {why}"));
        }
        Some(Ok(declared)) => declared,
    };
    if part == DocumentedPart::EveryOperation {
        return every_operation(&declared.keyless);
    }
    let Some(operation) = &declared.operation else {
        let says = "the OpenAPI document does not declare the operation";
        return undocumented(says).about(part.name());
    };
    let exchange = of.and_then(|step| view.standing(step).last().copied());
    match (part, exchange) {
        (DocumentedPart::Key, _) => key::place(view, operation),
        (_, None) => view.never_sent(of.unwrap_or_default()),
        (DocumentedPart::KeyFormat, Some((at, exchange))) => {
            key::format(operation, exchange).seen_in([at])
        }
        (DocumentedPart::Required, Some((at, exchange))) => {
            key::required(operation, exchange).seen_in([at])
        }
        (_, Some((at, exchange))) => refused(operation, part, exchange).seen_in([at]),
    }
}

/// It is documented, and so it is.
fn true_of(says: impl AsRef<str>) -> Ruling {
    Ruling::held(format!("documented and true: {}", says.as_ref())).graded(Documented::True)
}

/// It is documented, and it is otherwise.
fn false_of(says: impl AsRef<str>) -> Ruling {
    Ruling::broken(format!("documented and false: {}", says.as_ref())).graded(Documented::False)
}

/// It was observed, and the documents say nothing of it.
fn undocumented(says: impl Into<String>) -> Ruling {
    Ruling::broken(says)
        .at_level(Level::Should)
        .graded(Documented::Undocumented)
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
        let ruling = match (sent, declares(&operation.retry_after)) {
            (true, true) => true_of(format!("Retry-After with {status}")),
            (true, false) => undocumented(format!(
                "{} got {status} with a Retry-After, and the OpenAPI document declares none",
                who(exchange)
            )),
            (false, true) => false_of(format!(
                "{} got {status} without the Retry-After that is declared",
                who(exchange)
            )),
            (false, false) => Ruling::void(format!("void: {status} came without a Retry-After")),
        };
        return ruling.about(format!("Retry-After with {status}"));
    }
    let ruling = match declares(&operation.statuses) {
        true => true_of(format!("{status} is declared")),
        false => undocumented(format!(
            "{} got {status}, and the OpenAPI document declares {}",
            who(exchange),
            operation.statuses.join(", ")
        )),
    };
    ruling.about(format!("status {status}"))
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

#[cfg(test)]
mod tests;
