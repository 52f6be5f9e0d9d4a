//! The only module that talks to a target.

pub mod wire;
