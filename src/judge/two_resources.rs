//! `two-resources`: two successes of two keys name two resources.

use super::ruling::Ruling;
use super::view::{View, got, succeeded, who};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String; 2]) -> Ruling {
    let mut pair = Vec::new();
    for step in of {
        let Some((index, exchange)) = view.standing(step).last().copied() else {
            return view.never_sent(step);
        };
        let Some(response) = &exchange.response else {
            return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
        };
        if !succeeded(exchange) {
            return Ruling::void(format!(
                "void: {} was {}, not a success",
                who(exchange),
                exchange.outcome
            ));
        }
        pair.push((index, response.identity.as_deref()));
    }
    let seen = pair.iter().map(|(index, _)| *index).collect::<Vec<_>>();
    match (pair[0].1, pair[1].1) {
        (Some(one), Some(other)) if one == other => Ruling::broken(format!(
            "`{}` and `{}` were both given {one}: two keys, one resource",
            of[0], of[1]
        ))
        .seen_in(seen),
        (Some(one), Some(other)) => {
            Ruling::held(format!("{one} and {other}: two resources")).seen_in(seen)
        }
        _ => Ruling::nothing("the responses name no resource that could be compared"),
    }
}
