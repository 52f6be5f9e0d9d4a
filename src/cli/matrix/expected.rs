//! What must come of a demo that keeps one contract when it is held to another one: told from the
//! two contracts alone, with no regard to what was observed.

use super::answers::{self, FIRST, is_of_kind, is_promised};
use super::keys;
use crate::cli::policy::steps;
use crate::contract::{
    AfterFailure, Contract, Equality, FailureClass, Kind, Lifetime, OperationScope, PrincipalScope,
    ReplayMarker, written,
};
use crate::demo::policy::{
    Equality as Equal, Expired, Fate, Gives, InProgress, Marker, Mismatch, Place, Policy,
    Principals, Refusal, Routes, StoreDown, Unkeyed,
};
use crate::promise::{Promise, Strength};
use std::collections::BTreeSet;
use std::time::Duration;

/// What must come of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// The demo keeps it.
    Kept,
    /// The run cannot tell.
    Open,
    /// The demo does something else.
    Broken,
}

impl Expected {
    fn kept(kept: bool) -> Expected {
        if kept {
            Expected::Kept
        } else {
            Expected::Broken
        }
    }
}

/// A demo, by what it does.
pub(super) struct Demo<'a> {
    /// All that it does, as a contract.
    pub(super) does: &'a Contract,
    /// The same as a policy.
    pub(super) policy: &'a Policy,
    /// For how long it keeps a key; `None` where the run cannot outlive that.
    pub(super) keeps: Option<Duration>,
    /// The failures that the run makes, and after which it sends the key again.
    pub(super) fails: BTreeSet<FailureClass>,
}

const REPLAYS: [Kind; 3] = [
    Kind::ReplayStored,
    Kind::ReplayCurrent,
    Kind::WaitThenReplay,
];
const EXECUTES: [Kind; 3] = [Kind::ExecuteNew, Kind::Reexecute, Kind::Ignore];

