//! The body stays the same.

use super::Said;
use super::operations::Operation;

/// Whether all attempts of an operation have the same body, byte for byte. A key in it is another
/// check's.
pub(super) fn same(operation: &Operation<'_>) -> Said {
    let compared = operation.compared(|first, again| again.body_digest == first.body_digest);
    match compared {
        Err(said) => said,
        Ok((requests, None)) => Said::held(format!(
            "the same body in {} attempts ({})",
            requests.len(),
            operation.met()
        )),
        Ok((requests, Some(at))) => Said::broken(format!(
            "the body of attempt {} differs from the first ({} and {} bytes): {}",
            at + 1,
            requests[at].body_bytes,
            requests[0].body_bytes,
            operation.met()
        )),
    }
}
