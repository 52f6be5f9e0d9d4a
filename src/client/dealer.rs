//! Operations of clients that nobody here started: each that comes is dealt the next run of a case.

use super::book::Book;
use super::clock::Clock;
use crate::scenario::client::{ClientFault, CommandRun, Then};
use crate::transcript::client::{Attempt, AttemptRequest};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A run of a case that waits for an operation.
#[derive(Clone, Debug)]
pub struct Card {
    /// Which case; `None`: the operation is let through.
    pub case: Option<usize>,
    /// The round of the case, from 1.
    pub round: u32,
    /// What befalls the operation's attempts.
    pub run: CommandRun,
}

impl Card {
    /// An operation that is let through.
    pub fn plain() -> Card {
        Card {
            case: None,
            round: 1,
            run: CommandRun {
                name: "plain".to_owned(),
                faults: Vec::new(),
                then: Then::Pass,
                killed: false,
                resumes: None,
            },
        }
    }
}

/// An operation that came, and the card that it was dealt.
#[derive(Clone, Debug)]
pub struct Dealt {
    /// The card.
    pub card: Card,
    /// Its attempts, in the order of their arrival.
    pub attempts: Vec<Attempt>,
}

/// Deals cards to operations as they come.
#[derive(Debug)]
pub(super) struct Dealer {
    clock: Clock,
    /// An operation of which nothing came for so long is over.
    silence: Duration,
    most_attempts: usize,
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    /// The operation of the target file that is judged; the first that comes, where none is named.
    subject: Option<String>,
    waiting: VecDeque<Card>,
    dealt: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    card: Card,
    /// What its payload names the operation by.
    name: Option<String>,
    key: Option<String>,
    book: Arc<Book>,
}

impl Dealer {
    pub(super) fn new(
        clock: Clock,
        silence: Duration,
        most_attempts: usize,
        subject: Option<String>,
        cards: Vec<Card>,
    ) -> Dealer {
        Dealer {
            clock,
            silence,
            most_attempts,
            table: Mutex::new(Table {
                subject,
                waiting: cards.into(),
                dealt: Vec::new(),
            }),
        }
    }

    /// The book of the operation that a request belongs to: told by the name in its payload, else by
    /// its key, else by time. `None` where it is of another operation of the target file.
    pub(super) fn book(&self, operation: &str, request: &AttemptRequest) -> Option<Arc<Book>> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.subject.get_or_insert_with(|| operation.to_owned()) != operation {
            return None;
        }
        let now = self.clock.now();
        let name = request.marker.clone();
        let is_open = |place: &&Place| !is_over(&place.book.attempts(), now, self.silence);
        let mut latest = table.dealt.iter().rev();
        let known = match (&name, &request.key) {
            (Some(_), _) => latest.find(|place| place.name == name),
            (None, Some(_)) => latest.find(|place| place.key == request.key && is_open(place)),
            (None, None) => None,
        };
        let open = || {
            let last = table.dealt.last();
            last.filter(|last| name.is_none() && last.name.is_none() && is_open(last))
        };
        if let Some(place) = known.or_else(open) {
            return Some(Arc::clone(&place.book));
        }
        let card = table.waiting.pop_front().unwrap_or_else(Card::plain);
        let book = Arc::new(Book::new(self.clock, card.run.clone(), self.most_attempts));
        table.dealt.push(Place {
            card,
            name,
            key: request.key.clone(),
            book: Arc::clone(&book),
        });
        Some(book)
    }

    /// Every operation that came.
    pub(super) fn dealt(&self) -> Vec<Dealt> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let all = table.dealt.iter().map(|place| Dealt {
            card: place.card.clone(),
            attempts: place.book.attempts(),
        });
        all.collect()
    }
}

/// Whether nothing more will come of an operation: it succeeded, or nothing came for long enough.
pub(super) fn is_over(attempts: &[Attempt], now: Duration, silence: Duration) -> bool {
    let Some(last) = attempts.last() else {
        return false;
    };
    if last.ended == last.began {
        // It is still under way.
        return false;
    }
    let succeeded =
        last.fault == ClientFault::Pass && last.status.is_some_and(|status| status < 300);
    succeeded || now.saturating_sub(last.ended) >= silence
}

#[cfg(test)]
mod tests {
    use super::{AttemptRequest, Book, Card, Clock, Dealer};
    use std::sync::Arc;
    use std::time::Duration;

    fn request(marker: Option<&str>, key: Option<&str>) -> AttemptRequest {
        AttemptRequest {
            method: "POST".to_owned(),
            target: "/pay".to_owned(),
            headers: Vec::new(),
            key: key.map(str::to_owned),
            marker: marker.map(str::to_owned),
            body_bytes: 0,
            body_digest: String::new(),
            credentials: None,
            body: String::new(),
        }
    }

    fn dealer(silence: Duration) -> Dealer {
        let cards = ["one", "two", "three"].map(|name| {
            let mut card = Card::plain();
            card.run.name = name.to_owned();
            card
        });
        Dealer::new(Clock::start(), silence, 40, None, cards.into())
    }

    /// An attempt of the operation that a request belongs to, which ends with this status.
    fn answered(book: &Arc<Book>, status: u16) -> String {
        let mut attempt = book.blank(book.now());
        attempt.ended = attempt.began + Duration::from_nanos(1);
        attempt.status = Some(status);
        book.enter(attempt);
        book.run_name()
    }

    #[test]
    fn operations_that_are_named_are_dealt_a_card_each_however_they_mix() {
        let dealer = dealer(Duration::ZERO);
        let deal = |marker, key, status| {
            let book = dealer.book("pay", &request(Some(marker), Some(key)));
            answered(&book.expect("it is of the operation"), status)
        };
        assert_eq!(deal("a", "1", 500), "one");
        assert_eq!(deal("b", "2", 500), "two");
        assert_eq!(deal("a", "3", 201), "one", "under another key");
        assert_eq!(deal("c", "1", 201), "three", "under the key of another");
        assert_eq!(deal("d", "4", 201), "plain", "no card is left");
        let other = dealer.book("refund", &request(Some("e"), None));
        assert!(other.is_none(), "another operation of the target file");
    }

    #[test]
    fn without_names_an_operation_ends_with_its_success_or_with_silence() {
        let deal = |dealer: &Dealer, key, status| {
            let book = dealer.book("pay", &request(None, key));
            answered(&book.expect("it is of the operation"), status)
        };
        let patient = dealer(Duration::from_secs(60));
        assert_eq!(deal(&patient, Some("1"), 500), "one");
        assert_eq!(
            deal(&patient, Some("2"), 500),
            "one",
            "it may be sent again"
        );
        assert_eq!(deal(&patient, None, 201), "one");
        assert_eq!(deal(&patient, Some("1"), 201), "two", "after its success");
        let hasty = dealer(Duration::ZERO);
        assert_eq!(deal(&hasty, None, 500), "one");
        assert_eq!(
            deal(&hasty, None, 500),
            "two",
            "nothing came for long enough"
        );
    }
}
