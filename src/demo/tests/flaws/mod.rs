//! Each flaw does what its sentence says, and a plain first payment works under every flaw.

mod answers;
mod crash;
mod failures;
mod isolation;
mod payloads;
mod races;
mod responses;
mod scope;

use super::*;

#[tokio::test]
async fn a_plain_first_payment_works_under_every_flaw() {
    for flaw in Flaw::ALL {
        let subject = Subject::with(*flaw).await;
        let made = subject.send(&Send::payment("k", "r")).await;
        assert_eq!(made.status, 201, "{}", flaw.name());
        assert!(!made.is_replay(), "{}", flaw.name());
        assert_eq!(subject.payments("r").await, 1, "{}", flaw.name());
        assert_eq!(subject.receipts("r").await, 1, "{}", flaw.name());
    }
}
