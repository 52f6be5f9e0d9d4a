//! `overlap`: a copy of one step was sent while the other step still ran.

use super::ruling::Ruling;
use super::view::{View, began};
use crate::outcome::Meaning;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, with: &str) -> Ruling {
    let copies = view.all(of);
    let running = view.all(with);
    if copies.is_empty() {
        return view.never_sent(of);
    }
    if running.is_empty() {
        return view.never_sent(with);
    }
    let met: Vec<usize> = copies
        .iter()
        .filter(|(_, copy)| {
            // A copy that was turned away for its rate met nobody.
            let counts = !copy.outcome.is_within(Meaning::RateLimited.into());
            copy.times.sent.is_some_and(|sent| {
                counts
                    && running.iter().any(|(_, other)| {
                        let over = other.times.last_byte.unwrap_or(other.times.ended);
                        began(other) <= sent && sent < over
                    })
            })
        })
        .map(|(index, _)| *index)
        .collect();
    if met.is_empty() {
        Ruling::broken(format!(
            "no request of `{of}` was sent while `{with}` still ran"
        ))
    } else {
        Ruling::held(format!(
            "{} of {} requests of `{of}` were sent while `{with}` still ran",
            met.len(),
            copies.len()
        ))
        .seen_in(met)
    }
}
