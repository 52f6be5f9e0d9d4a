//! The date of the first sending that goes with a key, where the policy wants one.

use std::time::UNIX_EPOCH;

use axum::http::HeaderMap;

use super::answer::{Answer, Problem};
use super::clock::Timestamp;
use super::flaw::Flaw;
use super::flaws::Matter;
use super::keyed::Keyed;
use super::policy::Expired;

impl Keyed {
    /// Refuses a key without its date, a date without its key, what is no date, and what lies
    /// further back than keys are kept.
    pub(super) fn check_date(&self, headers: &HeaderMap, key: Option<&str>) -> Result<(), Answer> {
        let Some(wanted) = &self.policy.key.first_sent else {
            return Ok(());
        };
        let flaw = self.flaws.of(Matter::FirstSent);
        if flaw == Some(Flaw::IgnoresFirstSent) {
            return Ok(());
        }
        let name = &wanted.header;
        let sent = headers.get(name.as_str());
        let (Some(sent), Some(_)) = (sent, key) else {
            if sent.is_none() && key.is_none() {
                return Ok(());
            }
            let detail = format!("Send {} and {name} together.", self.policy.key.place.name());
            return Err(Answer::refusal(
                Problem::DateMissing,
                detail,
                &wanted.missing,
                None,
            ));
        };
        let Some(date) = sent.to_str().ok().and_then(timestamp) else {
            let detail = format!("{name} must be a date such as Sun, 06 Nov 1994 08:49:37 GMT.");
            return Err(Answer::refusal(
                Problem::DateMalformed,
                detail,
                &wanted.malformed,
                None,
            ));
        };
        match &self.policy.expired {
            Expired::Refuse(look) if date <= self.expired() && flaw.is_none() => {
                let detail = "This key was first sent too long ago. Use a new key, if you must.";
                Err(Answer::refusal(Problem::KeyExpired, detail, look, None))
            }
            _ => Ok(()),
        }
    }
}

/// The time of an IMF-fixdate (RFC 9110, section 5.6.7), and of no other form of a date.
fn timestamp(text: &str) -> Option<Timestamp> {
    let date = httpdate::parse_http_date(text).ok()?;
    if httpdate::fmt_http_date(date) != text {
        return None;
    }
    let since = date.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn only_one_form_of_a_date_is_one() {
        assert_eq!(
            timestamp("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(784_111_777_000)
        );
        for other in [
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "1994-11-06T08:49:37Z",
            "",
        ] {
            assert_eq!(timestamp(other), None, "{other}");
        }
    }
}
