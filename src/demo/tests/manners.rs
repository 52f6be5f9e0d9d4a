//! How the demo behaves in what has nothing to do with keys, and the replays that differ.

use super::*;
use crate::demo::policy::{Credentials, Deleted, Gives, Policy, Refusal, Replay, Wording};
use crate::demo::{Manners, Variant};

async fn behaving(manners: Manners) -> Subject {
    Subject::new(Options {
        manners,
        ..Options::default()
    })
    .await
}

async fn replaying(replay: Replay) -> Subject {
    let policy = Policy {
        replay,
        ..Policy::default()
    };
    Subject::new(Options {
        policy,
        ..Options::default()
    })
    .await
}

#[tokio::test]
async fn what_was_made_shows_late_where_lists_lag() {
    let api = behaving(Manners {
        lists_after: Duration::from_secs(1000),
        shows_after: Duration::from_secs(500),
        ..Manners::default()
    })
    .await;
    let made = api.send(&Send::payment("k", "r")).await;
    let path = format!("/payments/{}", made.id());
    assert_eq!(api.payments("r").await, 0);
    assert_eq!(api.get(&path).await.status, StatusCode::NOT_FOUND);
    api.advance(501).await;
    assert_eq!(api.payments("r").await, 0);
    assert_eq!(api.get(&path).await.status, StatusCode::OK);
    api.advance(500).await;
    assert_eq!(api.payments("r").await, 1);
}

