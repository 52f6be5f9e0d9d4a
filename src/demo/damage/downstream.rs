//! What the flaws break that show behind the API: in its events.

/// What `emits-event-on-replay` breaks in every run.
pub(super) const EMITS_EVENT_ON_REPLAY: &[&str] =
    &["webhook/silent-replay/item-8/events-ids-at-most"];

/// What `mints-event-id-per-attempt` breaks in every run.
pub(super) const MINTS_EVENT_ID_PER_ATTEMPT: &[&str] =
    &["webhook/redelivery#*/item-8/events-stable-id"];

/// What `marks-event-before-delivery` breaks in every run.
pub(super) const MARKS_EVENT_BEFORE_DELIVERY: &[&str] =
    &["webhook/redelivery#*/item-8/events-taken-at-least"];
