//! `exists`: a success has its effect, seen as its own principal and of its own operation.

use super::ruling::Ruling;
use super::view::{View, got, reads_for, succeeded, who};
use crate::transcript::{Exchange, ProbeFacts, Reading, ReadingKind, Shown};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str) -> Ruling {
    view.gravest_of(of, |exchange| one(view, exchange))
}

fn one(view: &View<'_>, exchange: &Exchange) -> Ruling {
    let Some(response) = &exchange.response else {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
    };
    if !succeeded(exchange) {
        return Ruling::void(format!(
            "void: {} was {}, not a success",
            who(exchange),
            exchange.outcome
        ));
    }
    let rulings = view
        .counting(exchange.operation)
        .filter(|probe| probe.bound.is_none())
        .map(|probe| by_probe(view, exchange, response.identity.as_deref(), probe));
    Ruling::gravest(rulings).unwrap_or_else(|| {
        Ruling::nothing("effects cannot be counted, so that a success cannot be held against them")
    })
}

fn by_probe(
    view: &View<'_>,
    exchange: &Exchange,
    identity: Option<&str>,
    probe: &ProbeFacts,
) -> Ruling {
    let name = &probe.name;
    let settled: Vec<&Reading> = view
        .round
        .readings
        .iter()
        .filter(|reading| {
            reading.probe == *name
                && reading.operation == exchange.operation
                && reading.marker == exchange.marker
                && reads_for(reading.principal, exchange.principal)
                && matches!(reading.kind, ReadingKind::Early | ReadingKind::Late)
        })
        .collect();
    let last = settled
        .iter()
        .rev()
        .find(|reading| reading.kind == ReadingKind::Late)
        .or(settled
            .iter()
            .rev()
            .find(|reading| reading.at >= exchange.times.ended));
    let shown = match last.map(|reading| &reading.shows) {
        Some(Ok(shown)) => shown,
        Some(Err(why)) => return Ruling::nothing(format!("`{name}` could not be read: {why}")),
        None => {
            return Ruling::nothing(format!(
                "`{name}` was not read as {} once everything had settled",
                exchange.principal.name()
            ));
        }
    };
    let got = got(exchange);
    if shown.count().unwrap_or(0.0) <= 0.0 {
        return if probe.live {
            Ruling::broken(format!(
                "{} {got}, but `{name}` shows no such effect{}",
                who(exchange),
                eyes(exchange)
            ))
        } else {
            Ruling::nothing(format!(
                "`{name}` shows none, but was never seen to show any"
            ))
        };
    }
    if let (Some(identity), Shown::Ids(ids)) = (identity, shown)
        && !ids.iter().any(|id| id == identity)
        && comparable(view, probe, identity, ids)
    {
        return Ruling::broken(format!(
            "{} {got}, but `{name}` shows no such effect{}: it has {}",
            who(exchange),
            eyes(exchange),
            ids.join(", ")
        ));
    }
    Ruling::held(format!("{} {got}, and `{name}` shows it", who(exchange)))
}

fn eyes(exchange: &Exchange) -> String {
    format!(" to {}", exchange.principal.name())
}

/// Whether a probe's ids are of the same kind as the identities in responses: a probe of receipts
/// never shows a payment's id. They are if any of them ever matched, or begins alike.
fn comparable(view: &View<'_>, probe: &ProbeFacts, identity: &str, ids: &[String]) -> bool {
    let prefix = |id: &str| -> Option<String> {
        let end = id.rfind(['_', '-'])? + 1;
        let prefix = &id[..end];
        prefix
            .chars()
            .all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-'))
            .then(|| prefix.to_owned())
    };
    let alike = prefix(identity).is_some_and(|own| {
        ids.iter()
            .any(|id| prefix(id).as_deref() == Some(own.as_str()))
    });
    alike
        || view.transcript.rounds.iter().any(|round| {
            round
                .readings
                .iter()
                .filter(|reading| {
                    reading.probe == probe.name && reading.operation == probe.operation
                })
                .filter_map(|reading| match &reading.shows {
                    Ok(Shown::Ids(ids)) => Some(ids),
                    _ => None,
                })
                .flatten()
                .any(|id| {
                    round.exchanges.iter().any(|exchange| {
                        exchange
                            .response
                            .as_ref()
                            .is_some_and(|response| response.identity.as_ref() == Some(id))
                    })
                })
        })
}

#[cfg(test)]
mod tests;
