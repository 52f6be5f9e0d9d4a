//! The ways in which one exchange can have been answered, in the words of a contract.

use crate::contract::{
    AfterFailure, Behaviour, BodyRelation, FailureClass, Kind, RetryAfter, StatusPattern,
};
use crate::outcome::{Meaning, Outcome};
use crate::promise::Promise;
use crate::transcript::Exchange;

/// Adds a way; what several answers of one kind and status do not have in common is dropped.
pub(super) fn add(ways: &mut Vec<Behaviour>, way: Behaviour) {
    let known = ways
        .iter_mut()
        .find(|own| own.kind == way.kind && own.status == way.status);
    match known {
        Some(known) => {
            if way.retry_after.is_none() {
                known.retry_after = None;
            }
        }
        None => ways.push(way),
    }
}

/// The way in which an exchange was answered; `None` where no API may answer so, or nothing can be
/// told of it.
pub(super) fn way(promise: Promise, exchange: &Exchange, precise: bool) -> Option<Behaviour> {
    let response = exchange.response.as_ref()?;
    let outcome = exchange.outcome;
    let is = |meaning: Meaning| outcome.is_within(meaning.into());
    if is(Meaning::RateLimited) || is(Meaning::Foreign) {
        return None;
    }
    let status = || vec![StatusPattern::Exact(response.status)];
    let plain = |kind: Kind, status: Vec<StatusPattern>| Behaviour {
        kind,
        status,
        headers: Vec::new(),
        json: Vec::new(),
        xml: Vec::new(),
        content_type: None,
        body: None,
        retry_after: None,
        max_wait: None,
    };
    if is(Meaning::Executed) {
        let may = matches!(
            promise,
            Promise::MissingKey | Promise::MalformedKey | Promise::Expired
        );
        return may.then(|| plain(Kind::ExecuteNew, Vec::new()));
    }
    if outcome.is_within(Outcome::of(&[Meaning::Replayed, Meaning::Executed])) && response.success {
        return match promise {
            Promise::InProgress => Some(plain(Kind::WaitThenReplay, Vec::new())),
            Promise::Replay | Promise::Deleted | Promise::Expired => Some(Behaviour {
                body: precise.then_some(BodyRelation::JsonEqual),
                ..plain(
                    Kind::ReplayStored,
                    if precise {
                        vec![StatusPattern::SameAsFirst]
                    } else {
                        Vec::new()
                    },
                )
            }),
            _ => None,
        };
    }
    if response.success {
        let accepts = promise == Promise::InProgress && response.status == 202;
        return accepts.then(|| plain(Kind::Accepted, status()));
    }
    if is(Meaning::Replayed) {
        return Some(plain(Kind::ConflictRef, status()));
    }
    if is(Meaning::ReplayedFailure) && promise == Promise::Replay {
        return Some(plain(Kind::ReplayStored, status()));
    }
    if is(Meaning::ServerError) && promise != Promise::StoreUnavailable {
        return None;
    }
    let pause = precise && response.header("retry-after").next().is_some();
    Some(Behaviour {
        retry_after: pause.then_some(RetryAfter::Header),
        ..plain(Kind::Reject, status())
    })
}

/// What may become of a key after a failure, what says most before what says less.
pub(super) fn fates(class: FailureClass) -> &'static [AfterFailure] {
    match class {
        FailureClass::Server5xx
        | FailureClass::TransientMarked
        | FailureClass::ConnectionDropped => &[
            AfterFailure::Reexecuted,
            AfterFailure::Stored,
            AfterFailure::Resumed,
            AfterFailure::ConsumedBlocked,
            AfterFailure::StoredOrReexecuted,
        ],
        FailureClass::PreExecutionValidation
        | FailureClass::Auth
        | FailureClass::Executed4xx
        | FailureClass::BusinessDeclined
        | FailureClass::RateLimited => &[
            AfterFailure::NotConsumed,
            AfterFailure::Stored,
            AfterFailure::ConsumedBlocked,
            AfterFailure::StoredOrReexecuted,
        ],
    }
}
