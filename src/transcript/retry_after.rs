//! What answers say of coming again later.

use super::{Exchange, Response};
use crate::outcome::Meaning;
use std::time::Duration;

impl Response {
    /// How long its Retry-After asks to wait; `None` where it has none.
    pub fn pause(&self) -> Option<Pause> {
        let value = self.header("retry-after").next()?;
        Some(pause(value, self.header("date").next()))
    }

    /// The same, where it can be told.
    pub fn asked_pause(&self) -> Option<Duration> {
        match self.pause()? {
            Pause::For(pause) => Some(pause),
            Pause::Unknown | Pause::Unsound => None,
        }
    }
}

impl Exchange {
    /// Whether it was refused for its rate, or for the load of the target (a 503 that tells when to come
    /// again, RFC 9110, section 15.6.4): it got no further than that.
    pub fn was_refused(&self) -> bool {
        let overloaded = self
            .response
            .as_ref()
            .is_some_and(|response| response.status == 503 && response.pause().is_some());
        self.outcome.is_within(Meaning::RateLimited.into())
            || overloaded && self.outcome.is_within(Meaning::ServerError.into())
    }
}

/// How long an answer asks to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// So long.
    For(Duration),
    /// A date, and no other date to hold it against.
    Unknown,
    /// Neither seconds nor a date.
    Unsound,
}

/// How long a Retry-After asks for (RFC 9110, section 10.2.3).
fn pause(value: &str, date: Option<&str>) -> Pause {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
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
pub fn http_date(text: &str) -> Option<u64> {
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
    use super::{Duration, Pause, http_date, pause};

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
