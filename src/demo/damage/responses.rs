//! The flaws of responses, scope, rights, batches and versions.

pub(super) const RECORDS_ONLY_WHOLE_BODIES: &[&str] = &[
    "replay/kinds#no-content/item-5/same-response:again+later",
    "replay/kinds#stream/item-5/same-response:again+later",
    "run/ledger/item-5/same-response:ledger",
];

pub(super) const FREES_ANOTHER_CLAIM: &[&str] = &[
    "failure/refused#declined/item-7/keeps:after-failure",
    "failure/refused#declined/item-7/recovered:corrected",
];

pub(super) const STORES_RATE_LIMITS: &[&str] = &[
    "failure/rate-limited/item-7/outcome-is:again",
    "failure/rate-limited/item-7/documented-retryable:again",
    "failure/rate-limited/item-7/keeps:after-failure",
];

pub(super) const KEEPS_ONE_BUCKET_FOR_GUESTS: &[&str] = &[
    "auth/anonymous/item-6/nothing-foreign:second",
    "auth/anonymous/item-6/outcome-never:second",
    "create-refund:auth/anonymous/item-6/nothing-foreign:second",
    "create-refund:auth/anonymous/item-6/outcome-never:second",
];

pub(super) const LEAVES_QUERY_OUT_OF_SCOPE: &[&str] = &["scope/query/item-3/exists:live"];

pub(super) const SCOPES_BY_ROUTE_TEMPLATE: &[&str] =
    &["change-payment:scope/path/item-4/outcome-never:second"];

pub(super) const JOINS_SCOPE_WITH_COLONS: &[&str] =
    &["scope/delimiter#colon/item-4/outcome-never:second"];

pub(super) const REPLAYS_AFTER_REVOCATION: &[&str] = &[
    "auth/revoked/item-6/nothing-foreign:again",
    "auth/revoked/item-6/outcome-is:again",
    "change-payment:auth/revoked/item-6/nothing-foreign:again",
    "change-payment:auth/revoked/item-6/outcome-is:again",
    "create-refund:auth/revoked/item-6/nothing-foreign:again",
    "create-refund:auth/revoked/item-6/outcome-is:again",
];

pub(super) const REPLAYS_SET_COOKIE: &[&str] = &[
    "auth/session/item-6/nothing-foreign:again",
    "change-payment:auth/session/item-6/nothing-foreign:again",
    "create-refund:auth/session/item-6/nothing-foreign:again",
];

pub(super) const REPLAYS_NO_CONTENT_AS_NULL: &[&str] = &[
    "replay/kinds#no-content/item-5/same-response:again+later",
    "run/ledger/item-5/same-response:ledger",
];

pub(super) const STORES_COMPRESSED_BYTES: &[&str] = &[
    "change-payment:replay/kinds#gzip-then-plain/item-5/same-response:again+later",
    "change-payment:replay/kinds#gzip/item-5/same-response:again+later",
    "create-refund:replay/kinds#gzip-then-plain/item-5/same-response:again+later",
    "create-refund:replay/kinds#gzip/item-5/same-response:again+later",
    "replay/kinds#gzip-then-plain/item-5/same-response:again+later",
    "replay/kinds#gzip/item-5/same-response:again+later",
];

pub(super) const STORES_BYTES_AS_TEXT: &[&str] = &[
    "replay/kinds#binary/item-5/same-response:again+later",
    "run/ledger/item-5/same-response:ledger",
];

pub(super) const STORES_NO_LONG_ANSWERS: &[&str] = &[
    "replay/kinds#large/item-5/effects-at-most",
    "replay/kinds#large/item-5/outcome-never:again+later",
    "replay/kinds#large/item-5/same-response:again+later",
    "run/ledger/item-5/one-resource:ledger",
    "run/ledger/item-5/outcome-never:ledger",
    "run/ledger/item-5/same-response:ledger",
];

pub(super) const CUTS_REPLAYS: &[&str] = &["replay/kinds#large/item-5/same-response:again+later"];

pub(super) const IGNORES_KEY_WHEN_ASYNC: &[&str] = &[
    "replay/kinds#accepted/item-5/effects-at-most",
    "replay/kinds#accepted/item-5/outcome-never:again+later",
    "replay/kinds#accepted/item-5/same-response:again+later",
    "run/ledger/item-5/one-resource:ledger",
    "run/ledger/item-5/outcome-never:ledger",
    "run/ledger/item-5/same-response:ledger",
];

pub(super) const REMAKES_WHAT_WAS_DELETED: &[&str] = &[
    "replay/after-delete/item-4/keeps:deleted",
    "replay/after-delete/item-4/outcome-never:again",
];

pub(super) const IGNORES_KEY_ON_BATCHES: &[&str] = &[
    "run/ledger/item-5/one-resource:ledger",
    "run/ledger/item-5/outcome-never:ledger",
    "run/ledger/item-5/same-response:ledger",
    "scope/batch/item-5/effects-at-most",
];

pub(super) const CRASHES_ON_EQUAL_ITEMS: &[&str] =
    &["scope/batch/item-5/outcome-never:first+again"];

pub(super) const RUNS_WITHOUT_ITS_STORE: &[&str] = &[
    "change-payment:failure/store-down/item-5/effects-at-most",
    "change-payment:failure/store-down/item-5/keeps:store-unavailable",
    "create-refund:failure/store-down/item-5/effects-at-most",
    "create-refund:failure/store-down/item-5/keeps:store-unavailable",
    "failure/store-down/item-5/effects-at-most",
    "failure/store-down/item-5/keeps:store-unavailable",
];

pub(super) const HASHES_MULTIPART_BOUNDARY: &[&str] =
    &["replay/noise#boundary/item-5/outcome-is:again"];

pub(super) const CHECKS_VERSION_BEFORE_WRITE: &[&str] =
    &["change-mandate:no-key/conditional/item-5/effects-at-most"];

pub(super) const APPENDS_ON_PUT: &[&str] = &[
    "put-mandate:no-key/methods/item-5/effects-at-most",
    "put-mandate:no-key/methods/item-5/state@after-all",
];

pub(super) const FAILS_SECOND_DELETE: &[&str] =
    &["delete-payment:no-key/methods/item-5/outcome-never:again+together"];
