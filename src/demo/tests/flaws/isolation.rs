//! Each flaw breaks what it says, and leaves everything else right.

use futures::future::join_all;

use super::super::*;

/// What a check found: whether the promise was kept; `None` where a busy machine was too late to try it.
type Found = Vec<(&'static str, Option<bool>)>;

/// How often a flaw is tried again, alone, of which something was not seen. Several windows are but a
/// few milliseconds wide.
const TRIES: usize = 10;

/// Must a promise break under a flaw, and which others may, as races and side effects of it?
struct Damage {
    surely: &'static [&'static str],
    perhaps: &'static [&'static str],
}

fn damage(flaw: Flaw) -> Damage {
    let (surely, perhaps): (&[_], &[_]) = match flaw {
        Flaw::IgnoresKeys => (&["replay", "burst"], EVERYTHING),
        Flaw::ChecksThenSets => (&["burst"], &["hang-up"]),
        Flaw::ChecksThenSets1Ms
        | Flaw::ChecksThenSets100Us
        | Flaw::ChecksThenSets20Us
        | Flaw::LastWriterWins => (&[], &["burst", "hang-up"]),
        Flaw::ClaimsPerWorker
        | Flaw::LetsClaimRunOut
        | Flaw::LetsClaimRunOutAtTimes
        | Flaw::FreesClaimOfSuccessor
        | Flaw::OverwritesRecordOfSuccessor => {
            (&[], &["burst", "in-flight", "in-flight-changed", "hang-up"])
        }
        Flaw::FreesClaimBeforeRecord => (&[], &["burst", "hang-up", "lost-after-effect"]),
        Flaw::FillsPoolWithWaiters => (&["in-flight"], &[]),
        Flaw::AnswersConflictsAlike => (&["changed", "parts", "in-flight-changed"], &[]),
        Flaw::StoresNoFingerprint => (&["changed", "parts", "in-flight-changed"], &[]),
        Flaw::ExecutesChangedPayload => (&["changed", "parts", "in-flight-changed"], &[]),
        Flaw::SharesKeysBetweenTenants => (&["tenants"], &[]),
        Flaw::SharesKeysBetweenOperations => (&["operations"], &[]),
        Flaw::GuessesIntentFromPayload => (&["new-key", "case", "long-keys"], &[]),
        Flaw::LooksUpBeforeAuthentication => (&["no-credentials"], &[]),
        Flaw::StoresValidationFailures => (&["invalid-first"], &[]),
        Flaw::RunsAgainBehindStoredAnswer => (
            &[
                "replay",
                "reworded",
                "user-agent",
                "refund-replay",
                "lost-after-effect",
                "later",
            ],
            &["burst", "hang-up"],
        ),
        Flaw::KeepsKeysPerConnection => (&[], EVERYTHING),
        Flaw::DropsClaimOnHangUp => (&["hang-up"], &[]),
        Flaw::AcceptsMissingKey => (&["missing-key", "empty-key"], &[]),
        Flaw::TakesPayloadForKey => (&["missing-key"], &[]),
        Flaw::NeverExpires => (&["expiry"], &[]),
        Flaw::ReplaysWith500 => (
            &["replay", "reworded", "user-agent", "refund-replay", "later"],
            &["burst", "hang-up", "lost-after-effect"],
        ),
        Flaw::AnswersRaceLosersWith500 => (&["in-flight"], &["burst", "hang-up"]),
        Flaw::AnswersMismatchWith500 => (&["changed", "parts", "in-flight-changed"], &[]),
        Flaw::ExecutesRefusedChange => (&["changed"], &[]),
        Flaw::StoresUnauthorized => (&["refused-first"], &[]),
        Flaw::KeepsClaimOnError => (&["fails-before", "fails-after"], &[]),
        Flaw::ForgetsKeyAfterEffect => (&["fails-after"], &[]),
        Flaw::KeepsKeyOfRolledBackWrite => (&["fails-after"], &[]),
        Flaw::StoresServerErrors => (&["fails-before", "fails-after"], &[]),
        Flaw::KeepsClaimOnHangUp => (&["hang-up"], &[]),
        Flaw::CancelsBetweenEffects => (&["lost-after-effect"], &[]),
        Flaw::ClaimsAtHeaders => (&["half-body"], &[]),
        Flaw::RecordsOnlyCompleted => (&["burst", "in-flight", "in-flight-changed"], &["hang-up"]),
        Flaw::RecordsAfterResponse => (
            &["replay"],
            &[
                "changed",
                "reworded",
                "user-agent",
                "refund-replay",
                "parts",
                "burst",
                "hang-up",
                "lost-after-effect",
                "later",
            ],
        ),
        Flaw::RecordsLate => (
            &[],
            &[
                "replay",
                "changed",
                "reworded",
                "user-agent",
                "refund-replay",
                "parts",
                "burst",
                "hang-up",
                "lost-after-effect",
                "later",
            ],
        ),
        Flaw::LeavesGapAfterEffect => (&["hang-up"], &["lost-after-effect"]),
        Flaw::WaiterRunsAgain => (&["burst", "in-flight"], &["hang-up"]),
        Flaw::SkipsFingerprintInFlight => (&["in-flight-changed"], &[]),
        Flaw::FingerprintsTopLevelOnly
        | Flaw::FingerprintsFirst4Kib
        | Flaw::FingerprintsThroughFloats => (&["parts"], &[]),
        Flaw::PoisonsCacheOnMismatch => (&["changed"], &[]),
        Flaw::FingerprintsRawBytesIntoKey => (&["reworded"], &[]),
        Flaw::FingerprintsServerSecond => (
            &["later"],
            &[
                "replay",
                "reworded",
                "user-agent",
                "refund-replay",
                "burst",
                "hang-up",
                "lost-after-effect",
                "in-flight",
            ],
        ),
        Flaw::HashesUserAgent => (&["user-agent"], &[]),
        Flaw::RefusesKeyOfOtherTenant => (&["tenants"], &[]),
        Flaw::SharesKeysBetweenMethods => (&["methods"], &[]),
        Flaw::FlattensStatusTo200 | Flaw::DropsLocation | Flaw::ReplaysAsText => {
            (&["replay", "refund-replay"], &[])
        }
        Flaw::IgnoresKeyOnRefunds => (&["refund-replay"], &[]),
        Flaw::TruncatesKeysTo64 => (&["long-keys"], &[]),
        Flaw::FoldsKeyCase => (&["case"], &[]),
        Flaw::JoinsDoubledKeys => (&["doubled-key"], &[]),
        Flaw::LeavesEmptyKeyUnprotected => (&["empty-key"], &[]),
        Flaw::ForgetsEarly => (&["later"], &[]),
        // `responses` and others tell what these break, and none of it is tried here.
        _ => (&[], &[]),
    };
    Damage { surely, perhaps }
}

