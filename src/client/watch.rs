//! An audit of clients that were started elsewhere: the door stays open for a time, and each
//! operation that comes is dealt the next run of a case.

use super::audit::{Audit, MOST_ATTEMPTS};
use super::book::Book;
use super::dealer::{Card, Dealer, Dealt, is_over};
use crate::runner::Lateness;
use crate::scenario::client::ClientFault;
use crate::transcript::client::{Attempt, RunEnd, RunFacts};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// What came while the door was open.
#[derive(Debug)]
pub struct Watched {
    /// Every operation that came, in the order of their first attempts, with how its run ended.
    pub operations: Vec<(Dealt, RunFacts)>,
    /// How long the door was open.
    pub time: Duration,
}

impl Audit {
    /// Opens the door at an address and deals cards to what comes, until `over` is. `subject` is the
    /// operation that is judged, if it is named; `silence` is how long nothing must come of an
    /// operation until it counts as given up; `opened` is told the address.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn watch(
        &self,
        address: SocketAddr,
        cards: Vec<Card>,
        subject: Option<String>,
        silence: Duration,
        opened: impl FnOnce(SocketAddr),
        over: impl Future<Output = ()>,
    ) -> Result<Watched, String> {
        let began = self.clock.now();
        let lateness = Lateness::measure();
        let dealer = Dealer::new(self.clock, silence, MOST_ATTEMPTS, subject, cards);
        let dealer = Arc::new(dealer);
        // What belongs to no operation goes through.
        let lobby = Book::new(self.clock, Card::plain().run, usize::MAX);
        let door = self.open(address, &Arc::new(lobby), Some(Arc::clone(&dealer)), false)?;
        opened(door.address);
        over.await;
        let ended = self.clock.now();
        let operations = dealer.dealt().into_iter().map(|dealt| {
            let first = dealt.attempts.first();
            let facts = RunFacts {
                name: dealt.card.run.name.clone(),
                began: first.map_or(began, |first| first.began),
                ended,
                end: match is_over(&dealt.attempts, ended, silence) {
                    _ if is_endless(&dealt.attempts) => RunEnd::Endless,
                    true => RunEnd::Quiet,
                    false => RunEnd::Watched,
                },
                wrote: String::new(),
                lateness: lateness.usual(),
            };
            (dealt, facts)
        });
        let operations = operations.collect();
        door.close().await;
        Ok(Watched {
            operations,
            time: ended.saturating_sub(began),
        })
    }
}

/// Whether there were more attempts than any sound client makes.
fn is_endless(attempts: &[Attempt]) -> bool {
    let faulted = attempts
        .iter()
        .filter(|attempt| attempt.fault != ClientFault::Pass);
    faulted.count() >= MOST_ATTEMPTS
}
