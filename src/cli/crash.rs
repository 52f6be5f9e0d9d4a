//! A bug of the tool itself: it is named, and takes no more with it than it must.

use super::screen;
use std::panic::{self, AssertUnwindSafe};

/// Says of a crash where it was, and nothing of what it was about: that may be what a target sent.
pub(super) fn name_crashes() {
    panic::set_hook(Box::new(|crash| {
        let place = crash.location().map_or_else(String::new, |place| {
            format!(" at {}:{}", place.file(), place.line())
        });
        screen::remark(&format!(
            "idemspec crashed{place}: this is a bug of its own"
        ));
    }));
}

/// What comes of some work; `None` if it crashed.
pub(super) fn survived<T>(work: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).ok()
}

#[cfg(test)]
mod tests {
    use super::survived;

    #[test]
    fn work_that_crashes_comes_to_nothing() {
        assert_eq!(survived(|| 1), Some(1));
        assert_eq!(survived(|| -> u32 { panic!("on purpose") }), None);
    }
}
