//! `answered`: every copy got its answer in time. Beside `recovered` and `unaffected` the only
//! check that a missing response breaks.

use super::ruling::Ruling;
use super::view::{View, got, time, took, who};
use crate::scenario::{Quantity, TimeSpan};
use crate::transcript::{Delivery, Ending, Exchange};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, within: TimeSpan) -> Ruling {
    let standing = view.standing(of);
    if standing.is_empty() {
        return view.never_sent(of);
    }
    let Some(limit) = view.span(within) else {
        return Ruling::nothing(format!("`{within}` is not known"));
    };
    // A share of the plain request's latency says nothing about a slow variant.
    let of_another = |exchange: &Exchange| {
        within.quantity() == Some(Quantity::Latency) && !exchange.variants.is_empty()
    };
    let mut slowest = std::time::Duration::ZERO;
    let rulings: Vec<Ruling> = standing
        .into_iter()
        .map(|(index, exchange)| {
            let name = who(exchange);
            let own_doing = exchange.ending == Ending::HungUp
                || exchange.delivery == Delivery::NotSent
                || exchange.fault.is_some();
            let ruling = if exchange.response.is_none() {
                if own_doing {
                    Ruling::nothing(format!("{name} {}", got(exchange)))
                } else {
                    Ruling::broken(format!("{name} {}", got(exchange)))
                }
            } else if took(exchange) <= limit {
                slowest = slowest.max(took(exchange));
                Ruling::held(format!("answered within {}", time(took(exchange))))
            } else if of_another(exchange) {
                Ruling::nothing(format!(
                    "{name} was answered after {}, and the latency of its variant is not known",
                    time(took(exchange))
                ))
            } else {
                Ruling::broken(format!(
                    "{name} was answered after {}, later than {}",
                    time(took(exchange)),
                    time(limit)
                ))
            };
            ruling
                .weighing(u64::try_from(took(exchange).as_millis()).unwrap_or(u64::MAX))
                .seen_in([index])
        })
        .collect();
    Ruling::gravest(rulings).unwrap_or_else(|| view.never_sent(of))
}
