//! The defects that can be planted in the demo, in one table: what each is called, what it does
//! wrong and who has reported it. Which expectations it breaks stands in `damage`; the defect itself
//! stands at the flawed place, as one condition on [`Flaw`].

use super::damage::damage;

macro_rules! flaws {
    ($($variant:ident {
        id: $id:literal, tier: $tier:ident, name: $name:literal, says: $says:literal,
        reports: $reports:expr $(,)?
    })+) => {
        /// One planted defect of the demo.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Flaw {
            $(#[doc = $says] $variant,)+
        }

        impl Flaw {
            /// Every flaw.
            pub const ALL: &[Flaw] = &[$(Flaw::$variant),+];

            const fn row(self) -> &'static Row {
                match self {
                    $(Flaw::$variant => &Row {
                        id: $id, tier: Tier::$tier, name: $name, says: $says, reports: $reports,
                    },)+
                }
            }
        }
    };
}

/// How surely a flaw has to be caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// In every run: it is common, and nothing excuses a miss.
    One,
    /// In every run, by a scenario that goes looking for it.
    Two,
    /// At a rate: its window is too small to be met each time.
    Three,
}

impl Tier {
    /// 1, 2 or 3.
    pub fn number(self) -> u8 {
        match self {
            Tier::One => 1,
            Tier::Two => 2,
            Tier::Three => 3,
        }
    }

    /// What is asked of a run with such a flaw planted.
    pub fn says(self) -> &'static str {
        match self {
            Tier::One => "caught in every run",
            Tier::Two => "caught in every run, by a scenario made for it",
            Tier::Three => "caught at a rate, since its window is too small to be met each time",
        }
    }
}

struct Row {
    id: &'static str,
    tier: Tier,
    name: &'static str,
    says: &'static str,
    reports: &'static [&'static str],
}

