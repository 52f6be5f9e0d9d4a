//! `recovered`: a retry came to its end, and how long its key was blocked.

use super::ruling::Ruling;
use super::view::{View, began, got, time};
use crate::outcome::Meaning;
use std::time::Duration;

/// How long a key may be blocked where no lock timeout is declared.
const PATIENCE: Duration = Duration::from_secs(65);

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, within: Option<Duration>) -> Ruling {
    let attempts = view.all(of);
    let (Some((_, first)), Some((last_index, last))) = (attempts.first(), attempts.last()) else {
        return view.never_sent(of);
    };
    let Some(facts) = view.round.retries.iter().find(|facts| facts.step == of) else {
        return Ruling::nothing(format!("it is not known how the retry `{of}` went"));
    };
    let limit = within.or(view.contract.lock_timeout).unwrap_or(PATIENCE);
    let blocked = began(last).saturating_sub(began(first));
    let millis = u64::try_from(blocked.as_millis()).unwrap_or(u64::MAX);
    let seen = [*last_index];
    if !facts.ended {
        if last.outcome.is_within(Meaning::RateLimited.into()) {
            return Ruling::nothing(format!(
                "`{of}` was still refused for its rate after {}",
                time(facts.took)
            ));
        }
        let says = match &last.response {
            None => format!("`{of}` {} after {}", got(last), time(facts.took)),
            Some(_) if last.outcome.is_within(Meaning::InFlight.into()) => {
                format!("still in flight after {}: stuck", time(facts.took))
            }
            Some(response) => format!(
                "still {} ({}) after {}",
                last.outcome,
                response.status,
                time(facts.took)
            ),
        };
        return Ruling::broken(says).weighing(millis).seen_in(seen);
    }
    // The key may have been free at any time after the last attempt that met it blocked.
    let surely_blocked = attempts
        .len()
        .checked_sub(2)
        .map_or(Duration::ZERO, |index| {
            began(attempts[index].1).saturating_sub(began(first))
        });
    let says = if attempts.len() == 1 {
        format!("at once: {}", last.outcome)
    } else {
        format!("blocked for {}, then {}", time(blocked), last.outcome)
    };
    let ruling = if surely_blocked > limit {
        Ruling::broken(format!("{says}; {} are allowed", time(limit)))
    } else {
        Ruling::held(says.clone())
    };
    ruling
        .with_observed(vec![says])
        .weighing(millis)
        .seen_in(seen)
}
