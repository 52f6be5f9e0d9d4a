//! `outcome`: what the responses of steps mean, as sets: inside is a pass, disjoint a break, and
//! everything between shows nothing.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::OutcomeBound;
use crate::transcript::Exchange;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String], bound: OutcomeBound) -> Ruling {
    let mut broken: Vec<(usize, &Exchange)> = Vec::new();
    let mut fits: Vec<usize> = Vec::new();
    let mut nothing: Option<String> = None;
    let mut left_out = 0;
    for step in of {
        let standing = view.standing(step);
        if standing.is_empty() {
            return view.never_sent(step);
        }
        let answered = standing
            .iter()
            .filter(|(_, exchange)| exchange.response.is_some())
            .count();
        let may_lose = view.is_burst(step) && answered >= 2 && answered * 2 >= standing.len();
        for (index, exchange) in standing {
            if exchange.response.is_none() {
                if may_lose {
                    left_out += 1;
                } else {
                    nothing.get_or_insert_with(|| format!("{} {}", who(exchange), got(exchange)));
                }
                continue;
            }
            if repeats(exchange.outcome) && view.outlived(exchange) {
                nothing.get_or_insert_with(|| {
                    format!(
                        "{} was sent after the key's retention had run out",
                        who(exchange)
                    )
                });
                continue;
            }
            match fit(bound, exchange.outcome) {
                Some(true) => fits.push(index),
                Some(false) => broken.push((index, exchange)),
                None => {
                    nothing.get_or_insert_with(|| {
                        format!("{} {}: {}", who(exchange), got(exchange), exchange.outcome)
                    });
                }
            }
        }
    }
    let lost = if left_out == 0 {
        String::new()
    } else {
        format!("; {left_out} copies got no response and are left out")
    };
    if let OutcomeBound::Some(wanted) = bound {
        return match (fits.is_empty(), nothing) {
            (false, _) => Ruling::held(format!("one was {wanted}{lost}")).seen_in(fits),
            (true, Some(why)) => Ruling::nothing(why),
            (true, None) => Ruling::broken(format!("none was {wanted}{lost}"))
                .seen_in(broken.iter().map(|(index, _)| *index)),
        };
    }
    if let Some((_, first)) = broken.first() {
        let wanted = match bound {
            OutcomeBound::Is(wanted) => format!(", and must be {wanted}"),
            _ => String::new(),
        };
        let more = match broken.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let ruling = Ruling::broken(format!(
            "{} {}: {}{wanted}{more}",
            who(first),
            got(first),
            first.outcome
        ))
        .seen_in(broken.iter().map(|(index, _)| *index))
        .weighing(broken.len() as u64);
        // Somebody else's data is harm whatever else went wrong; a second execution after a first
        // one that failed is none.
        let harm = matches!(bound, OutcomeBound::Never(_))
            && broken.iter().any(|(_, exchange)| {
                exchange.outcome.is_within(Meaning::Foreign.into()) && !view.lets_in(exchange)
            });
        return if harm { ruling.standing() } else { ruling };
    }
    match nothing {
        Some(why) => Ruling::nothing(why),
        None => Ruling::held(match (bound, fits.as_slice()) {
            (OutcomeBound::Is(_), [only]) => {
                let exchange = &view.round.exchanges[*only];
                format!(
                    "{} {}: {}{lost}",
                    who(exchange),
                    got(exchange),
                    exchange.outcome
                )
            }
            (OutcomeBound::Is(wanted), all) => {
                format!("all {} responses are {wanted}{lost}", all.len())
            }
            (_, all) => format!("none of {} responses is that{lost}", all.len()),
        })
        .seen_in(fits),
    }
}

/// Whether an outcome fits a bound; `None` where it may or may not.
fn fit(bound: OutcomeBound, outcome: Outcome) -> Option<bool> {
    match bound {
        OutcomeBound::Is(wanted) | OutcomeBound::Some(wanted) => {
            if outcome.is_within(wanted) {
                Some(true)
            } else {
                outcome.is_disjoint(wanted).then_some(false)
            }
        }
        OutcomeBound::Never(unwanted) => {
            if outcome.is_disjoint(unwanted) {
                Some(true)
            } else {
                outcome.is_within(unwanted).then_some(false)
            }
        }
    }
}

/// Whether it says something about a repeat: executed or replayed.
fn repeats(outcome: Outcome) -> bool {
    outcome.is_within(Outcome::SUCCESS)
}