flaws! {
    IgnoresKeys {
        id: "M00", tier: One, name: "ignores-keys",
        says: "Does not look at the key at all: every request executes.",
        reports: &["IABTechLab/seller-agent#44", "akira-io/laravel-sisp#306"],
    }
    ChecksThenSets {
        id: "M01", tier: One, name: "checks-then-sets",
        says: "Checks the key and claims it 20 ms later, with nothing that makes it unique.",
        reports: &["KanishJebaMathewM/Truxify#4006", "zonelessdev/zoneless#134", "rafidahmed870/queue-jobs-worker#22"],
    }
    StoresNoFingerprint {
        id: "M32", tier: One, name: "stores-no-fingerprint",
        says: "Answers a changed payload under a used key with the first result.",
        reports: &["josipmusa/idempotency4j#12", "aws-powertools/powertools-lambda-typescript#2058", "msaad00/agent-bom#2969"],
    }
    ExecutesChangedPayload {
        id: "M36", tier: One, name: "executes-changed-payload",
        says: "Keeps results under key and payload together, so a changed payload executes under a used key.",
        reports: &["julik/idempo#21"],
    }
    SharesKeysBetweenTenants {
        id: "M43", tier: One, name: "shares-keys-between-tenants",
        says: "Keeps the keys of all tenants in one space, so one tenant gets the result of another.",
        reports: &["arun0009/idempotent#217", "josipmusa/idempotency4j#9", "nensii21/devlink#773"],
    }
    SharesKeysBetweenOperations {
        id: "M46", tier: One, name: "shares-keys-between-operations",
        says: "Leaves the path out of a key's scope, so another operation gets the first one's result.",
        reports: &["KanishJebaMathewM/Truxify#3539", "damianwajser/spring-commons#18"],
    }
    GuessesIntentFromPayload {
        id: "M81", tier: One, name: "guesses-intent-from-payload",
        says: "Answers an equal payload under a new key with the first result, for 300 s.",
        reports: &["apache/fineract#5674"],
    }
    LooksUpBeforeAuthentication {
        id: "M51", tier: One, name: "looks-up-before-authentication",
        says: "Answers a used key from the store before it knows who asks, so also without credentials.",
        reports: &["margince/margince#5315"],
    }
    StoresValidationFailures {
        id: "M29", tier: One, name: "stores-validation-failures",
        says: "Binds the key to a payload that failed validation, so the corrected one is refused for ever.",
        reports: &["KanishJebaMathewM/Truxify#2869"],
    }
    RunsAgainBehindStoredAnswer {
        id: "M88", tier: One, name: "runs-again-behind-stored-answer",
        says: "Answers a duplicate from the store, but executes the write again each time.",
        reports: &[],
    }
    DropsClaimOnHangUp {
        id: "M17", tier: One, name: "drops-claim-on-hang-up",
        says: "Forgets the key when the client hangs up, although the write still happens.",
        reports: &["fullstackhero/dotnet-starter-kit#1333", "ohdearquant/khive#2091", "mastodon/mastodon#21840"],
    }
    AcceptsMissingKey {
        id: "M89", tier: One, name: "accepts-missing-key",
        says: "Executes a request without a key, or with an empty one, unprotected.",
        reports: &["teesofttech/PayBridge#119", "accept-io/midas#14"],
    }
    TakesPayloadForKey {
        id: "M90", tier: One, name: "takes-payload-for-key",
        says: "Takes the payload of a request without a key for its key, for all tenants alike.",
        reports: &[],
    }
    NeverExpires {
        id: "M74", tier: Two, name: "never-expires",
        says: "Keeps keys without end: after the declared retention a key still replays.",
        reports: &["alphagov/pay-connector#4573"],
    }
    ReplaysWith500 {
        id: "M62", tier: One, name: "replays-with-500",
        says: "Answers a retry of a completed request with 500 instead of its result.",
        reports: &["mastodon/mastodon#40399"],
    }
    AnswersRaceLosersWith500 {
        id: "M63", tier: One, name: "answers-race-losers-with-500",
        says: "Answers a duplicate of a request in flight with 500.",
        reports: &["accept-io/midas#14", "idempot-dev/idempot-js#181", "alphagov/pay-connector#4460"],
    }
    AnswersMismatchWith500 {
        id: "M64", tier: Two, name: "answers-mismatch-with-500",
        says: "Refuses a changed payload under a used key with 500.",
        reports: &["formancehq/ledger#921", "LFDT-Paladin/paladin#1001"],
    }
    ExecutesRefusedChange {
        id: "M37", tier: One, name: "executes-refused-change",
        says: "Refuses a changed payload under a used key, but executes it all the same.",
        reports: &[],
    }
    StoresUnauthorized {
        id: "M30", tier: One, name: "stores-unauthorized",
        says: "Stores a 401 under the key, so that good credentials get it too.",
        reports: &["adcontextprotocol/adcp#4547"],
    }
    KeepsClaimOnError {
        id: "M21", tier: One, name: "keeps-claim-on-error",
        says: "Keeps the claim of a request that failed, so its retries get 409 for ever.",
        reports: &["VilledeMontreal/express-idempotency#32", "useautumn/autumn#1851", "KanishJebaMathewM/Truxify#4622"],
    }
    ForgetsKeyAfterEffect {
        id: "M26", tier: One, name: "forgets-key-after-effect",
        says: "Forgets the key of a request that fails after its effects, which stay.",
        reports: &[],
    }
    KeepsKeyOfRolledBackWrite {
        id: "M27", tier: One, name: "keeps-key-of-rolled-back-write",
        says: "Keeps the success of a write that was rolled back, and replays it.",
        reports: &[],
    }
    StoresServerErrors {
        id: "M28", tier: One, name: "stores-server-errors",
        says: "Stores a 500 and answers it to every retry, unmarked.",
        reports: &["LabsCrypt/remitlend#1329", "C-Address-Onboarding-Bridge/C-Address-Onboarding-Bridge-Backend#380"],
    }
    KeepsClaimOnHangUp {
        id: "M19", tier: One, name: "keeps-claim-on-hang-up",
        says: "Stops working when the client hangs up, and keeps the claim for ever.",
        reports: &["aws-powertools/powertools-lambda#53", "benhendayoussef/idempotency-spring-boot-starter#11"],
    }
    CancelsBetweenEffects {
        id: "M18", tier: One, name: "cancels-between-effects",
        says: "Stops between charge and receipt when the client hangs up, and forgets the key.",
        reports: &["fullstackhero/dotnet-starter-kit#1333"],
    }
    ClaimsAtHeaders {
        id: "M20", tier: Two, name: "claims-at-headers",
        says: "Claims the key before the body has arrived, so half a body consumes it.",
        reports: &[],
    }
    RecordsOnlyCompleted {
        id: "M05", tier: One, name: "records-only-completed",
        says: "Knows only completed requests, so a duplicate in flight executes.",
        reports: &["ikyriak/IdempotentAPI#20", "NousResearch/hermes-agent#13239", "tashfeenahmed/freellmapi#1110"],
    }
    RecordsAfterResponse {
        id: "M13", tier: One, name: "records-after-response",
        says: "Keeps the record 200 ms after the response, so a quick retry executes.",
        reports: &["KanishJebaMathewM/Truxify#11508", "mastodon/mastodon#21840"],
    }
    RecordsLate {
        id: "M14", tier: Two, name: "records-late",
        says: "Keeps the record 2 ms after the response, so an instant retry executes.",
        reports: &["KanishJebaMathewM/Truxify#11508"],
    }
    LeavesGapAfterEffect {
        id: "M15", tier: One, name: "leaves-gap-after-effect",
        says: "Keeps the record 300 ms after the effects, and not at all for a client that hangs up before.",
        reports: &["mastodon/mastodon#21840", "fullstackhero/dotnet-starter-kit#1333"],
    }
    WaiterRunsAgain {
        id: "M12", tier: Two, name: "waiter-runs-again",
        says: "Lets a duplicate wait for the first request, and then executes it without looking again.",
        reports: &["KanishJebaMathewM/Truxify#6898"],
    }
    LastWriterWins {
        id: "M06", tier: One, name: "last-writer-wins",
        says: "Claims the key 1 ms after the check, and lets the last of the racing requests replace the record.",
        reports: &["idempot-dev/idempot-js#182"],
    }
    FingerprintsTopLevelOnly {
        id: "M33", tier: One, name: "fingerprints-top-level-only",
        says: "Leaves nested fields out of the fingerprint, so a change there is replayed.",
        reports: &[],
    }
    FingerprintsFirst4Kib {
        id: "M34", tier: Two, name: "fingerprints-first-4-kib",
        says: "Fingerprints the first 4 KiB of the canonical payload, so a change behind them is replayed.",
        reports: &[],
    }
    FingerprintsThroughFloats {
        id: "M35", tier: Two, name: "fingerprints-through-floats",
        says: "Fingerprints numbers as floats, so integers above 2^53 are confused.",
        reports: &[],
    }
    SkipsFingerprintInFlight {
        id: "M38", tier: Two, name: "skips-fingerprint-in-flight",
        says: "Lets a changed payload wait for the request in flight, and answers it with that one's result.",
        reports: &["idempot-dev/idempot-js#183"],
    }
    PoisonsCacheOnMismatch {
        id: "M39", tier: Two, name: "poisons-cache-on-mismatch",
        says: "Refuses a changed payload once, and answers it with the first result from then on.",
        reports: &["aws-powertools/powertools-lambda-python#3821"],
    }
    FingerprintsRawBytesIntoKey {
        id: "M40", tier: One, name: "fingerprints-raw-bytes-into-key",
        says: "Keeps results under key and raw bytes, so the same JSON in another order executes again.",
        reports: &["aws-powertools/powertools-lambda-python#638", "Stellar-Mail/stealth#1606"],
    }
    FingerprintsServerSecond {
        id: "M42", tier: Two, name: "fingerprints-server-second",
        says: "Mixes the second of arrival into the fingerprint, so a later retry is refused.",
        reports: &[],
    }
    HashesUserAgent {
        id: "M41b", tier: Two, name: "hashes-user-agent",
        says: "Mixes the User-Agent into the fingerprint, so a retry by another one is refused.",
        reports: &[],
    }
    RefusesKeyOfOtherTenant {
        id: "M44", tier: One, name: "refuses-key-of-other-tenant",
        says: "Refuses a key that another tenant has used.",
        reports: &["RamaAditya49/titen#37"],
    }
    SharesKeysBetweenMethods {
        id: "M47", tier: One, name: "shares-keys-between-methods",
        says: "Leaves the method out of a key's scope, so a PATCH gets the result of a POST.",
        reports: &["fossasia/eventyay#602"],
    }
    FlattensStatusTo200 {
        id: "M54", tier: One, name: "flattens-status-to-200",
        says: "Replays every status as 200.",
        reports: &["fullstackhero/dotnet-starter-kit#1333"],
    }
    DropsLocation {
        id: "M55", tier: One, name: "drops-location",
        says: "Replays without Location.",
        reports: &["fullstackhero/dotnet-starter-kit#1333"],
    }
    ReplaysAsText {
        id: "M56", tier: Two, name: "replays-as-text",
        says: "Replays JSON as text/plain.",
        reports: &[],
    }
    IgnoresKeyOnRefunds {
        id: "M65", tier: One, name: "ignores-key-on-refunds",
        says: "Requires the key on refunds, but executes every one.",
        reports: &["akira-io/laravel-sisp#306", "IABTechLab/seller-agent#44"],
    }
    TruncatesKeysTo64 {
        id: "M67", tier: One, name: "truncates-keys-to-64",
        says: "Compares only the first 64 characters of a key.",
        reports: &["alphagov/pay-connector#4414"],
    }
    FoldsKeyCase {
        id: "M68", tier: One, name: "folds-key-case",
        says: "Takes keys that differ only in case for one.",
        reports: &["philfanzhou/StructaDoc#26"],
    }
    JoinsDoubledKeys {
        id: "M69", tier: Two, name: "joins-doubled-keys",
        says: "Joins a header that was sent twice to one key, so the retry with one header executes again.",
        reports: &["grimurrash/test-task2#73"],
    }
    LeavesEmptyKeyUnprotected {
        id: "M70", tier: One, name: "leaves-empty-key-unprotected",
        says: "Executes a request with an empty key unprotected.",
        reports: &["teesofttech/PayBridge#119"],
    }
    ForgetsEarly {
        id: "M71", tier: One, name: "forgets-early",
        says: "Forgets a key after a quarter of the declared retention.",
        reports: &["mads256h/stregsystemet-rs#54"],
    }
    CountsRetentionFromClaim {
        id: "M72", tier: Two, name: "counts-retention-from-claim",
        says: "Counts the retention from when a request came, not from when it was completed.",
        reports: &[],
    }
    KeepsClaimOnCrash {
        id: "M23", tier: One, name: "keeps-claim-on-crash",
        says: "Keeps the claim of a request that died with the process, so its retries get 409 for ever.",
        reports: &["benhendayoussef/idempotency-spring-boot-starter#11", "VilledeMontreal/express-idempotency#32"],
    }
    RecordsOutsideTransaction {
        id: "M24", tier: One, name: "records-outside-transaction",
        says: "Keeps the record after the write, not with it, so a crash between the two makes the retry write again.",
        reports: &[],
    }
    KeepsKeysPerInstance {
        id: "M76", tier: One, name: "keeps-keys-per-instance",
        says: "Keeps keys in the memory of each instance, so another instance executes again.",
        reports: &["adcontextprotocol/adcp#2346", "AnchorNet-Org/AnchorNet-Backend#221"],
    }
    KeepsKeysPerConnection {
        id: "M77", tier: Two, name: "keeps-keys-per-connection",
        says: "Sends each client port to one of two processes with a memory each, so a retry over another connection may execute again.",
        reports: &["adcontextprotocol/adcp#2346"],
    }
    LooksUpOnLaggingReplica {
        id: "M78", tier: Two, name: "looks-up-on-lagging-replica",
        says: "Looks keys up in a copy that is 300 ms behind, and writes without anything unique, on the second instance.",
        reports: &["lakekeeper/lakekeeper#1814"],
    }
    ForgetsKeysOnRestart {
        id: "M79", tier: One, name: "forgets-keys-on-restart",
        says: "Keeps records in memory, so after a restart a retry executes again.",
        reports: &["AnchorNet-Org/AnchorNet-Backend#221"],
    }
    ChecksThenSets1Ms {
        id: "M02", tier: One, name: "checks-then-sets-1ms",
        says: "Checks the key and claims it 1 ms later, with nothing that makes it unique.",
        reports: &["KanishJebaMathewM/Truxify#4006"],
    }
    ChecksThenSets100Us {
        id: "M03", tier: One, name: "checks-then-sets-100us",
        says: "Checks the key and claims it 100 us later, with nothing that makes it unique.",
        reports: &["rafidahmed870/queue-jobs-worker#22"],
    }
    RecordsOnlyWholeBodies {
        id: "M22", tier: One, name: "records-only-whole-bodies",
        says: "Completes no record for an answer that is empty or streamed, so its retries get 409 for ever.",
        reports: &["VilledeMontreal/express-idempotency#32", "KanishJebaMathewM/Truxify#4622", "mikesvoboda/nemotron-v3-home-security-intelligence#2958"],
    }
    FreesAnotherClaim {
        id: "M25", tier: Two, name: "frees-another-claim",
        says: "Frees a wrongly built key after a refusal by the business, so the claim stays for ever.",
        reports: &["akira-io/laravel-sisp#302"],
    }
    StoresRateLimits {
        id: "M31", tier: One, name: "stores-rate-limits",
        says: "Stores a 429 under the key and answers it to every retry.",
        reports: &["adcontextprotocol/adcp#4547"],
    }
    KeepsOneBucketForGuests {
        id: "M45", tier: Two, name: "keeps-one-bucket-for-guests",
        says: "Keeps the keys of all callers without credentials in one bucket, so one gets the result of another.",
        reports: &["KanishJebaMathewM/Truxify#2382"],
    }
    LeavesQueryOutOfScope {
        id: "M48", tier: One, name: "leaves-query-out-of-scope",
        says: "Leaves the query out of a key's scope, so a dry run answers for the real request.",
        reports: &["theam/facility#187", "pathosDev/actor-ts#609"],
    }
    ScopesByRouteTemplate {
        id: "M49", tier: Two, name: "scopes-by-route-template",
        says: "Scopes keys by the route's template, so a change of one payment answers for another's.",
        reports: &["RamaAditya49/titen#37", "damianwajser/spring-commons#18"],
    }
    JoinsScopeWithColons {
        id: "M50", tier: Two, name: "joins-scope-with-colons",
        says: "Joins path and key with a colon, so two pairs with the colon elsewhere are one.",
        reports: &["paveg/hono-idempotency#22"],
    }
    ReplaysAfterRevocation {
        id: "M52", tier: Two, name: "replays-after-revocation",
        says: "Replays to a caller whose grant has been taken away.",
        reports: &["margince/margince#5315"],
    }
    ReplaysSetCookie {
        id: "M53", tier: Two, name: "replays-set-cookie",
        says: "Replays the first caller's Set-Cookie, so another session gets the first one's.",
        reports: &["granit-fx/granit-dotnet#1151"],
    }
    ReplaysNoContentAsNull {
        id: "M57", tier: Two, name: "replays-no-content-as-null",
        says: "Replays a 204 as a 200 with the body null.",
        reports: &["pathosDev/actor-ts#1308"],
    }
    StoresCompressedBytes {
        id: "M58", tier: Two, name: "stores-compressed-bytes",
        says: "Stores the compressed body without its Content-Encoding, and replays it as if it were plain.",
        reports: &["uwaserver/uwas#49"],
    }
    StoresBytesAsText {
        id: "M59", tier: Two, name: "stores-bytes-as-text",
        says: "Stores bodies as UTF-8 text, so bytes that are no text are replaced.",
        reports: &[],
    }
    StoresNoLongAnswers {
        id: "M60", tier: One, name: "stores-no-long-answers",
        says: "Stores no answer of more than 256 KiB, so its retry executes again.",
        reports: &["gofiber/fiber#4287"],
    }
    CutsReplays {
        id: "M61", tier: Two, name: "cuts-replays",
        says: "Replays only the first 64 KiB of a body.",
        reports: &[],
    }
    IgnoresKeyWhenAsync {
        id: "M66", tier: Two, name: "ignores-key-when-async",
        says: "Executes every request that prefers an asynchronous answer, whatever its key.",
        reports: &["useautumn/autumn#1981"],
    }
    RemakesWhatWasDeleted {
        id: "M75", tier: Two, name: "remakes-what-was-deleted",
        says: "Forgets a key when what it made is deleted, so a late retry makes it again.",
        reports: &["alphagov/pay-connector#4573", "adcontextprotocol/adcp#7575"],
    }
    IgnoresKeyOnBatches {
        id: "M82", tier: Two, name: "ignores-key-on-batches",
        says: "Executes every batch, whatever its key.",
        reports: &["namuh-eng/opensend#176", "useautumn/autumn#1981"],
    }
    CrashesOnEqualItems {
        id: "M82b", tier: Two, name: "crashes-on-equal-items",
        says: "Answers a batch that has one item twice with 500.",
        reports: &["formancehq/stack#1633"],
    }
    RunsWithoutItsStore {
        id: "M91", tier: Two, name: "runs-without-its-store",
        says: "Executes unprotected while the records of keys cannot be reached.",
        reports: &[],
    }
    HashesMultipartBoundary {
        id: "M41", tier: Two, name: "hashes-multipart-boundary",
        says: "Mixes the boundary of a multipart body into the fingerprint, so a retry with a new one is refused.",
        reports: &[],
    }
    ChecksVersionBeforeWrite {
        id: "M92", tier: One, name: "checks-version-before-write",
        says: "Checks If-Match, and writes 20 ms later without looking again.",
        reports: &[],
    }
    AppendsOnPut {
        id: "M93", tier: One, name: "appends-on-put",
        says: "Adds another mandate with each PUT instead of putting one in place.",
        reports: &[],
    }
    FailsSecondDelete {
        id: "M94", tier: Two, name: "fails-second-delete",
        says: "Answers the deletion of what is gone with 500.",
        reports: &[],
    }
    GivesSlowRequestsUp {
        id: "M95", tier: One, name: "gives-slow-requests-up",
        says: "Answers 504 to a slow request that is carried out all the same, so only a retry tells what it did.",
        reports: &["mastodon/mastodon#21840"],
    }
    KeepsGivingUp {
        id: "M96", tier: Two, name: "keeps-giving-up",
        says: "Answers 504 to a slow request that is carried out all the same, and to each of its retries.",
        reports: &[],
    }
    CountsAgeFromArrival {
        id: "M97", tier: Two, name: "counts-age-from-arrival",
        says: "Takes a key whose date of the first sending lies too far back, as it counts from when the key came.",
        reports: &[],
    }
    IgnoresFirstSent {
        id: "M98", tier: Two, name: "ignores-first-sent",
        says: "Does not look at the date of the first sending, whether it is missing or no date.",
        reports: &[],
    }
    ChecksThenSets20Us {
        id: "M04", tier: Three, name: "checks-then-sets-20us",
        says: "Checks the key and claims it 20 us later, with nothing that makes it unique.",
        reports: &["rafidahmed870/queue-jobs-worker#22"],
    }
    ClaimsPerWorker {
        id: "M07", tier: Two, name: "claims-per-worker",
        says: "Keeps the claims of each of eight workers apart, so duplicates on two connections both execute.",
        reports: &["AnchorNet-Org/AnchorNet-Backend#221"],
    }
    LetsClaimRunOut {
        id: "M08", tier: One, name: "lets-claim-run-out",
        says: "Lets a claim run out after three times the usual work, though a slow request works for eight.",
        reports: &["KanishJebaMathewM/Truxify#5846", "langwatch/langwatch#6511", "zoolutions/pgbus#470"],
    }
    LetsClaimRunOutAtTimes {
        id: "M09", tier: Two, name: "lets-claim-run-out-at-times",
        says: "Lets a claim run out after the time that a slow request mostly needs, though some need a quarter more.",
        reports: &["granit-fx/granit-dotnet#1151"],
    }
    FreesClaimOfSuccessor {
        id: "M10", tier: Two, name: "frees-claim-of-successor",
        says: "Lets a claim run out, and frees it at the end of its request whoever has it by then.",
        reports: &["KanishJebaMathewM/Truxify#4623", "pathosDev/actor-ts#1082"],
    }
    OverwritesRecordOfSuccessor {
        id: "M11", tier: Two, name: "overwrites-record-of-successor",
        says: "Lets a claim run out, and a request that was overtaken replace its successor's record when it ends late.",
        reports: &["pathosDev/actor-ts#1082"],
    }
    FreesClaimBeforeRecord {
        id: "M16", tier: Three, name: "frees-claim-before-record",
        says: "Frees the claim 1 ms before the record is stored.",
        reports: &["KanishJebaMathewM/Truxify#11508"],
    }
    EvictsOldestKeys {
        id: "M73", tier: Two, name: "evicts-oldest-keys",
        says: "Keeps the records of the last 256 keys, so an older key executes again.",
        reports: &["mads256h/stregsystemet-rs#54"],
    }
    FillsPoolWithWaiters {
        id: "M80", tier: Two, name: "fills-pool-with-waiters",
        says: "Lets duplicates wait on the 16 workers of a pool, of which every request needs one to end.",
        reports: &["strands-agents/harness-sdk#2932", "apache/polaris#4269"],
    }
    AnswersConflictsAlike {
        id: "M85", tier: Two, name: "answers-conflicts-alike",
        says: "Answers a changed payload exactly as a duplicate in flight, and neither with Retry-After.",
        reports: &["KeeperHub/keeperhub#1922"],
    }
    ChecksThenDebits {
        id: "M86", tier: Two, name: "checks-then-debits",
        says: "Checks whether a coupon has uses left and debits it 1 ms later, whatever it has by then.",
        reports: &["spree/spree#13734", "medusajs/medusa#16347"],
    }
    OrdersStaleCarts {
        id: "M87", tier: Two, name: "orders-stale-carts",
        says: "Orders the cart that a session has seen, although another one has ordered it since.",
        reports: &["shopware/shopware#19943", "magento/magento2#13952"],
    }
    EmitsEventOnReplay {
        id: "M83", tier: One, name: "emits-event-on-replay",
        says: "Announces a payment again, under another event id, when its request is replayed.",
        reports: &["InditexTech/scs-outbox#94"],
    }
    MintsEventIdPerAttempt {
        id: "M84", tier: Two, name: "mints-event-id-per-attempt",
        says: "Gives an event another id each time that its delivery is tried.",
        reports: &[],
    }
    MarksEventBeforeDelivery {
        id: "E01", tier: Two, name: "marks-event-before-delivery",
        says: "Marks an event as delivered before it is, so that one refusal loses it.",
        reports: &[],
    }
    LooksUpForeignOperations {
        id: "L01", tier: One, name: "looks-up-foreign-operations",
        says: "Finds an operation by its key or id for whoever asks, whatever tenant it belongs to.",
        reports: &[],
    }
    IndexesKeysLate {
        id: "L02", tier: Two, name: "indexes-keys-late",
        says: "Finds an operation by its key only 30 s after it was done.",
        reports: &[],
    }
    LooksUpStaleState {
        id: "L03", tier: Two, name: "looks-up-stale-state",
        says: "Says of an operation that is looked up by its key that it is pending, long after it has succeeded.",
        reports: &[],
    }
    GivesEventsUpSoon {
        id: "E02", tier: Two, name: "gives-events-up-soon",
        says: "Gives an event up after three attempts, within a second.",
        reports: &[],
    }
    AnnouncesRolledBackWrites {
        id: "E03", tier: Two, name: "announces-rolled-back-writes",
        says: "Sends the event of a write that was rolled back.",
        reports: &[],
    }
    RetriesFromMemory {
        id: "E04", tier: Two, name: "retries-from-memory",
        says: "Keeps what is to be delivered again in the memory of the process.",
        reports: &[],
    }
    ChangesEventBody {
        id: "E05", tier: Two, name: "changes-event-body",
        says: "Tells in the body of an event how often it was tried, though one body is promised.",
        reports: &[],
    }
    SaltsEventSignature {
        id: "E06", tier: Two, name: "salts-event-signature",
        says: "Salts the signature of each attempt, though one signature for an event is promised.",
        reports: &[],
    }
    DeliversEventsOutOfOrder {
        id: "E07", tier: Two, name: "delivers-events-out-of-order",
        says: "Delivers every second event 1.5 s late, though they are promised in order.",
        reports: &[],
    }
    HandlesEveryDelivery {
        id: "N01", tier: One, name: "handles-every-delivery",
        says: "Handles a notice each time that it comes.",
        reports: &[],
    }
    ChecksNoticeThenHandles {
        id: "N02", tier: Two, name: "checks-notice-then-handles",
        says: "Looks whether a notice was handled and handles it 20 ms later, with nothing that makes it unique.",
        reports: &[],
    }
    MarksNoticeBeforeHandling {
        id: "N03", tier: Two, name: "marks-notice-before-handling",
        says: "Marks a notice as handled before it is, so that one failure loses it.",
        reports: &[],
    }
    LosesNoticesItTook {
        id: "N04", tier: Two, name: "loses-notices-it-took",
        says: "Answers 202 to a notice, handles it afterwards, and never again if that fails.",
        reports: &[],
    }
    FreesNoticeAfterEffect {
        id: "N05", tier: Two, name: "frees-notice-after-effect",
        says: "Takes the mark of a notice back when a later step fails, and leaves what it made.",
        reports: &[],
    }
    ForgetsNoticesSoon {
        id: "N06", tier: Two, name: "forgets-notices-soon",
        says: "Remembers a notice for 5 s only.",
        reports: &[],
    }
    AppliesOlderNotices {
        id: "N07", tier: Two, name: "applies-older-notices",
        says: "Lets an older notice that comes late undo a newer one.",
        reports: &[],
    }
    TakesUnsignedNotices {
        id: "N08", tier: Two, name: "takes-unsigned-notices",
        says: "Does not look at the signature of a notice.",
        reports: &[],
    }
    TakesOldSignatures {
        id: "N09", tier: Two, name: "takes-old-signatures",
        says: "Does not look at the time of a signature.",
        reports: &[],
    }
    CrashesOnBadSignature {
        id: "N10", tier: Two, name: "crashes-on-bad-signature",
        says: "Answers 500 to a notice whose signature is not good.",
        reports: &[],
    }
    HidesBadSignatures {
        id: "N11", tier: Two, name: "hides-bad-signatures",
        says: "Answers 200 to a notice whose signature is not good, and ignores it.",
        reports: &[],
    }
    HandlesNoticesWithoutId {
        id: "N12", tier: Two, name: "handles-notices-without-id",
        says: "Handles a notice without an id each time that it comes.",
        reports: &[],
    }
    DropsNoticesWithoutId {
        id: "N15", tier: Two, name: "drops-notices-without-id",
        says: "Answers 200 to a notice without an id, and ignores it.",
        reports: &[],
    }
    TakesAccountForNotice {
        id: "N13", tier: Two, name: "takes-account-for-notice",
        says: "Knows a notice by the account that it is about, so that the second one of an account is lost.",
        reports: &[],
    }
    KeepsNoticesInMemory {
        id: "N14", tier: Two, name: "keeps-notices-in-memory",
        says: "Keeps the ids of handled notices in the memory of the process.",
        reports: &[],
    }
    TrustsKnownSignatures {
        id: "N16", tier: Two, name: "trusts-known-signatures",
        says: "Takes a signature that was good before for good again, whatever id comes with it.",
        reports: &[],
    }
    CountsNoDuplicates {
        id: "D03", tier: Two, name: "counts-no-duplicates",
        says: "Counts neither its replays nor its conflicts.",
        reports: &[],
    }
    CountsTwice {
        id: "D04", tier: Two, name: "counts-twice",
        says: "Counts each replay and each conflict twice.",
        reports: &[],
    }
    DocumentsKeyElsewhere {
        id: "D01", tier: Two, name: "documents-key-elsewhere",
        says: "Documents another header for the key than the one that it reads.",
        reports: &[],
    }
    DocumentsNoConflict {
        id: "D05", tier: Two, name: "documents-no-conflict",
        says: "Leaves the answer to a duplicate in flight out of its documents.",
        reports: &[],
    }
    DocumentsRetryAfterNobodySends {
        id: "D02", tier: Two, name: "documents-retry-after-nobody-sends",
        says: "Documents a Retry-After for a refusal that never has one.",
        reports: &[],
    }
}

