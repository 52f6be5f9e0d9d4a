//! idemspec proves whether an HTTP API is safe to retry.
//!
//! One straight line, and nothing points back:
//!
//! ```text
//! scenarios/*.yaml ─┐
//! target.yaml ──────┼─ plan ─► Plan ─ run ─► Transcript ─ judge ─► Findings ─ grade ─► Report ─ render ─► text
//! contract ─────────┘  pure          IO                   pure              pure              pure
//! ```
//!
//! The runner writes down what happened; judging is a pure function of transcript, contract and
//! scenario. `tests/architecture.rs` keeps the layering.

pub mod checklist;
pub mod cli;
pub mod client;
pub mod contract;
pub mod demo;
pub mod demo_client;
pub mod grade;
pub mod hook;
pub mod judge;
pub mod openapi;
pub mod outcome;
pub mod plan;
pub mod process;
pub mod promise;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod signal;
pub mod target;
pub mod target_check;
pub mod transcript;
pub mod verdict;
pub mod xml;
pub mod yaml;
