//! The command `idemspec`; everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    idemspec::cli::main()
}
