//! Answers that leave open whether a request was carried out, so that only a retry with the same key,
//! or a look-up, tells it.

use crate::transcript::{Delivery, Ending, Exchange};

/// Whether a client cannot know from the answer what was done. What we broke off ourselves hides
/// nothing that the target could have told.
pub fn hides_outcome(exchange: &Exchange) -> bool {
    match &exchange.response {
        Some(response) => leaves_open(response.status),
        None => match exchange.ending {
            Ending::ClosedByTarget(_) | Ending::TimedOut | Ending::Broken(_) => {
                exchange.delivery != Delivery::NotSent
            }
            Ending::Answered | Ending::HungUp | Ending::Refused(_) => false,
        },
    }
}

/// Whether a status leaves open what was done.
///
/// A server error does: RFC 9110, section 15.6, says nothing of how far the server came. The numbers of
/// vendors are among them (520 to 530 of Cloudflare). Three are not, since they are decided before the
/// work: 501 and 505 (sections 15.6.2 and 15.6.6), and 511, with which a network on the way passes
/// nothing on (RFC 6585, section 6). Two of the client errors do as well: 408, which says of a whole
/// request that it did not come in time (section 15.5.9), as a server does whose own work took too long;
/// and 499, by which one proxy tells that another did not wait (nginx, `ngx_http_request.h`). 425 and
/// 429 refuse beforehand (RFC 8470, section 5.2; RFC 6585, section 4).
fn leaves_open(status: u16) -> bool {
    match status {
        501 | 505 | 511 => false,
        408 | 499 => true,
        status => status >= 500,
    }
}

#[cfg(test)]
mod tests {
    use super::{hides_outcome, leaves_open};
    use crate::contract::meaning::tests::sample::{got, lost};
    use crate::transcript::{Delivery, Ending, Exchange};

    #[test]
    fn a_status_hides_what_was_done_unless_it_is_decided_before_the_work() {
        for hides in [408, 499, 500, 502, 503, 504, 520, 524, 599] {
            assert!(leaves_open(hides), "{hides}");
        }
        for tells in [
            200, 201, 202, 204, 303, 400, 401, 404, 409, 412, 422, 423, 425, 429, 501, 505, 511,
        ] {
            assert!(!leaves_open(tells), "{tells}");
        }
    }

    #[test]
    fn an_answer_that_never_came_hides_what_was_done_if_the_request_was_whole() {
        let ended = |ending: Ending, delivery: Delivery| Exchange {
            ending,
            delivery,
            ..lost()
        };
        let why = || "reset".to_owned();
        for ending in [
            Ending::ClosedByTarget(why()),
            Ending::TimedOut,
            Ending::Broken(why()),
        ] {
            assert!(hides_outcome(&ended(ending.clone(), Delivery::Delivered)));
            assert!(!hides_outcome(&ended(ending, Delivery::NotSent)));
        }
        for ending in [Ending::HungUp, Ending::Refused(why())] {
            assert!(!hides_outcome(&ended(ending, Delivery::Delivered)));
        }
        assert!(hides_outcome(&got(504)));
        assert!(!hides_outcome(&got(409)));
        assert!(!hides_outcome(&got(201)));
    }
}