impl Demo<'_> {
    /// What must come of a promise under another contract; `None` where that one does not make it
    /// at the level *must*.
    pub(super) fn under(&self, held: &Contract, promise: Promise) -> Option<Expected> {
        match promise {
            Promise::AfterFailure => return self.after_failure(held),
            Promise::FirstSent => return self.first_sent(held),
            _ => {}
        }
        if held.strength(promise) != Strength::Must {
            return None;
        }
        if self.reads_no_keys() {
            return Some(self.unprotected(held, promise));
        }
        Some(match promise {
            Promise::Replay => self.replay(held),
            Promise::ReplayMarker => self.marker(held),
            Promise::InProgress => self.in_progress(held),
            Promise::Mismatch => self.mismatch(held),
            Promise::Equality => self.equality(held),
            Promise::MissingKey => match &self.policy.missing {
                Unkeyed::Execute => Expected::kept(is_of_kind(&held.missing, &EXECUTES)),
                Unkeyed::Refuse(look) => Expected::kept(is_promised(
                    &held.missing,
                    &[Kind::Reject],
                    &answers::refusal(look),
                )),
            },
            Promise::MalformedKey => keys::malformed(self, held),
            Promise::KeyCase => Expected::kept(
                held.key.case_sensitive.value == Some(self.policy.key.case_sensitive),
            ),
            Promise::OtherPrincipal => Expected::kept(
                (held.principal_scope.value == Some(PrincipalScope::Global))
                    == (self.policy.principals == Principals::Everyone),
            ),
            Promise::OtherOperation => self.other_operation(held),
            Promise::Retention => self.retention(held),
            Promise::Expired => self.expired(held),
            Promise::Deleted => match &self.policy.replay.gives {
                Gives::Stored | Gives::Current | Gives::Reference(_) => Expected::kept(
                    is_promised(&held.deleted, &REPLAYS, &answers::replay(self.policy)),
                ),
                Gives::Conflict(look) => Expected::kept(is_promised(
                    &held.deleted,
                    &[Kind::ConflictRef],
                    &answers::refusal(look),
                )),
            },
            Promise::StoreUnavailable => Expected::kept(match &self.policy.store_down {
                StoreDown::Refuse(look) => is_promised(
                    &held.store_unavailable,
                    &[Kind::Reject],
                    &answers::refusal(look),
                ),
                StoreDown::Execute => is_of_kind(&held.store_unavailable, &EXECUTES),
            }),
            Promise::Lookup => Expected::kept(is_looked_up(held)),
            Promise::FirstSent | Promise::AfterFailure => unreachable!("they are told above"),
        })
    }

    /// Whether it looks at no key.
    pub(super) fn reads_no_keys(&self) -> bool {
        self.policy.key.place == Place::Nothing
    }

    /// What must come of a promise where each request is a request of its own.
    fn unprotected(&self, held: &Contract, promise: Promise) -> Expected {
        let executed = |ways| Expected::kept(is_of_kind(ways, &EXECUTES));
        match promise {
            Promise::Replay => executed(&held.replay),
            Promise::InProgress => executed(&held.in_progress),
            Promise::Mismatch => executed(&held.mismatch),
            Promise::MissingKey => executed(&held.missing),
            Promise::MalformedKey => executed(&held.malformed),
            Promise::Deleted => executed(&held.deleted),
            Promise::StoreUnavailable => executed(&held.store_unavailable),
            Promise::Expired => executed(&held.expired),
            Promise::Equality => match held.equality.value {
                Some(Equality::Bytes) => executed(&held.mismatch),
                _ => Expected::Broken,
            },
            // A key that was not read finds nothing.
            Promise::Lookup => Expected::kept(!is_looked_up(held)),
            Promise::KeyCase => Expected::kept(held.key.case_sensitive.value == Some(true)),
            Promise::OtherPrincipal => {
                Expected::kept(held.principal_scope.value != Some(PrincipalScope::Global))
            }
            Promise::OtherOperation => {
                Expected::kept(held.operation_scope.value == Some(OperationScope::PerEndpoint))
            }
            Promise::Retention => match (self.keeps, held.lifetime.value) {
                (Some(own), Some(Lifetime::Limited(wanted))) if own.mul_f64(0.5) >= wanted.min => {
                    Expected::Open
                }
                _ => Expected::Broken,
            },
            // There is no replay that could be marked, and no date is looked at.
            Promise::ReplayMarker | Promise::FirstSent | Promise::AfterFailure => Expected::Open,
        }
    }

    fn replay(&self, held: &Contract) -> Expected {
        Expected::kept(match answers::conflict(self.policy) {
            Some(refusal) => is_promised(&held.replay, &[Kind::ConflictRef], &refusal),
            None => is_promised(&held.replay, &REPLAYS, &answers::replay(self.policy)),
        })
    }

    fn marker(&self, held: &Contract) -> Expected {
        if matches!(self.policy.replay.gives, Gives::Conflict(_)) {
            return Expected::Open;
        }
        let Some(wanted) = &held.replay_marker.value else {
            return Expected::Open;
        };
        let is_told =
            |own: &str, own_first: &Option<String>, value: &str, first: &Option<String>| {
                let suits_first = match (own_first, first) {
                    (Some(own), Some(first)) => own.eq_ignore_ascii_case(first),
                    (None, Some(_)) => false,
                    (Some(own), None) => !own.eq_ignore_ascii_case(value),
                    (None, None) => true,
                };
                own.eq_ignore_ascii_case(value) && suits_first
            };
        Expected::kept(match (wanted, &self.policy.marker) {
            (
                ReplayMarker::Header { name, value, first },
                Marker::Header {
                    name: own,
                    value: own_value,
                    first: own_first,
                },
            ) => own.eq_ignore_ascii_case(name) && is_told(own_value, own_first, value, first),
            (
                ReplayMarker::Json { path, value, first },
                Marker::Member {
                    path: own,
                    value: own_value,
                    first: own_first,
                },
            ) => {
                steps(&written(path)).is_ok_and(|path| path == *own)
                    && is_told(own_value, own_first, value, first)
            }
            (ReplayMarker::KeyEcho(name), Marker::KeyEcho(own)) => own.eq_ignore_ascii_case(name),
            (ReplayMarker::Status(status), _) => {
                self.policy.replay.status == Some(*status) && *status != FIRST
            }
            (ReplayMarker::None, _) => true,
            (
                ReplayMarker::Header { .. } | ReplayMarker::Json { .. } | ReplayMarker::KeyEcho(_),
                _,
            ) => false,
        })
    }

    fn in_progress(&self, held: &Contract) -> Expected {
        Expected::kept(match &self.policy.in_progress {
            InProgress::Refuse(look) => {
                is_promised(&held.in_progress, &[Kind::Reject], &answers::refusal(look))
            }
            InProgress::Accept(look) => is_promised(
                &held.in_progress,
                &[Kind::Accepted],
                &answers::refusal(look),
            ),
            InProgress::Wait(..) => is_of_kind(&held.in_progress, &[Kind::WaitThenReplay]),
        })
    }

    fn mismatch(&self, held: &Contract) -> Expected {
        Expected::kept(match &self.policy.mismatch {
            Mismatch::Execute => is_of_kind(&held.mismatch, &EXECUTES),
            Mismatch::Replay => match answers::conflict(self.policy) {
                Some(refusal) => is_promised(&held.mismatch, &[Kind::ConflictRef], &refusal),
                None => is_promised(&held.mismatch, &REPLAYS, &answers::replay(self.policy)),
            },
            Mismatch::Refuse(look) => {
                is_promised(&held.mismatch, &[Kind::Reject], &answers::refusal(look))
            }
        })
    }

    /// The same payload in other words: replayed, refused or executed.
    fn equality(&self, held: &Contract) -> Expected {
        let replays =
            self.policy.equality == Equal::Json || matches!(self.policy.mismatch, Mismatch::Replay);
        let conflicts = matches!(self.policy.replay.gives, Gives::Conflict(_));
        Expected::kept(match held.equality.value {
            Some(Equality::Bytes) if !replays => match self.policy.mismatch {
                Mismatch::Execute => is_of_kind(&held.mismatch, &EXECUTES),
                _ => true,
            },
            Some(Equality::Bytes) => is_of_kind(&held.mismatch, &REPLAYS),
            Some(Equality::JsonCanonical | Equality::SelectedFields) => replays && !conflicts,
            None => return Expected::Open,
        })
    }

    fn other_operation(&self, held: &Contract) -> Expected {
        let does = match (self.policy.routes, &self.policy.mismatch) {
            (Routes::Apart, _) | (Routes::Together, Mismatch::Execute) => {
                OperationScope::PerEndpoint
            }
            (Routes::Ignored, _) | (Routes::Together, Mismatch::Replay) => {
                OperationScope::IgnoresRoute
            }
            (Routes::Together, Mismatch::Refuse(_)) => OperationScope::GlobalKey,
        };
        Expected::kept(held.operation_scope.value == Some(does))
    }

    fn retention(&self, held: &Contract) -> Expected {
        match (self.keeps, held.lifetime.value) {
            (None, _) | (_, None) => Expected::Open,
            (Some(_), Some(Lifetime::Forever)) => Expected::Broken,
            (Some(own), Some(Lifetime::Limited(wanted))) if own < wanted.min => Expected::Broken,
            // A short promise is kept by a long memory; of when the time begins nothing is seen.
            (Some(own), Some(Lifetime::Limited(wanted))) if own.mul_f64(0.5) < wanted.min => {
                Expected::Kept
            }
            _ => Expected::Open,
        }
    }

    /// Whether a key that this demo has forgotten may be forgotten by a contract.
    fn may_forget(&self, held: &Contract) -> Option<bool> {
        let own = self.keeps?;
        Some(match held.lifetime.value {
            None => true,
            Some(Lifetime::Forever) => false,
            Some(Lifetime::Limited(wanted)) => own.mul_f64(1.1) >= wanted.min,
        })
    }

    fn expired(&self, held: &Contract) -> Expected {
        if self.may_forget(held) != Some(true) {
            return Expected::Open;
        }
        Expected::kept(match &self.policy.expired {
            Expired::Execute => is_of_kind(&held.expired, &EXECUTES),
            Expired::Refuse(look) => {
                is_promised(&held.expired, &[Kind::Reject], &answers::refusal(look))
            }
        })
    }

    /// The gravest of what must come of the failures that the run makes.
    fn after_failure(&self, held: &Contract) -> Option<Expected> {
        let fates = [
            (
                FailureClass::PreExecutionValidation,
                self.policy.after.validation,
            ),
            (FailureClass::BusinessDeclined, self.policy.after.declined),
            (FailureClass::Server5xx, self.policy.after.server_error),
            (FailureClass::RateLimited, self.policy.after.rate_limited),
        ];
        fates
            .into_iter()
            .filter(|(class, _)| self.fails.contains(class))
            .filter_map(|(class, fate)| {
                let promised = held.after(class);
                if promised.strength != Strength::Must {
                    return None;
                }
                let wanted = promised.value?;
                Some(Expected::kept(match fate {
                    Fate::Forgotten => {
                        !matches!(wanted, AfterFailure::Stored | AfterFailure::ConsumedBlocked)
                    }
                    Fate::Stored => matches!(
                        wanted,
                        AfterFailure::Stored | AfterFailure::StoredOrReexecuted
                    ),
                    Fate::Blocked => wanted == AfterFailure::ConsumedBlocked,
                }))
            })
            .max()
    }

    /// The gravest of what must come of the dates that the run sends.
    fn first_sent(&self, held: &Contract) -> Option<Expected> {
        let wanted = held.key.first_sent()?;
        let Some(own) = &self.policy.key.first_sent else {
            return (held.strength(Promise::FirstSent) == Strength::Must).then_some(Expected::Open);
        };
        if !own.header.eq_ignore_ascii_case(&wanted.header) {
            return Some(Expected::Open);
        }
        let refused = |ways: &crate::contract::Promised<_>, look: &Refusal| {
            (ways.is_declared() && ways.strength == Strength::Must).then(|| {
                Expected::kept(is_promised(ways, &[Kind::Reject], &answers::refusal(look)))
            })
        };
        let mut found = vec![
            refused(&held.companion_missing, &own.missing),
            refused(&held.companion_malformed, &own.malformed),
        ];
        if let (Some(keeps), Some(retention)) = (self.keeps, held.retention) {
            let must = held.lifetime.strength == Strength::Must;
            let too_old = |ago: Duration| retention.max.is_some_and(|max| ago > max);
            let (late, early) = (keeps.mul_f64(1.1), keeps.mul_f64(0.8));
            // What is too old for the demo is refused, and what is not is executed.
            if too_old(late) {
                found.push(match &self.policy.expired {
                    Expired::Refuse(look) => refused(&held.expired, look),
                    Expired::Execute => held.expired.is_declared().then_some(Expected::Broken),
                });
            } else if late < retention.min && must {
                found.push(Some(Expected::Broken));
            }
            if too_old(early) {
                found.push(held.expired.is_declared().then_some(Expected::Broken));
            } else if early < retention.min && must {
                found.push(Some(Expected::Kept));
            }
        }
        found.into_iter().flatten().max()
    }
}

/// Whether a contract has operations looked up, as every demo does.
fn is_looked_up(held: &Contract) -> bool {
    held.lookup.value.as_deref() != Some("none")
}
