//! Coupons and carts: writes without a key.

use futures::future::join_all;

use super::*;

async fn made(subject: &Subject, path: &str, body: &Value) -> String {
    let reply = subject
        .send(&Send::new(Method::POST, path).json(body))
        .await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.id()
}

async fn redeemed_at_once(subject: &Subject) -> (usize, i64) {
    let coupon = made(subject, "/coupons", &json!({"uses": 2})).await;
    let redeem =
        Send::new(Method::POST, "/redemptions").json(&json!({"coupon": coupon, "reference": "r"}));
    let replies = join_all((0..20).map(|_| subject.send(&redeem))).await;
    let successes = replies.iter().filter(|reply| reply.status == 201).count();
    let shown = subject.get(&format!("/coupons/{coupon}")).await.json();
    assert_eq!(subject.count("/redemptions?reference=r").await, successes);
    (successes, shown["used"].as_i64().expect("a number"))
}

#[tokio::test]
async fn a_coupon_is_used_as_often_as_it_was_made_for() {
    let subject = Subject::correct().await;
    assert_eq!(redeemed_at_once(&subject).await, (2, 2));
}

#[tokio::test]
async fn checks_then_debits_uses_it_more_often() {
    let subject = Subject::with(Flaw::ChecksThenDebits).await;
    let (successes, used) = redeemed_at_once(&subject).await;
    assert!(used > 2, "{used}");
    assert_eq!(i64::try_from(successes), Ok(used));
}

#[tokio::test]
async fn a_cart_is_ordered_as_it_was_seen_or_not_at_all() {
    for (flaw, second_status, orders) in [(None, 409, 1), (Some(Flaw::OrdersStaleCarts), 201, 2)] {
        let subject = Subject::slow(flaw, 1).await;
        let cart = made(&subject, "/carts", &json!({"items": ["a book"]})).await;
        let seen = subject.get(&format!("/carts/{cart}")).await.json();
        let order = Send::new(Method::POST, "/orders")
            .json(&json!({"cart": cart, "version": seen["version"]}));
        assert_eq!(subject.send(&order).await.status, 201);
        assert_eq!(subject.send(&order).await.status.as_u16(), second_status);
        let list = format!("/orders?cart={cart}");
        assert_eq!(subject.count(&list).await, orders);
    }
}

#[tokio::test]
async fn what_is_not_there_or_not_complete_is_refused() {
    let subject = Subject::correct().await;
    for (path, body, status) in [
        ("/coupons", json!({"uses": 0}), 422),
        (
            "/redemptions",
            json!({"coupon": "none", "reference": "r"}),
            404,
        ),
        ("/redemptions", json!({"coupon": "none"}), 422),
        ("/carts", json!({}), 422),
        ("/orders", json!({"cart": "none", "version": 1}), 404),
        ("/orders", json!({"cart": "none"}), 422),
        ("/orders", json!([]), 400),
    ] {
        let reply = subject
            .send(&Send::new(Method::POST, path).json(&body))
            .await;
        assert_eq!(reply.status.as_u16(), status, "{path} {body}");
    }
    for path in ["/coupons/none", "/carts/none"] {
        assert_eq!(subject.get(path).await.status, 404);
    }
    for path in ["/orders", "/redemptions"] {
        assert_eq!(subject.get(path).await.status, 400);
    }
}