impl Flaw {
    /// The name, a verb phrase.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Finds a flaw by its name.
    pub fn from_name(name: &str) -> Option<Flaw> {
        Flaw::ALL.iter().copied().find(|flaw| flaw.name() == name)
    }

    /// What it does wrong, in one sentence.
    pub fn says(self) -> &'static str {
        self.row().says
    }

    /// Its number in the catalogue of faults.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// How surely it has to be caught.
    pub fn tier(self) -> Tier {
        self.row().tier
    }

    /// Public reports of this defect elsewhere, repository and thread: at most three, and none
    /// where none is known.
    pub fn reports(self) -> &'static [&'static str] {
        self.row().reports
    }

    /// The shipped contract under which it shows; `None` is the demo's own.
    pub fn contract(self) -> Option<&'static str> {
        match self {
            Flaw::CountsAgeFromArrival => Some("azure"),
            Flaw::IgnoresFirstSent => Some("oasis-repeatable-1.0"),
            _ => None,
        }
    }

    /// The expectations that fail in every run with it: `[operation:]scenario[#case]/item-N/id`,
    /// as reports name them. Without an operation it is `create-payment`; the case `*` is every
    /// case that applies. There is none where the tier asks for a rate only.
    pub fn breaks(self) -> &'static [&'static str] {
        damage(self).breaks
    }

    /// The expectations that fail in some runs with it and not in others, named likewise: small
    /// windows, and moments that the clock decides.
    pub fn may_break(self) -> &'static [&'static str] {
        damage(self).may_break
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_ids_are_unique_and_lead_back_to_their_flaw() {
        let names: HashSet<_> = Flaw::ALL.iter().map(|flaw| flaw.name()).collect();
        let ids: HashSet<_> = Flaw::ALL.iter().map(|flaw| flaw.id()).collect();
        assert_eq!(names.len(), Flaw::ALL.len());
        assert_eq!(ids.len(), Flaw::ALL.len());
        for flaw in Flaw::ALL {
            assert_eq!(Flaw::from_name(flaw.name()), Some(*flaw));
        }
        assert_eq!(Flaw::from_name("no-such-flaw"), None);
    }

    #[test]
    fn every_flaw_has_a_kebab_case_name_and_says_one_sentence() {
        for flaw in Flaw::ALL {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(flaw.name().chars().all(kebab), "{}", flaw.name());
            assert!(flaw.says().ends_with('.'), "{}", flaw.name());
            assert!(flaw.reports().len() <= 3, "{}", flaw.name());
        }
    }

    #[test]
    fn a_flaw_is_surely_caught_unless_its_tier_asks_for_a_rate() {
        for flaw in Flaw::ALL {
            let sure = !flaw.breaks().is_empty();
            assert_eq!(sure, flaw.tier() < Tier::Three, "{}", flaw.name());
            assert!(sure || !flaw.may_break().is_empty(), "{}", flaw.name());
        }
    }
}
