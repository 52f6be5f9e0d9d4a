//! Promises in words.

use super::behaviour::written;
use super::{
    AfterFailure, Behaviour, Contract, Equality, FailureClass, Lifetime, OperationScope,
    PrincipalScope, Promised, ReplayMarker, Retention, RetentionClock,
};
use crate::promise::Promise;
use humantime::format_duration;
use std::time::Duration;

impl Contract {
    /// What the contract declares for a promise, in words; `None` where it declares nothing.
    pub fn says(&self, promise: Promise) -> Option<String> {
        match promise {
            Promise::Replay => behaviours(&self.replay),
            Promise::ReplayMarker => words(&self.replay_marker, ReplayMarker::says),
            Promise::InProgress => behaviours(&self.in_progress),
            Promise::Mismatch => behaviours(&self.mismatch),
            Promise::Equality => words(&self.equality, |equality| {
                match equality {
                    Equality::Bytes => "equal bytes",
                    Equality::JsonCanonical => "equal JSON",
                    Equality::SelectedFields => "equal in selected fields",
                }
                .to_owned()
            }),
            Promise::MissingKey => behaviours(&self.missing),
            Promise::MalformedKey => behaviours(&self.malformed),
            Promise::KeyCase => words(&self.key.case_sensitive, |sensitive| {
                if *sensitive {
                    "keys are case-sensitive"
                } else {
                    "keys are not case-sensitive"
                }
                .to_owned()
            }),
            Promise::OtherPrincipal => words(&self.principal_scope, |scope| {
                match scope {
                    PrincipalScope::Tenant => "a key space for each tenant",
                    PrincipalScope::CompanyAccount => "a key space for each company account",
                    PrincipalScope::ApiKey => "a key space for each API key",
                    PrincipalScope::User => "a key space for each user",
                    PrincipalScope::Global => "one key space for all",
                }
                .to_owned()
            }),
            Promise::OtherOperation => words(&self.operation_scope, |scope| {
                match scope {
                    OperationScope::GlobalKey => "one key space for all operations",
                    OperationScope::PerEndpoint => "a key space for each operation",
                    OperationScope::IgnoresRoute => "the first answer, whatever the operation",
                }
                .to_owned()
            }),
            Promise::Retention => words(&self.lifetime, Lifetime::says),
            Promise::Expired => behaviours(&self.expired),
            Promise::Deleted => behaviours(&self.deleted),
            Promise::Lookup => words(&self.lookup, String::clone),
            Promise::FirstSent => {
                let parts: Vec<String> = [
                    ("missing", &self.companion_missing),
                    ("malformed", &self.companion_malformed),
                ]
                .into_iter()
                .filter_map(|(case, promised)| Some(format!("{case}: {}", behaviours(promised)?)))
                .collect();
                (!parts.is_empty()).then(|| parts.join("; "))
            }
            Promise::StoreUnavailable => behaviours(&self.store_unavailable),
            Promise::AfterFailure => {
                let classes: Vec<String> = self
                    .after
                    .keys()
                    .filter_map(|class| self.says_after(*class))
                    .collect();
                (!classes.is_empty()).then(|| classes.join(", "))
            }
        }
    }

    /// What a retry does after a failure of this class: `after server-5xx executed again`.
    pub fn says_after(&self, class: FailureClass) -> Option<String> {
        let fate = self.says_fate(class)?;
        Some(format!("after {} {fate}", class.name()))
    }

    /// What becomes of the key after a failure of this class: `executed again`.
    pub(super) fn says_fate(&self, class: FailureClass) -> Option<&'static str> {
        let promised = self.after.get(&class).filter(|fate| fate.is_declared())?;
        promised.value.map(|fate| match fate {
            AfterFailure::NotConsumed => "not consumed",
            AfterFailure::Stored => "stored",
            AfterFailure::Reexecuted => "executed again",
            AfterFailure::Resumed => "resumed",
            AfterFailure::StoredOrReexecuted => "stored or executed again",
            AfterFailure::ConsumedBlocked => "blocked",
        })
    }
}

impl ReplayMarker {
    /// `idempotent-replayed: true`.
    pub fn says(&self) -> String {
        let beside = |value: &str, first: &Option<String>| match first {
            Some(first) if first.eq_ignore_ascii_case(value) => " on every answer".to_owned(),
            Some(first) => format!(", and {first} on a first answer"),
            None => String::new(),
        };
        match self {
            ReplayMarker::Header { name, value, first } => {
                format!(
                    "{}: {value}{}",
                    name.to_ascii_lowercase(),
                    beside(value, first)
                )
            }
            ReplayMarker::Json { path, value, first } => {
                format!("{} = {value}{}", written(path), beside(value, first))
            }
            ReplayMarker::Status(status) => format!("status {status}"),
            ReplayMarker::KeyEcho(name) => {
                format!("none; the key is echoed in {}", name.to_ascii_lowercase())
            }
            ReplayMarker::None => "none".to_owned(),
        }
    }
}

/// `365 days`; `36h`.
fn in_days(time: Duration) -> String {
    const DAY: u64 = 24 * 60 * 60;
    match (time.as_secs() / DAY, time.as_secs() % DAY) {
        (1, 0) => "1 day".to_owned(),
        (days, 0) if days > 0 => format!("{days} days"),
        _ => format_duration(time).to_string(),
    }
}

impl Lifetime {
    /// `at least 1 day`.
    pub fn says(&self) -> String {
        let Lifetime::Limited(Retention { min, max, clock }) = self else {
            return "for good".to_owned();
        };
        let least = in_days(*min);
        let time = match max {
            Some(max) if max == min => least,
            Some(max) => format!("{least} to {}", in_days(*max)),
            None => format!("at least {least}"),
        };
        let from = match clock {
            RetentionClock::FirstRequest => " from the first request",
            RetentionClock::Completion => " from its completion",
            RetentionClock::ClientFirstSent => " from the client's date of first sending",
            RetentionClock::Unspecified => "",
        };
        format!("{time}{from}")
    }
}

/// The declared behaviours in words; `None` where none is declared.
pub(super) fn behaviours(promised: &Promised<Vec<Behaviour>>) -> Option<String> {
    words(promised, |behaviours| {
        behaviours
            .iter()
            .map(Behaviour::to_string)
            .collect::<Vec<_>>()
            .join(", or ")
    })
}

/// What is declared, in words.
pub(super) fn words<T>(promised: &Promised<T>, say: impl Fn(&T) -> String) -> Option<String> {
    promised
        .value
        .as_ref()
        .filter(|_| promised.is_declared())
        .map(say)
}
