//! Target.
