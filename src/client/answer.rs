//! Answers of ours, which stand for those that the API could have given.

use crate::contract::{Behaviour, Contract, Kind, RetryAfter, StatusPattern};
use crate::scenario::client::{ClientFault, Pause, PauseForm, Says};
use serde_json::json;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How the contract words what we say in its place.
#[derive(Clone, Debug)]
pub struct Answers {
    in_progress: Wording,
    mismatch: Wording,
}

/// The look of one answer.
#[derive(Clone, Debug)]
struct Wording {
    status: u16,
    /// Whether it says when to come back.
    pause: bool,
}

impl Answers {
    /// The answers of a contract; where it is silent, those that are the most usual.
    pub fn of(contract: &Contract) -> Answers {
        Answers {
            in_progress: wording(contract.in_progress.value.as_deref(), 409),
            mismatch: wording(contract.mismatch.value.as_deref(), 422),
        }
    }

    /// The status of an answer.
    pub fn status(&self, says: Says) -> u16 {
        match says {
            Says::Status(status) => status,
            Says::InProgress => self.in_progress.status,
            Says::Mismatch => self.mismatch.status,
        }
    }

    /// The answer that a fault gives, if it gives one.
    pub(super) fn given(&self, fault: ClientFault) -> Option<Given> {
        let ClientFault::Answer { says, pause } = fault else {
            return None;
        };
        let pause = pause.or_else(|| {
            (says == Says::InProgress && self.in_progress.pause).then_some(Pause {
                time: Duration::from_secs(1),
                form: PauseForm::Seconds,
            })
        });
        let status = self.status(says);
        let kind = match says {
            Says::InProgress => "idempotency_key_in_use",
            Says::Mismatch => "idempotency_key_reused",
            Says::Status(400 | 422) => "invalid_request",
            Says::Status(401) => "unauthenticated",
            Says::Status(429) => "rate_limited",
            Says::Status(_) => "api_error",
        };
        let message = format!("{status}, as a test asks for");
        let error = json!({ "code": kind, "type": kind, "message": message });
        let body = json!({ "error": error, "message": message, "code": status });
        Some(Given {
            status,
            back: pause.map(Back::asked),
            body: body.to_string(),
        })
    }
}

fn wording(promised: Option<&[Behaviour]>, usual: u16) -> Wording {
    let rejecting = promised
        .unwrap_or_default()
        .iter()
        .find(|way| matches!(way.kind, Kind::Reject | Kind::ConflictRef));
    let status = rejecting.and_then(|way| {
        way.status.iter().find_map(|pattern| match pattern {
            StatusPattern::Exact(status) if *status >= 400 => Some(*status),
            _ => None,
        })
    });
    Wording {
        status: status.unwrap_or(usual),
        pause: rejecting.is_some_and(|way| matches!(way.retry_after, Some(RetryAfter::Header))),
    }
}

/// An answer that is given.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) status: u16,
    pub(super) back: Option<Back>,
    pub(super) body: String,
}

/// When the client shall come back.
#[derive(Clone, Debug)]
pub(super) struct Back {
    /// The value of `Retry-After`.
    pub(super) header: String,
    /// How long from now that is.
    pub(super) time: Duration,
}

impl Back {
    fn asked(pause: Pause) -> Back {
        match pause.form {
            PauseForm::Seconds => Back {
                header: pause.time.as_secs().to_string(),
                time: pause.time,
            },
            PauseForm::Date => {
                let now = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                let date = Duration::from_secs((now + pause.time).as_secs() + 1);
                Back {
                    header: imf_fixdate(date),
                    time: date - now,
                }
            }
        }
    }
}

impl Given {
    /// The answer as HTTP/1.1.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let status = http::StatusCode::from_u16(self.status).ok();
        let reason = status.and_then(|status| status.canonical_reason());
        let mut text = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            self.status,
            reason.unwrap_or("Error"),
            self.body.len()
        );
        if let Some(back) = &self.back {
            text.push_str(&format!("Retry-After: {}\r\n", back.header));
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        text.into_bytes()
    }
}

/// A time since 1970 as an IMF-fixdate (RFC 9110, section 5.6.7).
fn imf_fixdate(time: Duration) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + time).to_string();
    let weekday = usize::try_from(time.as_secs() / 86_400 % 7).unwrap_or_default();
    let month: usize = text[5..7].parse().unwrap_or(1);
    format!(
        "{}, {} {} {} {} GMT",
        DAYS[weekday],
        &text[8..10],
        MONTHS[month - 1],
        &text[..4],
        &text[11..19]
    )
}

#[cfg(test)]
mod tests {
    use super::imf_fixdate;
    use std::time::Duration;

    #[test]
    fn a_date_is_written_as_http_writes_it() {
        let written = imf_fixdate(Duration::from_secs(784_111_777));
        assert_eq!(written, "Sun, 06 Nov 1994 08:49:37 GMT");
        let written = imf_fixdate(Duration::from_secs(1_709_164_800));
        assert_eq!(written, "Thu, 29 Feb 2024 00:00:00 GMT");
    }
}
