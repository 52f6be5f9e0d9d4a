//! `effects`: how many effects a marker has, each probe and each pair of eyes on its own.
//!
//! At-most stands on the highest of all readings; nothing counted is no pass.

use super::ruling::Ruling;
use super::view::{View, number, succeeded};
use crate::scenario::{Bound, Marker, OperationRole, PrincipalRole, Step};
use crate::transcript::{Delivery, Exchange, ProbeFacts, Reading, ReadingKind, Shown};
use std::collections::BTreeSet;

/// What is claimed.
pub(super) struct Claim<'a> {
    /// The bound, in executions.
    pub(super) bound: Bound,
    /// One probe, or all.
    pub(super) probe: Option<&'a str>,
    /// Whose probes.
    pub(super) operation: OperationRole,
    /// Whose effects.
    pub(super) marker: &'a Marker,
    /// Only this named reading.
    pub(super) reading: Option<&'a str>,
}

/// Differences that are mere rounding.
const ROUNDING: f64 = 1e-6;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, claim: &Claim<'_>) -> Ruling {
    let markers = markers(view, claim.marker);
    if markers.is_empty() {
        return Ruling::nothing("no request with this marker was sent");
    }
    let probes: Vec<&ProbeFacts> = view
        .counting(claim.operation)
        .filter(|probe| claim.probe.is_none_or(|name| name == probe.name))
        .collect();
    if probes.is_empty() {
        return match claim.probe {
            Some(name) => Ruling::nothing(format!("there is no probe `{name}` that counts")),
            None => by_identities(view, claim, &markers),
        };
    }
    let rulings = markers.iter().flat_map(|marker| {
        probes.iter().map(move |probe| match claim.bound {
            Bound::AtMost(most) => at_most(view, claim, probe, marker, most),
            Bound::AtLeast(least) => at_least(view, claim, probe, marker, least),
        })
    });
    Ruling::gravest(rulings).unwrap_or_else(|| Ruling::nothing("nothing was counted"))
}

/// The values of a marker in this round.
pub(super) fn markers(view: &View<'_>, marker: &Marker) -> BTreeSet<String> {
    let of_steps = |fits: &dyn Fn(&Exchange) -> bool| -> BTreeSet<String> {
        view.round
            .exchanges
            .iter()
            .filter(|exchange| fits(exchange))
            .map(|exchange| exchange.marker.clone())
            .collect()
    };
    match marker {
        Marker::Named(name) => {
            let mut values = of_steps(&|exchange| exchange.marker_name == *name);
            values.extend(
                view.round
                    .readings
                    .iter()
                    .filter(|reading| reading.marker_name == *name)
                    .map(|reading| reading.marker.clone()),
            );
            values
        }
        Marker::FreshEach => {
            let steps: BTreeSet<&str> = view
                .case
                .leaves()
                .filter(|step| {
                    step.request()
                        .is_some_and(|request| request.marker == Some(Marker::FreshEach))
                })
                .filter_map(Step::name)
                .collect();
            of_steps(&|exchange| steps.contains(exchange.step.as_str()))
        }
        Marker::Of(step) => view
            .standing(step)
            .into_iter()
            .map(|(_, exchange)| exchange.marker.clone())
            .collect(),
    }
}

/// The readings of one probe with one principal's credentials.
struct Series<'a> {
    principal: PrincipalRole,
    readings: Vec<&'a Reading>,
}

