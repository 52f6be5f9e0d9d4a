//! What the flaws break that are about receiving events.

/// What `handles-every-delivery` breaks in every run.
pub(super) const HANDLES_EVERY_DELIVERY: &[&str] = &[
    "receive-notice:consumer/again/item-8/effects-at-most@after-again",
    "receive-notice:consumer/again/item-8/effects-at-most@after-soon",
    "receive-notice:consumer/again/item-8/effects-at-most",
    "receive-notice:consumer/duplicates/item-8/effects-at-most",
    "receive-notice:consumer/failed-first#*/item-8/effects-at-most",
    "receive-notice:consumer/late/item-8/effects-at-most",
    "receive-notice:consumer/restart/item-8/effects-at-most",
    "receive-notice:consumer/spread/item-8/effects-at-most",
];

/// What `checks-notice-then-handles` breaks in every run.
pub(super) const CHECKS_NOTICE_THEN_HANDLES: &[&str] = &[
    "receive-notice:consumer/duplicates/item-8/effects-at-most",
    "receive-notice:consumer/spread/item-8/effects-at-most",
];

/// What `marks-notice-before-handling` breaks in every run.
pub(super) const MARKS_NOTICE_BEFORE_HANDLING: &[&str] =
    &["receive-notice:consumer/failed-first#*/item-8/effects-at-least"];

/// What `loses-notices-it-took` breaks in every run.
pub(super) const LOSES_NOTICES_IT_TOOK: &[&str] = &[
    "receive-notice:consumer/failed-first#*/item-8/effects-at-least@by-itself",
    "receive-notice:consumer/failed-first#*/item-8/effects-at-least",
];

/// What `frees-notice-after-effect` breaks in every run.
pub(super) const FREES_NOTICE_AFTER_EFFECT: &[&str] =
    &["receive-notice:consumer/failed-first#after-the-effect/item-8/effects-at-most"];

/// What `forgets-notices-soon` breaks in every run.
pub(super) const FORGETS_NOTICES_SOON: &[&str] = &[
    "receive-notice:consumer/again/item-8/effects-at-most",
    "receive-notice:consumer/late/item-8/effects-at-most",
];

/// What `applies-older-notices` breaks in every run.
pub(super) const APPLIES_OLDER_NOTICES: &[&str] =
    &["receive-notice:consumer/order/item-8/state@after-older"];

/// What `takes-unsigned-notices` breaks in every run.
pub(super) const TAKES_UNSIGNED_NOTICES: &[&str] = &[
    "receive-notice:consumer/forged#*/item-8/effects-at-most@after-forged",
    "receive-notice:consumer/forged#*/item-8/is-not-taken",
];

/// What `takes-old-signatures` breaks in every run.
pub(super) const TAKES_OLD_SIGNATURES: &[&str] = &[
    "receive-notice:consumer/forged#old/item-8/effects-at-most@after-forged",
    "receive-notice:consumer/forged#old/item-8/is-not-taken",
];

/// What `crashes-on-bad-signature` breaks in every run.
pub(super) const CRASHES_ON_BAD_SIGNATURE: &[&str] =
    &["receive-notice:consumer/forged#*/item-8/outcome-never:forged"];

/// What `hides-bad-signatures` breaks in every run.
pub(super) const HIDES_BAD_SIGNATURES: &[&str] =
    &["receive-notice:consumer/forged#*/item-8/is-not-taken"];

/// What `handles-notices-without-id` breaks in every run.
pub(super) const HANDLES_NOTICES_WITHOUT_ID: &[&str] =
    &["receive-notice:consumer/nameless/item-8/effects-at-most"];

/// What `drops-notices-without-id` breaks in every run.
pub(super) const DROPS_NOTICES_WITHOUT_ID: &[&str] =
    &["receive-notice:consumer/dropped/item-8/exists:nameless"];

/// What `takes-account-for-notice` breaks in every run.
pub(super) const TAKES_ACCOUNT_FOR_NOTICE: &[&str] =
    &["receive-notice:consumer/distinct/item-8/state@after-second"];

/// What `keeps-notices-in-memory` breaks in every run.
pub(super) const KEEPS_NOTICES_IN_MEMORY: &[&str] =
    &["receive-notice:consumer/restart/item-8/effects-at-most"];

/// What `trusts-known-signatures` breaks in every run; where the id may be unsigned this is only noted.
pub(super) const TRUSTS_KNOWN_SIGNATURES: &[&str] = &[
    "receive-notice:consumer/renamed/item-8/effects-at-most",
    "receive-notice:consumer/signed-id/item-8/effects-at-most",
    "receive-notice:consumer/signed-id/item-8/outcome-never:renamed",
];
