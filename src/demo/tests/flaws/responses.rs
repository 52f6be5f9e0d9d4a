//! The flaws of responses, scope, rights, batches and versions: each breaks what it says, and
//! leaves the rest of these right.

use futures::future::join_all;

use super::super::*;
use super::isolation::is_same;

/// What a check found: whether the promise was kept.
type Found = Vec<(&'static str, bool)>;

/// Each flaw, with the promise that it breaks.
const BREAKS: [(Flaw, &[&str]); 23] = [
    (Flaw::RecordsOnlyWholeBodies, &["no-content", "stream"]),
    (Flaw::FreesAnotherClaim, &["declined"]),
    (Flaw::StoresRateLimits, &["rate-limited"]),
    (Flaw::KeepsOneBucketForGuests, &["guests"]),
    (Flaw::LeavesQueryOutOfScope, &["query"]),
    (Flaw::ScopesByRouteTemplate, &["route"]),
    (Flaw::JoinsScopeWithColons, &["separator"]),
    (Flaw::ReplaysAfterRevocation, &["revoked"]),
    (Flaw::ReplaysSetCookie, &["cookie"]),
    (Flaw::ReplaysNoContentAsNull, &["no-content"]),
    (Flaw::StoresCompressedBytes, &["gzip"]),
    (Flaw::StoresBytesAsText, &["binary"]),
    (Flaw::StoresNoLongAnswers, &["large"]),
    (Flaw::CutsReplays, &["large"]),
    (Flaw::IgnoresKeyWhenAsync, &["async"]),
    (Flaw::RemakesWhatWasDeleted, &["deleted"]),
    (Flaw::IgnoresKeyOnBatches, &["batch"]),
    (Flaw::CrashesOnEqualItems, &["batch"]),
    (Flaw::RunsWithoutItsStore, &["store-down"]),
    (Flaw::HashesMultipartBoundary, &["boundary"]),
    (Flaw::ChecksVersionBeforeWrite, &["version"]),
    (Flaw::AppendsOnPut, &["put"]),
    (Flaw::FailsSecondDelete, &["delete"]),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_flaw_of_these_breaks_its_promise_and_no_other() {
    let mut wrong = Vec::new();
    let mut compare = |flaw: Option<Flaw>, breaks: &[&str], found: Found| {
        for (promise, kept) in found {
            if kept == breaks.contains(&promise) {
                let name = flaw.map_or("no flaw", Flaw::name);
                wrong.push(format!("{name}: {promise}: kept {kept}"));
            }
        }
    };
    compare(None, &[], check(None).await);
    for some in BREAKS.chunks(8) {
        let found = join_all(some.iter().map(|(flaw, _)| check(Some(*flaw)))).await;
        for ((flaw, breaks), found) in some.iter().zip(found) {
            compare(Some(*flaw), breaks, found);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn check(flaw: Option<Flaw>) -> Found {
    let subject = Subject::slow(flaw, 2).await;
    let mut found = Vec::new();
    found.extend(kinds(&subject).await);
    found.extend(refusals(&subject).await);
    found.extend(scopes(&subject).await);
    found.extend(rights(&subject).await);
    found.extend(without_keys(&subject).await);
    found
}

async fn kinds(subject: &Subject) -> Found {
    let mut found = Vec::new();
    for (kind, header, value) in [
        ("no-content", "demo-behaviour", "no-content"),
        ("stream", "demo-behaviour", "stream"),
        ("binary", "demo-behaviour", "binary"),
        ("large", "demo-behaviour", "large"),
        ("async", "prefer", "respond-async"),
    ] {
        let send = Send::payment(kind, kind).set(header, value);
        let first = subject.send(&send).await;
        let again = subject.send(&send).await;
        let once = subject.payments(kind).await == 1;
        found.push((
            kind,
            first.status.is_success() && is_same(&first, &again) && once,
        ));
    }
    let send = Send::payment("gzip", "gzip");
    let packed = send.clone().set("accept-encoding", "br, gzip");
    let first = subject.send(&packed).await;
    let again = subject.send(&packed).await;
    let plain = subject.send(&send).await;
    let told = [&first, &again]
        .iter()
        .all(|reply| reply.header("content-encoding") == Some("gzip"));
    let whole = first.body == again.body
        && plain.header("content-encoding").is_none()
        && serde_json::from_slice::<Value>(&plain.body).is_ok();
    found.push(("gzip", told && whole));

    let items = json!({ "items": [
        { "key": "one", "amount": 1, "reference": "batch" },
        { "key": "one", "amount": 1, "reference": "batch" },
    ] });
    let batch = Send {
        path: "/payments/batch".to_owned(),
        ..Send::payment("batch", "batch").json(&items)
    };
    let first = subject.send(&batch).await;
    let again = subject.send(&batch).await;
    let once = subject.payments("batch").await == 1 && subject.receipts("batch").await == 1;
    found.push((
        "batch",
        first.status == 201 && is_same(&first, &again) && once,
    ));

    let form = |boundary: &str| {
        let mut body = String::new();
        for (name, value) in [("amount", "7"), ("reference", "form")] {
            body += &format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
        }
        Send::payment("form", "form")
            .raw(&format!("{body}--{boundary}--\r\n"))
            .set(
                "content-type",
                &format!("multipart/form-data; boundary={boundary}"),
            )
    };
    let first = subject.send(&form("one")).await;
    let again = subject.send(&form("two")).await;
    found.push(("boundary", first.status == 201 && is_same(&first, &again)));
    found
}

async fn refusals(subject: &Subject) -> Found {
    let send = Send::payment("declined", "declined");
    let declined = subject.send(&send.clone().behaviour("decline")).await;
    let declined = declined.status == 402 && subject.send(&send).await.status == 201;

    let mut limited = false;
    for number in 0..4 {
        let send = Send::payment(&format!("limited-{number}"), "limited");
        let answered = subject.send(&send.clone().behaviour("limited")).await;
        if answered.status == 429 {
            limited = answered.header("retry-after") == Some("1")
                && subject.send(&send).await.status == 201;
            break;
        }
    }

    let send = Send::payment("store", "store");
    let first = subject.send(&send).await;
    subject.admin("/store/down").await;
    let refused = subject.send(&send).await;
    subject.admin("/store/up").await;
    let store = refused.problem_or_none().as_deref() == Some("store-unavailable")
        && is_same(&first, &subject.send(&send).await)
        && subject.payments("store").await == 1;
    vec![
        ("declined", declined),
        ("rate-limited", limited),
        ("store-down", store),
    ]
}

async fn scopes(subject: &Subject) -> Found {
    let is_own = |reply: &Reply| reply.status.is_success() && !reply.is_replay();
    let live = Send::payment("query", "query");
    let dry = Send {
        path: "/payments?dry=1".to_owned(),
        ..live.clone()
    };
    let query = is_own(&subject.send(&dry).await) && subject.send(&live).await.status == 201;

    let mut route = true;
    for number in 0..2 {
        let made = subject
            .send(&Send::payment(&format!("route-{number}"), "route"))
            .await;
        let change = Send::new(Method::PATCH, &format!("/payments/{}", made.id()))
            .set("idempotency-key", "route")
            .json(&json!({"memo": "new"}));
        route &= is_own(&subject.send(&change).await);
    }

    let paid = |account: &str, key: &str| Send {
        path: format!("/accounts/{account}/payments"),
        ..Send::payment(key, "separator")
    };
    let separator = is_own(&subject.send(&paid("n", "x:k")).await)
        && is_own(&subject.send(&paid("n:x", "k")).await);

    let send = Send::payment("deleted", "deleted");
    let first = subject.send(&send).await;
    let path = format!("/payments/{}", first.id());
    subject.send(&Send::new(Method::DELETE, &path)).await;
    let again = subject.send(&send).await;
    let deleted = is_same(&first, &again) && subject.payments("deleted").await == 0;
    vec![
        ("query", query),
        ("route", route),
        ("separator", separator),
        ("deleted", deleted),
    ]
}

async fn rights(subject: &Subject) -> Found {
    let guest = |reference: &str| {
        Send::payment("guest", reference)
            .without("authorization")
            .set("demo-guest", "1")
    };
    let first = subject.send(&guest("one")).await;
    let second = subject.send(&guest("two")).await;
    let guests = first.status == 201 && second.status == 422;

    let send = Send::payment("grant", "grant").token("tenant-a-temp");
    let first = subject.send(&send).await;
    subject.admin("/grant/revoke").await;
    let refused = subject.send(&send).await;
    subject.admin("/grant/restore").await;
    let revoked = refused.status == 403 && is_same(&first, &subject.send(&send).await);

    let send = Send::payment("cookie", "cookie");
    let first = subject.send(&send).await;
    let again = subject.send(&send.token("tenant-a-other")).await;
    let cookie = |reply: &Reply| reply.header("set-cookie").map(str::to_owned);
    let cookies = cookie(&first).is_some() && cookie(&first) != cookie(&again);
    vec![
        ("guests", guests),
        ("revoked", revoked),
        ("cookie", cookies),
    ]
}

async fn without_keys(subject: &Subject) -> Found {
    let mandate = "/mandates/rent";
    let put = Send::new(Method::PUT, mandate).json(&json!({"limit": 5, "reference": "rent"}));
    let first = subject.send(&put).await;
    let again = subject.send(&put).await;
    let put = first.status == 201
        && again.status == 200
        && first.body == again.body
        && subject.count("/mandates?reference=rent").await == 1;

    let version = subject.get(mandate).await;
    let change = Send::new(Method::PATCH, mandate)
        .json(&json!({"memo": "new"}))
        .set("if-match", version.header("etag").expect("a version"));
    let writers = join_all((0..5).map(|_| subject.send(&change))).await;
    let won = writers.iter().filter(|reply| reply.status == 200).count();
    let rest = writers.iter().filter(|reply| reply.status == 412).count();
    let versions = (won, rest) == (1, 4) && subject.count("/changes?payment=rent").await == 1;

    let made = subject.send(&Send::payment("gone", "gone")).await;
    let delete = Send::new(Method::DELETE, &format!("/payments/{}", made.id()));
    let deleted = subject.send(&delete).await.status == 204;
    let gone = subject.send(&delete).await.status == 404;
    vec![
        ("put", put),
        ("version", versions),
        ("delete", deleted && gone),
    ]
}
