//! The receiver of events: where it listens, how the target reaches it, and how an event is known.

use std::net::SocketAddr;

use super::action::Action;
use super::matcher::Wants;
use super::placeholder::Template;
use super::selector::Selector;
use std::time::Duration;

/// Our own receiver of webhooks, which the target delivers its events to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    /// Where it listens; port 0 picks a free one.
    pub listen: SocketAddr,
    /// How the target reaches it, such as through a tunnel; `None`: where it listens.
    pub url: Option<String>,
    /// Where the id of an event stands in a delivery; the first that matches counts.
    pub event_id: Vec<Selector>,
    /// How long it may take until a delivery that was not taken comes again; `None`: as long as the
    /// scenario waits.
    pub within: Option<Duration>,
    /// For how long a receiver may be out of order without losing an event; `None`: nobody says.
    pub outage: Option<Duration>,
    /// Events come in the order of what they announce, by the target's own word.
    pub ordered: bool,
    /// What an event keeps when it is delivered again, besides its id, by the target's own word.
    pub stable: Stable,
    /// Where the signature of a delivery stands; the first that matches counts.
    pub signature: Vec<Selector>,
    /// Tells the target where to deliver, once, before anything else is sent.
    pub register: Option<Action>,
}

/// What of a delivery is the same whenever its event is delivered again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stable {
    /// The body, byte for byte.
    pub body: bool,
    /// The signature, so that it is over nothing that an attempt has of its own.
    pub signature: bool,
}

/// Which deliveries are the events of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Events {
    /// Its name, which findings show.
    pub name: String,
    /// What a delivery must be; all must hold.
    pub conditions: Vec<EventCondition>,
    /// Where the id of an event stands; empty: where the sink says.
    pub ids: Vec<Selector>,
    /// How long an event may take to come; `None`: the target's `settle`.
    pub settle: Option<Duration>,
}

/// One condition on a delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCondition {
    /// What is looked at.
    pub selector: Selector,
    /// What it must be.
    pub wants: EventWants,
}

/// What a selected part of a delivery must be.
#[derive(Clone, Debug, PartialEq)]
pub enum EventWants {
    /// The same for every request.
    Fixed(Wants),
    /// This text, which is known only when the request is.
    Text(Template),
}

/// Where the id of an event stands unless the file says otherwise: the header of Standard Webhooks
/// 1.0, else the member that most bodies have.
pub fn usual_event_id() -> Vec<Selector> {
    ["header.webhook-id", "$.id"]
        .into_iter()
        .filter_map(|text| Selector::parse(text).ok())
        .collect()
}

/// Where the signature of a delivery stands unless the file says otherwise: in the header of Standard
/// Webhooks 1.0, of GitHub, or of Stripe.
pub fn usual_signature() -> Vec<Selector> {
    [
        "header.webhook-signature",
        "header.x-hub-signature-256",
        "header.stripe-signature",
    ]
    .into_iter()
    .filter_map(|text| Selector::parse(text).ok())
    .collect()
}
