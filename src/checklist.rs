//! The nine points of the checklist: what each asks for, why, and where it comes from.

use serde::Serialize;
use std::fmt;

/// One of the nine points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(u8);

impl ItemId {
    /// All nine, in order.
    pub fn all() -> impl Iterator<Item = ItemId> {
        (1..=9).map(ItemId)
    }

    /// The item of a name such as `item-5`.
    pub fn from_name(name: &str) -> Option<ItemId> {
        let number: u8 = name.strip_prefix("item-")?.parse().ok()?;
        (1..=9).contains(&number).then_some(ItemId(number))
    }

    /// 1 to 9.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Whether it asks something of the client rather than of the API.
    pub fn is_about_clients(self) -> bool {
        matches!(self.0, 1 | 2 | 7)
    }

    /// What the point says.
    pub fn item(self) -> &'static Item {
        &ITEMS[usize::from(self.0) - 1]
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item-{}", self.0)
    }
}

impl Serialize for ItemId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a point of the checklist asks for.
#[derive(Debug)]
pub struct Item {
    /// A few words for tables.
    pub short: &'static str,
    /// The demand, in one sentence.
    pub says: &'static str,
    /// Why it matters to whoever calls the API.
    pub why: &'static str,
    /// Where the demand can be read.
    pub source: &'static str,
}

const ITEMS: [Item; 9] = [
    Item {
        short: "key before the first send",
        says: "The client makes the key before the first send, and every retry of that operation carries it.",
        why: "A key made for each attempt protects nothing: the server sees two operations.",
        source: "draft-ietf-httpapi-idempotency-key-header-07, section 2.5.1",
    },
    Item {
        short: "new operation, new key",
        says: "A new operation has a new key; intent is never guessed from the payload.",
        why: "Two equal orders can both be meant; a server that guesses drops one of them silently.",
        source: "draft-ietf-httpapi-idempotency-key-header-07, section 2.2",
    },
    Item {
        short: "changed payload refused",
        says: "One key with another payload is refused, openly.",
        why: "A silent replay tells the client that an operation was done which never was.",
        source: "draft-ietf-httpapi-idempotency-key-header-07, section 2.7",
    },
    Item {
        short: "scope and retention",
        says: "A key's scope, retention and behaviour after expiry are documented, and true.",
        why: "A client that retries a minute too late, or on another endpoint, must know what happens.",
        source: "draft-ietf-httpapi-idempotency-key-header-07, sections 2.3 and 2.5.2",
    },
    Item {
        short: "claim, write and result",
        says: "Claiming the key, the business write and the stored result survive concurrency and restarts.",
        why: "Between check and write lies the window in which a customer is charged twice.",
        source: "draft-ietf-httpapi-idempotency-key-header-07, section 2.6",
    },
    Item {
        short: "authentication first",
        says: "Authentication and authorisation work independently of the key.",
        why: "A key is no credential; whoever guesses one must not read somebody else's payment.",
        source: "OASIS Repeatable Requests 1.0, section 9; draft-ietf-httpapi-idempotency-key-header-07, section 5",
    },
    Item {
        short: "retry contract",
        says: "Which errors may be retried, at which layer, how often: a written contract, and kept.",
        why: "A key that stays blocked after a failure turns one error into a lost operation.",
        source: "draft-ietf-httpapi-idempotency-key-header-07, section 2.7; RFC 9110, section 9.2.2",
    },
    Item {
        short: "duplicate delivery",
        says: "The outbox relay and the consumers downstream stand duplicate delivery.",
        why: "A payment made once and announced twice still ships two parcels.",
        source: "Standard Webhooks 1.0, section on idempotency",
    },
    Item {
        short: "look-up and reconciliation",
        says: "An operation can be looked up by its id and reconciled.",
        why: "When every retry fails, somebody has to find out what happened.",
        source: "OASIS Repeatable Requests 1.0, section 7",
    },
];

#[cfg(test)]
mod tests {
    use super::ItemId;

    #[test]
    fn names_round_trip_and_there_is_no_tenth_item() {
        for item in ItemId::all() {
            assert_eq!(ItemId::from_name(&item.to_string()), Some(item));
        }
        assert_eq!(ItemId::from_name("item-10"), None);
        assert_eq!(ItemId::from_name("item-0"), None);
    }
}
