//! Connections of our own: hyper reads what comes, and every byte that goes out or comes in passes
//! through our hands, where it is timed and can be held back or cut off.
//!
//! One [`Connection`] carries one [`Flight`] at a time. Nothing here retries, follows redirects,
//! decompresses or opens a second connection on its own, and nothing here knows of scenarios or
//! targets.

mod account;
mod batch;
mod connect;
mod done;
mod drive;
mod encode;
mod flight;
mod frames;
mod http2;
mod line;
mod receive;
mod release;
mod request;
mod scan;
mod socket;
mod status;
mod story;
mod tap;
mod tls;
mod volley;

#[cfg(test)]
mod tests;

pub use connect::{
    Connection, Endpoint, Identity, Scheme, TlsOptions, Unreachable, Version, Wire, WireError,
};
pub use done::{Delivery, Done, Ending, FaultReport, LateResponse, Response, Times};
pub use flight::{Cutter, Flight, Moment};
pub use release::{ReleaseSpread, Releaser, release_at, release_together};
pub use request::{Close, Controls, Fault, Hold, Outgoing, ResponsePart};
pub use tls::client as client_config;
