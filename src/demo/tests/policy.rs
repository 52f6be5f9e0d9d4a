//! The policies that differ from the demo's own.

use super::*;
use crate::demo::policy::{
    Element, Expired, Fate, Fates, FirstSent, Form, Gives, InProgress, KeyPolicy, Marker, Mismatch,
    Place, Policy, Principals, Refusal, Replay, Routes, Said, Step, StoreDown, Unkeyed,
};

async fn keeping(policy: Policy) -> Subject {
    Subject::new(Options {
        policy,
        work: Duration::from_millis(30),
        ..Options::default()
    })
    .await
}

fn own() -> Policy {
    Policy::default()
}

#[tokio::test]
async fn a_key_is_read_where_the_policy_has_it() {
    let place = |place, form| Policy {
        key: KeyPolicy {
            place,
            form,
            ..KeyPolicy::default()
        },
        ..own()
    };
    let body = |key: &str| json!({"amount": 1, "reference": "r", "token": key});
    let bare = Send::payment("unused", "r").without("idempotency-key");

    let api = keeping(place(Place::Member("token".to_owned()), Form::Raw)).await;
    let first = api.send(&bare.clone().json(&body("k"))).await;
    assert_eq!(first.status, StatusCode::CREATED);
    assert!(!first.text().contains("token"), "{}", first.text());
    assert!(api.send(&bare.clone().json(&body("k"))).await.is_replay());
    assert_eq!(api.send(&bare).await.problem(), "key-missing");

    let api = keeping(place(Place::Query("token".to_owned()), Form::Raw)).await;
    let asked = Send {
        path: "/payments?token=k".to_owned(),
        ..bare.clone()
    };
    assert_eq!(api.send(&asked).await.status, StatusCode::CREATED);
    assert!(api.send(&asked).await.is_replay());

    let api = keeping(place(Place::Header("Token".to_owned()), Form::Quoted)).await;
    let quoted = bare.clone().set("token", "\"a, b\"");
    assert_eq!(api.send(&quoted).await.status, StatusCode::CREATED);
    assert!(api.send(&quoted).await.is_replay());
    let unquoted = bare.set("token", "a");
    assert_eq!(api.send(&unquoted).await.problem(), "key-malformed");
}

