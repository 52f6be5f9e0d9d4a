//! Whose key is whose: other principals, other operations, other case.

use super::{Look, says};
use crate::contract::{OperationScope, PrincipalScope};
use crate::judge::view::View;
use crate::outcome::{Meaning, Outcome};
use crate::scenario::PrincipalRole;
use crate::transcript::{Exchange, Response};

/// What a second use of a key in another scope can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A key of its own.
    Own,
    /// The other one's answer.
    Shared,
    /// Refused.
    Refused,
}

fn used(exchange: &Exchange) -> Option<Use> {
    let outcome = exchange.outcome;
    if outcome.is_within(Meaning::Executed.into()) {
        Some(Use::Own)
    } else if outcome.is_within(Outcome::of(&[Meaning::Foreign, Meaning::Replayed])) {
        Some(Use::Shared)
    } else if outcome.is_within(Outcome::REFUSAL) {
        Some(Use::Refused)
    } else {
        None
    }
}

pub(super) fn other_principal(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let own = match (view.contract.principal_scope.value, exchange.principal) {
        (None, _) => None,
        (Some(PrincipalScope::Global), _) => Some(false),
        (Some(PrincipalScope::Tenant | PrincipalScope::CompanyAccount), role) => Some(!matches!(
            role,
            PrincipalRole::SameTenant | PrincipalRole::OtherSession
        )),
        (Some(PrincipalScope::User), role) => Some(role != PrincipalRole::OtherSession),
        (Some(PrincipalScope::ApiKey), _) => Some(true),
    };
    let used = used(exchange);
    let says = match used {
        Some(Use::Own) => "a key space of its own".to_owned(),
        Some(Use::Shared) => "answered with the other's".to_owned(),
        _ => says(exchange, response),
    };
    let kept = own.and_then(|own| {
        used.map(|used| {
            if own {
                used == Use::Own
            } else {
                used != Use::Own
            }
        })
    });
    Look::Seen(says, kept)
}

pub(super) fn other_operation(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let used = used(exchange);
    let says = match used {
        Some(Use::Own) => "a key of its own".to_owned(),
        Some(Use::Shared) => "answered with the other operation's".to_owned(),
        _ => says(exchange, response),
    };
    let wanted = view
        .contract
        .operation_scope
        .value
        .map(|scope| match scope {
            OperationScope::GlobalKey => Use::Refused,
            OperationScope::PerEndpoint => Use::Own,
            OperationScope::IgnoresRoute => Use::Shared,
        });
    let kept = wanted.and_then(|wanted| used.map(|used| used == wanted));
    Look::Seen(says, kept)
}

pub(super) fn key_case(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let key = exchange.key.value.as_deref().unwrap_or_default();
    let differs_in_case = view.round.exchanges.iter().any(|other| {
        let other = other.key.value.as_deref().unwrap_or_default();
        other != key && other.to_lowercase() == key.to_lowercase()
    });
    if !differs_in_case {
        return Look::Void("void: the keys differ in more than their case".to_owned());
    }
    let used = used(exchange);
    let says = match used {
        Some(Use::Own) => "two keys".to_owned(),
        Some(Use::Shared) => "one key".to_owned(),
        _ => says(exchange, response),
    };
    let kept = view
        .contract
        .key
        .case_sensitive
        .value
        .and_then(|sensitive| {
            used.map(|used| {
                if sensitive {
                    used == Use::Own
                } else {
                    used != Use::Own
                }
            })
        });
    Look::Seen(says, kept)
}
