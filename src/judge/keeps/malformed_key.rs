//! The answer to a key that the contract calls malformed.

use super::{Look, kept, says, who};
use crate::judge::view::View;
use crate::outcome::Outcome;
use crate::transcript::{Exchange, Response};

pub(super) fn look(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let contract = view.contract;
    let said = says(exchange, response);
    let as_declared = kept(view, &contract.malformed, exchange, response);
    if as_declared == Some(true) || !exchange.outcome.is_disjoint(Outcome::SUCCESS) {
        return Look::Seen(said, as_declared);
    }
    let key = exchange.key.value.as_deref().unwrap_or_default();
    if key.trim().is_empty() {
        // An empty key may as well be taken for none at all.
        return match kept(view, &contract.missing, exchange, response) {
            Some(false) if !contract.missing.is_declared() => Look::Void(format!(
                "void: {} may be taken for one without a key, of which nothing is promised",
                who(exchange)
            )),
            as_missing => Look::Seen(said, as_missing),
        };
    }
    let in_header = exchange
        .request
        .headers
        .iter()
        .any(|(_, value)| value.contains(key));
    if in_header && key.chars().any(char::is_control) {
        return Look::Void(
            "void: a control character makes the whole request invalid (RFC 9110, section 5.5), whoever refuses it"
                .to_owned(),
        );
    }
    Look::Seen(said, as_declared)
}
