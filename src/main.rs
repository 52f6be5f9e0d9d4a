//! The command `idemspec`.

fn main() {}
