//! What the flaws break that show behind the API: in its events, look-ups and documents.

/// What `emits-event-on-replay` breaks in every run.
pub(super) const EMITS_EVENT_ON_REPLAY: &[&str] =
    &["webhook/silent-replay/item-8/events-ids-at-most"];

/// What `mints-event-id-per-attempt` breaks in every run.
pub(super) const MINTS_EVENT_ID_PER_ATTEMPT: &[&str] = &[
    "webhook/redelivery#*/item-8/events-stable-id",
    "webhook/killed#*/item-8/events-stable-id",
    "webhook/outage/item-8/events-stable-id",
];

/// What `marks-event-before-delivery` breaks in every run.
pub(super) const MARKS_EVENT_BEFORE_DELIVERY: &[&str] = &[
    "webhook/redelivery#*/item-8/events-taken-at-least",
    "webhook/killed#*/item-8/events-taken-at-least",
    "webhook/outage/item-8/events-taken-at-least",
];

/// What `looks-up-foreign-operations` breaks in every run.
pub(super) const LOOKS_UP_FOREIGN_OPERATIONS: &[&str] = &[
    "lookup/strangers#key/item-6/nothing-foreign:foreign",
    "lookup/strangers#key/item-6/outcome-is:foreign",
    "lookup/strangers#identity/item-6/outcome-is:foreign",
];

/// What `indexes-keys-late` breaks in every run.
pub(super) const INDEXES_KEYS_LATE: &[&str] = &[
    "lookup/after-loss#key/item-9/keeps:lookup",
    "lookup/after-loss#key/item-9/outcome-is:found",
];

/// What `looks-up-stale-state` breaks in every run.
pub(super) const LOOKS_UP_STALE_STATE: &[&str] =
    &["lookup/after-loss#key/item-9/agrees:found+retry"];

/// What `documents-key-elsewhere` breaks in every run.
pub(super) const DOCUMENTS_KEY_ELSEWHERE: &[&str] = &["run/documents/item-4/documented-key"];

/// What `documents-retry-after-nobody-sends` breaks in every run.
pub(super) const DOCUMENTS_RETRY_AFTER_NOBODY_SENDS: &[&str] =
    &["run/refusals/item-7/documented-retry-after:changed"];

/// What `gives-events-up-soon` breaks in every run.
pub(super) const GIVES_EVENTS_UP_SOON: &[&str] = &["webhook/outage/item-8/events-taken-at-least"];

/// What `announces-rolled-back-writes` breaks in every run.
pub(super) const ANNOUNCES_ROLLED_BACK_WRITES: &[&str] =
    &["webhook/rolled-back/item-8/events-deliveries-at-most"];

/// What `retries-from-memory` breaks in every run.
pub(super) const RETRIES_FROM_MEMORY: &[&str] = &["webhook/killed#*/item-8/events-taken-at-least"];

/// What `counts-no-duplicates` and `counts-twice` break in every run.
pub(super) const COUNTS_WRONG: &[&str] = &[
    "run/signals/item-7/counted:replays",
    "run/signals/item-7/counted:mismatches",
    "run/signals/item-7/counted:in-progress",
    "run/expired-keys/item-7/counted:expired",
    "run/timeouts/item-7/counted:timed-out",
];

/// What `changes-event-body` breaks in every run: the signature is over the body.
pub(super) const CHANGES_EVENT_BODY: &[&str] = &[
    "webhook/same-body/item-8/events-stable-body",
    "webhook/same-signature/item-8/events-stable-signature",
];

/// What `salts-event-signature` breaks in every run.
pub(super) const SALTS_EVENT_SIGNATURE: &[&str] =
    &["webhook/same-signature/item-8/events-stable-signature"];

/// What `delivers-events-out-of-order` breaks in every run.
pub(super) const DELIVERS_EVENTS_OUT_OF_ORDER: &[&str] = &["webhook/order/item-8/events-ordered"];

/// What `documents-no-conflict` breaks in every run, below the level of a failure.
pub(super) const DOCUMENTS_NO_CONFLICT: &[&str] = &[
    "run/documents/item-7/documented-retry-after:during",
    "run/documents/item-7/documented-status:during",
];
