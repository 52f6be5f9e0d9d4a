//! The table of the variants.

use std::time::Duration;

use super::{Events, Sight, Variant};
use crate::demo::policy::{
    Credentials, Deleted, Equality, Expired, Fate, Fates, Gives, InProgress, KeyKind, Marker,
    Mismatch, Precedence, Refusal, Routes, Said, Step, Wording,
};

/// The IETF draft, section by section the most cited text on keys.
const DRAFT: &str = "draft-ietf-httpapi-idempotency-key-header-07";

/// The scenarios about events that come again, on the operation that receives them.
const CONSUMER: &[&str] = &[
    "receive-notice:consumer/again",
    "receive-notice:consumer/duplicates",
    "receive-notice:consumer/failed-first",
    "receive-notice:consumer/renamed",
    "receive-notice:consumer/signed-id",
];

/// How long the demo keeps keys, promised by nobody.
const RETENTION: &str = "retention: { min: 24h, max: 24h, clock: completion, strength: may }";

/// What the rows are filled up with: the demo as it is by itself.
const PLAIN: Variant = Variant {
    id: "",
    name: "",
    says: "",
    sources: &[],
    contract: "",
    upsets: &[],
    known: "",
    unpromised: Sight::Nothing,
    settle: None,
    events: Events::AsPromised,
    http2: false,
    change: |_| {},
};

/// The scenarios with copies of one request at once.
const RACES: &[&str] = &["race/burst", "race/during", "race/edge"];

