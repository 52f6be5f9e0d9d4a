//! What the date of the first sending decides (OASIS Repeatable Requests 1.0, section 5).

use super::{Look, kept, says, who};
use crate::contract::{Behaviour, Contract, Promised};
use crate::judge::view::View;
use crate::outcome::Outcome;
use crate::promise::Strength;
use crate::transcript::{Exchange, Response, http_date};

/// What is wrong with a key and its date.
#[derive(Clone, Copy)]
enum Pair {
    /// One of the two is not there.
    Halved,
    /// The date is none.
    Unreadable,
    /// The date lies further back than the contract remembers.
    TooOld,
    /// The date lies back, and no further than the contract remembers.
    InTime,
}

impl Pair {
    /// The case of an exchange; the error is why there is none.
    fn of(contract: &Contract, exchange: &Exchange) -> Result<Pair, String> {
        let Some(companion) = contract.key.first_sent() else {
            return Err(format!(
                "void: the contract {} has no date of the first sending",
                contract.name
            ));
        };
        let date = exchange
            .request
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&companion.header))
            .map(|(_, date)| date.as_str());
        match (&exchange.key.value, date) {
            (None, None) => return Err(format!("void: {} has neither", who(exchange))),
            (Some(_), None) if !companion.required => {
                return Err(format!("void: {} may be left out", companion.header));
            }
            (None, Some(_)) | (Some(_), None) => return Ok(Pair::Halved),
            (Some(_), Some(date)) if http_date(date).is_none() => return Ok(Pair::Unreadable),
            (Some(_), Some(_)) => {}
        }
        let Some(ago) = exchange.key.backdated else {
            return Err(format!("void: {} is there and a date", companion.header));
        };
        let retention = contract
            .retention
            .ok_or_else(|| format!("void: the contract {} declares no retention", contract.name))?;
        match retention.max {
            Some(max) if ago > max => Ok(Pair::TooOld),
            _ if ago < retention.min => Ok(Pair::InTime),
            _ => Err("void: nothing is promised for a date of this age".to_owned()),
        }
    }

    /// The answer that is promised; `None` where the request is to be taken.
    fn promised(self, contract: &Contract) -> Option<&Promised<Vec<Behaviour>>> {
        match self {
            Pair::Halved => Some(&contract.companion_missing),
            Pair::Unreadable => Some(&contract.companion_malformed),
            Pair::TooOld => Some(&contract.expired),
            Pair::InTime => None,
        }
    }

    fn says(self) -> &'static str {
        match self {
            Pair::Halved => "one without the other",
            Pair::Unreadable => "no date",
            Pair::TooOld => "too old",
            Pair::InTime => "old, and not too old",
        }
    }
}

/// How strongly the contract promises what this exchange shows, and in words what; `None` where it
/// shows nothing.
pub(super) fn promised(contract: &Contract, exchange: &Exchange) -> Option<(Strength, String)> {
    let pair = Pair::of(contract, exchange).ok()?;
    let (strength, ways) = match pair.promised(contract) {
        Some(promised) => (
            promised.strength,
            promised.value.as_ref().map(|ways| {
                let ways: Vec<String> = ways.iter().map(Behaviour::says).collect();
                ways.join("; or ")
            }),
        ),
        None => (contract.lifetime.strength, Some("taken".to_owned())),
    };
    Some(match ways {
        Some(ways) => (strength, format!("{}: {ways}", pair.says())),
        None => (
            Strength::Unspecified,
            format!("{}: unspecified", pair.says()),
        ),
    })
}

pub(super) fn look(view: &View<'_>, exchange: &Exchange, response: &Response) -> Look {
    let contract = view.contract;
    let pair = match Pair::of(contract, exchange) {
        Ok(pair) => pair,
        Err(why) => return Look::Void(why),
    };
    let said = format!("{}: {}", pair.says(), says(exchange, response));
    let fits = match pair.promised(contract) {
        Some(promised) => kept(view, promised, exchange, response),
        None if exchange.outcome.is_within(Outcome::SUCCESS) => Some(true),
        None if exchange.outcome.is_within(Outcome::FOR_NOW) => None,
        None => Some(false),
    };
    Look::Seen(said, fits)
}
