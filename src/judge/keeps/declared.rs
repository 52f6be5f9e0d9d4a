//! What a contract declares, in words.

use crate::contract::{
    AfterFailure, Behaviour, Contract, Equality, FailureClass, OperationScope, PrincipalScope,
    Promised, ReplayMarker,
};
use crate::promise::Promise;

/// What a contract declares for a promise, in words; `unspecified` where it declares nothing.
pub fn declared(contract: &Contract, promise: Promise) -> String {
    match promise {
        Promise::Replay => behaviours(&contract.replay),
        Promise::ReplayMarker => words(&contract.replay_marker, |marker| match marker {
            ReplayMarker::Header { name, value } => {
                format!("{}: {value}", name.to_ascii_lowercase())
            }
            ReplayMarker::None => "none".to_owned(),
        }),
        Promise::InProgress => behaviours(&contract.in_progress),
        Promise::Mismatch => behaviours(&contract.mismatch),
        Promise::Equality => words(&contract.equality, |equality| {
            match equality {
                Equality::Bytes => "equal bytes",
                Equality::JsonCanonical => "equal JSON",
                Equality::SelectedFields => "equal in selected fields",
            }
            .to_owned()
        }),
        Promise::MissingKey => behaviours(&contract.missing),
        Promise::MalformedKey => behaviours(&contract.malformed),
        Promise::KeyCase => words(&contract.key.case_sensitive, |sensitive| {
            if *sensitive {
                "keys are case-sensitive"
            } else {
                "keys are not case-sensitive"
            }
            .to_owned()
        }),
        Promise::OtherPrincipal => words(&contract.principal_scope, |scope| {
            match scope {
                PrincipalScope::Tenant => "a key space for each tenant",
                PrincipalScope::CompanyAccount => "a key space for each company account",
                PrincipalScope::ApiKey => "a key space for each API key",
                PrincipalScope::User => "a key space for each user",
                PrincipalScope::Global => "one key space for all",
            }
            .to_owned()
        }),
        Promise::OtherOperation => words(&contract.operation_scope, |scope| {
            match scope {
                OperationScope::GlobalKey => "one key space for all operations",
                OperationScope::PerEndpoint => "a key space for each operation",
                OperationScope::IgnoresRoute => "the first answer, whatever the operation",
            }
            .to_owned()
        }),
        Promise::Retention => match contract.retention {
            None => "unspecified".to_owned(),
            Some(retention) => {
                let min = humantime::format_duration(retention.min);
                match retention.max {
                    Some(max) if max == retention.min => format!("{min}"),
                    Some(max) => format!("{min} to {}", humantime::format_duration(max)),
                    None => format!("at least {min}"),
                }
            }
        },
        Promise::Expired => behaviours(&contract.expired),
        Promise::Deleted => behaviours(&contract.deleted),
        Promise::FirstSent => "unspecified".to_owned(),
        Promise::StoreUnavailable => behaviours(&contract.store_unavailable),
        Promise::AfterFailure => {
            let classes: Vec<String> = contract
                .after
                .iter()
                .filter(|(_, promised)| promised.is_declared())
                .map(|(class, promised)| after(*class, promised))
                .collect();
            if classes.is_empty() {
                "unspecified".to_owned()
            } else {
                classes.join(", ")
            }
        }
    }
}

/// `after server-5xx: runs again`.
pub(super) fn after(class: FailureClass, promised: &Promised<AfterFailure>) -> String {
    let class = match class {
        FailureClass::PreExecutionValidation => "pre-execution-validation",
        FailureClass::Auth => "auth",
        FailureClass::Executed4xx => "executed-4xx",
        FailureClass::BusinessDeclined => "business-declined",
        FailureClass::Server5xx => "server-5xx",
        FailureClass::RateLimited => "rate-limited",
        FailureClass::TransientMarked => "transient-marked",
        FailureClass::ConnectionDropped => "connection-dropped",
    };
    let fate = words(promised, |fate| {
        match fate {
            AfterFailure::NotConsumed => "not consumed",
            AfterFailure::Stored => "stored",
            AfterFailure::Reexecuted => "executed again",
            AfterFailure::Resumed => "resumed",
            AfterFailure::StoredOrReexecuted => "stored or executed again",
            AfterFailure::ConsumedBlocked => "blocked",
        }
        .to_owned()
    });
    format!("after {class} {fate}")
}

fn behaviours(promised: &Promised<Vec<Behaviour>>) -> String {
    words(promised, |behaviours| {
        behaviours
            .iter()
            .map(Behaviour::to_string)
            .collect::<Vec<_>>()
            .join(", or ")
    })
}

fn words<T>(promised: &Promised<T>, say: impl Fn(&T) -> String) -> String {
    match &promised.value {
        Some(value) if promised.is_declared() => say(value),
        _ => "unspecified".to_owned(),
    }
}