impl Series<'_> {
    /// What was there before, which no request of ours made.
    fn before(&self) -> Result<f64, String> {
        match self
            .readings
            .iter()
            .rfind(|reading| reading.kind == ReadingKind::Before)
        {
            None => Ok(0.0),
            Some(reading) => match &reading.shows {
                Ok(shown) => Ok(shown.count().unwrap_or(0.0)),
                Err(why) => Err(why.clone()),
            },
        }
    }

    /// The readings that count, with their numbers of executions.
    fn counted<'b>(
        &'b self,
        probe: &'b ProbeFacts,
        before: f64,
        fits: impl Fn(&ReadingKind) -> bool + 'b,
    ) -> impl DoubleEndedIterator<Item = (f64, &'b Shown)> + 'b {
        let unit = if probe.per_execution > 0.0 {
            probe.per_execution
        } else {
            1.0
        };
        self.readings
            .iter()
            .filter(move |reading| fits(&reading.kind))
            .filter_map(move |reading| {
                let shown = reading.shows.as_ref().ok()?;
                Some(((shown.count()? - before).abs() / unit, shown))
            })
    }

    /// Why the last of some readings is missing.
    fn missing(&self, fits: impl Fn(&ReadingKind) -> bool) -> Option<&str> {
        self.readings
            .iter()
            .filter(|reading| fits(&reading.kind))
            .find_map(|reading| reading.shows.as_ref().err())
            .map(String::as_str)
    }
}

fn series<'a>(
    view: &View<'a>,
    operation: OperationRole,
    probe: &ProbeFacts,
    marker: &str,
) -> Vec<Series<'a>> {
    let readings: Vec<&Reading> = view
        .round
        .readings
        .iter()
        .filter(|reading| {
            reading.probe == probe.name
                && reading.operation == operation
                && reading.marker == marker
        })
        .collect();
    let principals: BTreeSet<PrincipalRole> =
        readings.iter().map(|reading| reading.principal).collect();
    principals
        .into_iter()
        .map(|principal| Series {
            principal,
            readings: readings
                .iter()
                .copied()
                .filter(|reading| reading.principal == principal)
                .collect(),
        })
        .collect()
}

/// Whether a reading can show what requests have made.
fn after(kind: &ReadingKind) -> bool {
    *kind != ReadingKind::Before
}

/// Whether a reading is one on which a bound finally stands.
fn is_final(claim: &Claim<'_>, kind: &ReadingKind) -> bool {
    match (claim.reading, kind) {
        (None, ReadingKind::Late) => true,
        (Some(wanted), ReadingKind::Named(name)) => name == wanted,
        _ => false,
    }
}

fn at_most(
    view: &View<'_>,
    claim: &Claim<'_>,
    probe: &ProbeFacts,
    marker: &str,
    most: u64,
) -> Ruling {
    let name = &probe.name;
    let all = series(view, claim.operation, probe, marker);
    let mut shown_any = false;
    let mut unread: Option<String> = all
        .is_empty()
        .then(|| format!("`{name}` was never read for this marker"));
    let mut highest: Option<(f64, &Shown, PrincipalRole)> = None;
    for own in &all {
        let before = match own.before() {
            Ok(before) => before,
            Err(why) => {
                unread = Some(format!("`{name}` could not be read before: {why}"));
                continue;
            }
        };
        shown_any |= own
            .counted(probe, before, after)
            .any(|(units, _)| units > ROUNDING);
        let bounding = |kind: &ReadingKind| match claim.reading {
            None => after(kind),
            Some(_) => is_final(claim, kind),
        };
        for (units, shown) in own.counted(probe, before, bounding) {
            let units = (units - ROUNDING).ceil().max(0.0);
            if highest.is_none_or(|(most, _, _)| units > most) {
                highest = Some((units, shown, own.principal));
            }
        }
        let is_final = |kind: &ReadingKind| is_final(claim, kind);
        if own.counted(probe, before, is_final).next().is_none() {
            unread = Some(match (own.missing(is_final), claim.reading) {
                (Some(why), _) => format!("`{name}` could not be read: {why}"),
                (None, Some(reading)) => format!("`{name}` was not read in `{reading}`"),
                (None, None) => format!("`{name}` was not read once everything had settled"),
            });
        }
    }
    let allowed = most as f64;
    if let Some((units, shown, principal)) = highest
        && units > allowed
    {
        let late = outlived(view, claim.operation, marker);
        if units - late as f64 <= allowed {
            return Ruling::nothing(format!(
                "{} of the requests were sent after the key's retention had run out, and may have executed anew",
                number(late)
            ));
        }
        let sent = requests(view, claim.operation, marker);
        let why = match units > sent as f64 {
            true => format!(
                "{}; that is more than the requests that were sent ({sent}): one request makes two effects, or something between us and the API sends again",
                too_many(probe, most, units, shown, principal)
            ),
            false => too_many(probe, most, units, shown, principal),
        };
        return Ruling::broken(why)
            .seen_in(makers(view, claim.operation, marker))
            .weighing(units as u64);
    }
    if let Some(why) = unread {
        return Ruling::nothing(why);
    }
    if most == 0 {
        return if probe.live {
            Ruling::held(format!("`{name}` shows none"))
        } else {
            Ruling::nothing(format!(
                "`{name}` shows none, but was never seen to show any"
            ))
        };
    }
    if !shown_any {
        return nothing_made(view, claim, probe, marker);
    }
    let units = highest.map_or(0.0, |(units, _, _)| units);
    Ruling::held(match most {
        1 => format!("`{name}` shows exactly {}", units.max(1.0)),
        _ => format!("`{name}` shows {units}, and at most {most} are allowed"),
    })
    .seen_in(makers(view, claim.operation, marker))
}