/// Every variant, by its number.
pub static VARIANTS: [Variant; 53] = [
    Variant {
        id: "V01",
        name: "refuses-losers",
        says: "Answers the losers of a race 409 with Retry-After, and replays the 201 later.",
        sources: &[DRAFT, "contract coinbase-cdp"],
        upsets: RACES,
        ..PLAIN
    },
    Variant {
        id: "V02",
        name: "lets-losers-wait",
        says: "Lets the losers of a race wait for the winner's answer, which all get.",
        sources: &["contract postgres-table"],
        contract: "on: { in-progress: { outcome: wait-then-replay } }",
        upsets: &["race/burst", "race/during", "race/edge", "lost/mid-work"],
        change: |demo| {
            demo.policy.in_progress = InProgress::Wait(Duration::from_secs(10), busy(409));
        },
        ..PLAIN
    },
    Variant {
        id: "V03",
        name: "locks-losers-out",
        says: "Answers the losers of a race 423.",
        sources: &["RFC 4918, section 11.3"],
        contract: "on: { in-progress: { outcome: reject, status: 423 } }",
        upsets: RACES,
        change: |demo| demo.policy.in_progress = InProgress::Refuse(busy(423)),
        ..PLAIN
    },
    Variant {
        id: "V03",
        name: "calls-losers-too-early",
        says: "Answers the losers of a race 425.",
        sources: &["RFC 8470, section 5.2"],
        contract: "on: { in-progress: { outcome: reject, status: 425 } }",
        upsets: RACES,
        change: |demo| demo.policy.in_progress = InProgress::Refuse(busy(425)),
        ..PLAIN
    },
    Variant {
        id: "V04",
        name: "accepts-losers",
        says: "Answers the losers of a race 202 with a link to where the result will be.",
        sources: &["RFC 9110, section 15.3.3"],
        contract: "on: { in-progress: { outcome: accepted, status: 202 } }",
        upsets: &["race/burst", "race/during", "race/edge", "run/ledger"],
        change: |demo| {
            let link = "</payments>; rel=\"status\"";
            demo.policy.in_progress = InProgress::Accept(Refusal {
                headers: vec![("Link".to_owned(), Said::Text(link.to_owned()))],
                ..busy(202)
            });
        },
        ..PLAIN
    },
    Variant {
        id: "V05",
        name: "replays-as-200",
        says: "Replays a 201 as 200, with the same id.",
        sources: &["contract paypal-orders-v2"],
        contract: "on: { replay: { outcome: replay-stored, status: 200 } }",
        upsets: &["replay/exact", "lost/response", "run/ledger"],
        unpromised: Sight::Observed("replay"),
        change: |demo| demo.policy.replay.status = Some(200),
        ..PLAIN
    },
    Variant {
        id: "V06",
        name: "marks-replays-in-a-header",
        says: "Adds a header to replays by which they can be told.",
        sources: &["contract stripe-v1"],
        upsets: &["replay/exact", "lost/response", "run/ledger"],
        ..PLAIN
    },
    Variant {
        id: "V06",
        name: "marks-replays-in-the-body",
        says: "Adds a member `replayed` to the body of replays.",
        sources: &["contract increase"],
        contract: "replay-marker: { json: $.replayed, value: true }",
        upsets: &["replay/exact", "lost/response", "run/ledger"],
        change: |demo| {
            demo.policy.marker = Marker::Member {
                path: vec![Step::Member("replayed".to_owned())],
                value: "true".to_owned(),
                first: None,
            };
        },
        ..PLAIN
    },
    Variant {
        id: "V07",
        name: "writes-replays-anew",
        says: "Writes the JSON of a replay in another order and notation, under new volatile headers.",
        sources: &["RFC 8259, section 4"],
        upsets: &[
            "replay/exact",
            "lost/response",
            "run/ledger",
            "auth/refused-first#none",
            "lookup/after-loss",
        ],
        change: |demo| {
            demo.policy.replay.wording = Wording::Anew;
            demo.manners.cookies = true;
        },
        ..PLAIN
    },
    Variant {
        id: "V08",
        name: "replays-the-current-state",
        says: "Answers a repeat with the resource as it is now.",
        sources: &["contract stripe-v2", "contract google-aip-155"],
        contract: "on: { replay: { outcome: replay-current } }",
        upsets: &["replay/exact", "lost/response", "expiry/kept"],
        change: |demo| demo.policy.replay.gives = Gives::Current,
        ..PLAIN
    },
    Variant {
        id: "V09",
        name: "replays-the-id-only",
        says: "Answers a repeat 200 with nothing but the id of the resource.",
        sources: &["contract gocardless"],
        contract: "on: { replay: { outcome: replay-stored, status: 200, body: same-resource } }",
        upsets: &[
            "replay/exact",
            "replay/kinds",
            "lost/response",
            "run/ledger",
        ],
        // An answer without a body, or of another kind, is another one where nobody said so.
        unpromised: Sight::Broken(&[
            "create-payment:replay/kinds#no-content/item-5/same-response:again+later",
            "create-payment:replay/kinds#binary/item-5/same-response:again+later",
        ]),
        change: |demo| demo.policy.replay.gives = Gives::Reference(200),
        ..PLAIN
    },
    Variant {
        id: "V09",
        name: "refers-to-the-resource",
        says: "Answers a repeat 303 with the resource's address.",
        sources: &["RFC 9110, section 15.4.4"],
        contract: "on: { replay: { outcome: conflict-ref, status: 303, header: { Location: ^/ } }, deleted: unspecified }",
        upsets: &["replay/exact", "lost/response", "run/ledger"],
        change: |demo| demo.policy.replay.gives = Gives::Reference(303),
        ..PLAIN
    },
    Variant {
        id: "V10",
        name: "loses-replays-of-deleted",
        says: "Answers a repeat 404 once what the key made is deleted.",
        sources: &["RFC 9110, section 15.5.5"],
        contract: "on: { deleted: { outcome: reject, status: 404 } }",
        upsets: &["replay/exact", "replay/after-delete"],
        change: |demo| demo.policy.replay.deleted = Deleted::Refuse(Refusal::of(404)),
        ..PLAIN
    },
    Variant {
        id: "V10",
        name: "calls-deleted-gone",
        says: "Answers a repeat 410 once what the key made is deleted.",
        sources: &["RFC 9110, section 15.5.11"],
        contract: "on: { deleted: { outcome: reject, status: 410 } }",
        upsets: &["replay/exact", "replay/after-delete"],
        change: |demo| demo.policy.replay.deleted = Deleted::Refuse(Refusal::of(410)),
        ..PLAIN
    },
    Variant {
        id: "V10",
        name: "calls-deleted-a-conflict",
        says: "Answers a repeat 409 once what the key made is deleted.",
        sources: &["RFC 9110, section 15.5.10"],
        contract: "on: { deleted: { outcome: reject, status: 409 } }",
        upsets: &["replay/exact", "replay/after-delete"],
        change: |demo| demo.policy.replay.deleted = Deleted::Refuse(Refusal::of(409)),
        ..PLAIN
    },
    Variant {
        id: "V11",
        name: "finds-nothing-to-delete-again",
        says: "Answers the second DELETE of a thing 404.",
        sources: &["RFC 9110, section 9.2.2"],
        upsets: &["delete-payment:no-key/methods"],
        ..PLAIN
    },
    Variant {
        id: "V11",
        name: "tells-a-new-put-from-a-repeated-one",
        says: "Answers the first PUT of a thing 201, and a repeated one 200.",
        sources: &["RFC 9110, section 9.3.4"],
        upsets: &["put-mandate:no-key/methods"],
        ..PLAIN
    },
    Variant {
        id: "V11",
        name: "answers-a-repeated-put-without-content",
        says: "Answers the first PUT of a thing 201, and a repeated one 204 and with no body.",
        sources: &["RFC 9110, section 9.3.4"],
        upsets: &["put-mandate:no-key/methods"],
        change: |demo| demo.manners.silent_puts = true,
        ..PLAIN
    },
    Variant {
        id: "V12",
        name: "keeps-server-errors",
        says: "Stores a 500 and gives it again, marked as a replay.",
        sources: &["contract stripe-v1", "contract zalando"],
        contract: "after: { server-5xx: { is: stored } }",
        upsets: &["failure/error", "failure/after-effect"],
        unpromised: Sight::Observed("after-failure"),
        change: |demo| demo.policy.after.server_error = Fate::Stored,
        ..PLAIN
    },
    Variant {
        id: "V13",
        name: "forgets-key-on-error",
        says: "Does not store a 500 that had no effect: the next attempt runs.",
        sources: &["contract stripe-v2", "contract checkout"],
        upsets: &["failure/error", "failure/after-effect"],
        ..PLAIN
    },
    Variant {
        id: "V13",
        name: "gives-up-beforehand",
        says: "Answers 504 to a slow request that it passes on to nobody: the next attempt runs.",
        sources: &["RFC 9110, section 15.6.5"],
        upsets: &["failure/hidden", "race/during", "replay/exact"],
        change: |demo| demo.manners.gives_up_beforehand = true,
        ..PLAIN
    },
    Variant {
        id: "V14",
        name: "keeps-refusals",
        says: "Stores a refused request under its key: a corrected one needs a new key.",
        sources: &["contract adyen"],
        contract: "after: { pre-execution-validation: { is: stored }, executed-4xx: { is: stored }, business-declined: { is: stored } }",
        upsets: &["failure/refused"],
        unpromised: Sight::Observed("after-failure"),
        change: |demo| {
            demo.policy.after = Fates {
                validation: Fate::Stored,
                declined: Fate::Stored,
                ..Fates::default()
            };
        },
        ..PLAIN
    },
    Variant {
        id: "V14",
        name: "forgets-refusals",
        says: "Does not store a refused request: its key is free for a corrected one.",
        sources: &["contract stripe-v1"],
        upsets: &["failure/refused"],
        unpromised: Sight::Observed("after-failure"),
        ..PLAIN
    },
    Variant {
        id: "V15",
        name: "calls-mismatch-bad-request",
        says: "Refuses a changed payload with 400.",
        sources: &["contract mollie"],
        contract: "on: { mismatch: { outcome: reject, status: 400 } }",
        upsets: &["payload/changed", "payload/in-flight"],
        change: |demo| demo.policy.mismatch = Mismatch::Refuse(Refusal::of(400)),
        ..PLAIN
    },
    Variant {
        id: "V15",
        name: "calls-mismatch-conflict",
        says: "Refuses a changed payload with 409, as it refuses a key in use.",
        sources: &["contract brandur"],
        contract: "on: { mismatch: { outcome: reject, status: 409 } }",
        upsets: &["payload/changed", "payload/in-flight"],
        change: |demo| demo.policy.mismatch = Mismatch::Refuse(Refusal::of(409)),
        ..PLAIN
    },
    Variant {
        id: "V15",
        name: "calls-mismatch-plainly",
        says: "Refuses a changed payload with 422, and with JSON that is no problem document.",
        sources: &["RFC 9457, section 1"],
        upsets: &["payload/changed", "payload/in-flight"],
        change: |demo| {
            demo.policy.mismatch = Mismatch::Refuse(Refusal {
                media_type: "application/json".to_owned(),
                ..Refusal::of(422)
            });
        },
        ..PLAIN
    },
    Variant {
        id: "V16",
        name: "lets-the-key-alone-count",
        says: "Answers a changed payload with the first result, and makes nothing of it.",
        sources: &["contract redis-middleware"],
        contract: "on: { mismatch: { outcome: replay-stored } }",
        upsets: &["payload/changed", "payload/in-flight", "auth/anonymous"],
        unpromised: Sight::Broken(&[
            "auth/anonymous/item-6/nothing-foreign:second",
            "auth/anonymous/item-6/outcome-never:second",
            "payload/changed#*/item-3/outcome-never:changed+insisting",
            "payload/in-flight/item-3/outcome-never:changed+changed-later",
        ]),
        change: |demo| demo.policy.mismatch = Mismatch::Replay,
        ..PLAIN
    },
    Variant {
        id: "V17",
        name: "compares-bytes",
        says: "Refuses the same JSON in other bytes, and makes nothing of it.",
        sources: &[DRAFT],
        contract: "fingerprint: { equality: { is: bytes } }",
        upsets: &["replay/reworded", "replay/noise"],
        change: |demo| demo.policy.equality = Equality::Bytes,
        ..PLAIN
    },
    Variant {
        id: "V18",
        name: "keeps-keys-per-operation",
        says: "Takes a key on another operation for another key.",
        sources: &["contract stripe-v2"],
        upsets: &["scope/other-operation"],
        ..PLAIN
    },
    Variant {
        id: "V18",
        name: "keeps-keys-for-all-operations",
        says: "Refuses a key that was used on another operation.",
        sources: &["contract mollie"],
        contract: "scope: { operation: { is: global-key } }",
        upsets: &["scope/other-operation"],
        change: |demo| demo.policy.routes = Routes::Together,
        ..PLAIN
    },
    Variant {
        id: "V19",
        name: "keeps-a-tombstone-of-long-answers",
        says: "Keeps of an answer above 64 KiB that there was one: a repeat is answered 413 and makes nothing.",
        sources: &["gofiber/fiber#4287"],
        contract: "on: { replay: { any-of: [ { outcome: replay-stored, status: same-as-first }, { outcome: reject, status: 413 } ] } }",
        upsets: &["replay/kinds", "replay/exact"],
        change: |demo| demo.policy.replay.tombstone = Some((64 * 1024, Refusal::of(413))),
        ..PLAIN
    },
    Variant {
        id: "V20",
        name: "reuses-expired-keys",
        says: "Takes a key for a new one once its retention is over.",
        sources: &["contract stripe-v1"],
        upsets: &["expiry/over", "expiry/kept"],
        known: RETENTION,
        unpromised: Sight::Observed("expired"),
        ..PLAIN
    },
    Variant {
        id: "V20",
        name: "refuses-expired-keys",
        says: "Refuses a key with 410 once its retention is over.",
        sources: &["contract azure"],
        contract: "on: { expired: { outcome: reject, status: 410 } }",
        upsets: &["expiry/over", "expiry/kept"],
        known: RETENTION,
        unpromised: Sight::Observed("expired"),
        change: |demo| demo.policy.expired = Expired::Refuse(Refusal::of(410)),
        ..PLAIN
    },
    Variant {
        id: "V21",
        name: "shows-effects-late",
        says: "Lists what was made 2 s later, and shows it by its id 500 ms later.",
        sources: &["Azure Cosmos DB, consistency levels"],
        upsets: &[
            "replay/exact#plain",
            "scope/fresh-key",
            "payload/changed#value",
            "failure/error#heals",
        ],
        settle: Some(Duration::from_millis(2500)),
        change: |demo| {
            demo.manners.lists_after = Duration::from_secs(2);
            demo.manners.shows_after = Duration::from_millis(500);
        },
        ..PLAIN
    },
    Variant {
        id: "V22",
        name: "completes-late",
        says: "Answers a repeat 409 until 300 ms after the end of the first request, then replays.",
        sources: &["KanishJebaMathewM/Truxify#11508"],
        upsets: &[
            "race/last-byte",
            "race/burst",
            "race/edge",
            "replay/exact",
            "lost/response",
        ],
        change: |demo| demo.policy.replay.from = Duration::from_millis(300),
        ..PLAIN
    },
    Variant {
        id: "V23",
        name: "compresses-as-each-attempt-asks",
        says: "Compresses an answer for the attempt that takes gzip, and replays it bare to one that does not.",
        sources: &["RFC 9110, section 12.5.3"],
        upsets: &[
            "replay/kinds#gzip",
            "replay/kinds#gzip-then-plain",
            "replay/noise",
        ],
        ..PLAIN
    },
    Variant {
        id: "V24",
        name: "delivers-events-twice",
        says: "Delivers an event that was taken once more, under the same id.",
        sources: &["Standard Webhooks 1.0, on idempotency"],
        upsets: &["webhook"],
        change: |demo| demo.manners.delivers_twice = true,
        ..PLAIN
    },
    Variant {
        id: "V24",
        name: "words-events-anew",
        says: "Tells the attempt in the body of an event and salts its signature; one of either is promised by nobody.",
        sources: &["Standard Webhooks 1.0, on signature schemes"],
        upsets: &["webhook"],
        events: Events::AsTheyCome,
        change: |demo| demo.manners.words_events_anew = true,
        ..PLAIN
    },
    Variant {
        id: "V24",
        name: "lets-events-overtake",
        says: "Delivers events side by side, in any order; an order is promised by nobody.",
        sources: &["Standard Webhooks 1.0, on ordering"],
        upsets: &["webhook"],
        events: Events::AsTheyCome,
        change: |demo| demo.manners.events_overtake = true,
        ..PLAIN
    },
    Variant {
        id: "V24",
        name: "refuses-known-notices",
        says: "Answers an event that comes again 409.",
        sources: &["Standard Webhooks 1.0, on idempotency"],
        upsets: CONSUMER,
        change: |demo| demo.manners.refuses_known_notices = true,
        ..PLAIN
    },
    Variant {
        id: "V24",
        name: "handles-notices-later",
        says: "Answers an event 202, handles it afterwards, and again where that fails.",
        sources: &["Standard Webhooks 1.0, on timeouts"],
        upsets: CONSUMER,
        change: |demo| demo.manners.handles_notices_later = true,
        ..PLAIN
    },
    Variant {
        id: "V25",
        name: "takes-a-coupon-twice",
        says: "Takes a coupon that was made for two uses from two of the callers that come at once.",
        sources: &["spree/spree#13734"],
        upsets: &["redeem-coupon:no-key/overdraw"],
        ..PLAIN
    },
    Variant {
        id: "V26",
        name: "limits-writes",
        says: "Answers 429 with Retry-After to more than 12 writes at once.",
        sources: &["RFC 6585, section 4"],
        upsets: RACES,
        change: |demo| demo.manners.most_writes = Some(12),
        ..PLAIN
    },
    Variant {
        id: "V26",
        name: "limits-connections",
        says: "Closes connections beyond 32 at once.",
        sources: &["RFC 9112, section 9.4"],
        upsets: &["race/burst", "race/during"],
        change: |demo| demo.manners.most_connections = Some(32),
        ..PLAIN
    },
    Variant {
        id: "V26",
        name: "says-goaway",
        says: "Ends an HTTP/2 connection with GOAWAY after the second request on it.",
        sources: &["RFC 9113, section 6.8"],
        upsets: &[
            "race/burst",
            "race/during",
            "race/edge",
            "replay/exact",
            "replay/connections",
            "lost/response",
            "lost/mid-work",
        ],
        http2: true,
        change: |demo| demo.manners.requests_per_connection = Some(2),
        ..PLAIN
    },
    Variant {
        id: "V27",
        name: "refuses-missing-keys",
        says: "Refuses a request without a key with 400.",
        sources: &[DRAFT],
        upsets: &[
            "key/missing",
            "auth/keyless",
            "key/odd#empty",
            "key/odd#blank",
        ],
        ..PLAIN
    },
    Variant {
        id: "V27",
        name: "refuses-short-keys",
        says: "Refuses a key of fewer than 10 characters with 400.",
        sources: &["contract brandur"],
        contract: "key: { min: 10 }",
        upsets: &["key/odd", "key/near"],
        change: |demo| demo.policy.key.min = 10,
        ..PLAIN
    },
    Variant {
        id: "V27",
        name: "wants-uuids-for-keys",
        says: "Refuses a key that is no UUID with 400.",
        sources: &["contract zalando"],
        contract: "key: { kind: uuid, min: 36, max: 36 }",
        upsets: &["key/odd", "key/near", "key/sent-twice", "replay/exact"],
        change: |demo| demo.policy.key.kind = KeyKind::Uuid(None),
        ..PLAIN
    },
    Variant {
        id: "V28",
        name: "sets-new-cookies",
        says: "Replays no cookie, but sets a new one with each answer.",
        sources: &["RFC 6265, section 3"],
        upsets: &[
            "replay/exact",
            "replay/noise",
            "lost/response",
            "run/ledger",
            "auth",
        ],
        change: |demo| demo.manners.cookies = true,
        ..PLAIN
    },
    Variant {
        id: "V29",
        name: "says-in-use-before-mismatch",
        says: "Says of a changed payload whose key is in use that it is in use.",
        sources: &[DRAFT],
        contract: "precedence: in-progress",
        upsets: &["payload/in-flight", "race/during"],
        change: |demo| demo.policy.precedence = Precedence::InProgress,
        ..PLAIN
    },
    Variant {
        id: "V29",
        name: "says-mismatch-before-in-use",
        says: "Says of a changed payload whose key is in use that it is another payload.",
        sources: &[DRAFT],
        contract: "precedence: mismatch",
        upsets: &["payload/in-flight", "race/during"],
        ..PLAIN
    },
    Variant {
        id: "V29",
        name: "validates-before-it-authenticates",
        says: "Refuses a bad body or key with 422 or 400 before it asks who calls.",
        sources: &["RFC 9110, section 15.5.2"],
        upsets: &["auth", "failure/refused", "key/missing"],
        change: |demo| demo.policy.credentials = Credentials::AfterValidation,
        ..PLAIN
    },
    Variant {
        id: "V30",
        name: "works-one-at-a-time",
        says: "Works on one write at a time, so that a burst is a queue of replays.",
        sources: &["SQLite, write-ahead logging"],
        upsets: &["race/burst", "race/during", "race/edge", "replay/exact"],
        change: |demo| demo.manners.one_at_a_time = true,
        ..PLAIN
    },
];

/// A refusal for now.
fn busy(status: u16) -> Refusal {
    Refusal {
        retry_after: true,
        ..Refusal::of(status)
    }
}