const EVERYTHING: &[&str] = &[
    "replay",
    "changed",
    "reworded",
    "user-agent",
    "tenants",
    "operations",
    "methods",
    "new-key",
    "no-credentials",
    "refused-first",
    "invalid-first",
    "in-flight",
    "in-flight-changed",
    "burst",
    "hang-up",
    "lost-after-effect",
    "half-body",
    "fails-before",
    "fails-after",
    "missing-key",
    "empty-key",
    "doubled-key",
    "case",
    "long-keys",
    "parts",
    "refund-replay",
    "later",
    "expiry",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_flaw_breaks_what_it_says_and_nothing_else() {
    let found = check(None).await;
    assert_eq!(found.len(), EVERYTHING.len());
    let broken: Vec<_> = found
        .iter()
        .filter(|(_, kept)| *kept == Some(false))
        .collect();
    assert!(broken.is_empty(), "without a flaw: {broken:?}");

    // A few at a time, so that a burst still is one.
    let mut wrong = Vec::new();
    for flaws in Flaw::ALL.chunks(10) {
        let found = join_all(flaws.iter().map(|flaw| check(Some(*flaw)))).await;
        for (flaw, found) in flaws.iter().zip(found) {
            let Damage { surely, perhaps } = damage(*flaw);
            let mut found = found;
            let mut unseen: Vec<&str> = surely.to_vec();
            for tries in 0.. {
                for (promise, kept) in found {
                    let told = surely.contains(&promise) || perhaps.contains(&promise);
                    if kept == Some(false) && !told {
                        wrong.push(format!("{} breaks {promise}", flaw.name()));
                    }
                    unseen.retain(|one| kept != Some(false) || *one != promise);
                }
                if unseen.is_empty() || tries == TRIES {
                    break;
                }
                found = check(Some(*flaw)).await;
            }
            for promise in unseen {
                wrong.push(format!("{} does not break {promise}", flaw.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn check(flaw: Option<Flaw>) -> Found {
    let subject = Subject::slow(flaw, 15).await;
    let mut found = Vec::new();
    found.extend(tried(replays(&subject).await));
    found.extend(tried(scopes(&subject).await));
    found.extend(tried(refusals(&subject).await));
    found.extend(overlaps(&subject).await);
    found.extend(losses(&subject).await);
    found.extend(tried(keys(&subject).await));
    found.extend(tried(retention(&subject).await));
    found
}

/// What no load can hinder.
fn tried(found: Vec<(&'static str, bool)>) -> Found {
    found
        .into_iter()
        .map(|(promise, kept)| (promise, Some(kept)))
        .collect()
}

async fn replays(subject: &Subject) -> Vec<(&'static str, bool)> {
    let send = Send::payment("replay", "replay");
    let first = subject.send(&send).await;
    let again = subject.send(&send).await;
    let same = is_same(&first, &again) && subject.payments("replay").await == 1;

    let send = Send::payment("changed", "changed");
    subject.send(&send).await;
    let mut changed = true;
    for _ in 0..2 {
        let refused = subject.send(&Send::payment("changed", "other")).await;
        changed &= refused.status == 422 && subject.payments("other").await == 0;
    }

    let reworded = r#"{"reference":"reworded","currency":"EUR","amount":2000.0}"#;
    let send = Send::payment("reworded", "reworded");
    subject.send(&send).await;
    let reworded = subject.send(&send.raw(reworded)).await.is_replay()
        && subject.payments("reworded").await == 1;

    let send = Send::payment("agent", "agent").set("user-agent", "one");
    subject.send(&send).await;
    let agent = subject
        .send(&send.set("user-agent", "two"))
        .await
        .is_replay()
        && subject.payments("agent").await == 1;

    let send = Send::refund("refund", "refund");
    let first = subject.send(&send).await;
    let again = subject.send(&send).await;
    let refund = is_same(&first, &again) && subject.count("/refunds?reference=refund").await == 1;

    let long = "x".repeat(5000);
    let plain = json!({"amount": i64::MAX, "reference": "parts", "memo": long, "card": {"a": 1}});
    subject
        .send(&Send::payment("parts", "parts").json(&plain))
        .await;
    let mut parts = true;
    for (name, value) in [
        ("amount", json!(i64::MAX - 1)),
        ("memo", json!(format!("{long}y"))),
        ("card", json!({"a": 2})),
    ] {
        let mut body = plain.clone();
        body[name] = value;
        let refused = subject
            .send(&Send::payment("parts", "parts").json(&body))
            .await;
        parts &= refused.status == 422;
    }
    vec![
        ("replay", same),
        ("changed", changed),
        ("reworded", reworded),
        ("user-agent", agent),
        ("refund-replay", refund),
        ("parts", parts),
    ]
}

async fn scopes(subject: &Subject) -> Vec<(&'static str, bool)> {
    let send = Send::payment("scope", "scope");
    let first = subject.send(&send).await;
    let is_own = |reply: &Reply| reply.status == 201 && !reply.is_replay();
    let tenant = subject.send(&send.clone().token("tenant-b")).await;
    let refund = subject.send(&Send::refund("scope", "scope")).await;
    let change = Send::new(Method::PATCH, &format!("/payments/{}", first.id()))
        .set("idempotency-key", "scope")
        .json(&json!({"memo": "new"}));
    let changed = subject.send(&change).await;
    let new_key = subject
        .send(&send.clone().set("idempotency-key", "scope-2"))
        .await;
    let stranger = subject.send(&send.without("authorization")).await;
    vec![
        ("tenants", is_own(&tenant)),
        ("operations", is_own(&refund)),
        ("methods", changed.status == 200 && !changed.is_replay()),
        ("new-key", is_own(&new_key)),
        ("no-credentials", stranger.status == 401),
    ]
}

async fn refusals(subject: &Subject) -> Vec<(&'static str, bool)> {
    let send = Send::payment("refused", "refused");
    subject.send(&send.clone().without("authorization")).await;
    let refused = subject.send(&send).await.status == 201;
    let send = Send::payment("invalid", "invalid");
    let invalid = json!({"amount": 0, "reference": "invalid"});
    subject.send(&send.clone().json(&invalid)).await;
    let invalid = subject.send(&send).await.status == 201;
    let mut found = vec![("refused-first", refused), ("invalid-first", invalid)];
    for (promise, behaviour) in [
        ("fails-before", "fail-once"),
        ("fails-after", "fail-after-once"),
    ] {
        let send = Send::payment(behaviour, behaviour).behaviour(behaviour);
        subject.send(&send).await;
        let again = subject.send(&send).await;
        let kept =
            again.status == 201 && !again.is_replay() && subject.payments(behaviour).await == 1;
        found.push((promise, kept));
    }
    found
}

async fn overlaps(subject: &Subject) -> Found {
    let mut found = vec![("in-flight", None), ("in-flight-changed", None)];
    // With this one a duplicate is given a replay, after it has waited.
    let waits = subject.api().flaws.has(Flaw::FillsPoolWithWaiters);
    for attempt in 0..5 {
        let key = format!("flight-{attempt}");
        let send = Send::payment(&key, "flight").slow();
        let before = subject.api().in_flight.count();
        let (_, (seen, duplicate, changed)) = tokio::join!(subject.send(&send), async {
            let seen = in_flight(subject, before).await;
            let changed = Send::payment(&key, "flight-changed");
            let (duplicate, changed) = tokio::join!(subject.send(&send), subject.send(&changed));
            (seen, duplicate, changed)
        });
        // A replay came too late: the first request was done before its duplicate was let in.
        if seen && (waits || !duplicate.is_replay()) {
            found = vec![
                ("in-flight", Some(duplicate.status == 409)),
                ("in-flight-changed", Some(changed.status == 422)),
            ];
            break;
        }
    }
    let send = Send::payment("burst", "burst");
    let replies = join_all((0..10).map(|_| subject.send(&send))).await;
    let burst = replies
        .iter()
        .all(|reply| matches!(reply.status.as_u16(), 201 | 409))
        && subject.payments("burst").await == 1;
    found.push(("burst", Some(burst)));
    found
}

async fn losses(subject: &Subject) -> Found {
    let mut found = Vec::new();
    for promise in ["hang-up", "lost-after-effect"] {
        let mut kept = None;
        for attempt in 0..5 {
            let mark = format!("{promise}-{attempt}");
            let send = Send::payment(&mark, &mark);
            let send = match promise {
                "hang-up" => send.slow(),
                _ => send.behaviour("linger"),
            };
            let before = subject.api().in_flight.count();
            let mut stream = connect(subject).await;
            stream
                .write_all(&send.bytes())
                .await
                .expect("the demo reads");
            let seen = in_flight(subject, before).await;
            while promise == "lost-after-effect" && subject.payments(&mark).await == 0 {}
            drop(stream);
            let recovers = recovers(subject, &send, &mark).await;
            if seen {
                kept = Some(recovers);
                break;
            }
        }
        found.push((promise, kept));
    }
    let send = Send::payment("half", "half");
    let mut stream = connect(subject).await;
    let bytes = send.bytes();
    let half = &bytes[..bytes.len() - 5];
    stream.write_all(half).await.expect("the demo reads");
    stream.shutdown().await.expect("a half-closed connection");
    // The demo answers or closes: by then it has done with the half.
    let mut rest = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest).await;
    let whole = subject.send(&send).await;
    found.push(("half-body", Some(whole.status == 201)));
    found
}

/// Whether the retries of a lost request end in its success, with one payment and one receipt.
async fn recovers(subject: &Subject, send: &Send, mark: &str) -> bool {
    let mut status = StatusCode::CONFLICT;
    for _ in 0..100 {
        status = subject.send(send).await.status;
        if status != StatusCode::CONFLICT {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    status.is_success() && subject.payments(mark).await == 1 && subject.receipts(mark).await == 1
}

async fn keys(subject: &Subject) -> Vec<(&'static str, bool)> {
    let missing = Send::payment("k", "missing").without("idempotency-key");
    let empty = Send::payment(" ", "empty");
    let doubled = Send::payment("double", "double").add("idempotency-key", "double");
    let long = "k".repeat(64);
    let mut found = vec![
        ("missing-key", subject.send(&missing).await.status == 400),
        ("empty-key", subject.send(&empty).await.status == 400),
        ("doubled-key", subject.send(&doubled).await.status == 400),
    ];
    for (promise, one, two) in [
        ("case", "case".to_owned(), "CASE".to_owned()),
        ("long-keys", format!("{long}1"), format!("{long}2")),
    ] {
        subject.send(&Send::payment(&one, promise)).await;
        let other = subject.send(&Send::payment(&two, promise)).await;
        found.push((promise, other.status == 201 && !other.is_replay()));
    }
    found
}

async fn retention(subject: &Subject) -> Vec<(&'static str, bool)> {
    let send = Send::payment("kept", "kept");
    subject.send(&send).await;
    subject.advance(23 * 60 * 60).await;
    let later =
        subject.send(&send).await.status.is_success() && subject.payments("kept").await == 1;
    let send = Send::payment("over", "over");
    subject.send(&send).await;
    subject.advance(25 * 60 * 60).await;
    let over = subject.send(&send).await;
    vec![("later", later), ("expiry", !over.is_replay())]
}

/// Whether an answer is the first one again, and marked as that.
pub(super) fn is_same(first: &Reply, again: &Reply) -> bool {
    let header = |name: &str| first.header(name) == again.header(name);
    again.is_replay()
        && first.status == again.status
        && first.body == again.body
        && header("location")
        && header("content-type")
}

async fn connect(subject: &Subject) -> TcpStream {
    TcpStream::connect(subject.demo.address)
        .await
        .expect("the demo listens")
}

/// Waits until more keys are in flight than `before`; false when that was missed, as on a busy
/// machine. Flaws without claims are not waited for: what they break is broken at any moment.
async fn in_flight(subject: &Subject, before: usize) -> bool {
    let api = subject.api();
    if api.flaws.has(Flaw::IgnoresKeys) || api.flaws.has(Flaw::RecordsOnlyCompleted) {
        return true;
    }
    let seen = async {
        while api.in_flight.count() <= before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(1), seen)
        .await
        .is_ok()
}
