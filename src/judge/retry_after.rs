//! `retry-after`: where a client is told to come again, it is told when, and that soon enough.

use super::ruling::Ruling;
use super::view::{View, time, who};
use crate::outcome::Meaning;
use crate::transcript::{Exchange, Response};
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
    let Some(value) = response.header("retry-after").next() else {
        return Ruling::broken(format!("{name} got {status} without Retry-After"));
    };
    let longest = view.contract.lock_timeout.unwrap_or(LONGEST);
    match pause(value, response.header("date").next()) {
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

enum Pause {
    For(Duration),
    /// A date, and no other date to hold it against.
    Unknown,
    Unsound,
}

/// How long a Retry-After asks for (RFC 9110, section 10.2.3).
fn pause(value: &str, date: Option<&str>) -> Pause {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.parse().map_or(Pause::Unsound, |seconds| {
            Pause::For(Duration::from_secs(seconds))
        });
    }
    match (http_date(value), date.map(http_date)) {
        (None, _) => Pause::Unsound,
        (Some(_), None | Some(None)) => Pause::Unknown,
        (Some(then), Some(Some(now))) => Pause::For(Duration::from_secs(then.saturating_sub(now))),
    }
}

/// Seconds of a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7), counted
/// from the year 0; only differences mean anything.
pub(super) fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day: u64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64;
    let year: u64 = parts.next()?.parse().ok()?;
    let mut clock = parts.next()?.splitn(3, ':').map(str::parse::<u64>);
    let mut next = || clock.next()?.ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    if parts.next()? != "GMT" || parts.next().is_some() || !(1..=31).contains(&day) {
        return None;
    }
    // Days by the civil calendar, the year beginning in March so that a leap day comes last.
    let shifted = (month + 10) % 12;
    let year = if shifted >= 10 {
        year.checked_sub(1)?
    } else {
        year
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (306 * shifted + 5) / 10 + day;
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::{Pause, http_date, pause};
    use crate::judge::sample::{answered, contract, expecting, judged, paid, round, verdict};
    use crate::verdict::Verdict;
    use std::time::Duration;

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
    fn dates_are_counted_over_the_end_of_a_leap_february() {
        let before = http_date("Wed, 28 Feb 2024 23:59:30 GMT").expect("a date");
        let after = http_date("Fri, 01 Mar 2024 00:00:30 GMT").expect("a date");
        assert_eq!(after - before, 24 * 3600 + 60);
        let year = http_date("Tue, 31 Dec 2024 23:59:59 GMT").expect("a date");
        let next = http_date("Wed, 01 Jan 2025 00:00:00 GMT").expect("a date");
        assert_eq!(next - year, 1);
    }

    #[test]
    fn a_date_needs_another_date_and_anything_else_is_unsound() {
        let then = "Sun, 06 Nov 1994 08:50:37 GMT";
        assert!(matches!(pause(then, None), Pause::Unknown));
        assert!(matches!(
            pause(then, Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            Pause::For(time) if time == Duration::from_secs(60)
        ));
        assert!(matches!(pause("soon", None), Pause::Unsound));
        assert!(matches!(pause("-1", None), Pause::Unsound));
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

    #[test]
    fn what_only_looks_like_a_date_is_none() {
        for text in [
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 GMT +1",
        ] {
            assert_eq!(http_date(text), None, "{text}");
        }
    }
}
