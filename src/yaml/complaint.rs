//! Part of the yaml module.
