//! Whether an operation can be found again without a retry.

use super::{Look, got, who};
use crate::judge::view::View;
use crate::outcome::Meaning;
use crate::transcript::Exchange;

/// The word of a contract under which nothing can be looked up.
const NONE: &str = "none";

pub(super) fn look(view: &View<'_>, exchange: &Exchange) -> Look {
    let Some(by) = exchange.lookup else {
        return Look::Void(format!("void: {} is no look-up", who(exchange)));
    };
    let is = |meaning: Meaning| exchange.outcome.is_within(meaning.into());
    let found = match (is(Meaning::Found), is(Meaning::NotFound)) {
        (true, _) => true,
        (_, true) => false,
        _ => return Look::Nothing(format!("{} {}", who(exchange), got(exchange))),
    };
    let says = match found {
        true => format!("found by {}", by.name()),
        false => format!("not found by {}", by.name()),
    };
    let declared = view.contract.lookup.value.as_deref();
    Look::Seen(says, declared.map(|way| (way != NONE) == found))
}
