//! A report as text.
