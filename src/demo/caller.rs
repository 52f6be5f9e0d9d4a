//! Who calls: the fixed set of bearer tokens that the demo knows, and guests without any.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

use super::answer::{Answer, Problem};

/// The tenant of all guests: callers without credentials who say that they are guests.
pub const GUEST: &str = "guest";

/// The token whose grant the admin listener can take away.
pub const GRANTEE: &str = "tenant-a-temp";

/// The header by which a caller without credentials asks to be a guest.
const GUEST_HEADER: &str = "demo-guest";

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
        if !headers.contains_key(AUTHORIZATION) && headers.contains_key(GUEST_HEADER) {
            return Ok(Caller::new(GUEST, GUEST, true));
        }
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
            // Its grant can be taken away through the admin listener.
            GRANTEE => Ok(Caller::new("tenant-a", GRANTEE, true)),
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

/// The answer to a caller whose grant was taken away.
pub fn no_grant() -> Answer {
    Answer::problem(Problem::Forbidden, "The grant was taken away.")
}

fn unauthorized(detail: &str) -> Answer {
    Answer::problem(Problem::Unauthorized, detail)
}
