//! `events`: what came to our receiver for a marker's requests. Deliveries may repeat, for that is
//! what at-least-once means; an id may not change.

use super::effects::{list, makers, markers};
use super::ruling::Ruling;
use super::view::{View, number, time};
use crate::scenario::{Bound, EventClaim, EventPart, Marker, OperationRole, Receiving};
use crate::transcript::EventDelivery;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, claim: EventClaim, marker: &Marker) -> Ruling {
    let markers = markers(view, marker);
    if markers.is_empty() {
        return Ruling::nothing("no request with this marker was sent");
    }
    if claim == EventClaim::Ordered {
        return in_order(view, &markers);
    }
    let rulings = markers.iter().map(|marker| {
        let seen = Seen {
            view,
            deliveries: view
                .round
                .deliveries
                .iter()
                .filter(|delivery| {
                    delivery.marker == *marker && delivery.operation == OperationRole::Subject
                })
                .collect(),
        };
        seen.rule(claim)
            .seen_in(makers(view, OperationRole::Subject, marker))
    });
    Ruling::gravest(rulings).unwrap_or_else(|| Ruling::nothing("nothing was received"))
}

/// The first deliveries of several requests, against the order in which these were answered.
fn in_order(view: &View<'_>, markers: &BTreeSet<String>) -> Ruling {
    let mut sent: Vec<(&str, Duration)> = Vec::new();
    for exchange in &view.round.exchanges {
        let known = sent.iter().any(|(marker, _)| *marker == exchange.marker);
        if markers.contains(&exchange.marker) && !known && exchange.response.is_some() {
            sent.push((&exchange.marker, exchange.times.ended));
        }
    }
    sent.sort_by_key(|(_, ended)| *ended);
    let mut came: Vec<&str> = Vec::new();
    for delivery in &view.round.deliveries {
        if delivery.operation == OperationRole::Subject && !came.contains(&delivery.marker.as_str())
        {
            came.push(&delivery.marker);
        }
    }
    if came.len() < sent.len() || sent.len() < 2 {
        let says = times(came.len(), "event came", "different events came");
        return Ruling::nothing(format!("{says} of {} requests", sent.len()));
    }
    let place = |wanted: &str| sent.iter().position(|(marker, _)| *marker == wanted);
    let places: Vec<usize> = came.iter().filter_map(|marker| place(marker)).collect();
    match places.is_sorted() {
        true => Ruling::held(format!(
            "{} came in the order of their requests",
            times(came.len(), "event", "events")
        )),
        false => {
            let shown: Vec<String> = places.iter().map(|at| (at + 1).to_string()).collect();
            Ruling::broken(format!(
                "the events of the requests came in the order {}",
                shown.join(", ")
            ))
        }
    }
}

/// The deliveries of one marker.
struct Seen<'a> {
    view: &'a View<'a>,
    deliveries: Vec<&'a EventDelivery>,
}

