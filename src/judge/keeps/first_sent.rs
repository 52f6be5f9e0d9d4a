//! What the date of the first sending decides (OASIS Repeatable Requests 1.0, section 5).

use super::{Look, kept, says, who};
use crate::contract::CompanionForm;
use crate::judge::retry_after::http_date;
use crate::judge::view::View;
use crate::transcript::{Exchange, Response};

pub(super) fn look(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let contract = view.contract;
    let companion = contract
        .key
        .companions
        .iter()
        .find(|companion| companion.form == CompanionForm::FirstSent);
    let Some(companion) = companion else {
        return Look::Seen(says(exchange, response), None);
    };
    if exchange.key.value.is_none() {
        return Look::Void(format!("void: {} has no key", who(exchange)));
    }
    let date = exchange
        .request
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(&companion.header))
        .map(|(_, date)| date.as_str());
    let (case, promised) = match date {
        None if companion.required => ("missing", &contract.companion_missing),
        None => return Look::Void(format!("void: {} may be left out", companion.header)),
        Some(date) if http_date(date).is_none() => ("malformed", &contract.companion_malformed),
        Some(_) => {
            return Look::Void(format!("void: {} is there and a date", companion.header));
        }
    };
    if !promised.is_declared() {
        return Look::Void(format!("void: nothing is promised for a {case} date"));
    }
    Look::Seen(
        format!("{case}: {}", says(exchange, response)),
        kept(view, promised, exchange, response),
    )
}