/// Nothing was counted: void if nothing can have been made, else nothing is shown.
fn nothing_made(view: &View<'_>, claim: &Claim<'_>, probe: &ProbeFacts, marker: &str) -> Ruling {
    let refused = view
        .round
        .exchanges
        .iter()
        .filter(|exchange| exchange.marker == marker && exchange.operation == claim.operation)
        .all(|exchange| exchange.response.is_some() && !succeeded(exchange));
    if refused && probe.live {
        Ruling::void(format!(
            "void: no request with this marker was a success, and `{}` shows no effect",
            probe.name
        ))
    } else {
        Ruling::nothing(format!(
            "`{}` shows no effect at all, so that a second one could not have been seen",
            probe.name
        ))
    }
}

/// How many requests were sent that could have made these effects.
fn requests(view: &View<'_>, operation: OperationRole, marker: &str) -> usize {
    let sent = view.round.exchanges.iter().filter(|exchange| {
        exchange.operation == operation
            && exchange.marker == marker
            && exchange.lookup.is_none()
            && exchange.delivery != Delivery::NotSent
    });
    sent.count()
}

fn too_many(
    probe: &ProbeFacts,
    most: u64,
    units: f64,
    shown: &Shown,
    principal: PrincipalRole,
) -> String {
    let eyes = match principal {
        PrincipalRole::Owner => String::new(),
        role => format!(" (as seen by {})", role.name()),
    };
    let allowed = match most {
        0 => "where none is allowed".to_owned(),
        1 => "for one key".to_owned(),
        most => format!("where at most {most} are allowed"),
    };
    match shown {
        Shown::Ids(ids) => format!(
            "{} {} {allowed}{eyes}: {}",
            number(ids.len()),
            probe.name,
            list(ids)
        ),
        _ => format!(
            "`{}` shows {units} {} {allowed}{eyes}",
            probe.name,
            if units == 1.0 { "effect" } else { "effects" }
        ),
    }
}

/// `pay_1, pay_2 and pay_3`; long lists are cut.
pub(super) fn list(ids: &[String]) -> String {
    const MOST: usize = 5;
    match ids {
        [] => "none".to_owned(),
        [only] => only.clone(),
        ids if ids.len() > MOST => {
            format!("{} and {} more", ids[..MOST].join(", "), ids.len() - MOST)
        }
        [firsts @ .., last] => format!("{} and {last}", firsts.join(", ")),
    }
}