impl Seen<'_> {
    fn rule(&self, claim: EventClaim) -> Ruling {
        match claim {
            EventClaim::Deliveries(bound) => self.deliveries_within(bound),
            EventClaim::Taken(bound) => self.taken_within(bound),
            // Of one request there is no order.
            EventClaim::Ordered => Ruling::nothing("there is one request only"),
            EventClaim::Ids(_) | EventClaim::Stable(_) if self.deliveries.is_empty() => {
                Ruling::nothing("no event came")
            }
            EventClaim::Ids(bound) => self.ids_within(bound),
            EventClaim::Stable(_) if self.deliveries.len() < 2 => Ruling::nothing(
                "the event came once only, so that another delivery could not be compared",
            ),
            EventClaim::Stable(EventPart::Id) => self.ids_within(Bound::AtMost(1)),
            EventClaim::Stable(part @ (EventPart::Body | EventPart::Signature)) => {
                self.same_part(part)
            }
        }
    }

    /// The different ids, in the order of coming; the error is that a delivery has none.
    fn ids(&self) -> Result<Vec<String>, Ruling> {
        let mut ids: Vec<String> = Vec::new();
        for delivery in &self.deliveries {
            let Some(id) = &delivery.event else {
                return Err(Ruling::nothing(
                    "a delivery has no event id (sink.event-id says where it stands)",
                ));
            };
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        Ok(ids)
    }

    fn ids_within(&self, bound: Bound) -> Ruling {
        let ids = match self.ids() {
            Ok(ids) => ids,
            Err(nothing) => return nothing,
        };
        let deliveries = times(self.deliveries.len(), "delivery", "deliveries");
        match bound {
            Bound::AtMost(most) if ids.len() as u64 > most => {
                let allowed = match most {
                    1 => "where one is allowed".to_owned(),
                    most => format!("where at most {most} are allowed"),
                };
                Ruling::broken(format!(
                    "{} different event ids in {deliveries} {allowed}: {}",
                    number(ids.len()),
                    list(&ids)
                ))
                .weighing(ids.len() as u64)
            }
            Bound::AtLeast(least) if (ids.len() as u64) < least => Ruling::broken(format!(
                "{} in {deliveries}, and {least} must be there",
                times(ids.len(), "event id", "different event ids")
            )),
            _ => Ruling::held(format!(
                "{} in {deliveries}",
                times(ids.len(), "event id", "different event ids")
            )),
        }
    }

    fn deliveries_within(&self, bound: Bound) -> Ruling {
        let count = self.deliveries.len();
        let says = times(count, "delivery", "deliveries");
        match bound {
            Bound::AtMost(most) if count as u64 > most => {
                Ruling::broken(format!("{says}, and at most {most} are allowed"))
            }
            Bound::AtLeast(least) if (count as u64) < least => {
                Ruling::broken(format!("{says}, and {least} must be there"))
            }
            _ => Ruling::held(says),
        }
    }

    fn taken_within(&self, bound: Bound) -> Ruling {
        let mut taken: Vec<&str> = Vec::new();
        for delivery in &self.deliveries {
            // Without an id an event is known by what it says.
            let id = delivery.event.as_deref().unwrap_or(&delivery.body_digest);
            if delivery.received == Receiving::Ok && !taken.contains(&id) {
                taken.push(id);
            }
        }
        let says = match taken.len() {
            0 => "no event was taken".to_owned(),
            count => times(count, "event was taken", "different events were taken"),
        };
        match bound {
            Bound::AtMost(most) if taken.len() as u64 > most => {
                Ruling::broken(format!("{says}, and at most {most} are allowed"))
            }
            Bound::AtLeast(least) if (taken.len() as u64) < least => Ruling::broken(format!(
                "{says}, and {least} must be: {}{}",
                times(self.deliveries.len(), "delivery came", "deliveries came"),
                self.since()
            )),
            _ => Ruling::held(says),
        }
    }

    /// For how long nothing came after the last delivery.
    fn since(&self) -> String {
        let last = self.deliveries.last().map(|delivery| delivery.at);
        let watched = self
            .view
            .round
            .readings
            .iter()
            .map(|reading| reading.at)
            .max();
        match (last, watched) {
            (Some(last), Some(until)) if until > last => {
                format!(", and none again within {}", time(until - last))
            }
            _ => String::new(),
        }
    }

    /// Whether what comes again under one id is the same in a part.
    fn same_part(&self, part: EventPart) -> Ruling {
        let (one, many) = match part {
            EventPart::Id => ("id", "ids"),
            EventPart::Body => ("body", "bodies"),
            EventPart::Signature => ("signature", "signatures"),
        };
        let mut by_id: BTreeMap<&str, Vec<&EventDelivery>> = BTreeMap::new();
        for delivery in &self.deliveries {
            if let Some(id) = &delivery.event {
                by_id.entry(id).or_default().push(delivery);
            }
        }
        let mut compared = 0;
        for (id, deliveries) in by_id {
            let parts: Vec<Option<&String>> = deliveries
                .iter()
                .map(|delivery| match part {
                    EventPart::Id => delivery.event.as_ref(),
                    EventPart::Body => Some(&delivery.body_digest),
                    EventPart::Signature => delivery.signature_digest.as_ref(),
                })
                .collect();
            if parts.contains(&None) {
                return Ruling::nothing(format!(
                    "a delivery has no {one} (sink.{one} says where it stands)"
                ));
            }
            if parts.iter().any(|own| *own != parts[0]) {
                return Ruling::broken(format!("the event {id} came with different {many}"));
            }
            compared += parts.len() - 1;
        }
        match compared {
            0 => Ruling::nothing(format!(
                "no id came twice, so that no {many} could be compared"
            )),
            count => Ruling::held(format!(
                "{} with the {one} of the first",
                times(count, "later delivery came", "later deliveries came")
            )),
        }
    }
}

/// `one delivery`, `three deliveries`.
fn times(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests;
