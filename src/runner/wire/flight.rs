//! One request on its way.

use std::time::Instant;

use crate::runner::wire::done::{Delivery, Done, Ending, Times};
use crate::runner::wire::release::Releaser;
use crate::runner::wire::request::Close;

/// Something that happens to a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// The connection stood.
    Connected,
    /// The last byte of the request had been handed to the kernel.
    Sent,
    /// The first byte of the response was read.
    FirstByte,
    /// The last byte of the response was read.
    LastByte,
    /// The exchange ended, in whatever way.
    Ended,
}

/// One prepared request. Dropping it closes its connection.
#[derive(Debug)]
pub struct Flight;

impl Flight {
    /// Sends what is held. Later calls do nothing.
    pub fn release(&self) {}
    /// A handle that only releases.
    pub fn releaser(&self) -> Releaser {
        Releaser {
            release: std::sync::Arc::new(|| {}),
        }
    }
    /// Calls as near to the moment as possible, on whatever thread it happens on; at once if it
    /// has happened, never if it never does. The call must not block.
    pub fn watch(&self, _moment: Moment, _call: Box<dyn FnOnce(Instant) + Send>) {}
    /// Closes now; the exchange ends as [`Ending::HungUp`].
    pub fn cut(&self, _close: Close) {}
    /// When the last byte of the request had been handed to the kernel.
    pub fn sent_at(&self) -> Option<Instant> {
        None
    }
    /// Waits for the end.
    pub async fn done(self) -> Done {
        let now = Instant::now();
        Done {
            times: Times {
                connected: now,
                released: None,
                sent: None,
                first_byte: None,
                last_byte: None,
                ended: now,
            },
            ending: Ending::Broken {
                says: "not there yet".into(),
            },
            delivery: Delivery::NotSent,
            response: None,
            fault: None,
            late: None,
            connection: None,
        }
    }
}