fn at_least(
    view: &View<'_>,
    claim: &Claim<'_>,
    probe: &ProbeFacts,
    marker: &str,
    least: u64,
) -> Ruling {
    let name = &probe.name;
    let mut best: Option<f64> = None;
    let mut why = format!("`{name}` was not read once everything had settled");
    for own in series(view, claim.operation, probe, marker) {
        let before = match own.before() {
            Ok(before) => before,
            Err(problem) => {
                why = format!("`{name}` could not be read before: {problem}");
                continue;
            }
        };
        let last = own
            .counted(probe, before, |kind| is_final(claim, kind))
            .next_back()
            .or_else(|| {
                own.counted(probe, before, |kind| {
                    claim.reading.is_none() && *kind == ReadingKind::Early
                })
                .next_back()
            });
        match last {
            Some((units, _)) => best = Some(best.unwrap_or(0.0).max((units + ROUNDING).floor())),
            None => {
                if let Some(problem) = own.missing(|kind| is_final(claim, kind)) {
                    why = format!("`{name}` could not be read: {problem}");
                }
            }
        }
    }
    let Some(units) = best else {
        return Ruling::nothing(why);
    };
    if units >= least as f64 {
        return Ruling::held(format!("`{name}` shows {units}")).seen_in(makers(
            view,
            claim.operation,
            marker,
        ));
    }
    if !probe.live {
        return Ruling::nothing(format!(
            "`{name}` shows {units}, but was never seen to show any"
        ));
    }
    Ruling::broken(format!("`{name}` shows {units}, and {least} must be there"))
        .seen_in(makers(view, claim.operation, marker))
        .weighing((least as f64 - units) as u64)
}

/// Without probes only the identities in responses are seen.
fn by_identities(view: &View<'_>, claim: &Claim<'_>, markers: &BTreeSet<String>) -> Ruling {
    const WHY: &str = "effects cannot be counted: only identities in responses are seen, which can show a break but never its absence";
    if let Bound::AtMost(most) = claim.bound
        && claim.reading.is_none()
    {
        for marker in markers {
            let mut ids: Vec<String> = Vec::new();
            let mut seen = Vec::new();
            for (index, exchange) in view.round.exchanges.iter().enumerate() {
                let identity = exchange
                    .response
                    .as_ref()
                    .and_then(|response| response.identity.as_ref());
                if exchange.marker == *marker
                    && exchange.operation == claim.operation
                    && succeeded(exchange)
                    && !view.outlived(exchange)
                    && let Some(identity) = identity
                    && !ids.contains(identity)
                {
                    ids.push(identity.clone());
                    seen.push(index);
                }
            }
            if ids.len() as u64 > most {
                return Ruling::broken(format!(
                    "{} resources {}: {}",
                    number(ids.len()),
                    match most {
                        1 => "for one key".to_owned(),
                        most => format!("where at most {most} are allowed"),
                    },
                    list(&ids)
                ))
                .weighing(ids.len() as u64)
                .seen_in(seen);
            }
        }
    }
    Ruling::nothing(WHY)
}

/// The exchanges that claim to have made an effect, else all with the marker.
pub(super) fn makers(view: &View<'_>, operation: OperationRole, marker: &str) -> Vec<usize> {
    let with = |fits: fn(&Exchange) -> bool| -> Vec<usize> {
        view.round
            .exchanges
            .iter()
            .enumerate()
            .filter(|(_, exchange)| {
                exchange.marker == marker && exchange.operation == operation && fits(exchange)
            })
            .map(|(index, _)| index)
            .collect()
    };
    let successes = with(succeeded);
    if successes.is_empty() {
        with(|_| true)
    } else {
        successes
    }
}

/// Requests with the marker that came when the key's retention was over.
fn outlived(view: &View<'_>, operation: OperationRole, marker: &str) -> usize {
    view.round
        .exchanges
        .iter()
        .filter(|exchange| {
            exchange.marker == marker && exchange.operation == operation && view.outlived(exchange)
        })
        .count()
}

#[cfg(test)]
mod tests;
