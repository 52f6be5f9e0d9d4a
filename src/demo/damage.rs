//! Which expectations each flaw breaks, as `tests/flaws.rs` proves.

mod broad;
mod consumer;
mod crash;
mod downstream;
mod races;
mod responses;

use super::flaw::Flaw;

/// What a flaw does to the findings of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damage {
    /// Expectations that fail in every run.
    pub breaks: &'static [&'static str],
    /// Expectations that fail in some runs.
    pub may_break: &'static [&'static str],
}

/// Breaks these in every run, and nothing else in any.
const fn surely(breaks: &'static [&'static str]) -> Damage {
    Damage {
        breaks,
        may_break: &[],
    }
}

/// One list behind the other, which have so many expectations in all.
const fn joined<const ALL: usize>(
    one: &[&'static str],
    other: &[&'static str],
) -> [&'static str; ALL] {
    let mut all = [""; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < one.len() {
            one[at]
        } else {
            other[at - one.len()]
        };
        at += 1;
    }
    all
}

/// What a flaw breaks.
pub(super) fn damage(flaw: Flaw) -> Damage {
    match flaw {
        Flaw::IgnoresKeys => Damage {
            breaks: broad::IGNORES_KEYS,
            may_break: &["run/expired-keys/item-7/counted:expired"],
        },
        Flaw::ChecksThenSets => Damage {
            breaks: &[
                "race/burst/item-5/effects-at-most",
                "race/burst/item-5/keeps:in-progress",
                "race/burst/item-5/one-resource:burst+later",
            ],
            // A window of 20 ms after the key is free meets only a duplicate that comes as it opens.
            // Which of the racers the record names is chance: the ledger differs only if it is not
            // the one that was answered first.
            may_break: &[
                "race/lease#measured/item-5/effects-at-most",
                "race/lease#measured/item-5/one-resource:first+late+later",
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
                "race/during/item-5/effects-at-most",
                "race/during/item-5/keeps:in-progress",
                "race/during/item-5/one-resource:first+during+later",
                "race/during/item-5/outcome-never:during",
                "race/pool/item-5/effects-at-most",
            ],
        },
        Flaw::StoresNoFingerprint => surely(&[
            "auth/anonymous/item-6/nothing-foreign:second",
            "auth/anonymous/item-6/outcome-never:second",
            "payload/changed#*/item-3/keeps:mismatch",
            "payload/changed#*/item-3/outcome-never:changed+insisting",
            "payload/in-flight/item-3/outcome-never:changed+changed-later",
        ]),
        Flaw::ExecutesChangedPayload => surely(&[
            "payload/changed#*/item-3/effects-at-most",
            "payload/changed#*/item-3/keeps:mismatch",
            "payload/changed#*/item-3/outcome-never:changed+insisting",
            "payload/in-flight/item-3/effects-at-most",
            "payload/in-flight/item-3/outcome-never:changed+changed-later",
        ]),
        Flaw::SharesKeysBetweenTenants => surely(&[
            "auth/other-tenant#*/item-4/keeps:other-principal",
            "auth/other-tenant#*/item-4/documented-scope:theirs",
            "auth/other-tenant#*/item-4/outcome-is:theirs",
            "auth/other-tenant#*/item-6/exists:theirs",
            "auth/other-tenant#other-first/item-6/nothing-foreign:theirs+theirs-again",
            "auth/other-tenant#same-body/item-6/nothing-foreign:theirs+theirs-again",
            "auth/other-tenant#other-first/item-6/outcome-never:theirs",
            "auth/other-tenant#same-body/item-6/outcome-never:theirs",
        ]),
        Flaw::SharesKeysBetweenOperations => surely(&[
            "scope/other-operation#operation/item-4/exists:second",
            "scope/other-operation#operation/item-4/keeps:other-operation",
            "scope/other-operation#operation/item-4/outcome-never:second",
        ]),
        Flaw::GuessesIntentFromPayload => surely(&[
            "key/near#case/item-4/keeps:key-case",
            "key/near#at-129/item-4/outcome-never:second",
            "key/near#at-255/item-4/outcome-never:second",
            "key/near#at-37/item-4/outcome-never:second",
            "key/near#at-65/item-4/outcome-never:second",
            "key/near#case/item-4/keeps:key-case",
            "key/near#case/item-4/outcome-never:second",
            "key/near#case/item-4/keeps:key-case",
            "key/near#*/item-4/two-resources:first+second",
            "key/uuid-case/item-4/keeps:key-case",
            "scope/fresh-key/item-2/effects-at-least",
            "scope/fresh-key/item-2/outcome-is:second",
            "scope/fresh-key/item-2/two-resources:first+second",
        ]),
        Flaw::LooksUpBeforeAuthentication => surely(&[
            "auth/revoked/item-6/nothing-foreign:again",
            "auth/revoked/item-6/outcome-is:again",
            "auth/credentials#*/item-6/nothing-foreign:intruder",
            "auth/credentials#*/item-6/outcome-never:intruder",
        ]),
        Flaw::StoresValidationFailures => {
            surely(&["failure/refused#invalid/item-7/keeps:after-failure"])
        }
        Flaw::RunsAgainBehindStoredAnswer => Damage {
            breaks: broad::RUNS_AGAIN_BEHIND_STORED_ANSWER,
            // A hang-up near the end of the work lets the retry at once meet the completed request.
            may_break: &[
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
                "run/documents/item-7/documented-retryable:later",
            ],
        },
        Flaw::DropsClaimOnHangUp => Damage {
            breaks: &["lost/mid-work#*/item-5/effects-at-most"],
            // A hang-up near the end of the work lets the retry at once meet the completed request.
            may_break: &[
                "crash/after-effect/item-5/effects-at-most",
                "crash/mid-work/item-5/effects-at-most",
                "crash/before-effect/item-5/effects-at-most",
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
            ],
        },
        Flaw::AcceptsMissingKey => surely(&[
            "run/documents/item-7/documented-required:keyless",
            "key/missing/item-7/keeps:missing-key",
            "key/odd#blank/item-4/effects-at-most",
            "key/odd#empty/item-4/effects-at-most",
            "key/odd#blank/item-4/keeps:malformed-key",
            "key/odd#empty/item-4/keeps:malformed-key",
        ]),
        Flaw::NeverExpires => surely(&["expiry/over/item-4/keeps:expired"]),
        Flaw::ReplaysWith500 => Damage {
            breaks: broad::REPLAYS_WITH_500,
            // A copy that comes near the end may meet the completed request.
            may_break: &[
                "failure/store-down/item-7/documented-retryable:later",
                "race/during/item-5/keeps:in-progress",
                "race/during/item-5/outcome-never:during",
            ],
        },
        Flaw::AnswersRaceLosersWith500 => surely(&[
            "lost/mid-work#*/item-5/outcome-never:at-once+later",
            "race/burst/item-5/keeps:in-progress",
            "race/burst/item-5/outcome-is:burst",
            "race/burst/item-5/outcome-never:burst",
            "race/during/item-5/keeps:in-progress",
            "race/during/item-5/outcome-never:during",
            "race/edge/item-5/outcome-never:edge",
        ]),
        Flaw::AnswersMismatchWith500 => surely(&[
            "auth/anonymous/item-6/outcome-never:second",
            "payload/changed#*/item-3/keeps:mismatch",
            "payload/changed#*/item-3/no-server-error",
            "payload/in-flight/item-3/no-server-error",
        ]),
        Flaw::ExecutesRefusedChange => surely(&[
            "payload/changed#*/item-3/effects-at-most",
            "payload/in-flight/item-3/effects-at-most",
        ]),
        Flaw::StoresUnauthorized => surely(&[
            "auth/refused-first#none/item-6/outcome-is:good",
            "auth/refused-first#wrong/item-6/outcome-is:good",
        ]),
        Flaw::KeepsClaimOnError => surely(&[
            "race/three-parties#a-fails/item-5/outcome-is:later",
            "failure/after-effect#*/item-7/keeps:after-failure",
            "failure/after-effect#*/item-7/documented-retryable:retry",
            "failure/after-effect#*/item-7/recovered:retry",
            "failure/error#*/item-7/keeps:after-failure",
            "failure/error#*/item-7/documented-retryable:retry",
            "failure/error#*/item-7/recovered:retry",
        ]),
        Flaw::ForgetsKeyAfterEffect => surely(&[
            "failure/after-effect#*/item-5/effects-at-most",
            "failure/after-effect#*/item-7/documented-retryable:retry",
        ]),
        Flaw::KeepsKeyOfRolledBackWrite => surely(&["failure/after-effect#*/item-5/exists:retry"]),
        Flaw::StoresServerErrors => surely(&[
            "race/three-parties#a-fails/item-5/outcome-is:later",
            "failure/after-effect#once/item-7/keeps:after-failure",
            "failure/after-effect#once/item-7/documented-retryable:retry",
            "failure/error#heals/item-7/keeps:after-failure",
            "failure/error#heals/item-7/documented-retryable:retry",
        ]),
        Flaw::KeepsClaimOnHangUp => surely(&[
            "lost/mid-work#*/item-5/effects-at-least",
            "lost/mid-work#*/item-7/recovered:retry",
        ]),
        Flaw::CancelsBetweenEffects => Damage {
            breaks: &["lost/mid-work#*/item-5/effects-at-most"],
            // The hang-up has 50 ms between charge and receipt, and the retry at once may come late.
            may_break: &[
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
                "crash/after-effect/item-5/effects-at-most",
                "crash/mid-work/item-5/effects-at-most",
                "crash/before-effect/item-5/effects-at-most",
                "lost/after-effect#*/item-5/effects-at-most",
            ],
        },
        Flaw::ClaimsAtHeaders => surely(&[
            "lost/half-request#half-fin/item-5/effects-at-least",
            "lost/half-request#half-rst/item-5/effects-at-least",
            "lost/half-request#half-fin/item-5/outcome-is:whole",
            "lost/half-request#half-rst/item-5/outcome-is:whole",
            "lost/half-request#half-fin/item-7/recovered:whole",
            "lost/half-request#half-rst/item-7/recovered:whole",
            "lost/half-request#no-body/item-5/effects-at-least",
            "lost/half-request#no-body/item-5/outcome-is:whole",
            "lost/half-request#no-body/item-7/recovered:whole",
        ]),
        Flaw::RecordsOnlyCompleted => Damage {
            breaks: &[
                "race/lease#measured/item-5/effects-at-most",
                "race/lease#measured/item-5/one-resource:first+late+later",
                "race/pool/item-5/effects-at-most",
                "race/three-parties#*/item-5/effects-at-most",
                "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
                "race/waiters/item-5/effects-at-most",
                "race/waiters/item-5/one-resource:first+waiting+later",
                "lost/mid-work#*/item-5/effects-at-most",
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
                "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
                "payload/in-flight/item-3/effects-at-most",
                "payload/in-flight/item-3/outcome-never:changed+changed-later",
                "race/burst/item-5/effects-at-most",
                "race/burst/item-5/keeps:in-progress",
                "race/burst/item-5/one-resource:burst+later",
                "race/during/item-5/effects-at-most",
                "race/during/item-5/keeps:in-progress",
                "race/during/item-5/one-resource:first+during+later",
                "race/during/item-5/outcome-never:during",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
            ],
            // Another instance knows nothing of the claim, and a crash comes when it comes.
            may_break: &[
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
            ],
        },
        Flaw::RecordsAfterResponse => Damage {
            breaks: broad::RECORDS_AFTER_RESPONSE,
            // After 200 ms the record is there: these wait for the effect first, or for new
            // connections.
            may_break: &[
                "race/during/item-5/keeps:in-progress",
                "race/during/item-5/outcome-never:during",
                "lost/response#gave-up/item-5/effects-at-most",
                "lost/response#gave-up/item-5/same-response:again",
                "replay/connections/item-5/effects-at-most",
                "replay/crowd/item-5/effects-at-most",
                "replay/connections/item-5/one-resource:first+again",
                "replay/crowd/item-5/one-resource:first+crowd",
                "replay/connections/item-5/outcome-never:again",
                "replay/crowd/item-5/outcome-never:crowd",
                "crash/after-effect/item-5/effects-at-most",
                "crash/mid-work/item-5/effects-at-most",
                "crash/before-effect/item-5/effects-at-most",
                "crash/restart/item-5/effects-at-most",
                "crash/before-effect/item-5/one-resource:retry+later",
                "crash/restart/item-5/same-response:again",
                "failure/store-down/item-5/effects-at-most",
                "failure/store-down/item-7/documented-retryable:later",
                "run/documents/item-7/documented-retryable:later",
                "run/expired-keys/item-7/counted:expired",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
                "failure/store-down/item-5/one-resource:first+later",
                "replay/after-delete/item-4/keeps:deleted",
                "replay/after-delete/item-4/outcome-never:again",
                "replay/kinds#*/item-5/effects-at-most",
                "replay/kinds#*/item-5/outcome-never:again+later",
                "replay/kinds#*/item-5/same-response:again+later",
                "scope/batch/item-5/effects-at-most",
                "race/lease#measured/item-5/effects-at-most",
                "race/lease#measured/item-5/one-resource:first+late+later",
                "race/three-parties#*/item-5/effects-at-most",
                "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
                "race/three-parties#*/item-5/outcome-is:later",
                "race/waiters/item-5/effects-at-most",
                "race/waiters/item-5/one-resource:first+waiting+later",
                "auth/credentials#*/item-5/outcome-is:again",
                "auth/other-tenant#*/item-5/outcome-is:ours-again",
                "auth/refused-first#*/item-5/effects-at-most",
                "auth/refused-first#*/item-5/same-response:again",
                "expiry/kept/item-4/effects-at-most",
                "expiry/kept/item-4/keeps:retention",
                "expiry/kept/item-4/documented-retention:again",
                "expiry/kept/item-4/outcome-never:again",
                "expiry/over/item-4/effects-at-most",
                "expiry/over/item-4/one-resource:reused+reused-again",
                "expiry/slow/item-4/effects-at-most",
                "expiry/slow/item-4/keeps:retention",
                "expiry/slow/item-4/outcome-never:again",
                "failure/error#heals/item-5/effects-at-most",
                "failure/error#heals/item-7/documented-retryable:retry",
                "failure/error#heals/item-5/one-resource:retry+again",
                "key/odd#*/item-4/effects-at-most",
                "lost/mid-work#*/item-5/effects-at-most",
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
                "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
                "payload/changed#*/item-3/effects-at-most",
                "payload/changed#*/item-3/keeps:mismatch",
                "payload/changed#*/item-3/outcome-never:changed+insisting",
                "payload/changed#*/item-5/outcome-is:again",
                "payload/in-flight/item-3/effects-at-most",
                "payload/in-flight/item-3/outcome-never:changed+changed-later",
                "race/burst/item-5/keeps:in-progress",
                "race/during/item-5/effects-at-most",
                "race/during/item-5/one-resource:first+during+later",
                "race/during/item-5/outcome-is:later",
                "replay/exact#*/item-5/keeps:replay",
                "replay/reworded#*/item-3/effects-at-most",
                "replay/reworded#*/item-3/keeps:equality",
                "replay/reworded#*/item-3/outcome-never:again",
                "webhook/silent-replay/item-8/events-ids-at-most",
            ],
        },
        Flaw::RecordsLate => Damage {
            breaks: &[
                "race/last-byte/item-5/effects-at-most",
                "race/last-byte/item-5/one-resource:first+retry",
                "race/last-byte/item-5/outcome-never:retry",
            ],
            // The window is 2 ms wide; only an instant retry surely meets it.
            may_break: &[
                "replay/after-delete/item-4/keeps:deleted",
                "replay/after-delete/item-4/outcome-never:again",
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
                "replay/kinds#*/item-5/effects-at-most",
                "replay/kinds#*/item-5/outcome-never:again+later",
                "replay/kinds#*/item-5/same-response:again+later",
                "scope/batch/item-5/effects-at-most",
                "race/lease#measured/item-5/effects-at-most",
                "race/lease#measured/item-5/one-resource:first+late+later",
                "race/three-parties#*/item-5/effects-at-most",
                "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
                "race/waiters/item-5/effects-at-most",
                "race/waiters/item-5/one-resource:first+waiting+later",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
                "replay/exact#*/item-5/effects-at-most",
                "replay/exact#*/item-5/one-resource:first+again+later",
                "replay/exact#*/item-5/outcome-never:again+later",
                "replay/exact#*/item-5/same-response:again+later",
                "crash/after-effect/item-5/effects-at-most",
                "crash/before-effect/item-5/effects-at-most",
                "crash/before-effect/item-5/one-resource:retry+later",
                "crash/mid-work/item-5/effects-at-most",
                "crash/restart/item-5/effects-at-most",
                "crash/restart/item-5/same-response:again",
                "expiry/slow/item-4/effects-at-most",
                "expiry/slow/item-4/keeps:retention",
                "expiry/slow/item-4/outcome-never:again",
                "failure/store-down/item-5/effects-at-most",
                "failure/store-down/item-5/one-resource:first+later",
                "failure/store-down/item-7/documented-retryable:later",
                "run/documents/item-7/documented-retryable:later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
                "webhook/silent-replay/item-8/events-ids-at-most",
            ],
        },
        Flaw::LeavesGapAfterEffect => Damage {
            breaks: &[
                "lost/after-effect#*/item-5/effects-at-most",
                "lost/mid-work#*/item-5/effects-at-most",
            ],
            // Another instance knows nothing of the claim, a crash comes when it comes, and a hang-up near
            // the end of the work lets the retry at once run beside the gap.
            may_break: &[
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
                "crash/after-effect/item-5/effects-at-most",
                "crash/mid-work/item-5/effects-at-most",
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
            ],
        },
        Flaw::WaiterRunsAgain => Damage {
            breaks: &[
                "race/lease#measured/item-5/effects-at-most",
                "race/lease#measured/item-5/one-resource:first+late+later",
                "race/pool/item-5/effects-at-most",
                "race/three-parties#*/item-5/effects-at-most",
                "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
                "race/waiters/item-5/effects-at-most",
                "race/waiters/item-5/one-resource:first+waiting+later",
                "lost/mid-work#*/item-5/effects-at-most",
                "lost/mid-work#*/item-5/effects-at-most@after-at-once",
                "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
                "payload/in-flight/item-3/effects-at-most",
                "race/burst/item-5/effects-at-most",
                "race/burst/item-5/keeps:in-progress",
                "race/burst/item-5/one-resource:burst+later",
                "race/during/item-5/effects-at-most",
                "race/during/item-5/keeps:in-progress",
                "race/during/item-5/one-resource:first+during+later",
                "race/during/item-5/outcome-never:during",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
            ],
            // Another instance knows nothing of the claim, and a crash comes when it comes.
            may_break: &[
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
            ],
        },
        Flaw::LastWriterWins => Damage {
            breaks: &[
                "race/burst/item-5/effects-at-most",
                "race/burst/item-5/keeps:in-progress",
                "race/burst/item-5/one-resource:burst+later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
            ],
            // The window is 1 ms wide.
            may_break: &[
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
            ],
        },
        Flaw::FingerprintsTopLevelOnly => surely(&[
            "payload/changed#nested/item-3/keeps:mismatch",
            "payload/changed#nested/item-3/outcome-never:changed+insisting",
        ]),
        Flaw::FingerprintsFirst4Kib => surely(&[
            "payload/changed#tail/item-3/keeps:mismatch",
            "payload/changed#tail/item-3/outcome-never:changed+insisting",
        ]),
        Flaw::FingerprintsThroughFloats => surely(&[
            "payload/changed#big-number/item-3/keeps:mismatch",
            "payload/changed#big-number/item-3/outcome-never:changed+insisting",
        ]),
        Flaw::SkipsFingerprintInFlight => {
            surely(&["payload/in-flight/item-3/outcome-never:changed+changed-later"])
        }
        Flaw::PoisonsCacheOnMismatch => {
            surely(&["payload/changed#*/item-3/outcome-never:changed+insisting"])
        }
        Flaw::FingerprintsRawBytesIntoKey => surely(&[
            "replay/reworded#*/item-3/effects-at-most",
            "replay/reworded#*/item-3/keeps:equality",
            "replay/reworded#*/item-3/outcome-never:again",
        ]),
        Flaw::FingerprintsServerSecond => Damage {
            breaks: &[
                "expiry/kept/item-4/keeps:retention",
                "expiry/kept/item-4/documented-retention:again",
                "expiry/slow/item-4/keeps:retention",
                "lost/after-effect#later/item-5/outcome-is:retry",
                "lost/after-effect#unseen/item-5/outcome-is:retry",
                "replay/noise#*/item-5/outcome-is:again",
            ],
            // These retry within the second, or just over its edge.
            may_break: &[
                "failure/store-down/item-7/documented-retryable:later",
                "run/documents/item-7/documented-retryable:later",
                "lost/after-effect#at-once/item-5/outcome-is:retry",
                "crash/restart/item-5/same-response:again",
                "replay/after-delete/item-4/keeps:deleted",
                "replay/kinds#*/item-5/same-response:again+later",
                "race/three-parties#*/item-5/outcome-is:later",
                "auth/credentials#*/item-5/outcome-is:again",
                "auth/other-tenant#*/item-5/outcome-is:ours-again",
                "auth/refused-first#*/item-5/same-response:again",
                "lost/response#*/item-5/outcome-is:retry",
                "payload/changed#*/item-5/outcome-is:again",
                "race/during/item-5/keeps:in-progress",
                "race/during/item-5/outcome-is:later",
                "replay/exact#*/item-5/keeps:replay",
                "replay/exact#*/item-5/same-response:again+later",
                "replay/reworded#*/item-3/keeps:equality",
                "run/ledger/item-5/same-response:ledger",
            ],
        },
        Flaw::HashesUserAgent => surely(&["replay/noise#user-agent/item-5/outcome-is:again"]),
        Flaw::RefusesKeyOfOtherTenant => surely(&[
            "auth/other-tenant#*/item-4/keeps:other-principal",
            "auth/other-tenant#*/item-4/documented-scope:theirs",
            "auth/other-tenant#*/item-4/outcome-is:theirs",
        ]),
        Flaw::SharesKeysBetweenMethods => Damage {
            breaks: &[
                "scope/other-operation#method/item-4/exists:second",
                "scope/other-operation#method/item-4/keeps:other-operation",
                "scope/other-operation#method/item-4/outcome-never:second",
            ],
            // Another operation on the path of a change is another method.
            may_break: &[
                "change-payment:scope/other-operation#operation/item-4/exists:second",
                "change-payment:scope/other-operation#operation/item-4/keeps:other-operation",
                "change-payment:scope/other-operation#operation/item-4/outcome-never:second",
            ],
        },
        Flaw::FlattensStatusTo200 => surely(&[
            "crash/restart/item-5/same-response:again",
            "auth/refused-first#*/item-5/same-response:again",
            "replay/exact#*/item-5/keeps:replay",
            "replay/exact#*/item-5/same-response:again+later",
            "replay/kinds#*/item-5/same-response:again+later",
            "run/ledger/item-5/same-response:ledger",
        ]),
        Flaw::DropsLocation => surely(&[
            "crash/restart/item-5/same-response:again",
            "auth/refused-first#*/item-5/same-response:again",
            "replay/exact#*/item-5/same-response:again+later",
            "replay/kinds#*/item-5/same-response:again+later",
            "run/ledger/item-5/same-response:ledger",
        ]),
        Flaw::ReplaysAsText => surely(&[
            "crash/restart/item-5/same-response:again",
            "auth/refused-first#*/item-5/same-response:again",
            "replay/exact#*/item-5/same-response:again+later",
            "replay/kinds#*/item-5/same-response:again+later",
            "run/ledger/item-5/same-response:ledger",
        ]),
        Flaw::IgnoresKeyOnRefunds => Damage {
            breaks: broad::IGNORES_KEY_ON_REFUNDS,
            may_break: &["create-refund:run/expired-keys/item-7/counted:expired"],
        },
        Flaw::TruncatesKeysTo64 => surely(&[
            "key/near#at-129/item-4/outcome-never:second",
            "key/near#at-255/item-4/outcome-never:second",
            "key/near#at-65/item-4/outcome-never:second",
            "key/near#at-129/item-4/two-resources:first+second",
            "key/near#at-255/item-4/two-resources:first+second",
            "key/near#at-65/item-4/two-resources:first+second",
        ]),
        Flaw::FoldsKeyCase => surely(&[
            "key/near#case/item-4/keeps:key-case",
            "key/near#case/item-4/outcome-never:second",
            "key/near#case/item-4/two-resources:first+second",
            "key/uuid-case/item-4/keeps:key-case",
        ]),
        Flaw::JoinsDoubledKeys => surely(&[
            "key/sent-twice/item-4/effects-at-most",
            "key/sent-twice/item-4/one-resource:doubled+single",
        ]),
        Flaw::LeavesEmptyKeyUnprotected => surely(&[
            "key/odd#blank/item-4/effects-at-most",
            "key/odd#empty/item-4/effects-at-most",
            "key/odd#blank/item-4/keeps:malformed-key",
            "key/odd#empty/item-4/keeps:malformed-key",
        ]),
        Flaw::ForgetsEarly => surely(&[
            "expiry/kept/item-4/effects-at-most",
            "expiry/kept/item-4/keeps:retention",
            "expiry/kept/item-4/documented-retention:again",
            "expiry/kept/item-4/outcome-never:again",
            "expiry/slow/item-4/effects-at-most",
            "expiry/slow/item-4/keeps:retention",
            "expiry/slow/item-4/outcome-never:again",
        ]),
        Flaw::CountsRetentionFromClaim => surely(&[
            "expiry/slow/item-4/effects-at-most",
            "expiry/slow/item-4/keeps:retention",
            "expiry/slow/item-4/outcome-never:again",
        ]),
        Flaw::ChecksThenSets1Ms => Damage {
            breaks: &[
                "race/burst/item-5/effects-at-most",
                "race/burst/item-5/keeps:in-progress",
                "race/burst/item-5/one-resource:burst+later",
            ],
            // The window is 1 ms wide.
            may_break: &[
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
            ],
        },
        Flaw::ChecksThenSets100Us => Damage {
            breaks: &[
                "race/burst/item-5/effects-at-most",
                "race/burst/item-5/keeps:in-progress",
                "race/burst/item-5/one-resource:burst+later",
            ],
            // The window is 100 us wide.
            may_break: &[
                "race/replicas/item-5/effects-at-most",
                "race/replicas/item-5/one-resource:burst+lagging+later",
                "race/edge/item-5/effects-at-most",
                "race/edge/item-5/one-resource:first+edge+later",
                "run/ledger/item-5/one-resource:ledger",
                "run/ledger/item-5/same-response:ledger",
            ],
        },
        Flaw::RecordsOnlyWholeBodies => surely(responses::RECORDS_ONLY_WHOLE_BODIES),
        Flaw::FreesAnotherClaim => surely(responses::FREES_ANOTHER_CLAIM),
        Flaw::StoresRateLimits => surely(responses::STORES_RATE_LIMITS),
        Flaw::KeepsOneBucketForGuests => surely(responses::KEEPS_ONE_BUCKET_FOR_GUESTS),
        Flaw::LeavesQueryOutOfScope => surely(responses::LEAVES_QUERY_OUT_OF_SCOPE),
        Flaw::ScopesByRouteTemplate => surely(responses::SCOPES_BY_ROUTE_TEMPLATE),
        Flaw::JoinsScopeWithColons => surely(responses::JOINS_SCOPE_WITH_COLONS),
        Flaw::ReplaysAfterRevocation => surely(responses::REPLAYS_AFTER_REVOCATION),
        Flaw::ReplaysSetCookie => surely(responses::REPLAYS_SET_COOKIE),
        Flaw::ReplaysNoContentAsNull => surely(responses::REPLAYS_NO_CONTENT_AS_NULL),
        Flaw::StoresCompressedBytes => surely(responses::STORES_COMPRESSED_BYTES),
        Flaw::StoresBytesAsText => surely(responses::STORES_BYTES_AS_TEXT),
        Flaw::StoresNoLongAnswers => surely(responses::STORES_NO_LONG_ANSWERS),
        Flaw::CutsReplays => surely(responses::CUTS_REPLAYS),
        Flaw::IgnoresKeyWhenAsync => surely(responses::IGNORES_KEY_WHEN_ASYNC),
        Flaw::RemakesWhatWasDeleted => surely(responses::REMAKES_WHAT_WAS_DELETED),
        Flaw::IgnoresKeyOnBatches => surely(responses::IGNORES_KEY_ON_BATCHES),
        Flaw::CrashesOnEqualItems => surely(responses::CRASHES_ON_EQUAL_ITEMS),
        Flaw::RunsWithoutItsStore => surely(responses::RUNS_WITHOUT_ITS_STORE),
        Flaw::HashesMultipartBoundary => surely(responses::HASHES_MULTIPART_BOUNDARY),
        Flaw::ChecksVersionBeforeWrite => surely(responses::CHECKS_VERSION_BEFORE_WRITE),
        Flaw::AppendsOnPut => surely(responses::APPENDS_ON_PUT),
        Flaw::GivesSlowRequestsUp => surely(&["failure/hidden#slow/item-7/told:first"]),
        Flaw::KeepsGivingUp => surely(&[
            "failure/hidden#slow/item-7/told:first",
            "failure/hidden#slow/item-7/recovered:again",
        ]),
        Flaw::CountsAgeFromArrival => {
            surely(&["expiry/first-sent#too-old/item-4/keeps:first-sent"])
        }
        Flaw::IgnoresFirstSent => surely(&[
            "expiry/first-sent#no-date/item-4/keeps:first-sent",
            "expiry/first-sent#bad-date/item-4/keeps:first-sent",
            "expiry/first-sent#no-key/item-4/keeps:first-sent",
        ]),
        Flaw::FailsSecondDelete => surely(responses::FAILS_SECOND_DELETE),
        Flaw::ChecksThenSets20Us => races::CHECKS_THEN_SETS_20US,
        Flaw::ClaimsPerWorker => races::CLAIMS_PER_WORKER,
        Flaw::LetsClaimRunOut => races::LETS_CLAIM_RUN_OUT,
        Flaw::LetsClaimRunOutAtTimes => races::LETS_CLAIM_RUN_OUT_AT_TIMES,
        Flaw::FreesClaimOfSuccessor => races::FREES_CLAIM_OF_SUCCESSOR,
        Flaw::OverwritesRecordOfSuccessor => races::OVERWRITES_RECORD_OF_SUCCESSOR,
        Flaw::FreesClaimBeforeRecord => races::FREES_CLAIM_BEFORE_RECORD,
        Flaw::EvictsOldestKeys => races::EVICTS_OLDEST_KEYS,
        Flaw::FillsPoolWithWaiters => races::FILLS_POOL_WITH_WAITERS,
        Flaw::ChecksThenDebits => races::CHECKS_THEN_DEBITS,
        Flaw::OrdersStaleCarts => races::ORDERS_STALE_CARTS,
        Flaw::AnswersConflictsAlike => races::ANSWERS_CONFLICTS_ALIKE,
        Flaw::KeepsClaimOnCrash => crash::KEEPS_CLAIM_ON_CRASH,
        Flaw::RecordsOutsideTransaction => crash::RECORDS_OUTSIDE_TRANSACTION,
        Flaw::KeepsKeysPerInstance => crash::KEEPS_KEYS_PER_INSTANCE,
        Flaw::KeepsKeysPerConnection => crash::KEEPS_KEYS_PER_CONNECTION,
        Flaw::LooksUpOnLaggingReplica => crash::LOOKS_UP_ON_LAGGING_REPLICA,
        Flaw::ForgetsKeysOnRestart => crash::FORGETS_KEYS_ON_RESTART,
        Flaw::TakesPayloadForKey => surely(&[
            "run/documents/item-7/documented-required:keyless",
            "auth/keyless/item-6/exists:theirs",
            "auth/keyless/item-6/nothing-foreign:theirs",
            "auth/keyless/item-6/outcome-never:theirs",
            "key/missing/item-2/outcome-never:again",
            "key/missing/item-7/keeps:missing-key",
        ]),
        Flaw::EmitsEventOnReplay => surely(downstream::EMITS_EVENT_ON_REPLAY),
        Flaw::MintsEventIdPerAttempt => surely(downstream::MINTS_EVENT_ID_PER_ATTEMPT),
        Flaw::MarksEventBeforeDelivery => surely(downstream::MARKS_EVENT_BEFORE_DELIVERY),
        Flaw::LooksUpForeignOperations => Damage {
            breaks: downstream::LOOKS_UP_FOREIGN_OPERATIONS,
            // Beside the id, which was asked for, the answer holds little of its own.
            may_break: &["lookup/strangers#identity/item-6/nothing-foreign:foreign"],
        },
        Flaw::IndexesKeysLate => surely(downstream::INDEXES_KEYS_LATE),
        Flaw::LooksUpStaleState => surely(downstream::LOOKS_UP_STALE_STATE),
        Flaw::GivesEventsUpSoon => surely(downstream::GIVES_EVENTS_UP_SOON),
        Flaw::AnnouncesRolledBackWrites => surely(downstream::ANNOUNCES_ROLLED_BACK_WRITES),
        Flaw::RetriesFromMemory => surely(downstream::RETRIES_FROM_MEMORY),
        Flaw::ChangesEventBody => surely(downstream::CHANGES_EVENT_BODY),
        Flaw::SaltsEventSignature => surely(downstream::SALTS_EVENT_SIGNATURE),
        Flaw::DeliversEventsOutOfOrder => surely(downstream::DELIVERS_EVENTS_OUT_OF_ORDER),
        Flaw::HandlesEveryDelivery => surely(consumer::HANDLES_EVERY_DELIVERY),
        Flaw::ChecksNoticeThenHandles => surely(consumer::CHECKS_NOTICE_THEN_HANDLES),
        Flaw::MarksNoticeBeforeHandling => surely(consumer::MARKS_NOTICE_BEFORE_HANDLING),
        Flaw::LosesNoticesItTook => surely(consumer::LOSES_NOTICES_IT_TOOK),
        Flaw::FreesNoticeAfterEffect => surely(consumer::FREES_NOTICE_AFTER_EFFECT),
        Flaw::ForgetsNoticesSoon => surely(consumer::FORGETS_NOTICES_SOON),
        Flaw::AppliesOlderNotices => surely(consumer::APPLIES_OLDER_NOTICES),
        Flaw::TakesUnsignedNotices => Damage {
            breaks: consumer::TAKES_UNSIGNED_NOTICES,
            // A known signature with another id is one that is not good.
            may_break: &[
                "receive-notice:consumer/signed-id/item-8/effects-at-most",
                "receive-notice:consumer/signed-id/item-8/outcome-never:renamed",
            ],
        },
        Flaw::TakesOldSignatures => surely(consumer::TAKES_OLD_SIGNATURES),
        Flaw::CrashesOnBadSignature => Damage {
            breaks: consumer::CRASHES_ON_BAD_SIGNATURE,
            // A known signature with another id is one that is not good.
            may_break: &["receive-notice:consumer/signed-id/item-8/outcome-never:renamed"],
        },
        Flaw::HidesBadSignatures => Damage {
            breaks: consumer::HIDES_BAD_SIGNATURES,
            // A known signature with another id is one that is not good.
            may_break: &["receive-notice:consumer/signed-id/item-8/outcome-never:renamed"],
        },
        Flaw::HandlesNoticesWithoutId => surely(consumer::HANDLES_NOTICES_WITHOUT_ID),
        Flaw::DropsNoticesWithoutId => surely(consumer::DROPS_NOTICES_WITHOUT_ID),
        Flaw::TakesAccountForNotice => surely(consumer::TAKES_ACCOUNT_FOR_NOTICE),
        Flaw::KeepsNoticesInMemory => surely(consumer::KEEPS_NOTICES_IN_MEMORY),
        Flaw::TrustsKnownSignatures => surely(consumer::TRUSTS_KNOWN_SIGNATURES),
        Flaw::CountsNoDuplicates | Flaw::CountsTwice => surely(downstream::COUNTS_WRONG),
        Flaw::DocumentsKeyElsewhere => surely(downstream::DOCUMENTS_KEY_ELSEWHERE),
        Flaw::DocumentsNoConflict => surely(downstream::DOCUMENTS_NO_CONFLICT),
        Flaw::DocumentsRetryAfterNobodySends => {
            surely(downstream::DOCUMENTS_RETRY_AFTER_NOBODY_SENDS)
        }
    }
}
