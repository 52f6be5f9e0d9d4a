//! `Retry-After` is waited for. It shows only where more is asked for than the client waits anyway.

use super::operations::Operation;
use super::{Look, Said, fold, resent};
use crate::scenario::client::{ClientFault, PauseForm};
use humantime::format_duration;
use std::time::Duration;

/// What clocks and schedules may take off a number of seconds.
const SECONDS: Duration = Duration::from_millis(20);

/// What rounding may take off a date, which has whole seconds.
const DATE: Duration = Duration::from_secs(1);

/// Holds the runs that were asked to wait against the run that was not.
pub(super) fn rule(look: &Look<'_>, than: &str) -> Said {
    let by_itself = look.of_run(than);
    let said = look.operations().into_iter().map(|operation| {
        let own = by_itself
            .iter()
            .filter(|other| other.round == operation.round)
            .filter_map(|other| other.pauses().first().copied())
            .min();
        one(&operation, own)
    });
    let said = fold(said.collect());
    let honours = |rules: &crate::contract::RetryRules| {
        let mut names = rules.honours.iter();
        names.any(|name| name.eq_ignore_ascii_case("retry-after"))
    };
    let asks = look.contract.retry.value.as_ref().is_some_and(honours);
    match asks {
        true => said.at(resent::level(look.contract.retry.strength)),
        false => said,
    }
}

fn one(operation: &Operation<'_>, own: Option<Duration>) -> Said {
    let [(_, first), (_, again), ..] = &operation.attempts[..] else {
        return Said::does_not_apply(format!("it did not come back ({})", operation.met()));
    };
    let Some(back) = first.asked_back else {
        return Said::not_shown("Retry-After was not sent");
    };
    let tolerance = match first.fault {
        ClientFault::Answer {
            pause: Some(pause), ..
        } if pause.form == PauseForm::Date => DATE,
        _ => SECONDS,
    };
    let asked = back.saturating_sub(first.ended);
    let waited = again.began.saturating_sub(first.ended);
    if waited + tolerance < asked {
        return Said::broken(format!(
            "it came back after {}, and was asked to wait {}",
            rounded(waited),
            rounded(asked)
        ))
        .seen_in(operation);
    }
    match own {
        Some(own) if own + tolerance >= asked => Said::not_shown(format!(
            "by itself it waits {}, which is as long as it was asked to",
            rounded(own)
        )),
        _ => Said::held(format!(
            "it was asked to wait {}, and waited {}",
            rounded(asked),
            rounded(waited)
        )),
    }
}

fn rounded(time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    format_duration(Duration::from_millis(millis)).to_string()
}
