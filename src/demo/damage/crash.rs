//! What the flaws break that show when the process dies, or when there are several.

use super::{Damage, broad, joined, surely};

/// What `keeps-claim-on-crash` breaks.
pub(super) const KEEPS_CLAIM_ON_CRASH: Damage = surely(&[
    "crash/before-effect/item-5/outcome-is:retry",
    "crash/before-effect/item-5/recovered:retry",
]);

/// What `records-outside-transaction` breaks.
pub(super) const RECORDS_OUTSIDE_TRANSACTION: Damage = Damage {
    breaks: &[
        "crash/after-effect/item-5/effects-at-most",
        "crash/mid-work/item-5/effects-at-most",
    ],
    // Nothing but the claim, which another instance does not know, makes a key unique.
    may_break: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};

/// What `forgets-keys-on-restart` breaks.
pub(super) const FORGETS_KEYS_ON_RESTART: Damage = surely(&[
    "crash/after-effect/item-5/effects-at-most",
    "crash/mid-work/item-5/effects-at-most",
    "crash/restart/item-5/effects-at-most",
    "crash/restart/item-5/same-response:again",
]);

/// What `keeps-keys-per-instance` breaks.
pub(super) const KEEPS_KEYS_PER_INSTANCE: Damage = Damage {
    breaks: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
        "replay/connections/item-5/effects-at-most",
        "replay/crowd/item-5/effects-at-most",
        "replay/connections/item-5/one-resource:first+again",
        "replay/crowd/item-5/one-resource:first+crowd",
        "replay/connections/item-5/outcome-never:again",
    ],
    // Which instance is asked at the end of the run is chance, and of copies at once any may have been
    // carried out.
    may_break: &[
        "replay/crowd/item-5/outcome-never:crowd",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};

/// What `keeps-keys-per-connection` breaks: surely what goes over many connections, and all else as
/// its connections happen to be.
pub(super) const KEEPS_KEYS_PER_CONNECTION: Damage = Damage {
    // A key that is looked up at one process may name something else than a retry at the other.
    may_break: &joined::<{ broad::IGNORES_KEYS.len() + 3 }>(
        broad::IGNORES_KEYS,
        &[
            "failure/store-down/item-7/documented-retryable:later",
            "lookup/after-loss#key/item-9/one-resource:found+retry",
            "run/documents/item-7/documented-retryable:later",
        ],
    ),
    ..KEEPS_KEYS_PER_INSTANCE
};

/// What `looks-up-on-lagging-replica` breaks.
pub(super) const LOOKS_UP_ON_LAGGING_REPLICA: Damage = Damage {
    breaks: &[
        "race/replicas/item-5/effects-at-most",
        "race/replicas/item-5/one-resource:burst+lagging+later",
    ],
    // Whether a replay comes within the 300 ms.
    may_break: &[
        "replay/connections/item-5/effects-at-most",
        "replay/crowd/item-5/effects-at-most",
        "replay/connections/item-5/one-resource:first+again",
        "replay/crowd/item-5/one-resource:first+crowd",
        "replay/connections/item-5/outcome-never:again",
        "replay/crowd/item-5/outcome-never:crowd",
        "run/ledger/item-5/one-resource:ledger",
        "run/ledger/item-5/same-response:ledger",
    ],
};
