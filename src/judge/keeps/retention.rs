//! For how long a key is remembered, and what it does after that.

use super::{Look, first_success, kept, only, says, who};
use crate::contract::Lifetime;
use crate::judge::view::{View, began};
use crate::outcome::{Meaning, Outcome};
use crate::transcript::{Exchange, Response};
use std::time::Duration;

/// The share of a promised time after which a replay shows something of it.
const MOST: f64 = 0.8;

/// How old the key was, by the target's time, since its first success.
pub(in crate::judge) fn age(view: &View<'_>, exchange: &Exchange) -> Option<Duration> {
    let (_, first) = first_success(view, exchange)?;
    let moved: Duration = view
        .round
        .hooks
        .iter()
        .filter(|hook| hook.at >= first.times.ended && hook.at <= began(exchange))
        .filter_map(|hook| hook.moved)
        .sum();
    Some(moved.max(began(exchange).saturating_sub(first.times.ended)))
}

fn written(age: Duration) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(age.as_secs().max(1)))
}

/// Whether the key is remembered for as long as was promised.
pub(super) fn kept_for(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let age = age(view, exchange);
    let replayed = exchange.outcome.is_within(Meaning::Replayed.into());
    if let (Some(age), Some(Lifetime::Limited(promised))) = (age, view.contract.lifetime.value) {
        if age > promised.min && !replayed {
            return Look::Void(format!(
                "void: {} was sent after the retention",
                who(exchange)
            ));
        }
        if age < promised.min.mul_f64(MOST) && replayed {
            return Look::Nothing(format!(
                "{} was sent at the age of {}, long before the end of the retention",
                who(exchange),
                written(age)
            ));
        }
    }
    let says = match age {
        Some(age) => format!(
            "{} at the age of {}",
            says(exchange, response),
            written(age)
        ),
        None => says(exchange, response),
    };
    let kept = if replayed {
        Some(true)
    } else if exchange.outcome.may_be(Meaning::Replayed)
        || exchange.outcome.is_within(Outcome::FOR_NOW)
    {
        None
    } else {
        Some(false)
    };
    Look::Seen(says, kept)
}

/// Whether the key does after its time what was promised.
pub(super) fn after(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    if let (Some(age), Some(lifetime)) = (age(view, exchange), view.contract.lifetime.value) {
        let replayed = exchange.outcome.is_within(Meaning::Replayed.into());
        let over = match lifetime {
            Lifetime::Forever => false,
            // What is to be remembered for a time at least may be remembered for longer.
            Lifetime::Limited(promised) if replayed => promised.max.is_some_and(|max| age > max),
            Lifetime::Limited(promised) => age > promised.min,
        };
        if !over {
            return Look::Nothing(format!(
                "at the age of {} the retention need not be over",
                written(age)
            ));
        }
    }
    Look::Seen(
        match only(exchange.outcome) {
            Some(Meaning::Executed) => "executed anew".to_owned(),
            _ => says(exchange, response),
        },
        kept(view, &view.contract.expired, exchange, response),
    )
}
