//! What a target promises.
