//! What flaws of claims, leases, records and capacity break.

use super::{Damage, surely};

/// What `checks-then-sets-20us` breaks: its window is met in some runs only.
pub(super) const CHECKS_THEN_SETS_20US: Damage = Damage {
    breaks: &[],
    may_break: &[
        "race/burst/item-5/effects-at-most",
        "race/burst/item-5/keeps:in-progress",
        "race/burst/item-5/one-resource:burst+later",
        "race/edge/item-5/effects-at-most",
        "race/edge/item-5/one-resource:first+edge+later",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};

/// What `claims-per-worker` breaks.
pub(super) const CLAIMS_PER_WORKER: Damage = surely(&[
    "race/burst/item-5/effects-at-most",
    "race/burst/item-5/keeps:in-progress",
    "race/burst/item-5/one-resource:burst+later",
]);

/// What `lets-claim-run-out` breaks.
pub(super) const LETS_CLAIM_RUN_OUT: Damage = surely(&[
    "race/during/item-5/effects-at-most",
]);

/// What `lets-claim-run-out-at-times` breaks.
pub(super) const LETS_CLAIM_RUN_OUT_AT_TIMES: Damage = surely(&[
    "race/lease#measured/item-5/effects-at-most",
    "race/lease#measured/item-5/one-resource:first+late+later",
]);

/// What `frees-claim-of-successor` breaks.
pub(super) const FREES_CLAIM_OF_SUCCESSOR: Damage = surely(&[
    "race/three-parties#a-fails/item-5/effects-at-most",
]);

/// What `overwrites-record-of-successor` breaks.
pub(super) const OVERWRITES_RECORD_OF_SUCCESSOR: Damage = surely(&[
    "race/three-parties#succeeds/item-5/one-resource:a+b+c+d+later+much-later",
]);

/// What `frees-claim-before-record` breaks.
pub(super) const FREES_CLAIM_BEFORE_RECORD: Damage = Damage {
    breaks: &[],
    may_break: &[
        "race/edge/item-5/effects-at-most",
        "race/edge/item-5/one-resource:first+edge+later",
    ],
};

/// What `evicts-oldest-keys` breaks.
pub(super) const EVICTS_OLDEST_KEYS: Damage = surely(&[
    "expiry/fill/item-4/effects-at-most",
    "expiry/fill/item-4/outcome-never:again",
]);

/// What `fills-pool-with-waiters` breaks.
pub(super) const FILLS_POOL_WITH_WAITERS: Damage = surely(&[
    "race/pool/item-5/answered:owner",
    "race/pool/item-5/unaffected:bystanders",
]);

/// What `answers-conflicts-alike` breaks.
pub(super) const ANSWERS_CONFLICTS_ALIKE: Damage = surely(&[
    "payload/changed#*/item-3/keeps:mismatch",
]);
