//! Look-ups: asking the target what became of an operation, without a retry.

use super::answer::record;
use super::exchange::write_down;
use super::made::blank;
use super::rendering::Filling;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use crate::plan::lookup_way;
use crate::scenario::{LookedUp, Lookup, Marker, OperationRole, Request};
use crate::target::operation::Operation;
use crate::transcript::{Delivery, Ending, KeyUsed};
use std::time::Instant;

/// What is looked up: the request as it was made, and what it named.
struct Wanted {
    spec: Spec,
    body: Option<serde_json::Value>,
    identity: Option<String>,
}

impl RoundRun<'_> {
    /// Asks for one operation, and writes the answer down.
    pub(super) async fn look_up(&self, lookup: &Lookup) -> Result<(), String> {
        let world = self.world();
        let operation = world.operation(&self.context.cast.subject)?;
        let way = lookup_way(operation, lookup.by)
            .ok_or_else(|| format!("the target has no look-up by {}", lookup.by.name()))?;
        let wanted = self.wanted(lookup).await?;
        let principal = lookup.principal.unwrap_or_default();
        let mut values = Filling::of_spec(world, &wanted.spec);
        values.request = wanted.body;
        values.identity = wanted.identity;
        world
            .fixtures
            .fill(world, &way.request, operation, &wanted.spec, &mut values)
            .await?;
        let rendered = world.render_plain(&way.request, principal, &values)?;
        world.spend(1)?;
        let request = Request::plain(&lookup.name);
        let mut exchange = blank(self, &request, &wanted.spec, (0, 0), &rendered, false);
        // It makes nothing and uses no key, whatever it asks about.
        exchange.lookup = Some(lookup.by);
        exchange.principal = principal;
        exchange.marker = format!("look-up {}", lookup.name);
        exchange.marker_name.clone_from(&exchange.marker);
        exchange.key = KeyUsed {
            value: None,
            malformed: false,
            ..exchange.key
        };
        exchange.times.sent = Some(world.clock(Instant::now()));
        let fetched = world.fetch(&rendered, world.target.limits.patience).await;
        exchange.times.ended = world.clock(Instant::now());
        match fetched {
            Ok(fetched) => {
                let shaped = Operation {
                    identity: match way.identity.is_empty() {
                        true => operation.identity.clone(),
                        false => way.identity.clone(),
                    },
                    ..operation.clone()
                };
                let mut response = record(
                    fetched.status,
                    &fetched.headers,
                    &fetched.body,
                    &shaped,
                    &world.target.mask,
                    &world.masker,
                );
                // What counts as a success of the operation says nothing of a look-up.
                response.success = (200..300).contains(&fetched.status);
                exchange.times.first_byte = Some(exchange.times.ended);
                exchange.times.last_byte = Some(exchange.times.ended);
                exchange.delivery = Delivery::ResponseSeen;
                exchange.ending = Ending::Answered;
                exchange.response = Some(response);
            }
            Err(why) => {
                exchange.delivery = Delivery::Delivered;
                exchange.ending = Ending::Broken(why);
            }
        }
        write_down(self, exchange, None);
        Ok(())
    }

    /// The operation of a step, or one that never was.
    async fn wanted(&self, lookup: &Lookup) -> Result<Wanted, String> {
        let world = self.world();
        match &lookup.what {
            LookedUp::Step(step) => {
                let spec = locked(&self.names).first_spec(step).cloned();
                let spec = spec.ok_or_else(|| format!("the step `{step}` sent nothing"))?;
                let sent = locked(&self.counted)
                    .iter()
                    .find(|counted| {
                        counted.spec.key == spec.key && counted.spec.marker == spec.marker
                    })
                    .and_then(|counted| counted.body.clone());
                let identity = self.identity(|key, marker| {
                    key == spec.key.value.as_deref() && marker == spec.marker
                });
                Ok(Wanted {
                    spec,
                    body: sent,
                    identity,
                })
            }
            LookedUp::Key(key) => {
                let request = Request {
                    key: Some(key.clone()),
                    marker: Some(Marker::Named(format!("look-up {}", lookup.name))),
                    ..Request::plain(&lookup.name)
                };
                let spec = self.specs(&request, 1)?.remove(0);
                let cast = &self.context.cast;
                let rendered = world.render_operation(cast, &spec, false).await;
                let body = rendered
                    .ok()
                    .and_then(|(rendered, _)| serde_json::from_slice(&rendered.body?).ok());
                Ok(Wanted {
                    identity: self.identity(|_, _| true).map(|identity| unlike(&identity)),
                    spec,
                    body,
                })
            }
        }
    }

    /// What a request named whose key and marker fit, as it stood in its answer.
    fn identity(&self, fits: impl Fn(Option<&str>, &str) -> bool) -> Option<String> {
        let record = locked(&self.record);
        let subject = |own: &&crate::transcript::Exchange| own.operation == OperationRole::Subject;
        record
            .exchanges
            .iter()
            .filter(subject)
            .filter(|own| own.lookup.is_none() && fits(own.key.value.as_deref(), &own.marker))
            .find_map(|own| own.response.as_ref()?.identity.clone())
    }
}

/// An identity of the same shape that nothing has: its last eight letters and digits are others.
fn unlike(identity: &str) -> String {
    let mut left = 8;
    let mut turned: Vec<char> = identity
        .chars()
        .rev()
        .map(|c| {
            let other = match c {
                _ if left == 0 => return c,
                '0'..='8' => char::from(c as u8 + 1),
                '9' => '0',
                'a'..='e' | 'A'..='E' => char::from(c as u8 + 1),
                'f' => 'a',
                'F' => 'A',
                'g'..='y' | 'G'..='Y' => char::from(c as u8 + 1),
                'z' => 'g',
                'Z' => 'G',
                _ => return c,
            };
            left -= 1;
            other
        })
        .collect();
    turned.reverse();
    turned.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::unlike;

    #[test]
    fn an_unlike_identity_has_the_same_shape() {
        assert_eq!(unlike("pay_0123456789ab"), "pay_0123567890bc");
        assert_eq!(unlike("7"), "8");
        assert_eq!(unlike("f9-z"), "a0-g");
    }
}
