//! The flaws of responses, scope, rights, batches and versions.

use super::{Damage, surely};
use crate::demo::flaw::Flaw;

/// What such a flaw breaks; nothing for the others.
pub(super) fn damage(flaw: Flaw) -> Damage {
    surely(match flaw {
        Flaw::RecordsOnlyWholeBodies => &[
            "replay/kinds#no-content/item-5/same-response:again+later",
            "replay/kinds#stream/item-5/same-response:again+later",
            "run/ledger/item-5/same-response:ledger",
        ],
        Flaw::FreesAnotherClaim => &[
            "failure/refused#declined/item-7/keeps:after-failure",
            "failure/refused#declined/item-7/recovered:corrected",
        ],
        Flaw::StoresRateLimits => &[
            "failure/rate-limited/item-7/outcome-is:again",
            "failure/rate-limited/item-7/keeps:after-failure",
        ],
        Flaw::KeepsOneBucketForGuests => &[
            "auth/anonymous/item-6/nothing-foreign:second",
            "auth/anonymous/item-6/outcome-never:second",
            "create-refund:auth/anonymous/item-6/nothing-foreign:second",
            "create-refund:auth/anonymous/item-6/outcome-never:second",
        ],
        Flaw::LeavesQueryOutOfScope => &["scope/query/item-3/exists:live"],
        Flaw::ScopesByRouteTemplate => &["change-payment:scope/path/item-4/outcome-never:second"],
        Flaw::JoinsScopeWithColons => &["scope/delimiter#colon/item-4/outcome-never:second"],
        Flaw::ReplaysAfterRevocation => &[
            "auth/revoked/item-6/nothing-foreign:again",
            "auth/revoked/item-6/outcome-is:again",
            "change-payment:auth/revoked/item-6/nothing-foreign:again",
            "change-payment:auth/revoked/item-6/outcome-is:again",
            "create-refund:auth/revoked/item-6/nothing-foreign:again",
            "create-refund:auth/revoked/item-6/outcome-is:again",
        ],
        Flaw::ReplaysSetCookie => &[
            "auth/session/item-6/nothing-foreign:again",
            "change-payment:auth/session/item-6/nothing-foreign:again",
            "create-refund:auth/session/item-6/nothing-foreign:again",
        ],
        Flaw::ReplaysNoContentAsNull => &[
            "replay/kinds#no-content/item-5/same-response:again+later",
            "run/ledger/item-5/same-response:ledger",
        ],
        Flaw::StoresCompressedBytes => &[
            "change-payment:replay/kinds#gzip-then-plain/item-5/same-response:again+later",
            "change-payment:replay/kinds#gzip/item-5/same-response:again+later",
            "create-refund:replay/kinds#gzip-then-plain/item-5/same-response:again+later",
            "create-refund:replay/kinds#gzip/item-5/same-response:again+later",
            "replay/kinds#gzip-then-plain/item-5/same-response:again+later",
            "replay/kinds#gzip/item-5/same-response:again+later",
        ],
        Flaw::StoresBytesAsText => &[
            "replay/kinds#binary/item-5/same-response:again+later",
            "run/ledger/item-5/same-response:ledger",
        ],
        Flaw::StoresNoLongAnswers => &[
            "replay/kinds#large/item-5/effects-at-most",
            "replay/kinds#large/item-5/outcome-never:again+later",
            "replay/kinds#large/item-5/same-response:again+later",
            "run/ledger/item-5/one-resource:ledger",
            "run/ledger/item-5/outcome-never:ledger",
            "run/ledger/item-5/same-response:ledger",
        ],
        Flaw::CutsReplays => &["replay/kinds#large/item-5/same-response:again+later"],
        Flaw::IgnoresKeyWhenAsync => &[
            "replay/kinds#accepted/item-5/effects-at-most",
            "replay/kinds#accepted/item-5/outcome-never:again+later",
            "replay/kinds#accepted/item-5/same-response:again+later",
            "run/ledger/item-5/one-resource:ledger",
            "run/ledger/item-5/outcome-never:ledger",
            "run/ledger/item-5/same-response:ledger",
        ],
        Flaw::RemakesWhatWasDeleted => &[
            "replay/after-delete/item-4/keeps:deleted",
            "replay/after-delete/item-4/outcome-never:again",
        ],
        Flaw::IgnoresKeyOnBatches => &[
            "run/ledger/item-5/one-resource:ledger",
            "run/ledger/item-5/outcome-never:ledger",
            "run/ledger/item-5/same-response:ledger",
            "scope/batch/item-5/effects-at-most",
        ],
        Flaw::CrashesOnEqualItems => &["scope/batch/item-5/outcome-never:first+again"],
        Flaw::RunsWithoutItsStore => &[
            "change-payment:failure/store-down/item-5/effects-at-most",
            "change-payment:failure/store-down/item-5/keeps:store-unavailable",
            "create-refund:failure/store-down/item-5/effects-at-most",
            "create-refund:failure/store-down/item-5/keeps:store-unavailable",
            "failure/store-down/item-5/effects-at-most",
            "failure/store-down/item-5/keeps:store-unavailable",
        ],
        Flaw::HashesMultipartBoundary => &["replay/noise#boundary/item-5/outcome-is:again"],
        Flaw::ChecksVersionBeforeWrite => {
            &["change-mandate:no-key/conditional/item-5/effects-at-most"]
        }
        Flaw::AppendsOnPut => &[
            "put-mandate:no-key/methods/item-5/effects-at-most",
            "put-mandate:no-key/methods/item-5/state@after-all",
        ],
        Flaw::FailsSecondDelete => {
            &["delete-payment:no-key/methods/item-5/outcome-never:again+together"]
        }
        _ => &[],
    })
}
