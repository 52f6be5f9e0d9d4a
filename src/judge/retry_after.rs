//! `retry-after`: where a client is told to come again, it is told when, and that soon enough.

use super::ruling::Ruling;
use super::view::{View, time, who};
use crate::outcome::Meaning;
use crate::transcript::{Exchange, Pause, Response};
use std::time::Duration;

/// The longest pause that is sound where no lock timeout is declared.
const LONGEST: Duration = Duration::from_secs(3600);

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str) -> Ruling {
    let all = view.all(of);
    if all.is_empty() {
        return view.never_sent(of);
    }
    let rulings = all.into_iter().filter_map(|(index, exchange)| {
        let response = exchange.response.as_ref()?;
        let wanted = matches!(response.status, 429 | 503)
            || (!response.success && exchange.outcome.is_within(Meaning::InFlight.into()));
        wanted.then(|| one(view, exchange, response).seen_in([index]))
    });
    Ruling::gravest(rulings).unwrap_or_else(|| {
        Ruling::void("void: nobody was told to come again (409 in progress, 429 or 503)")
    })
}

fn one(view: &View<'_>, exchange: &Exchange, response: &Response) -> Ruling {
    let name = who(exchange);
    let status = response.status;
    let (Some(value), Some(pause)) = (response.header("retry-after").next(), response.pause())
    else {
        return Ruling::broken(format!("{name} got {status} without Retry-After"));
    };
    let longest = view.contract.lock_timeout.unwrap_or(LONGEST);
    match pause {
        Pause::For(pause) if pause.is_zero() => Ruling::broken(format!(
            "{name} got {status} with Retry-After {value}: at once"
        )),
        Pause::For(pause) if pause > longest => Ruling::broken(format!(
            "{name} got {status} with Retry-After {value}, longer than {}",
            time(longest)
        )),
        Pause::For(_) => Ruling::held(format!("{name} got {status} with Retry-After {value}")),
        Pause::Unknown => Ruling::nothing(format!(
            "{name} got the date {value} without a Date to count from"
        )),
        Pause::Unsound => Ruling::broken(format!(
            "{name} got {status} with Retry-After {value}, which is neither seconds nor a date"
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, contract, expecting, judged, paid, round, verdict};
    use crate::verdict::Verdict;

    const CLAIM: &str = "retry-after: { of: again }";

    #[test]
    fn a_sound_pause_holds_and_none_or_an_unsound_one_breaks_it() {
        let told = |value: &str| {
            let limited = answered("again", 429).header("Retry-After", value);
            verdict(CLAIM, round([limited])).0
        };
        assert_eq!(told("1"), Verdict::Pass);
        assert_eq!(told("0"), Verdict::Fail);
        assert_eq!(told("3601"), Verdict::Fail);
        assert_eq!(told("later"), Verdict::Fail);
        assert_eq!(told("Sun, 06 Nov 1994 08:49:37 GMT"), Verdict::Inconclusive);
        let untold = round([answered("again", 503)]);
        assert_eq!(verdict(CLAIM, untold).0, Verdict::Fail);
    }

    #[test]
    fn it_is_wanted_only_where_one_is_told_to_come_again() {
        let done = round([paid("first", "pay_1"), paid("again", "pay_1")]);
        assert_eq!(verdict(CLAIM, done).0, Verdict::Skip);
        let running = round([
            paid("first", "pay_1").at(0, 100),
            answered("again", 409).at(10, 20),
        ]);
        assert_eq!(verdict(CLAIM, running).0, Verdict::Fail);
    }

    #[test]
    fn a_pause_is_no_longer_than_the_declared_lock_timeout() {
        let contract = contract("extends: generic\nlock-timeout: 5s");
        let limited = round([answered("again", 429).header("Retry-After", "6")]);
        let finding = judged(&expecting(CLAIM), &contract, vec![limited]);
        assert_eq!(finding.verdict, Verdict::Fail);
    }

    #[test]
    fn no_pause_is_wanted_of_a_refusal_for_good_or_of_what_was_accepted() {
        let refused = round([paid("first", "pay_1"), answered("again", 404)]);
        assert_eq!(verdict(CLAIM, refused).0, Verdict::Skip);
        let accepts = contract(
            "extends: generic\non: { in-progress: { outcome: accepted, strength: must } }",
        );
        let accepted = round([
            paid("first", "pay_1").at(0, 100),
            answered("again", 202).at(10, 20),
        ]);
        let finding = judged(&expecting(CLAIM), &accepts, vec![accepted]);
        assert_eq!(finding.verdict, Verdict::Skip, "{}", finding.reason);
    }

    #[test]
    fn a_pause_of_just_the_longest_time_is_sound_and_an_empty_one_is_not() {
        let told = |value: &str| {
            let limited = answered("again", 429).header("Retry-After", value);
            verdict(CLAIM, round([limited])).0
        };
        assert_eq!(told("3600"), Verdict::Pass);
        assert_eq!(told(""), Verdict::Fail);
    }
}