#[tokio::test]
async fn what_is_given_up_beforehand_is_done_at_the_second_try_only() {
    let api = behaving(Manners {
        gives_up_beforehand: true,
        ..Manners::default()
    })
    .await;
    let slow = Send::payment("k", "r").slow();
    let first = api.send(&slow).await;
    assert_eq!(first.status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(api.payments("r").await, 0);
    assert_eq!(api.send(&slow).await.status, StatusCode::CREATED);
    assert!(api.send(&slow).await.is_replay());
    assert_eq!(api.payments("r").await, 1);
    let quick = api.send(&Send::payment("quick", "quick")).await;
    assert_eq!(quick.status, StatusCode::CREATED);
}

#[tokio::test]
async fn each_answer_has_a_cookie_of_its_own() {
    let api = behaving(Manners {
        cookies: true,
        ..Manners::default()
    })
    .await;
    let first = api.send(&Send::payment("k", "r")).await;
    let again = api.send(&Send::payment("k", "r")).await;
    assert!(again.is_replay());
    let cookie = |reply: &Reply| reply.header("set-cookie").map(str::to_owned);
    assert!(cookie(&first).is_some());
    assert_ne!(cookie(&first), cookie(&again));
}

#[tokio::test]
async fn writes_beyond_the_limit_are_answered_429_and_leave_nothing() {
    let api = behaving(Manners {
        most_writes: Some(1),
        ..Manners::default()
    })
    .await;
    let slow = Send::payment("k", "r").slow();
    let held = api.send_and_wait(&slow).await;
    let refused = api.send(&Send::payment("other", "r2")).await;
    assert_eq!(refused.problem(), "rate-limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(api.payments("r2").await, 0);
    drop(held);
    api.wait_for(&slow, false).await;
    let later = api.send(&Send::payment("other", "r2")).await;
    assert_eq!(later.status, StatusCode::CREATED);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed() {
    use tokio::io::AsyncReadExt;
    let api = behaving(Manners {
        most_connections: Some(1),
        ..Manners::default()
    })
    .await;
    let slow = Send::payment("k", "r").slow();
    let _held = api.send_and_wait(&slow).await;
    let mut second = TcpStream::connect(api.demo.address)
        .await
        .expect("the demo listens");
    let read = second.read(&mut [0; 1]).await;
    assert!(read.is_err() || read.is_ok_and(|bytes| bytes == 0));
}

#[tokio::test]
async fn a_connection_ends_with_goaway_after_so_many_requests() {
    let api = behaving(Manners {
        requests_per_connection: Some(2),
        ..Manners::default()
    })
    .await;
    let stream = TcpStream::connect(api.demo.address)
        .await
        .expect("the demo listens");
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(executor, TokioIo::new(stream))
            .await
            .expect("HTTP/2");
    let driver = tokio::spawn(connection);
    for _ in 0..2 {
        let request = Request::get("http://demo/healthz").body(Full::new(Bytes::new()));
        let answer = sender.send_request(request.expect("a request")).await;
        assert!(answer.expect("an answer").status().is_success());
    }
    // A connection that is ended in this way ends without an error.
    assert!(driver.await.expect("no panic").is_ok());
    assert!(sender.ready().await.is_err());
    // Over HTTP/1.1 it is closed, and the API goes on.
    for _ in 0..3 {
        assert_eq!(api.get("/healthz").await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_repeated_put_is_silent_where_manners_have_it() {
    let put = Send::new(Method::PUT, "/mandates/rent").json(&json!({"limit": 5}));
    let api = behaving(Manners {
        silent_puts: true,
        ..Manners::default()
    })
    .await;
    assert_eq!(api.send(&put).await.status, StatusCode::CREATED);
    let again = api.send(&put).await;
    assert_eq!(again.status, StatusCode::NO_CONTENT);
    assert_eq!(again.text(), "");
}

#[tokio::test]
async fn one_at_a_time_a_duplicate_is_a_replay_and_never_in_the_way() {
    let api = behaving(Manners {
        one_at_a_time: true,
        ..Manners::default()
    })
    .await;
    let slow = Send::payment("k", "r").slow();
    let (one, other) = tokio::join!(api.send(&slow), api.send(&slow));
    assert_eq!(
        (one.status, other.status),
        (StatusCode::CREATED, StatusCode::CREATED)
    );
    assert!(one.is_replay() != other.is_replay());
    assert_eq!(api.payments("r").await, 1);
}

#[tokio::test]
async fn a_replay_is_written_as_the_policy_says() {
    let api = replaying(Replay {
        wording: Wording::Anew,
        ..Replay::default()
    })
    .await;
    let first = api.send(&Send::payment("k", "r")).await;
    let again = api.send(&Send::payment("k", "r")).await;
    assert_ne!(first.text(), again.text());
    assert_eq!(first.id(), again.id());
    assert!(again.text().contains("2000.0"), "{}", again.text());

    let api = replaying(Replay {
        gives: Gives::Reference(303),
        ..Replay::default()
    })
    .await;
    let first = api.send(&Send::payment("k", "r")).await;
    let again = api.send(&Send::payment("k", "r")).await;
    assert_eq!(again.status, StatusCode::SEE_OTHER);
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(again.json(), json!({"id": first.id()}));
}

#[tokio::test]
async fn a_repeat_is_refused_where_its_answer_is_gone_too_large_or_not_there_yet() {
    let api = replaying(Replay {
        deleted: Deleted::Refuse(Refusal::of(410)),
        ..Replay::default()
    })
    .await;
    let made = api.send(&Send::payment("k", "r")).await;
    assert!(api.send(&Send::payment("k", "r")).await.is_replay());
    let delete = Send::new(Method::DELETE, &format!("/payments/{}", made.id()));
    assert_eq!(api.send(&delete).await.status, StatusCode::NO_CONTENT);
    let again = api.send(&Send::payment("k", "r")).await;
    assert_eq!(again.status, StatusCode::GONE);

    let api = replaying(Replay {
        tombstone: Some((1000, Refusal::of(413))),
        ..Replay::default()
    })
    .await;
    let large = Send::payment("k", "r").behaviour("large");
    assert_eq!(api.send(&large).await.status, StatusCode::CREATED);
    assert_eq!(api.send(&large).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(api.payments("r").await, 1);

    let api = replaying(Replay {
        from: Duration::from_secs(100),
        ..Replay::default()
    })
    .await;
    api.send(&Send::payment("k", "r")).await;
    assert_eq!(
        api.send(&Send::payment("k", "r")).await.problem(),
        "in-progress"
    );
    api.advance(100).await;
    assert!(api.send(&Send::payment("k", "r")).await.is_replay());
}

#[tokio::test]
async fn credentials_come_before_or_after_validation() {
    let bad = Send::payment("k", "r")
        .token("nobody")
        .json(&json!({"amount": -1}));
    let api = Subject::correct().await;
    assert_eq!(api.send(&bad).await.status, StatusCode::UNAUTHORIZED);
    let policy = Policy {
        credentials: Credentials::AfterValidation,
        ..Policy::default()
    };
    let api = Subject::new(Options {
        policy,
        ..Options::default()
    })
    .await;
    assert_eq!(
        api.send(&bad).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let good = Send::payment("k", "r").token("nobody");
    assert_eq!(api.send(&good).await.status, StatusCode::UNAUTHORIZED);
    let keyless = good.without("idempotency-key");
    assert_eq!(api.send(&keyless).await.problem(), "key-missing");
}

#[tokio::test]
async fn a_variant_is_a_demo_that_behaves_so() {
    let variant = Variant::from_name("replays-as-200").expect("it exists");
    let api = Subject::new(variant.options()).await;
    assert_eq!(
        api.send(&Send::payment("k", "r")).await.status,
        StatusCode::CREATED
    );
    assert_eq!(
        api.send(&Send::payment("k", "r")).await.status,
        StatusCode::OK
    );
}
