//! `${now+1h}` and `${today-7d}`.

use std::time::Duration;
use std::time::SystemTime;

use super::duration;

/// The furthest shift; with it every year has four digits, as RFC 3339 wants.
const FURTHEST: Duration = Duration::from_secs(36_500 * 86_400);

/// A time relative to now, or a date relative to today, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeShift {
    /// Whether only the date is wanted.
    pub date_only: bool,
    /// Whether the shift goes back.
    pub back: bool,
    /// How far.
    pub by: Duration,
}

impl TimeShift {
    /// The text for a given now: `2026-01-31T12:00:00Z`, or the date alone.
    pub fn text(&self, now: SystemTime) -> String {
        let shifted = if self.back {
            now.checked_sub(self.by)
        } else {
            now.checked_add(self.by)
        };
        // Times before 1970 cannot be written by the formatter, and no test needs them.
        let shifted = shifted.unwrap_or(now).max(SystemTime::UNIX_EPOCH);
        let text = humantime::format_rfc3339_seconds(shifted).to_string();
        match self.date_only {
            true => text.chars().take_while(|c| *c != 'T').collect(),
            false => text,
        }
    }
}

/// Parses `now`, `now+1h`, `today-7d`; `None` if it is none of these at all.
pub fn time_shift(name: &str) -> Option<Result<TimeShift, String>> {
    let (date_only, rest) = match (name.strip_prefix("now"), name.strip_prefix("today")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    let shift = |back, by| TimeShift {
        date_only,
        back,
        by,
    };
    let parse = |by| {
        let by = duration::parse(by)?;
        match by <= FURTHEST {
            true => Ok(by),
            false => Err("a time is shifted by at most 36500d".to_string()),
        }
    };
    match rest.split_at_checked(1) {
        None => Some(Ok(shift(false, Duration::ZERO))),
        Some(("+", by)) => Some(parse(by).map(|by| shift(false, by))),
        Some(("-", by)) => Some(parse(by).map(|by| shift(true, by))),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shifted_in_both_directions() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(12 * 3600);
        let text = |name| {
            time_shift(name)
                .expect("a time")
                .expect("a good one")
                .text(noon)
        };
        assert_eq!(text("now"), "1970-01-01T12:00:00Z");
        assert_eq!(text("now+1h"), "1970-01-01T13:00:00Z");
        assert_eq!(text("today+7d"), "1970-01-08");
        assert_eq!(text("today"), "1970-01-01");
        assert_eq!(text("now-2h"), "1970-01-01T10:00:00Z");
        assert_eq!(text("today-7d"), "1970-01-01");
        assert_eq!(text("today+36500d"), "2069-12-07");
        assert!(time_shift("now+1").expect("a time").is_err());
        assert!(time_shift("now+36501d").expect("a time").is_err());
        assert!(time_shift("nowhere").is_none());
    }
}
