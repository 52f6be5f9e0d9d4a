//! Who calls: the fixed set of bearer tokens that the demo knows.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

use super::answer::{Answer, Problem};

/// A caller whose credentials are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The tenant: everything that is stored belongs to one.
    pub tenant: &'static str,
    /// The token that it came with.
    pub token: &'static str,
    /// Whether the caller may write.
    may_write: bool,
}

impl Caller {
    /// Finds out who calls, or answers 401.
    pub fn authenticate(headers: &HeaderMap) -> Result<Caller, Answer> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(unauthorized("Send one Authorization header."));
        };
        let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return Err(unauthorized("Send Authorization: Bearer with a token."));
        };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(unauthorized("Send Authorization: Bearer with a token."));
        }
        match token.trim() {
            // Another session of the same tenant is the same scope for keys.
            "tenant-a" => Ok(Caller::new("tenant-a", "tenant-a", true)),
            "tenant-a-other" => Ok(Caller::new("tenant-a", "tenant-a-other", true)),
            "tenant-a-reader" => Ok(Caller::new("tenant-a", "tenant-a-reader", false)),
            "tenant-b" => Ok(Caller::new("tenant-b", "tenant-b", true)),
            "tenant-a-expired" => Err(unauthorized("The token has expired.")),
            _ => Err(unauthorized("The token is not known.")),
        }
    }

    /// Answers 403 to a caller that may only read.
    pub fn authorize_write(self) -> Result<(), Answer> {
        if self.may_write {
            return Ok(());
        }
        Err(Answer::problem(
            Problem::Forbidden,
            "These credentials may read only.",
        ))
    }

    fn new(tenant: &'static str, token: &'static str, may_write: bool) -> Caller {
        Caller {
            tenant,
            token,
            may_write,
        }
    }
}

fn unauthorized(detail: &str) -> Answer {
    Answer::problem(Problem::Unauthorized, detail)
}
