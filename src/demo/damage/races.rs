//! What flaws of claims, leases, records and capacity break, and those of writes without a key.

use super::{Damage, surely};

/// What `checks-then-sets-20us` breaks. The window is 20 us wide.
pub(super) const CHECKS_THEN_SETS_20US: Damage = Damage {
    breaks: &[],
    may_break: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "race/burst/item-5/effects-at-most",
        "race/burst/item-5/keeps:in-progress",
        "race/burst/item-5/one-resource:burst+later",
        "race/edge/item-5/effects-at-most",
        "race/edge/item-5/one-resource:first+edge+later",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};

/// What `claims-per-worker` breaks. Two connections have one
/// worker one time in eight.
pub(super) const CLAIMS_PER_WORKER: Damage = Damage {
    breaks: &[
        "race/burst/item-5/effects-at-most",
        "race/burst/item-5/keeps:in-progress",
        "race/burst/item-5/one-resource:burst+later",
        "race/during/item-5/effects-at-most",
        "race/during/item-5/keeps:in-progress",
        "race/during/item-5/one-resource:first+during+later",
        "race/during/item-5/outcome-never:during",
        "race/edge/item-5/effects-at-most",
        "race/edge/item-5/one-resource:first+edge+later",
        "race/lease#measured/item-5/effects-at-most",
        "race/lease#measured/item-5/one-resource:first+late+later",
        "race/pool/item-5/effects-at-most",
        "race/waiters/item-5/effects-at-most",
        "race/waiters/item-5/one-resource:first+waiting+later",
    ],
    may_break: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "race/three-parties#*/item-5/effects-at-most",
        "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
        "lost/mid-work#*/item-5/effects-at-most",
        "lost/mid-work#*/item-5/effects-at-most@after-at-once",
        "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
        "payload/in-flight/item-3/effects-at-most",
        "payload/in-flight/item-3/outcome-never:changed+changed-later",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};

/// What `lets-claim-run-out` breaks. Under load plain requests
/// outlast their claims as well.
pub(super) const LETS_CLAIM_RUN_OUT: Damage = Damage {
    breaks: &[
        "race/during/item-5/effects-at-most",
        "race/during/item-5/keeps:in-progress",
        "race/during/item-5/one-resource:first+during+later",
        "race/during/item-5/outcome-never:during",
        "race/lease#measured/item-5/effects-at-most",
        "race/lease#measured/item-5/one-resource:first+late+later",
        "race/three-parties#succeeds/item-5/effects-at-most",
        "race/three-parties#succeeds/item-5/one-resource:a+b+c+d+later+much-later",
    ],
    may_break: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "race/waiters/item-5/effects-at-most",
        "race/waiters/item-5/one-resource:first+waiting+later",
        "race/three-parties#a-fails/item-5/effects-at-most",
        "race/three-parties#a-fails/item-5/one-resource:a+b+c+d+later+much-later",
        "lost/mid-work#*/item-5/effects-at-most",
        "lost/mid-work#*/item-5/effects-at-most@after-at-once",
        "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
        "payload/in-flight/item-3/effects-at-most",
        "payload/in-flight/item-3/outcome-never:changed+changed-later",
        "race/pool/item-5/effects-at-most",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
        "race/burst/item-5/effects-at-most",
        "race/burst/item-5/keeps:in-progress",
        "race/burst/item-5/one-resource:burst+later",
    ],
};

/// What `lets-claim-run-out-at-times` breaks. One request in five
/// meets a claim that has run out.
pub(super) const LETS_CLAIM_RUN_OUT_AT_TIMES: Damage = Damage {
    breaks: &[
        "race/lease#measured/item-5/effects-at-most",
        "race/lease#measured/item-5/one-resource:first+late+later",
    ],
    may_break: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "race/during/item-5/effects-at-most",
        "race/during/item-5/keeps:in-progress",
        "race/during/item-5/one-resource:first+during+later",
        "race/during/item-5/outcome-never:during",
        "race/three-parties#*/item-5/effects-at-most",
        "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
        "lost/mid-work#*/item-5/effects-at-most",
        "lost/mid-work#*/item-5/effects-at-most@after-at-once",
        "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
        "payload/in-flight/item-3/effects-at-most",
        "payload/in-flight/item-3/outcome-never:changed+changed-later",
        "race/pool/item-5/effects-at-most",
        "race/waiters/item-5/effects-at-most",
        "race/waiters/item-5/one-resource:first+waiting+later",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};

