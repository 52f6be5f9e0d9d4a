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
    if used == Some(Use::Own) && is_alone_on_its_path(view, exchange) {
        return Look::Void(
            "void: the other principal's request has another path, and so perhaps another key"
                .to_owned(),
        );
    }
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

/// Whether everybody else sent the key to other paths, as each changes what is theirs.
pub(in crate::judge) fn is_alone_on_its_path(view: &View<'_>, this: &Exchange) -> bool {
    let mut others = view
        .round
        .exchanges
        .iter()
        .filter(|other| other.key.value == this.key.value && other.principal != this.principal)
        .peekable();
    others.peek().is_some() && others.all(|other| path(other) != path(this))
}

/// The path of a request, without host and query.
fn path(exchange: &Exchange) -> &str {
    let url = &exchange.request.url;
    let after_host = url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or(url.as_str(), |(_, path)| path);
    after_host.split('?').next().unwrap_or_default()
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
