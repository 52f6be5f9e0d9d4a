//! The other side: a server that stands before an API, does to a client's requests what a scenario
//! says, and writes down every attempt. What the attempts mean is judged elsewhere.
//!
//! It listens on a free loopback port, speaks HTTP/1.1 and HTTP/2 with and without TLS, and can be
//! taken for a proxy. What is let through over HTTP/1.1 goes on byte for byte, but for our own address
//! in `Host`; over HTTP/2 so do headers, contents and trailers.

mod answer;
mod api;
mod audit;
mod body;
mod book;
mod clock;
mod command;
mod connection;
mod content;
mod dealer;
mod door;
mod http2;
mod line;
mod masks;
mod message;
mod primed;
mod refusals;
mod relay;
mod stream;
mod subject;
#[cfg(test)]
mod tests;
mod tls;
mod upstream;
mod watch;

pub use answer::Answers;
pub use audit::{Audit, CERTIFICATE, MOST_ATTEMPTS};
pub use clock::Clock;
pub use dealer::{Card, Dealt};
pub use refusals::counts_refused;
pub use subject::Subject;
pub use tls::Authority;
pub use upstream::Upstream;
pub use watch::Watched;
