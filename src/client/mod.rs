//! The other side: a server that stands before an API, does to a client's requests what a scenario
//! says, and writes down every attempt. What the attempts mean is judged elsewhere.
//!
//! It listens on a free loopback port, speaks HTTP/1.1 with and without TLS, and can be taken for a
//! proxy. What is let through goes on byte for byte, but for our own address in `Host`.

mod answer;
mod audit;
mod book;
mod clock;
mod command;
mod connection;
mod content;
mod door;
mod line;
mod masks;
mod message;
mod refusals;
mod relay;
mod subject;
#[cfg(test)]
mod tests;
mod tls;
mod upstream;

pub use answer::Answers;
pub use audit::{Audit, CERTIFICATE, MOST_ATTEMPTS};
pub use clock::Clock;
pub use refusals::counts_refused;
pub use subject::Subject;
pub use tls::Authority;
pub use upstream::Upstream;
