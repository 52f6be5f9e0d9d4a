//! The demo API.
