//! The body stays the same.

use super::Said;
use super::operations::Operation;

/// Whether all attempts of an operation have the same body, byte for byte. A key in it is another
/// check's.
pub(super) fn same(operation: &Operation<'_>) -> Said {
    let requests = operation.requests();
    let [(_, first), again @ ..] = &requests[..] else {
        return Said::not_shown("no request was read");
    };
    if again.is_empty() {
        return Said::does_not_apply(format!("it sent nothing again ({})", operation.met()));
    }
    let differs = again
        .iter()
        .position(|(_, request)| request.body_digest != first.body_digest);
    match differs {
        None => Said::held(format!(
            "the same body in {} attempts ({})",
            requests.len(),
            operation.met()
        )),
        Some(at) => Said::broken(format!(
            "the body of attempt {} differs from the first ({} and {} bytes): {}",
            at + 2,
            again[at].1.body_bytes,
            first.body_bytes,
            operation.met()
        )),
    }
}
