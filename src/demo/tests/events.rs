//! Events: announced with what they announce, delivered until they are taken.

use super::*;
use axum::extract::State;
use axum::routing::post;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::Notify;

/// What came: headers and body.
type Delivery = (HeaderMap, Value);

/// A receiver that refuses the first deliveries.
#[derive(Clone, Default)]
struct Receiver {
    came: Arc<Mutex<VecDeque<Delivery>>>,
    refusals: Arc<Mutex<u32>>,
    news: Arc<Notify>,
}

impl Receiver {
    /// Listens, and is what the demo delivers to.
    async fn of(subject: &Subject, refusals: u32) -> Receiver {
        let receiver = Receiver::default();
        *receiver.refusals.lock().expect("whole") = refusals;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = axum::Router::new()
            .route("/", post(take))
            .with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let stream = TcpStream::connect(subject.demo.admin)
            .await
            .expect("the admin listens");
        let path = format!("/subscription?url=http://{address}");
        let reply = exchange(stream, &Send::new(Method::POST, &path)).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        receiver
    }

    async fn next(&self) -> Delivery {
        let next = async {
            loop {
                let news = self.news.notified();
                if let Some(delivery) = self.came.lock().expect("whole").pop_front() {
                    return delivery;
                }
                news.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), next)
            .await
            .expect("a delivery")
    }
}

async fn take(
    State(receiver): State<Receiver>,
    headers: HeaderMap,
    body: axum::Json<Value>,
) -> StatusCode {
    receiver
        .came
        .lock()
        .expect("whole")
        .push_back((headers, body.0));
    receiver.news.notify_one();
    let mut refusals = receiver.refusals.lock().expect("whole");
    if *refusals > 0 {
        *refusals -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    StatusCode::NO_CONTENT
}

fn id(delivery: &Delivery) -> String {
    let id = delivery.1["id"].as_str().expect("an id").to_owned();
    assert_eq!(delivery.0["webhook-id"], id.as_str());
    id
}

#[tokio::test]
async fn an_event_comes_until_it_is_taken_under_one_id_and_signed() {
    let subject = Subject::correct().await;
    let receiver = Receiver::of(&subject, 2).await;
    let made = subject.send(&Send::payment("k", "r")).await;
    let first = receiver.next().await;
    assert_eq!(first.1["type"], "payment.created");
    assert_eq!(first.1["data"], made.json());
    assert!(
        first.0["webhook-signature"]
            .to_str()
            .expect("text")
            .starts_with("v1,")
    );
    for _ in 0..2 {
        let again = receiver.next().await;
        assert_eq!((id(&again), &again.1), (id(&first), &first.1));
    }
}

#[tokio::test]
async fn a_replay_is_announced_by_the_flaw_only() {
    for (flaw, events) in [(None, 1), (Some(Flaw::EmitsEventOnReplay), 2)] {
        let subject = Subject::slow(flaw, 0).await;
        let receiver = Receiver::of(&subject, 0).await;
        subject.send(&Send::payment("k", "r")).await;
        assert!(subject.send(&Send::payment("k", "r")).await.is_replay());
        // An event of another payment is written after all those of the first.
        subject.send(&Send::payment("other", "last")).await;
        let mut ids = std::collections::HashSet::new();
        loop {
            let delivery = receiver.next().await;
            if delivery.1["data"]["reference"] == "last" && ids.len() >= events {
                break;
            }
            if delivery.1["data"]["reference"] == "r" {
                ids.insert(id(&delivery));
            }
        }
        assert_eq!(ids.len(), events);
    }
}

#[tokio::test]
async fn another_attempt_is_another_event_by_the_flaw() {
    let subject = Subject::with(Flaw::MintsEventIdPerAttempt).await;
    let receiver = Receiver::of(&subject, 1).await;
    subject.send(&Send::payment("k", "r")).await;
    let (first, again) = (receiver.next().await, receiver.next().await);
    assert_ne!(id(&first), id(&again));
}

#[tokio::test]
async fn a_refused_event_is_lost_by_the_flaw() {
    let subject = Subject::with(Flaw::MarksEventBeforeDelivery).await;
    let receiver = Receiver::of(&subject, 1).await;
    subject.send(&Send::payment("k", "r")).await;
    receiver.next().await;
    // Within this time a correct demo has tried again.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(receiver.came.lock().expect("whole").is_empty());
}

#[tokio::test]
async fn what_is_rolled_back_is_not_announced() {
    let subject = Subject::correct().await;
    let receiver = Receiver::of(&subject, 0).await;
    let failed = subject
        .send(&Send::payment("k", "failed").behaviour("fail-after"))
        .await;
    assert_eq!(failed.status, 500);
    subject.send(&Send::payment("other", "r")).await;
    assert_eq!(receiver.next().await.1["data"]["reference"], "r");
}