#[tokio::test]
async fn a_refusal_looks_as_the_policy_says() {
    let member = |name: &str| Step::Member(name.to_owned());
    let look = Refusal {
        members: vec![
            (
                vec![member("error"), member("type")],
                Said::Text("idempotency_error".to_owned()),
            ),
            (
                vec![member("errors"), Step::Item, member("id")],
                Said::Resource,
            ),
        ],
        headers: vec![("X-Result".to_owned(), Said::Text("rejected".to_owned()))],
        retry_after: true,
        ..Refusal::of(400)
    };
    let api = keeping(Policy {
        mismatch: Mismatch::Refuse(look),
        ..own()
    })
    .await;
    let first = api.send(&Send::payment("k", "r")).await;
    let refused = api.send(&Send::payment("k", "other")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert_eq!(refused.json()["error"]["type"], "idempotency_error");
    assert_eq!(refused.json()["errors"][0]["id"], first.id());
    assert_eq!(refused.header("x-result"), Some("rejected"));
    assert_eq!(refused.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn a_repeat_is_given_the_current_resource_or_a_conflict_that_names_it() {
    let gives = |gives| Policy {
        replay: Replay {
            gives,
            status: Some(200),
            ..Replay::default()
        },
        ..own()
    };
    let api = keeping(gives(Gives::Current)).await;
    let first = api.send(&Send::payment("k", "r")).await;
    let change = Send::new(Method::PATCH, &format!("/payments/{}", first.id()))
        .set("idempotency-key", "c")
        .json(&json!({"memo": "changed"}));
    assert_eq!(api.send(&change).await.status, StatusCode::OK);
    let again = api.send(&Send::payment("k", "r")).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(
        (again.id(), &again.json()["memo"]),
        (first.id(), &json!("changed"))
    );

    let api = keeping(gives(Gives::Conflict(Refusal::of(409)))).await;
    let first = api.send(&Send::payment("k", "r")).await;
    let again = api.send(&Send::payment("k", "r")).await;
    assert_eq!(
        (again.status, again.is_replay()),
        (StatusCode::CONFLICT, false)
    );
    let link = format!("</payments/{}>; rel=\"related\"", first.id());
    assert_eq!(again.header("link"), Some(link.as_str()));
    let change = Send::new(Method::PATCH, &format!("/payments/{}", first.id()))
        .set("idempotency-key", "c")
        .json(&json!({"memo": "changed"}));
    let made = api.send(&change).await.json()["change_id"].clone();
    let again = api.send(&change).await;
    let made = made.as_str().expect("an id");
    assert!(again.text().contains(made), "{}", again.text());
}

#[tokio::test]
async fn a_key_space_is_as_wide_as_the_policy_says() {
    let routes = |routes| Policy { routes, ..own() };
    let api = keeping(routes(Routes::Together)).await;
    api.send(&Send::payment("k", "r")).await;
    assert_eq!(
        api.send(&Send::refund("k", "r")).await.problem(),
        "key-reused"
    );

    let api = keeping(routes(Routes::Ignored)).await;
    let first = api.send(&Send::payment("k", "r")).await;
    assert_eq!(api.send(&Send::refund("k", "r")).await.id(), first.id());
    let changed = api.send(&Send::payment("k", "other")).await;
    assert_eq!(changed.problem(), "key-reused");

    for (principals, session, tenant) in [
        (Principals::Tenant, true, false),
        (Principals::Token, false, false),
        (Principals::Everyone, true, true),
    ] {
        let api = keeping(Policy {
            principals,
            ..own()
        })
        .await;
        api.send(&Send::payment("k", "r")).await;
        let other = api
            .send(&Send::payment("k", "r").token("tenant-a-other"))
            .await;
        assert_eq!(other.is_replay(), session, "{principals:?}");
        let other = api.send(&Send::payment("k", "r").token("tenant-b")).await;
        assert_eq!(other.is_replay(), tenant, "{principals:?}");
    }
}

#[tokio::test]
async fn a_duplicate_in_flight_waits_for_the_first_answer() {
    let api = keeping(Policy {
        in_progress: InProgress::Wait(Duration::from_secs(5), Refusal::of(409)),
        ..own()
    })
    .await;
    let send = Send::payment("k", "r").slow();
    let (one, two) = tokio::join!(api.send(&send), api.send(&send));
    assert_eq!(one.id(), two.id());
    assert_eq!(u8::from(one.is_replay()) + u8::from(two.is_replay()), 1);
}

#[tokio::test]
async fn failures_are_stored_or_block_the_key_where_the_policy_says_so() {
    let after = |fate| Policy {
        after: Fates {
            validation: fate,
            declined: fate,
            server_error: fate,
            rate_limited: fate,
        },
        ..own()
    };
    let invalid = Send::payment("v", "r").json(&json!({"amount": -1}));
    let sends = || {
        [
            invalid.clone(),
            Send::payment("d", "r").behaviour("decline"),
            Send::payment("s", "r").behaviour("fail-once"),
        ]
    };
    let api = keeping(after(Fate::Stored)).await;
    for send in sends() {
        let first = api.send(&send).await;
        let again = api.send(&send).await;
        assert_eq!((again.status, again.is_replay()), (first.status, true));
        assert_eq!(again.body, first.body);
    }
    assert_eq!(
        api.send(&Send::payment("v", "r")).await.problem(),
        "key-reused"
    );
    let api = keeping(after(Fate::Blocked)).await;
    for send in sends() {
        api.send(&send).await;
        assert_eq!(api.send(&send).await.problem(), "key-reused");
    }
}

#[tokio::test]
async fn a_429_is_what_its_key_is_answered_where_the_policy_stores_it() {
    let api = keeping(Policy {
        after: Fates {
            rate_limited: Fate::Stored,
            ..Fates::default()
        },
        ..own()
    })
    .await;
    let send = |number: usize| Send::payment(&format!("k{number}"), "r").behaviour("limited");
    for number in 0..3 {
        assert_eq!(api.send(&send(number)).await.status, StatusCode::CREATED);
    }
    let refused = api.send(&send(3)).await;
    assert_eq!(refused.problem(), "rate-limited");
    assert!(!refused.is_replay());
    // The key is asked for without what the limit is about.
    let again = api.send(&Send::payment("k3", "r")).await;
    assert_eq!(again.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(again.is_replay());
    assert_eq!(api.payments("r").await, 3);
}

#[tokio::test]
async fn without_its_records_the_api_does_what_the_policy_says() {
    let down = |store_down| Policy {
        store_down,
        ..own()
    };
    let api = keeping(down(StoreDown::Execute)).await;
    let send = Send::payment("k", "r");
    let first = api.send(&send).await;
    api.admin("/store/down").await;
    let during = api.send(&send).await;
    assert_eq!(during.status, StatusCode::CREATED);
    assert_ne!(during.id(), first.id());
    api.admin("/store/up").await;
    assert_eq!(api.send(&send).await.id(), first.id());
    assert_eq!(api.payments("r").await, 2);

    let code = vec![Step::Member("errorCode".to_owned())];
    let look = Refusal {
        members: vec![(code, Said::Text("703".to_owned()))],
        ..Refusal::of(503)
    };
    let api = keeping(down(StoreDown::Refuse(look))).await;
    api.admin("/store/down").await;
    let refused = api.send(&send).await;
    assert_eq!(refused.problem(), "store-unavailable");
    assert_eq!(refused.json()["errorCode"], "703");
    assert_eq!(api.payments("r").await, 0);
}

#[tokio::test]
async fn the_other_terms_are_kept() {
    let api = keeping(Policy {
        missing: Unkeyed::Execute,
        mismatch: Mismatch::Replay,
        expired: Expired::Refuse(Refusal::of(412)),
        marker: Marker::KeyEcho("X-Key".to_owned()),
        ..own()
    })
    .await;
    let bare = Send::payment("k", "r").without("idempotency-key");
    assert_eq!(api.send(&bare).await.status, StatusCode::CREATED);
    let first = api.send(&Send::payment("k", "r")).await;
    assert_eq!(first.header("x-key"), Some("k"));
    let changed = api.send(&Send::payment("k", "other")).await;
    assert_eq!(changed.id(), first.id());
    api.advance(25 * 60 * 60).await;
    assert_eq!(
        api.send(&Send::payment("k", "r")).await.problem(),
        "key-expired"
    );

    let api = keeping(Policy {
        mismatch: Mismatch::Execute,
        marker: Marker::Member {
            path: vec![Step::Member("replayed".to_owned())],
            value: "true".to_owned(),
            first: Some("false".to_owned()),
        },
        ..own()
    })
    .await;
    let first = api.send(&Send::payment("k", "r")).await;
    assert_eq!(first.json()["replayed"], false);
    let changed = api.send(&Send::payment("k", "other")).await;
    assert_ne!(changed.id(), first.id());
    let again = api.send(&Send::payment("k", "r")).await;
    assert_eq!(again.json()["replayed"], true);
}

/// Wants the date of the first sending with each key.
fn dating() -> Policy {
    let rejected = |status| Refusal {
        headers: vec![("X-Result".to_owned(), Said::Text("rejected".to_owned()))],
        ..Refusal::of(status)
    };
    Policy {
        key: KeyPolicy {
            first_sent: Some(FirstSent {
                header: "First-Sent".to_owned(),
                missing: rejected(400),
                malformed: rejected(422),
            }),
            ..KeyPolicy::default()
        },
        missing: Unkeyed::Execute,
        expired: Expired::Refuse(rejected(412)),
        ..own()
    }
}

/// The date of so many hours ago.
fn ago(hours: u64) -> String {
    let date = std::time::SystemTime::now() - Duration::from_secs(3600 * hours);
    httpdate::fmt_http_date(date)
}

fn dated(key: &str, date: &str) -> Send {
    Send::payment(key, "r").set("first-sent", date)
}

#[tokio::test]
async fn flawed_dates_let_a_key_in_that_is_too_old_or_has_none() {
    for flaw in [Flaw::CountsAgeFromArrival, Flaw::IgnoresFirstSent] {
        let api = Subject::new(Options {
            policy: dating(),
            flaws: flaw.into(),
            ..Options::default()
        })
        .await;
        let too_old = api.send(&dated("a", &ago(25))).await;
        assert_eq!(too_old.status, StatusCode::CREATED, "{}", flaw.name());
        for wrong in [Send::payment("b", "r"), dated("c", "yesterday")] {
            let is_let_in = api.send(&wrong).await.status == StatusCode::CREATED;
            assert_eq!(is_let_in, flaw == Flaw::IgnoresFirstSent);
        }
    }
}

#[tokio::test]
async fn a_key_goes_with_the_date_of_its_first_sending_where_the_policy_says_so() {
    let api = keeping(dating()).await;
    let bare = Send::payment("unused", "r").without("idempotency-key");
    for (send, status, problem) in [
        (Send::payment("a", "r"), 400, "date-missing"),
        (bare.clone().set("first-sent", &ago(0)), 400, "date-missing"),
        (dated("b", "2026-11-30T10:00:00Z"), 422, "date-malformed"),
        (dated("c", &ago(25)), 412, "key-expired"),
    ] {
        let refused = api.send(&send).await;
        assert_eq!(refused.status.as_u16(), status, "{problem}");
        assert_eq!(refused.problem(), problem);
        assert_eq!(refused.header("x-result"), Some("rejected"));
    }
    assert_eq!(api.send(&bare).await.status, StatusCode::CREATED);
    let taken = dated("c", &ago(23));
    assert_eq!(api.send(&taken).await.status, StatusCode::CREATED);
    assert!(api.send(&taken).await.is_replay());
}

#[tokio::test]
async fn a_refusal_is_xml_where_the_policy_says_so() {
    let api = keeping(Policy {
        mismatch: Mismatch::Refuse(Refusal {
            media_type: "text/xml".to_owned(),
            xml: Some(Element {
                name: "error".to_owned(),
                attributes: vec![("code".to_owned(), "9".to_owned())],
                text: "used & gone".to_owned(),
            }),
            ..Refusal::of(200)
        }),
        ..own()
    })
    .await;
    api.send(&Send::payment("k", "r")).await;
    let refused = api.send(&Send::payment("k", "other")).await;
    assert_eq!(refused.status, StatusCode::OK);
    assert_eq!(refused.header("content-type"), Some("text/xml"));
    let element = "<reply><error code=\"9\">used &amp; gone</error></reply>";
    assert!(refused.text().contains(element), "{}", refused.text());
}