/// What `frees-claim-of-successor` breaks.
pub(super) const FREES_CLAIM_OF_SUCCESSOR: Damage = Damage {
    breaks: &[
        "race/during/item-5/effects-at-most",
        "race/during/item-5/keeps:in-progress",
        "race/during/item-5/one-resource:first+during+later",
        "race/during/item-5/outcome-never:during",
        "race/lease#measured/item-5/effects-at-most",
        "race/lease#measured/item-5/one-resource:first+late+later",
        "race/three-parties#*/item-5/effects-at-most",
        "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
    ],
    may_break: &[
        "lost/mid-work#*/item-5/effects-at-most",
        "lost/mid-work#*/item-5/effects-at-most@after-at-once",
        "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
        "payload/in-flight/item-3/effects-at-most",
        "payload/in-flight/item-3/outcome-never:changed+changed-later",
        "race/pool/item-5/effects-at-most",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
        "race/burst/item-5/effects-at-most",
        "race/burst/item-5/keeps:in-progress",
        "race/burst/item-5/one-resource:burst+later",
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "race/waiters/item-5/effects-at-most",
        "race/waiters/item-5/one-resource:first+waiting+later",
    ],
};

/// What `overwrites-record-of-successor` breaks.
pub(super) const OVERWRITES_RECORD_OF_SUCCESSOR: Damage = Damage {
    breaks: &[
        "race/during/item-5/effects-at-most",
        "race/during/item-5/keeps:in-progress",
        "race/during/item-5/one-resource:first+during+later",
        "race/during/item-5/outcome-never:during",
        "race/lease#measured/item-5/effects-at-most",
        "race/lease#measured/item-5/one-resource:first+late+later",
        "race/three-parties#succeeds/item-5/effects-at-most",
        "race/three-parties#succeeds/item-5/one-resource:a+b+c+d+later+much-later",
        "run/ledger/item-5/same-response:ledger",
    ],
    may_break: &[
        "race/three-parties#a-fails/item-5/effects-at-most",
        "race/three-parties#a-fails/item-5/one-resource:a+b+c+d+later+much-later",
        "lost/mid-work#*/item-5/effects-at-most",
        "lost/mid-work#*/item-5/effects-at-most@after-at-once",
        "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
        "payload/in-flight/item-3/effects-at-most",
        "payload/in-flight/item-3/outcome-never:changed+changed-later",
        "race/pool/item-5/effects-at-most",
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "race/waiters/item-5/effects-at-most",
        "race/waiters/item-5/one-resource:first+waiting+later",
        "race/burst/item-5/effects-at-most",
        "race/burst/item-5/keeps:in-progress",
        "race/burst/item-5/one-resource:burst+later",
        "run/ledger/item-5/one-resource:ledger",
    ],
};

/// What `frees-claim-before-record` breaks. The window is 1 ms wide.
pub(super) const FREES_CLAIM_BEFORE_RECORD: Damage = Damage {
    breaks: &[],
    may_break: &[
        "race/edge/item-5/effects-at-most",
        "race/edge/item-5/one-resource:first+edge+later",
        "race/lease#measured/item-5/effects-at-most",
        "race/lease#measured/item-5/one-resource:first+late+later",
        "race/three-parties#*/item-5/effects-at-most",
        "race/three-parties#*/item-5/one-resource:a+b+c+d+later+much-later",
        "race/waiters/item-5/effects-at-most",
        "race/waiters/item-5/one-resource:first+waiting+later",
        "race/pool/item-5/effects-at-most",
        "race/during/item-5/effects-at-most",
        "race/during/item-5/keeps:in-progress",
        "race/during/item-5/one-resource:first+during+later",
        "race/during/item-5/outcome-never:during",
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "crash/mid-work/item-5/effects-at-most",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
        "lost/mid-work#*/item-5/effects-at-most",
        "lost/mid-work#*/item-5/effects-at-most@after-at-once",
        "lost/mid-work#*/item-5/one-resource:at-once+retry+later",
    ],
};

/// What `evicts-oldest-keys` breaks. A long run has more keys than
/// it keeps.
pub(super) const EVICTS_OLDEST_KEYS: Damage = Damage {
    breaks: &[
        "expiry/fill/item-4/effects-at-most",
        "expiry/fill/item-4/outcome-never:again",
    ],
    may_break: &[
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
        "run/ledger/item-5/outcome-never:ledger",
    ],
};

/// What `fills-pool-with-waiters` breaks.
pub(super) const FILLS_POOL_WITH_WAITERS: Damage = surely(&[
    "race/pool/item-5/answered:owner",
    "race/pool/item-5/unaffected:bystanders",
]);

/// What `answers-conflicts-alike` breaks. A contract that declares
/// nothing is only warned.
pub(super) const ANSWERS_CONFLICTS_ALIKE: Damage = surely(&[
    "payload/changed#*/item-3/keeps:mismatch",
    "run/documents/item-7/documented-retry-after:during",
    "run/refusals/item-7/documented-retry-after:changed",
]);

/// What `checks-then-debits` breaks.
pub(super) const CHECKS_THEN_DEBITS: Damage =
    surely(&["redeem-coupon:no-key/overdraw/item-5/bounded"]);

/// What `orders-stale-carts` breaks.
pub(super) const ORDERS_STALE_CARTS: Damage = Damage {
    breaks: &["order-cart:no-key/stale-session/item-5/bounded"],
    // Two sessions that order at once may have seen one cart.
    may_break: &["order-cart:no-key/overdraw/item-5/bounded"],
};
